"""A warning points at the user's line, from wherever in the package it is said."""

import warnings

import pytest

import condmask as cm
from condmask._warn import warn


def test_a_warning_from_outside_points_at_the_line_of_the_call():
    with pytest.warns(UserWarning, match="^careful$") as caught:
        warn("careful", UserWarning)

    assert caught[0].filename == __file__


def test_a_warning_from_deep_inside_points_at_the_users_line():
    column = [100.26, 100.51, 101.02, 101.13] * 10
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cm.ConditionalMasking(0.6, 4.0, decimals=1).mask(column, rng=1, round=True, accept_visible_coins=True)

    assert [each.filename for each in caught] == [__file__]
