"""Estimates of groups by the names of data frames: ``income.group_by("region").mean()``."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from numpy.typing import ArrayLike

from condmask.estimates.domain_results import DomainIntervals
from condmask.estimates.domains import DomainEstimates
from condmask.estimates.functionals import UserFunction
from condmask.estimates.income import STATISTICS, IncomeEstimates
from condmask.estimates.linear import LinearEstimates
from condmask.estimates.results import Intervals
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Target


class GroupOptions(TypedDict, total=False):
    """Options of all statistics of groups: see `Estimate.group_means`."""

    weights: ArrayLike | None
    clusters: ArrayLike | None
    target: Target
    confidence_level: float
    population_size: float | None


class GroupEstimates(LinearEstimates, IncomeEstimates, DomainEstimates):
    """Gathers the statistics of groups of records."""

    def group_by(self, labels: ColumnsLike, **options: Unpack[GroupOptions]) -> "GroupedEstimate":
        """Return the statistics of groups by short names: mean, median, quantile, cdf and others.

        Parameters
        ----------
        labels : array_like of shape (n,), str, list of str, data frame or dict of columns
            The group of each record, as for `group_means`.
        **options
            weights, clusters, target, confidence_level and population_size, as for `group_means`.

        Returns
        -------
        GroupedEstimate
            Whose methods call `group_means`, `group_quantiles` and the like with these arguments.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> x, sex = rng.normal(100.0, 15.0, 5_000), rng.integers(2, size=5_000)
        >>> estimate = cm.ConditionalMasking(0.6, 10.0, step=0).estimate(x)
        >>> grouped = estimate.group_by(sex)
        >>> grouped.mean()[1] == estimate.group_means(sex)[1]
        True
        """
        return GroupedEstimate(self, labels, options)


class GroupedEstimate:
    """Estimates statistics of groups of records, by short names.

    Made by `Estimate.group_by`; each method calls that of the estimate that it names.

    Parameters
    ----------
    estimate : GroupEstimates
    labels : columns
        The group of each record.
    options : dict
        Of all statistics.
    """

    def __init__(
        self, estimate: GroupEstimates, labels: ColumnsLike, options: GroupOptions
    ) -> None:
        self.estimate = estimate
        self.labels = labels
        self.options = options

    def mean(self) -> Intervals:
        """Return the means: `Estimate.group_means`."""
        return self.estimate.group_means(self.labels, **self.options)

    def median(self) -> DomainIntervals:
        """Return the medians: `Estimate.group_quantiles`."""
        return self.estimate.group_quantiles(self.labels, 0.5, **self.options)

    def quantile(self, q: ArrayLike = 0.5) -> DomainIntervals:
        """Return quantiles: `Estimate.group_quantiles`."""
        return self.estimate.group_quantiles(self.labels, q, **self.options)

    def cdf(self, t: ArrayLike) -> DomainIntervals:
        """Return the shares at or below t: `Estimate.group_cdf`."""
        return self.estimate.group_cdf(self.labels, t, **self.options)

    def expectation(self, g: UserFunction) -> DomainIntervals:
        """Return means of a function of the original: `Estimate.group_expectation`."""
        return self.estimate.group_expectation(self.labels, g, **self.options)

    def income_statistics(
        self, statistics: str | Sequence[str] = STATISTICS, *, share: float = 0.6
    ) -> DomainIntervals:
        """Return poverty and inequality: `Estimate.group_income_statistics`."""
        return self.estimate.group_income_statistics(
            self.labels, statistics, share=share, **self.options
        )
