"""Studies against plain NumPy and SciPy, and how they grow: ``python benchmarks/versus/study.py [long]``.

``long`` adds S = 1e5 and 1e6 at n = 2000, some minutes.
"""

import resource
import statistics
import sys
import time

import numpy as np
from scipy.special import ndtr

import condmask as cm

N, P, SIGMA = 2000, 0.6, 1000.0
POPULATION = cm.paper_population()
SCHEMES = {"CM": cm.ConditionalMasking(P, SIGMA), "ANM": cm.AdditiveNoise(1000.0 * np.sqrt(2.0))}
Q = np.arange(1, 10) / 10
DISTANCES = (250.0, 500.0, 1000.0, 1500.0, 2000.0)


def ours(replications, workers=1):
    start = time.perf_counter()
    result = cm.simulate(
        POPULATION, SCHEMES, n=N, replications=replications, moments=(3,), risk_distances=DISTANCES, rng=1,
        workers=workers,
    )  # fmt: skip
    return time.perf_counter() - start, result


def plain_series(z, x, b):
    """T_1 (b = 0) or T_b by the series, term by term until below 1e-10; all x at once."""
    lam, term, total = -(1.0 - P) / P, 0, np.zeros(x.size)
    v = x[:, None] - z
    while abs(lam) ** term / P >= 1e-10:
        width = np.sqrt(term * SIGMA**2 + b**2)
        total += lam**term * np.mean(v >= 0.0 if width == 0.0 else ndtr(v / width), axis=1)
        term += 1
    return total / P


def bisected(function, low, high):
    """Where increasing functions cross the deciles, to 1e-9 of the range."""
    low, high = np.full(Q.size, low), np.full(Q.size, high)
    for _ in range(30):
        middle = 0.5 * (low + high)
        above = function(middle) >= Q
        low, high = np.where(above, low, middle), np.where(above, middle, high)
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
        return 1.06 * min(v.std(ddof=1), np.subtract(*np.quantile(v, [0.75, 0.25])) / 1.34) * N**-0.2

    def noisy(t):
        v = (t[:, None] - y) / rule(y)
        return (ndtr(v) + (1000.0 / rule(y)) ** 2 * v * np.exp(-0.5 * v * v) / np.sqrt(2 * np.pi)).mean(
            axis=1
        )

    found = [
        bisected(lambda t: plain_series(z, t, 0.0), z.min() - 1, z.max() + 1),
        bisected(lambda t: plain_series(z, t, rule(z)), z.min() - 1e4, z.max() + 1e4),
        bisected(noisy, y.min() - 1e4, y.max() + 1e4),
    ]
    sd = np.sqrt(max(z.var(ddof=1) - (1 - P) * SIGMA**2, 0.0))
    np.cov(z, w)[0, 1] / (1 - P) / (sd * w.std(ddof=1))
    [np.mean(np.abs(z - x) < d) for d in DISTANCES], [np.mean(np.abs(y - x) < d) for d in DISTANCES]
    return found


def main(long):
    ours(64)
    plain_replicate(np.random.default_rng(1))
    rng = np.random.default_rng(2)
    plain = []
    for _ in range(3):
        start = time.perf_counter()
        plain_replicate(rng)
        plain.append(time.perf_counter() - start)
    one = statistics.median(ours(1000)[0] for _ in range(5))
    two = statistics.median(ours(1000, 2)[0] for _ in range(5))
    many, many_two = ours(16_000)[0], ours(16_000, 2)[0]
    print(f"S = 1000, two workers, s                 {two:8.3f}  <= 1, aim .3")
    print(f"plain replicate / ours, one worker       {statistics.median(plain) / (one / 1000):8.0f}  >= 500")
    print(f"one worker / two, S = 1000               {one / two:8.2f}")
    print(f"one worker / two, S = 16000              {many / many_two:8.2f}  >= 1.8")
    if long:
        seconds, _ = ours(100_000, 2)
        print(f"a replicate at S = 1e5 / at S = 1e3      {seconds / 1e5 / (two / 1e3):8.2f}  <= 1.1")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds, _ = ours(1_000_000, 2)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"S = 1e6, s                               {seconds:8.1f}")
        print(f"more memory at S = 1e6 than at 1e5, MB   {(after - before) / 1024:8.1f}")


if __name__ == "__main__":
    main("long" in sys.argv[1:])
