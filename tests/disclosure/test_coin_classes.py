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


def test_what_is_learned_is_not_measured_and_what_is_chosen_is_measured_elsewhere():
    first, second = ATTACK.parts
    coin = np.repeat([[5.0], [-5.0]], N, axis=1)
    by_part = [np.where(part, coin, 0.0) for part in (first, second)]  # each tells all coins of one part
    classes = np.where(ATTACK.learned, np.arange(N) % 2 + 1, np.repeat([[1], [2]], N, axis=1))

    for ratio in by_part:
        assert ATTACK.strongest(np.zeros((2, N)), [ratio])[0] == pytest.approx(P)
    with_weaker = ATTACK.strongest(np.zeros((2, N)), [np.where(first, coin, EXACT)])
    assert with_weaker[0] == pytest.approx(0.5 * (1.0 + best()), abs=0.015)
    assert ATTACK.alone(classes) == pytest.approx(P)


def test_what_classes_add_is_what_is_not_known():
    classes, nothing = ATTACK.classes(APART), np.zeros((2, N))

    assert ATTACK.added(classes, nothing) == pytest.approx(ATTACK.ratio(classes), abs=0.02)
    # 24 classes of 400 records: the number of each has a standard error of about .1
    assert np.sqrt(np.mean(ATTACK.added(classes, EXACT) ** 2)) < 0.2
    assert not ATTACK.added(classes, EXACT)[classes == 0].any()


def test_those_that_tell_most_are_added_first_and_those_of_noise_never():
    other = np.stack((STREAM.normal(1.0, 1.0, N), STREAM.normal(0.0, 1.0, N))) - 0.5
    noise = [ATTACK.classes(x) for x in STREAM.normal(size=(30, 2, N))]

    both = ATTACK.strongest(np.zeros((2, N)), [*noise, EXACT, other])

    assert both[0] > best() + 0.03
    few = CoinClasses.of(P, 800)
    some = [few.classes(x) for x in STREAM.normal(size=(100, 2, 800))]
    for part in few.parts:
        *_, total = few._sums(np.zeros((2, 800)), some, part)
        assert not total.any()


def test_a_class_of_one_record_or_of_missing_values_tells_little():
    place = np.ones((2, N), dtype=np.int64)
    place[0, np.flatnonzero(ATTACK.learned)[0]] = 2
    place[1, :2_000] = 0

    ratio = ATTACK.ratio(place)

    assert ratio[place == 2] == pytest.approx(np.log(3.0), abs=0.2)
    assert not ratio[place == 0].any()


def test_the_parts_are_different_rows():
    first, second = ATTACK.parts

    assert not (first & second).any()
    assert not (ATTACK.learned & (first | second)).any()
    assert (ATTACK.learned | first | second).all()
