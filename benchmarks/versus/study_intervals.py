"""Intervals of many samples, and one sample after the other:
``python benchmarks/versus/study_intervals.py``.

Nine quantiles, mean, s.d. and correlation at three levels for both targets.
"""

from types import SimpleNamespace

import numpy as np
import tables
from tables import Line

import condmask as cm
from condmask.inference.interval import TARGETS
from condmask.studies.replicates import ends_of_intervals

LEVELS = (0.9, 0.95, 0.99)
DECILES = SimpleNamespace(quantiles=np.arange(1, 10) / 10, points=np.empty(0), levels=LEVELS)
SCHEMES = {
    "p = .3": cm.ConditionalMasking(0.3, 0.7, donors="sample"),
    "p = .6": cm.ConditionalMasking(0.6, 0.7, donors="sample"),
    "p = .6, permutation, Laplace noise": cm.ConditionalMasking(0.6, 0.7, noise="laplace"),
    "p = .6, reverse mapping": cm.ReverseMapping(0.6, 0.7),
}


def samples(scheme, rows, n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, n))
    w = 0.6 * x + 0.8 * rng.normal(size=x.shape)
    x = x if scheme.law is None else scheme.law.from_units(scheme.law.to_units(x))
    return scheme.mask_rows(x, np.random.default_rng(2), (w,)), w


def alone(scheme, z, w):
    """What one sample takes."""
    estimate = scheme.estimate(z)
    for level in LEVELS:
        for target in TARGETS:
            options = {"confidence_level": level, "target": target}
            estimate.quantile_interval(DECILES.quantiles, **options)
            estimate.mean_interval(**options), estimate.std_interval(**options)
            estimate.correlation_interval(w, **options)


def measure(args, rows=32):
    lines = []
    for name, scheme in SCHEMES.items():
        for n in (200, 2_000):
            z, w = samples(scheme, rows, n)
            times = tables.medians(
                {
                    "together": lambda s=scheme, z=z, w=w: ends_of_intervals(s, z, w, DECILES),
                    "alone": lambda s=scheme, z=z, w=w: alone(s, z[0], w[0]),
                },
                args.rounds,
            )
            mapped = scheme.reverse_mapping
            lines += [
                Line(
                    f"{name}, n = {n:,}, a sample",
                    1e3 * times["together"] / rows,
                    None if mapped else 1.5,
                    unit="ms",
                ),
                Line(
                    "one sample alone, relative to that", times["alone"] * rows / times["together"]
                ),
            ]
    return lines


if __name__ == "__main__":
    tables.main(__file__, measure)
