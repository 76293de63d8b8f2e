"""How often do intervals of regressions, groups, weighted means, covariances and correlations cover?

    python -m benchmarks.linear_coverage FOLDER --write docs/measured/linear_coverage.rst

Cells are named law-donors-p-n: 1,000 files of 200 records, 300 of 2,000. Each is kept in FOLDER when it is
done and not computed again: ``--only normal`` takes some, ``--replications 0`` writes the table of those that
are there.
"""

import itertools
import math
import warnings
import zlib

import numpy as np

import condmask as cm
from benchmarks.cells import command, row
from benchmarks.faults_linear import LAWS, masked_together

R = 0.6  # correlation with the column in clear, and between the columns masked together
SIGMA = 0.7  # in standard deviations of the data
GROUP = 0.15  # share of the records
DONORS = (("sample", 0.3), ("sample", 0.8), ("permutation", 0.6))
FILES = {200: 1_000, 2_000: 300}
LIGHT = ("normal", "laplace", "uniform")
STATISTICS = (
    "slope", "intercept", "mean of a group", "weighted mean", "covariance", "correlation",
    "covariance, masked together", "correlation, masked together",
)  # fmt: skip
TARGETS = ("population", "file")


def cells():
    """(name, law, donors, p, n) of all of them."""
    found = [(law, donors, p, n) for n in FILES for law in (*LIGHT, "lognormal") for donors, p in DONORS]
    return [("-".join(map(str, cell)), *cell) for cell in found]


def drawn(law, rng, n):
    """A column, one that goes with it, a group and weights that have nothing to do with either."""
    x, e = law.rvs((2, n), rng)
    w = R * x + math.sqrt(1.0 - R * R) * e
    return x, w, rng.random(n) < GROUP, rng.gamma(2.0, 0.5, n)


def of_file(x, w, group, weights):
    slope, intercept = np.polyfit(w, x, 1)
    pair = np.cov(x, w)[0, 1], np.corrcoef(x, w)[0, 1]
    return np.array([slope, intercept, x[group].mean(), weights @ x / weights.sum(), *pair, *pair])


def of_population(law):
    mean = law.mean()
    intercept = mean - R * (R + math.sqrt(1.0 - R * R)) * mean
    return np.array([R, intercept, mean, mean, R, R, R, R])


def intervals(alone, together, w, group, weights, target):
    line = alone.regress(w, target=target)
    one, other = together
    found = [
        line["w1"], line["intercept"], alone.group_means(group, target=target)[True],
        alone.weighted_mean(weights, target=target),
        alone.covariance_interval(w, target=target), alone.correlation_interval(w, target=target),
        one.covariance_interval(other, target=target), one.correlation_interval(other, target=target),
    ]  # fmt: skip
    return np.array([[each.low, each.high] for each in found]).T


def run(cell, replications, seed):
    """Shares of files whose intervals cover, by target and statistic."""
    name, law, donors, p, n = cell
    law, scheme = LAWS[law], cm.ConditionalMasking(p, SIGMA, donors=donors)
    rng, found = np.random.default_rng([zlib.crc32(name.encode()), seed]), []
    replications = round(replications * FILES[n] / max(FILES.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(replications):
            x, w, group, weights = drawn(law, rng, n)
            together = masked_together(rng, scheme, (x, w))
            aims = {"population": of_population(law), "file": of_file(x, w, group, weights)}
            ends = [(intervals(together[0], together, w, group, weights, t), aims[t]) for t in TARGETS]
            found.append([(low <= aim) & (aim <= high) for (low, high), aim in ends])
    return {
        "cell": cell,
        "replications": replications,
        "seed": seed,
        "found": np.mean(found, axis=0).tolist(),
    }


def table(results):
    """reStructuredText: a row for each statistic, a column for each size and target."""
    counts = sorted({result["replications"] for result in results})
    errors = ", ".join(f"{math.sqrt(0.0475 / count):.3f} of {count:,}" for count in counts)
    sizes = sorted({result["cell"][-1] for result in results})
    lines = [
        "Means over the cells, in brackets the smallest and the largest: first of normal, Laplace and",
        "uniform data, then of lognormal data (s = .6).",
        f"Monte Carlo standard errors of a share of .95 in one cell: {errors} files.",
        "", ".. list-table::", "   :header-rows: 1", "",
        *row(["", *(f"{n:,} records, {target}" for n in sizes for target in TARGETS)]),
    ]  # fmt: skip
    for k, statistic in enumerate(STATISTICS):
        fields = [statistic]
        for n, target in itertools.product(sizes, range(len(TARGETS))):
            own = [(each["cell"][1], each["found"][target][k]) for each in results if each["cell"][-1] == n]
            light = [share for law, share in own if law in LIGHT]
            heavy = [share for law, share in own if law not in LIGHT]
            fields.append("; ".join(_summary(shares) for shares in (light, heavy) if shares))
        lines += row(fields)
    return "\n".join(lines) + "\n"


def _summary(shares):
    shown = (np.mean(shares), min(shares), max(shares))
    mean, least, most = (f"{share:.3f}".removeprefix("0") for share in shown)
    return f"{mean} ({least}-{most})"


if __name__ == "__main__":
    command(__doc__, cells(), run, table, max(FILES.values()))
