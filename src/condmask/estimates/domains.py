"""Distributions of groups of records, and with weights: quantiles, shares, means of functions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.domains import ends
from condmask.domains.domains import Group
from condmask.estimates.domain_request import DomainArguments, Request
from condmask.estimates.domain_results import DomainIntervals
from condmask.estimates.domain_rows import GroupFigures, GroupRows
from condmask.estimates.domain_table import Layout, rows_of, with_errors
from condmask.estimates.functionals import UserFunction, checked_function
from condmask.indicators import ColumnsLike
from condmask.inference.interval import Interval, Target

QUANTITY_OF_CDF = "the distribution function"


class DomainEstimates(DomainArguments):
    """Statistics of groups that need not be strata, and statistics with weights."""

    def group_quantiles(
        self,
        labels: ColumnsLike,
        q: ArrayLike = 0.5,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        r"""Quantiles of the original in groups of records.

        Parameters
        ----------
        labels : array_like of shape (n,), str, list of str, data frame or dict of columns
            The group of each record, as for `group_means`.
        q : float or array_like
            Probabilities, 0 < q < 1. By default the median.
        weights : array_like of shape (n,) or str, optional
            How many records each record stands for; not negative. Records without a weight are
            left out.
        clusters : array_like of shape (n,) or str, optional
            The cluster of each record, where clusters and not records were sampled.
        target : {"population", "file"}
            What the intervals should cover: the quantiles in the population that the file is a
            sample of, or those in the original file.
        confidence_level : float
            Of the intervals.
        population_size : float, optional
            The number of records in the population, where it is known and finite.

        Returns
        -------
        DomainIntervals
            By label, or tuple of labels; of several probabilities, by label and probability. Each
            has its `worth`, its `explained` and its `route`. A group that says too little has NaN
            and a note that says why.

        Raises
        ------
        ValueError
            As for `group_means`; and if no group says as much as 5 unmasked records would.

        Warns
        -----
        EstimateWarning
            Of groups that are worth fewer than 15 unmasked records; of groups that nearly end at
            some value, whose edge is blurred; and of groups that are left without an estimate.

        Notes
        -----
        How membership varies with the original is estimated from functions whose means over a
        group survive masking; the distribution of the group is that of all records times this
        ratio, rearranged (docs/theory.rst, "Groups of records"). Membership that jumps at a value
        is smoothed. Standard errors are 1.5 to 5 times those of unmasked records. A group that
        consists of whole strata, with equal weights, is estimated as `part` does.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ReverseMapping(0.6, 300.0, aggregate_ends=5)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.group_quantiles(np.where(male, "male", "female"))
        >>> bool(found["male"].low < np.median(income[male]) < found["male"].high)
        True
        """
        levels = _checks.probabilities(q, "q")
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return self._quantiles("group_quantiles", request, levels)

    def group_cdf(
        self,
        labels: ColumnsLike,
        t: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Distribution functions of the original in groups of records.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.
        t : float or array_like
            Where, in the units of the data: the share of a group at or below.

        Returns
        -------
        DomainIntervals
            As for `group_quantiles`; of several points, by label and point. Estimates lie within
            [0, 1].

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
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ConditionalMasking(0.6, 300.0)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.group_cdf(male, 1_000.0)
        >>> bool(found[True].low < (income[male] <= 1_000.0).mean() < found[True].high)
        True
        """
        points = _checks.reals(t, "t")
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )
        return self._cdf("group_cdf", request, points)

    def group_expectation(
        self,
        labels: ColumnsLike,
        g: UserFunction,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> DomainIntervals:
        """Means of a function of the original in groups of records.

        Parameters
        ----------
        labels, weights, clusters, target, confidence_level, population_size
            As for `group_quantiles`.
        g : callable
            As for `expectation`. For the mean of the original itself `group_means` is without
            bias.

        Returns
        -------
        DomainIntervals
            As for `group_quantiles`.

        Raises
        ------
        ValueError
            As for `group_quantiles`, and if g is not finite at a value that has mass.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> male = rng.random(20_000) < 0.6
        >>> income = rng.lognormal(7.3, 0.5, 20_000) * np.where(male, 1.2, 1.0)
        >>> scheme = cm.ReverseMapping(0.6, 300.0, aggregate_ends=5)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.group_expectation(male, np.log)
        >>> bool(found[True].low < np.log(income[male]).mean() < found[True].high)
        True
        """
        function = checked_function(g)
        request = self._request(
            labels, weights, clusters, target, confidence_level, population_size
        )

        def of_basis(rows: GroupRows, group: Group) -> GroupFigures:
            return rows.bounded(rows.means(group, [function]), group, [ends.free])

        layout = Layout("group_expectation", "mean of g(X)")
        return rows_of(request, layout, of_basis, None)

    def weighted_quantile(
        self,
        weights: ArrayLike,
        q: ArrayLike = 0.5,
        *,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> Interval:
        """Quantiles of the original with weights from columns that were not masked.

        Parameters
        ----------
        weights : array_like of shape (n,) or str
            How many records each record stands for; not negative, not all 0. Records without a
            weight are left out.
        q, clusters, target, confidence_level, population_size
            As for `group_quantiles`.

        Returns
        -------
        Interval
            In the shape of `q`.

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
        >>> income = rng.lognormal(7.3, 0.5, 20_000)
        >>> weights = 1.0 + rng.random(20_000) + (income > 1_500)
        >>> scheme = cm.ReverseMapping(0.6, 300.0, aggregate_ends=5)
        >>> estimate = scheme.estimate(scheme.mask(income, rng=2))
        >>> found = estimate.weighted_quantile(weights, 0.5)
        >>> order = np.argsort(income)
        >>> half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
        >>> bool(found.low < income[order][half] < found.high)
        True
        """
        levels = _checks.probabilities(q, "q")
        request = self._request(None, weights, clusters, target, confidence_level, population_size)
        found = self._quantiles("weighted_quantile", request, levels)
        return found.shaped(levels.shape)

    def weighted_cdf(
        self,
        weights: ArrayLike,
        t: ArrayLike,
        *,
        clusters: ArrayLike | None = None,
        target: Target = "population",
        confidence_level: float = 0.95,
        population_size: float | None = None,
    ) -> Interval:
        """Distribution function of the original with weights from columns that were not masked.

        Parameters
        ----------
        weights
            As for `weighted_quantile`.
        t, clusters, target, confidence_level, population_size
            As for `group_cdf`.

        Returns
        -------
        Interval
            In the shape of `t`.

        Raises
        ------
        ValueError
            As for `group_quantiles`.

        Warns
        -----
        EstimateWarning
            As for `group_quantiles`.
        """
        points = _checks.reals(t, "t")
        request = self._request(None, weights, clusters, target, confidence_level, population_size)
        return self._cdf("weighted_cdf", request, points).shaped(points.shape)

    def part(self, rows: Any) -> Any:
        """Return the estimate of whole strata: `Estimate` has it."""
        raise NotImplementedError

    # --- private ---

    def _quantiles(self, function: str, request: Request, q: np.ndarray) -> DomainIntervals:
        level = request.options.level

        def of_basis(rows: GroupRows, group: Group) -> GroupFigures:
            return with_errors(rows.quantiles(group, q.ravel()), level)

        def of_part(rows: GroupRows, group: Group) -> GroupFigures:
            found = self._part_of(request, group).quantile_interval(
                q.ravel(), confidence_level=level, target=request.options.target
            )
            functions = rows.domains.indicators(np.asarray(found.estimate))
            return _figures(found, rows, group, functions)

        keys = q.ravel().tolist() if q.ndim else None
        layout = Layout(function, "quantile of the original", keys, "quantile")
        if not q.ndim:
            layout = layout._replace(quantity=f"quantile {float(q):g} of the original")
        return rows_of(request, layout, of_basis, of_part)

    def _cdf(self, function: str, request: Request, t: np.ndarray) -> DomainIntervals:
        def of_basis(rows: GroupRows, group: Group) -> GroupFigures:
            return rows.cdf(group, t.ravel())

        def of_part(rows: GroupRows, group: Group) -> GroupFigures:
            functions = rows.domains.indicators(t.ravel())
            found = self._part_of(request, group).cdf_interval(
                t.ravel(),
                confidence_level=request.options.level,
                target=request.options.target,
            )
            return _figures(found, rows, group, functions)

        keys = t.ravel().tolist() if t.ndim else None
        layout = Layout(function, QUANTITY_OF_CDF, keys, "t")
        if not t.ndim:
            layout = layout._replace(quantity=f"{QUANTITY_OF_CDF} at {float(t):g}")
        return rows_of(request, layout, of_basis, of_part)

    def _part_of(self, request: Request, group: Group) -> Any:
        """Return the estimate of whole strata."""
        atoms = np.flatnonzero(group.coefficients)
        chosen = np.isin(request.code, atoms)
        missing = np.isnan(self.records.z)
        return self.part(chosen & ~missing)


def _figures(found: Interval, rows: GroupRows, group: Group, functions: Any) -> GroupFigures:
    """Return an interval of the exact route as figures that can be combined."""
    estimate, low, high, error = (
        np.asarray(part) for part in (found.estimate, found.low, found.high, found.standard_error)
    )
    return GroupFigures(
        estimate,
        low,
        high,
        error,
        [rows.row(group, functions, k) for k in range(estimate.size)],
    )
