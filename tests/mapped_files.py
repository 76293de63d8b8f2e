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


def masked(x, scheme, count, rng):
    """The scheme as it is written, `count` times: rows of one file, all in one pool; and the coins."""
    n, shape = x.size, (count, x.size)
    swapped = rng.random(shape) < scheme.p
    noise = rng.standard_normal(shape) if scheme.noise == "normal" else rng.laplace(0.0, np.sqrt(0.5), shape)
    keys = x + scheme.sigma * noise if scheme.scale == "linear" else x * np.exp(scheme.sigma * noise)
    order = np.lexsort((rng.random(shape), np.where(swapped, np.inf, keys)))  # the kept first, ties at random
    z = np.empty(shape)
    np.put_along_axis(z, order, np.sort(np.where(swapped, np.inf, x), axis=1), axis=1)
    hat = np.argsort(np.where(swapped, rng.random(shape), 2.0), axis=1)
    rows = np.argsort(np.where(swapped, np.arange(n), n), axis=1, kind="stable")
    own = np.arange(n) < swapped.sum(axis=1, keepdims=True)
    moved = np.where(own, x[hat], np.take_along_axis(z, rows, axis=1))
    np.put_along_axis(z, rows, moved, axis=1)
    return z
