"""One cycle through the swapped records of each pool: each takes the values of the next one.

The next one of the last record in a bucket stands in another bucket, as does, for the last of a pool, the
first. These are few, and one task exchanges them.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from condmask._blocks import BLOCK
from condmask.dask.job import Job
from condmask.dask.keys import key_of
from condmask.dask.narrow import Narrow
from condmask.dask.places import Places
from condmask.dask.sample_donors import places_of_records, rows_at
from condmask.dask.shuffles import column
from condmask.dask.swapped import Bucket, swapped_in_order
from condmask.draws import coins
from condmask.kernels import masking

NOBODY = np.iinfo(np.int64).max  # a rank that no record has


class Ends(NamedTuple):
    """The first record of the first pool of a bucket, and of its last pool where that is another.

    And how many records of each the bucket has.
    """

    pool: np.ndarray
    size: np.ndarray
    values: np.ndarray


class Followers(NamedTuple):
    """Values for the last records of the first and last pools of each bucket, and whether they are alone."""

    bucket: np.ndarray
    values: np.ndarray
    alone: np.ndarray


def passed_on(narrow: Sequence[Delayed], job: Job) -> tuple[list[Delayed], Delayed | None]:
    """Values sent to the swapped rows; and those of rows that are alone in their pools."""
    buckets, _ = swapped_in_order(narrow, job)
    followers = delayed(_followers)([delayed(_ends)(bucket) for bucket in buckets])
    back = [delayed(partial(_passed_on, job, k))(bucket, followers) for k, bucket in enumerate(buckets)]
    if not job.pooled and not _single(job):
        return back, None
    alone = [delayed(partial(_alone, k))(bucket, followers) for k, bucket in enumerate(buckets)]
    return back, _values_of_alone(narrow, job, alone)


def _ends(bucket: Bucket) -> Ends:
    at = _ends_of(bucket, "left")
    pool = bucket.pool[at]
    size = np.searchsorted(bucket.pool, pool, side="right") - at
    return Ends(pool, size, np.stack([x[at] for x in bucket.values]))


def _ends_of(bucket: Bucket, side: str) -> np.ndarray:
    """The places of the first (left) or after the last (right) records of the first and the last pool."""
    ends = bucket.pool[[0, -1]] if bucket.pool.size else bucket.pool
    return np.unique(np.searchsorted(bucket.pool, ends, side=side))  # type: ignore[call-overload]


def _followers(ends: list[Ends]) -> Followers:
    pool, size = (np.concatenate([getattr(end, name) for end in ends]) for name in ("pool", "size"))
    values = np.concatenate([end.values for end in ends], axis=1)
    after = _next_of_pool(pool)
    alone = (after == np.arange(pool.size)) & (size == 1)
    return Followers(
        np.repeat(np.arange(len(ends)), [end.pool.size for end in ends]), values[:, after], alone
    )


def _next_of_pool(pool: np.ndarray) -> np.ndarray:
    """The place after each one of its pool, the first one after the last; pools are in order."""
    last = np.flatnonzero(np.append(pool[1:] != pool[:-1], [True] * (pool.size > 0)))
    after = np.arange(1, pool.size + 1)
    after[last] = np.append(0, last + 1)[: last.size]
    return after


def _passed_on(job: Job, number: int, bucket: Bucket, followers: Followers) -> pd.DataFrame:
    after = _next_of_pool(bucket.pool)
    values = [x[after] for x in bucket.values]
    ends = _ends_of(bucket, "right") - 1
    for x, follower in zip(values, followers.values, strict=True):
        x[ends] = follower[followers.bucket == number]
    return job.back(bucket.row.astype(np.int64), values)


# --- a pool with a single swapped record, which keeps its donor by eq. (1) ---


def _single(job: Job) -> bool:
    """Whether a single record of the table is swapped."""
    key, count = key_of(job.key), 0
    for block in range(-(-job.n // BLOCK)):
        count += coins(key, job.p, block, min(BLOCK, job.n - block * BLOCK))[0].size
        if count > 1:
            break
    return count == 1


def _alone(number: int, bucket: Bucket, followers: Followers) -> pd.DataFrame:
    """The records of a bucket that no other follows."""
    alone = _next_of_pool(bucket.pool) == np.arange(bucket.pool.size)
    alone[_ends_of(bucket, "right") - 1] = followers.alone[followers.bucket == number]
    return pd.DataFrame({name: getattr(bucket, name)[alone] for name in ("pool", "word", "row")})


def _values_of_alone(narrow: Sequence[Delayed], job: Job, alone: list[Delayed]) -> Delayed:
    """Their rows, and the values of their donors."""
    places = places_of_records(narrow, job)
    wanted = delayed(partial(_wanted, job))(alone)
    found = [delayed(partial(_look_up, job, part))(held, wanted, places) for part, held in enumerate(narrow)]
    made: Delayed = delayed(partial(_chosen, job))(wanted, found)
    return made


def _wanted(job: Job, alone: list[pd.DataFrame]) -> pd.DataFrame:
    """The places of two records each, of which one is the donor: their rows tell which."""
    records = pd.concat(alone, ignore_index=True)
    pool, rank = column(records, "pool"), np.empty(len(records), np.int64)
    masking.choose_ranks(column(records, "word"), job.sizes[pool], np.full(rank.size, NOBODY), rank)
    first = (np.cumsum(job.sizes) - job.sizes)[pool]
    after = np.minimum(rank + 1, job.sizes[pool] - 1)
    return pd.DataFrame({"row": column(records, "row"), "place": first + rank, "after": first + after})


def _look_up(job: Job, part: int, narrow: Narrow, wanted: pd.DataFrame, places: Places) -> pd.DataFrame:
    """The records at these places that a partition has."""
    some = np.unique(np.concatenate([column(wanted, "place"), column(wanted, "after")]))
    to, within = places.find(some)
    rows = rows_at(narrow, within[to == part])
    values = {name: x[rows] for name, x in zip(job.names, narrow.units, strict=True)}
    return pd.DataFrame({"place": some[to == part], "donor": rows + job.starts[part], **values})


def _chosen(job: Job, wanted: pd.DataFrame, found: list[pd.DataFrame]) -> pd.DataFrame:
    """The values that each takes, for the rows of the partitions."""
    records = pd.concat(found, ignore_index=True).set_index("place")
    row, place = column(wanted, "row").astype(np.int64), column(wanted, "place")
    itself_or_behind = column(records.loc[place], "donor") >= row
    taken = records.loc[np.where(itself_or_behind, column(wanted, "after"), place)]
    return job.back(row, [column(taken, name) for name in job.names])
