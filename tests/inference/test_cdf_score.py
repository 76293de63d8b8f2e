"""The score test of T at a point, and its inversion. Oracles: Wilson's formula, and each other."""

import numpy as np
import pytest
from scipy.special import ndtri

from condmask.inference import cdf_score
from condmask.inference.cdf_variance import Sums
from condmask.inference.theorem import AsymptoticVariance

T = np.array([0.02, 0.3, 0.55, 0.97])
N, LEVEL = 80, 0.9
C = ndtri(0.5 + 0.5 * LEVEL) ** 2 / N


def variances(file, smoothed=0.0):
    means = Sums(T, T, T, T, T - smoothed)
    return AsymptoticVariance(np.broadcast_to(file, T.shape), T * (1 - T), means)


def test_without_masking_it_is_wilsons_interval():
    middle, root = (T + C / 2) / (1 + C), np.sqrt(T * (1 - T) * C + C**2 / 4) / (1 + C)
    # the variance under the hypothesis g has (t - g)^2 besides: n / (1 - c) of the records have Wilson's
    low, high = cdf_score.ends(T, variances(0.0), C / (1 + C), "population")

    assert low == pytest.approx(middle - root, abs=1e-12)
    assert high == pytest.approx(middle + root, abs=1e-12)


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("file", [0.05, 0.4])
def test_ends_are_where_the_pvalue_is_what_the_level_leaves(target, file):
    variance = variances(file)

    for end in cdf_score.ends(T, variance, C, target):
        inside = (end > 0.0) & (end < 1.0)
        statistic, pvalue = cdf_score.test(T, end, variance, N, target)
        assert inside.any()
        assert pvalue[inside] == pytest.approx(1 - LEVEL, rel=1e-9)
        assert np.array_equal(np.sign(statistic), np.sign(T - end))


def test_what_smoothing_takes_away_makes_intervals_shorter():
    low, high = cdf_score.ends(T, variances(0.2, smoothed=0.01), C, "population")
    wider = cdf_score.ends(T, variances(0.2), C, "population")

    assert cdf_score.smoothed_away(variances(0.2, smoothed=0.01)) == pytest.approx(-0.01)
    # at g = end, n (t - g)^2 / z^2 is file + g (1 - g) - .01 + (t - g)^2
    for end in (low, high):
        inside = (end > 0.0) & (end < 1.0)
        assert ((T - end) ** 2 / C)[inside] == pytest.approx(
            (0.19 + end * (1 - end) + (T - end) ** 2)[inside], rel=1e-9
        )
    assert (high - low < wider[1] - wider[0]).all()


def test_too_few_records_for_the_level_bound_nothing():
    low, high = cdf_score.ends(T, variances(0.1), 1.0, "file")

    assert (low.tolist(), high.tolist()) == ([0.0] * 4, [1.0] * 4)


def test_a_value_that_varies_not_at_all_is_not_surprising():
    statistic, pvalue = cdf_score.test(np.ones(1), np.ones(1), variances(0.0), N, "file")

    assert (statistic[0], pvalue[0]) == (0.0, 1.0)
