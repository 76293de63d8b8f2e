"""Estimates distributions under a sampling design of weights and clusters."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from condmask import _checks
from condmask.designs.design import Design
from condmask.errors import ArgumentError
from condmask.estimates.domain_results import DomainIntervals
from condmask.estimates.grouped import GroupEstimates
from condmask.estimates.income import STATISTICS
from condmask.indicators import ColumnsLike
from condmask.inference.interval import TARGETS, Interval, Target

NOT_DERIVED = ("strata", "replicate_weights", "population_size", "degrees")


class DesignedDomains:
    """Passes the weights and clusters of a design on to statistics of distributions.

    Strata, replicate weights and population sizes are refused: how they change the errors of
    these statistics is not derived.

    Attributes
    ----------
    design : Design
    estimate : GroupEstimates
        The estimates without a design.
    """

    design: Design
    estimate: GroupEstimates

    def quantile_interval(
        self,
        q: ArrayLike = 0.5,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Interval:
        """Estimate quantiles of the original, as `Estimate.weighted_quantile` does.

        Parameters
        ----------
        q : float or array_like
            Probabilities.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In the shape of `q`.

        Raises
        ------
        ValueError
            If the design has more than weights and clusters.
        """
        weights, clusters = self._weights_and_clusters("quantile_interval", target)
        return self.estimate.weighted_quantile(
            weights, q, clusters=clusters, confidence_level=confidence_level, target=target
        )

    def cdf_interval(
        self, t: ArrayLike, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Estimate the distribution function of the original, as `Estimate.weighted_cdf` does.

        Parameters
        ----------
        t : float or array_like
            Where, in the units of the data.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval
            In the shape of `t`.

        Raises
        ------
        ValueError
            If the design has more than weights and clusters.
        """
        weights, clusters = self._weights_and_clusters("cdf_interval", target)
        return self.estimate.weighted_cdf(
            weights, t, clusters=clusters, confidence_level=confidence_level, target=target
        )

    def group_quantiles(
        self,
        labels: ColumnsLike,
        q: ArrayLike = 0.5,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> DomainIntervals:
        """Estimate quantiles of groups, as `Estimate.group_quantiles` does.

        Parameters
        ----------
        labels : array_like of shape (n,), str, list of str, data frame or dict of columns
            The group of each record.
        q, confidence_level, target
            As for `quantile_interval`.

        Returns
        -------
        DomainIntervals

        Raises
        ------
        ValueError
            If the design has more than weights and clusters.
        """
        weights, clusters = self._weights_and_clusters("group_quantiles", target)
        return self.estimate.group_quantiles(
            labels,
            q,
            weights=weights,
            clusters=clusters,
            confidence_level=confidence_level,
            target=target,
        )

    def income_statistics(
        self,
        statistics: str | Sequence[str] = STATISTICS,
        *,
        share: float = 0.6,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> DomainIntervals:
        """Estimate poverty and inequality, as `Estimate.income_statistics` does.

        Parameters
        ----------
        statistics : str or sequence of str
        share : float
            The poverty line, as a share of the estimated median.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        DomainIntervals
            By statistic.

        Raises
        ------
        ValueError
            If the design has more than weights and clusters.
        """
        weights, clusters = self._weights_and_clusters("income_statistics", target)
        return self.estimate.income_statistics(
            statistics,
            share=share,
            weights=weights,
            clusters=clusters,
            confidence_level=confidence_level,
            target=target,
        )

    # --- private ---

    def _weights_and_clusters(self, statistic: str, target: Target) -> tuple[Any, Any]:
        """Return the weights and, about the population, the clusters; refuse other designs."""
        for name in NOT_DERIVED:
            if getattr(self.design, name) is not None:
                raise ArgumentError(
                    f"{statistic} must have a design of weights and clusters alone, got {name}, "
                    "under which its error is not derived; a design without strata has longer "
                    "errors as a rule"
                )
        about_file = _checks.choice(target, "target", tuple(TARGETS)) == "file"
        return self.design.weights, None if about_file else self.design.clusters
