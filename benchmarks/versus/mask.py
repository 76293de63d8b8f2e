"""Masking a million rows against plain NumPy: ``python benchmarks/versus/mask.py``.

The words are those of AES-128 in counter mode, keyed by the operating system.
"""

import numpy as np
import tables
from peers import plain_mask
from tables import Line
from unaudited import UNAUDITED

import condmask as cm

N = 1_000_000
P = 0.6
SIGMA = 1000.0
SCALES = {"linear": SIGMA, "log": 0.3}  # of reverse mapping


def check(masked, x):
    """The share of swapped records, and the grid."""
    kept = ~np.isin(masked(donors="sample", step=0.0)(), x)
    # six standard errors of a coin of .6
    assert abs(kept.mean() - (1.0 - P)) < 6.0 * np.sqrt(P * (1.0 - P) / x.size)
    step = cm.ConditionalMasking(P, SIGMA).step
    for z in (masked(donors="sample")(), masked()()):
        assert (np.rint(z / step) * step == z).all()
    for scale, sigma in SCALES.items():
        z = masked(scale=scale, sigma=sigma, method=cm.ReverseMapping)()
        assert (np.sort(z) == np.sort(x)).all()
        # eight standard errors of a coin of .6; hardly any kept record gets its own value
        assert abs((z != x).mean() - 1.0) < 8.0 / np.sqrt(x.size)
    z = masked(step=0.0)()
    values, times = np.unique(z, return_counts=True)
    assert times.max() == 1  # no tie tells who was swapped
    assert abs(np.isin(values, x).mean() - P) < 6.0 * np.sqrt(P * (1.0 - P) / x.size)


def measure(args, n=N):
    x = np.random.default_rng(1).laplace(10.0, 1000.0, n)

    def masked(workers=1, sigma=SIGMA, audited=True, method=cm.ConditionalMasking, **options):
        scheme = method(P, sigma, **options)
        accepted = not audited or scheme.grid is None
        return lambda: scheme.mask(x, workers=workers, **(UNAUDITED if accepted else {}))

    check(masked, x)
    rng = np.random.default_rng(2)
    calls = {"NumPy": lambda: plain_mask(x, P, SIGMA, rng)}
    for workers in (1, 2):
        calls[f"grid {workers}"] = masked(workers, donors="sample")
        calls[f"bare {workers}"] = masked(workers, donors="sample", audited=False)
        calls[f"none {workers}"] = masked(workers, donors="sample", step=0.0)
        calls[f"cycle {workers}"] = masked(workers)
        for scale, sigma in SCALES.items():
            calls[f"{scale} {workers}"] = masked(
                workers, sigma, method=cm.ReverseMapping, scale=scale
            )
    t = tables.medians(calls, args.rounds)
    lines = [Line("plain NumPy: all donors, all noise, np.where", 1e3 * t["NumPy"], unit="ms")]
    for workers, said in ((1, "one worker"), (2, "two workers")):
        grid, bare, none, cycle = (
            t[f"{name} {workers}"] for name in ("grid", "bare", "none", "cycle")
        )
        lines += [
            Line(
                f"default grid, {said}, audited, relative to plain NumPy", grid / t["NumPy"], 1.0
            ),
            Line(f"default grid, {said}, not audited, relative to no grid", bare / none, 1.2),
            Line(f"permutation donors, {said}, relative to sample donors", cycle / grid, 2.0),
            *(
                Line(
                    f"reverse mapping, {scale} scale, {said}, relative to plain NumPy",
                    t[f"{scale} {workers}"] / t["NumPy"],
                    1.5 if workers == 1 else 1.0,
                )
                for scale in SCALES
            ),
        ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure)
