"""Intervals of the covariance and the correlation of the original with another column."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from condmask.estimates.by_name import ByName
from condmask.estimates.covariance import Records, donors, products, standardised
from condmask.estimates.interval import Interval, multiplier, refuse_reverse_mapping
from condmask.estimates.linear_forms import file_covariance, undo
from condmask.estimates.pair_moments import Weights, column, spreads
from condmask.estimates.survey import TARGETS, survey
from condmask.law import Law


class Pair(NamedTuple):
    """A column of masked values and another, replicate by replicate; `theirs` is the law of the other."""

    z: np.ndarray
    w: np.ndarray
    law: Law
    theirs: Law | None
    pool: np.ndarray | None
    shared_donors: bool


class PairIntervals(ByName):
    """Intervals of what two columns have in common."""

    scheme: Any
    _law: Law
    _batch: bool
    _records: Records | None

    def _both(self, other: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        raise NotImplementedError

    def _pools(self) -> np.ndarray | None:
        raise NotImplementedError

    def covariance_interval(
        self, other: Any = None, *, confidence_level: float = 0.95, target: str = "population"
    ) -> Interval:
        """Interval of the covariance of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str
            As for `covariance`.
        confidence_level : float
            Of the interval.
        target : {"population", "file"}
            What it is to cover: the covariance in the population that the file is a sample of, or that in
            the original file.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `covariance`; for a Summary, which has no fourth moments of its pairs.

        Notes
        -----
        With a plain column the covariance is linear in the original, and its variance given the file is
        known without bias, by strata, heaps and on the log scale. With a column masked together it
        is that of the general theorem. In heavy tails the interval covers too rarely, as it does without
        masking.
        """
        asked = survey(confidence_level, target, None, None, 0)
        found = []
        for pair in self._pairs_of(other):
            estimate, _, unit = _estimated(pair)
            error = (_linear if pair.theirs is None else _joint)(pair, asked.target) * unit
            estimate *= unit
            found.append((estimate, error))
        estimates, errors = np.array(found).T
        reach = multiplier(asked.level)[1] * errors
        about = f"covariance {TARGETS[asked.target]}"
        return self._interval(
            estimates - reach, estimates + reach, errors, estimates, asked.level, target, about
        )

    def correlation_interval(
        self, other: Any = None, *, confidence_level: float = 0.95, target: str = "population"
    ) -> Interval:
        """Interval of the correlation of the original with another column.

        Parameters
        ----------
        other, confidence_level, target
            As for `covariance_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one. NaN where a variance is
            estimated negative.

        Raises
        ------
        ValueError
            As for `covariance_interval`; if fourth moments of noise on the log scale do not exist.

        Notes
        -----
        By Fisher's z: symmetric in artanh r, within (-1, 1). Where the estimate lies outside, r -+ z s.e.
        cut to [-1, 1], which `about` says. Gaps in a plain column are taken to be no matter of the values.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x, w = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 50_000).T
        >>> scheme = cm.ConditionalMasking(0.6, 1.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).correlation_interval(w)
        >>> bool(found.low < 0.5 < found.high < found.low + 0.1)
        True
        """
        level, times = multiplier(confidence_level)
        about = f"correlation {TARGETS[survey(confidence_level, target, None, None, 0).target]}"
        found, outside, without = [], 0, 0
        for pair in self._pairs_of(other):
            value, (first, second), _ = _estimated(pair)
            if min(first, second) <= 0.0:
                found.append((np.nan,) * 4)
                without += 1
                continue
            size = float(np.sqrt(first) * np.sqrt(second))
            r = value / size
            by = Weights(1.0 / size, -0.5 * r / first, -0.5 * r / second)
            error = _by_theorem(pair, by, target)
            if abs(r) < 1.0:
                reach = times * error / (1.0 - r * r)
                low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
            else:
                low, high = np.clip([r - times * error, r + times * error], -1.0, 1.0)
                outside += 1
            found.append((low, high, error, r))
        if outside:
            about += (
                f"; {self._times(outside)} the estimate lies outside [-1, 1], and the interval is cut there"
            )
        if without:
            about += f"; {self._times(without)} a variance is estimated negative or zero"
        return self._interval(*np.array(found).T, level, target, about)

    # --- private ---

    def _pairs_of(self, other: Any) -> Iterator[Pair]:
        refuse_reverse_mapping(self._law.p)
        if self._records is None:
            raise ValueError(
                "z must be masked values for an interval of two columns, got a Summary, which keeps no "
                "fourth moments of its pairs"
            )
        other = self._by_name(other, "other", masked=True)
        pool, shared = self._pools(), self.scheme.shared_donors or self._law.p == 0.0
        theirs = getattr(other, "_law", None)
        for z, w in self._both(other):
            yield Pair(z, w, self._law, theirs, pool, shared)

    def _times(self, count: int) -> str:
        return f"in {count} replicates" if self._batch else ""

    def _interval(self, low: Any, high: Any, error: Any, estimate: Any, *rest: Any) -> Interval:
        low, high, error, estimate = (
            each if self._batch else float(each[0]) for each in (low, high, error, estimate)
        )
        return Interval(low, high, error, estimate, *rest)


def _estimated(pair: Pair) -> tuple[float, tuple[float, float], float]:
    return products(pair.z, pair.w, pair.law, pair.theirs, lambda: pair.pool)


def _linear(pair: Pair, target: str) -> float:
    """The standard error of the covariance with a plain column, in safe units."""
    file = undo(pair.z, pair.law, pair.pool, cycle=not pair.shared_donors)
    w = standardised(pair.w, None)[0][file.rows]
    rows = ~np.isnan(w)
    w = w[rows] - w[rows].mean()
    weights = w / (w.size - 1)
    variance = file_covariance(weights[None], file, rows)[0, 0]
    if target == "population":
        part = weights * (file.values[rows] - file.values[rows].mean())
        part -= part.mean()
        noise = weights**2 @ file.noise()[rows]
        variance += max(part @ part * w.size / (w.size - 1) - noise, 0.0)
    return float(np.sqrt(max(variance, 0.0)))


def _joint(pair: Pair, target: str) -> float:
    return _by_theorem(pair, Weights(1.0), target)


def _by_theorem(pair: Pair, by: Weights, target: str) -> float:
    """The standard error of a function of the covariance and the variances, in safe units."""
    z, w, law, theirs, pool, shared = pair
    (a, unit), (b, other_unit) = standardised(z, law), standardised(w, theirs)
    both, there = ~(np.isnan(a) | np.isnan(b)), ~np.isnan(a)
    if law.scale == "linear":
        a = a - a[both].mean()
    if theirs is None or theirs.scale == "linear":
        b = b - b[both].mean()
    pools = donors(a[there], law, None if pool is None else pool[there])
    own = pools.pool[both[there]]
    file, population = spreads(
        column(z[both], a[both], law, unit), column(w[both], b[both], theirs, other_unit),
        own, pools.factor, by, law.p, shared_donors=shared,
    )  # fmt: skip
    return float(np.sqrt((population if target == "population" else file) / own.size))
