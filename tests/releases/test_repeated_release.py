"""What several releases tell of who was swapped.

Oracle: real releases of the same file, and a plain attacker who knows no formula: a value that both releases
show was copied, and values that lie together are the record's own.
"""

import numpy as np
import pytest

import condmask as cm
from condmask.law import Law
from condmask.releases.repeated_release import guessed_coins

N = 20_000
X = np.random.default_rng(1).lognormal(8, 0.5, N).round(2)


def plain_attack(x, scheme):
    """The share of records guessed rightly from two releases, for the best distance of a few."""
    z, other = (np.asarray(scheme.mask(x, rng=seed)) for seed in (1, 2))
    kept = ~np.isin(z, x)  # on a grid this fine, noise hardly ever makes a value of the data
    seen = np.isin(z, other) | np.isin(other, z)
    return max(np.mean((~seen & (np.abs(z - other) < c * scheme.sigma)) == kept) for c in (1, 2, 3, 4))


@pytest.mark.parametrize("sigma", [50.0, 200.0, 1_000.0])
def test_two_releases_tell_more_than_a_plain_attacker_finds(sigma):
    scheme = cm.ConditionalMasking(0.6, sigma, decimals=2)
    together = guessed_coins(X, [scheme.law] * 2, N)
    reached = plain_attack(X, scheme)

    # of 512 records: three standard errors below; what he does not use is little where noise is small
    assert together > reached - 3 * 0.5 / np.sqrt(512)
    assert together < reached + 0.12


def test_one_release_of_little_noise_tells_p_alone():
    assert guessed_coins(X, [Law(0.6, "normal", 1.0)]) == pytest.approx(0.6, abs=0.01)
    assert guessed_coins(X, [Law(0.3, "laplace", 1.0)]) == pytest.approx(0.7, abs=0.01)


def test_more_releases_tell_more():
    law = cm.ConditionalMasking(0.6, 300.0, decimals=2).law
    one, two, three = (guessed_coins(X, [law] * k, N) for k in (1, 2, 3))

    assert one < 0.63
    assert 0.72 < two < 0.85
    assert three > 0.85


def test_copies_in_a_coarse_file_tell_less():
    coarse = cm.ConditionalMasking(0.6, 300.0, step=100.0).law
    fine = cm.ConditionalMasking(0.6, 300.0, decimals=2).law

    assert guessed_coins(np.round(X, -2), [coarse] * 2, N) < guessed_coins(X, [fine] * 2, N) - 0.05


def test_missing_values_are_left_out():
    law = Law(0.6, "normal", 300.0)

    assert guessed_coins(np.append(X, np.full(N, np.nan))[:N], [law]) == guessed_coins(X, [law])
