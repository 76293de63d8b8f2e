"""Features of coins: their classes, and the figures of many, chosen and measured on different rows."""

import numpy as np
import pytest
from scipy.stats import norm

from condmask.disclosure.coin_classes import CoinClasses, chances

P, N = 0.6, 20_000
STREAM = np.random.default_rng(9)
ATTACK = CoinClasses.of(P, N)
APART = np.stack((STREAM.normal(1.0, 1.0, N), STREAM.normal(0.0, 1.0, N)))  # of two normal laws
EXACT = APART - 0.5  # the logarithm of their ratio


def best():
    """The share of coins guessed between the two laws."""
    edge = 0.5 + np.log((1 - P) / P)
    return P * norm.sf(edge - 1.0) + (1 - P) * norm.cdf(edge)


@pytest.mark.parametrize("times", [1.0, 2.0, 4.0, 10.0])
def test_evidence_that_repeats_itself_is_tempered(times):
    known = ATTACK.learned

    assert ATTACK.tempered(times * EXACT, known) == pytest.approx(EXACT, rel=1e-9)


def test_classes_tell_what_the_law_tells():
    ratio = ATTACK.ratio(ATTACK.classes(APART))

    assert ATTACK.alone(ratio) == pytest.approx(best(), abs=0.01)
    assert chances(P, np.zeros(3)) == pytest.approx(P)


def test_common_values_are_classes_of_their_own():
    feature = np.where(STREAM.random((2, N)) < 0.3, 0.0, STREAM.normal(size=(2, N)))

    place = ATTACK.classes(feature)

    (zero,) = np.unique(place[feature == 0.0])
    assert (feature[place == zero] == 0.0).all()
    assert (place[~np.isnan(feature)] > 0).all()
    assert (ATTACK.classes(np.where(feature > 1.0, np.nan, feature))[feature > 1.0] == 0).all()


def test_features_that_say_nothing_neither_raise_nor_lower_a_figure():
    """60 features of noise: the best of them by luck is measured where it has none."""
    noise = [ATTACK.ratio(ATTACK.classes(STREAM.normal(size=(2, N)))) for _ in range(60)]
    one = ATTACK.ratio(ATTACK.classes(APART))

    guessed, certain = ATTACK.strongest(np.zeros((2, N)), noise)
    with_noise = ATTACK.strongest(np.zeros((2, N)), [*noise, one])

    assert guessed <= P + 0.005
    assert certain == 0.0
    assert with_noise[0] == pytest.approx(best(), abs=0.012)
    assert with_noise[1] == pytest.approx(ATTACK.strongest(np.zeros((2, N)), [one])[1], abs=0.01)


def test_features_that_repeat_each_other_tell_no_more_than_one_and_others_add_up():
    other = np.stack((STREAM.normal(1.0, 1.0, N), STREAM.normal(0.0, 1.0, N))) - 0.5

    repeated = ATTACK.strongest(EXACT, [EXACT, EXACT])
    both = ATTACK.strongest(np.zeros((2, N)), [EXACT, other])

    assert repeated[0] == pytest.approx(best(), abs=0.01)
    summed = EXACT + other
    assert both == pytest.approx(ATTACK.figures(summed, ~ATTACK.learned), abs=0.01)
    assert both[0] > best() + 0.03


def test_the_parts_are_different_rows():
    first, second = ATTACK.parts

    assert not (first & second).any()
    assert not (ATTACK.learned & (first | second)).any()
    assert (ATTACK.learned | first | second).all()
