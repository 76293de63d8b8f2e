"""Means of groups of records that need not be strata: a table of groups by donor pools."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.parts import CompleteRows, Rows, add, numbered
from condmask.inference.pseudo_values import Part, PseudoValues

Number = Callable[[np.ndarray], np.ndarray]  # of each code


def crossed(columns: Sequence[tuple[Any, list[Any]]]) -> tuple[Any, list[tuple[Any, ...]]]:
    """The groups that several columns make together: those that occur, in the order of their labels.

    Each column has the numbers of its labels, -1 where one is missing, and the labels.
    """
    (code, first), *others = columns
    names = [(label,) for label in first]
    for other, labels in others:
        count = len(labels)
        pairs = partial(_pairs, code, other, count)
        cells, number = numbered(CompleteRows(code, other), pairs, len(names) * count, code.size)
        code = _numbers_of_pairs(number, count, code, other)
        names = [(*names[cell // count], labels[cell % count]) for cell in cells.tolist()]
    return code, names


def _numbers_of_pairs(number: Number, count: int, code: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The number of each record's pair of codes, -1 where one is missing."""
    found = np.empty(code.size, np.int64)
    for start, stop in blocks(code.size):
        one, two = code[start:stop], other[start:stop]
        present = (one >= 0) & (two >= 0)
        part = np.full(one.size, -1, dtype=np.int64)
        part[present] = number(one[present] * np.int64(count) + two[present])
        found[start:stop] = part
    return found


def group_means(
    group: Any, count: int, pseudo: PseudoValues, options: IntervalOptions
) -> tuple[Interval, np.ndarray]:
    """The means of `count` groups in the units of the data, and the number of records of each.

    `group` numbers the records, -1 for none of the groups. Figures are those of
    `linear_variance` for weights 1/m in a group of m: a weight is the same for all records that a group has
    of a pool, so sums by cell of the table serve.
    """
    clusters = options.clusters
    parts = pseudo.parts(group, clusters)
    records, sums = np.zeros(count, dtype=np.int64), np.zeros(count)
    for part in parts:
        inside = part.of(group)
        add(records, inside)
        add(sums, inside, part.values)
    with np.errstate(invalid="ignore"):
        estimate = sums / records
    number: Number | None = None
    squares: np.ndarray = np.zeros(count)
    if clusters is not None:
        both, number = _crossed(clusters, group, options.cluster_count, count, pseudo)
        squares = np.zeros(both.size)
    table = _Table(group, count, pseudo, options)
    for part in parts:
        inside = part.of(group)
        table.add(inside, part)
        residual = part.values - estimate[inside]
        if number is None:
            add(squares, inside, residual**2)
        else:
            add(squares, number(part.of(clusters) * np.int64(count) + inside), residual)
    sizes = records
    if clusters is not None:
        sizes = np.bincount(both % count, None, count)
        squares = np.bincount(both % count, squares**2, count)
    degrees = sizes - 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        file, noise = table.variances(records)
        sampled = squares / records**2 * ((degrees + 1.0) / degrees)
    interval = options.t_interval("mean of the original", estimate, file, sampled - noise, degrees, pseudo.n)
    return pseudo.in_units(interval), records


class _Table:
    """What groups have of pools: records, and the sums of how these vary by masking."""

    def __init__(self, group: Any, count: int, pseudo: PseudoValues, options: IntervalOptions) -> None:
        self._pseudo, self._count = pseudo, count
        self._cell: np.ndarray = np.arange(count)
        if pseudo.pool is not None:
            self._cell, self._number = _crossed(
                pseudo.pool, group, pseudo.pool_count, count, pseudo, options.clusters
            )
        self._records, self._variances, self._shared = np.zeros((3, self._cell.size))

    def add(self, inside: np.ndarray, part: Part) -> None:
        """Records of these groups."""
        at = inside if part.pool is None else self._number(part.pool * np.int64(self._count) + inside)
        add(self._records, at)
        add(self._variances, at, part.masked_variances)
        if part.file.cycle:
            add(self._shared, at, part.donor_covariance)

    def variances(self, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variances of means of groups given the file, and what masking adds to their sums of squares."""
        pseudo, count = self._pseudo, self._count
        size, factor, pool_variances = pseudo.pool_size, pseudo.factor, pseudo.pool_variances
        pool_covariance = pseudo.pool_covariance if pseudo.cycle else np.zeros(size.size)
        file, noise = np.zeros((2, count))
        for start, stop in blocks(self._cell.size):
            s, g = np.divmod(self._cell[start:stop], count)
            members, variances = self._records[start:stop], self._variances[start:stop]
            weight = 1.0 / records[g]
            total = members * weight
            lowered = total * pseudo.donor_share[s] / size[s]
            k, others = (weight - lowered) / factor[s], -lowered / factor[s]
            rest = np.where(members < size[s], pool_variances[s] - variances, 0.0)
            of_file = k**2 * variances + others**2 * rest
            if pseudo.cycle:
                shared = self._shared[start:stop]
                mixed = k * shared + others * (pool_covariance[s] - shared)
                of_file -= total * pseudo.cycle_covariance(total, mixed, s) / size[s]
            add(file, g, of_file)
            add(noise, g, weight**2 * variances / factor[s] ** 2)
        return file, noise


def _crossed(
    code: Any, group: Any, codes: int, count: int, pseudo: PseudoValues, *needed: Any
) -> tuple[np.ndarray, Number]:
    """The pairs of a code and a group that occur, and what gives the number of each."""
    complete = CompleteRows(pseudo.z, group, code, *needed)
    return numbered(complete, partial(_pairs, code, group, count), codes * count, pseudo.n)


def _pairs(code: Any, group: Any, count: int, rows: Rows) -> np.ndarray:
    return np.asarray(rows.of(code) * np.int64(count) + rows.of(group))
