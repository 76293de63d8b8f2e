"""Reverse mapping: the records of a Dask table get the values of others, by the order of words and of keys.

The swapped records of a pool get their own values in the order of their words: one sort, in which the k-th
gives its values to the k-th swapped row of the pool. The kept ones, column by column, get their own values
back in the order of their keys: one sort of keys, and one of values; a shuffle brings the k-th value to the
k-th key. One more brings all values to their rows. Equal values are interchangeable, so a heap of them is
spread over buckets; equal keys are parted by the words that break their ties.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.dask.places import Places, in_file_order, places_of
from condmask.dask.shuffles import column, frame, shuffled
from condmask.dask.sorting import (
    NO_POOLS,
    Splitters,
    bucket_of,
    numbers_of,
    order_of,
    splitters_of,
    words_of,
)
from condmask.dask.swapped import Bucket, swapped_in_order
from condmask.kernels import range_partition

SAMPLED = 256  # records a bucket, which let its size be off by a sixteenth
ALL_WORDS = np.iinfo(np.uint64).max


def mapped_back(narrow: Sequence[Delayed], job: Job, scales: Sequence[str]) -> list[Delayed]:
    """The masked columns of each partition."""
    back = _shuffled_back(narrow, job)
    for number, scale in enumerate(scales):
        back += _kept_back(narrow, job, number, scale)
    types = {"column": np.int16, "place": job.row_type, "value": np.float64}
    taken = shuffled(back, types, job.parts)
    return [delayed(partial(_place, job, part))(held, taken[part]) for part, held in enumerate(narrow)]


def _place(job: Job, part: int, narrow: Narrow, taken: pd.DataFrame) -> list[np.ndarray]:
    """Values in their places: columns from 0 up are of kept rows, those from -1 down of swapped ones."""
    of, place, value = (column(taken, name) for name in ("column", "place", "value"))
    swapped = in_file_order(narrow.pool, job.draws(part).swapped)
    masked = []
    for number, x in enumerate(narrow.units):
        z = np.full(x.size, np.nan)
        kept, moved = of == number, of == -1 - number
        z[place[kept]] = value[kept]
        z[swapped[place[moved]]] = value[moved]
        masked.append(z)
    return masked


def _on_the_way(to: np.ndarray, number: int, place: np.ndarray, value: np.ndarray, job: Job) -> pd.DataFrame:
    """Values of a column sent to places of the partitions."""
    of = np.full(place.size, number, np.int16)
    return frame(to, {"column": of, "place": place.astype(job.row_type), "value": value})


def _before(sizes: list[int]) -> np.ndarray:
    """The number of records before each bucket, and in all."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


# --- the swapped records ---


def _shuffled_back(narrow: Sequence[Delayed], job: Job) -> list[Delayed]:
    buckets, sent = swapped_in_order(narrow, job)
    places = delayed(places_of)([delayed(partial(_swapped_by_pool, job))(some) for some in sent])
    before = delayed(_before)([delayed(_size_of_bucket)(bucket) for bucket in buckets])
    return [delayed(partial(_to_swapped, job, k))(b, before, places) for k, b in enumerate(buckets)]


def _swapped_by_pool(job: Job, sent: pd.DataFrame) -> np.ndarray:
    return job.by_pool(column(sent, "pool") if job.pooled else None, len(sent))


def _size_of_bucket(bucket: Bucket) -> int:
    return bucket.row.size


def _to_swapped(job: Job, number: int, bucket: Bucket, before: np.ndarray, places: Places) -> pd.DataFrame:
    """The values of a bucket, sent to the swapped rows at the same places in file order."""
    to, within = places.find(np.arange(*before[number : number + 2]))
    return pd.concat(
        [_on_the_way(to, -1 - c, within, x, job) for c, x in enumerate(bucket.values)], ignore_index=True
    )


# --- the kept records of a column ---


def _kept_back(narrow: Sequence[Delayed], job: Job, number: int, scale: str) -> list[Delayed]:
    multiplied = scale == "log"
    numbered = list(enumerate(narrow))
    samples = [delayed(partial(_sample, job, part, number, multiplied))(held) for part, held in numbered]
    splitters = delayed(partial(_splitters, job.parts))(samples)
    keys = [
        delayed(partial(_keys, job, part, number, multiplied))(held, splitters) for part, held in numbered
    ]
    values = [delayed(partial(_values, job, part, number))(held, splitters) for part, held in numbered]

    types = {"word": np.uint64, "tie": np.uint64, "row": job.row_type, **job.pool_type}
    rows = [delayed(partial(_rows_in_order, job))(some) for some in shuffled(keys, types, job.parts)]
    types = {"word": np.uint64, **job.pool_type}
    ascending = [delayed(partial(_values_in_order, job))(some) for some in shuffled(values, types, job.parts)]

    before_rows, before_values = (
        delayed(_before)([delayed(np.size)(part) for part in parts]) for parts in (rows, ascending)
    )
    sent = [
        delayed(partial(_to_keys, job, k))(part, before_values, before_rows)
        for k, part in enumerate(ascending)
    ]
    arrived = shuffled(sent, {"place": job.row_type, "value": np.float64}, job.parts)
    return [delayed(partial(_to_kept, job, number))(*pair) for pair in zip(rows, arrived, strict=True)]


