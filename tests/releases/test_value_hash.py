"""Equal values have equal words, whatever their type. Oracle: Python's own reading of numbers."""

import numpy as np

from condmask.files.csv_scan import Fields
from condmask.kernels.value_words import ABSENT
from condmask.releases.value_hash import number_words, text_words


def of_texts(*texts, **options):
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded])
    starts = np.concatenate(([0], ends))[:-1]
    return text_words(Fields(b"".join(encoded), starts, ends), **options)


def test_text_that_is_a_number_is_that_number():
    texts = ["1", "1.0", "-0", "12.25", "1e3", "0.1234567890123456789", "9007199254740993"]

    assert of_texts(*texts).tolist() == number_words(np.array([float(text) for text in texts])).tolist()
    assert of_texts("1,5", decimal=",") == number_words(np.array([1.5]))


def test_words_that_may_mean_a_number_are_text_whatever_stands_beside_them():
    for word in ("inf", "1e999", "nan"):
        alone, number = of_texts(word)[0], of_texts(word, "1")[0]
        assert alone == number == of_texts(word, "x", "1")[0] not in number_words(np.array([np.inf, np.nan]))


def test_other_text_differs_by_every_byte_and_its_place():
    words = of_texts("ab", "ba", "a", "b", "abc", "", "x" * 3_000, "x" * 3_001, "1a", "é")

    assert len(set(words.tolist())) == 10
    assert of_texts("North", "north", "NORTH").tolist() == [of_texts("north")[0]] * 3


def test_missing_values_are_alike():
    assert number_words(np.array([np.nan, -np.nan])).tolist() == [ABSENT, ABSENT]
    assert of_texts("", "NA", "na", ".", missing=frozenset([b"NA", b"."])).tolist() == [ABSENT] * 4


def test_zero_has_no_sign():
    assert number_words(np.array([0.0]))[0] == number_words(np.array([-0.0]))[0]


def test_single_precision_stands_for_its_decimals():
    x = np.random.default_rng(1).lognormal(3, 2, 10_000).round(2)
    x = x[x < 9_999]
    single = x.astype(np.float32).astype(np.float64)

    assert np.array_equal(number_words(single, "float32"), number_words(x))
    assert (number_words(single) != number_words(x)).mean() > 0.5


def test_words_are_uniform():
    words = number_words(np.arange(100_000.0))

    # the share of ones at each place: five standard errors
    for bit in range(64):
        assert abs(np.mean(words >> np.uint64(bit) & np.uint64(1)) - 0.5) < 5 * 0.5 / np.sqrt(100_000)
