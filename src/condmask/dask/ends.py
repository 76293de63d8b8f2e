"""The ends of columns released by reverse mapping: each pool's smallest and largest values, as their means.

A mean is that of one machine bit for bit, so it is formed by one task, of values in the order of their
rows. These are few, but for a heap of equal values where an end stops; a heap that is all of an end stays
where it is.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from dask.delayed import Delayed, delayed

from condmask.dask.decimals import decimals_of_parts
from condmask.dask.job import Job
from condmask.dask.narrow import Narrow


class Extremes(NamedTuple):
    """The smallest and largest values of each pool in a partition; and how many it has of each pool."""

    pool: np.ndarray
    low: np.ndarray  # whether a value is one of the smallest, else it is one of the largest
    value: np.ndarray
    size: np.ndarray


class Limits(NamedTuple):
    """By end and pool, the bounds of the smallest and of the largest values; and the least and the most of
    all, which are the means if all values of an end are equal."""

    at: np.ndarray
    outermost: np.ndarray


class End(NamedTuple):
    """Values of ends in the order of their rows."""

    end: np.ndarray
    pool: np.ndarray
    value: np.ndarray


def ends_aggregated(
    masked: Sequence[Delayed], narrow: Sequence[Delayed], job: Job, counts: Sequence[int]
) -> list[Delayed]:
    """The masked columns of each partition, with means for so many values at each end of each pool."""
    masked, numbered = list(masked), list(enumerate(counts))
    for number, count in [(number, count) for number, count in numbered if count]:
        columns = [delayed(_column)(held, number) for held in masked]
        both = list(zip(columns, narrow, strict=True))
        extremes = [delayed(partial(_extremes, job, count))(x, held) for x, held in both]
        limits = delayed(partial(_limits, count))(extremes)
        ends = [delayed(_values_at_ends)(x, held, limits) for x, held in both]
        means = delayed(_means)(ends, limits, decimals_of_parts(columns, job.starts))
        all_three = zip(masked, narrow, strict=True)
        masked = [delayed(partial(_replaced, number))(z, held, limits, means) for z, held in all_three]
    return masked


def _column(masked: list[np.ndarray], number: int) -> np.ndarray:
    return masked[number]


def _pools(x: np.ndarray, narrow: Narrow) -> np.ndarray:
    """The pool of each row with a value, -1 for others."""
    return np.where(np.isnan(x), -1, 0 if narrow.pool is None else narrow.pool)


def _extremes(job: Job, count: int, x: np.ndarray, narrow: Narrow) -> Extremes:
    pool = _pools(x, narrow)
    x, pool = x[pool >= 0], pool[pool >= 0]
    size = np.bincount(pool, minlength=job.sizes.size)
    if not job.pooled and x.size > 2 * count:  # those in between need not be sorted
        at_ends = np.partition(x, [count - 1, x.size - count])[[count - 1, x.size - count]]
        x = x[(x <= at_ends[0]) | (x >= at_ends[1])]
        pool = pool[: x.size]
    held = np.bincount(pool, minlength=job.sizes.size)
    order = np.lexsort((x, pool)) if job.pooled else np.argsort(x)
    rank = np.arange(x.size) - np.repeat(np.cumsum(held) - held, held)
    at = [order[rank < count], order[np.repeat(held, held) - rank <= count]]
    both = np.concatenate(at)
    return Extremes(pool[both], np.arange(both.size) < at[0].size, x[both], size)


def _limits(count: int, extremes: list[Extremes]) -> Limits:
    pool, low, value = (np.concatenate([getattr(e, name) for e in extremes]) for name in Extremes._fields[:3])
    size = np.sum([e.size for e in extremes], axis=0)
    at = np.stack([np.full(size.size, -np.inf), np.full(size.size, np.inf)])
    outermost = np.full(at.shape, np.nan)
    for end, some, sign in ((0, low, 1.0), (1, ~low, -1.0)):
        order = np.lexsort((sign * value[some], pool[some]))
        pools, values = pool[some][order], value[some][order]
        first = np.searchsorted(pools, np.flatnonzero(size >= 2 * count))
        at[end, pools[first]], outermost[end, pools[first]] = values[first + count - 1], values[first]
    at[:, at[0] >= at[1]] = [[-np.inf], [np.inf]]
    return Limits(at, outermost)


def _is_end(x: np.ndarray, pool: np.ndarray, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the lower ends and of the upper ones."""
    within = np.where(pool >= 0, pool, 0)
    low, high = (x <= limits.at[0][within]) & (pool >= 0), (x >= limits.at[1][within]) & (pool >= 0)
    return np.flatnonzero(low), np.flatnonzero(high)


def _values_at_ends(x: np.ndarray, narrow: Narrow, limits: Limits) -> list[End]:
    """The values at the ends, except ends whose values are all equal."""
    pool, ends = _pools(x, narrow), []
    for end, rows in enumerate(_is_end(x, pool, limits)):
        rows = rows[(limits.at[end] != limits.outermost[end])[pool[rows]]]
        ends.append(End(np.full(rows.size, end), pool[rows], x[rows]))
    return ends


def _means(ends: list[list[End]], limits: Limits, places: int | None) -> np.ndarray:
    """By end and pool, to the digits of the column."""
    end, pool, value = (
        np.concatenate(some) for some in zip(*(e for some in ends for e in some), strict=True)
    )
    means = np.where(np.isfinite(limits.at), limits.outermost, np.nan)  # where all are equal, and others next
    order = np.lexsort((pool, end))  # stable: in the order of the rows
    starts = np.flatnonzero(np.diff(end[order] * means.shape[1] + pool[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if order.size else []:
        some = value[rows]
        first = float(some.min())
        means[end[rows[0]], pool[rows[0]]] = first + float(np.mean(some - first))
    if places is not None:
        for at in zip(*np.nonzero(~np.isnan(means)), strict=True):
            means[at] = round(float(means[at]), places)
    return means


def _replaced(
    number: int, masked: list[np.ndarray], narrow: Narrow, limits: Limits, means: np.ndarray
) -> list[np.ndarray]:
    x = masked[number].copy()
    pool = _pools(x, narrow)
    rows = _is_end(x, pool, limits)
    for end, some in enumerate(rows):
        x[some] = means[end][pool[some]]
    return [*masked[:number], x, *masked[number + 1 :]]
