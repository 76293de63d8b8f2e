"""Donors by eq. (1): one shuffle asks their partitions, another brings the values back."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed

from condmask.dask.job import Job
from condmask.dask.narrow import Narrow
from condmask.dask.places import Places, in_file_order, places_of
from condmask.dask.shuffles import column, frame, shuffled
from condmask.kernels import masking


def sampled(narrow: Sequence[Delayed], job: Job) -> list[Delayed]:
    """Values sent to the swapped rows."""
    places = places_of_records(narrow, job)
    asked = [delayed(partial(_ask, job, part))(held, places) for part, held in enumerate(narrow)]
    types = {"within": job.row_type, "row": job.row_type}
    arrived = shuffled(asked, types, job.parts)
    return [delayed(partial(_answer, job))(held, some) for held, some in zip(narrow, arrived, strict=True)]


def places_of_records(narrow: Sequence[Delayed], job: Job) -> Any:
    """The places of all records; counted in a task if there are pools."""
    if not job.pooled:
        return places_of([job.by_pool(None, size) for size in np.diff(job.starts)])
    return delayed(places_of)([delayed(partial(_count, job))(held) for held in narrow])


def _count(job: Job, narrow: Narrow) -> np.ndarray:
    return job.by_pool(narrow.pool, 0)


def _ask(job: Job, part: int, narrow: Narrow, places: Places) -> pd.DataFrame:
    """The donors of a partition's swapped rows, sent to the partitions that have them."""
    draws = job.draws(part)
    words, rows = draws.words_of_swapped(), draws.swapped
    pool = np.zeros(rows.size, np.int64)
    if narrow.pool is not None:
        in_pool = narrow.pool[rows] >= 0
        words, rows = words[in_pool], rows[in_pool]
        pool = narrow.pool[rows]
    first = (np.cumsum(job.sizes) - job.sizes)[pool]
    donor = np.empty(rows.size, np.int64)
    masking.choose_ranks(words, job.sizes[pool], _places(narrow, part, places)[rows] - first, donor)
    to, within = places.find(first + donor)
    columns = {"within": within, "row": rows + job.starts[part]}
    return frame(to, {name: some.astype(job.row_type) for name, some in columns.items()})


def _places(narrow: Narrow, part: int, places: Places) -> np.ndarray:
    """The place of each row of a partition."""
    first, own = places.first[:, part], places.own[:, part]
    in_order = np.arange(own.sum()) + np.repeat(first - (np.cumsum(own) - own), own)
    if narrow.pool is None:
        return np.asarray(in_order)
    at = np.full(narrow.pool.size, -1)
    at[in_file_order(narrow.pool, np.arange(at.size))] = in_order
    return np.asarray(at)


def _answer(job: Job, narrow: Narrow, asked: pd.DataFrame) -> pd.DataFrame:
    rows = rows_at(narrow, column(asked, "within").astype(np.int64))
    return job.back(column(asked, "row").astype(np.int64), [x[rows] for x in narrow.units])


def rows_at(narrow: Narrow, within: np.ndarray) -> np.ndarray:
    """The rows of a partition at these ranks in its order of (pool, row)."""
    if narrow.pool is None:
        return within
    return np.asarray(in_file_order(narrow.pool, np.arange(narrow.pool.size))[within])
