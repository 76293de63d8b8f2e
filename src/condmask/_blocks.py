"""Cuts rows into fixed blocks, and shares work out between threads.

The rows of a file are cut into blocks of 65,536, counted from row 0. A block is the unit of
randomness (a stream per block), of threading and of summation: sums are formed within a block and
added in block order. Nothing therefore depends on the number of workers. Where a sample of rows
stands for all, its rows or stretches of rows are evenly spaced.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import isqrt
from typing import Any

import numpy as np

BLOCK = 65_536
STRETCH = 16  # neighbouring rows in a sample, since neighbours may be alike

Workers = int | Callable[..., Iterable[Any]]


def blocks(n: int, size: int = BLOCK) -> list[tuple[int, int]]:
    """Return the half-open ranges of at most `size` rows that cover ``0 .. n``."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def ordered_map(
    function: Callable[[Any], Any], tasks: Iterable[Any], workers: Workers
) -> Iterator[Any]:
    """Yield the result of ``function`` for every task, in the order of the tasks.

    ``workers`` is a number of threads or a map-like callable (the map of a process pool, of Dask,
    of Ray). Threads run at most two tasks each ahead of the consumer, so results do not pile up.
    When the consumer stops, no further task begins.
    """
    each: Any = map if workers == 1 else workers
    if not isinstance(each, int):
        yield from each(function, tasks)
        return
    remaining = iter(tasks)
    pool = ThreadPoolExecutor(each)
    try:
        begun = deque(pool.submit(function, task) for task in islice(remaining, 2 * each))
        while begun:
            result = begun.popleft().result()
            begun.extend(pool.submit(function, task) for task in islice(remaining, 1))
            yield result
    finally:
        # without waiting: garbage is collected in any thread, also in one of the pool
        pool.shutdown(wait=False, cancel_futures=True)


def ahead(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the same items, none of which may be None, while a thread makes the next one."""
    rest = iter(items)
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, rest, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, rest, None)
            yield item


def evenly_spaced(n: int, limit: int) -> np.ndarray:
    """Return the indices of at most ``limit`` evenly spaced rows out of n; all if n <= limit."""
    return (np.arange(min(n, limit)) * max(n / limit, 1.0)).astype(np.int64)


def in_stretches(n: int, limit: int) -> np.ndarray:
    """Return the indices of at most ``limit`` rows out of n; all if n <= limit.

    They form evenly spaced stretches of `STRETCH` rows, or of fewer if ``limit`` is small.
    """
    if n <= limit:
        return np.arange(n)
    size = min(STRETCH, isqrt(limit))
    count = limit // size
    first = (np.arange(count) * ((n - size) / max(count - 1, 1))).astype(np.int64)
    return np.asarray((first[:, None] + np.arange(size)).ravel())