def _sample(
    job: Job, part: int, number: int, multiplied: bool, narrow: Narrow
) -> tuple[Splitters, Splitters]:
    """Some keys and some values of a partition; the keys have noise of their own, not that of the release."""
    x, law, chance = narrow.units[number], job.laws[number], np.random.default_rng(part)
    rows = chance.integers(0, max(x.size, 1), -(-SAMPLED * job.parts * x.size // max(job.n, 1)))
    rows = rows[~np.isnan(x[rows])]
    keys = np.empty(rows.size)
    range_partition.make_keys(x, rows, law.draw(chance, rows.size), multiplied, keys)
    ties = _random_words(chance, rows.size)
    pool = NO_POOLS if narrow.pool is None else narrow.pool[rows]
    return Splitters(pool, words_of(keys), ties), Splitters(pool, words_of(x[rows]), ties)


def _random_words(chance: np.random.Generator, size: int) -> np.ndarray:
    return chance.integers(0, ALL_WORDS, size, dtype=np.uint64, endpoint=True)


def _splitters(count: int, samples: list[tuple[Splitters, Splitters]]) -> tuple[Splitters, Splitters]:
    keys, values = zip(*samples, strict=True)
    return splitters_of(list(keys), count), splitters_of(list(values), count)


def _keys(
    job: Job, part: int, number: int, multiplied: bool, narrow: Narrow, splitters: tuple[Splitters, Splitters]
) -> pd.DataFrame:
    """The keys of the kept rows with a value, sent to the buckets of their sort."""
    draws, x = job.draws(part), narrow.units[number]
    rows, ties = draws.kept, draws.words_of_kept()
    keys = np.empty(rows.size)
    range_partition.make_keys(x, rows, draws.noise(job.laws[number], number), multiplied, keys)
    if narrow.pool is not None:
        present = ~np.isnan(keys)
        rows, ties, keys = rows[present], ties[present], keys[present]
    pool, words = job.pool_of(narrow, rows), words_of(keys)
    to = bucket_of(splitters[0], words, pool.get("pool"), ties)
    return frame(
        to, {"word": words, "tie": ties, "row": (rows + job.starts[part]).astype(job.row_type), **pool}
    )


def _values(
    job: Job, part: int, number: int, narrow: Narrow, splitters: tuple[Splitters, Splitters]
) -> pd.DataFrame:
    """The values of the same rows, sent to the buckets of theirs; equal ones go to any bucket that may have
    them."""
    rows, x = job.draws(part).kept, narrow.units[number]
    if narrow.pool is not None:
        rows = rows[~np.isnan(x[rows])]
    pool, words = job.pool_of(narrow, rows), words_of(x[rows])
    to = bucket_of(
        splitters[1], words, pool.get("pool"), _random_words(np.random.default_rng(part), rows.size)
    )
    return frame(to, {"word": words, **pool})


def _rows_in_order(job: Job, received: pd.DataFrame) -> np.ndarray:
    """The rows of a bucket in the order of (pool, key, tie, row)."""
    words, ties, rows = (column(received, name) for name in ("word", "tie", "row"))
    return np.asarray(rows[order_of(words, rows, column(received, "pool") if job.pooled else None, ties)])


def _values_in_order(job: Job, received: pd.DataFrame) -> np.ndarray:
    """The values of a bucket in the order of (pool, value)."""
    words = column(received, "word")
    if not job.pooled:
        return numbers_of(np.sort(words))
    return numbers_of(words[np.lexsort((words, column(received, "pool")))])


def _to_keys(
    job: Job, number: int, values: np.ndarray, before_values: np.ndarray, before_rows: np.ndarray
) -> pd.DataFrame:
    """The values of a bucket, sent to the keys at the same places in their order."""
    places = np.arange(*before_values[number : number + 2])
    to = np.searchsorted(before_rows, places, side="right") - 1
    return frame(
        to.astype(np.int32), {"place": (places - before_rows[to]).astype(job.row_type), "value": values}
    )


def _to_kept(job: Job, number: int, rows: np.ndarray, arrived: pd.DataFrame) -> pd.DataFrame:
    """The values of the rows of a bucket, sent to these."""
    values = np.empty(rows.size)
    values[column(arrived, "place")] = column(arrived, "value")
    to, row = job.home(rows)
    return _on_the_way(to, number, row, values, job)
