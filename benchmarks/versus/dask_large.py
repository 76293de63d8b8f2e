"""Masking and estimation on Dask: ``python benchmarks/versus/dask_large.py``, Linux, by hand, 8 GB of disk.

Clusters of one and two single-threaded processes, tables of 16 partitions. Masking 1e6 and 1e7 rows against
the bare shuffles and sorts that it needs, of the same columns in the same partitions, timed in turns;
estimation from 1e6, 1e7 and 1e8 rows on two workers against one; and what tasks cost that have nothing to do.
Bytes moved are those that workers write to others, the scheduler included; memory is anonymous memory of the
workers above what they had.
"""

import contextlib
import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from distributed import Client, wait
from tables import Line

import condmask as cm
import condmask.dask
from condmask.estimates.origin import NOWHERE
from condmask.files.metadata import Published

ROWS = (1_000_000, 10_000_000, 100_000_000)  # the last one is not masked
PARTITIONS = 16
P = 0.6
SCHEMES = {
    "additive noise": cm.ConditionalMasking(P, 500.0, donors="permutation"),
    "reverse mapping": cm.ConditionalMasking(P, 600.0, reverse_mapping=True, aggregate_ends=5),
}
WORDS = 2**63
MOST, LEAST = 1.5, 1.6  # times the bare shuffles; times as fast on two workers
EMPTY = 1_000


@contextlib.contextmanager
def cluster(workers):
    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as client:
        yield client


def write(path, rows):
    """A released file: incomes masked by the first scheme, age and region beside them."""
    scheme = SCHEMES["additive noise"]
    published = Published(rows, {"income": scheme}, {"income": NOWHERE}).to_dict()
    fields = [("income", pa.float64()), ("age", pa.int64()), ("region", pa.string())]
    schema = pa.schema(fields, metadata={"condmask": json.dumps(published)})
    rng, regions = np.random.default_rng(1), np.array(["north", "south", "east"])
    edges = _edges(rows)
    with pq.ParquetWriter(path, schema) as writer:
        for n in np.diff(edges).tolist():
            x = rng.lognormal(6.0, 0.7, n)
            z = np.where(rng.random(n) < P, rng.permutation(x), x + rng.normal(0.0, 500.0, n))
            z = scheme.grid.values(scheme.grid.units(z))
            columns = [z, rng.integers(0, 100, n), regions[rng.integers(0, 3, n)]]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=n)


def _edges(rows):
    """Where partitions begin, and the end."""
    return [rows * k // PARTITIONS for k in range(PARTITIONS + 1)]


# --- the bare shuffles and sorts ---


def bare(name, source, rows):
    """Frames that are shuffled as masking by this scheme has to; words and coins are others."""
    return (_donors if name == "additive noise" else _rearranged)(source, _edges(rows))


def _donors(source, edges):
    """By word with (row, value), and back by row with the value."""
    swapped = source.map_partitions(_swapped, edges, meta=_meta(word=int, row=int, value=float))
    return [_by_row(_by_word(swapped), edges)]


def _rearranged(source, edges):
    """Values of the swapped by word and back; keys of the kept and their values in order, joined and back."""
    swapped = source.map_partitions(_swapped, edges, meta=_meta(word=int, row=int, value=float))
    shuffled = _by_word(swapped[["word", "value"]])
    placed = shuffled.map_partitions(_placed, edges, meta=_meta(row=int, value=float))
    kept = source.map_partitions(_kept, edges, meta=_meta(key=float, word=int, row=int, value=float))
    some = np.random.default_rng(2).lognormal(6.0, 0.7, (2, 10 * PARTITIONS * PARTITIONS))
    noisy, plain = some[0] * np.exp(np.random.default_rng(3).normal(0.0, 0.5, some.shape[1])), some[1]
    keys = kept[["key", "word", "row"]].set_index("key", divisions=_divisions(noisy))
    values = kept[["value"]].assign(same=0.0).set_index("value", divisions=_divisions(plain))
    joined = dd.map_partitions(
        _joined, keys, values, meta=_meta(row=int, value=float), align_dataframes=False
    )
    return [_by_row(placed, edges), _by_row(joined, edges)]


def _divisions(sample):
    """Of a frame in order, so that partitions are of one size."""
    inner = np.quantile(sample, np.arange(1, PARTITIONS) / PARTITIONS).tolist()
    return [0.0, *inner, 1e300]


def _by_word(frame):
    return frame.set_index(
        "word", divisions=[WORDS // PARTITIONS * k for k in range(PARTITIONS)] + [WORDS - 1]
    )


def _by_row(frame, edges):
    return frame[["row", "value"]].set_index("row", divisions=edges)


def _meta(**types):
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in types.items()})


