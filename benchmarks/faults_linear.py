"""Intervals of groups, correlations, shares and in heavy tails, as they were and as they are.

    python -m benchmarks.faults_linear FOLDER --write docs/measured/interval_faults_linear.rst

Each cell is a case for which an earlier rule failed, or of which a warning speaks; what that rule gave, from
the same files, stands beside it. Cells are kept in FOLDER when they are done and not computed again.
``--only correlation`` takes some, ``--replications 0`` writes the table of those that are there.
"""

import math
import warnings

import numpy as np
from scipy import stats

import condmask as cm
from benchmarks import mended
from benchmarks.cells import command
from condmask.estimates.origin import Origin

NORMAL = 1.959963985
LAWS = {  # with variance 1
    "normal": stats.norm(),
    "uniform": stats.uniform(0.0, math.sqrt(12.0)),
    "laplace": stats.laplace(0.0, math.sqrt(0.5)),
    "lognormal": stats.lognorm(0.6, 0.0, 1.0 / stats.lognorm(0.6).std()),
    "t4": stats.t(4.0, 0.0, math.sqrt(0.5)),
    "pareto3": stats.pareto(3.0, 0.0, 1.0 / math.sqrt(0.75)),
}


# --- cells ---
# A trial takes a seeded generator and gives, for one file and each statistic, whether the interval covers,
# how long it is, and whether that for the same statistic of the unmasked file covers (NaN: there is none).


def groups(law, n, p, donors="sample"):
    """Means of small groups of the original file, and one by weights of four records."""
    scheme = cm.ConditionalMasking(p, 0.7, donors=donors)
    sizes = (1, 2, 3, 5, 20)
    label = np.repeat(np.arange(6), [*sizes, n - sum(sizes)])
    weights = np.where(np.arange(n) < 4, np.arange(n) + 1.0, 0.0)

    def trial(rng):
        x = law.rvs(n, rng)
        estimate = scheme.estimate(scheme.mask_rows(x[None], rng, ())[0])
        found = estimate.group_means(label, target="file")
        one = estimate.weighted_mean(weights, target="file")
        aim = np.array([*(x[label == k].mean() for k in range(5)), weights @ x / weights.sum()])
        low, high = np.append(found.low[:5], one.low), np.append(found.high[:5], one.high)
        return _covers(low, aim, high), high - low, np.full(6, np.nan)

    return (*(f"group of {size}, file" for size in sizes), "four weights, file"), trial


def correlations(law, n, p, r, sigma=0.7, joint=False, donors="sample"):
    """Of a column with another, that was masked together with it or not at all."""
    scheme = cm.ConditionalMasking(p, sigma, donors=donors)

    def trial(rng):
        x, e = law.rvs((2, n), rng)
        w = r * x + math.sqrt(1.0 - r * r) * e
        estimate, *others = masked_together(rng, scheme, (x, w) if joint else (x,))
        other = others[0] if joint else w
        own, reach = np.corrcoef(x, w)[0, 1], NORMAL / math.sqrt(n - 3)
        population, file = (
            estimate.correlation_interval(other, target=target) for target in ("population", "file")
        )
        covered = [
            population.low <= r <= population.high, file.low <= own <= file.high,
            population.low <= population.estimate <= population.high,
        ]  # fmt: skip
        lengths = population.high - population.low, file.high - file.low, np.nan
        unmasked = math.tanh(math.atanh(own) - reach) <= r <= math.tanh(math.atanh(own) + reach)
        return covered, lengths, (unmasked, np.nan, np.nan)

    return ("population", "file", "holds its estimate"), trial


def masked_together(rng, scheme, columns):
    """Estimates of columns masked on the scheme's grid, by eq. (1) or by a cycle through swapped records."""
    n, law = columns[0].size, scheme.law
    swapped = rng.random(n) < scheme.p
    if scheme.donors == "permutation":
        cycle, donor = rng.permutation(np.flatnonzero(swapped)), np.arange(n)
        donor[cycle] = np.roll(cycle, 1)
    else:
        donor = (np.arange(n) + rng.integers(1, n, n)) % n
    found = []
    for x in columns:
        z = np.where(swapped, x[donor], x + scheme.sigma * rng.normal(size=n))
        estimate = scheme.estimate(law.from_units(law.to_units(z)))
        estimate.origin = Origin("g")
        found.append(estimate)
    return found


