"""Counts the masked values of one column, the input of Theorems 2.1 to 2.3 of Ghatak & Roy.

Estimates depend on nothing else, except those with other columns. Reverse mapping releases the
values of the original, each once, in another order: no noise is left, p = 1, and every statistic
of the column alone is that of the values.
"""

from functools import cached_property

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
from condmask.distribution.curve import Curve
from condmask.distribution.series import cdf_by_series
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.distribution.t_b import T_b
from condmask.errors import ArgumentError
from condmask.law import Law
from condmask.masking.scheme import Scheme
from condmask.moments.theorem_2_1 import Powers, powers

Bandwidth = float | str | None  # a number in the units of the data, the name of a rule, or none
METHODS = ("auto", "series")
CROSSINGS = ("first", "rearranged")
# T counts as having reached a probability that it misses by at most so much: in all, or per unit
# of the maximum of K
MAX_MISSING = 1e-10
MAX_MISSING_OF_KERNEL = 2e-14
MAX_KEPT_CURVES = 3  # T_1 and two T_b
RECORDS_PER_WORKER = 1 << 22  # counted by one worker at a time


class Sample:
    """Holds masked values without gaps, and keeps what was computed from them for all threads.

    Parameters
    ----------
    z : ndarray of shape (n,) or Counted
        Values; on a grid they are counted, in whole steps.
    law : Law
        `EXACT` for values that were released in another order.
    workers : int
        Number of threads that evaluate the series.

    Attributes
    ----------
    law : Law
    n : int
        The number of values.
    """

    def __init__(self, z: np.ndarray | Counted, law: Law, workers: int = 1) -> None:
        self.law = law
        self._z = z
        self._workers = workers
        self.n: int = z.n if isinstance(z, Counted) else int(z.size)
        self._powers: dict[int, Powers] = {}
        self._curves: dict[Masking, T_1 | T_b] = {}

    def __reduce__(self) -> tuple[type["Sample"], tuple[np.ndarray | Counted, Law, int]]:
        return Sample, (self._z, self.law, self._workers)  # results are not pickled

    @cached_property
    def counted(self) -> Counted:
        """Return the distinct values, in steps of the grid, and how often each occurs."""
        counted = self._z if isinstance(self._z, Counted) else by_value(self._z)
        return counted._replace(unit=self.law.sigma / (self.law.step or 1.0) or 1.0)

    def powers(self, order: int) -> Powers:
        """Return the mean powers of the masked values up to an order."""
        if order not in self._powers:
            z = self._z
            values, *counts = (
                (self.law.from_units(z.values), z.counts) if isinstance(z, Counted) else (z,)
            )
            self._powers[order] = powers(values, order, self.law.sigma, *counts)
        return self._powers[order]

    def bandwidth(self, given: Bandwidth) -> float | None:
        """Return a bandwidth in the units of the data, given a number or the name of a rule; None
        for T_1."""
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

    def distribution(self, bandwidth: Bandwidth = None) -> T_1 | T_b:
        """Return T_1, or T_b if there is a bandwidth."""
        law = self.law
        kept = self._curves
        if not law.invertible:
            raise ArgumentError(
                "noise must be 'laplace' for a distribution function, got 'normal': normal noise "
                "has no bounded inverse, so only moments and correlations can be estimated"
            )
        width = self.bandwidth(bandwidth)
        if width is not None:
            check_bandwidth(width, law)
        key = masking(law, width)
        if key not in kept:
            kept[key] = (T_1 if width is None else T_b)(self.counted, key)
            for old in list(kept)[:-MAX_KEPT_CURVES]:
                kept.pop(old, None)
        return kept[key]

    def values(
        self, x: np.ndarray, bandwidth: Bandwidth = None, method: str = "auto"
    ) -> np.ndarray:
        """Return T at points in the units of the data, of shape (points,)."""
        t = self.distribution(bandwidth)
        points = self.to_units(x, t)
        if method == "series":
            return cdf_by_series(t.counted, t.masking, points, workers=self._workers)
        return np.asarray(t.at(points))

    def density(self, x: np.ndarray, bandwidth: float | str) -> np.ndarray:
        """Return the derivative of T_b at points, per unit of the data, of shape (points,)."""
        if self.law.p == 0.0:
            raise ArgumentError(
                "the density of the original is not estimated from additive noise; use cdf"
            )
        t = self.distribution(bandwidth)
        if not isinstance(t, T_b):
            raise ArgumentError("bandwidth must be a number or a rule for a density, got None")
        return np.asarray(t.density(self.to_units(x, t)) / (self.law.step or 1.0))

    def quantiles(
        self, q: np.ndarray, bandwidth: Bandwidth = None, crossing: str | None = None
    ) -> np.ndarray:
        """Return the first points where T, or its monotone rearrangement, reaches q.

        Parameters
        ----------
        q : ndarray of shape (probabilities,)
        bandwidth : float or str, optional
        crossing : {"first", "rearranged"}, optional
            By default the one that serves this p and n.
        """
        if self.law.p == 1.0 and bandwidth is None:
            return self._order_statistics(q - MAX_MISSING)
        t = self.distribution(bandwidth)
        rearranged = (crossing or quantiles.crossing_of(self.law.p, self.n)) == "rearranged"
        missing = max(MAX_MISSING, MAX_MISSING_OF_KERNEL * t.max_weight)
        points = quantiles.reached(t, q - missing, rearranged=rearranged)
        return self.law.from_units(points) + 0.0  # zero has no sign

    def monotone(self, x: np.ndarray, bandwidth: Bandwidth = None) -> np.ndarray:
        """Return the monotone rearrangement of T, within [0, 1], at points."""
        if self.law.p == 1.0:
            return np.asarray(np.clip(self.values(x, bandwidth), 0.0, 1.0))
        t = self.distribution(bandwidth)
        return quantiles.monotone(t, self.to_units(x, t))

    def to_units(self, x: np.ndarray, t: Curve) -> np.ndarray:
        """Return points in the units of the values: for T_1 the step of the grid at or below, for
        T_b any number."""
        grid = self.law.grid
        if grid is None:
            return x
        if t.masking.beta == 0.0:
            return grid.below(x)
        with np.errstate(over="ignore"):
            return np.asarray(x * grid.denominator / grid.numerator)

    def _order_statistics(self, q: np.ndarray) -> np.ndarray:
        """Return the least values not exceeded by at least the shares q of the records, without
        sorting all."""
        z = vars(self).get("counted", self._z)  # sorted, if that was needed before
        if isinstance(z, Counted):
            return z.values[np.searchsorted(z.below[1:] / self.n, q)]
        before = np.floor(q * self.n)
        before -= before / self.n >= q
        ranks = np.maximum(before, 0.0).astype(np.int64)
        return np.asarray(np.partition(z, np.unique(ranks))[ranks]) + 0.0  # zero has no sign


def law_of(scheme: Scheme) -> Law:
    """Return the law that estimates undo; `EXACT` for values released in another order."""
    law = scheme.law_of_estimates
    if law is None:
        raise ArgumentError(f"scheme must have a law of its noise for estimates, got {scheme!r}")
    return law


def sample_of(z: np.ndarray, law: Law, kind: str = "float64", workers: int = 1) -> Sample:
    """Return the sample of masked values without missing ones; refuse values off the grid."""
    if law.grid is not None:
        parts = ((z[slice(*rows)], kind) for rows in blocks(z.size, RECORDS_PER_WORKER))
        return Sample(counted_parts(parts, law.grid, workers), law, workers)
    return Sample(z[~np.isnan(z)] if np.isnan(z.min(initial=0.0)) else z, law, workers)
