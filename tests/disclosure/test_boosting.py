"""Gradient boosting: calibrated, the same for any number of threads, and refused in a sentence without it."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import condmask as cm
from condmask.disclosure import boosting

RNG = np.random.default_rng(3)


def test_calibration_finds_the_slope_and_the_shift_of_log_odds():
    odds = RNG.normal(0.0, 2.0, 20_000)
    right = RNG.random(odds.size) < 1.0 / (1.0 + np.exp(-(0.5 * odds - 0.7)))

    slope, shift = boosting.calibration(odds, right)

    # standard errors .010 and .017: five of them
    assert abs(slope - 0.5) < 0.05
    assert abs(shift + 0.7) < 0.085


def test_calibration_of_answers_that_are_all_right_is_finite():
    slope, shift = boosting.calibration(np.array([-5.0, 5.0] * 50), np.array([False, True] * 50))

    assert 0.0 < slope < 100.0
    assert abs(shift) < 10.0


def test_chances_are_those_of_the_rows_that_are_asked():
    x = RNG.normal(size=(12_000, 3))
    truth = 1.0 / (1.0 + np.exp(-2.0 * x[:, 0]))
    answers = RNG.random(truth.size) < truth
    chances = boosting.chances(x[:6000], answers[:6000], x[6000:8000], answers[6000:8000], x[8000:])

    # what is left of 4,000 binary answers, each with a variance of at most 1/4, is below .005
    assert np.mean((chances - truth[8000:]) ** 2) < 0.005
    assert abs(chances.mean() - truth[8000:].mean()) < 0.03


def test_where_all_answers_are_one_nothing_is_learned():
    x, yes = np.zeros((100, 1)), np.ones(100, dtype=bool)

    assert np.array_equal(boosting.chances(x, yes, x, yes, x), np.ones(100))


@pytest.mark.slow  # threads that wait for each other take long where something else runs
def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(boosting, "ROUNDS_OF_REGRESSION", 20)
    x = RNG.normal(size=(3000, 30))
    y = x[:, 0] * x[:, 1]
    with threadpool_limits(limits=2, user_api="openmp"):
        options = boosting.OPTIONS | {"max_iter": boosting.ROUNDS_OF_REGRESSION, "early_stopping": False}
        two = HistGradientBoostingRegressor(**options).fit(x, y).predict(x)

    assert np.array_equal(boosting.predictions(x, y, x), two)


def test_without_scikit_learn_a_sentence_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)

    sentence = r"^thorough needs scikit-learn, which is not installed: pip install 'condmask\[thorough\]'$"
    assert not boosting.available()
    with pytest.raises(ModuleNotFoundError, match=sentence):
        cm.audit(RNG.normal(size=200), cm.ConditionalMasking(0.6, 0.5), thorough=True)
