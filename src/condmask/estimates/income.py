"""Statistics of income: poverty, ratios, inequality, of all records and of groups."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from condmask import _checks
from condmask.domains import ends, income
from condmask.domains.domains import Group
from condmask.domains.ends import Rule
from condmask.domains.income import Measure
from condmask.errors import ArgumentError
from condmask.estimates.domain_request import DomainArguments
from condmask.estimates.domain_results import DomainIntervals
from condmask.estimates.domain_rows import GroupFigures, GroupRows
from condmask.estimates.domain_table import Layout, Of, rows_of
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Target

RATE = "poverty rate"
GAP = "poverty gap"
SHARES = "S80/S20"
QUANTILES = "P90/P10"
RANGE = "interquartile range"
GINI = "Gini"
THEIL = "Theil"
DEVIATION = "mean log deviation"
STATISTICS = (RATE, GAP, SHARES, QUANTILES, RANGE, GINI, THEIL)  # DEVIATION needs a floor


class Kind(NamedTuple):
    """A statistic, and the rule by which its interval has ends."""

    measure: Measure
    rule: Rule


class IncomeEstimates(DomainArguments):
    """How unequally the original is distributed, and how many have little of it."""

    def income_statistics(
        self,
        statistics: str | Sequence[str] = STATISTICS,
        *,
        share: float = 0.6,
        floor: float | None = None,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Statistics of income of all records, each with an interval by its influence function.

        Parameters
        ----------
        statistics : str or sequence of str
            Of "poverty rate" (the share of records at or below the poverty line), "poverty gap"
            (the mean of what they lack to it, in units of the line), "S80/S20" (the total of the
            highest fifth over that of the lowest), "P90/P10" (the ratio of these quantiles),
            "interquartile range", "Gini", "Theil" and "mean log deviation".
        share : float
            The poverty line, as a share of the estimated median of all records. The error of the
            median is counted.
        floor : float, optional
            For "mean log deviation" amounts below the floor count as the floor. Under noise it
            must be given, since the estimated distribution reaches beyond the data.
        weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.

        Returns
        -------
        DomainIntervals
            By statistic.

        Raises
        ------
        ValueError
            If a median, mean or total that a statistic is divided by is not estimated positive.

        Notes
        -----
        Values are those of the rearranged distribution function. The interval of the poverty rate
        lies within [0, 1]; those of ratios are symmetric on their logarithms; those of the others
        do not fall below 0. Theil's index takes amounts below 0 as 0 (docs/theory.rst, "Statistics
        of income"). With 500 records under noise the intervals of P90/P10 and of the interquartile
        range cover some .9 (docs/coverage.rst).

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> income = np.random.default_rng(1).lognormal(7.3, 0.5, 20_000)
        >>> scheme = cm.ReverseMapping(0.6, 300.0, aggregate_ends=5)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.income_statistics(["poverty rate", "S80/S20"])
        >>> poor = np.mean(income <= 0.6 * np.median(income))
        >>> bool(found["poverty rate"].low < poor < found["poverty rate"].high)
        True
        """
        kinds = self._kinds(statistics, share, floor)
        request = self._request(None, weights, clusters, target, confidence_level, population_size)
        keys = list(kinds)
        layout = Layout("income_statistics", "statistics of income", keys, "statistic")
        needed = weights is not None
        return rows_of(request, layout, _of(kinds), None, needs_basis=needed)

    def group_income_statistics(
        self,
        labels: ColumnsLike,
        statistics: str | Sequence[str] = STATISTICS,
        *,
        share: float = 0.6,
        floor: float | None = None,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Statistics of income of groups of records.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.
        statistics, share, floor
            As for `income_statistics`; the poverty line is that of all records.

        Returns
        -------
        DomainIntervals
            By label and statistic, ``found["north", "Gini"]``.

        Raises
        ------
        ValueError
            As for `group_quantiles` and `income_statistics`.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.
        """
        kinds = self._kinds(statistics, share, floor)
        layout = Layout(
            "group_income_statistics", "statistics of income", list(kinds), "statistic"
        )
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return rows_of(request, layout, _of(kinds), None)

    def group_poverty(
        self,
        labels: ColumnsLike,
        share: float = 0.6,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Poverty rates of groups: shares of their records at or below the poverty line.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.
        share : float
            The poverty line, as a share of the estimated median of all records. The error of the
            median is counted.

        Returns
        -------
        DomainIntervals
            By label.

        Raises
        ------
        ValueError
            As for `group_quantiles`.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> young = rng.random(20_000) < 0.4
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(young, 0.8, 1.0)
        >>> scheme = cm.ReverseMapping(0.6, 300.0, aggregate_ends=5)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.group_poverty(young)
        >>> poor = np.mean(income[young] <= 0.6 * np.median(income))
        >>> bool(found[True].low < poor < found[True].high)
        True
        """
        part = _checks.probability(share, "share")
        kinds = {RATE: Kind(income.poverty_rate(part), ends.within(1.0))}
        layout = Layout("group_poverty", f"poverty rate at {part:g} of the median")
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return rows_of(request, layout, _of(kinds), None)

    def group_gini(
        self,
        labels: ColumnsLike,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Gini coefficients of groups.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.

        Returns
        -------
        DomainIntervals
            By label; intervals do not fall below 0.

        Raises
        ------
        ValueError
            As for `group_quantiles`, and if the mean of a group is not estimated positive.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.
        """
        kinds = {GINI: Kind(income.gini, ends.positive)}
        layout = Layout("group_gini", "Gini coefficient")
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return rows_of(request, layout, _of(kinds), None)

    def group_lorenz(
        self,
        labels: ColumnsLike,
        q: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Lorenz curves of groups: the share of a group's total that its lowest records have.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.
        q : float or array_like
            Shares of the records, 0 < q < 1.

        Returns
        -------
        DomainIntervals
            By label; of several shares, by label and share.

        Raises
        ------
        ValueError
            As for `group_quantiles`, and if the mean of a group is not estimated positive.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.
        """
        levels = _checks.probabilities(q, "q")
        kinds = {one: Kind(income.lorenz(one), ends.free) for one in levels.ravel().tolist()}
        keys = list(kinds) if levels.ndim else None
        layout = Layout("group_lorenz", "Lorenz curve", keys, "q")
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return rows_of(request, layout, _of(kinds), None)

    # --- private ---

    def _kinds(
        self, statistics: str | Sequence[str], share: float, floor: float | None
    ) -> dict[str, Kind]:
        """Return the statistics that are wanted by name."""
        part = _checks.probability(share, "share")
        least = None if floor is None else _checks.positive(floor, "floor")
        known = {
            RATE: Kind(income.poverty_rate(part), ends.within(1.0)),
            GAP: Kind(income.poverty_gap(part), ends.positive),
            SHARES: Kind(income.quintile_share_ratio, ends.ratio),
            QUANTILES: Kind(income.quantile_ratio(0.9, 0.1), ends.ratio),
            RANGE: Kind(income.interquartile_range, ends.positive),
            GINI: Kind(income.gini, ends.positive),
            THEIL: Kind(income.theil, ends.positive),
            DEVIATION: Kind(income.mean_log_deviation(least), ends.positive),
        }
        single = isinstance(statistics, str)
        names = _checks.names([statistics] if single else statistics, "statistics")
        for name in names:
            _checks.choice(name, "statistics", tuple(known))
        if DEVIATION in names and least is None and not self.scheme.reverse_mapping:
            raise ArgumentError(
                "floor must be a positive number for the mean log deviation under noise, "
                "where the estimated distribution reaches beyond the data, got None"
            )
        if not names:
            raise ArgumentError("statistics must name at least one statistic, got none")
        return {name: known[name] for name in names}


def _of(kinds: Mapping[Any, Kind]) -> Of:
    """Return what gives the figures of these statistics of a group."""
    measures = [kind.measure for kind in kinds.values()]
    rules = [kind.rule for kind in kinds.values()]

    def figures(rows: GroupRows, group: Group) -> GroupFigures:
        return rows.bounded(rows.statistics(group, measures), group, rules)

    return figures
