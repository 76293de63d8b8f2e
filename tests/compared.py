"""A file on which methods are compared."""

import numpy as np

import condmask as cm

RNG = np.random.default_rng(8)
AGE = RNG.uniform(20.0, 65.0, 1500)
X = RNG.lognormal(6.5 + AGE / 100, 0.5)
SCHEME = cm.ConditionalMasking(0.6, 500.0)
D = 200.0
