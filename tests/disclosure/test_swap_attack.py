"""What the parts of a column tell together, against releases of each part that are drawn and counted."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import swap_attack
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.swap_attack import FULL

P, WIDE = 0.5, 16.0  # sigma in steps
PARTS = {5_000: 20_000, 15_000: 30_000}  # records, and points of the grid on which they are spread evenly


def figures(x, scheme, strata=None):
    rows = folded_rows(x.size, FULL.rows)
    column = swap_attack.prepare(x, "float64", scheme.law, strata, rows, FULL)
    assert len(column.attacks) == 2
    return swap_attack.figures(column, column.outcomes(), x.size, shared=True)


def guessed_by_ties(n, points, seed, releases=12):
    """The share of coins that are guessed right by how often each released value occurs, all alike."""
    stream, votes = np.random.default_rng(seed), np.zeros((2, n))
    for _ in range(releases):
        x, row = stream.integers(0, points, n), np.arange(n)
        donor = stream.integers(0, n - 1, n)
        swapped = stream.random(n) < P
        z = np.where(
            swapped, x[donor + (donor >= row)], x + np.rint(WIDE * stream.normal(size=n)).astype(int)
        )
        _, place, times = np.unique(z, return_inverse=True, return_counts=True)
        for k in (0, 1):
            votes[k] += np.bincount(times[place][swapped == k], minlength=n)
    return votes.max(axis=0).sum() / (releases * n)


@pytest.fixture(scope="module")
def counted():
    return [guessed_by_ties(n, points, seed) for seed, (n, points) in enumerate(PARTS.items())]


def spread(seed):
    """The records of each part, at whole steps."""
    stream = np.random.default_rng(seed)
    return [stream.integers(0, points, n).astype(float) for n, points in PARTS.items()]


def test_ties_tell_in_each_part_what_its_own_records_tell(counted):
    """Only the records of a part meet there: a quarter of all, 1 to 4 points, and the others, 1 to 2."""
    parts = spread(7)
    share = np.array([part.size for part in parts]) / sum(part.size for part in parts)
    # 240,000 coins are counted: a standard error of .001, and the tables of the audit interpolate
    expected = pytest.approx(share @ counted, abs=0.005)
    stratum = np.repeat([0, 1], [part.size for part in parts])

    found = figures(
        np.concatenate([parts[0], parts[1] + 1e6]),
        cm.ConditionalMasking(P, WIDE, step=1, donors="sample"),
        stratum,
    )
    assert found.guessed == expected


def test_ties_along_a_cycle_tell_nothing():
    x, scheme = spread(9)[0], cm.ConditionalMasking(P, WIDE, step=1)
    rows = folded_rows(x.size, FULL.rows)
    column = swap_attack.prepare(x, "float64", scheme.law, None, rows, FULL)

    assert swap_attack.figures(column, column.outcomes(), x.size, shared=scheme.shared_donors).ties == 0.0


def repeats(x, sigma, **options):
    rows = folded_rows(x.size, FULL.rows)
    law = cm.ConditionalMasking(P, sigma, **options).law
    column = swap_attack.prepare(np.random.default_rng(6).permutation(x), "float64", law, None, rows, FULL)
    return swap_attack.repeats_beyond_chance(column, column.outcomes())


@pytest.mark.parametrize(("pairs", "shown"), [(12, False), (13, True)])
def test_some_pairs_of_equal_values_may_be_by_chance(pairs, shown):
    x = np.random.default_rng(5).uniform(0.0, 1e6, 400)
    x[:pairs] = x[-pairs:]  # each counts twice; 24 are passed, and three times those of chance, .001 here

    assert repeats(x, 1e3) is shown


@pytest.mark.parametrize(("every", "shown"), [(1, False), (2, False), (4, True)])
def test_three_times_as_many_equal_values_as_noise_makes_are_too_many(every, shown):
    """On all of 100 points, every second or every fourth one: as many, twice or four times as many agree."""
    assert repeats(np.resize(np.arange(0.0, 100.0, every), 400), 4.0, step=1) is shown
