"""The lattice against sorting, a peer and the other engines: ``python benchmarks/versus/lattice.py``.

Medians of interleaved runs on fresh estimates, so that sorting and power sums are inside the clock and
compilation is not. Answers are checked before they are timed. KDEpy is needed for one row.
"""

import statistics
import time

import llvmlite.binding as llvm
import numpy as np
from KDEpy import FFTKDE

import condmask as cm

SIGMA = 1000.0
DECILES = np.arange(1, 10) / 10
X = np.linspace(-3000.0, 3000.0, 1000)


def masked(n, p=0.6):
    x = np.random.default_rng(1).laplace(10.0, 1000.0, n)
    return cm.ConditionalMasking(p, SIGMA).mask(x, rng=2)


def analysis(z, p=0.6, x=X, q=DECILES, workers=1, method="lattice"):
    """T_1 at x and quantiles, from nothing but the masked values."""
    estimate = cm.ConditionalMasking(p, SIGMA).estimate(z, workers=workers)
    found = estimate.cdf(x, method=method)
    return found, None if q is None else estimate.quantile(q)


def medians(calls, rounds):
    """Median seconds of each call, one after the other in every round."""
    taken = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def smoothed(z, grid):
    """T_b with another bandwidth at every call, as another data set would have."""
    counter = iter(range(1_000_000))

    def call():
        estimate = cm.ConditionalMasking(0.6, SIGMA).estimate(z)
        return estimate.cdf(grid, bandwidth=87.0 + 1e-4 * next(counter), method="lattice")

    return call


def main():
    features = [name for name in ("avx2", "avx512f") if llvm.get_host_cpu_features().get(name)]
    print(f"processor: {llvm.get_host_cpu_name()}, {', '.join(features)}; NumPy {np.__version__}")
    z = masked(1_000_000)
    grid = np.linspace(z.min() - 1.0, z.max() + 1.0, 1024)
    exact = cm.ConditionalMasking(0.6, SIGMA).estimate(z).cdf(X[::100], method="interpolant")
    assert np.abs(analysis(z)[0][::100] - exact).max() < 2e-10
    small, large = masked(100_000), masked(10_000_000)
    p501, p9 = masked(1_000_000, 0.501), masked(1_000_000, 0.9)
    few, many = np.linspace(-3000, 3000, 10), np.linspace(-3000, 3000, 100_000)

    t = medians(
        {
            "sort": lambda: np.sort(z),
            "reduce": lambda: np.add.reduce(z),
            "one": lambda: analysis(z),
            "two": lambda: analysis(z, workers=2),
            "fftkde": lambda: FFTKDE(kernel="gaussian", bw=87.0).fit(z).evaluate(grid),
            "T_b": smoothed(z, grid),
            ".501": lambda: analysis(p501, 0.501),
            ".9": lambda: analysis(p9, 0.9),
            "few": lambda: analysis(z, x=few, q=None),
            "many": lambda: analysis(z, x=many, q=None),
            "1000 x": lambda: analysis(z, q=None),
        },
        15,
    )
    growth = medians({"1e5": lambda: analysis(small), "1e7": lambda: analysis(large)}, 5)
    slow = medians(
        {
            "series": lambda: analysis(z, x=few[:1], q=None, method="series"),
            "interpolant": lambda: analysis(z, x=few, q=None, method="interpolant"),
        },
        3,
    )
    rows = [
        ("np.sort of 1e6, ms", t["sort"] * 1e3, ""),
        ("T_1 at 1000 x + nine quantiles / np.sort", t["one"] / t["sort"], "<= 2.0"),
        ("the same, two workers", t["two"] / t["sort"], "<= 1.2"),
        ("the same, one worker / np.add.reduce", t["one"] / t["reduce"], ""),
        ("T_b at 1024 x / FFTKDE", t["T_b"] / t["fftkde"], "<= 1.5"),
        ("n = 1e7 / n = 1e5", growth["1e7"] / growth["1e5"], "<= 110"),
        ("1e5 points / 10 points", t["many"] / t["few"], "<= 2"),
        ("p = .501 / p = .9", t[".501"] / t[".9"], "<= 1.2"),
        ("summed series at 1000 x (timed at 1) / lattice", 1000 * slow["series"] / t["1000 x"], ">= 5000"),
        ("interpolant at 1000 x (timed at 10) / lattice", 100 * slow["interpolant"] / t["1000 x"], ">= 50"),
    ]
    for name, value, asked in rows:
        print(f"{name:50}  {value:10.4g}  {asked}")


if __name__ == "__main__":
    main()
