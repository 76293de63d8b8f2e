"""The swapped records of a table in the order of (pool, word, row), in as many buckets as partitions."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.dask.shuffles import column, frame, shuffled
from condmask.dask.sorting import NO_TIES, bucket_of, even_splitters, order_of


class Bucket(NamedTuple):
    """Swapped records in the order of (pool, word, row), with their values."""

    pool: np.ndarray
    word: np.ndarray
    row: np.ndarray
    values: list[np.ndarray]


def swapped_in_order(narrow: Sequence[Delayed], job: Job) -> tuple[list[Delayed], list[Delayed]]:
    """The buckets, and the frames by which the partitions send their swapped records there."""
    sent = [delayed(partial(_to_buckets, job, part))(held) for part, held in enumerate(narrow)]
    types = {"word": np.uint64, "row": job.row_type, **job.pool_type, **dict.fromkeys(job.names, np.float64)}
    return [delayed(partial(_bucket, job))(rows) for rows in shuffled(sent, types, job.parts)], sent


def _to_buckets(job: Job, part: int, narrow: Narrow) -> pd.DataFrame:
    draws = job.draws(part)
    words, rows, pool = draws.words_of_swapped(), draws.swapped, None
    if narrow.pool is not None:
        in_pool = narrow.pool[rows] >= 0
        words, rows = words[in_pool], rows[in_pool]
        pool = narrow.pool[rows]
    to = bucket_of(even_splitters(job.sizes, job.parts), words, pool, NO_TIES)
    columns = {
        "word": words,
        "row": (rows + job.starts[part]).astype(job.row_type),
        **job.pool_of(narrow, rows),
    }
    return frame(to, columns | {name: x[rows] for name, x in zip(job.names, narrow.units, strict=True)})


def _bucket(job: Job, received: pd.DataFrame) -> Bucket:
    words, rows = column(received, "word"), column(received, "row")
    pool = column(received, "pool") if job.pooled else None
    order = order_of(words, rows, pool)
    pool = np.zeros(rows.size, np.int64) if pool is None else pool[order]
    return Bucket(pool, words[order], rows[order], [column(received, name)[order] for name in job.names])
