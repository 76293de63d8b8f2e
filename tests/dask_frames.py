"""Frames in partitions of any size, and releases of them, for tests."""

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

import condmask as cm
from condmask.dask.release import DaskRelease

SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)
SCHEMES = {"income": SCHEME, "bonus": SCHEME}
CUTS = [0, 700, 700, 701, 1_900]  # empty partitions, one of one row


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


def parted(frame, cuts=CUTS):
    """A Dask frame of these partitions."""
    return dd.from_delayed([dask.delayed(part) for part in parts_of(frame, cuts)[1]], meta=frame.iloc[:0])


def released(frame, schemes=SCHEMES, cuts=CUTS, **options):
    """One release, of one machine and of Dask."""
    options = {"nan_policy": "omit", "accept_visible_coins": True} | options
    release = cm.mask_table(frame, schemes, **options)
    original = parted(frame, cuts) if options.get("rng") is None else None
    return release, DaskRelease(
        release._published, data=parted(release.data, cuts), starts=parts_of(frame, cuts)[0],
        original=original, audited=not options["accept_visible_coins"],
    )  # fmt: skip


def dying(place):
    """A worker's writer that is killed in the middle of its first part, once."""
    from condmask.dask import write

    rewrite = write.FrameTable.rewrite

    def killed(table, output, rows, metadata):
        rewrite(table, output, rows, metadata)
        Path(place).touch()
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
        second = dask.delayed(held_up)(rest[0], here, go)
        waiting = [dask.delayed(first), second, *map(dask.delayed, rest[1:])]
        data = dd.from_delayed(waiting, meta=first.iloc[:0], verify_meta=False)
        DaskRelease(release._published, data=data, starts=ready).write(target)