def shares(n, p, sigma):
    """Gini coefficient and Lorenz curve of incomes of which a fifth are 0, the others exponential."""
    scheme = cm.ConditionalMasking(p, sigma, donors="sample", step=0.25)
    q = (0.5, 0.9)
    # 1 - F = .8 exp(-x): Gini = 1 - int (1 - F)^2 / int (1 - F), and L = 1 - int_q^1 of the quantile / .8
    aim = np.array([0.6, *(1.0 - (1.0 - s) * (1.0 + math.log(0.8 / (1.0 - s))) / 0.8 for s in q)])

    def trial(rng):
        x = np.where(rng.random(n) < 0.2, 0.0, rng.exponential(10.0, n))
        x = 0.25 * np.rint(4.0 * x)
        estimate = scheme.estimate(scheme.mask_rows(x[None], rng, ())[0])
        try:
            gini, lorenz = estimate.gini_interval(), estimate.lorenz_interval(q)
        except ValueError:  # a mean that is estimated negative
            return (np.full(5, np.nan),) * 3
        low, high = np.append(gini.low, lorenz.low), np.append(gini.high, lorenz.high)
        possible = (low >= 0.0) & (high <= (1.0, *q))
        covered = [*_covers(low, aim, high), possible[0], possible[1:].all()]
        return covered, [*(high - low), np.nan, np.nan], np.full(5, np.nan)

    return ("Gini", "Lorenz 0.5", "Lorenz 0.9", "Gini within [0, 1]", "Lorenz within [0, q]"), trial


