"""Donors: the value that each swapped record of a Dask table takes, and the noise of the kept ones.

permutation: the swapped records of a pool pass their values along one cycle, in the order of their words. That is
a sort by (pool, word, row), in which a record takes what the next one has, and a shuffle back to the partitions.
What the last records of a bucket take stands in others: few values, which one task exchanges.

sample: a shuffle asks the partitions of the donors, eq. (1), and another brings the values back.
"""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from dask import delayed
from dask.delayed import Delayed

from condmask._blocks import BLOCK
from condmask.dask.draws import PartDraws, Span
from condmask.dask.keys import key_of
from condmask.dask.narrow import Narrow
from condmask.dask.places import Places, count_by_pool, in_file_order, places_of
from condmask.dask.shuffles import column, frame, shuffled
from condmask.dask.sorting import NO_TIES, Splitters, bucket_of, even_splitters, order_of
from condmask.draws import coins
from condmask.kernels import masking
from condmask.law import Law
from condmask.strata import index_type

NOBODY = np.iinfo(np.int64).max  # a rank that no record has


class Job(NamedTuple):
    """What is the same in all partitions."""

    key: str
    laws: tuple[Law, ...]
    starts: np.ndarray
    sizes: np.ndarray  # of the pools
    pooled: bool

    @property
    def n(self) -> int:
        return int(self.starts[-1])

    @property
    def parts(self) -> int:
        return self.starts.size - 1

    @property
    def names(self) -> list[str]:
        """The names of the values in narrow frames."""
        return [f"x{number}" for number in range(len(self.laws))]

    @property
    def row_type(self) -> Any:
        return index_type(self.n)

    @property
    def pool_type(self) -> dict[str, Any]:
        """The pool of a record, where it travels."""
        return {"pool": index_type(self.sizes.size)} if self.pooled else {}

    def draws(self, part: int) -> PartDraws:
        start, stop = self.starts[part : part + 2].tolist()
        return PartDraws(key_of(self.key), self.laws[0].p, Span(start, stop, self.n))

    def pool_of(self, narrow: Narrow, rows: np.ndarray) -> np.ndarray:
        """The pools of rows of a partition, 0 where all records are one."""
        return np.zeros(rows.size, np.int64) if narrow.pool is None else narrow.pool[rows]


def masked_by_donors(narrow: Sequence[Delayed], job: Job, *, cycle: bool) -> list[Delayed]:
    """The masked columns of each partition, in units of the data."""
    numbered = list(enumerate(narrow))
    alone = None
    if cycle:
        sent = [delayed(partial(_to_buckets, job, part))(held) for part, held in numbered]
        types = {"word": np.uint64, "row": job.row_type, **job.pool_type, **dict.fromkeys(job.names, float)}
        buckets = [delayed(partial(_bucket, job))(rows) for rows in shuffled(sent, types, job.parts)]
        ends = delayed(_exchanged)([delayed(_ends)(bucket) for bucket in buckets])
        back = [delayed(partial(_passed_on, job, k))(bucket, ends) for k, bucket in enumerate(buckets)]
        if job.pooled or _swapped_alone(job):
            alone = _values_of_alone(
                narrow, job, [delayed(_alone)(b, ends, k) for k, b in enumerate(buckets)]
            )
    else:
        places = _places(narrow, job)
        asked = [delayed(partial(_ask, job, part))(held, places) for part, held in numbered]
        types = {"place": job.row_type, "row": job.row_type}
        answered = zip(narrow, shuffled(asked, types, job.parts), strict=True)
        back = [delayed(partial(_answer, job, part))(*pair, places) for part, pair in enumerate(answered)]
    types = {"row": job.row_type, **dict.fromkeys(job.names, float)}
    taken = shuffled(back, types, job.parts)
    return [delayed(partial(_place, job, part))(held, taken[part], alone) for part, held in numbered]


def _places(narrow: Sequence[Delayed], job: Job) -> Any:
    """The places of all records; counted where there are pools."""
    if not job.pooled:
        return places_of([np.array([size]) for size in np.diff(job.starts)])
    return delayed(places_of)([delayed(partial(_count, job))(held) for held in narrow])


def _count(job: Job, narrow: Narrow) -> np.ndarray:
    return count_by_pool(narrow.pool, slice(None), job.sizes.size)


def _back(job: Job, rows: np.ndarray, values: Sequence[np.ndarray]) -> pd.DataFrame:
    """Values for rows of the table, on their way to the partitions of these."""
    to = np.searchsorted(job.starts, rows, side="right") - 1
    within = (rows - job.starts[to]).astype(job.row_type)
    return frame(to.astype(np.int32), {"row": within, **dict(zip(job.names, values, strict=True))})


