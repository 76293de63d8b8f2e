"""The values of T near a probability, whether all of T is sorted or they alone: oracle is each other; and
where an interval ends, point by point.
"""

import numpy as np
import pytest

import condmask as cm
from condmask.engines import rearrangement
from condmask.engines.step_cdf import StepCDF
from condmask.inference import score_inversion

NEAR = np.random.default_rng(1).normal(0.0, 10.0, 300)
DATA = {"one piece": NEAR, "three pieces": np.concatenate([NEAR - 1e6, NEAR, NEAR + 1e7])}


@pytest.mark.parametrize("bandwidth", [None, 3.0])
@pytest.mark.parametrize("z", DATA.values(), ids=DATA)
def test_sorting_all_and_sorting_what_is_near_give_the_same(z, bandwidth, monkeypatch):
    source = cm.ConditionalMasking(0.4, 8.0, decimals=2).estimate(np.round(z, 2))._sample
    known = source.cdf(bandwidth, 1e-10).rearrangement
    ranges = [(0.1, 0.2), (-0.3, 0.05), (0.3, 0.4), (0.9, 1.5), (0.6123, 0.6124), (5.0, 6.0)]

    monkeypatch.setattr(rearrangement, "BROAD", 0.0)
    together = [known.between(*each) for each in ranges]
    monkeypatch.setattr(rearrangement, "BROAD", np.inf)
    alone = [known.between(*each) for each in ranges]

    for (values, edges), (same, at), (low, high) in zip(together, alone, ranges, strict=True):
        assert np.array_equal(values, same)
        assert ((values >= low) & (values <= high)).all()
        np.testing.assert_allclose(edges, at, rtol=1e-12, atol=1e-6)  # lengths to 1e7 added in another order
        assert edges.size == values.size + 1


def test_a_function_is_sorted_once():
    source = cm.ConditionalMasking(0.4, 8.0, decimals=2).estimate(np.round(NEAR, 2))._sample
    cdf = source.cdf(None, 1e-10)

    assert source.cdf(None, 1e-10) is cdf
    assert cdf.rearrangement is cdf.rearrangement
    assert cdf.rearrangement.ascending is cdf.rearrangement.ascending


def ends(t, q, radius):
    """Point by point: the first after the last that is too low, and the first that is too high."""
    low, high = 0, len(t) - 1
    for k, value in enumerate(t):
        if value < q - radius(k):
            low = k + 1
    for k in range(len(t) - 1, -1, -1):
        if t[k] > q + radius(k):
            high = k
    return low, high


RADII = {  # by place, from 0 to 1
    "none": lambda u: 0.0 * u, "even": lambda u: 0.1 + 0.0 * u, "growing": lambda u: 0.02 + 0.24 * u,
    "shrinking": lambda u: 0.3 - 0.24 * u, "beyond both ends": lambda u: 1.1 + 0.0 * u,
}  # fmt: skip


@pytest.mark.parametrize("radius", RADII.values(), ids=RADII)
@pytest.mark.parametrize("count", [3, 30, 300])
def test_an_interval_ends_where_the_points_are_excluded(radius, count):
    # T* has so many values at points 5, 6, ..; what is sought is found however T is given
    t, first = np.sort(np.random.default_rng(count).random(count)), 5.0
    t[-1] = 1.0
    q = np.array([0.02, 0.2, 0.5, 0.77, 0.98])

    def by_place(k):
        return radius(k / count)

    def at(x, own):
        return by_place(x - first)

    def quantiles(values):
        return first + np.minimum(np.searchsorted(t, values), count - 1.0)

    line = StepCDF(np.array([first]), [np.random.default_rng(9).permutation(t)])
    expected = first + np.transpose([ends(t.tolist(), each, by_place) for each in q])

    assert np.array_equal(score_inversion._searched(quantiles, q, at, 1.1), expected)
    low, high = score_inversion.invert_score_test(line, q, at, 1.1, 0.0)
    assert np.array_equal(low, expected[0])
    # where no point is too high it is the end of the line
    assert np.array_equal(np.minimum(high, first + count - 1.0), expected[1])


def test_the_ends_of_the_line_are_asked_for_once():
    asked = []

    def quantiles(values):  # of a uniform law on (0, 1)
        asked.append(values.copy())
        return values

    q = np.arange(1, 10) / 10
    low, high = score_inversion._searched(quantiles, q, lambda x, own: np.full(x.size, 0.25), 2.0)

    # to the last halving of a mesh of [0, 1] or less in 32 parts
    assert low == pytest.approx(np.maximum(q - 0.25, 0.0), abs=2.0**-21)
    assert high == pytest.approx(np.minimum(q + 0.25, 1.0), abs=2.0**-21)
    ends = np.concatenate(asked)
    assert np.count_nonzero((ends <= 0.0) | (ends >= 1.0)) <= 2
