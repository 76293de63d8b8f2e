"""What all partitions of a table share while it is masked, and the frames sent between them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from condmask.dask.draws import PartDraws, Span
from condmask.dask.keys import key_of
from condmask.dask.narrow import Narrow
from condmask.dask.shuffles import frame
from condmask.law import Law
from condmask.strata import index_type


class Job(NamedTuple):
    """A table of partitions that begin at rows ``starts``, the last of which is the number of all rows.

    ``sizes`` are those of the donor pools; where all records are one, it is not ``pooled``. Tasks find the
    key by its name.
    """

    key: str
    laws: tuple[Law, ...]
    starts: np.ndarray
    sizes: np.ndarray
    pooled: bool

    @property
    def n(self) -> int:
        return int(self.starts[-1])

    @property
    def p(self) -> float:
        return self.laws[0].p

    @property
    def parts(self) -> int:
        return self.starts.size - 1

    @property
    def names(self) -> list[str]:
        """The names of the values in narrow frames."""
        return [f"x{number}" for number in range(len(self.laws))]

    @property
    def row_type(self) -> Any:
        return index_type(self.n)

    @property
    def pool_type(self) -> dict[str, Any]:
        """The column for the pool of a record in sent frames."""
        return {"pool": index_type(self.sizes.size)} if self.pooled else {}

    def draws(self, part: int) -> PartDraws:
        start, stop = self.starts[part : part + 2].tolist()
        return PartDraws(key_of(self.key), self.p, Span(start, stop, self.n))

    def by_pool(self, pools: np.ndarray | None, size: int) -> np.ndarray:
        """How many of some rows are of each pool: the pools of these, and how many they are."""
        if pools is None:
            return np.array([size])
        return np.bincount(pools[pools >= 0], minlength=self.sizes.size)

    def pool_of(self, narrow: Narrow, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The pools of rows, in sent frames."""
        if narrow.pool is None:
            return {}
        return {name: narrow.pool[rows].astype(kind) for name, kind in self.pool_type.items()}

    def home(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The partitions of rows of the table, and their places there."""
        to = np.searchsorted(self.starts, rows, side="right") - 1
        return to.astype(np.int32), (rows - self.starts[to]).astype(self.row_type)

    def back(self, rows: np.ndarray, values: Sequence[np.ndarray]) -> pd.DataFrame:
        """Values for rows of the table, sent to the partitions of these."""
        to, row = self.home(rows)
        return frame(to, {"row": row, **dict(zip(self.names, values, strict=True))})

    @property
    def back_types(self) -> dict[str, Any]:
        return {"row": self.row_type, **dict.fromkeys(self.names, np.float64)}
