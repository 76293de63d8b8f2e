"""How the covariance of two columns varies. Oracles: means over the pairs, closed forms."""

import numpy as np
import pytest

from condmask.inference.influence import Weights
from condmask.inference.pair_variance import PairMoments, original_moments, pair_variance

P, NONE = 0.3, np.array([1.0, 0.0, 0.0, 0.0, 0.0])
NOISE = np.array([1.0, 0.0, 0.5, 0.0, 0.9])
RNG = np.random.default_rng(3)
A, B = RNG.multivariate_normal([0.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], 900).T
POOL = np.arange(900) % 2


def moments(pool):
    """Those of all pairs, which come in two parts."""
    found = PairMoments(1 if pool is None else 2)
    for part in (slice(0, 301), slice(301, 900)):
        found.add(A[part], B[part], None if pool is None else pool[part])
    return found


def test_moments_are_means_over_the_pairs_of_a_pool():
    found = moments(POOL).released

    for k, i, j in np.ndindex(2, 5, 5):
        expected = np.mean((A**i * B**j)[k == POOL]) if i + j <= 4 else 0.0
        assert found[k, i, j] == pytest.approx(expected, abs=1e-12)
    assert moments(POOL).size.tolist() == [450, 450]
    assert moments(None).released[0, 2, 1] == pytest.approx(np.mean(A**2 * B))


@pytest.mark.parametrize("noise_of_b", [None, NONE])
def test_moments_of_originals_undo_what_masking_does_on_average(noise_of_b):
    original = moments(POOL).released
    released = original.copy()
    for k, i, j in np.ndindex(2, 3, 3):
        noisy = (
            sum(
                own * original[k, i - e, j]
                for e, own in enumerate(NOISE)
                if e <= i and NOISE[e] and i - e >= 0
            )
            if i < 2
            else original[k, 2, j] + NOISE[2] * original[k, 0, j]
        )
        swapped = original[k, i, j] if noise_of_b is not None else original[k, i, 0] * original[k, 0, j]
        released[k, i, j] = P * swapped + (1 - P) * noisy

    found = original_moments(released, P, NOISE, noise_of_b)

    assert found[:, :3, :3] == pytest.approx(original[:, :3, :3], abs=1e-12)


@pytest.mark.parametrize("pool", [None, POOL])
def test_without_masking_a_covariance_varies_as_products_do(pool):
    a, b = A - A.mean(), B - B.mean()
    pairs = PairMoments(1 if pool is None else 2)
    pairs.add(a, b, pool)
    kept = np.ones(pairs.size.size)
    found = pair_variance(
        pairs.size, pairs.released, kept, [Weights(1.0)], NONE, NONE, 0.0, shared_donors=True
    )

    # n/(n-1) of the variance of a product, less itself, by pool
    within = [(a * b)[rows] for rows in ([POOL >= 0] if pool is None else [POOL == 0, POOL == 1])]
    left = sum(own.size / 900 * own.var() / (own.size - 1) for own in within)
    assert found.file[0] == pytest.approx(left, rel=1e-9)
    assert found.sample[0] == pytest.approx((a * b).var(), rel=1e-9)