def _place(
    job: Job, part: int, narrow: Narrow, taken: pd.DataFrame, alone: pd.DataFrame | None
) -> list[np.ndarray]:
    """The masked columns: values that have come for the swapped rows, noise for the kept ones."""
    draws = job.draws(part)
    masked = []
    for number, (x, law, name) in enumerate(zip(narrow.units, job.laws, job.names, strict=True)):
        z = np.full(x.size, np.nan)
        z[column(taken, "row")] = column(taken, name)
        if alone is not None:
            own = alone[alone["to"] == part]
            z[column(own, "row")] = column(own, name)
        z[draws.kept] = x[draws.kept] + draws.noise(law, number)
        masked.append(law.from_units(z))
    return masked


# --- one cycle in each pool ---


class Bucket(NamedTuple):
    """Swapped records in the order of (pool, word, row), with their values."""

    pool: np.ndarray
    word: np.ndarray
    row: np.ndarray
    values: list[np.ndarray]


def _to_buckets(job: Job, part: int, narrow: Narrow) -> pd.DataFrame:
    """The swapped records of a partition, on their way to the buckets of the sort."""
    draws = job.draws(part)
    words, rows, pool = draws.words_of_swapped(), draws.swapped, narrow.pool
    if pool is not None:
        in_pool = pool[rows] >= 0
        words, rows = words[in_pool], rows[in_pool]
        pool = pool[rows]
    to = bucket_of(even_splitters(job.sizes, job.parts), words, pool, NO_TIES)
    columns = {"word": words, "row": (rows + job.starts[part]).astype(job.row_type)}
    columns |= {name: pool.astype(kind) for name, kind in job.pool_type.items()}
    return frame(to, columns | {name: x[rows] for name, x in zip(job.names, narrow.units, strict=True)})


def _bucket(job: Job, received: pd.DataFrame) -> Bucket:
    """The records of a bucket, in order."""
    words, rows = column(received, "word"), column(received, "row")
    pool = column(received, "pool") if job.pooled else None
    order = order_of(words, rows, pool)
    pool = np.zeros(rows.size, np.int64) if pool is None else pool[order]
    return Bucket(pool, words[order], rows[order], [column(received, name)[order] for name in job.names])


class Ends(NamedTuple):
    """The first record of the first pool of a bucket, and of its last pool where that is another.

    And how many records of each the bucket has.
    """

    pool: np.ndarray
    size: np.ndarray
    values: np.ndarray


def _ends(bucket: Bucket) -> Ends:
    at = (
        np.unique(np.searchsorted(bucket.pool, bucket.pool[[0, -1]]))
        if bucket.pool.size
        else np.empty(0, int)
    )
    pool = bucket.pool[at]
    size = np.searchsorted(bucket.pool, pool, side="right") - at
    return Ends(pool, size, np.stack([x[at] for x in bucket.values]))


class Exchanged(NamedTuple):
    """What follows the ends of each bucket: the values of the next record of the pool, and whether that is
    the record itself."""

    bucket: np.ndarray
    values: np.ndarray
    alone: np.ndarray


def _exchanged(ends: list[Ends]) -> Exchanged:
    pool, size = (np.concatenate([getattr(end, name) for end in ends]) for name in ("pool", "size"))
    values = np.concatenate([end.values for end in ends], axis=1)
    follows = _following(pool)
    alone = (follows == np.arange(pool.size)) & (size == 1)
    return Exchanged(np.repeat(np.arange(len(ends)), [e.pool.size for e in ends]), values[:, follows], alone)


def _following(pool: np.ndarray) -> np.ndarray:
    """The place after each one of its pool, the first one after the last; pools are in order."""
    last = np.flatnonzero(np.append(pool[1:] != pool[:-1], [True] * (pool.size > 0)))
    follows = np.arange(1, pool.size + 1)
    follows[last] = np.concatenate([[0], last[:-1] + 1])[: last.size]
    return follows


def _last_of_ends(bucket: Bucket) -> np.ndarray:
    """The places of the last record of the first pool of a bucket, and of its last one."""
    return np.unique(np.searchsorted(bucket.pool, bucket.pool[[0, -1]], side="right") - 1)


def _passed_on(job: Job, number: int, bucket: Bucket, ends: Exchanged) -> pd.DataFrame:
    """The values that the records of a bucket take, on their way to the rows."""
    follows = _following(bucket.pool)
    values = [x[follows] for x in bucket.values]
    if bucket.pool.size:
        for x, end in zip(values, ends.values, strict=True):
            x[_last_of_ends(bucket)] = end[ends.bucket == number]
    return _back(job, bucket.row.astype(np.int64), values)


# --- a pool with a single swapped record, which has a donor by eq. (1) ---


