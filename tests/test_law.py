"""The law of rounded noise against sums over its steps."""

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import laplace, norm

from condmask.grid import grid_of
from condmask.law import Law


def of(noise, sigma):
    return norm(0, sigma) if noise == "normal" else laplace(0, sigma / np.sqrt(2))


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("step", [0.01, 0.3, 0.6, 1.0, 3.0, 9.0])
def test_moments_and_chances_of_rounded_noise_are_sums_over_its_steps(noise, step):
    law, plain = Law(0.6, noise, 1.0, grid_of(step)), of(noise, 1.0)
    k = np.arange(0, int(60 / step) + 3)
    chance = plain.sf((k - 0.5) * step) - plain.sf((k + 0.5) * step)  # of the tail: no digits are lost

    even = [2 * np.sum(chance[1:] * (k[1:] * step) ** order) for order in (2, 4, 6)]
    exact = [1.0, 0.0, even[0], 0.0, even[1], 0.0, even[2]]
    for order in (5, 6):
        # 10^4 terms of one sign, each to 1e-13: a sum to 1e-12 at worst
        assert law.noise_moments(order, 1.0) == pytest.approx(np.array(exact[: order + 1]), rel=1e-10)
    assert law.variance == pytest.approx(even[0], rel=1e-10)
    for d in (0.0, 0.5 * step, step, 1.5 * step, 4 * step):
        nearer = k * step < d * (1 - 1e-12)
        exact = 2 * np.sum(chance[nearer]) - (chance[0] if nearer.any() else 0.0)
        assert law.noise_within(np.array([d]))[0] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_a_distance_of_more_standard_deviations_than_there_are_numbers_is_certain(noise):
    assert Law(0.5, noise, 1e-290, None).noise_within(np.array([1e51, 0.0])).tolist() == [1.0, 0.0]


def test_moments_scale_with_sigma_and_unit():
    law = Law(0.6, "laplace", 8.0, grid_of(0.5))
    unit = Law(0.6, "laplace", 1.0, grid_of(1 / 16))

    assert law.noise_moments(4, 2.0) == pytest.approx(unit.noise_moments(4, 1.0) * 4.0 ** np.arange(5))


@pytest.mark.parametrize("step", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize("order", [22, 100, 170])
def test_high_moments_of_rounded_laplace_noise_are_those_of_a_geometric_law(order, step):
    h = mp.mpf(step) * mp.sqrt(2)

    found = Law(0.6, "laplace", 1.0, grid_of(step)).noise_moments(order, 1.0)[order]

    # 2 sinh(h/2) sum_j (j step)^k e^(-jh), the sum as a polylogarithm: - by Hurwitz zeta where h is small
    series = mp.gamma(order + 1) * (h ** -(order + 1) + mp.nsum(
        lambda m: ((h - 2j * mp.pi * m) ** -(order + 1) + (h + 2j * mp.pi * m) ** -(order + 1)).real, [1, 3]
    ))  # fmt: skip
    exact = 2 * mp.sinh(h / 2) * series * mp.mpf(step) ** order
    assert found == pytest.approx(float(exact), rel=1e-9)  # q^170 costs 170 ulps, differences a few more
