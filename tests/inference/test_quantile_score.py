"""Where the score test excludes quantiles. Oracle: T and its variance at the ends."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import quantile_score
from condmask.inference.quantile_score import Search

Q = np.array([0.2, 0.5, 0.75])
Z = 1.96
SCHEME = cm.ConditionalMasking(0.7, 1.0, step=0.0)
X = np.random.default_rng(2).normal(0.0, 2.0, 3000)
ESTIMATE = SCHEME.estimate(SCHEME.mask(X, rng=3, accept_visible_coins=True))
B = 0.8  # of T_b, which is continuous


def search(target, c=Z**2 / X.size):
    return Search(ESTIMATE._sample, ESTIMATE._variance_curve(B), B, 1e-10, c, target)


@pytest.mark.parametrize("target", ["population", "file"])
def test_at_the_ends_the_smoothed_function_is_as_far_off_as_the_level_says(target):
    value = ESTIMATE.quantile(Q, bandwidth=B)

    low, high = search(target).ends(Q, value, rearranged=False, permutation=True)

    for end, sign in ((low, -1.0), (high, 1.0)):
        t, variance = ESTIMATE.cdf(end, bandwidth=B), ESTIMATE._variance_curve(B).at(end)
        sampled = (
            Q * (1 - Q) + variance.means.h_squared - variance.means.psi if target == "population" else 0.0
        )
        # under the hypothesis that T is q there its variance has (t - q)^2 besides
        statistic = (t - Q) * np.sqrt(X.size / (variance.file + sampled + (t - Q) ** 2))
        # ends are searched to 1e-6 of T and its errors
        assert statistic == pytest.approx(sign * Z, rel=1e-5)
    assert ((low < value) & (value < high)).all()


def test_so_few_records_bound_nothing():
    for c, bounded in ((1.0, False), (0.3, True)):
        low, high = search("population", c).ends(Q, ESTIMATE.quantile(Q), rearranged=False, permutation=True)
        assert np.isinf(low).tolist() == [True, False, False] if bounded else np.isinf(low).all()
        assert np.isinf(high).tolist() == [False, False, True] if bounded else np.isinf(high).all()


def test_differences_are_as_long_as_correlated_errors_let_them_be():
    assert quantile_score.difference_length(3.0, 4.0, 0.0) == pytest.approx(5.0)
    assert quantile_score.difference_length(3.0, 4.0, 1.0) == pytest.approx(1.0)
    assert quantile_score.difference_length(3.0, 4.0, -1.0) == pytest.approx(7.0)
    assert quantile_score.difference_length(np.inf, 4.0, 0.5) == np.inf
