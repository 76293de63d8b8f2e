"""Simulated maps: their limits without noise and with nobody kept, and how many are kept."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import simulated_maps

VALUES = np.sort(np.random.default_rng(6).normal(50.0, 10.0, 40))


def scheme_of(p, sigma, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def test_without_noise_kept_records_get_their_own_values():
    for record, value in simulated_maps.kept_maps(VALUES, scheme_of(0.4, 1e-9)):
        assert np.array_equal(record, value)


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_so_many_are_kept_as_p_says(p):
    kept = sum(value.size for _, value in simulated_maps.kept_maps(VALUES, scheme_of(p, 5.0)))

    # 12,000 coins: five standard errors
    assert kept / (simulated_maps.MAPS * VALUES.size) == pytest.approx(1.0 - p, abs=0.023)


def test_a_release_is_the_file_in_another_order_and_swaps_reach_everywhere():
    draws, scheme = np.random.default_rng(1), scheme_of(0.999, 1e-9)
    sources = np.array([simulated_maps.release(VALUES, scheme, draws) for _ in range(2_000)])

    assert np.array_equal(np.sort(sources, axis=1), np.tile(np.arange(40), (2_000, 1)))
    # the smallest record shows each value with a chance of 1/40: 50 times of 2,000, six standard errors
    assert np.abs(np.bincount(sources[:, 0], minlength=40) - 50.0).max() < 42


def test_noise_on_the_log_scale_is_in_the_exponent():
    draws, values = np.random.default_rng(2), np.array([-3.0, 0.0, 8.0])
    keys = simulated_maps.with_noise(np.tile(values, (5_000, 1)), scheme_of(0.5, 0.2, scale="log"), draws)

    assert (np.sign(keys) == np.sign(values)).all()
    assert np.log(keys[:, 2] / 8.0).std() == pytest.approx(0.2, rel=0.05)  # s.e. 1%
