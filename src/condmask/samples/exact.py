"""What stands behind an estimate of a column that was released in another order.

Reverse mapping releases the values of the original, each once: T is their distribution function, and what
concerns the column alone is read from it. As an estimate of the original file it is exact; of the population
it is as good as data that are not masked. In formulas: donors of a permutation, p = 1.

All depends on how many records have each value, so records and `Counts` give the same bits. Where
Counts had too little memory for all values, their cells of width w stand for theirs, each by its middle: then
a mean, an s.d. and a quantile are off by w/2 at most (s.d.: times sqrt(n / (n-1))), a T_b by .2 w / its
bandwidth, and T and quantiles are bracketed by the ends of the cells.
"""

from functools import cached_property

import numpy as np

from condmask import _checks
from condmask._blocks import Workers
from condmask.engines import crossings, sorting
from condmask.engines import lattice as curves
from condmask.engines.counting import EMPTY, ValueCounts, by_value
from condmask.kernels.curve import Curve
from condmask.law import Law
from condmask.samples.bandwidth import check_bandwidth
from condmask.samples.moments import Powers, whole_powers
from condmask.samples.noise_class import NoiseClass
from condmask.samples.sample import KEPT, BoundedCache, Counted

EXACT = Law(1.0, "normal", 0.0)  # nothing is left of the noise
FEW = 64  # quantiles, which are not worth sorting all records


class ExactSample(Counted):
    """Values of the original, in any order.

    Parameters
    ----------
    z : ndarray of shape (n,) or ValueCounts
        Records, or how many have each value.
    workers : int or map-like callable
    width : float
        Of the cells whose lower ends are counted instead of values; 0 where values are counted.
    """

    def __init__(self, z: np.ndarray | ValueCounts, workers: Workers = 1, *, width: float = 0.0) -> None:
        self._z = EMPTY.values if isinstance(z, ValueCounts) else z
        self._cells = z if isinstance(z, ValueCounts) else None
        self.n = self._z.size if self._cells is None else self._cells.n
        self.law, self._workers, self._width, self._kept = EXACT, workers, width, BoundedCache(KEPT)
        self._asked = False  # for quantiles

    @cached_property
    def counts(self) -> ValueCounts:  # type: ignore[override]
        """By value, that of the middle where cells are counted."""
        if self._cells is None:
            return by_value(sorting.ascending(self._z, self._workers))
        return self._cells._replace(values=self._cells.values + 0.5 * self._width)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return _checks.ends(self._z if self._cells is None else self.counts.values)

    @cached_property
    def _below(self) -> np.ndarray:
        return self.counts.below

    @cached_property
    def _two(self) -> Powers:
        return self._powers(2)

    def _powers(self, order: int) -> Powers:
        values, counts = (self._z, EMPTY.counts) if self._cells is None else self.counts
        return whole_powers(values, counts, self._ends, order)

    def powers(self, order: int) -> Powers:
        found = self._two if order <= 2 else self._powers(order)
        return found._replace(means=found.means[: order + 1])

    def moments(self, order: int) -> Powers:
        return self.powers(order)

    def variance(self) -> tuple[float, float]:
        _, scale, means = self._two
        return float((means[2] - means[1] ** 2) * self.n / (self.n - 1)), scale

    def engine(self, points: int, width: float | None, tol: float) -> str:
        return "exact" if width is None else "lattice"

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        if width is None:
            return self._share(self.counts.values, x)
        found = curves.values(self._smoothed(width, tol, density), x, self._workers)
        return np.asarray(found / width if density else found)

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        if width is not None:
            curve = self._smoothed(width, tol, False)
            reach = float(curve.layers["reach"].max())
            return crossings.quantiles(curve, q, reach, 1e-13 * width, tol, crossing, self._workers)
        ranks = self._ranks(q, tol)
        if self._cells is None and not self._asked and q.size <= FEW:
            self._asked = True  # who asks again is better served by counts
            return sorting.selected(self._z, ranks, self._ends)
        return np.asarray(self.counts.values[np.searchsorted(self._below[1:], ranks, side="right")])

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        return np.asarray(np.clip(self.values(x, width, tol, "auto"), 0.0, 1.0))

    def bounds(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        low = self.counts.values if self._cells is None else self._cells.values
        return self._share(low + self._width, x), self._share(low, x)

    def quantile_bounds(self, q: np.ndarray, tol: float, crossing: str) -> tuple[np.ndarray, np.ndarray]:
        found = self.quantiles(q, None, tol, crossing)
        low = found if self._cells is None else self._cells.values[np.searchsorted(self.counts.values, found)]
        return low, low + self._width

    def line(self, width: float | None, tol: float) -> None:
        return None

    def noise_class(self) -> NoiseClass:
        return NoiseClass(self.counts, None, lambda x, width: x, lambda values: values, smoothed=True)

    def _ranks(self, q: np.ndarray, tol: float) -> np.ndarray:
        """The places of quantiles among the ascending records, from 0 on."""
        return np.asarray(np.clip(np.ceil((q - tol) * self.n).astype(np.int64), 1, self.n) - 1)

    def _share(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The share of the records up to points x, where their values are these."""
        return np.asarray(self._below[np.searchsorted(values, x, side="right")] / self.n)

    def _values(self) -> np.ndarray:
        return self.counts.values

    def _smoothed(self, width: float, tol: float, density: bool) -> Curve:
        check_bandwidth(width, self.law._replace(sigma=width))

        def make() -> Curve:
            return curves.boosted(self.counts.values, width, 0.0, tol, density=density, below=self._below)

        found: Curve = self._kept.get((width, tol, density), make)
        return found
