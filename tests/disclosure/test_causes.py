"""From where on a cause is named, on both sides of each threshold of the documentation."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import spearmanr

import condmask as cm
from condmask.disclosure import causes, swap_attack
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.swap_attack import FULL, Figures

A_BIT = 1e-4


def named(found):
    return {cause.name: cause for cause in found}


# --- p --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "is_named"), [(0.9, False), (0.901, True), (0.1, False), (0.099, True), (0.5, False)]
)
def test_p_is_named_where_nine_coins_in_ten_are_guessed_blindly(p, is_named):
    found = causes.of_coin(p)

    assert bool(found) is is_named
    if is_named:
        assert found[0].share == max(p, 1.0 - p)
        assert ("the true value of some record" in found[0].text) is (p > 0.5)


# --- row order ------------------------------------------------------------------------------------


def exchanged(values, far):
    """Two values exchange their places, so many places apart."""
    found = np.array(values, dtype=float)
    found[[10, 10 + far]] = found[[10 + far, 10]]
    return found


UP, DOWN = np.arange(65.0), -np.arange(65.0)
HILL = np.append(np.arange(0.0, 64.0, 2.0), np.arange(64.0, 0.0, -2.0) + 1.0)  # each row is like the next one


@pytest.mark.parametrize(
    ("values", "said"),
    [
        # of 64 ranks, two that are 33 apart cost 6 * 2 * 33^2 / (64 (64^2 - 1)) = .0499, and 34 cost .0529
        (exchanged(UP, 33), "the order of their values"),
        (exchanged(UP, 34), None),
        (exchanged(DOWN, 33), "the order of their values"),
        (exchanged(DOWN, 34), None),
        (HILL, "neighbouring rows are alike"),
        (exchanged(HILL, 10), "neighbouring rows are alike"),
        (exchanged(HILL, 11), None),
    ],
)
def test_rows_are_in_order_from_a_rank_correlation_of_95_hundredths_on(values, said):
    own, after = values[:-1], values[1:]
    with_row = abs(float(spearmanr(own, np.arange(own.size)).statistic))
    with_next = float(spearmanr(own, after).statistic)
    assert (max(with_row, with_next) >= 0.95) is (said is not None)

    found = causes.of_order(values)

    assert bool(found) is (said is not None)
    if found:
        assert found[0].share == pytest.approx(max(with_row, with_next), rel=1e-12)
        assert said in found[0].text


# --- of a column ----------------------------------------------------------------------------------

N, LONG, SIGMA, P = 2_000, 1e6, 1e4, 0.6
RNG = np.random.default_rng(3)
EVEN = RNG.permutation((np.arange(N) + RNG.random(N)) / N * LONG)
# kept values lie beyond an end of evenly spread ones with the chance E max(Y, 0) / LONG
OUTSIDE = (1.0 - P) * 2.0 * SIGMA / np.sqrt(2.0 * np.pi) / LONG


@pytest.fixture(scope="module")
def of_column():
    """The causes within a column of evenly spread values, as if an audit had found these figures."""
    law = cm.ConditionalMasking(P, SIGMA).law
    rows = folded_rows(N, FULL.rows)
    column = swap_attack.prepare(EVEN, "float64", law, None, rows, FULL)
    parts = column.outcomes(closely=True)

    def found(*, guessed=P, unchanged=0.0, ties=0.0):
        figures = Figures(P, guessed + ties, 0.0, unchanged, guessed, ties)
        return named(causes.of_column(EVEN, "float64", column, parts, figures))

    return found


def test_a_column_is_without_a_cause_where_figures_are_those_of_a_blind_guess(of_column):
    assert of_column() == {}


def test_repeats_are_named_where_they_tell_more_than_two_coins_in_a_hundred(of_column):
    explained = 0.9 - of_column(guessed=0.9)["repeats"].share

    # what is explained is the range; ends learned from other records, and clusters by chance, add up to .01
    assert 0.6 + OUTSIDE - 1e-3 < explained < 0.6 + OUTSIDE + 0.01
    assert "repeats" not in of_column(guessed=explained + 0.02 - A_BIT)
    assert of_column(guessed=explained + 0.02 + A_BIT)["repeats"].share == pytest.approx(0.02 + A_BIT)


def test_ties_are_named_where_they_tell_more_than_two_coins_in_a_hundred(of_column):
    assert "ties" not in of_column(ties=0.02 - A_BIT)
    assert of_column(ties=0.02 + A_BIT)["ties"].share == pytest.approx(0.02 + A_BIT)


def test_unchanged_records_are_named_where_they_are_a_quarter_of_the_kept_ones(of_column):
    assert "unchanged" not in of_column(unchanged=0.25 - A_BIT)
    found = of_column(unchanged=0.25 + A_BIT)["unchanged"]
    assert found.share == pytest.approx(0.4 * (0.25 + A_BIT))
    assert found.text.startswith("25% of the kept records")


@pytest.mark.parametrize(("sigma", "is_named"), [(1.56, True), (1.58, False)])
def test_noise_that_rounds_to_nothing_in_a_quarter_is_warned_of_before_masking(sigma, is_named):
    x = np.rint(EVEN[:1_000])
    scheme = cm.ConditionalMasking(P, sigma, decimals=0)
    exact = float(ndtr(0.5 / sigma) - ndtr(-0.5 / sigma))  # noise of less than half a step: .251 or .248
    assert (exact > 0.25) is is_named

    found = cm.audit(x, scheme)

    assert found.unchanged == pytest.approx(exact, rel=1e-9)
    assert ("unchanged" in named(found.causes)) is is_named
    assert any("released with their own value" in warning for warning in found.warnings) is is_named


def test_a_range_is_named_where_two_records_in_a_hundred_are_outside():
    for sigma, is_named in ((55e3, False), (72e3, True)):  # .0176 and .0230 of the records
        found = named(cm.audit(EVEN, cm.ConditionalMasking(P, sigma)).causes)
        assert ("range" in found) is is_named
        if is_named:
            assert found["range"].share == pytest.approx(OUTSIDE * sigma / SIGMA, abs=1e-3)


@pytest.mark.parametrize(("times", "is_common"), [(19, False), (21, True)])
def test_a_value_is_common_where_a_hundredth_of_the_records_have_it(times, is_common):
    """Records that show it were swapped: noise takes next to none there on so fine a grid."""
    x = np.append(EVEN[times:], np.full(times, 400_000.0))
    law = cm.ConditionalMasking(P, SIGMA).law
    column = swap_attack.prepare(x, "float64", law, None, folded_rows(N, FULL.rows), FULL)

    share, number = causes._common(column, column.outcomes(closely=True))

    assert number == is_common
    # one half of the records is attacked by who has seen the other, and then that one
    assert share == pytest.approx(P * times / N if is_common else 0.0, rel=0.01)
