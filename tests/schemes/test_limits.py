"""Bounds of a column; oracle: the masked values themselves, counted, and NumPy's sums over all noise."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import condmask as cm
from condmask.schemes.limits import LEAST, bounds, expected_outside

N = 4_000
AGES = np.random.default_rng(1).integers(0, 100, N).astype(float)


def scheme(sigma=10.0, **options):
    return cm.ConditionalMasking(0.6, sigma, decimals=0, **options)


def drawn(made, x, runs):
    """How many released values lie below and above the bounds, run by run."""
    free, (low, high) = cm.ConditionalMasking.from_dict({**made.to_dict(), "range": None}), bounds(made)
    releases = [free.mask(x, rng=k, accept_visible_coins=True) for k in range(runs)]
    return np.array([[(z < low).sum(), (z > high).sum()] for z in releases])


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("grid", [{"decimals": 0}, {"step": 5.0}, {"step": 0}, {}])
def test_what_is_expected_outside_is_what_is_released_there(noise, grid):
    made = cm.ConditionalMasking(0.6, 10.0, noise=noise, **grid, range=(20, 119.5))
    x = 20.0 + (AGES if grid != {"step": 5.0} else AGES // 5 * 5)
    below, above = expected_outside(x, made.law, bounds(made))

    runs = 40
    counts = drawn(made, x, runs)
    for expected, column in zip((below, above), counts.T, strict=True):
        # five standard errors of a sum of independent draws: by chance once in 1.7 million
        assert abs(column.mean() - expected) < 5.0 * math.sqrt(expected / runs)
        assert expected > 20


def test_one_far_record_is_counted_to_the_last_digit():
    law = scheme(sigma=1.0).law
    for room in (4, 6, 8):
        expected = expected_outside(np.array([0.0, np.nan]), law, (-math.inf, float(room)))

        assert expected == (0.0, pytest.approx(0.4 * stats.norm.sf(room + 0.5), rel=1e-3, abs=1e-16))


def test_a_release_is_refused_from_one_in_a_million_on():
    x = np.arange(1_000.0)
    far = -stats.norm.ppf(LEAST / 0.4)  # of one record at the bound

    for margin, refused in ((far - 0.3, True), (far + 0.3, False)):
        made = scheme(sigma=10.0, range=(None, 999 + round(10 * margin)))
        if refused:
            with pytest.raises(ValueError, match=r"x must stay within its range, at most \d+, got noise"):
                made.mask(x, rng=1, accept_visible_coins=True)
        else:
            made.mask(x, rng=1, accept_visible_coins=True)


def test_a_refused_release_says_how_many_and_what_serves():
    with pytest.raises(
        ValueError, match=r"expected to take \d+ below and [\d.]+ above it, of 4,000"
    ) as error:
        scheme(range=(0, 120)).mask(AGES, accept_visible_coins=True)

    assert (
        "pass reverse_mapping=True without decimals (which releases values of the data alone), or leave"
        in str(error.value)
    )
    reverse = cm.ConditionalMasking(0.6, 10.0, reverse_mapping=True, range=(0, 120))
    assert set(reverse.mask(AGES, accept_visible_coins=True)) == set(AGES)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize(("outside", "many"), [([7], "a value"), ([7, 9], "2 values")])
def test_originals_outside_are_refused_by_position_and_never_shown(mapped, outside, many):
    x = AGES.copy()
    x[outside] = 1234
    options = {"reverse_mapping": True} if mapped else {"decimals": 1}

    with pytest.raises(
        ValueError, match=f"x must lie within its range, 0 to 120, got {many} outside, the f"
    ) as error:
        cm.ConditionalMasking(0.6, 0.1, **options, range=(0, 120)).mask(x, accept_visible_coins=True)

    assert "at position 7" in str(error.value)
    assert "1234" not in str(error.value)


def test_codes_and_missing_values_have_no_range():
    x = AGES.copy() + 200.0
    x[:50], x[50:60] = -8.0, np.nan

    z = scheme(range=(0, 500), missing=-8).mask(x, nan_policy="omit", accept_visible_coins=True)

    assert (z[:50] == -8).all()
    assert np.isnan(z[50:60]).all()


def test_a_bound_between_points_of_the_grid_is_that_point():
    made = cm.ConditionalMasking(0.6, 10.0, decimals=0, range=(0.4, 99.6))

    assert bounds(made) == (0.0, 100.0)
    assert bounds(cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True, range=(0.4, 99.6))) == (0.4, 99.6)


def test_an_infinite_bound_is_none():
    ranges = [(0, math.inf), [-math.inf, 9], (-math.inf, math.inf), (None, None), (0, 9)]

    assert [scheme(range=each).range for each in ranges] == [(0, None), (None, 9), None, None, (0, 9)]
    assert repr(scheme(range=(-0.0, 9)).range) == "(0.0, 9.0)"
    with pytest.raises(ValueError, match=r"^range must be two numbers, the lower first"):
        scheme(range=(5, 5))


@pytest.mark.parametrize(("shift", "warned"), [(0.0, True), (300.0, False), (-1.0, False)])
def test_many_released_values_below_0_are_worth_a_word(shift, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheme().mask(AGES + shift, rng=1, accept_visible_coins=True)
        cm.mask_table({"x": AGES}, {"x": cm.AdditiveNoise(10.0)}, rng=1)

    texts = [str(warning.message) for warning in caught]
    assert len(texts) == warned
    if warned:
        assert texts[0].startswith("some 2% of the released values of x will lie below 0, where no original")
        assert str(int(AGES.max())) not in texts[0]
