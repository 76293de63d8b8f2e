"""The basis of a donor pool after reverse mapping: cosines of ranks and of values.

M, the law by which values move, is that of `reverse_mapping.mapping`: any noise, on the linear or
the log scale. Released values are the originals in another order, so the distribution of the pool
is known exactly (docs/theory.rst, "Groups of records").
"""

from functools import cached_property

import numpy as np

from condmask.domains.basis import (
    Directions,
    Function,
    Tables,
    cosines,
    directions_of,
)
from condmask.errors import ArgumentError
from condmask.reverse_mapping.mapping import Mapping

COSINES = 24  # of ranks, and as many of values
INNER = np.array([0.001, 0.999])  # the share of the records over which values have half a period


class MappedBasis:
    """The basis of values released by reverse mapping: see `Basis`.

    Parameters
    ----------
    z : ndarray of shape (n,)
        The released values.
    cell : ndarray of shape (n,)
        The number of the cell of each, in ascending order of the values.
    values, counts : ndarray of shape (cells,)
        The mean of the values of each cell, and its records.
    mapping : Mapping
        M between the cells.
    p : float
    """

    exact = True
    spread = 0.0

    def __init__(
        self,
        z: np.ndarray,
        cell: np.ndarray,
        values: np.ndarray,
        counts: np.ndarray,
        mapping: Mapping,
        p: float,
    ) -> None:
        self.n: int = z.size
        self.p = p
        self.cell = cell
        self.counts = counts
        self.x = values
        self.mass: np.ndarray = counts / z.size
        self._ordered = np.sort(z)
        self._mapping = mapping

    @cached_property
    def directions(self) -> Directions:
        """The directions among cosines of ranks and of values."""
        rank = np.cumsum(self.mass) - 0.5 * self.mass
        line = self._mapping.at
        low, high = np.interp(INNER, np.cumsum(self.mass), line)
        place = np.clip((line - low) / max(high - low, np.finfo(float).tiny), 0.0, 1.0)
        psi = np.hstack([cosines(COSINES, rank), cosines(COSINES, place)])
        moved = np.column_stack([self._mapping.apply(each) for each in psi.T])
        q = 1.0 - self.p
        b = q * moved + (q - q**self.n) / (self.n - 1.0) * psi
        return directions_of(psi, self.counts, b, self.mass, (psi, self.mass))

    def indicators(self, t: np.ndarray) -> Tables:
        """Return the functions 1{x <= t}, one for each t."""
        below = np.searchsorted(self._ordered, t, side="right")
        start = np.cumsum(self.counts) - self.counts
        f = np.clip((below - start[:, None]) / self.counts[:, None], 0.0, 1.0)
        return Tables(f, f, f, below / self.n)

    def tables(self, functions: list[Function]) -> Tables:
        """Return any functions of values in the units of the data."""
        f = np.column_stack([function(self.x) for function in functions])
        if not np.isfinite(f).all():
            row = int(np.flatnonzero(~np.isfinite(f).all(axis=1))[0])
            raise ArgumentError(
                "g must be finite at all values of the data, got "
                f"{f[row][~np.isfinite(f[row])][0]} "
                f"at {self.x[row]:g}; let g begin with np.maximum or np.minimum"
            )
        return Tables(f, f, f, self.mass @ f)
