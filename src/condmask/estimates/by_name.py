"""Other columns of a release, by the names they have in its file."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.batch import by_replicate
from condmask.estimates.origin import Origin


class ByName:
    """An estimate that may know the release it is of."""

    origin: Origin
    _read_column: Callable[[str, bool], Any] | None = None
    _named_alone = False  # whether its records lie where no other columns can be brought

    @by_replicate()
    def of_release(self, origin: Origin, read: Callable[[str, bool], Any]) -> Self:
        """Estimates from a column of a release, whose other columns may be named.

        Parameters
        ----------
        origin : Origin
            What the release tells of the column beside its scheme.
        read : callable (name, as_labels)
            Gives the column of a name, or the estimate of a masked one.

        Returns
        -------
        Estimate
        """
        released = copy(self)
        released.origin, released._read_column = origin, read
        return released

    def _by_name(self, given: Any, argument: str, *, labels: bool = False, masked: bool = False) -> Any:
        """The column that was given, or named; a masked one where an estimate may stand for it."""
        if not isinstance(given, str):
            if self._named_alone and given is not None and not isinstance(given, ByName):
                raise ArgumentTypeError(
                    f"{argument} must be the name of a column that the frame has, got "
                    f"{type(given).__name__}; add the column to the frame"
                )
            return given
        if self._read_column is None:
            raise ArgumentError(
                f"{argument} must be a column, got {given!r}: names are known to the estimates of a Release"
            )
        column = self._read_column(given, labels)
        if isinstance(column, ByName) and not masked:
            raise ArgumentError(f"{argument} must be a column that was not masked, got {given!r}")
        return column
