"""Means of groups of records that need not be strata: a table of groups by donor pools, in one pass."""

from typing import NamedTuple

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.pseudo_values import Undone


class Means(NamedTuple):
    """By group: the mean in units of the file, its variance about the file and what the population adds,
    the degrees of freedom and the number of records."""

    estimate: np.ndarray
    file: np.ndarray
    excess: np.ndarray
    degrees: np.ndarray
    records: np.ndarray


def group_means(group: np.ndarray, count: int, file: Undone, asked: IntervalOptions) -> Means:
    """The means of `count` groups; `group` numbers the records with a value, -1 for none of the groups."""
    pool, size, _, factor = file.donors
    own = np.flatnonzero(group >= 0)
    inside = group[own]
    records = np.bincount(inside, minlength=count)
    with np.errstate(invalid="ignore"):
        estimate = np.bincount(inside, file.values[own], count) / records
    residual = file.values[own] - estimate[inside]

    # cells of the table: what a group has of a pool
    cell, at = _numbered(pool[own] * count + inside, size.size * count)
    s, g = np.divmod(cell, count)
    weight = 1.0 / records[g]
    total = np.bincount(at) * weight
    lowered = total * file.lent[s] / size[s]
    k, others = (weight - lowered) / factor[s], -lowered / factor[s]
    held = np.bincount(at, file.variances[own])
    rest = file.by_pool(file.variances)[s] - held
    variance = k**2 * held + others**2 * rest
    if file.cycle:
        shared = np.bincount(at, file.shared[own])
        mixed = k * shared + others * (file.by_pool(file.shared)[s] - shared)
        variance -= total * file.linked(total, mixed, s) / size[s]
    noise = np.bincount(g, weight**2 * held / factor[s] ** 2, count)

    if asked.clusters is None:
        degrees = records - 1.0
        squares = np.bincount(inside, residual**2, count)
    else:
        cluster = asked.clusters[file.rows][own]
        both, at = _numbered(cluster * count + inside, int(cluster.max(initial=0) + 1) * count)
        degrees = np.bincount(both % count, minlength=count) - 1.0
        squares = np.bincount(both % count, np.bincount(at, residual) ** 2, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = squares / records**2 * ((degrees + 1.0) / degrees)
    return Means(estimate, np.bincount(g, variance, count), sampled - noise, degrees, records)


def _numbered(code: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The codes below `most` that occur, and which of them each is; by sorting only where they are few."""
    if most > 2 * code.size:
        distinct, at = np.unique(code, return_inverse=True)
        return distinct, at
    distinct = np.flatnonzero(np.bincount(code, minlength=most))
    number = np.empty(most, dtype=np.int64)
    number[distinct] = np.arange(distinct.size)
    return distinct, number[code]