def _drawn(part, edges, number):
    rng, n = np.random.default_rng(number), len(part)
    first = edges[number]
    x = part["income"].to_numpy()
    swapped = rng.random(n) < P
    return rng, swapped, {"word": rng.integers(0, WORDS, n), "row": np.arange(first, first + n), "value": x}


def _swapped(part, edges, partition_info=None):
    _, swapped, columns = _drawn(part, edges, partition_info["number"])
    return pd.DataFrame(columns)[swapped]


def _kept(part, edges, partition_info=None):
    rng, swapped, columns = _drawn(part, edges, partition_info["number"])
    key = columns["value"] * np.exp(rng.normal(0.0, 0.5, len(part)))
    return pd.DataFrame({"key": key, **columns})[~swapped]


def _placed(part, edges, partition_info=None):
    """The values in the order of their words go to the swapped rows as these follow one another."""
    first, last = edges[partition_info["number"] :][:2]
    return pd.DataFrame(
        {"row": np.linspace(first, last - 1, len(part)).astype(np.int64), "value": part["value"]}
    )


def _joined(keys, values):
    """Rank by rank; a partition has somewhat more of the one than of the other."""
    value = np.resize(values.index.to_numpy(), len(keys)) if len(values) else np.zeros(len(keys))
    return pd.DataFrame({"row": keys["row"].to_numpy(), "value": value})


# --- what is measured ---


def compute(frames):
    """Compute frames on the cluster, and let go of them."""
    wait([frame.persist() for frame in frames])


