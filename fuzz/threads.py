"""``python -m fuzz.threads``: threads that ask everything at once, and processes forked amid them.

Each round makes objects anew: estimates of every kind of sample, a release in memory and one on disk, schemes
that mask, plan and audit. Sixteen threads ask all of them everything, each in an order of its own, and must
get the bits that a thread gets alone from an object that was asked nothing else. While they do, the process
forks: its children ask the same objects and objects of their own, must come to an end, and draw keys that
nobody else draws. In the end, pools of processes of every start method must give the same bits.
"""

import argparse
import faulthandler
import hashlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import numpy as np

import condmask as cm

THREADS = 16
STUCK = 600  # seconds, after which the stacks of all threads are shown and the process ends
N = 240
RNG = np.random.default_rng(1)
X = RNG.lognormal(5.0, 0.4, N).round(2)
AGE = (20.0 + 0.1 * X + RNG.uniform(0.0, 20.0, N)).round(1)
REGION = np.array(["east", "north", "west"])[np.arange(N) % 3]
TABLE = {"income": X, "age": AGE, "region": REGION, "hours": AGE[::-1]}
POINTS = np.linspace(60.0, 400.0, 9)
Q = np.array([0.1, 0.5, 0.9])
STUDY = {"n": 100, "replications": 4, "rng": 1}


class Subject(NamedTuple):
    """How an object is made, and what may be asked of it."""

    make: Callable[[], Any]
    requests: dict[str, Callable[[Any], Any]]


def scheme(**options: Any) -> cm.ConditionalMasking:
    """A scheme for the column; to two decimals unless `options` say otherwise."""
    return cm.ConditionalMasking(0.6, 25.0, **{"decimals": 2} | options)


def estimate(of: cm.ConditionalMasking, workers: int = 1) -> Any:
    """The estimate of the column as a scheme masks it."""
    strata = {"strata": REGION} if of.strata else {}
    z = of.mask(X, rng=1, accept_visible_coins=True, **strata)
    return of.estimate(z, workers=workers, **strata)


def counted(of: cm.ConditionalMasking) -> Any:
    """The estimate from counts."""
    counts = cm.Counts(of)
    counts.update(of.mask(X, rng=1, accept_visible_coins=True))
    return of.estimate(counts)


def released() -> cm.Release:
    """A release of two columns, one with strata."""
    schemes = {"income": scheme(), "age": cm.ConditionalMasking(0.6, 4.0, decimals=1)}
    return cm.mask_table(TABLE, schemes, strata="region", rng=1, accept_visible_coins=True)


OF_COLUMN: dict[str, Callable[[Any], Any]] = {
    "cdf": lambda e: e.cdf(POINTS),
    "smooth cdf": lambda e: e.cdf(POINTS, bandwidth="scott"),
    "monotone cdf": lambda e: e.cdf(POINTS, monotone=True),
    "density": lambda e: e.pdf(POINTS),
    "quantiles": lambda e: e.quantile(Q),
    "first crossings": lambda e: e.quantile(Q, crossing="first"),
    "rearranged quantiles": lambda e: e.quantile(Q, crossing="rearranged"),
    "smooth quantiles": lambda e: e.quantile(Q, bandwidth=20.0),
    "bounds": lambda e: [e.cdf_bounds(POINTS), e.quantile_bounds(Q)],
    "moments": lambda e: [e.mean(), e.std(), e.moment(3), e.moment(4, central=True)],
    "mean's interval": lambda e: e.mean_interval(),
    "s.d.'s interval": lambda e: e.std_interval(target="file"),
    "quantiles' intervals": lambda e: e.quantile_interval(Q),
    "cdf's intervals": lambda e: e.cdf_interval(POINTS, target="file"),
    "smooth cdf's intervals": lambda e: e.cdf_interval(POINTS, bandwidth=20.0),
    "range's interval": lambda e: e.interquartile_range_interval(),
    "band": lambda e: e.cdf_band(rng=1, points=20, draws=100),
    "gini": lambda e: [e.gini(), e.gini_interval(), e.lorenz(Q)],
    "summary": lambda e: e.summary(),
}
OF_RECORDS = OF_COLUMN | {
    "pseudo-values": lambda e: e.pseudo_values(),
    "correlation": lambda e: [e.correlation(AGE), e.correlation_interval(AGE), e.covariance_interval(AGE)],
    "regression": lambda e: e.regress({"age": AGE}),
    "group means": lambda e: e.group_means(REGION),
    "total": lambda e: e.total(AGE),
}
OF_SCHEME: dict[str, Callable[[Any], Any]] = {
    "mask": lambda s: s.mask(X, rng=1, accept_visible_coins=True),
    "mask, two threads": lambda s: s.mask(X, rng=1, workers=2, accept_visible_coins=True),
    "audit": lambda s: cm.audit(X, s),
    "risk": lambda s: cm.risk(X, s, d=25.0),
    "plan": lambda s: str(cm.plan(X, p=[0.5, 0.7], sigma=[20.0, 40.0], d=25.0, max_risk={25.0: 0.9})),
    "study": lambda s: cm.simulate(cm.Resampled(X), {"cm": s}, **STUDY).sums,
}
OF_RELEASE: dict[str, Callable[[Any], Any]] = {
    "income": lambda r: r["income"].summary(),
    "age": lambda r: r["age"].quantile_interval(Q),
    "correlation": lambda r: r["income"].correlation("age"),
    "group means": lambda r: r["income"].group_means("region"),
    "regression": lambda r: r["income"].regress(["hours"]),
}


