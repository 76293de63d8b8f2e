"""Intervals of the covariance and the correlation of the original with another column."""

import warnings
from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.estimates.base import Shared
from condmask.estimates.by_name import ByName
from condmask.inference import bounded, heavy_tails, reverse_pairs
from condmask.inference.covariance import Product, covariance_error, products
from condmask.inference.interval_options import interval_options
from condmask.inference.intervals import TARGETS, EstimateWarning, Interval, UndefinedError, multiplier
from condmask.inference.pair_moments import Weights, column, spreads
from condmask.inference.pseudo_values import PseudoValues, standardised
from condmask.inference.reverse_mapped import ReverseMapped
from condmask.law import Law

TARGETS_OF_THEOREM = ("file", "population")  # in the order of `spreads`
ENOUGH = 10.0  # unmasked records, whose correlation is known to some .3


class Pair(NamedTuple):
    """A column of masked values and another, replicate by replicate; `theirs` is the law of the other.

    A masked record tells as much of a correlation with a plain column as `share` unmasked ones.
    """

    z: np.ndarray
    w: np.ndarray
    law: Law
    theirs: Law | None
    pseudo: PseudoValues
    shared_donors: bool
    share: float


class Correlation(NamedTuple):
    """A correlation with its interval; what is to be said of it, and how many records would do."""

    low: float
    high: float
    error: float
    value: float
    outside: float = np.nan
    few: str = ""
    enough: float = 0.0


