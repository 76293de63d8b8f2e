"""Estimates of groups one by one: distribution functions, quantiles, means, statistics of
income."""

from typing import NamedTuple

import numpy as np

from condmask.domains import measures
from condmask.domains.basis import Function
from condmask.domains.domains import Domains, Functions, Group
from condmask.domains.ends import Rule
from condmask.domains.income import Curve, Measure
from condmask.domains.intervals import Band, band_of, quantile_ends, quantiles_of
from condmask.estimates.domain_joint import DomainJoint, Row, variance_about
from condmask.estimates.domain_request import Request
from condmask.inference.interval import Target

POINTS = 40  # of a band for quantiles, at equal steps of either distribution
OFTEN = 5  # records of a value, from which on a band is taken at both of its sides


class GroupFigures(NamedTuple):
    """What is known of some statistics of a group: arrays of shape (statistics,)."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray
    rows: list[Row]


class GroupRows:
    """Estimates statistics of the groups of a request."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.domains: Domains = request.domains
        self.sampled: float = 1.0 - self.domains.n / request.options.population_size
        self.everyone: Curve = Curve(*self.domains.masses(request.everyone))
        self.joint: DomainJoint = DomainJoint(
            self.domains, [], request.options.target, self.sampled
        )  # rows are added by those who know their order

    def curve(self, group: Group) -> Curve:
        """Return the estimated distribution function of a group."""
        return Curve(*self.domains.masses(group))

    def variance(self, group: Group, functions: Functions, target: Target) -> np.ndarray:
        """Return the variances of means of functions over a group."""
        found = self.domains.covariances(group, functions, group, functions)
        return variance_about(found, target, self.sampled)

    def worth(self, group: Group) -> float:
        """Return how many unmasked records would give the group's median as well."""
        x, below = self.curve(group)
        functions = self.domains.indicators(quantiles_of(x, below, np.array([0.5]), 0.0))
        share = self.domains.values(group, functions)[0]
        return measures.worth(share, self.variance(group, functions, "population")[0])

    def band(self, group: Group, functions: Functions) -> Band:
        """Return a group's distribution function at the points of indicators."""
        options = self.request.options
        return band_of(
            self.domains.values(group, functions),
            self.variance(group, functions, options.target),
            group.records,
            self.request.degrees(group),
            options.level,
            options.target,
        )

    def cdf(self, group: Group, t: np.ndarray) -> GroupFigures:
        """Return a group's distribution function at points."""
        functions = self.domains.indicators(t)
        band = self.band(group, functions)
        rows = [self.row(group, functions, k) for k in range(t.size)]
        estimate = np.clip(band.estimate, 0.0, 1.0)
        return GroupFigures(estimate, band.low, band.high, band.standard_error, rows)

    def quantiles(self, group: Group, q: np.ndarray) -> GroupFigures:
        """Return quantiles of a group."""
        x, below = self.curve(group)
        estimate = quantiles_of(x, below, q, self.domains.width)
        t = self.points(x, below)
        low, high = quantile_ends(t, self.band(group, self.domains.indicators(t)), q)
        low = np.minimum(low, estimate)
        high = np.maximum(high, estimate)
        functions = self.domains.indicators(estimate)
        rows = [self.row(group, functions, k) for k in range(q.size)]
        return GroupFigures(estimate, low, high, np.full(q.size, np.nan), rows)

    def points(self, x: np.ndarray, below: np.ndarray) -> np.ndarray:
        """Return points for a band: quantiles of the group and of all, and both sides of values
        that many records have."""
        levels = (np.arange(POINTS) + 0.5) / POINTS
        ends = np.array([0.1, 0.2]) / POINTS
        levels = np.concatenate([ends, levels, 1.0 - ends])
        t = np.concatenate(
            [
                curve[0][np.minimum(curve[1].searchsorted(levels), curve[0].size - 1)]
                for curve in ((x, below), self.everyone)
            ]
        )
        t = np.unique(t)
        mass = np.interp(t, self.everyone.x, self.everyone.mass)
        often = t[mass * self.domains.n > OFTEN]
        return np.union1d(t, np.nextafter(often, -np.inf))

    def means(self, group: Group, functions: list[Function]) -> GroupFigures:
        """Return means of functions over a group."""
        tabulated = self.domains.functions(functions)
        estimate = self.domains.values(group, tabulated)
        error = np.sqrt(self.variance(group, tabulated, self.request.options.target))
        rows = [self.row(group, tabulated, k) for k in range(len(functions))]
        return GroupFigures(estimate, estimate, estimate, error, rows)

    def statistics(self, group: Group, measured: list[Measure]) -> GroupFigures:
        """Return statistics of income of a group."""
        curve = self.curve(group)
        values = []
        rows = []
        for measure in measured:
            found = measure(curve, self.everyone)
            parts = []
            for of_all, who in ((False, group), (True, self.request.everyone)):
                terms = [term for term in found.terms if term.of_all == of_all]
                if terms:
                    functions = self.domains.functions([term.function for term in terms])
                    factors = np.array([term.coefficient for term in terms])
                    parts.append((who, functions, factors))
            values.append(found.value)
            rows.append(Row(parts))
        estimate = np.array(values)
        variances = [self.joint.covariance(row, row) for row in rows]
        error = np.sqrt(np.maximum(variances, 0.0))
        return GroupFigures(estimate, estimate, estimate, error, rows)

    def bounded(self, figures: GroupFigures, group: Group, rules: list[Rule]) -> GroupFigures:
        """Return figures with the ends of their intervals, by a rule for each."""
        options = self.request.options
        degrees = np.inf if options.target == "file" else self.request.degrees(group)
        columns = []
        for k, rule in enumerate(rules):
            value = figures.estimate[k : k + 1]
            low, high = rule(value, figures.standard_error[k : k + 1], options.level, degrees)
            columns.append((low[0], high[0]))
        low, high = np.array(columns).T
        return figures._replace(low=low, high=high)

    def row(self, group: Group, functions: Functions, k: int) -> Row:
        """Return one mean as an estimate that can be combined."""
        one = [each.chosen([k]) for each in functions]
        return Row([(group, one, np.ones(1))])
