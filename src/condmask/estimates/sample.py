"""Masked values of one column, counted: all that estimates depend on, except those with other
columns.

Reverse mapping releases the values of the original, each once, in another order: then nothing is
left of the noise, p = 1, and every statistic of the column alone is that of the values.

What Theorems 2.1 to 2.3 start from.
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.distribution import quantiles
from condmask.distribution.bandwidth import (
    MIN_BANDWIDTH,
    RULES,
    check_bandwidth,
    masking,
    rule_bandwidth,
)
from condmask.distribution.counting import Counted, by_value, counted_parts
from condmask.distribution.series import cdf_by_series
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.distribution.t_b import T_b
from condmask.errors import ArgumentError
from condmask.law import Law
from condmask.moments.theorem_2_1 import Powers, powers

METHODS = ("auto", "series")
CROSSINGS = ("first", "rearranged")
REACHED = 1e-10
ROUNDING = 2e-14  # what T may lack of a probability, in 1 and in the most of K
KEPT = 3  # T_1, a T_b and another
TOGETHER = 1 << 22  # records that are counted by one worker


class Sample:
    """Masked values without gaps. What was computed from them is kept, for all threads.

    Parameters
    ----------
    z : ndarray of shape (n,) or Counted
        Values; on a grid they are counted, in whole steps.
    law : Law
        `EXACT` for values that were released in another order.
    workers : int
        For the series.
    """

    def __init__(self, z: np.ndarray | Counted, law: Law, workers: int = 1) -> None:
        self.law = law
        self._z = z
        self._workers = workers
        self.n: int = z.n if isinstance(z, Counted) else int(z.size)
        self._powers: dict[int, Powers] = {}
        self._distributions: dict[Masking, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Sample, (self._z, self.law, self._workers)  # what was worked out does not travel

    @cached_property
    def counted(self) -> Counted:
        """The distinct values, in steps of the grid, and how often each occurs."""
        counted = self._z if isinstance(self._z, Counted) else by_value(self._z)
        return counted._replace(unit=self.law.sigma / (self.law.step or 1.0) or 1.0)

    def powers(self, order: int) -> Powers:
        """Mean powers of the masked values."""
        if order not in self._powers:
            z = self._z
            values, *counts = (
                (self.law.from_units(z.values), z.counts) if isinstance(z, Counted) else (z,)
            )
            self._powers[order] = powers(values, order, self.law.sigma, *counts)
        return self._powers[order]

    def bandwidth(self, given: Any) -> float | None:
        """A bandwidth in the units of the data from a number or the name of a rule; None for
        T_1."""
        if given is None:
            if self.law.p > 0.0:
                return None
            given = "scott"
        if not isinstance(given, str):
            return _checks.positive(given, "bandwidth", least=MIN_BANDWIDTH)
        _checks.choice(given, "bandwidth", tuple(RULES))
        _, scale, means = self.powers(2)
        along, low = np.modf(np.array([0.25, 0.75]) * (self.n - 1))  # where the quartiles lie
        ranks = low.astype(np.int64) + np.array([[0], [1]])
        near = np.searchsorted(self.counted.below[1:], ranks, side="right")
        before, after = self.law.from_units(self.counted.values[near]) / scale
        quartiles = before + along * (after - before)
        spread = np.sqrt(means[2] * self.n / (self.n - 1))  # powers are about the mean
        width = float(rule_bandwidth(given, spread, quartiles, self.n)) * scale
        if width == 0.0:
            raise ArgumentError(
                f"bandwidth={given!r} needs masked values that differ; pass a number"
            )
        return width

    def distribution(self, bandwidth: Any = None) -> Any:
        """T_1, or T_b for a bandwidth, which is a number in the units of the data or the name of a
        rule."""
        law = self.law
        kept = self._distributions
        if law.p == 0.0 and law.noise != "laplace":
            raise ArgumentError(
                "noise must be 'laplace' for a distribution function, got 'normal': normal noise has no "
                "bounded inverse, so only moments and correlations can be estimated"
            )
        width = self.bandwidth(bandwidth)
        if width is not None:
            check_bandwidth(width, law)
        own = masking(law, width)
        if own not in kept:
            kept[own] = (T_1 if width is None else T_b)(self.counted, own)
            for old in list(kept)[:-KEPT]:
                kept.pop(old, None)
        return kept[own]

    def values(self, x: np.ndarray, bandwidth: Any = None, method: str = "auto") -> np.ndarray:
        """T at points."""
        t = self.distribution(bandwidth)
        points = self.to_units(x, t)
        if method == "series":
            return cdf_by_series(t.counted, t.masking, points, workers=self._workers)
        return np.asarray(t.at(points))

    def density(self, x: np.ndarray, bandwidth: Any) -> np.ndarray:
        """The derivative of T_b at points, by units of the data."""
        if self.law.p == 0.0:
            raise ArgumentError(
                "the density of the original is not estimated from additive noise; use cdf"
            )
        t = self.distribution(bandwidth)
        return np.asarray(t.density(self.to_units(x, t)) / (self.law.step or 1.0))

    def quantiles(
        self, q: np.ndarray, bandwidth: Any = None, crossing: str | None = None
    ) -> np.ndarray:
        """The points where T, or its monotone rearrangement, first reaches q, or lacks next to
        nothing."""
        if self.law.p == 1.0 and bandwidth is None:
            return self._order_statistics(q - REACHED)
        t = self.distribution(bandwidth)
        rearranged = (crossing or quantiles.crossing_of(self.law.p, self.n)) == "rearranged"
        lacking = max(REACHED, ROUNDING * t.max_weight)
        found = quantiles.reached(t, q - lacking, rearranged=rearranged)
        return self.law.from_units(found) + 0.0  # zero has no sign

    def monotone(self, x: np.ndarray, bandwidth: Any = None) -> np.ndarray:
        """The monotone rearrangement of T, within [0, 1], at points."""
        if self.law.p == 1.0:
            return np.asarray(np.clip(self.values(x, bandwidth), 0.0, 1.0))
        t = self.distribution(bandwidth)
        return quantiles.monotone(t, self.to_units(x, t))

    def to_units(self, x: np.ndarray, t: Any) -> np.ndarray:
        """Points in the units of the values: the step of a grid at or below for T_1, anywhere for
        T_b."""
        grid = self.law.grid
        if grid is None:
            return x
        if t.masking.beta == 0.0:
            return grid.below(x)
        with np.errstate(over="ignore"):
            return np.asarray(x * grid.denominator / grid.numerator)

    def _order_statistics(self, q: np.ndarray) -> np.ndarray:
        """The least values that at least the shares q of the records do not exceed, without
        sorting all."""
        z = vars(self).get("counted", self._z)  # in order, where they had to be put so
        if isinstance(z, Counted):
            return z.values[np.searchsorted(z.below[1:] / self.n, q)]
        before = np.floor(q * self.n)
        before -= before / self.n >= q
        ranks = np.maximum(before, 0.0).astype(np.int64)
        return np.asarray(np.partition(z, np.unique(ranks))[ranks]) + 0.0  # zero has no sign


def law_of(scheme: Any) -> Law:
    """The law of masked values: released in another order they are those of the original."""
    law: Law = scheme.law_of_estimates
    return law


def sample_of(z: np.ndarray, law: Law, kind: str = "float64", workers: int = 1) -> Sample:
    """The sample of masked values, missing ones left out; those off their grid are refused."""
    if law.grid is not None:
        parts = ((z[slice(*rows)], kind) for rows in blocks(z.size, TOGETHER))
        return Sample(counted_parts(parts, law.grid, workers), law, workers)
    return Sample(z[~np.isnan(z)] if np.isnan(z.min(initial=0.0)) else z, law, workers)
