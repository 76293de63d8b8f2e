"""Means of groups of records that need not be strata: a table of groups by donor pools, in one pass."""

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.pseudo_values import PseudoValues


def group_means(
    group: np.ndarray, count: int, pseudo: PseudoValues, options: IntervalOptions
) -> tuple[Interval, np.ndarray]:
    """The means of `count` groups in the units of the data, and the number of records of each.

    `group` numbers the records with a value, -1 for none of the groups. Figures are those of
    `linear_variance` for weights 1/m in a group of m: a weight is the same for all records that a group has
    of a pool, so sums by cell of the table serve.
    """
    members = np.flatnonzero(group >= 0)
    inside = group[members]
    records = np.bincount(inside, minlength=count)
    with np.errstate(invalid="ignore"):
        estimate = np.bincount(inside, pseudo.values[members], count) / records
    residual = pseudo.values[members] - estimate[inside]
    file, noise = _by_masking(inside, members, records, pseudo)
    if options.clusters is None:
        degrees = records - 1.0
        squares = np.bincount(inside, residual**2, count)
    else:
        cluster = options.clusters[pseudo.rows][members]
        both, at = _numbered(cluster * count + inside, int(cluster.max(initial=0) + 1) * count)
        degrees = np.bincount(both % count, minlength=count) - 1.0
        squares = np.bincount(both % count, np.bincount(at, residual) ** 2, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = squares / records**2 * ((degrees + 1.0) / degrees)
    interval = options.t_interval("mean of the original", estimate, file, sampled - noise, degrees, pseudo.n)
    return pseudo.in_units(interval), records


def _by_masking(
    inside: np.ndarray, members: np.ndarray, records: np.ndarray, pseudo: PseudoValues
) -> tuple[np.ndarray, np.ndarray]:
    """The variances of means of groups given the file, and what masking adds to their sums of squares."""
    size, factor, count = pseudo.pool_size, pseudo.factor, records.size
    # cells of the table: what a group has of a pool
    cell, at = _numbered(pseudo.pool[members] * count + inside, size.size * count)
    s, g = np.divmod(cell, count)
    weight = 1.0 / records[g]
    total = np.bincount(at) * weight
    lowered = total * pseudo.donor_share[s] / size[s]
    k, others = (weight - lowered) / factor[s], -lowered / factor[s]
    variances = np.bincount(at, pseudo.masked_variances[members])
    rest = pseudo.by_pool(pseudo.masked_variances)[s] - variances
    file = k**2 * variances + others**2 * rest
    if pseudo.cycle:
        shared = np.bincount(at, pseudo.donor_covariance[members])
        mixed = k * shared + others * (pseudo.by_pool(pseudo.donor_covariance)[s] - shared)
        file -= total * pseudo.cycle_covariance(total, mixed, s) / size[s]
    noise = weight**2 * variances / factor[s] ** 2
    return np.bincount(g, file, count), np.bincount(g, noise, count)


def _numbered(code: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes below `most` that occur, and which of them each is; by sorting only where they are few."""
    if most > 2 * code.size:
        distinct, at = np.unique(code, return_inverse=True)
        return distinct, at
    distinct = np.flatnonzero(np.bincount(code, minlength=most))
    number = np.empty(most, dtype=np.int64)
    number[distinct] = np.arange(distinct.size)
    return distinct, number[code]
