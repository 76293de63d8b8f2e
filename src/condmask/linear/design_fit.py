"""Estimates means of groups, totals and regressions under a sampling design.

See docs/designs.rst.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.designs.sampled import SampledRecords
from condmask.inference.interval import Interval, Target
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.design_sums import DesignSums, DesignVariances, Statistics
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import ColumnOrName, Records
from condmask.linear.regress import Basis
from condmask.linear.variance import IntervalOptions, t_interval

MAX_ROWS = 512  # groups times weights, of which a chunk holds sums at once
TOO_FEW_UNITS = "too few sampled units"
WITHOUT_GROUP = "a replicate has no weight in it"


class Designed(NamedTuple):
    """Holds what estimates under a design have in common.

    Attributes
    ----------
    pseudo : PseudoValues
    records : Records
    design : SampledRecords
    level : float
    target : {"population", "file"}
    """

    pseudo: PseudoValues
    records: Records
    design: SampledRecords
    level: float
    target: Target

    def degrees(self, found: DesignVariances) -> np.ndarray:
        """Return the degrees of freedom of Student's t about the target."""
        if self.target == "file":
            return np.full(found.degrees.shape, self.pseudo.n - 1.0)
        return found.degrees

    def interval(
        self,
        quantity: str,
        found: DesignVariances,
        *,
        total: np.ndarray | float = 1.0,
        units: np.ndarray | float = 1.0,
        unknown: str | np.ndarray = TOO_FEW_UNITS,
    ) -> Interval:
        """Return intervals from variances in units of the pseudo-values."""
        options = IntervalOptions(self.level, self.target, None, np.inf, 0)
        return t_interval(
            quantity,
            found.estimate,
            (found.file, found.sampled),
            found.degrees,
            self.pseudo,
            options,
            total=total,
            units=units,
            unknown=unknown,
        )


class DesignJoint:
    """Computes how some estimates under a design vary together, by the variances of their
    differences.

    Parameters
    ----------
    of : Designed
    chunks : Chunks
        The records that are used.
    statistics : callable (places)
        Returns the statistics at some places.
    units : ndarray of shape (statistics,)
        Those of the estimates.
    """

    def __init__(
        self,
        of: Designed,
        chunks: Chunks,
        statistics: Callable[[np.ndarray], Statistics],
        units: np.ndarray,
    ) -> None:
        self._of = of
        self._chunks = chunks
        self._statistics = statistics
        self._units = units

    def __call__(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of the estimates at some places, of shape (places, places)."""
        chosen = np.asarray(places, dtype=np.int64)
        units = self._units[chosen]
        statistics = self._statistics(chosen)
        single = statistics.combined * units[:, None]
        pairs = list(combinations(range(chosen.size), 2))
        apart = [single[one] - single[two] for one, two in pairs]
        combined = np.vstack([single, *apart])
        found = _variances(self._of, self._chunks, statistics._replace(combined=combined))
        variance = found.file
        if self._of.target == "population":
            variance = variance + found.sampled
        matrix = np.diag(variance[: chosen.size])
        for (one, two), of_difference in zip(pairs, variance[chosen.size :], strict=True):
            shared = 0.5 * (variance[one] + variance[two] - of_difference)
            matrix[one, two] = matrix[two, one] = shared
        return matrix


class DesignedMeans(NamedTuple):
    """Holds means of groups, their records, degrees of freedom and covariances."""

    intervals: Interval
    records: np.ndarray
    degrees: np.ndarray
    joint: DesignJoint


class DesignedFit(NamedTuple):
    """Holds coefficients, the number of records, kurtoses of the columns, degrees of freedom and
    covariances."""

    intervals: Interval
    records: int
    kurtoses: np.ndarray
    degrees: np.ndarray
    joint: DesignJoint


def design_total(of: Designed) -> tuple[Interval, int]:
    """Return the total of the original, and the number of records that are used."""
    chunks = Chunks(of.records, of.design.present)
    shift = of.pseudo.origin / of.pseudo.unit
    found = _variances(of, chunks, Statistics(_ones, np.eye(1), shift, "total"))
    interval = of.interval("total of the original", found, total=0.0)
    return interval, _count(chunks)


def design_means(of: Designed, group: np.ndarray | None, count: int) -> DesignedMeans:
    """Return the weighted means of groups of records.

    Parameters
    ----------
    of : Designed
    group : ndarray of int of shape (n,) or None
        The group of each record, -1 for none; None makes one group of all.
    count : int
        The number of groups.
    """
    code = np.zeros(of.records.size, dtype=np.int64) if group is None else group
    chunks = Chunks(of.records, code, of.design.present)
    at_once = max(MAX_ROWS // (1 + of.design.factors.size), 1)
    parts = []
    for first in range(0, count, at_once):
        some = np.arange(first, min(first + at_once, count))
        parts.append(_variances(of, chunks, _of_groups(some)))
    found = DesignVariances(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def count_records(chunk: Chunk) -> tuple[np.ndarray]:
        return (np.bincount(chunk.column(0), minlength=count),)

    (records,) = chunks.fold(count_records)
    quantity = "weighted mean of the original" if of.design.weighted else "mean of the original"
    reasons = ["no record with a value", "no weight that is not 0", WITHOUT_GROUP]
    wrong = [records == 0, np.isnan(found.estimate), np.isnan(found.sampled)]
    unknown = np.select(wrong, reasons, TOO_FEW_UNITS)
    joint = DesignJoint(of, chunks, _of_groups, np.full(count, of.pseudo.unit))
    interval = of.interval(quantity, found, unknown=unknown)
    return DesignedMeans(interval, records, of.degrees(found), joint)


def _of_groups(places: np.ndarray) -> Statistics:
    """Return the means of some groups; the first column of a chunk holds the group."""

    def rows(chunk: Chunk) -> np.ndarray:
        return np.asarray(chunk.column(0) == places[:, None], dtype=np.float64)

    return Statistics(rows, np.eye(places.size), 0.0, "groups")


def design_regress(
    of: Designed, columns: Mapping[str, ColumnOrName], *, intercept: bool
) -> DesignedFit:
    """Regress the original on columns by weighted least squares, the constant first, if any."""
    chunks = Chunks(of.records, *columns.values(), of.design.present)
    basis = Basis(chunks, list(columns), intercept=intercept)

    def products(chunk: Chunk) -> tuple[np.ndarray]:
        rows = basis.rows(chunk)
        return (rows @ rows.T,)

    basis.turn(*chunks.fold(products))
    shift = 0.0 if intercept else of.pseudo.origin / of.pseudo.unit
    statistics = Statistics(basis.rows, basis.back, shift, "fit")
    found = _variances(of, chunks, statistics)
    constant = np.arange(len(basis.back)) < int(intercept)
    quantity = "regression of the original, coefficients"
    interval = of.interval(quantity, found, total=constant, units=basis.units)
    joint = DesignJoint(of, chunks, partial(_chosen, statistics), of.pseudo.unit / basis.units)
    return DesignedFit(interval, basis.records, basis.kurtoses, of.degrees(found), joint)


def _chosen(statistics: Statistics, places: np.ndarray) -> Statistics:
    return statistics._replace(combined=statistics.combined[places])


def _variances(of: Designed, chunks: Chunks, statistics: Statistics) -> DesignVariances:
    return DesignSums(of.pseudo, chunks, of.design, statistics).variances()


def _ones(chunk: Chunk) -> np.ndarray:
    return np.ones((1, chunk.z.size))


def _count(chunks: Chunks) -> int:
    return int(chunks.fold(lambda chunk: (chunk.z.size,))[0])
