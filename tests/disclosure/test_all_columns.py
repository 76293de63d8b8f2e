"""Who knows every other column. Oracle: coins that the test draws itself, and Bayes' rule."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure.all_columns import by_all_columns, swap_evidence
from condmask.disclosure.risk_result import BEST

N, P, SIGMA = 6_000, 0.6, 0.3
SCHEME = cm.ConditionalMasking(P, SIGMA, decimals=2)
MAPPED = cm.ConditionalMasking(P, SIGMA, reverse_mapping=True)
STREAM = np.random.default_rng(1)
W, X = STREAM.normal(size=(2, N)).round(2)
SWAPPED = STREAM.random(N) < P


def released(x, sigma=SIGMA):
    """Swapped records have the value of the one before them, others their own with noise."""
    noise = np.random.default_rng(int(1e6 * abs(x[0]))).normal(0.0, sigma, N)
    return np.where(SWAPPED, np.roll(x, 1), (x + noise).round(2))


def test_whoever_knows_the_original_of_one_column_knows_the_swap_status_about_as_well_as_bayes_rule():
    evidence = swap_evidence(W, released(W), SCHEME, None)
    said = evidence + np.log(P / (1.0 - P)) > 0.0
    v = released(W)
    exact = P * np.exp(-0.5 * v**2) > (1.0 - P) / SIGMA * np.exp(-0.5 * ((v - W) / SIGMA) ** 2)

    right, best = np.mean(said == SWAPPED), np.mean(exact == SWAPPED)
    assert best > P + 0.15
    assert right > best - 0.01  # one s.e. of a share is .004


@pytest.mark.parametrize("strata", [None, np.arange(N) % 2])
def test_knowing_it_helps_with_another_column(strata):
    """Of swapped records the attacker then says what is best for all, and not what their value suggests."""
    z, d, fine = released(X), np.array([1.0]), 0.05
    scheme = SCHEME if strata is None else cm.ConditionalMasking(P, SIGMA, decimals=2, strata="s")
    best = cm.release_risk(X, z, scheme, d=d, strata=strata, audit=False).attackers[BEST][0]
    narrow = cm.ConditionalMasking(P, fine, decimals=2, strata=scheme.strata)
    evidence = swap_evidence(W, released(W, fine), narrow, strata)

    known, tried = by_all_columns(X, z, scheme, d, [W], evidence, strata)
    blind, _ = by_all_columns(X, z, scheme, d, [W], np.zeros(N), strata)

    assert tried == pytest.approx(2_048, abs=2)
    assert known[0] > max(best, blind[0]) + 0.015  # of the same 2,048 records; two s.e. of the difference


def test_by_reverse_mapping_evidence_tells_kept_records_from_others():
    z = MAPPED.mask(W, rng=3, accept_visible_coins=True)
    near = np.abs(z - W) < SIGMA
    evidence = swap_evidence(W, z, MAPPED, None)

    assert evidence[near].max() < evidence[np.abs(z - W) > 6.0 * SIGMA].min()