class PairIntervals(ByName, Shared):
    """Intervals of what two columns have in common."""

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
            As for `covariance`; for Counts, which have no fourth moments of its pairs.

        Warns
        -----
        EstimateWarning
            If the tails of either column are heavy, by its estimated kurtosis.

        Notes
        -----
        With a plain column the covariance is linear in the original, and its variance given the file is
        known without bias, by strata. With a column masked together it
        is that of the general theorem. In heavy tails the interval covers too rarely, as it does without
        masking.
        """
        asked = interval_options(confidence_level, target, None, None, 0)
        found, pairs = [], list(self._pairs_of(other))
        for pair in pairs:
            estimate, _, unit = _estimated(pair)
            linear = pair.theirs is None
            error = (covariance_error(pair.pseudo, pair.w, asked) if linear else _joint(pair, target)) * unit
            estimate *= unit
            found.append((estimate, error))
        tails = [each for pair in pairs for each in _tails(pair)]
        heavy_tails.warn(tails, pairs[0].z.size, "covariances", stacklevel=2)
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
            With a leading axis of replicates where the estimate has one; within [-1, 1], and so is its
            estimate: where `correlation` lies outside, the nearest end, which `about` says. Where a variance
            is not significantly above 0 the interval is [-1, 1], and the estimate of a negative one NaN.

        Raises
        ------
        ValueError
            As for `covariance_interval`.

        Warns
        -----
        EstimateWarning
            If the records tell less than 10 unmasked ones would, with the number that would do; else if the
            tails of either column are heavy.

        Notes
        -----
        All r at which the estimate is not surprising, with the standard error that it has if r is the
        correlation: masking and noise do not let it vanish at -1 and 1, as Fisher's z has it. Near these
        what is surprising is weighed as by Feldman and Cousins [1]_, so that the interval has its level
        there too and is never a point. Gaps in a plain column are taken to be no matter of the values.

        References
        ----------
        .. [1] G. J. Feldman and R. D. Cousins, "Unified approach to the classical statistical analysis of
               small signals", Phys. Rev. D 57 (1998) 3873-3889.

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
        about = f"correlation {TARGETS[interval_options(confidence_level, target, None, None, 0).target]}"
        pairs = list(self._pairs_of(other))
        found = [_correlation(pair, target, level, times) for pair in pairs]
        values = np.array([each[:5] for each in found])
        outside = values[~np.isnan(values[:, 4]), 4]
        if outside.size:
            estimate = "the estimate" if self._batch else f"the estimate, {outside[0]:.4g},"
            about += (
                f"; {self._times(outside.size)}{estimate} lies outside [-1, 1], and the nearest end is given"
            )
        if np.isnan(values[:, 3]).any():
            without = self._times(int(np.isnan(values[:, 3]).sum()))
            about += f"; {without}a variance is estimated negative or zero"
        worst = max(found, key=lambda each: each.enough)
        if worst.few:
            warnings.warn(f"correlation: {worst.few}", EstimateWarning, stacklevel=2)
        else:
            tails = [each for pair in pairs for each in _tails(pair)]
            heavy_tails.warn(tails, pairs[0].z.size, "correlations", stacklevel=2)
        return self._interval(*values[:, :4].T, level, target, about)

    # --- private ---

    def _pairs_of(self, other: Any) -> Iterator[Pair]:
        self._records_for("an interval of two columns", "fourth moments of its pairs")
        other = self._by_name(other, "other", masked=True)
        shared = self.scheme.shared_donors or self._law.p == 0.0
        theirs = getattr(other, "_law", None)
        reverse = self.scheme.reverse_mapping
        if reverse and theirs is not None:
            raise UndefinedError(
                "other must be a column that was not masked for an interval after reverse mapping: how the "
                "covariance of two columns masked together varies is not known; covariance and correlation "
                "estimate it"
            )
        share = (1.0 - self._swapped) ** 2
        for replicate, (z, w) in zip(self._replicates, self._both(other), strict=True):
            yield Pair(z, w, self._law, theirs, replicate._pseudo_values(), shared, share)

    def _both(self, other: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Each replicate, and its part of the other column."""
        if other is None:
            raise ValueError("other must be a column or an Estimate, got None")
        rows = self._rows()
        if isinstance(other, PairIntervals):
            if self.origin.group is None or self.origin.group != other.origin.group:
                raise ValueError(
                    "other must have been masked together with this column (mask_table), got groups "
                    f"{self.origin.group!r} and {other.origin.group!r}"
                )
            columns = other._rows()
        else:
            columns = np.atleast_2d(frames.column(other, "other", dimensions=(1, 2)).array)
            if self._batch and len(columns) == 1:
                columns = np.broadcast_to(columns, (len(rows), columns.shape[1]))
        _checks.same_length(columns[0], "other", rows.shape[1], "z")
        if len(columns) != len(rows):
            raise ValueError(f"other must have {len(rows)} replicates, as z has, got {len(columns)}")
        return zip(rows, columns, strict=True)

    def _rows(self) -> np.ndarray:
        if self._records is None:
            raise ValueError("other must be masked values: Counts keep no records")
        return self._records.rows

    def _product(self, k: int, z: np.ndarray, w: np.ndarray, other: Any) -> Product:
        """Covariance and variances of the originals of replicate k, in safe units."""
        theirs = getattr(other, "_law", None)
        if self.scheme.reverse_mapping and theirs is not None:
            one, two = (estimate._replicates[k]._reverse_mapped for estimate in (self, other))
            return reverse_pairs.joint(one, two, z, w)
        return products(self._replicates[k]._pseudo_values(), w, theirs)

    def _times(self, count: int) -> str:
        return f"in {count} replicates " if self._batch else ""

    def _interval(self, low: Any, high: Any, error: Any, estimate: Any, *rest: Any) -> Interval:
        low, high, error, estimate = (
            each if self._batch else float(each[0]) for each in (low, high, error, estimate)
        )
        return Interval(low, high, error, estimate, *rest)


def _estimated(pair: Pair) -> tuple[float, tuple[float, float], float]:
    return products(pair.pseudo, pair.w, pair.theirs)


def _joint(pair: Pair, target: str) -> float:
    return float(np.sqrt(_by_theorem(pair, [Weights(1.0)])[TARGETS_OF_THEOREM.index(target), 0]))


def _by_theorem(pair: Pair, by: list[Weights]) -> np.ndarray:
    """The variances of functions of the covariance and the variances, in safe units, about both targets."""
    z, w, law, theirs, pseudo, shared = pair[:6]
    if isinstance(pseudo, ReverseMapped):
        return reverse_pairs.spreads(pseudo, z, w, by)
    b, other_unit = standardised(w)
    b = b[pseudo.rows]
    both = ~np.isnan(b)
    a, b, pool = pseudo.masked[both], b[both], pseudo.pool[both]
    found = spreads(
        column(a - a.mean(), law, pseudo.unit), column(b - b.mean(), theirs, other_unit),
        pool, pseudo.factor, by, law.p, shared_donors=shared,
    )  # fmt: skip
    return np.asarray(found / pool.size)


# --- correlations ---


