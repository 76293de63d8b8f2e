"""Estimates moments, distribution, quantiles and correlations of the original from masked values.

The masked values are records, with or without a grid, or their counts. For parts of the records
that are whole strata all estimates are available, for other parts only means.
"""

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.designs.design import Design
from condmask.errors import ArgumentError, warn
from condmask.estimates.bands import Bands
from condmask.estimates.designed import DesignEstimate
from condmask.estimates.functionals import Functionals
from condmask.estimates.grouped import GroupEstimates
from condmask.estimates.mapped import ColumnFunction, function_of_records, mapped_name
from condmask.estimates.moments import Moments
from condmask.estimates.pairs import Pairs
from condmask.estimates.results import Intervals
from condmask.estimates.sample import sample_of
from condmask.inference.interval import (
    TARGETS,
    EstimateWarning,
    Target,
    check_interval_options,
)
from condmask.labels import groups
from condmask.law import EXACT
from condmask.masking.swap_scheme import SwapScheme
from condmask.moments.moment_interval import NEGATIVE
from condmask.row_labels import labels_of_some

SUMMARY_QUANTILES = tuple(k / 10 for k in range(1, 10))
SelectedLabels = str | float | list[str | float]  # one label of a column, or several
QUARTILES = (0.25, 0.5, 0.75)
WHOLE_ROWS = "True or False for each record"


