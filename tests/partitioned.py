"""Tables cut into partitions of any size, and what one machine makes of them: the oracle of tests/dask."""

import contextlib
import os
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from hypothesis import strategies as st

import condmask as cm
from condmask import draws
from condmask._randomness import Key
from condmask.dask import draws as dask_draws
from condmask.dask import permutation
from condmask.dask.keys import HeldKey
from condmask.dask.masked_parts import masked_parts
from condmask.dask.narrow import Narrow
from condmask.dask.release import DaskRelease
from condmask.donor_pools import make_pools
from condmask.schemes import reverse_mapping
from condmask.schemes.reverse_mapping import blocks_of

SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)
SCHEMES = {"income": SCHEME, "bonus": SCHEME}
CUTS = [0, 700, 700, 701, 1_900]  # empty partitions, one of one row
UNEQUAL = [0, 100, 101, 9_000, 9_000]  # the same, of larger tables
SECRET = bytes(range(40, 56))


def people(n=4_000, seed=1):
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(7.3, 0.4, n))
    frame = pd.DataFrame({
        "income": income,
        "age": rng.integers(18, 90, n),
        "bonus": np.where(rng.random(n) < 0.05, np.nan, np.round(income * rng.random(n))),
        "region": np.array(["north", "Süd", None], dtype=object)[rng.integers(0, 3, n)],
        "kind": pd.Categorical(np.array(["a", "b"])[rng.integers(0, 2, n)], categories=["a", "b", "c"]),
        "day": pd.Timestamp("2024-02-29") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        "size": pd.array(rng.integers(0, 9, n), dtype="Int64"),
    })  # fmt: skip
    frame.loc[: n // 5, "size"] = pd.NA
    frame.loc[: n // 5, "region"] = None
    return frame


def parts_of(frame, cuts=CUTS):
    ends = [0, *cuts, len(frame)]
    return np.array(ends), [frame.iloc[a:b] for a, b in pairwise(ends)]


def cut(frame, ends=CUTS):
    """A Dask frame of the rows up to each end, and of the rest; an end twice is a partition without rows."""
    parts = [delayed(part) for part in parts_of(frame, ends)[1]]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


def released(frame, schemes=SCHEMES, cuts=CUTS, **options):
    """One release, of one machine and of Dask."""
    options = {"nan_policy": "omit", "accept_visible_coins": True} | options
    release = cm.mask_table(frame, schemes, **options)
    original = cut(frame, cuts) if options.get("rng") is None else None
    return release, DaskRelease(
        release._published, data=cut(release.data, cuts), starts=parts_of(frame, cuts)[0],
        original=original, audited=not options["accept_visible_coins"],
    )  # fmt: skip


# --- narrow columns, as schemes mask them ---


def pools_of(pool):
    return None if pool is None else make_pools(np.where(pool < 0, 0, pool), pool >= 0)


def on_one_machine(columns, pool, schemes, secret=SECRET):
    copies = [x.copy() for x in columns]
    return blocks_of(schemes, copies, Key(secret), pools=pools_of(pool)).masked(1)


def masked_in_parts(columns, pool, cuts, schemes, key):
    """The masked columns of each partition, as tasks."""
    starts = np.array([0, *sorted(cuts), columns[0].size])
    narrow = [
        delayed(Narrow)([x[a:b] for x in columns], None if pool is None else pool[a:b])
        for a, b in pairwise(starts)
    ]
    return masked_parts(narrow, starts, schemes, key, None if pool is None else pools_of(pool).size)


def assert_as_on_one_machine(columns, pool, cuts, schemes, secret=SECRET):
    held = HeldKey(Key(secret), None)
    with dask.config.set(scheduler="synchronous"):
        made = dask.compute(*masked_in_parts(columns, pool, cuts, schemes, held.name))
    assert_same(made, on_one_machine(columns, pool, schemes, secret))


def assert_same(made, expected):
    for number, z in enumerate(expected):
        together = np.concatenate([part[number] for part in made])
        assert together.view(np.int64).tolist() == z.view(np.int64).tolist()


def small_blocks(monkeypatch, size=64):
    """Blocks of fewer rows, so that small tables have several."""
    for module in (draws, reverse_mapping, dask_draws, permutation):
        monkeypatch.setattr(module, "BLOCK", size)


def few_words(monkeypatch, bits=3):
    """Random words of few bits, so that many of them are equal."""
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


# --- workers and clients that are killed ---


def dying(place):
    """Workers' writers, the first one of which is killed in the middle of its part."""
    from condmask.dask import write

    rewrite = write.FrameTable.rewrite

    def killed(table, output, rows, metadata):
        rewrite(table, output, rows, metadata)
        with contextlib.suppress(OSError):  # another was the first, or another test is on
            Path(place).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)

    write.FrameTable.rewrite = killed


def held_up(part, here, go):
    """A partition that is not there before a file is."""
    Path(here).touch()
    while not Path(go).exists():
        time.sleep(0.01)
    return part


if __name__ == "__main__":  # a client that writes, one partition of which waits
    from distributed import Client

    address, target, here, go = sys.argv[1:]
    with Client(address):
        _, release = released(people())
        ready, (first, *rest) = parts_of(release.data.compute())
        second = delayed(held_up)(rest[0], here, go)
        waiting = [delayed(first), second, *map(delayed, rest[1:])]
        data = dd.from_delayed(waiting, meta=first.iloc[:0], verify_meta=False)
        DaskRelease(release._published, data=data, starts=ready).write(target)