def subjects(folder: Path) -> dict[str, Subject]:
    """All objects; the release on disk is written into a folder."""
    path = folder / "released.csv"
    if not path.exists():
        released().write(path, ledger=False)
    return {
        "grid": Subject(lambda: estimate(scheme()), OF_RECORDS),
        "no grid, two threads": Subject(lambda: estimate(scheme(decimals=None, step=0.0), 2), OF_RECORDS),
        "Laplace": Subject(lambda: estimate(scheme(noise="laplace", donors="permutation")), OF_RECORDS),
        "strata": Subject(lambda: estimate(scheme(strata="region", donors="sample")), OF_RECORDS),
        "reverse mapping": Subject(lambda: estimate(scheme(decimals=None, reverse_mapping=True)), OF_RECORDS),
        "counts": Subject(lambda: counted(scheme()), OF_COLUMN),
        "values counted": Subject(lambda: counted(scheme(decimals=None, reverse_mapping=True)), OF_COLUMN),
        "scheme": Subject(scheme, OF_SCHEME),
        "release": Subject(released, OF_RELEASE),
        "release on disk": Subject(lambda: cm.read_release(path), OF_RELEASE),
    }


def answer(subject: Subject, name: str, one: Any) -> Any:
    """What a request gives, to the last bit; a refusal is an answer."""
    try:
        return bits(subject.requests[name](one))
    except ValueError as error:
        return repr(error)


