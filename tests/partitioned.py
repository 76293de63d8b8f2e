"""A table in partitions, masked by Dask's shuffles and on one machine: the oracle of tests/dask."""

import itertools

import numpy as np
from hypothesis import strategies as st

from condmask import draws
from condmask._randomness import Key
from condmask.donor_pools import make_pools
from condmask.schemes import reverse_mapping
from condmask.schemes.reverse_mapping import blocks_of

SECRET = bytes(range(40, 56))


def pools_of(pool):
    return None if pool is None else make_pools(np.where(pool < 0, 0, pool), pool >= 0)


def on_one_machine(columns, pool, schemes, secret=SECRET):
    copies = [x.copy() for x in columns]
    return blocks_of(schemes, copies, Key(secret), pools=pools_of(pool)).masked(1)


def parts_of(columns, pool, cuts, schemes, key):
    """The masked columns of each partition, as tasks."""
    from dask import delayed

    from condmask.dask.masked_parts import masked_parts
    from condmask.dask.narrow import Narrow

    starts = np.array([0, *sorted(cuts), columns[0].size])
    narrow = [
        delayed(Narrow)([x[a:b] for x in columns], None if pool is None else pool[a:b])
        for a, b in itertools.pairwise(starts)
    ]
    return masked_parts(narrow, starts, schemes, key, None if pool is None else pools_of(pool).size)


def assert_as_on_one_machine(columns, pool, cuts, schemes, secret=SECRET):
    import dask

    from condmask.dask.keys import HeldKey

    held = HeldKey(Key(secret), None)
    with dask.config.set(scheduler="synchronous"):
        made = dask.compute(*parts_of(columns, pool, cuts, schemes, held.name))
    assert_same(made, on_one_machine(columns, pool, schemes, secret))


def assert_same(made, expected):
    for number, z in enumerate(expected):
        together = np.concatenate([part[number] for part in made])
        assert together.view(np.int64).tolist() == z.view(np.int64).tolist()


def small_blocks(monkeypatch, size=64):
    """Blocks of fewer rows, so that small tables have several."""
    from condmask.dask import draws as dask_draws
    from condmask.dask import permutation

    for module in (draws, reverse_mapping, dask_draws, permutation):
        monkeypatch.setattr(module, "BLOCK", size)


def few_words(monkeypatch, bits=3):
    """Random words of few bits, so that many of them are equal."""
    from condmask.dask import draws as dask_draws

    drawn, rest = draws.words, np.uint64(64 - bits)
    for module in (draws, reverse_mapping, dask_draws):
        monkeypatch.setattr(module, "words", lambda stream, size: drawn(stream, size) >> rest << rest)


@st.composite
def tables(draw, most=300, kinds=("whole", "tied", "many digits"), least=2):
    """(columns, pools or None, cuts): values, with gaps where there are pools, of two records or more."""
    n, width = draw(st.integers(least, most)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for _ in range(width):
        kind = draw(st.sampled_from(kinds))
        x = rng.lognormal(5.0, 1.0, n)
        columns.append({"whole": np.round(x), "tied": np.maximum(np.round(x, -2) - 100.0, 0.0)}.get(kind, x))
    cuts = draw(st.lists(st.integers(0, n), max_size=5))
    count = draw(st.integers(0, 20))
    if not count:
        return columns, None, cuts
    pool = rng.integers(-1, count, n)
    pool = np.where(
        np.isin(pool, np.flatnonzero(np.bincount(pool[pool >= 0], minlength=count) < 2)), -1, pool
    )
    if (pool < 0).all():
        pool[:] = 0
    pool = np.unique(np.append(pool, -1), return_inverse=True)[1][:n] - 1
    for x in columns:
        x[pool < 0] = np.nan
    columns[-1][(pool == 0) & (width > 1)] = np.nan  # a pattern of missing values is a pool
    return columns, pool, cuts
