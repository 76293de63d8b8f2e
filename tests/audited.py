"""A file and schemes whose audits are looked at."""

import numpy as np

import condmask as cm
from condmask._randomness import Key

N, P, SIGMA = 20_000, 0.6, 500.0
RNG = np.random.default_rng(11)
X, OTHER = RNG.lognormal(8.0, 0.5, N), RNG.lognormal(7.0, 0.6, N)
U = RNG.random(N)
KEY = Key(bytes(range(16)))


def scheme(sigma=SIGMA, **options):
    return cm.ConditionalMasking(**{"p": P, "sigma": sigma, **options})


def cause_of(found, name):
    (cause,) = [cause for cause in found.causes if cause.name == name]
    return cause
