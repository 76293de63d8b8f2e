"""Studies of coverage for `benchmarks.coverage`: distributions of groups, comparisons, statistics
of income.

Membership goes with the column: its chance falls as the values rise, from .6 to 0 over some two
standard deviations. What intervals should cover in the population is taken from a million draws.
"""

import functools

import numpy as np

import condmask as cm
from benchmarks.laws import LAWS

SIGMA = 0.3  # in standard deviations of the data
DRAWS = 1_000_000
AT = (0.1, 0.5, 0.9)
TARGETS = ("population", "file")
INCOME = ("poverty rate", "poverty gap", "S80/S20", "P90/P10", "interquartile range", "Theil")


def members(law, x, rng):
    """Whether records belong to the group."""
    place = (x - LAWS[law].mean()) / LAWS[law].std()
    return rng.random(x.size) < 0.6 / (1.0 + np.exp(1.5 * place))


def weights_of(law, x, rng):
    """Sampling weights that rise with the column."""
    return 1.0 + rng.random(x.size) + (x > LAWS[law].mean())


def released(law, kind, p, x, rng):
    """The estimate from one release of a column."""
    grid = {} if kind == "reverse" else LAWS[law].grid
    scheme_class = cm.ReverseMapping if kind == "reverse" else cm.ConditionalMasking
    scheme = scheme_class(float(p), SIGMA * LAWS[law].std(), **grid)
    seed = int(rng.integers(2**63))
    return cm.mask_table({"x": x}, {"x": scheme}, rng=seed, accept="all")["x"]


@functools.lru_cache
def draws(law):
    """Many values of a law, their membership and weights."""
    rng = np.random.default_rng(5)
    x = LAWS[law].law.rvs(DRAWS, rng)
    return x, members(law, x, rng), weights_of(law, x, rng)


@functools.lru_cache
def points(law):
    """Quantiles of the group in the population."""
    x, member, _ = draws(law)
    return np.quantile(x[member], AT, method="inverted_cdf")


def aims_of_domains(law, x, member, weights):
    """What intervals of the study of groups should cover."""
    t = points(law)
    shares = [np.mean(x[member] <= one) for one in t]
    median = np.quantile(x[member], 0.5, method="inverted_cdf")
    return {
        **{f"cdf at {q:g}": share for q, share in zip(AT, shares, strict=True)},
        "median": median,
        "weighted cdf": float(weights[x <= t[1]].sum() / weights.sum()),
    }


def domains(rng, law, kind, p, n):
    """The distribution of a group, and of all records with weights."""
    x = LAWS[law].law.rvs(int(n), rng)
    member = members(law, x, rng)
    weights = weights_of(law, x, rng)
    estimate = released(law, kind, p, x, rng)
    t = points(law)
    of_population = aims_of_domains(law, *draws(law))
    of_file = aims_of_domains(law, x, member, weights)
    for target, aims in zip(TARGETS, (of_population, of_file), strict=True):
        cdf = estimate.group_cdf(member, t, target=target)
        found = {
            **{f"cdf at {q:g}": cdf[True, at] for q, at in zip(AT, t.tolist(), strict=True)},
            "median": estimate.group_quantiles(member, target=target)[True],
            "weighted cdf": estimate.weighted_cdf(weights, t[1], target=target),
        }
        for statistic, interval in found.items():
            yield statistic, covers(interval, aims[statistic])


def contrasts(rng, law, kind, p, n):
    """Differences of two groups, of means and of medians; and two errors combined as if means
    were independent."""
    x = LAWS[law].law.rvs(int(n), rng)
    member = members(law, x, rng)
    estimate = released(law, kind, p, x, rng)
    many, chosen, _ = draws(law)
    for target, (values, inside) in zip(TARGETS, ((many, chosen), (x, member)), strict=True):
        one, other = values[inside], values[~inside]
        means = estimate.group_means(member, target=target)
        medians = estimate.group_quantiles(member, target=target)
        apart = one.mean() - other.mean()
        yield "means", covers(means.difference(True, False), apart)
        yield "ratio of means", covers(means.ratio(True, False), one.mean() / other.mean())
        middle = (np.quantile(each, 0.5, method="inverted_cdf") for each in (one, other))
        yield "medians", covers(medians.difference(True, False), next(middle) - next(middle))
        combined = 1.96 * np.hypot(*means.standard_error)
        yield (
            "errors combined",
            abs(means[True].estimate - means[False].estimate - apart) <= combined,
        )


def aims_of_income(x, line):
    """Statistics of income by their definitions."""
    x = np.sort(x)
    low, high, tenth, ninth, lower, upper = np.quantile(x, [0.2, 0.8, 0.1, 0.9, 0.25, 0.75])
    bottom = np.mean(np.minimum(x - low, 0.0)) + 0.2 * low
    relative = x / x.mean()
    return {
        "poverty rate": np.mean(x <= line),
        "poverty gap": np.mean(np.maximum(1.0 - x / line, 0.0)),
        "S80/S20": (np.mean(np.maximum(x - high, 0.0)) + 0.2 * high) / bottom,
        "P90/P10": ninth / tenth,
        "interquartile range": upper - lower,
        "Theil": np.mean(relative * np.log(relative)),
    }


def income(rng, law, kind, p, n):
    """Statistics of income of all records and of a group, about the population."""
    x = LAWS[law].law.rvs(int(n), rng)
    member = members(law, x, rng)
    estimate = released(law, kind, p, x, rng)
    many, chosen, _ = draws(law)
    line = 0.6 * np.median(many)
    for name, aim in aims_of_income(many, line).items():
        yield name, covers(estimate.income_statistics(name)[name], aim)
    found = estimate.group_income_statistics(member, INCOME)
    for name, aim in aims_of_income(many[chosen], line).items():
        yield f"group: {name}", covers(found[True, name], aim)


def covers(interval, aim):
    """Whether an interval holds its aim, to rounding."""
    slight = 1e-9 * abs(aim)
    return bool(interval.low - slight <= aim <= interval.high + slight)
