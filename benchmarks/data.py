"""The shared case: the paper's setting, Laplace(10, 1000) masked with p = .6 and sigma = 1000."""

from functools import lru_cache

import numpy as np

import condmask as cm

SIGMA = 1000.0


@lru_cache(maxsize=4)
def original(n):
    return np.random.default_rng(20190101).laplace(10.0, 1000.0, n)


@lru_cache(maxsize=8)
def masked(n, p=0.6, noise="normal", step=None):
    return cm.ConditionalMasking(p, SIGMA, noise=noise, step=step).mask(
        original(n), rng=1, accept="all"
    )


def estimate(n, p=0.6, noise="normal", workers=1, step=None):
    scheme = cm.ConditionalMasking(p, SIGMA, noise=noise, step=step)
    return scheme.estimate(masked(n, p, noise, step), workers=workers)


def points(m):
    return np.linspace(-3000.0, 3000.0, m)
