"""Files that are released by reverse mapping, with ties, heaps, zeros and signs."""

import numpy as np

import condmask as cm

RNG = np.random.default_rng(1)


FILES = {
    "skewed": RNG.lognormal(0.0, 0.8, 300),
    "heaped": np.round(RNG.lognormal(3.0, 0.5, 300) / 5.0) * 5.0,
    "zeros": np.where(RNG.random(300) < 0.4, 0.0, RNG.lognormal(0.0, 0.8, 300)),
    "ties": RNG.poisson(2.0, 300).astype(float),
    "signs": np.where(RNG.random(300) < 0.1, 0.0, RNG.normal(0.0, 3.0, 300)),
}


def scheme_of(x, p=0.6, noise="normal", scale="linear", **options):
    sigma = 0.3 if scale == "log" else 0.3 * float(x.std())
    return cm.ConditionalMasking(p, sigma, noise=noise, scale=scale, reverse_mapping=True, **options)
