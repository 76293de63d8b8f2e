"""Records one by one, linked by distance, and unique in several columns, against brute force and counts."""

import json

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import record_risk

X = np.random.default_rng(0).laplace(10, 1000, 4_000)
SCHEME = cm.ConditionalMasking(0.6, 1000.0)
Z = SCHEME.mask(X, rng=1)


@pytest.fixture(scope="module")
def found():
    return cm.record_risk(X, Z, SCHEME, d=500)


def test_who_is_sure_is_right_as_often_as_he_says(found):
    # five classes of 800 records: the share that is hit has a standard error of at most .0177; four of them,
    # an alarm in 6e-5 each, and .01 for a law learned from 3,600 records
    order = np.argsort(found.posterior)
    for part in np.split(order, 5):
        assert found.hit[part].mean() == pytest.approx(found.posterior[part].mean(), abs=4 * 0.0177 + 0.01)


def test_hits_are_guesses_near_the_original(found):
    assert np.array_equal(found.hit, np.abs(found.guess - SCHEME.law.grid.units(X) * SCHEME.step) < 500)
    assert found.swap_posterior.mean() == pytest.approx(0.6, abs=0.02)


def test_many_records_are_guessed_some_at_a_time(found, monkeypatch):
    monkeypatch.setattr(record_risk, "TOGETHER", 700)
    again = cm.record_risk(X, Z, SCHEME, d=500)

    np.testing.assert_array_equal(again.rows, found.rows)
    np.testing.assert_array_equal(again.hit, found.hit)
    for name in ("guess", "posterior", "swap_posterior"):  # sums over others are rounded differently
        np.testing.assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-12, err_msg=name)


def test_the_most_exposed_are_hits_and_the_surest_of_them(found):
    rows = found.exposed(20)

    assert found.hit[rows].all()
    rest = np.setdiff1d(np.flatnonzero(found.hit), rows)
    assert found.posterior[rows].min() >= found.posterior[rest].max()


def test_records_keep_their_positions_where_others_are_missing():
    x, z = np.insert(X, 2, np.nan), np.insert(Z, 2, 5.0)
    found = cm.record_risk(x, z, SCHEME, d=500)

    assert found.rows[:4].tolist() == [0, 1, 3, 4]
    assert np.array_equal(found.hit, cm.record_risk(X, Z, SCHEME, d=500).hit)
    assert list(found.to_frame().columns) == ["record", "guess", "posterior", "hit", "swap_posterior"]
    assert set(json.loads(json.dumps(found.to_dict()))) == {"n", "d", "hit", "posterior", "surest"}


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: cm.record_linkage(X, Z, k=0), ValueError, "k must be"),
        (lambda: cm.record_linkage(X, Z, k=[]), ValueError, "k must hold at least one number, got none"),
        (lambda: cm.record_linkage(X, Z[:5]), ValueError, "z must"),
        (lambda: cm.record_linkage(X, {"a": Z, "b": Z}), ValueError, "z must have the 1 columns of x, got 2"),
        (lambda: cm.record_linkage([1.0], [1.0]), ValueError, "must have at least 2 values, got 1"),
        (lambda: cm.record_risk(X, Z[:5], SCHEME, d=1), ValueError, "z must"),
        (lambda: cm.record_risk(X, Z, SCHEME, d=-1), ValueError, "d must be at least 0 and finite, got -1"),
        (
            lambda: cm.record_risk(X, Z, cm.DataSwapping(), d=1),
            TypeError,
            "scheme must be one that describes",
        ),
        (lambda: cm.risk(X, "scheme", d=1), TypeError, "scheme must be a masking scheme, got 'scheme'"),
        (lambda: cm.risk(X, cm.DataSwapping(), d=1), TypeError, "use release_risk"),
        (lambda: cm.risk(X, SCHEME, d=[]), ValueError, "d must hold at least one distance, got none"),
        (
            lambda: cm.risk(X, SCHEME, d=np.arange(101.0)),
            ValueError,
            "d must hold at most 100 distances, got 101",
        ),
        (lambda: cm.risk(X, SCHEME, d=np.nan), ValueError, "d must not be NaN"),
        (lambda: cm.risk([], SCHEME, d=1), ValueError, "x must"),
        (lambda: cm.risk([1.0], SCHEME, d=1), ValueError, "x must"),
        (lambda: cm.risk([np.inf, 1.0], SCHEME, d=1), ValueError, "x must"),
        (lambda: cm.risk([np.nan, 1.0, np.nan], SCHEME, d=1), ValueError, "x must"),
        (lambda: cm.risk(X, SCHEME, d=1, others=[1.0, 2.0]), ValueError, "w1 must"),
        (
            lambda: cm.uniques({"a": [1, 2]}, SCHEME, fraction=2),
            ValueError,
            "fraction must be at most 1, got 2",
        ),
        (lambda: cm.uniques({"a": [1, 2]}, cm.DataSwapping()), TypeError, "scheme must be one that swaps"),
    ],
)
def test_what_cannot_be_asked_is_refused(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize("x", [[1, 2], [3, 3, 3], np.arange(50, dtype=np.float32), np.arange(30)[::2]])
def test_small_and_odd_columns_have_risks(x):
    step = {"step": 1} if np.asarray(x).dtype.kind == "i" else {"step": 2.0**-3}
    scheme = cm.ConditionalMasking(0.5, 3.0, **step)
    found = cm.risk(x, scheme, d=[0.5, 1, 5])
    z = scheme.mask(x, rng=1, accept_visible_coins=True)
    released = cm.release_risk(x, z, scheme, d=[0.5, 1, 5])

    for each in (found, released):
        for risk in each.attackers.values():
            assert ((risk >= 0) & (risk <= 1)).all()
        json.dumps(each.to_dict(), allow_nan=False)
        assert "best attacker" in str(each)


@pytest.mark.parametrize("d", [0.5, 0.75, 1.0, 1.5, 1.75, 2.0, 3.0])
def test_a_record_is_hit_where_the_guess_is_nearer_than_d_on_coarse_grids_too(d):
    """The guess is the middle of its interval, all of which is nearer than d and nothing beside it."""
    scheme = cm.ConditionalMasking(0.6, 3.0, step=1)
    x = np.rint(np.random.default_rng(7).gamma(2.0, 6.0, 400)) + 1.0
    z = scheme.mask(x, rng=1, accept_visible_coins=True)

    found = cm.record_risk(x, z, scheme, d=d)

    assert np.array_equal(found.hit, np.abs(found.guess - x) < d)
    assert 0 < np.count_nonzero(found.hit) < x.size
    line = np.arange(-100, 200)
    held = {int(np.sum(np.abs(line - guess) < d)) for guess in found.guess}
    assert held == {int(np.ceil(2.0 * d))}  # as many numbers as lie that near any number
