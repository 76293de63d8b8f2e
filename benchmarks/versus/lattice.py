"""Data without a grid: the lattice against sorting, KDEpy and pairs: ``python benchmarks/versus/lattice.py``.

As ``grid.py``, of schemes with ``step=0``.
"""

from itertools import count

import numpy as np
import tables
from tables import Line

import condmask as cm

N, SIGMA, BANDWIDTH = 1_000_000, 1000.0, 87.0
DECILES, X = np.arange(1, 10) / 10, np.linspace(-3000.0, 3000.0, 1000)


def scheme(p=0.6):
    return cm.ConditionalMasking(p, SIGMA, step=0.0)


def masked(n, p=0.6):
    return scheme(p).mask(np.random.default_rng(1).laplace(10.0, 1000.0, n), rng=2, accept_visible_coins=True)


def analysis(z, p=0.6, x=X, q=DECILES, workers=1, method="lattice"):
    """T_1 at x and quantiles, from nothing but the masked values."""
    estimate = scheme(p).estimate(z, workers=workers)
    found = estimate.cdf(x, method=method)
    return found, None if q is None else estimate.quantile(q)


def smoothed(z, grid):
    """T_b with another bandwidth at every call, as other data would have."""
    counter = count()
    return lambda: scheme().estimate(z).cdf(grid, bandwidth=BANDWIDTH + 1e-4 * next(counter))


def measure(args, n=N):
    from KDEpy import FFTKDE

    z = masked(n)
    exact = scheme().estimate(z).cdf(X[::100], method="interpolant")
    assert np.abs(analysis(z)[0][::100] - exact).max() < 2e-10
    grid = np.linspace(z.min() - 1.0, z.max() + 1.0, 1024)
    p501, p9 = masked(n, 0.501), masked(n, 0.9)
    few, many = np.linspace(-3000, 3000, 10), np.linspace(-3000, 3000, n // 10)
    t = tables.medians(
        {
            "sort": lambda: np.sort(z),
            "reduce": lambda: np.add.reduce(z),
            "one": lambda: analysis(z),
            "two": lambda: analysis(z, workers=2),
            "FFTKDE": lambda: FFTKDE(kernel="gaussian", bw=BANDWIDTH).fit(z).evaluate(1024),
            "T_b": smoothed(z, grid),
            ".501": lambda: analysis(p501, 0.501),
            ".9": lambda: analysis(p9, 0.9),
            "few": lambda: analysis(z, x=few, q=None),
            "many": lambda: analysis(z, x=many, q=None),
            "1000 x": lambda: analysis(z, q=None),
        },
        args.rounds,
    )
    slow = tables.medians(
        {
            "series": lambda: analysis(z, x=few[:1], q=None, method="series"),
            "interpolant": lambda: analysis(z, x=few, q=None, method="interpolant"),
        },
        3,
    )
    lines = [
        Line("np.sort", t["sort"] * 1e3, unit="ms"),
        Line("T_1 at 1000 x and nine quantiles, relative to np.sort", t["one"] / t["sort"], 2.0),
        Line("the same, two workers", t["two"] / t["sort"], 1.2),
        Line("the same, one worker, relative to np.add.reduce", t["one"] / t["reduce"]),
        Line("T_b at 1024 x, relative to KDEpy's FFTKDE", t["T_b"] / t["FFTKDE"], 1.5),
        Line(f"{n // 10:,} points, relative to 10 points", t["many"] / t["few"], 2.0),
        Line("p = .501, relative to p = .9", t[".501"] / t[".9"], 1.2),
        Line("summed series at 1000 x (timed at 1)", 1000 * slow["series"] / t["1000 x"], least=5000.0),
        Line("interpolant at 1000 x (timed at 10)", 100 * slow["interpolant"] / t["1000 x"], least=50.0),
    ]
    if args.long:
        small, large = masked(n // 10), masked(10 * n)
        t = tables.medians({"small": lambda: analysis(small), "large": lambda: analysis(large)}, 5)
        lines.append(Line(f"n = {10 * n:,}, relative to n = {n // 10:,}", t["large"] / t["small"], 110.0))
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure)
