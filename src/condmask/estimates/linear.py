"""What is linear in the original: means of groups, weighted means, totals, regressions on other columns."""

from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._warn import warn
from condmask.errors import ArgumentError
from condmask.estimates.base import CERTAIN, Shared
from condmask.estimates.batch import by_replicate
from condmask.estimates.by_name import ByName
from condmask.estimates.results import Intervals
from condmask.inference import heavy_tails
from condmask.inference.groups import group_means
from condmask.inference.interval_options import IntervalOptions, interval_options
from condmask.inference.intervals import EstimateWarning, Interval
from condmask.inference.least_squares import Basis, basis, fit
from condmask.inference.parts import Rows, complete_rows
from condmask.inference.reverse_mapped import Spread
from condmask.inference.weighted_sums import total, weighted_mean

FEW = 5.0  # unmasked records, less than which a group is flagged
KNOWN = 0.1  # standard error of the share of negative values, above which nothing is said of it


class LinearEstimates(ByName, Shared):
    """Everything linear in the original, with weights from columns that were not masked.

    Parts of the records are asked for here, from the estimate of *all* of them: donors come from the whole
    file (stratum), so the values of a part are not a masked sample of that part.
    """

    @by_replicate()
    def pseudo_values(self) -> Any:
        r"""Values that are, given the file, on average each record's original.

        Returns
        -------
        ndarray of shape (n,) or (replicates, n)
            In the places of the records and the units of the data; NaN where a value is missing.

        Raises
        ------
        ValueError
            If strata or patterns are needed and missing, or a pool has too few records.

        Notes
        -----
        :math:`\tilde Z_i = (Z_i - p' \bar Z) / f` with the mean of the stratum, p' = p n/(n-1) and
        f = 1 - p - p/(n-1). Given the file its mean is X_i exactly, so sums of it with weights from other
        columns are without bias. After reverse mapping it is :math:`\bar Z + h(Z_i)`, with h found from the
        released values (docs/inference_linear.rst), and sums are without bias to .05 standard errors. It
        varies more than the original: its variance is no estimate of that, and its distribution means
        nothing.

        Slopes of an ordinary regression of the pseudo-values, in a file that is one stratum, have right
        standard errors for the population in any package that offers robust ones (HC3). Intercepts, means
        of groups and anything in several strata have not, since records share donors: `regress` and
        `group_means` know that, and the original file as a target.

        Examples
        --------
        >>> import condmask as cm
        >>> scheme = cm.ConditionalMasking(0.5, 10.0, decimals=0)
        >>> scheme.estimate([310, 421, 385, 290, 330]).pseudo_values().round(1)
        array([248. , 544. , 448. , 194.7, 301.3])
        """
        return self._pseudo_values().values()

    def group_means(
        self,
        labels: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Intervals:
        """Means of the original in groups of records, without bias.

        Parameters
        ----------
        labels : array_like of shape (n,), or str
            The group of each record, from a column that was not masked, or the column's name where a file
            was read; records without a label are left out.
        confidence_level : float
            Of the intervals.
        target : {"population", "file"}
            What the intervals are to cover: the means in the population that the file is a sample of, or
            those in the original file.
        clusters : array_like of shape (n,) or str, optional
            The cluster of each record, where clusters and not records were sampled.
        population_size : float, optional
            The number of records in the population, where it is known and finite.

        Returns
        -------
        Intervals
            By label, in sorted order; printed, a table.

        Raises
        ------
        ValueError
            If strata or patterns are needed and missing, or a pool has too few records.

        Warns
        -----
        EstimateWarning
            If groups have so few records that they tell less than 5 unmasked ones, n_g (1-p)^2 < 5, or
            means of amounts that are not negative come out negative.

        Notes
        -----
        The mean of the pseudo-values of the group. About the file it varies by the masking of all records,
        which may have lent their values to the group; about the population by the spread of the group, too.
        Intervals are by Student's t, about the population with one degree of freedom less than the group has
        records (clusters), about the file, whose variance is known from the masking of all n records, with
        n - 1; of groups of one to three records these cover more often than they say, as single masked values
        are not normal. The distribution function or quantiles of a group cannot be had, unless it consists of
        whole strata.

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
        options = self._options(confidence_level, target, clusters, population_size)
        labels = self._by_name(labels, "labels", labels=True)
        code, names = frames.groups(labels, "labels", self._row.size)
        return self._means_by_group(names, code, options)

    def weighted_mean(
        self,
        weights: Any,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Interval:
        """Mean of the original with weights from columns that were not masked, without bias.

        Parameters
        ----------
        weights : array_like of shape (n,), or str
            Not negative, not all 0; records without one are left out.
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

        Notes
        -----
        sum w Zt / sum w, Zt the pseudo-values. Student's t has (sum w)^2 / sum w^2 - 1 degrees of
        freedom, or one less than there are clusters; for the file it has n - 1, the masking of all n records
        being what its error is known from. There is no weighted quantile or distribution function: a mean
        takes the values that swapped records brought along out by one factor, a distribution function would
        have to undo the noise among records of one weight alone, which magnifies errors without bound.
        """
        options = self._options(confidence_level, target, clusters, population_size)
        w = self._weights(weights)
        negative = complete_rows(w).fold(partial(_first_negative, w), 0.0, _first)
        if negative < 0.0:
            raise ArgumentError(f"weights must not be negative, got {negative:g}")
        return self._weighted(weighted_mean, w, options)

    def total(
        self,
        weights: Any = None,
        *,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Interval:
        """Total of the original with weights from columns that were not masked, without bias.

        Parameters
        ----------
        weights : array_like of shape (n,) or str, optional
            By how many each record counts, as the weights of a survey do; 1 by default. Records without
            one are left out.
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

        Notes
        -----
        sum w Zt, Zt the pseudo-values. About the population the products w X vary from record to record,
        or their sums from cluster to cluster.
        """
        options = self._options(confidence_level, target, clusters, population_size)
        w = None if weights is None else self._weights(weights)
        return self._weighted(total, w, options)

    def regress(
        self,
        W: Any,
        *,
        intercept: bool = True,
        confidence_level: float = 0.95,
        target: str = "population",
        clusters: Any = None,
        population_size: float | None = None,
    ) -> Intervals:
        """Linear regression of the original on columns that were not masked, by least squares.

        Parameters
        ----------
        W : array_like of shape (n,) or (n, q), data frame, series, dict of columns, or list of str
            Numbers, or yes and no, or names of such columns where a file was read; records that miss one are
            left out. Categories are given as indicator columns, one for each but one.
        intercept : bool
            Whether the regression has a constant term.
        confidence_level, target, clusters, population_size
            As for `group_means`.

        Returns
        -------
        Intervals
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
        Least squares of the pseudo-values: given the file, on average exactly those of the originals. About
        the population the standard errors are robust (HC3; with clusters those of their sums), with what
        records have in common because they share donors. Student's t has n less the number of
        coefficients as degrees of freedom, or one less than there are clusters.

        A masked column as a *regressor* is another matter: the slope is `covariance` over `variance`.

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
        options = self._options(confidence_level, target, clusters, population_size)
        n, design = self._row.size, frames.design(self._design(W), "W")
        for name, column in design.items():
            _checks.same_length(column, name, n, "z")
        if intercept and "intercept" in design:
            raise ArgumentError("W must have no column called 'intercept' where intercept=True")
        space = basis(list(design), list(design.values()), self._row, options.clusters, intercept=intercept)
        names = [*(["intercept"] if intercept else []), *design]
        return self._regression(names, space, options, intercept=intercept)

    def spreads(self) -> dict[Any, Spread]:
        """How much more released values vary once they are undone, after reverse mapping, by donor pool.

        Returns
        -------
        dict of Spread
            By number of the stratum, in the order of its labels; 0 where all records are one pool. Each has
            the law M of what a kept record gets, the function h that undoes it, and N.

        Raises
        ------
        ValueError
            As for `pseudo_values`; for a scheme without reverse mapping, for a batch.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).normal(100.0, 15.0, 2_000)
        >>> scheme = cm.ConditionalMasking(0.6, 5.0, reverse_mapping=True, aggregate_ends=3)
        >>> found = scheme.estimate(scheme.mask(x, rng=2)).spreads()[0]
        >>> round(found.N, 2)
        1.05
        >>> bool(np.allclose(found.shares @ found.matrix(), found.shares))
        True
        """
        if not self.scheme.reverse_mapping:
            raise ArgumentError(f"scheme must be one with reverse_mapping for spreads, got {self.scheme!r}")
        self._refuse_batch("spreads")
        return self._reverse_mapped.spreads()

    # --- private; arguments are checked and prepared once for all replicates ---

    @by_replicate()
    def _means_by_group(self, names: list[Any], group: Any, options: IntervalOptions) -> Intervals:
        interval, records = group_means(group, len(names), self._pseudo_values(), options)
        self._warn_of_few(interval.estimate, records)
        return _by_name(names, interval, records, ", by group" + self._left_out(int(records.sum())))

    @by_replicate()
    def _weighted(
        self, statistic: Callable[..., tuple[Interval, int]], w: Any, options: IntervalOptions
    ) -> Interval:
        """The weighted mean or the total of the records that have a weight and a cluster."""
        interval, records = statistic(w, self._pseudo_values(), options)
        low, high, error, estimate = (float(figure[0]) for figure in interval[:4])
        return interval._replace(
            low=low, high=high, standard_error=error, estimate=estimate,
            about=interval.about + self._left_out(records),
        )  # fmt: skip

    @by_replicate()
    def _regression(
        self, names: list[str], space: Basis, options: IntervalOptions, *, intercept: bool
    ) -> Intervals:
        interval = fit(space, self._pseudo_values(), options, intercept=intercept)
        original = heavy_tails.kurtosis(self._sample.moments(4), self._law)
        heavy_tails.warn_of_heavy_tails([original, *space.kurtoses], self._sample.n, "coefficients")
        return _by_name(names, interval, np.full(len(names), space.records), self._left_out(space.records))

    @property
    def _row(self) -> Any:
        """The masked values in their places."""
        return self._records_for("pseudo-values", "records").z

    def _options(
        self, confidence_level: Any, target: Any, clusters: Any, population_size: Any
    ) -> IntervalOptions:
        clusters = self._by_name(clusters, "clusters", labels=True)
        return interval_options(confidence_level, target, clusters, population_size, self._row.size)

    def _design(self, W: Any) -> Any:
        """The columns that were given, or named."""
        names = [W] if isinstance(W, str) else W
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return self._by_name(W, "W")
        return {name: self._by_name(name, "W") for name in names}

    def _weights(self, weights: Any) -> Any:
        column = frames.column(self._by_name(weights, "weights"), "weights").array
        _checks.same_length(column, "weights", self._row.size, "z")
        return column

    def _left_out(self, used: int) -> str:
        n = self._row.size
        return "" if used == n else f" ({n - used} of {n} records left out, which miss one)"

    def _warn_of_few(self, means: np.ndarray, records: np.ndarray) -> None:
        """Say which groups are too small, and why means may be negative where no value is."""
        share, reasons = (1.0 - self._swapped) ** 2, []
        few = int(np.count_nonzero((records > 0) & (records * share < FEW)))
        if few:
            reasons.append(
                f"{few} of {records.size} groups have fewer than {ceil(FEW / share)} records, and tell less "
                f"than {FEW:.0f} unmasked ones would"
            )
        below = int(np.count_nonzero(means < 0.0))
        if below and self._no_negatives():
            some = "mean of a group comes" if below == 1 else "means of groups come"
            reasons.append(f"{below} {some} out negative, though hardly a value is: too few records")
        if reasons:
            warn("group_means: " + "; ".join(reasons), EstimateWarning)

    def _no_negatives(self) -> bool:
        """Whether it is certain that next to no original is negative."""
        if self._law.p == 0.0:
            return False
        share, error = self._below_zero()
        return share <= CERTAIN * error <= CERTAIN * KNOWN


def _by_name(names: list[Any], interval: Interval, records: np.ndarray, about: str) -> Intervals:
    low, high, error, estimate, level, target, quantity = interval
    return Intervals(names, estimate, error, low, high, records, level, target, quantity + about)


def _first_negative(w: Any, found: float, rows: Rows) -> float:
    """The first weight below 0, or 0."""
    part = rows.of(w)
    return _first(found, 0.0 if part.min() >= 0.0 else float(part[part < 0.0][0]))


def _first(one: float, other: float) -> float:
    return one or other
