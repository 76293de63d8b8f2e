"""How sums of originals with known weights vary: exactly through the masking, and through
sampling.

Given the file, the pseudo-values Zt_i have the means X_i, so ``sum l_i Zt_i`` has that of
``sum l_i X_i``. It is ``sum k_i Z_i`` with ``k_i = (l_i - p' lbar) / f``, where lbar is the mean
of l over the donor pool, ``p' = p n/(n-1)`` and f = 1 - p'. Its variance given the file is the sum
of ``k_i^2 v_i``, v_i that of Z_i, less what the donors of a permutation have in common. About the
population records vary too: by the sum of their squared contributions, in clusters by that of the
clusters' sums if it is larger, from which the part of the masking, which they contain, is taken
out again (docs/inference.rst, "Groups, weights, regressions, pairs").
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask.inference.interval import (
    BEYOND_FLOATS,
    Interval,
    Target,
    interval,
)
from condmask.linear.chunks import Chunk, Chunks, summed
from condmask.linear.pseudo_values import PseudoValues

LEAST_DEGREES = 1e-9  # of freedom, below which Student's t has no quantile that says anything
ONE_CLUSTER = "one cluster"
ONE_RECORD = "one record"


class IntervalOptions(NamedTuple):
    """The level and the target of an interval, and how the records were sampled.

    `clusters` has the number of each record's cluster, -1 where it is missing, below
    `cluster_count`; `population_size` is infinite where it is not given.
    """

    level: float
    target: Target
    clusters: Any
    population_size: float
    cluster_count: int


def of_pools(
    pseudo: PseudoValues, total: np.ndarray, members: Any, v: Any, q: Any, pools: Any = slice(None)
) -> np.ndarray:
    """What pools add to the variances of sums given the file, besides ``k_i^2 v_i`` of the records
    used.

    Parameters
    ----------
    pseudo : PseudoValues
    total : ndarray
        The sums of the weights of the records that are used of a pool, in any shape.
    members, v, q : ndarray
        Of these records their number, the sum of their v, and that of their weights times q.
    pools : ndarray
        The pools, along the last axis; by default all.
    """
    size = np.maximum(pseudo.size[pools], 1.0)
    factor = pseudo.factor[pools]
    others = -total * pseudo.share[pools] / size / factor  # k of the records that have no weight
    rest = np.where(members < size, pseudo.v[pools] - v, 0.0)
    return np.asarray(others**2 * rest - pseudo.in_common(total, others, q, pools))


def of_sums(
    pseudo: PseudoValues,
    chunks: Chunks,
    total: np.ndarray,
    step: Callable[[Chunk], tuple[np.ndarray, np.ndarray]],
    clusters: int = 0,
    correction: float = 1.0,
) -> tuple[tuple[np.ndarray, np.ndarray], Any]:
    """How several sums of originals vary.

    Parameters
    ----------
    pseudo : PseudoValues
    chunks : Chunks
        The records that are used; the last column is that of their clusters, if there are
        `clusters`.
    total : ndarray of shape (sums, pools)
        The sums of the weights by pool.
    step : callable
        Gives the weights of the records of a chunk, of shape (sums, m), and their contributions,
        in whose squares, or those of sums over clusters about their mean, samples vary.
    correction : float
        By which the variance over samples, masking included, is multiplied.

    Returns
    -------
    variances : (ndarray, ndarray) of shape (sums,)
        As `t_interval` takes them.
    degrees : ndarray of shape (sums,)
        Of freedom of clusters; NaN without these.
    """
    lowered = total * pseudo.share / np.maximum(pseudo.size, 1.0)

    def fold(chunk: Chunk) -> tuple[Any, ...]:
        weights, contributions = step(chunk)
        factor = chunk.of_pool(pseudo.factor)
        one = np.ones(chunk.z.size)
        (v, q) = pseudo.spread(chunk)
        k = (weights - chunk.of_pool(lowered)) / factor
        sampled = np.einsum("ij,ij->i", contributions, contributions)
        sums = (
            summed(np.vstack([contributions, one]), chunk.columns[-1], clusters)
            if clusters
            else 0.0
        )
        by_pool = (chunk.by_pool(each, pseudo.size.size) for each in (one, v, weights * q))
        return k**2 @ v, weights**2 @ (v / factor**2), sampled, sums, *by_pool

    own, masked, sampled, sums, *by_pool = chunks.fold(fold, cells=clusters)
    file = own + of_pools(pseudo, total, *by_pool).sum(axis=-1)
    if not clusters:
        return (file, sampled * correction - masked), np.full(len(total), np.nan)
    statistic = np.repeat(np.arange(len(total)), clusters)
    occurs = np.tile(sums[-1] > 0, len(total))
    single = sampled - sums[:-1].sum(axis=1) ** 2 / sums[-1].sum()
    sampled, degrees = of_clusters(sums[:-1].ravel(), occurs, statistic, single, masked - file)
    return (file, sampled * correction - masked), degrees


def of_clusters(
    sums: np.ndarray,
    occurs: np.ndarray,
    statistic: np.ndarray,
    single: np.ndarray,
    apart: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The variances over sampled clusters of statistics, and their degrees of freedom.

    `sums` are those of the contributions of a cluster to a statistic, whose number is `statistic`,
    and `occurs` says whether it has records. `single` is the variance if records were sampled one
    by one, and `apart` the part of it and of what is found here that masking adds to contributions
    and not to the statistic. What is left once this is taken out is uncertain by the standard
    error of this part, and may come out negative: no variance is below the sum of `single` and
    that error.
    """
    count = single.size
    clusters = np.bincount(statistic, occurs, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(statistic, sums, count) / clusters
        squares = np.bincount(statistic, occurs * (sums - mean[statistic]) ** 2, count)
        least = single + np.sqrt(2.0 / (clusters - 1.0)) * np.maximum(apart, 0.0)
        return np.maximum(squares * (clusters / (clusters - 1.0)), least), clusters - 1.0


def t_interval(
    quantity: str,
    estimate: np.ndarray,
    variances: tuple[np.ndarray, Any],
    degrees: Any,
    pseudo: PseudoValues,
    options: IntervalOptions,
    *,
    total: Any = 1.0,
    units: Any = 1.0,
    unknown: str | np.ndarray = ONE_RECORD,
) -> Interval:
    """Return intervals of estimates by Student's t, in the units of the data.

    Parameters
    ----------
    quantity : str
        What is estimated, in words.
    estimate : ndarray
        In those of the pseudo-values.
    variances : (ndarray, ndarray)
        The variance about the file, and by how much more it is about the population, which is
        estimated and may come out negative.
    degrees : ndarray
        Of freedom of the latter. About the file the variance and the degrees of freedom come from
        the masking of all n records, however few of them the estimate uses.
    pseudo : PseudoValues
        Whose n records of the population are in the file.
    options : IntervalOptions
    total, units : ndarray
        The sum of the weights, and what these are to be divided by.
    unknown : str or ndarray of str
        Why an estimate or its error is NaN, where it is.
    """
    variance = np.maximum(variances[0], 0.0)
    n = pseudo.n
    if options.target == "population":
        size = options.population_size
        rule = f"population_size must be at least the number of records, {n}"
        _checks.require(n <= size, rule, size)
        variance = variance + (1.0 - n / size) * np.maximum(variances[1], 0.0)
    else:
        degrees = n - 1.0
    # a group may have no record with a value; one weight leaves degrees that are rounding alone
    none = np.isnan(estimate) | (np.asarray(degrees) < LEAST_DEGREES)
    degrees = np.where(none, 0.0, degrees)
    unit = pseudo.unit / units
    error = unit * np.where(degrees > 0.0, np.sqrt(variance), np.nan)
    value = pseudo.origin * total + unit * estimate
    return interval(
        value,
        error,
        options.level,
        options.target,
        quantity,
        degrees=degrees,
        reason=np.where(np.isnan(error), unknown, BEYOND_FLOATS),
    )
