"""The bounds against finer sums and against the kernels they bound."""

from functools import partial

import numpy as np
import pytest

from condmask.deconvolution import bounds, expansion, weight
from condmask.deconvolution.expansion import Shape
from condmask.deconvolution.weight import Masking
from condmask.kernels.lattice import ORDER

SHAPES = [Shape(None), Shape(None, density=True), Shape(None, boost=50.0)] + [
    Shape(Masking(noise, p, beta), density)
    for noise in ("normal", "laplace")
    for p in (0.02, 0.3, 0.6, 0.99)
    for beta in (0.0, 0.02, 0.4, 9.0)
    for density in ((False, True) if beta > 0.0 else (False,))
    if noise == "normal" or beta > 0.0  # else a closed form
]


def of(shape):
    """Its transform, how far up it is analytic, and the frequency beyond which it is nothing."""
    height = 12.0 if shape.masking is None else weight.contour(shape.masking)
    return partial(expansion._transform, shape), height, expansion._cutoff(shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_contour_integral_is_bounded(shape):
    transform, height, cutoff = of(shape)
    (c, near), (_, spread) = (bounds.tail(transform, height, cutoff, far / cutoff) for far in (0.0, 4.0))

    # twice as far, by twenty times as many nodes; a hundred times smaller errors than the margin covers
    v = np.sinh(np.linspace(0.0, np.arcsinh(100.0 * cutoff), 10_000)) / 50.0
    for k in (0, 8, 17):
        w = v + 1j * c[k]
        size = np.abs(transform(w))
        for far, bound in ((0.0, near[k]), (4.0, spread[k])):
            integral = np.trapezoid(size * np.exp(far / cutoff * np.abs(w)), v) / np.pi
            assert 1.009 * integral <= bound <= 1.011 * integral


@pytest.mark.parametrize("shape", SHAPES)
def test_the_sum_over_frequencies_is_bounded(shape):
    transform, _, cutoff = of(shape)

    w, size = bounds.spectral(transform, cutoff)

    fine = (np.arange(40_000) + 0.5) * (2.0 * cutoff / 40_000)
    size_of_fine = np.abs(transform(fine))
    for power in (1, 7, 8, 2 * ORDER):
        truth = np.sum(size_of_fine * fine**power) * (fine[1] - fine[0]) / np.pi
        assert 1.009 * truth <= np.sum(size * w**power) <= 1.011 * truth


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.masking and shape.masking.beta <= 0.4])
def test_beyond_what_is_settled_a_kernel_stays_level(shape):
    transform, height, cutoff = of(shape)
    tail = bounds.tail(transform, height, cutoff)
    limit = 0.0 if shape.density else 0.5 - 0.5 / shape.masking.p

    for tol in (1e-3, 1e-7, 1e-12):
        far = bounds.settled(*tail, tol) + np.linspace(0.0, 3.0, 300)
        level = np.abs(weight.smooth_weight(shape.masking, far, shape.density) - limit)
        # smooth parts are known to 4e-15 / p, those of a density to that over the bandwidth
        assert level.max() <= tol + 4e-15 / shape.masking.p / (shape.masking.beta or 1.0)


def test_the_distance_is_that_of_the_lowest_bound():
    # exp(-v) and 1e6 exp(-4 v) are both below 1e-12 from 27.6 and 10.4 on
    found = bounds.settled(np.array([1.0, 4.0]), np.array([1.0, 1e6]), 1e-12)

    assert found == pytest.approx(np.log(1e18) / 4.0, rel=1e-12)
    assert bounds.settled(np.array([1.0]), np.array([1e-20]), 1e-12) == 0.0
