"""Groups, regressions and pairs of columns against NumPy: ``python benchmarks/versus/linear.py``.

A million records and ten columns that were not masked; estimates of masked values, their intervals
included. After reverse mapping what undoes it is found once for a column, and timed by itself.
"""

import numpy as np
import pandas as pd
import tables
from tables import Line
from unaudited import UNAUDITED

import condmask as cm
from condmask.linear.records import Records
from condmask.reverse_mapping.pseudo_values import ReverseMapped

N = 1_000_000
COLUMNS = 10
SIGMA = 1.0


def file(n, mapped, **options):
    """Columns, an original that depends on them, and the estimate of its release."""
    rng = np.random.default_rng(1)
    W = rng.normal(size=(n, COLUMNS)) + 5.0
    x = W.sum(axis=1) + rng.normal(size=n)
    make = cm.ReverseMapping if mapped else cm.ConditionalMasking
    scheme = make(0.6, SIGMA, **options)
    return W, x, scheme.estimate(scheme.mask(x, rng=1, **UNAUDITED))


def check(W, x, estimate):
    """Coefficients are those of the originals, to five standard errors; and those that lstsq
    has."""
    design = np.column_stack([np.ones(len(W)), W])
    found = estimate.regress(W, target="file")
    true = np.linalg.lstsq(design, x, rcond=None)[0]
    assert (np.abs(found.estimate - true) < 5.0 * found.standard_error).all()
    plain = np.linalg.lstsq(design, estimate.pseudo_values(), rcond=None)[0]
    assert np.abs(found.estimate - plain).max() < 1e-9 * np.abs(plain).max()
    return design


def measure(args, n=N):
    from KDEpy import FFTKDE

    calls = {}
    releases = {
        "reverse": {},
        "sample": {"donors": "sample"},
        "permutation": {"donors": "permutation"},
    }
    for name, options in releases.items():
        W, x, estimate = file(n, name == "reverse", **options)
        design = check(W, x, estimate)
        calls[name] = lambda W=W, estimate=estimate: estimate.regress(W)
        if name == "reverse":
            z = estimate.scheme.mask(x, rng=2, **UNAUDITED)
            scheme = estimate.scheme
    frame = pd.DataFrame(W)
    groups = np.random.default_rng(2).integers(0, 100, n)
    other = W[:, 0].copy()
    calls |= {
        "FFTKDE": lambda: FFTKDE(kernel="gaussian", bw=0.3).fit(z).evaluate(1024),
        "undo": lambda: ReverseMapped(Records(z), scheme).h,
        "first": lambda: scheme.estimate(z).pseudo_values(),
        "lstsq": lambda: np.linalg.lstsq(design, x, rcond=None),
        "frame": lambda: estimate.regress(frame),
        "groups": lambda: estimate.group_means(groups),
        "weighted": lambda: estimate.weighted_mean(other**2),
        "covariance": lambda: estimate.covariance(other),
        "covariance interval": lambda: estimate.covariance_interval(other),
        "correlation interval": lambda: estimate.correlation_interval(other),
    }
    t = tables.medians(calls, args.rounds)
    ratios = {name: t[name] / t["lstsq"] for name in ("sample", "permutation", "reverse", "frame")}
    return [
        Line("lstsq on ten columns and a constant", 1e3 * t["lstsq"], unit="ms"),
        Line("regress on them, relative to that", ratios["sample"], 2.0),
        Line("regress, donors from a permutation, relative to that", ratios["permutation"], 2.0),
        Line(
            "regress after reverse mapping, with pseudo-values at hand, relative to that",
            ratios["reverse"],
            2.0,
        ),
        Line("regress on a data frame, relative to that", ratios["frame"], 2.0),
        Line("means of 100 groups", 1e3 * t["groups"], unit="ms"),
        Line("a weighted mean", 1e3 * t["weighted"], unit="ms"),
        Line(
            "M and h after reverse mapping, relative to KDEpy's FFTKDE",
            t["undo"] / t["FFTKDE"],
            10.0,
        ),
        Line(
            "pseudo-values and their variances, starting from the released column, relative to that",
            t["first"] / t["FFTKDE"],
        ),
        Line("covariance", 1e3 * t["covariance"], unit="ms"),
        Line("its interval, relative to that", t["covariance interval"] / t["covariance"]),
        Line(
            "the interval of the correlation, relative to that",
            t["correlation interval"] / t["covariance"],
        ),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure)
