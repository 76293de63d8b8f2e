"""Estimates under a sampling design: means, totals, groups, regressions."""

from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from condmask import _checks
from condmask.designs.design import COLUMNS, Design
from condmask.designs.sampled import SampledRecords, sampled_records
from condmask.errors import ArgumentError
from condmask.estimates.designed_domains import DesignedDomains
from condmask.estimates.grouped import GroupEstimates
from condmask.estimates.linear_arguments import LinearArguments
from condmask.estimates.regression import Regression
from condmask.estimates.results import Intervals
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Interval, Target, check_interval_options
from condmask.labels import groups
from condmask.linear.design_fit import Designed, design_means, design_regress, design_total
from condmask.linear.groups import cross_groups
from condmask.moments import heavy_tails

UNDER_DESIGN = (
    "mean_interval",
    "total",
    "group_means",
    "regress",
    "quantile_interval",
    "cdf_interval",
    "group_quantiles",
    "income_statistics",
)


class DesignEstimate(DesignedDomains, LinearArguments):
    """Estimates about the original from a file that was sampled by a design.

    Made by `Estimate.with_design` and ``read_release(path, column, design=design)``. It has the
    statistics for which errors under a design are known; the others are refused.

    Attributes
    ----------
    design : Design
    estimate : Estimate
        The estimates without the design.
    """

    def __init__(
        self, *given: Any, design: Design, estimate: GroupEstimates, **known: Any
    ) -> None:
        super().__init__(*given, **known)
        self.estimate = estimate
        if not isinstance(design, Design):
            raise ArgumentError(f"design must be a Design, got {_checks.in_message(design)}")
        self.design = design
        self.sampled_records  # noqa: B018 - refuses columns that do not fit, once and at once

    @cached_property
    def sampled_records(self) -> SampledRecords:
        """Return the design as arrays of the records."""
        columns = {name: getattr(self.design, name) for name in COLUMNS}
        self._refuse_other_order(**{name: one for name, one in columns.items() if one is not None})

        def read(given: Any, argument: str, labels: bool) -> Any:
            return self._by_name(given, argument, labels=labels)

        return sampled_records(self.design, self.records.size, read)

    def __repr__(self) -> str:
        return f"DesignEstimate(n={self.sample.n}, scheme={self.scheme!r}, design={self.design!r})"

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_"):
            raise AttributeError(
                f"{name} takes no design: under a design there are {', '.join(UNDER_DESIGN)}; "
                "the estimate without it has no errors for designs"
            )
        raise AttributeError(name)

    def mean_interval(
        self, *, confidence_level: float = 0.95, target: Target = "population"
    ) -> Interval:
        """Estimate the weighted mean of the original, with an interval.

        Parameters
        ----------
        confidence_level : float
            Of the interval.
        target : {"population", "file"}
            About the population, sampling by the design and masking are random; about the original
            file, masking alone.

        Returns
        -------
        Interval

        Warns
        -----
        EstimateWarning
            About the population, if the tails of the original are heavy.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> income = rng.normal(1_500.0, 300.0, 20_000)
        >>> weights = np.where(income > 1_500, 1.0, 3.0)  # the rich were drawn more often
        >>> scheme = cm.ReverseMapping(0.6, 300.0)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.with_design(cm.Design(weights=weights)).mean_interval()
        >>> bool(found.low < np.average(income, weights=weights) < found.high)
        True
        """
        of = self._designed(confidence_level, target)
        found = design_means(of, None, 1)
        records = int(found.records[0])
        self._warn_of_skewness(of.target, records, "means")
        return self._only(found.intervals, records)

    def total(self, *, confidence_level: float = 0.95, target: Target = "population") -> Interval:
        """Estimate the weighted total of the original, with an interval.

        Parameters
        ----------
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Interval

        Warns
        -----
        EstimateWarning
            As for `mean_interval`.
        """
        of = self._designed(confidence_level, target)
        found, records = design_total(of)
        self._warn_of_skewness(of.target, records, "totals")
        return self._only(found, records)

    def group_means(
        self,
        labels: ColumnsLike,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Intervals:
        """Estimate weighted means of the original in groups of records.

        Parameters
        ----------
        labels : array_like of shape (n,), str, list of str, data frame or dict of columns
            The group of each record, as for `Estimate.group_means`.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Intervals
            By label, or tuple of labels, in sorted order.

        Raises
        ------
        ValueError
            If no record has a label.

        Warns
        -----
        EstimateWarning
            As for `mean_interval`, by the smallest group.

        Notes
        -----
        Groups are domains of the design: all units of a stratum count, also those without records
        of the group. Student's t has the units with records of the group less their strata as
        degrees of freedom.
        """
        self._refuse_other_order(labels=labels)
        of = self._designed(confidence_level, target)
        columns = self._label_columns(labels)
        coded = [groups(column, "labels", self.records.size) for column in columns.values()]
        code, names = coded[0] if len(coded) == 1 else cross_groups(coded)
        if not names:
            raise ArgumentError("labels must give at least one record a group, got none")
        found = design_means(of, code, len(names))
        records = found.records
        smallest = records[records > 1].min(initial=self.records.size)
        self._warn_of_skewness(of.target, int(smallest), "means of groups")
        quantity = f"{found.intervals.about}, by {' and '.join(columns)}"
        return Intervals.of(
            found.intervals,
            list(names),
            f"{quantity}{self._left_out(int(records.sum()))}",
            records,
            tuple(columns),
            degrees=found.degrees,
            joint=found.joint,
            one_residual=True,  # groups share units, so degrees of freedom do not add up
        )

    def regress(
        self,
        W: ColumnsLike,
        *,
        intercept: bool = True,
        confidence_level: float = 0.95,
        target: Target = "population",
    ) -> Regression:
        """Regress the original on columns that were not masked, by weighted least squares.

        Parameters
        ----------
        W : array_like of shape (n,) or (n, q), data frame, series, dict of columns, or list of str
            As for `Estimate.regress`.
        intercept : bool
            Whether the regression has a constant term.
        confidence_level, target
            As for `mean_interval`.

        Returns
        -------
        Regression
            By name of the column, "intercept" first.

        Raises
        ------
        ValueError
            If a column is determined by the others.

        Warns
        -----
        EstimateWarning
            If the tails of the original or of a column are heavy.

        Notes
        -----
        Standard errors are those of linearisation or of the replicates, without a correction for
        leverages (HC3). Student's t has the degrees of freedom of the design less the number of
        slopes.
        """
        self._refuse_other_order(W=W)
        of = self._designed(confidence_level, target)
        intercept = _checks.boolean(intercept, "intercept")
        columns = self._design(W, intercept=intercept)
        if intercept and "intercept" in columns:
            raise ArgumentError("W must have no column called 'intercept' where intercept=True")
        found = design_regress(of, columns, intercept=intercept)
        records = found.records
        original = heavy_tails.kurtosis(self.sample.powers(4), self.law)
        shown = [self._shown_name, *map(repr, columns)]
        heavy_tails.warn_of_heavy_tails(
            [original, *found.kurtoses], records, "coefficients", shown
        )
        names = [*(["intercept"] if intercept else []), *columns]
        return Regression.of(
            found.intervals,
            names,
            f"{found.intervals.about}{self._left_out(records)}",
            np.full(len(names), records),
            ("coefficient",),
            degrees=found.degrees,
            joint=found.joint,
            one_residual=True,
        )

    # --- private ---

    def _designed(self, confidence_level: float, target: Target) -> Designed:
        level, target = check_interval_options(confidence_level, target)
        return Designed(self._linear(), self.records, self.sampled_records, level, target)

    def _only(self, intervals: Interval, records: int) -> Interval:
        about = f"{intervals.about}{self._left_out(records)}"
        number = np.array([records])
        one = Intervals.of(intervals, [""], about, number, ("statistic",))[""]
        return one._replace(about=about)