def _correlation(pair: Pair, target: str, level: float, times: float) -> Correlation:
    """The correlation of one pair of columns, in whose units all variances are safe."""
    value, (first, second), _ = _estimated(pair)
    lone = [Weights(0.0, 1.0, 0.0), Weights(0.0, 0.0, 1.0)][: 1 if pair.theirs is None else 2]
    if min(first, second) <= 0.0:
        errors = np.sqrt(_by_theorem(pair, lone)[0])
        few, enough = _unknown(pair, (first, second), times * errors)
        return Correlation(-1.0, 1.0, np.nan, np.nan, few=few, enough=enough)
    size = float(np.sqrt(first) * np.sqrt(second))
    r = value / size

    # r - rho, the estimate less a hypothesis, is linear in rho, and so its variance is a quadratic
    by = [Weights(1.0 / size, -0.5 * rho / first, -0.5 * rho / second) for rho in (-1.0, 0.0, 1.0)]
    squares = _by_theorem(pair, [*by, *lone])
    low, middle, high = squares[TARGETS_OF_THEOREM.index(target), :3]

    def error(rho: np.ndarray) -> np.ndarray:
        square = middle + 0.5 * (high - low) * rho + (0.5 * (high + low) - middle) * rho**2
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    nearest = float(np.clip(r, -1.0, 1.0))
    own = float(error(np.array([nearest]))[0])
    found = Correlation(-1.0, 1.0, own, nearest, np.nan if r == nearest else r)
    few, enough = _unknown(pair, (first, second), times * np.sqrt(squares[0, 3:]))
    if few:
        return found._replace(few=few, enough=enough)
    ends = bounded.interval(r, error, level)
    few, enough = _little(pair, (first, second))
    return found._replace(low=ends[0], high=ends[1], few=few, enough=enough)


def _unknown(pair: Pair, variances: tuple[float, float], errors: np.ndarray) -> tuple[str, float]:
    """What to say where the noise hides whether a column varies at all, and how many records it takes.

    Nothing is known of a correlation then. `errors` are by how far the variances of masked columns may be
    off. With a variance at the upper end of its own interval, so many records make the lower end positive
    as are needed for half the length.
    """
    share = 0.0
    for variance, error, kept in zip(variances, errors, _kept(pair, variances), strict=False):
        # with less noise than that a variance is not small, but heavy tails leave it uncertain
        if variance <= error and kept < 0.5:
            upper = variance + error
            share = max(share, (2.0 * error / upper) ** 2 if upper > 0.0 else np.inf)
    if share == 0.0:
        return "", 0.0
    enough = share * _records(pair)
    some = (
        f"it takes at least {ceil(enough):,} records" if np.isfinite(enough) else "it takes far more records"
    )
    return f"it may be anything, since so much noise hides whether the original varies; {some}", enough


def _little(pair: Pair, variances: tuple[float, float]) -> tuple[str, float]:
    """What to say where the records tell little, and how many would do.

    Where two columns do not depend on each other, n masked pairs tell as much of their correlation as
    n (1-p)^2 Var X / Var Z unmasked ones; of columns masked together, which keep their pairs when they are
    swapped, as n (Var X / Var Z) (Var X' / Var Z').
    """
    share = (1.0 if pair.theirs is not None else pair.share) * float(
        np.prod(np.minimum(_kept(pair, variances), 1.0))
    )
    n = _records(pair)
    if n * share >= ENOUGH:
        return "", 0.0
    return (
        f"{n} masked records tell as much of it as {n * share:.2g} unmasked ones; {ceil(ENOUGH / share):,} "
        f"would tell as much as {ENOUGH:.0f}"
    ), ENOUGH / share


def _kept(pair: Pair, variances: tuple[float, float]) -> list[float]:
    """What part of the variance of each masked column is that of its original."""
    both = ~(np.isnan(pair.z) | np.isnan(pair.w))
    found = []
    for values, law, variance in zip((pair.z, pair.w), (pair.law, pair.theirs), variances, strict=True):
        if law is not None:
            masked = float(standardised(values)[0][both].var(ddof=1))
            found.append(variance / masked if masked > 0.0 else 1.0)
    return found


def _tails(pair: Pair) -> list[float]:
    """The kurtosis of either column."""
    both = ~(np.isnan(pair.z) | np.isnan(pair.w))
    w = pair.w[both]
    other = heavy_tails.of_plain(w) if pair.theirs is None else heavy_tails.of_records(w, pair.theirs)
    return [heavy_tails.of_records(pair.z[both], pair.law), other]


def _records(pair: Pair) -> int:
    """How many have both values."""
    return int(np.count_nonzero(~(np.isnan(pair.z) | np.isnan(pair.w))))
