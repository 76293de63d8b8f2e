"""The engine that ``method="auto"`` chooses against the best of all: ``python benchmarks/versus/engines.py``.

The least of some runs, each right after the same one, of fresh estimates, so that counting is inside the
clock; smoothed ones have another bandwidth at every call, as other data would have. A line has the largest
ratio over a table of n and numbers of points, or of probabilities; ``--long`` prints the tables. Answers are
checked before they are timed. The constants of ``condmask/engines/choice.py`` are measured here.
"""

import sys
import time
from contextlib import nullcontext
from itertools import count
from unittest import mock

import numpy as np
import tables
from tables import Line

import condmask as cm
from condmask.deconvolution.weight import Masking
from condmask.engines import choice

SIGMA, BANDWIDTH = 1000.0, 300.0
SIZES, POINTS, PROBABILITIES = (50, 200, 1000, 10_000, 100_000), (1, 5, 100, 1000), (1, 9, 99, 999)
PAIRS = {"series": 5e4, "interpolant": 2e6}  # more take so long that nothing else could
NAMES = ("series", "interpolant", "lattice", "grid")
FEW, DECILES = np.array([-1000.0, -300.0, 10.0, 300.0, 1000.0]), np.arange(1, 10) / 10
BOTH = ("first", "rearranged")
CASES = {  # law, step, bandwidth
    "T_1, a step of sigma/1000": ("normal", 0.6, 1.0, None),
    "T_1, sigma/100": ("normal", 0.6, 10.0, None),
    "T_1, sigma/10": ("normal", 0.6, 100.0, None),
    "T_1, sigma/10,000": ("normal", 0.6, 0.1, None),
    "T_1, sigma/1000, p = .2": ("normal", 0.2, 1.0, None),
    "T_1, sigma/1000, Laplace noise": ("laplace", 0.6, 1.0, None),
    "T_1, no grid": ("normal", 0.6, 0.0, None),
    "T_b, sigma/1000": ("normal", 0.6, 1.0, BANDWIDTH),
    "T_b, sigma/100": ("normal", 0.6, 10.0, BANDWIDTH),
    "T_b, no grid": ("normal", 0.6, 0.0, BANDWIDTH),
}
counter = count()


def masked(n, noise, p, step):
    scheme = cm.ConditionalMasking(p, SIGMA, noise=noise, step=step)
    x = np.random.default_rng(1).laplace(10.0, SIGMA, n)
    x = np.rint(x / step) * step if step else x
    return scheme, scheme.mask(x, rng=2, accept_visible_coins=True)


def another(bandwidth):
    return None if bandwidth is None else bandwidth + 1e-4 * next(counter)


def values(n, points, noise, p, step, bandwidth):
    """The calls of T at so many points, by engine."""
    scheme, z = masked(n, noise, p, step)
    x = np.linspace(-3.0 * SIGMA, 3.0 * SIGMA, points)
    calls = {}
    for method in ("auto", *NAMES):
        if n * points > PAIRS.get(method, np.inf):
            continue
        try:
            scheme.estimate(z).cdf(x, bandwidth=bandwidth, method=method)
        except ValueError:
            continue
        calls[method] = lambda method=method: scheme.estimate(z).cdf(
            x, bandwidth=another(bandwidth), method=method
        )
    exact = scheme.estimate(z).cdf(x[:5], bandwidth=bandwidth, method="interpolant")
    assert np.abs(scheme.estimate(z).cdf(x, bandwidth=bandwidth)[:5] - exact).max() < 2e-10
    return calls


def quantiles(n, probabilities, noise, p, step, bandwidth, crossing):
    """The calls of so many quantiles, by engine."""
    scheme, z = masked(n, noise, p, step)
    q = np.arange(1, probabilities + 1) / (probabilities + 1)

    def call(name):
        forced = mock.patch.object(choice, "choose_for_crossings", return_value=name)
        with nullcontext() if name == "auto" else forced:
            return scheme.estimate(z).quantile(q, bandwidth=another(bandwidth), crossing=crossing)

    names = ["auto", "lattice"]
    if choice.sizes_of(scheme.estimate(z)._sample.counts, Masking(noise, p, 0.0, step / SIGMA)).transformable:
        names.append("grid")
    return {name: (lambda name=name: call(name)) for name in names}


def least(calls, rounds):
    """The least seconds of each call in so many rounds, right after the same call: caches are its own."""
    taken = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            start = time.perf_counter()
            call()
            taken[name] = min(taken[name], time.perf_counter() - start)
    return taken


def ratio(calls, rounds):
    """How many times as long as the best engine the chosen one takes, its seconds and those of all."""
    t = least(calls, rounds)
    auto = t.pop("auto")
    return auto / min(t.values()), auto, t


def worst(name, rows, rounds, show):
    """The largest ratio over calls by (n, points)."""
    found = 0.0
    for at, calls in rows:
        own, auto, t = ratio(calls, rounds)
        if own > 1.2:  # once more, for something else may have run meanwhile
            own, auto, t = min((own, auto, t), ratio(calls, 3 * rounds), key=lambda found: found[0])
        if show:
            times = ", ".join(f"{engine} {1e6 * each:,.0f}" for engine, each in t.items())
            found_here = f"{own:.2f} (auto {1e6 * auto:,.0f}; {times})"
            print(f"{name}; n = {at[0]:,}, {at[1]}: {found_here}", file=sys.stderr)
        found = max(found, own)
    return found


def measure(args):
    scheme, z = masked(200, "normal", 0.6, 1.0)

    def small():
        estimate = scheme.estimate(z)
        return estimate.cdf(FEW), estimate.quantile(DECILES)

    t = least(
        {
            "both": small,
            "estimate": lambda: scheme.estimate(z),
            "cdf": lambda: scheme.estimate(z).cdf_interval(FEW),
            "quantile": lambda: scheme.estimate(z).quantile_interval(DECILES),
        },
        20 * args.rounds,
    )
    lines = [
        Line("200 records: estimate, T_1 at five points, nine quantiles", 1e3 * t["both"], 0.3, unit="ms"),
        Line("of which the estimate", 1e3 * t["estimate"], unit="ms"),
        Line("200 records: intervals for T_1 at five points", 1e3 * t["cdf"], unit="ms"),
        Line("200 records: intervals for nine quantiles", 1e3 * t["quantile"], unit="ms"),
    ]
    for name, law in CASES.items():
        rows = (((n, k), values(n, k, *law)) for n in SIZES for k in POINTS)
        found = worst(name, rows, args.rounds, args.long)
        most = 2.0 if law[2] == 0.0 else 1.5  # NumPy sorts at very different speeds
        lines.append(Line(f"{name}: values, relative to the best engine", found, most))
    for name, law in CASES.items():
        if law[2] == 0.0:
            continue  # without a grid there is but the lattice
        rows = (
            ((n, f"{k} {crossing}"), quantiles(n, k, *law, crossing))
            for n in SIZES for k in PROBABILITIES for crossing in BOTH
        )  # fmt: skip
        found = worst(name, rows, args.rounds, args.long)
        lines.append(Line(f"{name}: quantiles, relative to the best engine", found, 1.5))
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure)