def _swapped_alone(job: Job) -> bool:
    """Whether a single record of the table is swapped."""
    key, seen = key_of(job.key), 0
    for block in range(-(-job.n // BLOCK)):
        seen += coins(key, job.laws[0].p, block, min(BLOCK, job.n - block * BLOCK))[0].size
        if seen > 1:
            return False
    return seen == 1


def _alone(bucket: Bucket, ends: Exchanged, number: int) -> pd.DataFrame:
    """The records of a bucket that no other follows."""
    alone = _following(bucket.pool) == np.arange(bucket.pool.size)
    if alone.size:
        alone[_last_of_ends(bucket)] = ends.alone[ends.bucket == number]
    return pd.DataFrame({name: getattr(bucket, name)[alone] for name in ("pool", "word", "row")})


def _values_of_alone(narrow: Sequence[Delayed], job: Job, alone: list[Delayed]) -> Delayed:
    """Their rows, and the values of their donors."""
    places = _places(narrow, job)
    wanted = delayed(partial(_wanted, job))(alone)
    found = [delayed(partial(_look_up, job, part))(held, wanted, places) for part, held in enumerate(narrow)]
    return delayed(partial(_chosen, job))(wanted, found)


def _wanted(job: Job, alone: list[pd.DataFrame]) -> pd.DataFrame:
    """The places of the two records of which one is the donor: which, their rows tell."""
    records = pd.concat(alone, ignore_index=True)
    pool, word = column(records, "pool"), column(records, "word")
    rank = np.empty(len(records), np.int64)
    masking.choose_ranks(word, job.sizes[pool], np.full(rank.size, NOBODY), rank)
    first = (np.cumsum(job.sizes) - job.sizes)[pool]
    after = np.minimum(rank + 1, job.sizes[pool] - 1)
    return pd.DataFrame({"row": column(records, "row"), "place": first + rank, "after": first + after})


def _look_up(job: Job, part: int, narrow: Narrow, wanted: pd.DataFrame, places: Places) -> pd.DataFrame:
    """What a partition has of it."""
    some = np.unique(np.concatenate([column(wanted, "place"), column(wanted, "after")]))
    own = some[places.partition(some) == part]
    rows = _rows_at(narrow, part, own, places)
    values = {name: x[rows] for name, x in zip(job.names, narrow.units, strict=True)}
    return pd.DataFrame({"place": own, "donor": rows + job.starts[part], **values})


def _rows_at(narrow: Narrow, part: int, at: np.ndarray, places: Places) -> np.ndarray:
    """The rows of a partition at these places."""
    every = np.arange(places.own[:, part].sum()) if narrow.pool is None else np.arange(narrow.pool.size)
    return in_file_order(narrow.pool, every)[places.within(part, at)]


def _chosen(job: Job, wanted: pd.DataFrame, found: list[pd.DataFrame]) -> pd.DataFrame:
    """The values that each takes, for the rows of the partitions."""
    records = pd.concat(found, ignore_index=True).set_index("place")
    donor = column(records.loc[wanted["place"]], "donor")
    row = column(wanted, "row").astype(np.int64)
    place = np.where(donor >= row, column(wanted, "after"), column(wanted, "place"))
    taken = records.loc[place]
    return _back(job, row, [column(taken, name) for name in job.names])


# --- eq. (1) ---


def _ask(job: Job, part: int, narrow: Narrow, places: Places) -> pd.DataFrame:
    """The places of the donors of a partition's swapped rows, on their way to who has them."""
    draws = job.draws(part)
    words, rows = draws.words_of_swapped(), draws.swapped
    if narrow.pool is not None:
        in_pool = narrow.pool[rows] >= 0
        words, rows = words[in_pool], rows[in_pool]
    pool = job.pool_of(narrow, rows)
    first = np.cumsum(job.sizes) - job.sizes
    rank = _ranks(narrow, part, places)[rows] - first[pool]
    donor = np.empty(rows.size, np.int64)
    masking.choose_ranks(words, job.sizes[pool], rank, donor)
    place = first[pool] + donor
    columns = {"place": place, "row": rows + job.starts[part]}
    to = places.partition(place).astype(np.int32)
    return frame(to, {name: some.astype(job.row_type) for name, some in columns.items()})


def _ranks(narrow: Narrow, part: int, places: Places) -> np.ndarray:
    """The place of each row of a partition."""
    first, own = places.first[:, part], places.own[:, part]
    if narrow.pool is None:
        return first[0] + np.arange(own[0])
    ranks = np.full(narrow.pool.size, -1)
    ranks[in_file_order(narrow.pool, np.arange(ranks.size))] = np.concatenate(
        [
            np.empty(0, np.int64),
            *(np.arange(a, a + m) for a, m in zip(first.tolist(), own.tolist(), strict=True)),
        ]
    )
    return ranks


def _answer(job: Job, part: int, narrow: Narrow, asked: pd.DataFrame, places: Places) -> pd.DataFrame:
    """The values at the places that were asked for, on their way back."""
    rows = _rows_at(narrow, part, column(asked, "place").astype(np.int64), places)
    return _back(job, column(asked, "row").astype(np.int64), [x[rows] for x in narrow.units])
