"""A warning points at the user's line, from wherever in the package it is said."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

import condmask as cm
from condmask.errors import heard, warn


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


def test_each_thread_hears_its_own_warnings_and_the_filters_stay():
    filters, first_in, second_in, first_out = list(warnings.filters), Event(), Event(), Event()

    def first():
        with heard(UserWarning) as texts:
            first_in.set()
            second_in.wait(60)
            warn("of the first", UserWarning)
        first_out.set()
        return texts

    def second():
        first_in.wait(60)
        with heard() as texts:
            second_in.set()
            first_out.wait(60)
            warn("of the second", ResourceWarning)
            with heard(UserWarning) as inner:
                warn("not of the inner's category", ResourceWarning)
                warn("the inner's", UserWarning)
        return texts, inner

    with ThreadPoolExecutor(2) as pool:
        found = [each.result() for each in (pool.submit(first), pool.submit(second))]

    assert found == [["of the first"], (["of the second", "not of the inner's category"], ["the inner's"])]
    assert warnings.filters == filters
    with pytest.warns(UserWarning, match="^again$"):
        warn("again", UserWarning)
