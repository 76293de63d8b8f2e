"""What other records of a unit tell, against Bayes' rule over all coins of a unit.

The normal model: a unit lies at m, its records about m, kept ones with noise. N records: a share of coins has
a standard error of at most .004.
"""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from condmask.correlations import intraclass
from condmask.disclosure import units

P, BETWEEN, WITHIN, SIGMA, SIZE = 0.6, 1.0, 0.1, 0.15, 4
N = 4_000 * SIZE
CODES = np.repeat(np.arange(N // SIZE), SIZE)


def panel(seed=1, p=P, size=SIZE):
    """A release of units of so many records: what it shows, who was swapped, and what all show if kept."""
    stream = np.random.default_rng(seed)
    x = np.repeat(BETWEEN * stream.normal(size=N // size), size) + WITHIN * stream.normal(size=N)
    swapped = stream.random(N) < p
    kept, again = x + SIGMA * stream.normal(size=(2, N))
    return np.where(swapped, x[stream.permutation(N)], kept), swapped, again


def alone(z):
    """log f - log k: the law of swapped values and that of kept ones, of all records."""
    spread = np.hypot(BETWEEN, WITHIN)
    return norm.logpdf(z, 0.0, spread) - norm.logpdf(z, 0.0, np.hypot(spread, SIGMA))


def by_enumeration(z):
    """The chance that each record was swapped, summed over all coins of its unit."""
    z, weight = z.reshape(-1, SIZE), np.zeros((2, z.size // SIZE, SIZE))
    for coins in product((False, True), repeat=SIZE):
        swapped = np.array(coins)
        covariance = np.full((SIZE, SIZE), BETWEEN**2) + (WITHIN**2 + SIGMA**2) * np.eye(SIZE)
        covariance[swapped] = covariance[:, swapped] = 0.0
        covariance[swapped, swapped] = BETWEEN**2 + WITHIN**2
        density = multivariate_normal(np.zeros(SIZE), covariance).pdf(z)
        density *= P ** swapped.sum() * (1 - P) ** (~swapped).sum()
        for j in range(SIZE):
            weight[int(swapped[j]), :, j] += density
    return (weight[1] / weight.sum(axis=0)).ravel()


def attacked(z, kept, codes, p=P):
    ratio = alone(z) + np.nan_to_num(units.log_ratios(p, z, alone(z), z[None], kept, codes)[0])
    return 1.0 / (1.0 + (1.0 - p) / p * np.exp(-ratio))


def test_coins_are_guessed_as_well_as_by_bayes_rule_over_all_coins_of_a_unit():
    z, swapped, kept = panel()

    best, chance = by_enumeration(z), attacked(z, kept, CODES)

    guessed = [np.mean((each >= 0.5) == swapped) for each in (best, chance)]
    assert guessed[0] > 0.72
    assert guessed[1] > guessed[0] - 0.01
    sure = np.minimum(chance, 1.0 - chance) < 0.05
    assert sure.mean() > 0.8 * np.mean(np.minimum(best, 1.0 - best) < 0.05)
    assert np.mean((chance >= 0.5) == swapped, where=sure) > 0.95
    scores = [np.mean(np.log(np.where(swapped, each, 1.0 - each))) for each in (best, chance)]
    assert scores[1] > scores[0] - 0.008  # a blind guess: .13 less


def test_records_of_no_unit_and_those_alone_are_told_nothing():
    z, _, kept = panel()
    codes = CODES.copy()
    codes[:SIZE], codes[SIZE : 2 * SIZE] = -1, N + np.arange(SIZE)
    z[2 * SIZE + 1 : 3 * SIZE] = np.nan  # the others of a record are missing

    ratios = units.log_ratios(P, z, np.nan_to_num(alone(z)), z[None], kept, codes)[0]

    assert np.isnan(ratios[: 3 * SIZE]).all()
    assert not np.isnan(ratios[3 * SIZE :]).any()
    assert np.isnan(units.log_ratios(P, z, alone(z), z[None], np.zeros(N), codes)).all()  # no spread


def test_units_that_say_nothing_leave_the_coins_as_they_are():
    z, swapped, kept = panel()
    order = np.random.default_rng(3).permutation(N)

    chance = attacked(z, kept, CODES[order])

    assert np.mean((chance >= 0.5) == swapped) < P + 0.02


def test_large_units_are_cut_into_parts_that_tell_nearly_all():
    size = 160
    z, swapped, kept = panel(size=size)
    codes = np.repeat(np.arange(N // size), size)

    parts = units._pieces(codes)
    chance = attacked(z, kept, codes)

    assert np.bincount(parts).max() <= units.MOST
    assert np.bincount(parts).min() > 40
    assert np.array_equal(np.unique(np.stack((codes, parts)), axis=1)[1], np.arange(parts.max() + 1))
    # who knows where each unit lies
    centre = np.repeat([np.median(kept[codes == k]) for k in range(N // size)], size)
    best = norm.logpdf(z, 0.0, np.hypot(BETWEEN, WITHIN)) - norm.logpdf(
        z - centre, 0.0, np.hypot(WITHIN, SIGMA)
    )
    assert np.mean((chance >= 0.5) == swapped) > np.mean((best + np.log(P / (1 - P)) >= 0) == swapped) - 0.015


def test_what_a_record_shows_itself_is_no_evidence_of_where_its_unit_lies():
    z, _, kept = panel()
    first = np.roll(CODES, 1) != CODES
    beside = z.copy()
    beside[first] = kept[first]  # exactly what is asked about

    elsewhere, there = (
        units.log_ratios(P, shown, alone(shown), kept[None], kept, CODES)[0][first] for shown in (z, beside)
    )

    # it shares a place with the others that are near, so these weigh less: by .06 with an error of .002
    assert 0.0 < np.mean(there - elsewhere) < 0.1


def test_others_that_were_likelier_swapped_tell_less():
    z, _, kept = panel()

    size = [
        np.mean(np.abs(units.log_ratios(P, z, alone(z) + shift, z[None], kept, CODES)))
        for shift in (-2.0, 0.0, 2.0)
    ]

    assert size[0] > 1.2 * size[1] > 1.4 * size[2]


def test_a_spread_that_is_counted_several_times_counts_once(monkeypatch):
    z, _, kept = panel()
    ratios = []
    for number in (1, 3):
        monkeypatch.setattr(units, "_spreads", lambda *_, number=number: np.full(number, 0.18))
        ratios.append(units.log_ratios(P, z, alone(z), z[None], kept, CODES))

    assert ratios[0] == pytest.approx(ratios[1], rel=1e-9)


def test_the_share_between_units_is_that_of_the_model():
    z, _, kept = panel()

    share = BETWEEN**2 / (BETWEEN**2 + WITHIN**2 + SIGMA**2)
    assert intraclass(kept, CODES) == pytest.approx(share, abs=0.01)
    noisy = kept + np.random.default_rng(5).normal(size=N)  # a standard error of .009
    assert intraclass(noisy, CODES) == pytest.approx(
        BETWEEN**2 / (2.0 * BETWEEN**2 + WITHIN**2 + SIGMA**2), abs=0.035
    )
    assert intraclass(z, CODES) == pytest.approx((1 - P) ** 2 * share, abs=0.05)
    assert intraclass(kept, np.random.default_rng(2).permutation(CODES)) < 0.03
    assert intraclass(kept, np.arange(N)) == 0.0
