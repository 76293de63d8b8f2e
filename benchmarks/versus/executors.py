"""What a task costs on threads, processes and Dask: ``python benchmarks/versus/executors.py``.

1,000 tasks that do nothing; and a study of 100 replicates of 20,000 records, 34 tasks, whose
population is drawn, or is a file of 1,000,000 records that has to travel. Two workers each. The
studies are checked before they are timed.
"""

import contextlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import tables
from tables import Line

import condmask as cm
from condmask._blocks import ordered_map

EMPTY = 1_000
REPLICATES = 100
RECORDS = 20_000
IN_FILE = 1_000_000
SCHEMES = {"masked": cm.ConditionalMasking(0.6, 1000.0)}


@contextlib.contextmanager
def threads():
    yield 2


@contextlib.contextmanager
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool.map


@contextlib.contextmanager
def dask():
    from distributed import Client

    with Client(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    ) as client:
        yield cm.dask.client_map(client)


def measure(args, tasks=EMPTY, replicates=REPLICATES, n=RECORDS, in_file=IN_FILE):
    populations = {
        "drawn": cm.paper_population(),
        f"of a file of {in_file:,} records": cm.Resampled(
            np.random.default_rng(1).lognormal(8.0, 0.5, in_file)
        ),
    }

    def study(population, workers=1):
        return cm.simulate(
            population, SCHEMES, n=n, replications=replicates, rng=1, workers=workers
        )

    alone = {name: study(population) for name, population in populations.items()}
    rounds = max(1, args.rounds // 5)
    taken = tables.medians({name: lambda p=p: study(p) for name, p in populations.items()}, rounds)
    lines = [
        Line(f"a study {name}, one thread", seconds, unit="s") for name, seconds in taken.items()
    ]
    for executor in (threads, processes, dask):
        said = executor.__name__
        with executor() as workers:
            assert list(ordered_map(abs, range(-10, 0), workers)) == list(range(10, 0, -1))
            assert all(
                study(population, workers) == alone[name]
                for name, population in populations.items()
            )
            calls = {"empty": lambda w=workers: list(ordered_map(abs, range(tasks), w))}
            calls |= {name: lambda p=p, w=workers: study(p, w) for name, p in populations.items()}
            t = tables.medians(calls, rounds)
        lines.append(Line(f"{said}: an empty task", 1000.0 * t["empty"] / tasks, unit="ms"))
        lines += [
            Line(f"{said}: a study {name}, relative to one thread", t[name] / taken[name])
            for name in populations
        ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure, columns=("ordinary",))
