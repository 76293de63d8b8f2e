"""Studies against plain NumPy and SciPy, and how they grow:
``python benchmarks/versus/study.py [--long]``.

``--long`` adds S = 1e5 and 1e6 at n = 2000, some minutes; ``--before PATH`` the same study with
older code.
"""

import resource
import time

import numpy as np
import tables
from scipy.special import ndtr
from tables import Line

import condmask as cm

N = 2000
P = 0.6
SIGMA = 1000.0
POPULATION = cm.paper_population()
SCHEMES = {
    "CM": cm.ConditionalMasking(P, SIGMA, donors="sample"),
    "ANM": cm.AdditiveNoise(1000.0 * np.sqrt(2.0)),
}
Q = np.arange(1, 10) / 10
DISTANCES = (250.0, 500.0, 1000.0, 1500.0, 2000.0)


def ours(replications, workers=1):
    return cm.simulate(
        POPULATION,
        SCHEMES,
        n=N,
        replications=replications,
        risk_distances=DISTANCES,
        rng=1,
        workers=workers,
    )


def seconds(replications, workers):
    start = time.perf_counter()
    ours(replications, workers)
    return time.perf_counter() - start


def plain_series(z, x, b):
    """T_1 (b = 0) or T_b by the series, term by term until below 1e-10; all x at once."""
    lam = -(1.0 - P) / P
    term = 0
    total = np.zeros(x.size)
    v = x[:, None] - z
    while abs(lam) ** term / P >= 1e-10:
        width = np.sqrt(term * SIGMA**2 + b**2)
        total += lam**term * np.mean(v >= 0.0 if width == 0.0 else ndtr(v / width), axis=1)
        term += 1
    return total / P


def bisected(function, low, high):
    """Where increasing functions cross the deciles, to 1e-9 of the range."""
    low = np.full(Q.size, low)
    high = np.full(Q.size, high)
    for _ in range(30):
        middle = 0.5 * (low + high)
        above = function(middle) >= Q
        low = np.where(above, low, middle)
        high = np.where(above, middle, high)
    return high


def plain_replicate(rng):
    """One replicate as one writes it with NumPy and SciPy."""
    x, w = (values[0] for values in POPULATION(rng, 1, N))
    swapped = rng.random(N) < P
    donor = rng.integers(0, N - 1, N)
    donor += donor >= np.arange(N)
    z = np.where(swapped, x[donor], x + rng.normal(0.0, SIGMA, N))
    y = x + rng.laplace(0.0, 1000.0, N)

    def rule(v):
        return (
            1.06 * min(v.std(ddof=1), np.subtract(*np.quantile(v, [0.75, 0.25])) / 1.34) * N**-0.2
        )

    def noisy(t):
        v = (t[:, None] - y) / rule(y)
        return (
            ndtr(v) + (1000.0 / rule(y)) ** 2 * v * np.exp(-0.5 * v * v) / np.sqrt(2 * np.pi)
        ).mean(axis=1)

    found = [
        bisected(lambda t: plain_series(z, t, 0.0), z.min() - 1, z.max() + 1),
        bisected(lambda t: plain_series(z, t, rule(z)), z.min() - 1e4, z.max() + 1e4),
        bisected(noisy, y.min() - 1e4, y.max() + 1e4),
    ]
    sd = np.sqrt(max(z.var(ddof=1) - (1 - P) * SIGMA**2, 0.0))
    np.cov(z, w)[0, 1] / (1 - P) / (sd * w.std(ddof=1))
    (
        [np.mean(np.abs(z - x) < d) for d in DISTANCES],
        [np.mean(np.abs(y - x) < d) for d in DISTANCES],
    )
    return found


def check(replications):
    """Both ways to a study agree: the mean of the median, within six joint standard errors."""
    result = ours(replications)
    rng = np.random.default_rng(3)
    found = np.array([plain_replicate(rng)[0][4] for _ in range(4)])
    truth = POPULATION.quantile(0.5)
    bias = result.value("CM", "T_1", "quantile 0.5", "bias")
    spread = result.value("CM", "T_1", "quantile 0.5", "rmse")
    assert abs(found.mean() - truth - bias) < 6.0 * spread * np.sqrt(1 / 4 + 1 / replications)


def measure(args, replications=1000):
    check(min(200, replications))
    rng = np.random.default_rng(2)
    plain = tables.medians({"": lambda: plain_replicate(rng)}, 3)[""]
    t = tables.medians(
        {"one": lambda: ours(replications), "two": lambda: ours(replications, 2)},
        max(1, args.rounds // 3),
    )
    lines = [
        Line(f"S = {replications:,}, two workers", t["two"], 1.0, unit="s"),
        Line(
            "a replicate in NumPy and SciPy, relative to ours, one worker",
            plain / t["one"] * replications,
            least=500.0,
        ),
        Line(f"one worker relative to two, S = {replications:,}", t["one"] / t["two"]),
    ]
    if args.before:
        ratio = tables.to_before(__file__, args.before, str(replications))
        lines.append(
            Line(
                "two workers on the default grid, relative to earlier code without a grid",
                ratio,
                1.1,
            )
        )
    if args.long:
        many = tables.medians({"one": lambda: ours(16_000), "two": lambda: ours(16_000, 2)}, 1)
        lines.append(
            Line("one worker relative to two, S = 16,000", many["one"] / many["two"], least=1.8)
        )
        large = seconds(100_000, 2)
        lines.append(
            Line(
                "a replicate at S = 1e5, relative to one at S = 1e3",
                large / 1e5 / (t["two"] / 1e3),
                1.1,
            )
        )
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        lines.append(Line("S = 1e6, two workers", seconds(1_000_000, 2), unit="s"))
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
        lines.append(Line("memory beyond that of S = 1e5", more / 1024, unit="MB"))
    return lines


def alone(replications):
    """Seconds of a study on two workers, with any version of the package."""
    return tables.medians({"": lambda: ours(int(replications), 2)}, 5)[""]


if __name__ == "__main__":
    tables.main(__file__, measure, alone=alone, columns=("ordinary",))
