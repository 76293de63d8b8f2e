"""Intervals and bands against the estimates alone: ``python benchmarks/versus/intervals.py``.

A million incomes. Calls begin with the masked column, so nothing is known from the one before.
"""

import numpy as np
import tables
from tables import Line

import condmask as cm

N = 1_000_000
SIGMA = 1_500.0
DECILES = np.arange(1, 10) / 10
SHARES = (0.1, 0.5, 0.9)


def file(n, p=0.6, donors="sample"):
    """An original, a scheme and a release."""
    x = np.random.default_rng(1).lognormal(8.0, 0.6, n)
    scheme = cm.ConditionalMasking(p, SIGMA, donors=donors)
    return x, scheme, scheme.mask(x, rng=1)


def check(x, estimate, points):
    """Intervals for the file hold what it has, at twice the width; so does the band."""
    quantiles = estimate.quantile_interval(DECILES, target="file")
    cdf = estimate.cdf_interval(points, target="file")
    true = np.searchsorted(np.sort(x), points, side="right") / x.size
    for found, truth in ((quantiles, np.quantile(x, DECILES)), (cdf, true)):
        assert (
            np.abs(found.estimate - truth) <= 5.0 * found.standard_error + 1e-6 * np.abs(truth)
        ).all()
    band = estimate.cdf_band(target="file", rng=1)
    assert np.abs(estimate.cdf(points, monotone=True) - true).max() < 2.0 * band.half_width
    ordered = np.sort(x)
    rank = np.arange(1, x.size + 1)
    gini = float((2.0 * rank - x.size - 1.0) @ ordered / (x.size * (x.size - 1.0) * x.mean()))
    lorenz = np.interp(SHARES, rank / x.size, np.cumsum(ordered) / ordered.sum())
    for found, truth in (
        (estimate.gini_interval(target="file"), gini),
        (estimate.lorenz_interval(SHARES, target="file"), lorenz),
    ):
        assert (np.abs(found.estimate - truth) <= 5.0 * found.standard_error).all()


def measure(args, n=N):
    calls = {}
    for name, options in (
        ("", {}),
        (", p = .3", {"p": 0.3}),
        (", permutation", {"donors": "permutation"}),
    ):
        x, scheme, z = file(n, **options)
        points = np.quantile(x, np.linspace(0.001, 0.999, 1_000))
        check(x, scheme.estimate(z), points)

        def alone(scheme=scheme, z=z, points=points):
            estimate = scheme.estimate(z)
            return estimate.quantile(DECILES), estimate.cdf(points)

        def intervals(scheme=scheme, z=z, points=points):
            estimate = scheme.estimate(z)
            return estimate.quantile_interval(DECILES), estimate.cdf_interval(points)

        def band(scheme=scheme, z=z):
            return scheme.estimate(z).cdf_band(rng=1)

        calls |= {f"alone{name}": alone, f"intervals{name}": intervals, f"band{name}": band}
    _, scheme, z = file(n)
    estimate = scheme.estimate(z)
    calls |= {
        "gini": lambda: scheme.estimate(z).gini(),
        "gini interval": lambda: scheme.estimate(z).gini_interval(),
        "lorenz": lambda: scheme.estimate(z).lorenz(SHARES),
        "lorenz interval": lambda: scheme.estimate(z).lorenz_interval(SHARES),
        "log interval": lambda: scheme.estimate(z).expectation_interval(
            lambda x: np.log(np.maximum(x, 500.0))
        ),
        "mean interval": lambda: scheme.estimate(z).mean_interval(),
        "summary": lambda: estimate.summary(),
    }
    t = tables.medians(calls, args.rounds)
    found = []
    for name in ("", ", p = .3", ", permutation"):
        base = t[f"alone{name}"]
        found += [
            Line(f"nine quantiles and 1000 points of T{name}", 1e3 * base, unit="ms"),
            Line(f"their intervals{name}, relative to that", t[f"intervals{name}"] / base, 2.0),
            Line(f"a band{name}, relative to that", t[f"band{name}"] / base, 20.0),
        ]
    return [
        *found,
        Line("Gini coefficient", 1e3 * t["gini"], unit="ms"),
        Line("its interval", 1e3 * t["gini interval"], unit="ms"),
        Line("three ordinates of the Lorenz curve", 1e3 * t["lorenz"], unit="ms"),
        Line("their intervals", 1e3 * t["lorenz interval"], unit="ms"),
        Line("interval for the mean of the logarithm", 1e3 * t["log interval"], unit="ms"),
        Line("interval for the mean", 1e3 * t["mean interval"], unit="ms"),
        Line("summary() of an existing estimate", 1e3 * t["summary"], unit="ms"),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure)
