"""What stands behind an estimate of amounts that were masked on the log scale.

The sign is a level, which masked amounts show of themselves: T is the sum of what negative amounts, zeros and
positive ones give, and that of either sign is the plain estimator of the logarithm.
"""

from collections.abc import Callable
from functools import cached_property
from math import ceil, exp, floor, log
from typing import Any

import numpy as np

from condmask._log_grid import LARGEST_LOGARITHM, SHIFT, LogGrid
from condmask.engines.counting import Counts, merged
from condmask.engines.grid import Polynomials, Steps
from condmask.estimates.moments import Powers
from condmask.estimates.parts import Part
from condmask.estimates.sample import Counted, masking_of
from condmask.law import Law
from condmask.levels import classes
from condmask.weights import weight

MOST_PUBLISHED = 1 << 21  # amounts that are tried one by one for a quantile
NEAR = 1e-8  # steps of the logarithm; who asks so near to a grid point means it


class Signed:
    """Counts of amounts on a grid of their logarithm; bandwidths are on that scale.

    The sign is a level. A quantile is looked for among the records of the sign that its probability
    belongs to.
    """

    def __init__(self, counts: Counts, law: Law, workers: Any = 1) -> None:
        self.counts, self.n, self.law = counts, counts.n, law
        code, at = classes(counts.values, law)
        self._zeros = int(counts.counts[code == 1].sum())
        # of negative amounts with the sign of the logarithm turned, so that they ascend as the amounts do
        self._below, self._above = (
            Counted(Counts(values, held), law.additive, workers) if held.size else None
            for values, held in (
                (-at[code == 0], counts.counts[code == 0]),
                (at[code == 2], counts.counts[code == 2]),
            )
        )

    def moments(self, order: int) -> Powers:
        """Raw moments about 0: E X^k = E Z^k / (p + (1-p) E e^(kY))."""
        p, scale, amounts = self.law.p, self._scale, self._amounts
        share, means = self.counts.counts / self.n, np.empty(order + 1)
        for k in range(order + 1):
            means[k] = np.sum(share) / (p + (1.0 - p) * self.law.growth(k))
            share = share * (amounts / scale)
        return Powers(0.0, scale, means)

    def variance(self) -> tuple[float, float]:
        _, scale, means = self.moments(2)
        return float((means[2] - means[1] ** 2) * self.n / (self.n - 1)), scale

    def width(self, bandwidth: Any) -> float | None:
        parts = [part for part in (self._below, self._above) if part is not None]
        if not isinstance(bandwidth, str) or len(parts) == 1:
            return (parts[0] if parts else Counted(self.counts, self.law.additive)).width(bandwidth)
        sizes = merged([Counts(-parts[0].counts.values[::-1], parts[0].counts.counts[::-1]), parts[1].counts])
        return Counted(sizes, self.law.additive).width(bandwidth)

    def engine(self, points: int, width: float | None, tol: float) -> str:
        parts = [part for part in (self._below, self._above) if part is not None]
        if not parts:
            return "grid"
        return max(parts, key=lambda part: part.n).engine(points, width, tol)

    def values(
        self, x: np.ndarray, width: float | None, tol: float, method: str, *, density: bool = False
    ) -> np.ndarray:
        def of(part: Counted, at: np.ndarray) -> np.ndarray:
            return part.values(at, width, tol, method, density=density)

        return self._composed(x, width, of, density=density)

    def monotone(self, x: np.ndarray, width: float | None, tol: float) -> np.ndarray:
        return self._composed(x, width, lambda part, at: part.monotone(at, width, tol))

    def quantiles(self, q: np.ndarray, width: float | None, tol: float, crossing: str) -> np.ndarray:
        below, zero = (0 if self._below is None else self._below.n) / self.n, self._zeros / self.n
        found = np.zeros(q.size)
        own: np.ndarray
        for part, own, first, sign in (
            (self._below, q <= below, 0.0, -1.0),
            (self._above, q > below + zero, below + zero, 1.0),
        ):
            if part is not None and np.any(own) and self._between(width, crossing):
                amounts = self._published(part, sign, tol)
                reached = np.maximum.accumulate(self.values(amounts, None, tol, "auto"))
                found[own] = amounts[np.minimum(np.searchsorted(reached, q[own] - tol), amounts.size - 1)]
            elif part is not None and np.any(own):
                within = np.minimum((q[own] - first) * (self.n / part.n), 1.0)
                found[own] = self._amount(part.quantiles(within, width, tol, crossing), sign, width)
        return found

    def line(self, width: float | None, tol: float) -> Steps | Polynomials | None:
        """Of amounts of one sign that of their logarithm."""
        only = self._only
        return None if only is None else only[0].line(width, tol)

    def from_steps(self, steps: np.ndarray, width: float | None) -> np.ndarray:
        assert self._only is not None
        part, sign = self._only
        return self._amount(part.from_steps(steps, width), sign, width)

    def parts(self) -> list[Part]:
        found = []
        for counted, sign in ((self._below, -1.0), (self._above, 1.0)):
            if counted is not None:
                found += [self._part(part, sign) for part in counted.parts()]
        if self._zeros:
            at = Counts(np.zeros(1), np.array([self._zeros]))
            found.append(Part(at, None, lambda x, width: x, lambda steps: steps))
        return found

    def _part(self, part: Part, sign: float) -> Part:
        """The same records with their amounts."""

        def points(x: np.ndarray, width: float | None) -> np.ndarray:
            return part.points(self._logarithms(x, width, sign), width)

        def values(steps: np.ndarray) -> np.ndarray:
            return self._amount(part.values(steps), sign, None)

        return part._replace(points=points, values=values)

    def bounds(self, x: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
        found = self.values(x, None, tol, "auto")
        return found, found

    def quantile_bounds(self, q: np.ndarray, tol: float, crossing: str) -> tuple[np.ndarray, np.ndarray]:
        found = self.quantiles(q, None, tol, crossing)
        return found, found

    @property
    def _only(self) -> tuple[Counted, float] | None:
        """The amounts, where all have one sign, and that sign."""
        parts = [(part, sign) for part, sign in ((self._below, -1.0), (self._above, 1.0)) if part is not None]
        return parts[0] if len(parts) == 1 and not self._zeros else None

    @cached_property
    def _amounts(self) -> np.ndarray:
        return self.law.from_units(self.counts.values)

    @property
    def _scale(self) -> float:
        return float(np.abs(self._amounts).max()) or 1.0

    def _composed(
        self,
        x: np.ndarray,
        width: float | None,
        of: Callable[[Counted, np.ndarray], np.ndarray],
        *,
        density: bool = False,
    ) -> np.ndarray:
        """The sum over signs of their shares times a function of the logarithm."""
        found = np.zeros(x.size)
        for part, sign in ((self._below, -1.0), (self._above, 1.0)):
            if part is None:
                continue
            logarithm = self._logarithms(x, width, sign)
            own = np.isfinite(logarithm) | np.isinf(x)
            value = of(part, logarithm[own])
            found[own] += part.n / self.n * (value / np.abs(x[own]) if density else value)
            if sign < 0.0 and not density:
                found[~own] += part.n / self.n
        if not density:
            found[x >= 0.0] += self._zeros / self.n
        return found

    def _logarithms(self, x: np.ndarray, width: float | None, sign: float) -> np.ndarray:
        """The logarithm of the size of points of one sign, turned for negative ones; infinite for others."""
        assert isinstance(self.law.grid, LogGrid)
        at, least, shown = x, 0.0, self.law.grid.shown
        if shown is not None and width is None:  # halfway to the next amount that can be published
            least = shown.step
            at = np.where(np.isinf(x), x, shown.values(shown.below(x)) + 0.5 * shown.step)
        own = sign * at > least
        found = np.full(x.size, -sign * np.inf)
        found[own] = self._snapped(sign * np.log(np.abs(at[own])))
        return found

    def _snapped(self, logarithm: np.ndarray) -> np.ndarray:
        """Points of the grid where rounding alone parts them from it."""
        grid_ = self.law.additive.grid
        assert grid_ is not None
        steps = logarithm / grid_.step
        near = np.rint(steps)
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(steps - near) <= NEAR, grid_.values(near), logarithm)

    def _between(self, width: float | None, crossing: str) -> bool:
        """Whether T may reach a probability between amounts that can be published, and not at these."""
        assert isinstance(self.law.grid, LogGrid)
        return self.law.grid.shown is not None and width is None and crossing == "first"

    def _published(self, part: Counted, sign: float, tol: float) -> np.ndarray:
        """The amounts of one sign that can be published, ascending, to where T is that of all records."""
        grid = self.law.grid
        assert isinstance(grid, LogGrid)
        assert grid.shown is not None
        reach = weight.reach(masking_of(self.law.additive, None), 0.25 * tol) * self.law.sigma
        # while they are denser than the grid of the logarithm all of them, then one for each of its points
        densest = ceil(1.0 / grid.step) + 1.0
        size = np.abs(self._amounts[np.sign(self._amounts) == sign]).max() / grid.shown.step
        last = min(log(size * grid.shown.step) + reach, LARGEST_LOGARITHM)
        lowest, highest = floor(log(densest * grid.shown.step) / grid.step), ceil(last / grid.step)
        densest = min(densest, floor(exp(last) / grid.shown.step) + 1.0)
        amounts = densest + max(0.0, highest - lowest)
        if amounts > MOST_PUBLISHED:
            raise ValueError(
                "crossing must be 'rearranged' where so many amounts can be published, "
                f"{amounts:.2g} with a step of {grid.step:g}, got 'first'"
            )
        dense, k = np.arange(1.0, densest + 1.0), np.arange(lowest, highest + 1.0)
        sparse = grid.shown.units(np.exp(grid.logarithms.values(k)))
        units = np.unique(np.concatenate((dense[dense * grid.shown.step <= exp(last)], sparse)))
        return np.sort(sign * grid.shown.values(units))

    def _amount(self, logarithm: np.ndarray, sign: float, width: float | None) -> np.ndarray:
        """Amounts from logarithms, whose sign is turned for negative ones; of T_1 as they are published."""
        if width is not None:
            return np.asarray(sign * np.exp(sign * logarithm))
        size = self.law.additive.to_units(sign * logarithm)
        return self.law.from_units(sign * (size + SHIFT))
