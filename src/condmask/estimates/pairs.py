"""Estimates covariance and correlation of the original with another column, with intervals.

Theorem 2.5 of Ghatak & Roy.
"""

from typing import Union

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.errors import ArgumentError, warn
from condmask.estimates.base import Shared
from condmask.inference.interval import (
    EstimateWarning,
    Interval,
    Target,
    check_interval_options,
)
from condmask.linear.records import Named
from condmask.pairs import pair_interval
from condmask.pairs.pair_variance import Pair

OtherColumn = Union[ArrayLike, "Pairs"]


class Pairs(Shared):
    """Estimates covariances and correlations (Theorem 2.5)."""

    def covariance(self, other: OtherColumn) -> float:
        """Estimate the covariance of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str, the name of one in
        its file
            A column that was not masked, or the estimate of one that was masked together with this
            one.

        Returns
        -------
        float or ndarray of shape (replicates,)
            In units of the one times units of the other. Divisor n - 1, n the records with both
            values.

        Raises
        ------
        ValueError
            If the columns were not masked together, strata or patterns are needed and missing,
            there are too few records, or the index of `other` has the labels of the rows in
            another order.

        Notes
        -----
        Theorem 2.5, with the covariance of its proof. Its factor 1 - p is (1-p) - p/(n-1) exactly,
        since a donor is never the record itself; n is the size of the donor pool. Within strata
        the factor applies within each, and the covariance between strata stays as it is
        (docs/theory.rst, "Strata").
        """
        pair = self._pair(other)
        return float(pair.covariance * pair.unit)

    def correlation(self, other: OtherColumn) -> float:
        """Estimate the correlation of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str, the name of one in
        its file
            As for `covariance`.

        Returns
        -------
        float or ndarray of shape (replicates,)
            May leave [-1, 1], with a warning; NaN where a variance is estimated negative.

        Raises
        ------
        ValueError
            As for `covariance`.

        Warns
        -----
        EstimateWarning
            If the estimate lies outside [-1, 1], or a variance is estimated negative.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> x, w = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 50_000).T
        >>> scheme = cm.ConditionalMasking(0.6, 1.0)
        >>> round(scheme.estimate(scheme.mask(x, rng=2)).correlation(w), 1)
        0.5
        """
        correlation = float(self._pair(other).correlation)
        if not abs(correlation) <= 1.0:
            reason = f"the estimate {correlation:.4g} lies outside [-1, 1];"
            if np.isnan(correlation):
                reason = "a column is constant, or its variance is estimated negative from"
            warn(f"correlation: {reason} too few records for this scheme", EstimateWarning)
        return correlation

    def covariance_interval(
        self, other: OtherColumn, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the covariance of the original with another column.

        Parameters
        ----------
        other : array_like of shape (n,) or (replicates, n), Estimate, or str
            As for `covariance`.
        confidence_level : float
            Of the interval.
        target : {"population", "file"}
            What it should cover: the covariance in the population that the file is a sample of, or
            that in the original file.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `covariance`; for Counts, which do not keep the fourth moments of pairs.

        Warns
        -----
        EstimateWarning
            If the tails of either column are heavy, by its estimated kurtosis.

        Notes
        -----
        With a plain column the covariance is linear in the original, and its variance given the
        file is known without bias, by strata. With a column masked together it
        is that of the general theorem; after reverse mapping it is not known: the estimate has no
        interval, with a warning. With heavy tails the interval covers too rarely, as it does
        without masking.
        """
        options = check_interval_options(confidence_level, target)
        return pair_interval.covariance_interval(
            self._pair(other), *options, self._names_with(other)
        )

    def correlation_interval(
        self, other: OtherColumn, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Compute a confidence interval for the correlation of the original with another column.

        Parameters
        ----------
        other, confidence_level, target
            As for `covariance_interval`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one. Interval and estimate lie
            within [-1, 1]: where `correlation` lies outside, the estimate is the nearest end and
            `about` says so. If a variance is not significantly above 0, or the error is not known
            (`covariance_interval`), the interval is [-1, 1]; if a variance is estimated negative,
            the estimate is NaN.

        Raises
        ------
        ValueError
            As for `covariance_interval`.

        Warns
        -----
        EstimateWarning
            If the records carry less information than 10 unmasked ones (the message gives the
            number needed); otherwise if the tails of either column are heavy.

        Notes
        -----
        All r that the test of the correlation r does not reject, with the standard error of the
        estimate if r is the correlation. Because of masking and noise that error does not vanish
        at -1 and 1, as it would with Fisher's z. Near these ends the test orders estimates as
        Feldman and Cousins do [1]_, so that the interval keeps its level there and is never a
        point. Gaps in an unmasked column are assumed to be independent of the values.

        References
        ----------
        .. [1] G. J. Feldman and R. D. Cousins, "Unified approach to the classical statistical
               analysis of small signals", Phys. Rev. D 57 (1998) 3873-3889,
               https://doi.org/10.1103/PhysRevD.57.3873.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> x, w = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 50_000).T
        >>> scheme = cm.ConditionalMasking(0.6, 1.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).correlation_interval(w)
        >>> bool(found.low < 0.5 < found.high < found.low + 0.1)
        True
        """
        options = check_interval_options(confidence_level, target)
        return pair_interval.correlation_interval(
            self._pair(other), *options, self._names_with(other)
        )

    # --- private ---

    def _pair(self, other: OtherColumn) -> Pair:
        """Return the pair of this column and another one, given directly or by name."""
        self._refuse_other_order(other=other)
        other = self._numbers(other, "other", masked=True)
        w = released_values(self, other)
        return self.estimator.pair(w, other.estimator if isinstance(other, Pairs) else None)

    def _names_with(self, other: OtherColumn) -> tuple[str, str]:
        """Return the names of both columns for messages."""
        if isinstance(other, Pairs):
            name = other.name
        else:
            name = other if isinstance(other, str) else frames.column(other, "other").name
        return self._shown_name, repr(name) if name else "the other column"


def released_values(column: Pairs, other: OtherColumn | Named) -> np.ndarray | Named:
    """Return the released values of another column, or a reference to the file of the records.

    Columns that were not masked together are refused.
    """
    if isinstance(other, Named):
        return other
    if not isinstance(other, Pairs):
        values = frames.column(other, "other").array
        _checks.same_length(values, "other", column.records.size, "z")
        return np.asarray(values)
    group = column.origin.group
    if column.column and (column.column, group) == (other.column, other.origin.group):
        raise ArgumentError(f"other must be another column, got {column.column!r} itself")
    if group is None or group != other.origin.group:
        raise ArgumentError(
            "other must have been masked together with this column (mask_table), got groups "
            f"{group!r} and {other.origin.group!r}"
        )
    released = column.records.values_of(other.records)
    if not isinstance(released, Named):
        _checks.same_length(released, "other", column.records.size, "z")
    return released
