"""Ratios in one run: ``python -m pytest benchmarks/versus --benchmark-enable``.

Every entry asserts its answer before it is timed.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import condmask as cm
from benchmarks import data

_spec = importlib.util.spec_from_file_location("peers", Path(__file__).with_name("peers.py"))
peers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(peers)

N = 1_000_000
SCHEME = cm.ConditionalMasking(0.6, data.SIGMA)


def plain(x):
    return peers.plain_mask(x, 0.6, data.SIGMA, np.random.default_rng(2))


MASKS = {
    "plain NumPy": plain,
    "condmask, 1 worker": SCHEME.mask,
    "condmask, 2 workers": lambda x: SCHEME.mask(x, workers=2),
}


@pytest.mark.benchmark(group="mask 1e6 rows")
@pytest.mark.parametrize("who", MASKS)
def test_mask(benchmark, who):
    x = data.original(N)
    z = MASKS[who](x)
    # share of swapped values: 6 standard errors of a coin of .6
    assert abs(np.isin(z, x).mean() - 0.6) < 6 * np.sqrt(0.24 / N)
    benchmark.pedantic(MASKS[who], (x,), rounds=15, warmup_rounds=2)


def sums(p, method, workers):
    z = data.masked(N, p)
    estimate = cm.ConditionalMasking(p, data.SIGMA).estimate(z, workers=workers)
    return lambda: estimate.cdf(300.0, method=method)


SERIES = {
    "SciPy ndtr loop, p=.6": lambda: peers.plain_series(data.masked(N), 300.0, 0.6, data.SIGMA, 1e-10),
    **{
        f"{method}, p={p}, {workers} worker{'s' * (workers > 1)}": sums(p, method, workers)
        for method in ("series", "interpolant")
        for p in (0.6, 0.501, 0.9)
        for workers in (1, 2)
    },
}


@pytest.mark.benchmark(group="T_1 at one x, 1e6 rows, tol 1e-10")
@pytest.mark.parametrize("who", SERIES)
def test_series(benchmark, who):
    # the s.d. of T_1 at n = 1e6 is below 1e-3 for p >= .5; six of them
    assert abs(SERIES[who]() - np.mean(data.original(N) <= 300.0)) < 6e-3
    benchmark.pedantic(SERIES[who], rounds=7, warmup_rounds=1)


ANALYSES = {
    "np.sort": lambda: np.sort(data.masked(N)),
    "nine quantiles": lambda: SCHEME.estimate(data.masked(N)).quantile(np.linspace(0.1, 0.9, 9)),
    "nine quantiles, 2 workers": lambda: SCHEME.estimate(data.masked(N), workers=2).quantile(
        np.linspace(0.1, 0.9, 9)
    ),
}


@pytest.mark.benchmark(group="quantiles of 1e6 rows")
@pytest.mark.parametrize("who", ANALYSES)
def test_quantiles(benchmark, who):
    if who != "np.sort":
        # s.d. of the quantiles at n = 1e6: 109 sqrt(2000 / 1e6) = 4.9 at .1, less between
        assert np.abs(ANALYSES[who]() - np.quantile(data.original(N), np.linspace(0.1, 0.9, 9))).max() < 30.0
    benchmark.pedantic(ANALYSES[who], rounds=5, warmup_rounds=1)
