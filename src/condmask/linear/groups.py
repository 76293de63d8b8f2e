"""Means of groups of records that need not be strata, with weights or without: a table of pools by
groups.

Figures are those of sums with the weights w/W in a group of weight W, and 0 outside.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from condmask import strata
from condmask.inference.interval import Interval
from condmask.linear.chunks import Chunk, Chunks, summed, taken
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import Records
from condmask.linear.variance import (
    LEAST_DEGREES,
    ONE_CLUSTER,
    ONE_RECORD,
    IntervalOptions,
    of_clusters,
    of_pools,
    t_interval,
)

# cells, or two for each record, up to which all are kept, whether they occur or not
TABLE = 1 << 20


class Cells:
    """Pairs of a code and a group, of which there are `codes` and `count`, among some n records.

    Attributes
    ----------
    code, group : ndarray of shape (cells,)
        Of each cell.
    """

    def __init__(
        self, chunks: Chunks, code_of: Callable[[Chunk], Any], codes: int, count: int, n: int
    ) -> None:
        self._code_of = code_of
        self._count = count
        self._few = codes * count <= max(2 * n, TABLE)
        if self._few:
            self._cells = np.arange(codes * count)
        else:
            (self._cells,) = chunks.fold(
                lambda chunk: (np.unique(self._pair(chunk)),), np.union1d, cells=TABLE
            )
        self.code, self.group = np.divmod(self._cells, count)
        self.size = self._cells.size

    def of(self, chunk: Chunk) -> Any:
        """The number of each record's cell; None where there is one."""
        pair = self._pair(chunk)
        return pair if self._few or pair is None else self._cells.searchsorted(pair)

    def sums(self, chunk: Chunk, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        """The sums of values by cell."""
        at = self.of(chunk)
        return tuple(summed(each, at, self.size) for each in values)

    def by_group(self, sums: np.ndarray) -> np.ndarray:
        """Sums by group from those by cell."""
        return np.bincount(self.group, sums, self._count)

    def _pair(self, chunk: Chunk) -> Any:
        code = self._code_of(chunk)
        own = chunk.columns[0]
        if code is None or own is None:
            return own if code is None else code
        return code * np.int64(self._count) + own


def group_means(
    pseudo: PseudoValues,
    records: Records,
    group: Any,
    count: int,
    weights: Any,
    options: IntervalOptions,
) -> tuple[Interval, np.ndarray]:
    """The means of `count` groups in the units of the data, and the number of records of each.

    `group` numbers the records, -1 for none of the groups; None is one group of all. A group has
    no mean where it has no value, or no weight.
    """
    chunks = Chunks(records, group, weights, options.clusters)
    cells = Cells(chunks, lambda chunk: chunk.pool, pseudo.size.size, count, pseudo.n)

    def totals(chunk: Chunk) -> tuple[Any, ...]:
        one = np.ones(chunk.z.size)
        values = pseudo.values(chunk)
        weight = chunk.columns[1]
        return cells.sums(chunk, one, *([values] if weight is None else [weight * values, weight]))

    members, products, *weighed = chunks.fold(totals, cells=cells.size)
    total = weighed[0] if weighed else members
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = 1.0 / cells.by_group(total)
        estimate = cells.by_group(products) * unit
        total = total * unit[cells.group]
    lowered = total * pseudo.share[cells.code] / np.maximum(pseudo.size[cells.code], 1.0)

    def contributions(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        weight, middle = (taken(figures, chunk.columns[0]) for figures in (unit, estimate))
        weight = weight if weights is None else weight * chunk.columns[1]
        return weight, weight * (pseudo.values(chunk) - middle)

    def squares(chunk: Chunk) -> tuple[Any, ...]:
        weight, residual = contributions(chunk)
        factor = chunk.of_pool(pseudo.factor)
        (v, q) = pseudo.spread(chunk)
        lower = weight - taken(lowered, cells.of(chunk))
        kept, masked = ((each / factor) ** 2 * v for each in (lower, weight))
        # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
        single = residual**2 / (1.0 - weight)
        of_groups = (kept, masked, single, *([] if weights is None else [weight**2]))
        sums = (summed(each, chunk.columns[0], count) for each in of_groups)
        return (*cells.sums(chunk, v, weight * q), *sums)

    with np.errstate(invalid="ignore", divide="ignore"):
        v, q, kept, masked, sampled, *shares = chunks.fold(squares, cells=cells.size)
        degrees = 1.0 / (shares[0] if shares else unit) - 1.0
    file = kept + cells.by_group(of_pools(pseudo, total, members, v, q, cells.code))
    if options.clusters is not None:
        pairs = Cells(
            chunks, lambda chunk: chunk.columns[2], options.cluster_count, count, pseudo.n
        )
        sums, occurs = chunks.fold(
            lambda chunk: pairs.sums(chunk, contributions(chunk)[1], np.ones(chunk.z.size)),
            cells=pairs.size,
        )
        sampled, degrees = of_clusters(sums, occurs > 0, pairs.group, sampled, masked - file)
    quantity = "mean of the original" if weights is None else "weighted mean of the original"
    size = cells.by_group(members).astype(np.int64)
    one_cluster = options.clusters is not None and degrees < LEAST_DEGREES
    found = t_interval(
        quantity,
        estimate,
        (file, sampled - masked),
        degrees,
        pseudo,
        options,
        unknown=_why_unknown(size, estimate, one_cluster),
    )
    return found, size


def _why_unknown(
    records: np.ndarray, estimate: np.ndarray, one_cluster: np.ndarray | bool
) -> np.ndarray:
    """Return by group why its mean or the error of its mean would be unknown."""
    no_weight = np.isnan(estimate)
    return np.select(
        [records == 0, no_weight, one_cluster & (records > 0), records == 1],
        ["no record with a value", "no weight that is not 0", ONE_CLUSTER, ONE_RECORD],
        "one weight that is not 0",
    )


def crossed(
    columns: Sequence[tuple[np.ndarray, list[Any]]],
) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """The groups that several columns make together: those that occur, in the order of their
    labels.

    Each column has the numbers of its labels, -1 where one is missing, and the labels.
    """
    parts = [code + 1 for code, _ in columns]
    code = strata.crossed(parts, parts[0].size)
    record = np.empty(int(code.max()) + 1, dtype=np.int64)  # one of each group
    record[code] = np.arange(code.size)
    known = np.logical_and.reduce([part[record] > 0 for part in parts])
    number = np.where(known, np.cumsum(known) - 1, -1).astype(strata.index_type(code.size))
    of_columns = ([labels[k] for k in own[record[known]].tolist()] for own, labels in columns)
    return number[code], list(zip(*of_columns, strict=True))
