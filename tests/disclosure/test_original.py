"""Counts of a file, one record after the other."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure.original import Original, distinct, units_of

SCHEME = cm.ConditionalMasking(0.6, 5.0, step=0.1)
X = np.array([0.3, 0.1, 0.3, 0.2, 2.0])


@pytest.fixture
def file():
    units, _, kind, law = units_of(X, SCHEME)
    return Original(units, kind, law)


def test_values_are_counted_in_whole_steps(file):
    places, below = file.counted

    assert places.tolist() == [1, 2, 3, 20]
    assert below.tolist() == [0, 1, 2, 4, 5]
    assert file.values == pytest.approx(X, abs=1e-15)


def test_nearer_than_d_is_a_matter_of_steps_and_not_of_rounding(file):
    # .3 - .1 < .2 in floating point, and is not nearer than .2
    assert 0.3 - 0.1 < 0.2
    near, wide = file.near(np.array([0.2, 0.25])), file.wide(np.array([0.2, 0.25]))

    assert [np.sum(np.arange(10) < least) for least in near] == [2, 3]
    # an interval of less than d to either side: |x - middle| < .2 holds at most four steps, .25 five
    assert wide.tolist() == [4, 5]


def test_shares_are_of_half_open_intervals(file):
    assert file.share(np.array([1, 3, 4]), np.array([3, 20, 21])).tolist() == [0.4, 0.4, 0.2]


def test_the_line_of_noise_is_that_of_steps(file):
    z = np.array([7.0, 9.0])

    assert file.noise_width == pytest.approx(50.0)
    assert file.positions(np.array([4, 0])).tolist() == [20.0, 3.0]
    assert file.released_positions(z).tolist() == z.tolist()
    assert file.units_at(z).tolist() == z.tolist()


def test_gaps_are_left_out_and_a_scheme_without_a_grid_gets_one():
    units, present, _, law = units_of(np.array([1.0, np.nan, 2.0]), cm.AdditiveNoise(1.0))

    assert present.tolist() == [True, False, True]
    assert law.grid is not None
    assert law.from_units(units) == pytest.approx([1.0, 2.0])


def test_distinct_values_are_counted():
    places, below = distinct(np.array([2.0, 1.0, 2.0]))

    assert (places.tolist(), below.tolist()) == ([1.0, 2.0], [0, 1, 3])
