"""Computes how sums of originals with known weights vary, through masking and through sampling.

Given the file, the pseudo-values Zt_i have the means X_i, so ``sum l_i Zt_i`` has the mean
``sum l_i X_i``. It equals ``sum k_i Z_i`` with ``k_i = (l_i - p' lbar) / f``, where lbar is the
mean of l over the donor pool, ``p' = p n/(n-1)`` and f = 1 - p'. Its variance given the file is
the sum of ``k_i^2 v_i``, v_i the variance of Z_i, less a term for the donors of a permutation,
which are dependent. About the population, records vary too: by the sum of their squared
contributions or, with clusters, by that of the clusters' sums if it is larger. Both contain the
part of the masking, which is subtracted (docs/inference.rst, "Groups, weights, regressions,
pairs").
"""

from collections.abc import Callable
from typing import NamedTuple

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

MIN_DEGREES = 1e-9  # of freedom: with fewer, quantiles of Student's t are useless
ONE_CLUSTER = "one cluster"
ONE_RECORD = "one record"


class IntervalOptions(NamedTuple):
    """Holds the level and the target of an interval, and how the records were sampled.

    Attributes
    ----------
    level : float
        The confidence level.
    target : {"population", "file"}
    clusters : ndarray of shape (n,) or None
        The number of each record's cluster, -1 where it is missing.
    population_size : float
        Infinite where it is not given.
    cluster_count : int
        0 without clusters.
    """

    level: float
    target: Target
    clusters: np.ndarray | None
    population_size: float
    cluster_count: int


def variance_of_pools(
    pseudo: PseudoValues,
    total: np.ndarray,
    members: np.ndarray,
    v: np.ndarray,
    q: np.ndarray,
    pools: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """Return, by pool, what a sum's variance given the file has besides ``k_i^2 v_i`` of the
    records used.

    Parameters
    ----------
    pseudo : PseudoValues
    total : ndarray of shape (..., pools)
        The sums of the weights of the records used.
    members, v, q : ndarray of shape (..., pools)
        The number of these records, the sum of their v, and the sum of their weights times q.
    pools : ndarray of int or slice
        The pools along the last axis; by default all.
    """
    size = np.maximum(pseudo.size[pools], 1.0)
    factor = pseudo.factor[pools]
    k_of_others = -total * pseudo.share[pools] / size / factor  # of records without a weight
    v_of_others = np.where(members < size, pseudo.v[pools] - v, 0.0)
    shared = pseudo.in_common(total, k_of_others, q, pools)
    return np.asarray(k_of_others**2 * v_of_others - shared)


def variances_of_sums(
    pseudo: PseudoValues,
    chunks: Chunks,
    total: np.ndarray,
    step: Callable[[Chunk], tuple[np.ndarray, np.ndarray]],
    clusters: int = 0,
    correction: float = 1.0,
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the variances of several sums of originals, and degrees of freedom.

    Parameters
    ----------
    pseudo : PseudoValues
    chunks : Chunks
        The records that are used; the last column holds their clusters, if there are `clusters`.
    total : ndarray of shape (sums, pools)
        The sums of the weights by pool.
    step : callable
        Returns the weights of the records of a chunk, of shape (sums, m), and their contributions.
        Samples vary by the squares of these, or of their sums over clusters about the mean.
    clusters : int
        The number of clusters, 0 without any.
    correction : float
        By which the variance over samples, masking included, is multiplied.

    Returns
    -------
    variances : (ndarray, ndarray) of shape (sums,)
        As `t_interval` takes them.
    degrees : ndarray of shape (sums,)
        Degrees of freedom of clusters; NaN without clusters.
    """
    lowered = total * pseudo.share / np.maximum(pseudo.size, 1.0)

    def fold(chunk: Chunk) -> tuple[np.ndarray, ...]:
        weights, contributions = step(chunk)
        factor = chunk.of_pool(pseudo.factor)
        one = np.ones(chunk.z.size)
        (v, q) = pseudo.spread(chunk)
        k = (weights - chunk.of_pool(lowered)) / factor
        sampled = np.einsum("ij,ij->i", contributions, contributions)
        sums = np.zeros(())
        if clusters:
            sums = summed(np.vstack([contributions, one]), chunk.column(-1), clusters)
        by_pool = (chunk.by_pool(each, pseudo.size.size) for each in (one, v, weights * q))
        return k**2 @ v, weights**2 @ (v / factor**2), sampled, sums, *by_pool

    of_records, masked, sampled, sums, members, v, q = chunks.fold(fold, cells=clusters)
    file = of_records + variance_of_pools(pseudo, total, members, v, q).sum(axis=-1)
    if not clusters:
        return (file, sampled * correction - masked), np.full(len(total), np.nan)
    statistic = np.repeat(np.arange(len(total)), clusters)
    occurs = np.tile(sums[-1] > 0, len(total))
    of_sampled_records = sampled - sums[:-1].sum(axis=1) ** 2 / sums[-1].sum()
    sampled, degrees = cluster_variances(
        sums[:-1].ravel(), occurs, statistic, of_sampled_records, masked - file
    )
    return (file, sampled * correction - masked), degrees


def cluster_variances(
    sums: np.ndarray,
    occurs: np.ndarray,
    statistic: np.ndarray,
    of_records: np.ndarray,
    of_masking: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the variances of statistics over sampled clusters, and their degrees of freedom.

    Parameters
    ----------
    sums : ndarray of shape (m,)
        The sum of the contributions of one cluster to one statistic.
    occurs : ndarray of bool of shape (m,)
        Whether that cluster has records.
    statistic : ndarray of int of shape (m,)
        The number of that statistic.
    of_records : ndarray of shape (statistics,)
        The variance if records were sampled one by one.
    of_masking : ndarray of shape (statistics,)
        By how much more masking adds to this variance, and to the one returned, than to the
        statistic. The caller subtracts it; since it is estimated with an error, the result could
        become negative. So no variance returned is below `of_records` plus this error.
    """
    count = of_records.size
    clusters = np.bincount(statistic, occurs, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(statistic, sums, count) / clusters
        squares = np.bincount(statistic, occurs * (sums - mean[statistic]) ** 2, count)
        least = of_records + np.sqrt(2.0 / (clusters - 1.0)) * np.maximum(of_masking, 0.0)
        return np.maximum(squares * (clusters / (clusters - 1.0)), least), clusters - 1.0


def t_interval(
    quantity: str,
    estimate: np.ndarray,
    variances: tuple[np.ndarray, np.ndarray],
    degrees: np.ndarray | float,
    pseudo: PseudoValues,
    options: IntervalOptions,
    *,
    total: np.ndarray | float = 1.0,
    units: np.ndarray | float = 1.0,
    unknown: str | np.ndarray = ONE_RECORD,
) -> Interval:
    """Return intervals of estimates by Student's t, in the units of the data.

    Parameters
    ----------
    quantity : str
        The estimated quantity in words.
    estimate : ndarray
        In units of the pseudo-values.
    variances : (ndarray, ndarray)
        The variance about the file, and by how much more it is about the population; the latter is
        estimated and may be negative.
    degrees : ndarray or float
        Degrees of freedom of the latter. About the file, variance and degrees of freedom come from
        the masking of all n records, however few of them the estimate uses.
    pseudo : PseudoValues
        Of all n records in the file.
    options : IntervalOptions
    total, units : ndarray or float
        The sum of the weights, and the units by which these are divided.
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
    undefined = np.isnan(estimate) | (np.asarray(degrees) < MIN_DEGREES)
    degrees = np.where(undefined, 0.0, degrees)
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
