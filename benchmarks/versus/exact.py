"""One column after reverse mapping against KDEpy and NumPy: ``python benchmarks/versus/exact.py``.

Medians of interleaved runs on fresh estimates, one worker. Answers are checked before they are
timed.
"""

import numpy as np
import tables
from tables import Line

import condmask as cm

N = 1_000_000
DECILES = np.arange(1, 10) / 10
SCHEME = cm.ReverseMapping(0.6, 0.3, scale="log")


def columns(n):
    """Released columns, by name: their order is of no consequence."""
    rng = np.random.default_rng(1)
    return {
        "Laplace": rng.laplace(10.0, 1000.0, n),
        "lognormal": rng.lognormal(7.0, 0.9, n),
        "heaped at tens": rng.lognormal(7.0, 0.5, n).round(-1),
        "heaped at hundreds": rng.lognormal(7.0, 0.5, n).round(-2),
    }


def analysis(z):
    """Mean, s.d. and nine quantiles, from nothing but the released values."""
    estimate = SCHEME.estimate(z)
    return estimate.mean(), estimate.std(), estimate.quantile(DECILES)


def counted(z):
    """The same from ten parts, counted by value."""
    counts = cm.Counts(SCHEME)
    for part in np.array_split(z, 10):
        counts.update(part)
    estimate = SCHEME.estimate(counts)
    return estimate.mean(), estimate.std(), estimate.quantile(DECILES)


def numpy(z):
    return z.mean(), z.std(ddof=1), np.quantile(z, DECILES, method="inverted_cdf")


def check(z):
    """To NumPy within rounding; the same bits from parts of the values in another order."""
    found = analysis(z)
    own = numpy(z)
    size = np.abs(z).max()
    assert abs(found[0] - own[0]) <= 1e-12 * size
    assert abs(found[1] - own[1]) <= 1e-12 * size
    assert np.array_equal(found[2], own[2])
    again = counted(z[::-1])
    assert found[:2] == again[:2]
    assert np.array_equal(found[2], again[2])


def measure(args, n=N):
    from KDEpy import FFTKDE

    lines = []
    for name, z in columns(n).items():
        check(z)
        calls = {
            "FFTKDE": lambda z=z: FFTKDE(kernel="gaussian", bw=71.0).fit(z).evaluate(1024),
            "exact": lambda z=z: analysis(z),
            "numpy": lambda z=z: numpy(z),
            "parts": lambda z=z: counted(z),
        }
        t = tables.medians(calls, args.rounds)
        lines += [
            Line(f"{name}: KDEpy's FFTKDE at 1024 points", 1e3 * t["FFTKDE"], unit="ms"),
            Line(
                "mean, s.d. and nine quantiles, relative to FFTKDE", t["exact"] / t["FFTKDE"], 1.0
            ),
            Line("the same, relative to NumPy's", t["exact"] / t["numpy"], 1.0),
            Line(
                "the same from Counts of ten parts, relative to NumPy's", t["parts"] / t["numpy"]
            ),
        ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure)
