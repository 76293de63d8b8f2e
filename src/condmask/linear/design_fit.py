"""Estimates means of groups, totals and regressions under a sampling design.

See docs/designs.rst.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from condmask.designs.sampled import SampledRecords
from condmask.inference.interval import Interval, Target
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.design_sums import DesignSums, DesignVariances, Kind, Statistics
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


def design_total(of: Designed) -> tuple[Interval, int]:
    """Return the total of the original, and the number of records that are used."""
    chunks = Chunks(of.records, of.design.present)
    shift = of.pseudo.origin / of.pseudo.unit
    found = _variances(of, chunks, Statistics(_ones, np.eye(1), shift, "total"))
    interval = of.interval("total of the original", found, total=0.0)
    return interval, _count(chunks)


def design_means(
    of: Designed, group: np.ndarray | None, count: int
) -> tuple[Interval, np.ndarray]:
    """Return the weighted means of groups of records, and the number of records of each.

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

        def rows(chunk: Chunk, some: np.ndarray = some) -> np.ndarray:
            return np.asarray(chunk.column(0) == some[:, None], dtype=np.float64)

        kind: Kind = "groups"
        parts.append(_variances(of, chunks, Statistics(rows, np.eye(some.size), 0.0, kind)))
    found = DesignVariances(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def count_records(chunk: Chunk) -> tuple[np.ndarray]:
        return (np.bincount(chunk.column(0), minlength=count),)

    (records,) = chunks.fold(count_records)
    quantity = "weighted mean of the original" if of.design.weighted else "mean of the original"
    reasons = ["no record with a value", "no weight that is not 0", WITHOUT_GROUP]
    wrong = [records == 0, np.isnan(found.estimate), np.isnan(found.sampled)]
    unknown = np.select(wrong, reasons, TOO_FEW_UNITS)
    return of.interval(quantity, found, unknown=unknown), records


def design_regress(
    of: Designed, columns: Mapping[str, ColumnOrName], *, intercept: bool
) -> tuple[Interval, int, np.ndarray]:
    """Regress the original on columns by weighted least squares.

    Returns
    -------
    coefficients : Interval
        That of the constant first, if there is an intercept.
    records : int
        The number of records that are used.
    kurtoses : ndarray of shape (columns,)
        Of the columns.
    """
    chunks = Chunks(of.records, *columns.values(), of.design.present)
    basis = Basis(chunks, list(columns), intercept=intercept)

    def products(chunk: Chunk) -> tuple[np.ndarray]:
        rows = basis.rows(chunk)
        return (rows @ rows.T,)

    basis.turn(*chunks.fold(products))
    shift = 0.0 if intercept else of.pseudo.origin / of.pseudo.unit
    found = _variances(of, chunks, Statistics(basis.rows, basis.back, shift, "fit"))
    constant = np.arange(len(basis.back)) < int(intercept)
    quantity = "regression of the original, coefficients"
    interval = of.interval(quantity, found, total=constant, units=basis.units)
    return interval, basis.records, basis.kurtoses


def _variances(of: Designed, chunks: Chunks, statistics: Statistics) -> DesignVariances:
    return DesignSums(of.pseudo, chunks, of.design, statistics).variances()


def _ones(chunk: Chunk) -> np.ndarray:
    return np.ones((1, chunk.z.size))


def _count(chunks: Chunks) -> int:
    return int(chunks.fold(lambda chunk: (chunk.z.size,))[0])
