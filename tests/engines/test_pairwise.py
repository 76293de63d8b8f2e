"""The pairwise engines against the plain sum, across blocks of points and records."""

import numpy as np
import pytest
import reference

from condmask._blocks import BLOCK
from condmask.deconvolution.weight import Masking
from condmask.engines import pairwise

RNG = np.random.default_rng(6)
Z = RNG.normal(2.0, 3.0, 12)
X = np.append(np.linspace(-9.0, 14.0, pairwise.POINTS + 3), Z[:2])  # two blocks of points, and jumps
SIGMA = 1.7


@pytest.mark.parametrize("method", ["series", "interpolant"])
@pytest.mark.parametrize("width", [0.0, 0.9])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_pairs_are_summed(noise, width, method):
    found = pairwise.evaluate(Z, X, SIGMA, Masking(noise, 0.6, width / SIGMA), tol=1e-11, method=method)

    assert found == pytest.approx(reference.cdf(Z, X, noise, 0.6, SIGMA, width), abs=1e-11)


@pytest.mark.parametrize("method", ["series", "interpolant"])
def test_slopes_are_summed(method):
    masking = Masking("normal", 0.6, 0.9 / SIGMA)

    found = pairwise.evaluate(Z, X, SIGMA, masking, tol=1e-11, method=method, density=True)

    # the tolerance is in units of 1/sigma, of 1/bandwidth for the series
    assert found == pytest.approx(reference.pdf(Z, X, 0.6, SIGMA, 0.9), abs=1e-11 / 0.9)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_gridded_records_are_summed_half_a_step_to_the_right(noise):
    delta, units = 0.05, np.rint(Z * 10)
    k = np.arange(-40.0, 120.0, 9.0)
    masking = Masking(noise, 0.6, 0.0, delta)
    exact = reference.grid_cdf(units, k, noise, 0.6, delta, reach=500)

    for method, tol in (("interpolant", 1e-11), ("series", 1e-7)):
        found = pairwise.evaluate(units, k + 0.5, 1 / delta, masking, tol=tol, method=method)

        assert found == pytest.approx(exact, abs=tol + 1e-12)


@pytest.mark.parametrize("method", ["series", "interpolant"])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_blocks_of_records_add_up_whatever_the_workers(noise, method):
    rng = np.random.default_rng(105)
    z = rng.normal(0.0, 3.0, BLOCK + 5)
    x = np.linspace(-2.0, 2.0, pairwise.POINTS + 1)
    masking = Masking(noise, 0.6, 0.0)

    found = [
        pairwise.evaluate(z, x, 1.0, masking, tol=1e-6, method=method, workers=w) for w in (1, 2, 5, map)
    ]
    parts = [
        pairwise.evaluate(part, x, 1.0, masking, tol=1e-6, method=method) * part.size
        for part in (z[:BLOCK], z[BLOCK:])
    ]

    assert all(np.array_equal(one, found[0]) for one in found)
    # two sums, divided and multiplied again
    assert found[0] == pytest.approx((parts[0] + parts[1]) / z.size, abs=1e-14)
