"""Estimates means of groups of records, which need not be strata, with weights or without.

A mean is a sum with the weights w/W within a group of total weight W, and 0 outside of it; figures
are kept by cell, a pair of a donor pool and a group.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from condmask import strata
from condmask.inference.interval import Interval
from condmask.linear.chunks import Chunk, Chunks, summed, taken
from condmask.linear.covariance import Sums, covariances
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import ColumnOrName, Records
from condmask.linear.variance import (
    MIN_DEGREES,
    ONE_CLUSTER,
    ONE_RECORD,
    IntervalOptions,
    cluster_variances,
    t_interval,
    variance_of_pools,
)

# up to so many possible cells, or two for each record, all are kept, including empty ones
MAX_ALL_CELLS = 1 << 20


class Cells:
    """Numbers the pairs of a code (pool or cluster) and a group that occur among the records.

    Parameters
    ----------
    chunks : Chunks
        The first column holds the groups.
    code_of : callable
        Returns the code of each record of a chunk, None if there is one code.
    codes, count : int
        The numbers of codes and groups.
    n : int
        The number of records.

    Attributes
    ----------
    code, group : ndarray of int of shape (cells,)
        Of each cell.
    size : int
        The number of cells.
    """

    code: np.ndarray
    group: np.ndarray
    size: int

    def __init__(
        self,
        chunks: Chunks,
        code_of: Callable[[Chunk], np.ndarray | None],
        codes: int,
        count: int,
        n: int,
    ) -> None:
        self._code_of = code_of
        self._count = count
        self._all_kept = codes * count <= max(2 * n, MAX_ALL_CELLS)
        if self._all_kept:
            self._cells = np.arange(codes * count)
        else:
            (self._cells,) = chunks.fold(self._occurring, np.union1d, cells=MAX_ALL_CELLS)
        self.code, self.group = np.divmod(self._cells, count)
        self.size = self._cells.size

    def of(self, chunk: Chunk) -> np.ndarray | None:
        """Return the number of each record's cell; None if there is one cell."""
        pair = self._pair(chunk)
        return pair if self._all_kept or pair is None else self._cells.searchsorted(pair)

    def sums(self, chunk: Chunk, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the sums of values by cell."""
        cell = self.of(chunk)
        return tuple(summed(each, cell, self.size) for each in values)

    def by_group(self, sums: np.ndarray) -> np.ndarray:
        """Return sums by group, given sums by cell."""
        return np.bincount(self.group, sums, self._count)

    def _occurring(self, chunk: Chunk) -> tuple[np.ndarray]:
        """Return the cells of a chunk's records, each once; there is more than one."""
        return (np.unique(np.asarray(self._pair(chunk))),)

    def _pair(self, chunk: Chunk) -> np.ndarray | None:
        code = self._code_of(chunk)
        group = chunk.columns[0]
        if code is None or group is None:
            return group if code is None else code
        return np.asarray(code * np.int64(self._count) + group)


class WeightedMeans:
    """Computes the mean of each group in units of the pseudo-values, and the parts of its
    variance.

    Parameters
    ----------
    pseudo : PseudoValues
    chunks : Chunks
        With the columns of groups, weights and clusters, None for one that is not given.
    count : int
        The number of groups.
    weighted : bool
        Whether weights are given.

    Attributes
    ----------
    cells : Cells
    members : ndarray of shape (cells,)
        The number of records in each.
    estimate : ndarray of shape (groups,)
        The means; NaN in a group without a value or a weight.
    unit : ndarray of shape (groups,)
        1/W, W the sum of the weights of a group.
    total : ndarray of shape (cells,)
        The sums of w/W.
    """

    cells: Cells
    members: np.ndarray
    estimate: np.ndarray

    def __init__(
        self, pseudo: PseudoValues, chunks: Chunks, count: int, *, weighted: bool
    ) -> None:
        self.pseudo = pseudo
        self._chunks = chunks
        self._count = count
        self._weighted = weighted
        pools = pseudo.size.size
        self.cells = Cells(chunks, lambda chunk: chunk.pool, pools, count, pseudo.n)
        self.members, products, *of_weights = chunks.fold(self._totals, cells=self.cells.size)
        total = of_weights[0] if weighted else self.members
        with np.errstate(invalid="ignore", divide="ignore"):
            self.unit: np.ndarray = 1.0 / self.cells.by_group(total)  # 1/W
            self.estimate = self.cells.by_group(products) * self.unit
            self.total: np.ndarray = total * self.unit[self.cells.group]
        code = self.cells.code
        self._lowered = self.total * pseudo.share[code] / np.maximum(pseudo.size[code], 1.0)

    def variances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return by group the variance about the file; of the contributions of sampled records,
        their variance and the part that masking adds to it; and degrees of freedom."""
        with np.errstate(invalid="ignore", divide="ignore"):
            v, q, kept, masked, sampled, *of_weights = self._chunks.fold(
                self._squares, cells=self.cells.size
            )
            degrees = 1.0 / (of_weights[0] if of_weights else self.unit) - 1.0
        of_pools = variance_of_pools(self.pseudo, self.total, self.members, v, q, self.cells.code)
        return kept + self.cells.by_group(of_pools), sampled, masked, degrees

    def contributions(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights w/W of records, and these times the deviations from the mean."""
        weight, middle = (taken(each, chunk.columns[0]) for each in (self.unit, self.estimate))
        weight = weight * chunk.column(1) if self._weighted else weight
        return weight, weight * (self.pseudo.values(chunk) - middle)

    def _totals(self, chunk: Chunk) -> tuple[np.ndarray, ...]:
        one = np.ones(chunk.z.size)
        values = self.pseudo.values(chunk)
        if not self._weighted:
            return self.cells.sums(chunk, one, values)
        weight = chunk.column(1)
        return self.cells.sums(chunk, one, weight * values, weight)

    def _squares(self, chunk: Chunk) -> tuple[np.ndarray, ...]:
        weight, residual = self.contributions(chunk)
        factor = chunk.of_pool(self.pseudo.factor)
        (v, q) = self.pseudo.spread(chunk)
        lower = weight - taken(self._lowered, self.cells.of(chunk))
        kept, masked = ((each / factor) ** 2 * v for each in (lower, weight))
        # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
        sampled = residual**2 / (1.0 - weight)
        squares = [kept, masked, sampled, *([weight**2] if self._weighted else [])]
        sums = (summed(each, chunk.columns[0], self._count) for each in squares)
        return (*self.cells.sums(chunk, v, weight * q), *sums)


def group_means(
    pseudo: PseudoValues,
    records: Records,
    group: np.ndarray | None,
    count: int,
    weights: ColumnOrName,
    options: IntervalOptions,
) -> tuple[Interval, np.ndarray, "GroupJoint"]:
    """Return the means of groups in the units of the data, the number of records of each, and how
    the means vary together.

    Parameters
    ----------
    pseudo : PseudoValues
    records : Records
    group : ndarray of int of shape (n,) or None
        The group of each record, -1 for none of them; None makes one group of all.
    count : int
        The number of groups. One without a value, or without a weight, has the mean NaN.
    weights : ndarray of shape (n,), Named or None
    options : IntervalOptions
    """
    chunks = Chunks(records, group, weights, options.clusters)
    means = WeightedMeans(pseudo, chunks, count, weighted=weights is not None)
    file, sampled, masked, degrees = means.variances()
    if options.clusters is not None:
        pairs = Cells(
            chunks, lambda chunk: chunk.columns[2], options.cluster_count, count, pseudo.n
        )
        sums, occurs = chunks.fold(
            lambda chunk: pairs.sums(chunk, means.contributions(chunk)[1], np.ones(chunk.z.size)),
            cells=pairs.size,
        )
        sampled, degrees = cluster_variances(sums, occurs > 0, pairs.group, sampled, masked - file)
    quantity = "mean of the original" if weights is None else "weighted mean of the original"
    size = means.cells.by_group(means.members).astype(np.int64)
    one_cluster = options.clusters is not None and degrees < MIN_DEGREES
    interval = t_interval(
        quantity,
        means.estimate,
        (file, sampled - masked),
        degrees,
        pseudo,
        options,
        unknown=_why_unknown(size, means.estimate, one_cluster),
    )
    return interval, size, GroupJoint(means, chunks, options, degrees)


class GroupJoint:
    """Computes how the means of groups vary together, for those that are compared.

    Parameters
    ----------
    means : WeightedMeans
    chunks : Chunks
        The records, with the columns of groups, weights and clusters.
    options : IntervalOptions
    degrees : ndarray of shape (groups,)
        Degrees of freedom about the population.

    Attributes
    ----------
    degrees : ndarray of shape (groups,)
        Degrees of freedom of Student's t about the target.
    """

    def __init__(
        self, means: WeightedMeans, chunks: Chunks, options: IntervalOptions, degrees: np.ndarray
    ) -> None:
        self._means = means
        self._chunks = chunks
        self._options = options
        of_file = np.full(means.unit.size, means.pseudo.n - 1.0)
        of_population = np.broadcast_to(degrees, of_file.shape)
        self.degrees: np.ndarray = of_file if options.target == "file" else of_population

    def __call__(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of some means in the units of the data."""
        means = self._means
        pseudo = means.pseudo
        options = self._options
        chosen = np.asarray(places, dtype=np.int64)
        total = np.zeros((chosen.size, pseudo.size.size))
        for row, place in enumerate(chosen.tolist()):
            of_group = means.cells.group == place
            np.add.at(total[row], means.cells.code[of_group], means.total[of_group])

        def step(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
            group = chunk.columns[0]
            weight, contribution = means.contributions(chunk)
            belongs = np.ones((chosen.size, chunk.z.size), dtype=bool)
            if group is not None:
                belongs = group == chosen[:, None]
            return np.where(belongs, weight, 0.0), np.where(belongs, contribution, 0.0)

        clusters = options.cluster_count if options.clusters is not None else 0
        sums = Sums(pseudo, self._chunks, total, step, clusters)
        sampled = 1.0 - pseudo.n / options.population_size
        return covariances(sums, options.target, sampled) * pseudo.unit**2


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


def cross_groups(
    columns: Sequence[tuple[np.ndarray, list[Any]]],
) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """Return the groups that several columns make together, numbered in the order of their labels.

    Parameters
    ----------
    columns : sequence of (ndarray of shape (n,), list)
        Of each column the number of each record's label, -1 where it is missing, and the labels.

    Returns
    -------
    group : ndarray of int of shape (n,)
        The group of each record, -1 where a label is missing.
    labels : list of tuple
        The labels of each group, one of each column; only groups that occur.
    """
    parts = [code + 1 for code, _ in columns]
    code = strata.crossed(parts, parts[0].size)
    record = np.empty(int(code.max()) + 1, dtype=np.int64)  # one of each group
    record[code] = np.arange(code.size)
    known = np.logical_and.reduce([part[record] > 0 for part in parts])
    number = np.where(known, np.cumsum(known) - 1, -1).astype(strata.index_type(code.size))
    labels = ([texts[k] for k in codes[record[known]].tolist()] for codes, texts in columns)
    return number[code], list(zip(*labels, strict=True))
