"""Intervals of pairs. Oracle: two ways to one variance."""

import numpy as np
import pytest

import condmask as cm
from condmask.inference import pair_intervals
from condmask.inference.covariance import PairSums
from condmask.inference.influence import Weights
from condmask.inference.interval_options import interval_options
from condmask.inference.pair_intervals import Pair
from condmask.inference.pseudo_values import PseudoValues

SCHEME = cm.ConditionalMasking(0.5, 1.0, step=0.01)
RNG = np.random.default_rng(6)
X, W = RNG.multivariate_normal([0.0, 0.0], [[4.0, 1.0], [1.0, 1.0]], 2000).T
Z = SCHEME.mask(X.round(2), rng=1)


def pair(z, w, law_of_w=None):
    sums = PairSums(PseudoValues(z, SCHEME.law, None, cycle=False), w, law_of_w)
    return Pair(sums, SCHEME.law, law_of_w, True, 0.25)


def test_the_part_of_a_variance_that_is_the_originals():
    (kept,) = pair(Z, W).variance_kept(pair(Z, W).sums.product[1])

    noise = 0.5 * (1.0 + 0.01**2 / 12)
    assert kept == pytest.approx(1 - noise / Z.var(ddof=1), rel=1e-6)


@pytest.mark.parametrize("target", ["file", "population"])
def test_the_two_ways_to_the_variance_of_a_covariance_agree(target):
    # with a plain column the linear way is exact, the theorem's right to 1/n and the sampling of moments
    options = interval_options(0.95, target)
    unit = pair(Z, W).sums.product[2]

    linear = pair_intervals.covariance_interval(pair(Z, W), options).standard_error / unit
    general = np.sqrt(pair_intervals.pair_variances(pair(Z, W), [Weights(1.0)]))[:, 0]

    assert linear == pytest.approx(general[pair_intervals.TARGETS.index(target)], rel=0.05)


def test_few_records_are_told_how_many_would_do():
    some = pair(Z[:30], W[:30])

    assert "30 masked records say as much about it as" in pair_intervals._few(some, some.sums.product[1])
    assert pair_intervals._few(pair(Z, W), pair(Z, W).sums.product[1]) == ""
