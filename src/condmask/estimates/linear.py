"""Estimates statistics linear in the original: group means, weighted means, totals,
regressions."""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.errors import ArgumentError, warn
from condmask.estimates.linear_arguments import LinearArguments
from condmask.estimates.regression import Regression
from condmask.estimates.results import Intervals
from condmask.indicators import ColumnsLike
from condmask.inference.interval import (
    EstimateWarning,
    Interval,
    Target,
)
from condmask.labels import groups
from condmask.linear.chunks import RECORDS_PER_CHUNK, Chunks
from condmask.linear.groups import cross_groups, group_means
from condmask.linear.regress import regress
from condmask.linear.totals import total
from condmask.moments import heavy_tails

# groups whose information equals fewer unmasked records trigger a warning
MIN_EFFECTIVE_RECORDS = 5.0


class LinearEstimates(LinearArguments):
    """Estimates statistics linear in the original, with weights from unmasked columns.

    For parts of the records use these methods of the estimate of *all* records. Donors come from
    the whole file (stratum), so the masked values of a part are not a masked sample of that part.
    """

    def pseudo_values(self) -> np.ndarray:
        r"""Compute one value per record, whose average over maskings is the record's original.

        Returns
        -------
        ndarray of shape (n,) or (replicates, n)
            In the order of the records and the units of the data; NaN where a value is missing.

        Raises
        ------
        ValueError
            If strata or patterns are needed but missing, or a pool has too few records.

        Notes
        -----
        :math:`\tilde Z_i = (Z_i - p' \bar Z) / f` with the mean of the stratum, p' = p n/(n-1) and
        f = 1 - p - p/(n-1). Given the file its mean is X_i exactly, so sums weighted by other
        columns are unbiased. After reverse mapping it is :math:`\bar Z + h(Z_i)`, with h solved
        from the released values (docs/inference.rst), and sums are unbiased to .05 standard
        errors. Pseudo-values vary more than the original: do not use their variance or
        distribution.

        In a file that is one stratum, any package with robust standard errors (HC3) gives correct
        standard errors, about the population, for the slopes of an ordinary regression of the
        pseudo-values. It does not for intercepts, means of groups or several strata, because
        records share donors. `regress` and `group_means` account for that, and can take the
        original file as target.

        Examples
        --------
        >>> import condmask as cm
        >>> scheme = cm.ConditionalMasking(0.5, 10.0, decimals=0)
        >>> scheme.estimate([310, 421, 385, 290, 330]).pseudo_values().round(1)
        array([248. , 544. , 448. , 194.7, 301.3])
        """
        pseudo = self._linear()
        values = np.full(self.records.size, np.nan)
        for chunk in Chunks(self.records).of(RECORDS_PER_CHUNK):
            values[chunk.rows] = pseudo.origin + pseudo.unit * pseudo.values(chunk)
        return values

    def group_means(
        self,
        labels: ColumnsLike,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
        clusters: ArrayLike | None = None,
        population_size: float | None = None,
        weights: ArrayLike | None = None,
    ) -> Intervals:
        """Estimate means of the original in groups of records, without bias.

        Parameters
        ----------
        labels : array_like of shape (n,), str, list of str, data frame or dict of columns
            The group of each record, from a column that was not masked, or the column's name where
            a file was read. Several columns, or names, make a group of each combination of labels
            that occurs. Records without a label are left out.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            What the intervals should cover: the means in the population that the file is a sample
            of, or those in the original file.
        clusters : array_like of shape (n,) or str, optional
            The cluster of each record, where clusters and not records were sampled. No standard
            error is smaller than without.
        population_size : float, optional
            The number of records in the population, where it is known and finite.
        weights : array_like of shape (n,) or str, optional
            As for `weighted_mean`: each group has the weighted mean of its records.

        Returns
        -------
        Intervals
            By label, or tuple of labels, in sorted order; printed, a table.

        Raises
        ------
        ValueError
            If strata or patterns are needed but missing, a pool has too few records, or an index
            of pandas has the labels of the rows in another order (docs/conventions.rst, "Labels of
            rows").

        Warns
        -----
        EstimateWarning
            If a group carries less information than 5 unmasked records, n_g (1-p)^2 < 5; about the
            population if the tails of the original are heavy for the smallest group, as for
            `mean_interval`.

        Notes
        -----
        The mean of the pseudo-values of the group. About the file it varies by the masking of all
        records, any of which may be a donor to the group; about the population also by the spread
        of the group. Intervals use Student's t. About the population it has one degree of freedom
        less than the group has records (clusters); about the file n - 1, since the variance is
        known from the masking of all n records. For groups of one to three records the latter
        cover more often than they say, as single masked values are not normal. Groups share
        donors, so their means depend on each other: for whether two differ take `difference` or
        `test` of the result, not both standard errors. Distributions of groups:
        `group_quantiles`, `group_cdf`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ConditionalMasking(0.6, 500.0)
        >>> masked = scheme.mask(income, rng=2)
        >>> found = scheme.estimate(masked).group_means(np.where(male, "male", "female"))
        >>> bool(abs(found["male"].estimate / income[male].mean() - 1) < 0.03)
        True
        >>> bool(abs(masked[male].mean() / income[male].mean() - 1) < 0.03)
        False
        """
        self._refuse_other_order(labels=labels, clusters=clusters, weights=weights)
        options = self._options(confidence_level, target, clusters, population_size)
        columns = self._label_columns(labels)
        coded = [groups(column, "labels", self.records.size) for column in columns.values()]
        code, names = coded[0] if len(coded) == 1 else cross_groups(coded)
        if not names:
            raise ArgumentError("labels must give at least one record a group, got none")
        w = None if weights is None else self._weights(weights, least=0.0)
        means, records, joint = group_means(
            self._linear(), self.records, code, len(names), w, options
        )
        self._warn_of_few(records)
        smallest = records[records > 1].min(initial=self.records.size)
        self._warn_of_skewness(options.target, int(smallest), "means of groups")
        about = f"{means.about}, by {' and '.join(columns)}{self._left_out(int(records.sum()))}"
        return Intervals.of(
            means,
            names,
            about,
            records,
            tuple(columns),
            degrees=joint.degrees,
            joint=joint,
        )

    def weighted_mean(
        self,
        weights: ArrayLike,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
        clusters: ArrayLike | None = None,
        population_size: float | None = None,
    ) -> Interval:
        """Estimate the mean of the original with weights from columns that were not masked,
        without bias.

        Parameters
        ----------
        weights : array_like of shape (n,), or str
            Not negative, not all 0; records without a weight are left out.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `group_means`, or if a weight is negative.

        Warns
        -----
        EstimateWarning
            As for `mean_interval`.

        Notes
        -----
        sum w Zt / sum w, Zt the pseudo-values. Student's t has (sum w)^2 / sum w^2 - 1 degrees of
        freedom, or one less than there are clusters; for the file it has n - 1, since the error is
        known from the masking of all n records. `weighted_quantile` and `weighted_cdf` have the
        distribution with weights.
        """
        self._refuse_other_order(weights=weights, clusters=clusters)
        options = self._options(confidence_level, target, clusters, population_size)
        w = self._weights(weights, least=0.0)
        mean, records, _ = group_means(self._linear(), self.records, None, 1, w, options)
        if np.isnan(mean.estimate).all():
            raise ArgumentError("weights must not all be 0")
        self._warn_of_skewness(options.target, int(records[0]), "weighted means")
        return self._single(mean, int(records[0]))

    def total(
        self,
        weights: ArrayLike | None = None,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
        clusters: ArrayLike | None = None,
        population_size: float | None = None,
    ) -> Interval:
        """Estimate the total of the original with weights from columns that were not masked,
        without bias.

        Parameters
        ----------
        weights : array_like of shape (n,) or str, optional
            How many records each record stands for, as survey weights do; 1 by default. Records
            without a weight are left out.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Interval
            With a leading axis of replicates where the estimate has one.

        Raises
        ------
        ValueError
            As for `group_means`.

        Warns
        -----
        EstimateWarning
            As for `mean_interval`.

        Notes
        -----
        sum w Zt, Zt the pseudo-values. About the population the products w X vary from record to
        record, or their sums from cluster to cluster.
        """
        self._refuse_other_order(weights=weights, clusters=clusters)
        options = self._options(confidence_level, target, clusters, population_size)
        w = None if weights is None else self._weights(weights)
        interval, records = total(self._linear(), self.records, w, options)
        self._warn_of_skewness(options.target, records, "totals")
        return self._single(interval, records)

    def regress(
        self,
        W: ColumnsLike,
        *,
        intercept: bool = True,
        confidence_level: float = 0.95,
        target: Target = "population",
        clusters: ArrayLike | None = None,
        population_size: float | None = None,
    ) -> Regression:
        """Regress the original on columns that were not masked, by least squares.

        Parameters
        ----------
        W : array_like of shape (n,) or (n, q), data frame, series, dict of columns, or list of str
            Numbers, or yes and no; records that miss one are left out. Give categories as
            indicator columns, one for each category but one. Where a file was read, names of its
            columns: for a column of text with 2 to 50 labels the indicators are made here, called
            ``region=south``, for each label but the first in the sorted order.
        intercept : bool
            Whether the regression has a constant term.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Regression
            By name of the column, "intercept" first; columns of an array are called w1, w2, ...

        Raises
        ------
        ValueError
            As for `group_means`, or if a column is determined by the others.
        TypeError
            If a column does not hold numbers.

        Warns
        -----
        EstimateWarning
            If the tails of the original or of a column are heavy, by its kurtosis.

        Notes
        -----
        Least squares of the pseudo-values: given the file, the coefficients average exactly to
        those of the originals. About the population the standard errors are robust (HC3; with
        clusters, cluster-robust) and include the dependence of records that share donors. The
        degrees of freedom of Student's t are n less the number of coefficients, or one less than
        there are clusters.

        A masked column as a *regressor* is another matter: `Release.regress` takes these on either
        side.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> age = rng.uniform(20, 65, 20_000)
        >>> income = 1000 + 30 * age + rng.normal(0, 400, 20_000)
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> found = scheme.estimate(scheme.mask(income, rng=2)).regress({"age": age})
        >>> bool(found["age"].low < 30 < found["age"].high)
        True
        """
        self._refuse_other_order(W=W, clusters=clusters)
        options = self._options(confidence_level, target, clusters, population_size)
        intercept = _checks.boolean(intercept, "intercept")
        design = self._design(W, intercept=intercept)
        if intercept and "intercept" in design:
            raise ArgumentError("W must have no column called 'intercept' where intercept=True")
        fit = regress(self._linear(), self.records, design, options, intercept=intercept)
        original = heavy_tails.kurtosis(self.sample.powers(4), self.law)
        columns = [self._shown_name, *map(repr, design)]
        heavy_tails.warn_of_heavy_tails(
            [original, *fit.kurtoses], fit.records, "coefficients", columns
        )
        names = [*(["intercept"] if intercept else []), *design]
        return Regression.of(
            fit.coefficients,
            names,
            f"{fit.coefficients.about}{self._left_out(fit.records)}",
            np.full(len(names), fit.records),
            ("coefficient",),
            degrees=fit.degrees,
            joint=fit.joint,
            one_residual=True,
        )

    # --- private ---

    def _single(self, intervals: Interval, records: int) -> Interval:
        """Return the only one of an array of intervals.

        `records` is the number of records that have a value, a weight and a cluster.
        """
        about = f"{intervals.about}{self._left_out(records)}"
        number = np.array([records])
        return Intervals.of(intervals, [""], about, number, ("statistic",))[""]._replace(
            about=about
        )

    def _warn_of_few(self, records: np.ndarray) -> None:
        """Warn with the number of groups that carry too little information."""
        share = (1.0 - self.estimator.p) ** 2
        few = np.count_nonzero((records > 0) & (records * share < MIN_EFFECTIVE_RECORDS))
        if few:
            why = (
                f"fewer than {ceil(MIN_EFFECTIVE_RECORDS / share)} records and so carry less "
                f"information than {MIN_EFFECTIVE_RECORDS:.0f} unmasked records"
            )
            warn(f"group_means: {few} of {records.size} groups have {why}", EstimateWarning)
