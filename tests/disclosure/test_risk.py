"""Which attackers the best one may copy, and that they are told apart."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import baselines, neighbours, risk, value_attack
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.risk_result import BEST, CONSTANT, LINKED, MEAN, RELEASED

D = np.array([1.0, 5.0])
X = np.random.default_rng(1).gamma(2.0, 10.0, 300)
SCHEME = cm.ConditionalMasking(0.6, 5.0)
WEAK = np.array([0.1, 0.2])
NOTHING = np.array([np.nan, np.nan])


@pytest.fixture
def weak(monkeypatch):
    """Attackers who achieve what a test says, little or unknown where it says nothing."""

    def made(**strong):
        own = {name: strong.get(name, WEAK) for name in ("released", "mean", "constant", "posterior")}
        monkeypatch.setattr(baselines, "by_released", lambda *_: own["released"])
        monkeypatch.setattr(baselines, "by_mean", lambda *_, **__: own["mean"])
        monkeypatch.setattr(baselines, "by_constant", lambda *_: (own["constant"], np.zeros(2)))
        monkeypatch.setattr(value_attack, "by_posterior", lambda *_: own["posterior"])
        return own

    return made


@pytest.mark.parametrize("name", ["released", "mean", "constant", "posterior"])
@pytest.mark.parametrize("unknown", ["released", "mean", "posterior"])
def test_the_best_attacker_says_what_any_other_says_and_no_more(weak, name, unknown):
    strong = np.array([0.3, 0.7])
    figures = {unknown: NOTHING} | {name: strong}
    own = weak(**figures)

    found = cm.risk(X, SCHEME, d=D, audit=False).attackers

    assert found[BEST] == pytest.approx(strong)
    # and the others are what they are
    for attacker, of in ((RELEASED, "released"), (MEAN, "mean"), (CONSTANT, "constant")):
        assert np.array_equal(found[attacker], own[of], equal_nan=True)


def test_the_best_attacker_is_as_good_as_another_at_each_distance_by_itself(weak):
    weak(released=np.array([0.5, 0.2]), mean=np.array([0.1, 0.8]))

    assert cm.risk(X, SCHEME, d=D, audit=False).attackers[BEST] == pytest.approx([0.5, 0.8])


@pytest.mark.parametrize(("linked", "expected"), [(0.0, [0.4, 0.6]), (0.5, [0.5, 0.6]), (0.9, [0.9, 0.9])])
def test_who_knows_other_columns_may_forget_them(weak, monkeypatch, linked, expected):
    weak(posterior=np.array([0.4, 0.6]))
    monkeypatch.setattr(neighbours, "by_neighbours", lambda *_: (np.full(2, linked), 150))
    seen = RecordPosteriors(
        *(np.zeros((300, 2)) for _ in range(2)), np.zeros((300, 2), dtype=bool), *np.zeros((2, 300))
    )
    monkeypatch.setattr(risk, "posteriors_of", lambda *_: seen)

    found = cm.risk(X, SCHEME, d=D, others={"w": X}, audit=False)

    assert found.attackers[LINKED] == pytest.approx(expected)
    assert found.attackers[BEST] == pytest.approx([0.4, 0.6])
    assert found.records == {RELEASED: 300, MEAN: 300, CONSTANT: 300, BEST: 300, LINKED: 150}


def test_in_a_release_the_best_attacker_copies_others_and_is_copied(weak, monkeypatch):
    weak(constant=np.array([0.2, 0.3]))
    seen = RecordPosteriors(
        *(np.zeros((300, 2)) for _ in range(2)), np.zeros((300, 2), dtype=bool), *np.zeros((2, 300))
    )
    seen.hit[:75, 1] = True
    monkeypatch.setattr(risk, "posteriors_of", lambda *_: seen)
    monkeypatch.setattr(neighbours, "by_neighbours", lambda *_: (np.array([0.05, 0.9]), 150))
    z = X + np.where(np.arange(300) < 120, 0.5, 50.0)  # two in five are within 1

    found = cm.release_risk(X, z, SCHEME, d=D, others={"w": X}, audit=False).attackers

    assert found[RELEASED] == pytest.approx([0.4, 0.4], abs=1e-12)
    # masked values come near two in five; the mean of them, around 40, the constant 1 in 5 or 3 in 10
    assert found[BEST] == pytest.approx(np.maximum([0.4, 0.4], found[MEAN]))
    assert found[LINKED] == pytest.approx([found[BEST][0], 0.9])
