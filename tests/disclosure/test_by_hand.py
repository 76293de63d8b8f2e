"""Attackers and linkage against plain loops, where files are so small that every term shows."""

import numpy as np
import pytest

import condmask as cm


def test_the_mean_of_masked_values_is_spread_as_theory_says():
    x = np.array([0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0])
    scheme = cm.ConditionalMasking(0.6, 8.0, step=0.0)
    d = np.array([1.0, 4.0, 9.0])
    found = cm.risk(x, scheme, d=d, audit=False).attackers["mean of masked values"]
    z = scheme.mask_rows(np.tile(x, (40_000, 1)), np.random.default_rng(1), ())
    guess = z.mean(axis=1)[:, None, None]
    simulated = np.mean(np.abs(guess - x[None, :, None]) < d, axis=(0, 1))

    # hits of one masking share its guess: s.d. .15 at most, so .00075 for the mean; the guess is not normal
    # at n = 10, which the worst of the three shows by .012; a spread three times as wide is .06 off
    assert found == pytest.approx(simulated, abs=0.015)


def test_linkage_against_counting_by_hand():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 12, 300).astype(float)  # many are equally near
    z = np.clip(x + rng.integers(-2, 3, 300), 0, 11).astype(float)
    numbers = [1, 7, 40]
    found = cm.record_linkage(x, z, k=numbers)
    plain = []
    for number in numbers:
        chances = []
        for k in range(300):
            distance = np.abs(x - z[k])
            nearer, equal = np.sum(distance < distance[k]), np.sum(distance == distance[k])
            chances.append(min(max((number - nearer) / equal, 0.0), 1.0))
        plain.append(np.mean(chances))

    assert found.linked == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_a_swapped_value_is_no_evidence_to_who_knows_other_columns(p):
    """Two groups far apart: a value of the other one was surely swapped, and the group tells the rest."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, 4_000)
    x = rng.normal(1_000.0 * group, 10.0)
    scheme = cm.ConditionalMasking(p, 5.0)
    found = cm.risk(x, scheme, d=10.0, others=group[:, None].astype(float), audit=False).attackers

    # of the group alone: the best constant of a normal law, P(|X - m| < s) = .683
    assert found["best with other columns"][0] > 0.66
    assert found["best constant"][0] == pytest.approx(0.683 / 2, abs=0.02)
    # who takes each value for kept is right about (1 - p) P(|Y| < 2 s) = .954 (1 - p), and by luck: p .26
    kept_alone = 0.954 * (1.0 - p) + p * 0.5 * 0.52
    assert found["best with other columns"][0] > kept_alone - 0.03
