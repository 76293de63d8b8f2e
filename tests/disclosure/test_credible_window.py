"""The best windows for masked values: a posterior by Bayes' rule on whole numbers, and all windows tried.

That they come to the right risk is tested in test_value_attack.py; here is which of them is chosen.
"""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import baselines
from condmask.disclosure.credible_window import CELLS_PER_WIDTH, CredibleWindows, bits_for
from condmask.disclosure.folds import count_by_fold, folded_rows
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import FULL
from condmask.disclosure.value_attack import attack_on

SCHEME = cm.ConditionalMasking(0.4, 6.0, step=1)
X = np.rint(np.random.default_rng(10).normal(0.0, 30.0, 3_000))
WIDE = np.array([3.0, 9.0])


@pytest.fixture(scope="module")
def windows():
    file = Original(X, "float64", SCHEME.law)
    attack = attack_on(file, folded_rows(file.n, file.n), FULL._replace(rows=file.n))
    return CredibleWindows(attack, file, WIDE, baselines.fullest_windows(*file.counted, WIDE), 0)


def test_cells_are_an_eighth_of_a_window_as_far_as_noise_is_told():
    folded = count_by_fold(X * 1_000, np.zeros(X.size, dtype=np.int64), 1, SCHEME.law._replace(sigma=3e3))
    bits = bits_for(folded, np.array([1.0, 64.0, 1e9]))

    assert bits[0] == 0
    assert 2.0 ** bits[1] == 64.0 / CELLS_PER_WIDTH
    assert 2.0 ** bits[2] <= 3e3 / 8.0  # and at least eight to a sigma, however wide a window is


@pytest.mark.parametrize("z", [-20, 0, 33])
def test_no_window_of_the_same_width_holds_more(windows, z):
    attacker, p = windows.attacker(0), SCHEME.p
    points = np.array([z])
    law, noised = attacker.densities(points)
    chance = p * law / (p * law + (1.0 - p) * noised)
    choice, mass = windows.best(attacker, windows.at(points), chance)

    first = windows.first(choice)[0]
    line = np.arange(-150, 151)
    expected = attacker.densities(line)[0]
    kept = expected * np.exp(-0.5 * ((line - z) / 6.0) ** 2)
    kept /= kept.sum()
    for k, width in enumerate(WIDE):
        begins = np.arange(-120, 120)
        swapped = np.array([np.mean((begin <= X) & (begin + width > X)) for begin in begins])
        near = np.array([kept[(line >= begin) & (line < begin + width)].sum() for begin in begins])
        holds = chance[0] * swapped + (1.0 - chance[0]) * near
        # noise is cut off at 5.5 sigma, and taken over a step where here it is a density
        assert mass[0, k] == pytest.approx(holds.max(), abs=2e-3)
        assert holds[begins == first[k]] == pytest.approx(holds.max(), abs=2e-3)


def test_the_share_of_a_choice_is_that_of_the_records_in_it(windows):
    choice = np.array([[2 * 40, 2 * 40 + 1], [2 * 60 + 1, -1]])
    shares, first = windows.shares(choice), windows.first(choice)

    for i in range(2):
        for k in range(2):
            inside = (first[i, k] <= X) & (first[i, k] + WIDE[k] > X)
            assert shares[i, k] == pytest.approx(inside.mean(), abs=1e-12)


def test_who_attacks_a_fold_has_not_seen_its_values():
    """One value far from all others is known to those alone who learn from its fold."""
    x = np.append(X, 5_000.0)
    file = Original(x, "float64", SCHEME.law)
    attack = attack_on(file, folded_rows(file.n, file.n), FULL._replace(rows=file.n))
    windows = CredibleWindows(attack, file, WIDE, baselines.fullest_windows(*file.counted, WIDE), 0)
    (own,) = np.flatnonzero(attack.folded.table[:, attack.folded.values == 5_000.0])

    law = [windows.attacker(fold).densities(np.array([5_000]))[0][0] for fold in range(len(windows.table))]

    assert law[own] < 0.5 * min(law[:own] + law[own + 1 :])
