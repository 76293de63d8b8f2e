"""The masked values in their places, and the pools within which donors were drawn.

The outcome of eq. (1), record by record.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from condmask.errors import ArgumentError


class Records:
    """The masked values in their places, and the donor pools, for all that concerns other columns.

    Parameters
    ----------
    z : ndarray of shape (n,) or callable
        The values, NaN where missing; or a function that reads them on first use.
    pool : ndarray of shape (n,), callable or None
        The pool of each record, None if there is one pool; or a function that computes it from the values.
    refusal : str or None
        What must be given before the pools are known.
    reader : object, optional
        Reads records that lie in a file: has `size`, `parts` and `has_numbers`, as this, and the `name` of
        the values in the `source`.
    """

    def __init__(
        self,
        z: np.ndarray | Callable[[], Any],
        pool: np.ndarray | Callable[[Any], Any] | None = None,
        refusal: str | None = None,
        reader: Any = None,
    ) -> None:
        self._z, self._pool, self.refusal, self._reader = z, pool, refusal, reader

    @property
    def size(self) -> int:
        """The number of records, with a value or without."""
        return int(self.z.size if self._reader is None else self._reader.size)

    def has_numbers(self, name: str) -> bool:
        """Whether `parts` can read a column of numbers with this name."""
        return self._reader is not None and bool(self._reader.has_numbers(name))

    def named(self, other: "Records") -> str | None:
        """The name by which `parts` reads the values of other records; None where these lie elsewhere."""
        here, there = self._reader, other._reader
        return None if None in (here, there) or here.source is not there.source else str(there.name)

    def parts(self, names: Sequence[str] = ()) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The values, their pools and columns of numbers by name, part by part."""
        if self._reader is not None:
            yield from self._reader.parts(names)
        else:
            yield self.z, self.pools(), {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Records, (self.z, self.pool, self.refusal)  # what reads a file does not travel

    @cached_property
    def z(self) -> Any:
        """The masked values in their places."""
        return self._z() if callable(self._z) else self._z

    @cached_property
    def pool(self) -> Any:
        """The pool of each record, None where all are one or the pools are unknown."""
        return self._pool(self.z) if callable(self._pool) else self._pool

    def pools(self) -> Any:
        """The pool of each record; refused where they are unknown."""
        if self.refusal is not None:
            raise ArgumentError(self.refusal)
        return self.pool
