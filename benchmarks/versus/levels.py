"""Heaps and the log scale against plain noise: ``python benchmarks/versus/levels.py``.

Amounts of which half are round: multiples of 10 and of 100, as people give them.
"""

import numpy as np
import tables
from tables import Line

import condmask as cm

N, P, SIGMA = 1_000_000, 0.6, 4000.0
DECILES = np.arange(1, 10) / 10


def amounts(n):
    """Whole amounts, some multiples of 10 and of 100: three levels."""
    rng = np.random.default_rng(1)
    x, share = np.rint(rng.lognormal(10.0, 0.4, n)), rng.random(n)
    for least, heap in ((0.4, 10), (0.7, 100)):
        x = np.where(share > least, heap * np.rint(x / heap), x)
    return x


def check(schemes, x, points):
    """T is unbiased: within six standard errors of the file's own distribution function."""
    own = np.searchsorted(np.sort(x), points, side="right") / x.size
    for scheme in schemes.values():
        found = scheme.estimate(scheme.mask(x, accept_visible_coins=True)).cdf(points)
        # one weight is at most (1 + p) / (2 p) in size, so an estimate has a s.e. of less than
        assert np.abs(found - own).max() < 6.0 * (1.0 + P) / (2.0 * P) / np.sqrt(x.size) + 1e-3


def measure(args, n=N):
    x, points = amounts(n), np.linspace(0.0, 80_000.0, 1000)
    schemes = {
        "decimals": cm.ConditionalMasking(P, SIGMA, decimals=0),
        "heaps": cm.ConditionalMasking(P, SIGMA, decimals=0, heaps=100),
        "log": cm.ConditionalMasking(P, 0.3, scale="log"),
    }
    check(schemes, x, points)
    masked = {name: scheme.mask(x, accept_visible_coins=True) for name, scheme in schemes.items()}
    calls = {}
    for name, scheme in schemes.items():
        calls[f"mask {name}"] = lambda scheme=scheme: scheme.mask(x, accept_visible_coins=True)
        calls[f"T {name}"] = lambda scheme=scheme, z=masked[name]: scheme.estimate(z).cdf(points)
        calls[f"q {name}"] = lambda scheme=scheme, z=masked[name]: scheme.estimate(z).quantile(DECILES)
    t = tables.medians(calls, args.rounds)
    return [
        Line("masking with decimals", 1e3 * t["mask decimals"], unit="ms"),
        Line("masking with heaps, to that", t["mask heaps"] / t["mask decimals"], 1.3),
        Line("masking on the log scale, to that", t["mask log"] / t["mask decimals"]),
        Line("T_1 at 1000 x from values on one grid", 1e3 * t["T decimals"], unit="ms"),
        Line("T_1 from values with heaps of three levels, to that", t["T heaps"] / t["T decimals"], 2.0),
        Line("T_1 on the log scale, to that", t["T log"] / t["T decimals"]),
        Line("nine quantiles with heaps, to those on one grid", t["q heaps"] / t["q decimals"]),
        Line("nine quantiles on the log scale, to those on one grid", t["q log"] / t["q decimals"]),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure)