def tails(law, n, p):
    """Variance, the slope on a column of the same law, and how often heavy tails are warned of."""
    scheme = cm.ConditionalMasking(p, 0.7, donors="sample")

    def trial(rng):
        w, e = law.rvs((2, n), rng)
        x = 0.6 * w + 0.8 * (e - law.mean()) + 0.4 * law.mean()
        estimate = scheme.estimate(scheme.mask_rows(x[None], rng, ())[0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            variance = estimate.variance_interval()
        spoken = bool(caught)
        line = estimate.regress(w)["w1"]
        found = variance.low <= 1.0 <= variance.high, line.low <= 0.6 <= line.high, spoken
        lengths = variance.high - variance.low, line.high - line.low, np.nan
        return found, lengths, (*_plain(x, w), np.nan)

    return ("variance", "slope", "variance warned of"), trial


def _plain(x, w):
    """Whether the intervals of variance and slope (HC3) of an unmasked file cover."""
    n, u, v = x.size, x - x.mean(), w - w.mean()
    s2 = u @ u / (n - 1)
    factor = math.exp(NORMAL * math.sqrt(max(np.mean(u**4) / s2**2 - 1.0, 0.0) / n))
    slope = u @ v / (v @ v)
    residual = (u - slope * v) / (1.0 - 1.0 / n - v**2 / (v @ v))
    reach = stats.t.ppf(0.975, n - 2) * math.sqrt(v**2 @ residual**2) / (v @ v)
    return s2 / factor <= 1.0 <= s2 * factor, abs(slope - 0.6) <= reach


def _covers(low, aim, high):
    return (low <= aim) & (aim <= high)


CELLS = {
    "groups-normal-0.6-200": groups(LAWS["normal"], 200, 0.6),
    "groups-lognormal-0.3-1000": groups(LAWS["lognormal"], 1_000, 0.3),
    "groups-normal-permutation-0.6-200": groups(LAWS["normal"], 200, 0.6, "permutation"),
    "correlation-normal-0.99-0.6-200": correlations(LAWS["normal"], 200, 0.6, 0.99),
    "correlation-normal-0.99-together-0.6-200": correlations(LAWS["normal"], 200, 0.6, 0.99, joint=True),
    "correlation-normal-0.6-0.6-50": correlations(LAWS["normal"], 50, 0.6, 0.6),
    "correlation-normal-0.6-0.8-200": correlations(LAWS["normal"], 200, 0.8, 0.6),
    "correlation-normal-0.6-0.9-150": correlations(LAWS["normal"], 150, 0.9, 0.6),
    "correlation-normal-0.6-0.6-2000": correlations(LAWS["normal"], 2_000, 0.6, 0.6),
    "correlation-lognormal-0.6-0.6-200": correlations(LAWS["lognormal"], 200, 0.6, 0.6),
    "correlation-lognormal-0.6-together-0.3-200": correlations(LAWS["lognormal"], 200, 0.3, 0.6, joint=True),
    "correlation-normal-0.6-much-noise-0.6-200": correlations(
        LAWS["normal"], 200, 0.6, 0.6, sigma=2.0, joint=True
    ),
    "shares-0.05-200": shares(200, 0.05, 5.0),
    "shares-0.3-200": shares(200, 0.3, 5.0),
    **{f"tails-{name}-0.6-150": tails(law, 150, 0.6) for name, law in LAWS.items()},
    "tails-t4-0.6-1000": tails(LAWS["t4"], 1_000, 0.6),
}

# by cell, (share that covers, mean length) of the earlier rule for the statistics that it changed
BEFORE = {
    "groups-normal-0.6-200": (
        (math.nan, math.nan),
        (1.000, 43.4),
        (1.000, 12.1),
        (0.999, 6.13),
        (0.972, 2.27),
        (1.000, 9.99),
    ),
    "groups-lognormal-0.3-1000": (
        (math.nan, math.nan),
        (1.000, 22.5),
        (1.000, 6.37),
        (0.995, 3.2),
        (0.969, 1.22),
        (1.000, 5.26),
    ),
    "groups-normal-permutation-0.6-200": (
        (math.nan, math.nan),
        (1.000, 44.1),
        (1.000, 12.1),
        (1.000, 6.16),
        (0.963, 2.26),
        (1.000, 10.1),
    ),
    "correlation-normal-0.99-0.6-200": (
        (0.744, 0.811),
        (0.739, 0.791),
        (0.506, math.nan),
    ),
    "correlation-normal-0.99-together-0.6-200": (
        (0.833, 0.448),
        (0.823, 0.427),
        (0.577, math.nan),
    ),
    "correlation-normal-0.6-0.6-50": (
        (0.927, 1.35),
        (0.922, 1.32),
        (0.854, math.nan),
    ),
    "correlation-normal-0.6-0.8-200": (
        (0.930, 1.34),
        (0.929, 1.33),
        (0.850, math.nan),
    ),
    "correlation-normal-0.6-0.9-150": (
        (0.952, 1.67),
        (0.952, 1.66),
        (0.627, math.nan),
    ),
    "correlation-normal-0.6-0.6-2000": (
        (0.960, 0.237),
        (0.960, 0.231),
        (1.000, math.nan),
    ),
    "correlation-lognormal-0.6-0.6-200": (
        (0.905, 0.924),
        (0.906, 0.889),
        (0.956, math.nan),
    ),
    "correlation-lognormal-0.6-together-0.3-200": (
        (0.933, 0.383),
        (0.945, 0.298),
        (1.000, math.nan),
    ),
    "correlation-normal-0.6-much-noise-0.6-200": (
        (0.955, 1.1),
        (0.941, 1.08),
        (0.877, math.nan),
    ),
    "shares-0.05-200": (
        (0.982, 0.306),
        (0.949, 0.194),
        (0.946, 0.141),
        (1.000, math.nan),
        (0.377, math.nan),
    ),
    "shares-0.3-200": (
        (0.948, 0.171),
        (0.942, 0.12),
        (0.931, 0.136),
        (1.000, math.nan),
        (0.773, math.nan),
    ),
}


# --- running ---


def cells():
    return [(name,) for name in CELLS]


def run(cell, replications, seed):
    """Shares and mean lengths of one cell."""
    (name,) = cell
    return mended.run(name, CELLS[name][1], replications, seed)


def table(results):
    """reStructuredText: a row for each statistic of a cell."""
    return mended.table(CELLS, BEFORE, results)


if __name__ == "__main__":
    command(__doc__, cells(), run, table, 2_000)