class Estimate(Functionals, Bands, Moments, Pairs, GroupEstimates):
    r"""Estimates about the original variable from its masked values and the published scheme.

    Created by the `estimate` method of a scheme, from records or `Counts`. For a 2-D array its
    results have a leading axis of replicates. It never sees an original value.

    Parameters
    ----------
    scheme : scheme
        The scheme published with the data.
    sample : Sample
        The masked values.
    records : Records, optional
        The records, for covariances.
    origin : Origin
        The release's description of the column, apart from its scheme.
    name : str
        The name of the column in pictures and messages, if known.
    read : callable (name, as_labels), optional
        Returns another column of the release by its name, or its estimate if that column is
        masked.

    Notes
    -----
    The estimator of the distribution function is a sum with one fixed kernel,

    .. math:: T(x) = \frac{1}{n} \sum_j K\left(\frac{x - Z_j}{\sigma}\right),

    where K undoes the masking. It is unbiased given the original data as rounded to the grid, for
    every 0 < p < 1 [1]_. It may leave [0, 1] and need not be monotone.

    References
    ----------
    .. [1] D. Ghatak and B. Roy, "Conditional Masking to Numerical Data", J. Stat. Theory Pract.
           (2019), https://doi.org/10.1007/s42519-019-0042-y, https://arxiv.org/abs/1807.05035.
    """

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return self.sample.n

    @property
    def N(self) -> float:  # noqa: N802 - a symbol of the docs
        """Return the factor by which pseudo-values vary more than originals after reverse mapping,
        in the worst donor pool.

        It is (1 - p) times the standard deviation of h, which undoes the mapping, divided by that
        of the values, and at least 1. A covariance with a column in clear has a standard
        error of about sqrt(N^2 / (1-p)^2 - 1) times that of unmasked data.
        """
        return self.estimator.variation

    def __repr__(self) -> str:
        return f"Estimate(n={self.n}, scheme={self.scheme!r})"

    def summary(
        self,
        quantiles: ArrayLike = SUMMARY_QUANTILES,
        *,
        points: ArrayLike = (),
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Estimate mean, standard deviation, quantiles and distribution function, with standard
        errors and intervals.

        Parameters
        ----------
        quantiles : array_like
            Probabilities.
        points : array_like
            Points at which to estimate the distribution function, in the units of the data.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Intervals
            By name: "mean", "s.d.", "quantile 0.5", "cdf at 1000"; printed, a table. Estimates lie
            within their intervals: where `cdf` leaves [0, 1], the nearer end is given.

        Raises
        ------
        ValueError
            If the estimate is of a batch.

        Notes
        -----
        After reverse mapping `about` gives N, the factor by which pseudo-values vary more.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(2).normal(100.0, 15.0, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0)
        >>> found = scheme.estimate(scheme.mask(x, rng=3)).summary([0.5])
        >>> list(found)
        ['mean', 's.d.', 'quantile 0.5']
        >>> bool(found["mean"].low < 100.0 < found["mean"].high)
        True
        """
        level, target = check_interval_options(confidence_level, target)
        q = _checks.probabilities(quantiles, "quantiles").ravel()
        t = _checks.reals(points, "points").ravel()
        of_mean = self.mean_interval(confidence_level=level, target=target)
        of_std = self.std_interval(confidence_level=level, target=target)
        intervals = [of_mean, of_std]
        if np.isnan(of_std.estimate):
            warn(NEGATIVE, EstimateWarning)
        if q.size:
            intervals.append(self.quantile_interval(q, confidence_level=level, target=target))
        if t.size:
            intervals.append(self.cdf_interval(t, confidence_level=level, target=target))
        low, high, error, estimate = (np.hstack([each[k] for each in intervals]) for k in range(4))
        notes = np.hstack([each.note for each in intervals])
        names = [
            "mean",
            "s.d.",
            *(f"quantile {x:.15g}" for x in q),
            *(f"cdf at {x:.15g}" for x in t),
        ]
        about = self._certainty(target)
        records = np.full(len(names), self.n)
        return Intervals(
            names, low, high, error, estimate, level, target, about, records, ("statistic",), notes
        )

    def describe(self, quantiles: ArrayLike = QUARTILES) -> Intervals:
        """Return the number of records, mean, standard deviation and quartiles: `summary` under
        the name of data frames.

        Parameters
        ----------
        quantiles : array_like
            Probabilities.

        Returns
        -------
        Intervals
        """
        return self.summary(quantiles)

    def part(self, rows: ArrayLike | Mapping[str, SelectedLabels]) -> Self:
        r"""Estimate from some of the records, which must be whole strata.

        Parameters
        ----------
        rows : array_like of bool, shape (n,), or dict
            Which records: True or False for each, or labels by column, one or a list of them,
            ``{"region": ["north", "west"]}``. The estimates of a release know columns by name.

        Returns
        -------
        Estimate
            Of these records alone: distribution function, quantiles, bands and everything else.

        Raises
        ------
        ValueError
            If a stratum is selected only in part, the strata are needed but missing, no record has
            such a label, fewer than two values remain, or the index of `rows` has the labels of
            the records in another order.

        Notes
        -----
        Within a stratum any record may be the donor of another, so the masked values of a part g
        have the characteristic function
        :math:`\varphi_{Z|g} = p\,\varphi_X + (1-p)\,\varphi_Y \varphi_{X|g}`, and dividing by
        :math:`\varphi_Y`, which tends to 0, magnifies the errors at high frequencies without
        bound.
        Of any other part means are available from `group_means`, and the distribution, as far as
        membership varies smoothly with the original, from `group_cdf` and `group_quantiles`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> female = rng.random(20_000) < 0.5
        >>> x = rng.normal(np.where(female, 90.0, 110.0), 15.0)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0, strata="sex")
        >>> estimate = scheme.estimate(scheme.mask(x, strata=female, rng=2), strata=female)
        >>> bool(abs(estimate.part(female).median() - 90.0) < 1.5)
        True
        """
        z = self.records.z
        present = ~np.isnan(self.records.z)
        if isinstance(rows, Mapping):
            chosen = self._labelled(rows, z.size)
        else:
            self._refuse_other_order(rows=rows)
            chosen = _checks.array(rows, "rows", WHOLE_ROWS)
        known = chosen.dtype == np.bool_ and chosen.shape == z.shape
        _checks.require(
            known, f"rows must be {WHOLE_ROWS}, {z.size} in all, or labels by column", rows
        )
        pool = None
        if self.law.p > 0.0:
            pool = self.records.pools()
            _check_whole(
                chosen[present], (np.zeros(z.size, np.int64) if pool is None else pool)[present]
            )
        # accepted before: single precision may have moved values off the grid
        sample = sample_of(z[chosen & present], self.law, "float32")
        some = labels_of_some(self.records.row_labels, chosen)
        kept = self.records.some(chosen, None if pool is None else pool[chosen], some)
        return type(self)(
            self.scheme,
            sample,
            records=kept,
            origin=self.origin,
            name=self.name,
            column=self.column,
        )

    def map(self, function: ColumnFunction, *, name: str = "") -> Self:
        r"""Return the estimate of a function of the original, such as its logarithm, after reverse
        mapping.

        Parameters
        ----------
        function : callable
            Maps an array of values to one number for each, such as ``np.log``. It need not be
            monotone, and must not depend on the other values.
        name : str
            The name of the result in tables and messages; by default that of the function with the
            column, ``log(income)``.

        Returns
        -------
        Estimate
            With all that an estimate has: mean, quantiles, group means, regressions, correlations.

        Raises
        ------
        ValueError
            If the column has noise, or the function has no finite value at some of the released
            values (the message gives their number), or there are only Counts.

        Notes
        -----
        Reverse mapping releases the values of the original, each once, in another order, so that
        the function of the released column is the function of the original in that same order:
        everything about its distribution is exact for the file. Statistics with other columns
        undo the order, which the values before the function decided, for the function instead of
        the value (docs/inference.rst, "Functions of a column").

        Where the smallest and largest values of a pool were released as their means
        (``aggregate_ends``), each of them has the function of the mean. For k values out of n the
        mean of the function is then off by k/n times the difference of the function of their mean
        and their mean of the function; quantiles between the ends stay exact.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> schooling = rng.integers(8, 18, 20_000)
        >>> wage = np.exp(1.0 + 0.09 * schooling + rng.normal(0.0, 0.5, 20_000))
        >>> scheme = cm.ReverseMapping(0.6, 0.5, scale="log")
        >>> log_wage = scheme.estimate(scheme.mask(wage, rng=2)).map(np.log)
        >>> found = log_wage.regress({"schooling": schooling})["schooling"]
        >>> bool(found.low < 0.09 < found.high < found.low + 0.03)
        True
        """
        records = function_of_records(self.scheme, self.records, function)
        return type(self)(
            self.scheme,
            sample_of(records.z, self.law),
            records=records,
            origin=self.origin._replace(shift=()),
            name=name or mapped_name(function, self.name),
            read=self._read_column,
            column=self.column,
        )

    def with_design(self, design: Design) -> DesignEstimate:
        """Return the estimates that take a sampling design: weights, clusters, strata, replicates.

        Parameters
        ----------
        design : Design
            How the records of the file were sampled.

        Returns
        -------
        DesignEstimate
            With means, totals, means of groups and regressions; of designs of weights and
            clusters alone also quantiles and statistics of income.

        Raises
        ------
        ValueError
            If a column of the design does not fit the records, or a stratum has one unit.

        Examples
        --------
        See `Design`.
        """
        return DesignEstimate(
            self.scheme,
            self.sample,
            records=self._records,
            origin=self.origin,
            name=self.name,
            read=self._read_column,
            column=self.column,
            design=design,
            estimate=self,
        )

    # --- private ---

    def _certainty(self, target: Target) -> str:
        """Describe the target of a summary and how certain its numbers are."""
        how = "estimated"
        if target == "file" and self.law == EXACT:
            how = "exact"
            if isinstance(self.scheme, SwapScheme) and self.scheme.aggregate_ends:
                how = "exact except at the ends, which are means"
        known = f"{TARGETS[target].removeprefix('in ')}, {how}"
        try:
            return f"{known}; for other columns N = {self.N:.2f}"
        except ValueError:  # without reverse mapping; with pools that are not known, or small
            return known

    def _labelled(self, labels: Mapping[str, SelectedLabels], n: int) -> np.ndarray:
        """Return which of n records have these labels, by column one label or a list of them."""
        chosen = np.ones(n, dtype=bool)
        for name, label in labels.items():
            selected = [str(one) for one in (label if isinstance(label, list) else [label])]
            code, distinct = groups(self._by_name(name, "rows", labels=True), "rows", n)
            texts = [str(one) for one in distinct]
            _checks.require(
                {*selected} <= {*texts}, f"rows must be labels that occur in {name!r}", label
            )
            chosen &= np.isin(code, [texts.index(one) for one in selected])
        return chosen


def _check_whole(chosen: np.ndarray, pool: np.ndarray) -> None:
    """Refuse a choice of records that includes strata only in part."""
    size = np.bincount(pool)
    inside = np.bincount(pool, chosen)
    cut = int(np.count_nonzero((inside > 0) & (inside < size)))
    if cut:
        raise ArgumentError(
            "rows must select whole strata, because donors were drawn within strata; "
            f"{cut} of the strata are selected only in part: swapped records show values from "
            "anywhere in their stratum, and the noise of the others cannot be undone. For such "
            "parts take group_means, group_quantiles, group_cdf, weighted_mean or regress"
        )
