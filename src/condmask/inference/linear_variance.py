"""How sums of originals with known weights vary: exactly by the masking, and by the sampling of the records.

Given the file, the pseudo-values Zt_i have the means X_i, so ``sum l_i Zt_i`` has that of ``sum l_i X_i``. It
is ``sum k_i Z_i`` with ``k_i = (l_i - p' lbar) / f``, where lbar is the mean of l over the donor pool,
``p' = p n/(n-1)`` and f = 1 - p'. Its variance given the file is the sum of ``k_i^2 v_i``, v_i that of Z_i,
less what the donors of a permutation have in common. About the population records vary too: by the sum of
their squared contributions, in clusters by that of the clusters' sums, from which the part of the masking,
which they contain, is taken out again (docs/inference.rst, "Linear statistics").
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.pseudo_values import PseudoValues

CHUNK = 8192  # records at a time, so that what is made of them stays in the cache


class Sampled(NamedTuple):
    """The variances of sums over a sample, masking included, and their degrees of freedom."""

    variance: np.ndarray
    degrees: float


def linear_interval(
    quantity: str,
    estimate: np.ndarray,
    weights: np.ndarray,
    sampled: Sampled,
    pseudo: PseudoValues,
    rows: Any,
    options: IntervalOptions,
) -> Interval:
    """Intervals of sums of originals, in units of the pseudo-values.

    Parameters
    ----------
    quantity : str
        What is estimated, in words.
    estimate : ndarray of shape (q,)
    weights : ndarray of shape (q, m)
        Of the m records that have a weight; it is 0 for all others.
    sampled : Sampled
        The variance of the sums over samples.
    pseudo : PseudoValues
    rows : ndarray of bool or slice
        Which of the records with a value have a weight.
    options : IntervalOptions
    """
    excess = sampled.variance - weighted_squares(weights, pseudo.variances[rows])
    file = file_variance(weights, pseudo, rows)
    return options.t_interval(quantity, estimate, file, excess, sampled.degrees, pseudo.n)


def file_variance(weights: np.ndarray, pseudo: PseudoValues, rows: Any = slice(None)) -> np.ndarray:
    """The variances of sums given the file, of shape (q,); weights and rows as in `linear_interval`."""
    pool, size, factor = pseudo.pool[rows], np.maximum(pseudo.pool_size, 1), pseudo.factor
    variances = pseudo.masked_variances[rows]
    total = pseudo.by_pool(weights, pool)
    lowered = total * (pseudo.donor_share / size)
    others = -lowered / factor  # k of the records without a weight
    file = others**2 @ (pseudo.by_pool(pseudo.masked_variances) - pseudo.by_pool(variances, pool))
    for start in range(0, variances.size, CHUNK):
        part = slice(start, start + CHUNK)
        k = (weights[:, part] - pseudo.of_pool(lowered, pool[part])) / pseudo.of_pool(factor, pool[part])
        file += k**2 @ variances[part]
    if pseudo.cycle:
        shared = pseudo.donor_covariance[rows]
        # of one pool without a column in between, which costs more than the product
        sums = (weights @ shared)[:, None] if size.size == 1 else pseudo.by_pool(weights * shared, pool)
        mixed = sums / factor + others * pseudo.by_pool(pseudo.donor_covariance)
        file -= np.sum(total / size * pseudo.cycle_covariance(total, mixed), axis=-1)
    return np.asarray(file)


def weighted_squares(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """sum_i l_i^2 c_i for each row l of the weights, c the values."""
    sums = np.zeros(len(weights))
    for start in range(0, values.size, CHUNK):
        part = slice(start, start + CHUNK)
        sums += weights[:, part] ** 2 @ values[part]
    return sums


def sampled_sums(contributions: np.ndarray, clusters: np.ndarray | None = None) -> Sampled:
    """The variances of sums of contributions, of shape (q, m), over samples of records, or of clusters."""
    if clusters is not None:
        _, code = np.unique(clusters, return_inverse=True)
        contributions = np.array([np.bincount(code, row) for row in contributions])
    count = contributions.shape[1]
    centred = contributions - contributions.mean(axis=1, keepdims=True)
    return Sampled(np.sum(centred**2, axis=1) * (count / max(count - 1, 1)), count - 1.0)
