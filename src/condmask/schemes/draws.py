"""The draws of a release: coins, donors and noise, block by block.

What is drawn for a block depends on the key, the block and its coins alone, never on the data, so
a block masked again under its key gets the same noise. Columns masked together share coins and
donors and differ in noise.
"""

from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from condmask._blocks import BLOCK, Workers, ordered_map
from condmask._randomness import COIN, DONOR, NOISE, Key, KeyTransport, words
from condmask.kernels import masking
from condmask.schemes.pools import Pools


class Law(NamedTuple):
    """The noise of one column; with ``decimals`` it is rounded to whole steps of the grid."""

    noise: str
    sigma: float
    decimals: int | None

    def draw(self, stream: np.random.Generator, count: int) -> np.ndarray:
        if self.noise == "normal":
            drawn = stream.standard_normal(count)
            drawn *= self.sigma
        else:
            drawn = stream.laplace(0.0, self.sigma / np.sqrt(2.0), count)
        return drawn if self.decimals is None else np.rint(drawn * 10.0**self.decimals)


class Plan(NamedTuple):
    """All that a block needs but its number. ``donors`` holds permutation donors, else None."""

    columns: list[np.ndarray]
    laws: list[Law]
    p: float
    pools: Pools | None
    donors: np.ndarray | None


def coins(key: Key, p: float, block: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The swapped rows of a block and the kept ones, counted from its start."""
    swapped, kept = np.empty((2, size + 1), dtype=np.int64)
    threshold = np.uint64(int(p * 2.0**64))
    s, k = masking.toss(words(key.stream(block, COIN), size), threshold, swapped, kept)
    return swapped[:s], kept[:k]


def sample_donors(key: Key, swapped: np.ndarray, block: int, n: int, pools: Pools | None) -> np.ndarray:
    """Donors of the swapped rows of a block by eq. (1), in the order of the rows."""
    drawn = words(key.stream(block, DONOR), swapped.size)
    donors = np.empty(swapped.size, dtype=np.int64)
    start = block * BLOCK
    if pools is None:
        masking.choose_donors(drawn, swapped, start, n, donors)
    else:
        pool, rank, first, size, order = pools
        masking.choose_pool_donors(drawn, swapped, start, rank, pool, first, size, order, donors)
    return donors


def permutation_donors(key: Key, p: float, n: int, pools: Pools | None) -> np.ndarray:
    """Donors of all swapped rows of the file: the next one of the pool in the order of (word, row).

    A pool with a single swapped row keeps its donor by eq. (1): its own value would be the release.
    """
    all_rows, all_words, all_donors = [], [], []
    for block in range(-(-n // BLOCK)):
        start = block * BLOCK
        swapped, _ = coins(key, p, block, min(BLOCK, n - start))
        all_rows.append(swapped + start)
        all_words.append(words(key.stream(block, DONOR), swapped.size))
        all_donors.append(sample_donors(key, swapped, block, n, pools))
    rows, donor_words, donors = (np.concatenate(parts) for parts in (all_rows, all_words, all_donors))
    pool = np.zeros(rows.size, dtype=np.int64) if pools is None else pools.pool[rows]
    cycle = np.lexsort((donor_words, pool))  # stable: equal words stay in the order of the rows
    cycle = cycle[np.searchsorted(pool[cycle], 0) :]
    last = np.flatnonzero(np.diff(pool[cycle], append=-1))
    first = np.concatenate(([0], last[:-1] + 1)).astype(np.int64)[: last.size]
    following = np.concatenate((cycle[1:], cycle[:1]))
    following[last] = cycle[first]
    alone = following == cycle
    donors[cycle[~alone]] = rows[following[~alone]]
    return donors


def mask_block(transport: KeyTransport, plan: Plan, task: tuple[int, int]) -> list[np.ndarray]:
    """One block of every column; the task is (block, number of swapped rows before it)."""
    key = transport.open()
    block, before = task
    n = plan.columns[0].size
    start = block * BLOCK
    size = min(BLOCK, n - start)
    swapped, kept = coins(key, plan.p, block, size)
    if plan.donors is None:
        donors = sample_donors(key, swapped, block, n, plan.pools)
    else:
        donors = plan.donors[before : before + swapped.size]
    masked = []
    for column, (x, law) in enumerate(zip(plan.columns, plan.laws, strict=True)):
        noise = law.draw(key.stream(block, NOISE, column), kept.size)
        z = np.empty(size)
        masking.place(x, swapped, donors, kept, noise, start, z)
        masked.append(z)
    return masked


def make_tasks(
    columns: list[np.ndarray],
    laws: list[Law],
    p: float,
    key: Key,
    *,
    donors: str,
    pools: Pools | None,
    rows: tuple[int, int],
) -> tuple[Plan, list[tuple[int, int]]]:
    """The plan of a release and the tasks of `mask_block` that cover ``rows``."""
    n = columns[0].size
    wanted = range(rows[0] // BLOCK, -(-rows[1] // BLOCK))
    if donors == "sample":
        return Plan(columns, laws, p, pools, None), [(block, 0) for block in wanted]
    sizes = [coins(key, p, block, min(BLOCK, n - block * BLOCK))[0].size for block in range(wanted.stop)]
    before = list(accumulate(sizes, initial=0))
    cycle = permutation_donors(key, p, n, pools)
    return Plan(columns, laws, p, pools, cycle), [(block, before[block]) for block in wanted]


def masked_blocks(
    columns: list[np.ndarray],
    laws: list[Law],
    p: float,
    key: Key,
    *,
    donors: str,
    pools: Pools | None,
    workers: Workers,
) -> Iterator[list[np.ndarray]]:
    """The masked values of every column, block by block, for files.

    A column with ``decimals`` goes in and comes out in units of its grid.
    """
    whole = (0, columns[0].size)
    plan, tasks = make_tasks(columns, laws, p, key, donors=donors, pools=pools, rows=whole)
    yield from ordered_map(partial(mask_block, key.transport(), plan), tasks, workers)


def mask_columns(
    columns: list[np.ndarray],
    laws: list[Law],
    p: float,
    key: Key,
    *,
    donors: str,
    pools: Pools | None,
    rows: tuple[int, int],
    workers: Workers,
) -> list[np.ndarray]:
    """The masked values of ``rows``, whole, for every column."""
    plan, tasks = make_tasks(columns, laws, p, key, donors=donors, pools=pools, rows=rows)
    block_of = partial(mask_block, key.transport(), plan)
    masked = [np.empty(rows[1] - rows[0]) for _ in columns]

    def insert(task: tuple[int, int], parts: list[np.ndarray]) -> None:
        offset = task[0] * BLOCK
        start, stop = max(rows[0], offset), min(rows[1], offset + BLOCK)
        for z, part in zip(masked, parts, strict=True):
            z[start - rows[0] : stop - rows[0]] = part[start - offset : stop - offset]

    if isinstance(workers, int):
        # threads put their blocks in place themselves, while they are in the cache
        for _ in ordered_map(lambda task: insert(task, block_of(task)), tasks, workers):
            pass
    else:
        for task, parts in zip(tasks, workers(block_of, tasks), strict=True):
            insert(task, parts)
    return masked
