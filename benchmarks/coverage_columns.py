"""Coverage of intervals of two masked columns, and of the logarithm of a masked column.

The studies `changes` and `logarithms` of `benchmarks.coverage`. Columns are lognormal. The second
is 1.1 times the first, with independent noise on the logarithm: a cell names its standard
deviation, relative to that of the logarithm. In the other study the logarithm has the slope .3 on
a column in clear.
"""

import numpy as np
import pandas as pd

import condmask as cm

TARGETS = ("population", "file")
SPREAD = 0.5  # of the logarithm


def scheme_of(kind, p):
    """A scheme with noise of standard deviation .3, of the logarithm after reverse mapping."""
    if kind == "reverse":
        return cm.ReverseMapping(float(p), 0.3, scale="log")
    return cm.ConditionalMasking(float(p), 0.3, donors=kind)


def holds(interval, aim):
    return interval.low <= aim <= interval.high


def changes(rng, noise, kind, p, n):
    """The difference and the ratio of the means of two columns masked together."""
    first = SPREAD * rng.normal(size=int(n))
    added = SPREAD * float(noise)
    before = np.exp(first)
    after = 1.1 * np.exp(first + added * rng.normal(size=int(n)))
    scheme = scheme_of(kind, p)
    table = pd.DataFrame({"before": before, "after": after})
    schemes = dict.fromkeys(table, scheme)
    release = cm.mask_table(table, schemes, rng=int(rng.integers(2**62)), accept="all")
    mean = np.exp(0.5 * SPREAD**2)
    ratio = 1.1 * np.exp(0.5 * added**2)
    of_population = (mean * (ratio - 1.0), ratio)
    of_file = (after.mean() - before.mean(), after.mean() / before.mean())
    for target, (apart, times) in zip(TARGETS, (of_population, of_file), strict=True):
        if kind == "reverse" and target == "file":
            continue  # exact
        yield "difference", holds(release.difference("after", "before", target=target), apart)
        yield "ratio", holds(release.ratio("after", "before", target=target), times)


def logarithms(rng, p, n):
    """The logarithm of a column that reverse mapping released: alone, and with others."""
    w = rng.normal(size=int(n))
    y = 3.0 + 0.3 * w + SPREAD * rng.normal(size=int(n))
    scheme = scheme_of("reverse", p)
    z = scheme.mask(np.exp(y), rng=int(rng.integers(2**62)), accept="all")
    estimate = scheme.estimate(z).map(np.log)
    spread = np.hypot(0.3, SPREAD)
    yield "mean", holds(estimate.mean_interval(), 3.0)
    yield "s.d.", holds(estimate.std_interval(), spread)
    yield "median", holds(estimate.quantile_interval(0.5), 3.0)
    yield "correlation", holds(estimate.correlation_interval(w), 0.3 / spread)
    for target, aim in zip(TARGETS, (0.3, np.polyfit(w, y, 1)[0]), strict=True):
        yield "slope", holds(estimate.regress({"w": w}, target=target)["w"], aim)