def bits(found: Any) -> Any:
    """Something that is equal where and only where all bits of an answer are."""
    if isinstance(found, dict):
        return {key: bits(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [bits(value) for value in found]
    if isinstance(found, (float, np.ndarray, np.generic)):
        array = np.asarray(found)
        return array.dtype.str, array.shape, array.tobytes() if array.dtype != object else array.tolist()
    return (
        found
        if isinstance(found, (str, int))
        else bits(vars(found))
        if hasattr(found, "__dict__")
        else repr(found)
    )


class Storm:
    """Objects that were asked nothing yet, what each must answer, and who asks."""

    def __init__(self, chosen: dict[str, Subject], expected: dict[tuple[str, str], Any], seed: int) -> None:
        self.chosen, self.expected = chosen, expected
        self.ones = {name: subject.make() for name, subject in chosen.items()}
        self.random = np.random.default_rng(seed)

    def faults(self, asked: list[tuple[str, str]], *, anew: bool = False) -> list[str]:
        """The requests, of these, whose answers differ from those given alone."""
        return [
            f"{name}: {request}"
            for name, request in asked
            if self._answer(name, request, anew) != self.expected[name, request]
        ]

    def orders(self, count: int) -> list[list[tuple[str, str]]]:
        """All requests, in as many orders."""
        return [
            [list(self.expected)[k] for k in self.random.permutation(len(self.expected))]
            for _ in range(count)
        ]

    def rage(self, amid: Callable[[], list[str]] = list) -> list[str]:
        """Let all threads ask everything, while something else goes on; the faults of both."""
        together = Barrier(THREADS + 1)

        def ask(order: list[tuple[str, str]]) -> list[str]:
            together.wait()
            return self.faults(order)

        with switching(), ThreadPoolExecutor(THREADS) as pool:
            asking = [pool.submit(ask, order) for order in self.orders(THREADS)]
            together.wait()
            found = amid()
            return [*found, *(fault for one in asking for fault in one.result())]

    def _answer(self, name: str, request: str, anew: bool) -> Any:
        subject = self.chosen[name]
        return answer(subject, request, subject.make() if anew else self.ones[name])


@contextmanager
def switching() -> Iterator[None]:
    """Threads take turns so often that they meet within a line."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def alone(chosen: dict[str, Subject]) -> dict[tuple[str, str], Any]:
    """What each request gives from an object of its own that was asked nothing else."""
    return {
        (name, request): answer(subject, request, subject.make())
        for name, subject in chosen.items()
        for request in subject.requests
    }


def forked(work: Callable[[], Any]) -> Any:
    """The result of a function in a copy of this process; a message where it dies or does not end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(STUCK)
        os.close(reading)
        try:
            with os.fdopen(writing, "wb") as out:
                pickle.dump(work(), out)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as results:
        content = results.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return pickle.loads(content) if content else f"a forked process ended with {status}"


def key_drawn() -> str:
    """What tells a new key from others."""
    return hashlib.sha256(cm.Key().stream(0, 0).bytes(16)).hexdigest()


def child(storm: Storm, order: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """What a forked process draws, and its faults: of objects that threads are asking, and of its own."""
    half = len(order) // 2
    with ThreadPoolExecutor(4) as pool:
        lots = [order[k:half:4] for k in range(4)]
        shared = [fault for faults in pool.map(storm.faults, lots) for fault in faults]
    return key_drawn(), [*shared, *storm.faults(order[half:], anew=True)]


def children(storm: Storm, count: int, keys: set[str]) -> list[str]:
    """The faults of forked processes; their keys are added to those that nobody may draw again."""
    found = []
    for order in storm.orders(count):
        result = forked(partial(child, storm, order))
        if isinstance(result, str):
            found.append(result)
            continue
        for key in (result[0], key_drawn()):
            found += ["a key was drawn twice"] if key in keys else []
            keys.add(key)
        found += [f"in a forked process, {fault}" for fault in result[1]]
    return found


def in_pools() -> list[str]:
    """The start methods whose processes mask or estimate otherwise than this one."""
    of = scheme(decimals=None, step=0.0)
    many = np.tile(X, 600)  # three blocks
    expected = masked_and_estimated(of, many, 1)
    found = []
    for method in multiprocessing.get_all_start_methods():
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            found += [method] if masked_and_estimated(of, many, pool.map) != expected else []
    return found


def masked_and_estimated(of: cm.ConditionalMasking, x: np.ndarray, workers: Any) -> Any:
    """The bits of masked values, and of an estimate from them."""
    z = of.mask(x, rng=1, workers=workers, accept_visible_coins=True)
    return bits([z, of.estimate(z, workers=workers).quantile(Q)])


def main() -> int:
    """Run rounds until the time is over; the exit code is 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.threads", description=__doc__.partition(":")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="no round begins later (default: 60)")
    parser.add_argument("--children", type=int, default=2, help="forked in each round (default: 2)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    end, rounds, asked, keys = time.monotonic() + args.seconds, 0, 0, {key_drawn()}
    count = args.children if hasattr(os, "fork") else 0
    with tempfile.TemporaryDirectory(prefix="condmask-threads-") as folder:
        os.environ["XDG_STATE_HOME"] = folder
        chosen = subjects(Path(folder))
        expected, filters = alone(chosen), list(warnings.filters)
        faults: list[str] = []
        while not rounds or time.monotonic() < end:
            faulthandler.dump_traceback_later(STUCK, exit=True)
            storm = Storm(chosen, expected, args.seed + rounds)
            faults += storm.rage(partial(children, storm, count, keys))
            rounds, asked = rounds + 1, asked + (THREADS + count) * len(expected)
        faults += [] if warnings.filters == filters else ["the filters of warnings changed"]
        faults += [
            f"afterwards alone, {key}" for key, found in alone(chosen).items() if found != expected[key]
        ]
        faults += [f"processes started by {method}" for method in in_pools()]
    faulthandler.cancel_dump_traceback_later()
    for fault in sorted(set(faults)):
        print(f"{faults.count(fault)} x {fault}")
    print(f"{rounds:,} rounds of {THREADS} threads, {rounds * count:,} forked processes")
    print(f"{asked:,} answers, {len(faults):,} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