def watched(client, call):
    """Bytes that workers write while a call runs, and the most that they hold beyond what they had."""
    pids, done = list(client.run(os.getpid).values()), threading.Event()
    client.run(_count)
    before = peak = sum(map(_anonymous, pids))

    def watch():
        nonlocal peak
        while not done.wait(0.05):
            peak = max(peak, sum(map(_anonymous, pids)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    call()
    done.set()
    watcher.join()
    return sum(client.run(_written).values()), peak - before


def _count():
    """Count what this process writes from now on."""
    from distributed.comm.tcp import TCP

    TCP.written, write = 0, getattr(TCP, "uncounted", TCP.write)

    async def counted(self, *args, **options):
        size = await write(self, *args, **options)
        TCP.written += size
        return size

    TCP.uncounted, TCP.write = write, counted


def _written():
    from distributed.comm.tcp import TCP

    return TCP.written


def _anonymous(pid):
    """Bytes that a process holds and no file backs."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Anonymous:"))


def masking(client, workers, path, rows, rounds):
    """Masking against the bare shuffles: seconds, their ratio, bytes and memory a row.

    The first run of each is watched; on one worker it is the only one.
    """
    source = dd.read_parquet(path, columns=["income"], split_row_groups=True)
    assert source.npartitions == PARTITIONS
    for name, scheme in SCHEMES.items():
        said = f"{name}, {rows:,} rows, {workers} worker{'s' * (workers > 1)}"
        calls = {
            "bare": lambda name=name: compute(bare(name, source, rows)),
            "masking": lambda scheme=scheme: compute(
                [condmask.dask.mask_table(source, {"income": scheme}).data]
            ),
        }
        t, found = {}, []
        for what, call in calls.items():
            start = time.perf_counter()
            moved, held = watched(client, call)
            t[what] = [time.perf_counter() - start]
            found.append(Line(f"{said}: {what}, bytes moved a row", moved / rows))
            found.append(Line(f"{said}: {what}, memory a row, bytes", held / rows))
        for turn in range(rounds if workers > 1 else 0):
            for what, call in calls.items():
                start = time.perf_counter()
                call()
                t[what] = (t[what] if turn else []) + [time.perf_counter() - start]
        t = {what: statistics.median(taken) for what, taken in t.items()}
        for what, seconds in t.items():
            yield Line(f"{said}: {what}", seconds, unit="s")
        yield from found
        most = MOST if workers > 1 and rows == max(ROWS[:-1]) else None
        yield Line(f"{said}: relative to the bare shuffles", t["masking"] / t["bare"], most)


def asked_of(source, path):
    """What is asked of an estimate, by name."""

    def income():
        return condmask.dask.estimate(source, path)["income"]

    return {
        "summary": lambda: income().summary(),
        "group means": lambda: income().group_means("region"),
        "regression": lambda: income().regress(["age"]),
    }


def overheads(client, workers):
    """What a task costs that has nothing to do: alone, and in the graphs of a shuffle."""
    said = f"{workers} worker{'s' * (workers > 1)}"
    empty = _meta(word=int, row=int, value=float)
    frame = dd.from_map(_no_rows, range(PARTITIONS), args=(empty,), meta=empty)
    shuffled = _by_row(_by_word(frame), list(range(PARTITIONS + 1)))
    many = len(shuffled.optimize().__dask_graph__())
    calls = {
        "alone": lambda: wait(client.map(abs, range(EMPTY), pure=False)),
        "shuffle": lambda: compute([shuffled]),
    }
    t = tables.medians(calls, 3)
    yield Line(f"a task that does nothing, {said}", 1000.0 * t["alone"] / EMPTY, unit="ms")
    yield Line(f"a task of two shuffles of no rows, {said}", 1000.0 * t["shuffle"] / many, unit="ms")
    yield Line(f"two shuffles of no rows, {said}", t["shuffle"], unit="s")


def _no_rows(_, empty):
    return empty


def tasks(path, rows):
    """How many tasks the operations have."""
    source = dd.read_parquet(path, columns=["income"], split_row_groups=True)
    for name in SCHEMES:
        bare_tasks = sum(len(frame.optimize().__dask_graph__()) for frame in bare(name, source, rows))
        yield Line(f"tasks, {PARTITIONS} partitions: the bare shuffles of {name}", bare_tasks)


def measure(args, rows=ROWS):
    lines, rounds = [], max(1, args.rounds // 5)
    with tempfile.TemporaryDirectory() as folder:
        paths = {n: Path(folder, f"{n}.parquet") for n in rows}
        for n, path in paths.items():
            write(path, n)
        taken = {}
        for workers in (1, 2):
            with cluster(workers) as client:
                lines += overheads(client, workers)
                if workers == 1:
                    lines += tasks(paths[rows[0]], rows[0])
                for n in rows[:-1]:
                    lines += masking(client, workers, paths[n], n, rounds)
                for n, path in paths.items():
                    source = dd.read_parquet(path, split_row_groups=True)
                    taken[n, workers] = tables.medians(asked_of(source, path), rounds)
        for (n, workers), times in taken.items():
            for name, seconds in times.items():
                said = f"{name}, {n:,} rows"
                lines.append(Line(f"{said}, {workers} worker{'s' * (workers > 1)}", seconds, unit="s"))
                if workers == 2:
                    least = LEAST if n == rows[-1] else None
                    lines.append(
                        Line(f"{said}: times as fast on two", taken[n, 1][name] / seconds, least=least)
                    )
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
