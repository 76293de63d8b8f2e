"""The grid engine against KDEpy, sorting and data without a grid:
``python benchmarks/versus/grid.py``.

Medians of interleaved runs on fresh estimates, so that counting is inside the clock and
compilation is not. Answers are checked before they are timed. ``--before PATH`` compares data
without a grid with older code.
"""

from itertools import count

import numpy as np
import tables
from tables import Line
from unaudited import UNAUDITED

import condmask as cm

N = 1_000_000
P = 0.6
SIGMA = 1000.0
BANDWIDTH = 71.0
X = np.linspace(-3000.0, 3000.0, 1000)
SMOOTH_X = np.linspace(-6000.0, 6000.0, 1024)
DECILES = np.arange(1, 10) / 10
Q = np.arange(1, 1000) / 1000
TOL = 1e-10


def originals(n):
    """Columns to mask, by name."""
    rng = np.random.default_rng(1)
    plain = rng.laplace(10.0, SIGMA, n)
    wide = rng.lognormal(10.0, 0.9, n)
    return {
        "Laplace": plain,
        "two far clusters": plain + np.where(np.arange(n) % 2 == 0, 0.0, 1e9 * SIGMA),
        "half of them tied": np.where(np.arange(n) % 2 == 0, 0.0, plain),
        "one outlier at 1e12 sigma": np.append(plain[1:], 1e12 * SIGMA),
        "lognormal over 2000 sigma": wide * (2000.0 * SIGMA / wide.max()),
        "Cauchy": SIGMA * rng.standard_cauchy(n),
    }


def scheme(**grid):
    return cm.ConditionalMasking(P, SIGMA, **grid)


def analysis(z, workers=1, **grid):
    """T_1 at 1000 x and nine quantiles, from nothing but the masked values."""
    estimate = scheme(**grid).estimate(z, workers=workers)
    return estimate.cdf(X), estimate.quantile(DECILES)


def everything(z):
    """All of T: its values, both crossings at 999 probabilities, and its rearrangement."""
    estimate = scheme().estimate(z)
    return (
        estimate.cdf(X),
        estimate.quantile(Q),
        estimate.quantile(Q, crossing="rearranged"),
        estimate.cdf(X, monotone=True),
    )


def smoothed(z):
    """T_b with another bandwidth at every call, as other data would have."""
    counter = count()
    return lambda: scheme().estimate(z).cdf(SMOOTH_X, bandwidth=BANDWIDTH + 1e-4 * next(counter))


def check(z):
    """T against K summed at every pair, crossings against T."""
    estimate = scheme().estimate(z)
    x = X[::100]
    values, first, rearranged, monotone = everything(z)
    assert np.abs(values[::100] - estimate.cdf(x, method="series")).max() < 2 * TOL
    smooth = [estimate.cdf(x, bandwidth=BANDWIDTH, method=method) for method in ("auto", "series")]
    assert np.abs(smooth[0] - smooth[1]).max() < 2 * TOL
    assert (estimate.cdf(first) >= Q - TOL).all()
    assert (estimate.cdf(first - scheme().step) < Q - TOL).all()
    assert (np.diff(monotone) >= 0.0).all()
    # T counts as at least q from q - tol on, and the rearrangement is known to 1e-8
    assert (estimate.cdf(rearranged, monotone=True) >= Q - 2e-8).all()


def measure(args, n=N):
    from KDEpy import FFTKDE

    columns = {name: scheme().mask(x, rng=2, **UNAUDITED) for name, x in originals(n).items()}
    z = columns["Laplace"]
    check(z)
    t = tables.medians(
        {
            "sort": lambda: np.sort(z),
            "reduce": lambda: np.add.reduce(z),
            "FFTKDE": lambda: FFTKDE(kernel="gaussian", bw=BANDWIDTH).fit(z).evaluate(1024),
            "one": lambda: analysis(z),
            "two": lambda: analysis(z, workers=2),
            "T_b": smoothed(z),
            "all": lambda: everything(z),
            "without": lambda: analysis(z, step=0.0),
        },
        args.rounds,
    )
    lines = [
        Line("KDEpy's FFTKDE at 1024 points", 1e3 * t["FFTKDE"], unit="ms"),
        Line("np.sort", 1e3 * t["sort"], unit="ms"),
        Line("T_1 at 1000 x and nine quantiles, relative to FFTKDE", t["one"] / t["FFTKDE"], 0.8),
        Line("the same, two workers, relative to FFTKDE", t["two"] / t["FFTKDE"], 0.6),
        Line("T_b at 1024 x, relative to FFTKDE", t["T_b"] / t["FFTKDE"], 0.8),
        Line(
            "T_1, its rearrangement and 999 quantiles of both, relative to FFTKDE",
            t["all"] / t["FFTKDE"],
            1.2,
        ),
        Line("T_1 at 1000 x and nine quantiles, relative to np.sort", t["one"] / t["sort"]),
        Line("the same, relative to np.add.reduce", t["one"] / t["reduce"]),
        Line("the same, relative to the same data without a grid", t["one"] / t["without"]),
    ]
    names = ("two far clusters", "half of them tied", "one outlier at 1e12 sigma")
    calls = {name: (lambda z=columns[name]: analysis(z)) for name in ("Laplace", *names)}
    t = tables.medians(calls, args.rounds)
    lines += [
        Line(f"{name}, relative to Laplace data", t[name] / t["Laplace"], 3.0) for name in names
    ]
    for name in ("lognormal over 2000 sigma", "Cauchy"):
        z = columns[name]
        (values, _) = analysis(z)
        (plain, _) = analysis(z, step=0.0)
        # the half step between T_1 of rounded and of continuous data: T rises by at most .001 on
        # it here
        assert np.abs(values - plain).max() < 2e-3
        calls = {"grid": lambda z=z: analysis(z), "none": lambda z=z: analysis(z, step=0.0)}
        t = tables.medians(calls, args.rounds)
        lines.append(
            Line(f"{name}, relative to the same without a grid", t["grid"] / t["none"], 1.0)
        )
    if args.before:
        for name in ("Laplace", "lognormal over 2000 sigma", "Cauchy"):
            ratio = tables.to_before(__file__, args.before, name)
            lines.append(Line(f"{name} without a grid, relative to earlier code", ratio, 1.0))
    return lines


def alone(name):
    """Seconds of an analysis of data without a grid, with any version of the package."""
    x = originals(N)[name]
    rng = np.random.default_rng(3)
    swapped = rng.random(N) < P
    donor = rng.integers(0, N, N)
    z = np.where(swapped, x[donor], x + rng.normal(0.0, SIGMA, N))
    grid = {"step": 0.0} if hasattr(cm.ConditionalMasking, "grid") else {}
    return tables.medians({"": lambda: analysis(z, **grid)}, 7)[""]


if __name__ == "__main__":
    tables.main(__file__, measure, alone=alone)
