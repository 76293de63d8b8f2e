"""Variances by the theorem, by moments. Oracle: sums over a law of few records, written out."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval2d

from condmask.moments.polynomial_variance import (
    Influence,
    Moments,
    polynomial_variance,
)

RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(2, 2, 7))  # by donor pool
P = 0.3
SHARE = np.array([0.4, 0.6])


def moments_of(x, w):
    powers = np.arange(5)[:, None, None]
    return np.mean((x[:, None, None] ** powers) * w[:, None, None] ** powers[:, 0], axis=-1)


def random_influence():
    return Influence(*RNG.normal(size=(5, 2, 2, 3, 3)))  # of two functions in two pools


@pytest.mark.parametrize("shared_donors", [True, False])
def test_the_variances_are_those_of_the_theorem_within_donor_pools(shared_donors):
    functions = random_influence()
    z, v = X + 0.3 * RNG.normal(size=X.shape), W
    moments = Moments(moments_of(z, v), moments_of(X, W))

    file, sample = polynomial_variance(
        moments, functions, P, shared_donors=shared_donors, share=SHARE, correction=np.array([1.5, 1.0])
    )

    for k in range(2):
        phi = [polyval2d(z[s], v[s], functions.phi[k, s]) for s in range(2)]
        h, given_file, at, margin = (
            [polyval2d(X[s], W[s], each[k, s]) for s in range(2)] for each in functions[1:]
        )
        masked = SHARE @ [1.5 * phi[0].var(), phi[1].var()]
        if shared_donors:
            exact = masked - SHARE @ np.var(given_file, axis=1)
        else:
            margins = [np.cov(one, other, ddof=0)[0, 1] for one, other in zip(margin, at, strict=True)]
            exact = masked - SHARE @ np.var(h, axis=1) + 2 * P * (SHARE @ margins)
        assert file[k] == pytest.approx(max(exact, 0.0), abs=1e-10)
        inside = SHARE @ np.mean(np.square(h), axis=1) - (SHARE @ np.mean(h, axis=1)) ** 2
        assert sample[k] == pytest.approx(inside, rel=1e-10)
