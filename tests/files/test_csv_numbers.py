"""What is a number is read as Python reads it, all else is refused; what is written reads back bit by bit.

Oracles: Python's float, repr and Decimal.
"""

import csv
import math
import re
import struct
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from csv_files import LINES, mask_lines, shortest
from hypothesis import example, given
from hypothesis import strategies as st

import condmask as cm
from condmask.files import csv_numbers
from condmask.files.csv_numbers import (
    BUILT_IN,
    CLEAR_COMMA,
    CLEAR_DOT,
    COMMA,
    DOT,
    HEAD,
    SHORTEST,
    NumberError,
    Words,
    first_mark,
    formatted,
    write,
)
from condmask.files.csv_scan import Fields

pytestmark = pytest.mark.usefixtures("unaudited")

FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e7, 1e7),
    st.integers(-(2**60), 2**60).map(float),
    st.tuples(st.integers(-(10**17), 10**17), st.integers(0, 22)).map(lambda pair: pair[0] / 10 ** pair[1]),
    st.tuples(st.integers(-(2**53), 2**53), st.integers(0, 70)).map(
        lambda pair: math.ldexp(pair[0], -pair[1])
    ),
    st.integers(-20, 60).map(lambda k: math.nextafter(2.0**k, 0.0)),
)
MARKED = st.sampled_from([".", ","])
NUMBERS = st.from_regex(r"[ \t]?[+-]?[0-9]{0,22}[.,]?[0-9]{0,22}([eE][+-]?[0-9]{1,3})?[ \n]?", fullmatch=True)
ODD = ["*", "inf", "-Infinity", "+nan", "NAN", "nan(ab)", "1_0", "0x1p3", "1d5", "1f", "٣", "1\xa0", "--1"]
WORDS = st.sampled_from([*BUILT_IN, *ODD])
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
ANY = st.one_of(NUMBERS, NUMBERS, WORDS, st.text("0123456789.,eE+- _x", max_size=12))


def laid(words):
    """Words as fields of one text, with something between them."""
    encoded = [word.encode() for word in words]
    stops = np.cumsum([len(word) + 1 for word in encoded], dtype=np.int64)
    starts = stops - [len(word) for word in encoded]
    return Fields(b"".join(b"," + word for word in encoded), starts, stops)


def read(words, decimal=".", na=("*",)):
    return csv_numbers.read(laid(words), decimal, Words([word.encode() for word in na]))


def of_python(word, decimal):
    """What a field stands for; nothing where it is refused."""
    bare = word.strip(" \t\n\r\v\f")
    if bare in (*BUILT_IN, "*"):
        return math.nan
    if "_" in bare or not bare.isascii() or (decimal == "," and "." in bare):
        return None
    try:
        value = float(bare if decimal == "." else bare.replace(",", "."))
    except ValueError:
        return None
    whole = bare.lstrip("+-")
    return None if whole.isdigit() and int(whole) > 2**53 else value


def is_whole(word):
    return re.fullmatch(r"[+-]?[0-9]+", word.strip(" \t\n\r\v\f")) is not None


def bits(value):
    return struct.pack("<d", math.nan if math.isnan(value) else value)


@given(
    words=st.lists(ANY, max_size=12),
    decimal=st.sampled_from([".", ",", None]),
    times=st.sampled_from([1, 1 + HEAD // 4]),
)
@example(words=["9007199254740992", "-0", "1e22", "1e23", "1e-22", ".5", "5.", "+1"], decimal=".", times=1)
@example(words=["0" * 30 + "1", "0." + "0" * 20 + "1", "1e400", "-1e-400", "1e99999"], decimal=".", times=1)
@example(words=["983247669427647561e-4", "21119964924259762e-10"], decimal=".", times=1)
@example(words=["--1", "."], decimal=".", times=1)
@example(words=["nan(ab)"], decimal=".", times=1)
@example(words=["1.5"], decimal=",", times=1)
@example(words=["1,5", "1.5"], decimal=None, times=1)
@example(words=["1", "+1", "-nan"], decimal=None, times=1 + HEAD // 4)
def test_numbers_are_those_of_python(words, decimal, times):
    """Field by field and all at once, whichever of the two is Arrow's."""
    expected = [of_python(word, decimal) for word in words]
    for word, value in zip(words, expected, strict=True):
        if value is None:
            with pytest.raises(NumberError):
                read([word], decimal)
        else:
            assert bits(read([word], decimal)[0].item()) == bits(value)
    if None in expected:
        beyond = {k for k, word in enumerate(words) if is_whole(word)}
        with pytest.raises(NumberError) as error:
            read(["7"] * HEAD + words, decimal)
        # whole numbers that are too large are looked for once all others are numbers
        refused = [k for k, value in enumerate(expected) if value is None]
        assert error.value.at - HEAD == next((k for k in refused if k not in beyond), refused[0])
    else:
        values, _ = read(words * times, decimal)
        assert [bits(value) for value in values.tolist()] == [bits(value) for value in expected] * times


@given(words=st.lists(st.one_of(NUMBERS, WORDS, CELLS), min_size=2, max_size=12))
def test_columns_of_files_are_those_of_python(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("numbers") / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["x"], *([word] for word in words)])
    expected = [of_python(word, ".") for word in words if word != "*"]
    if None in expected or "*" in words:
        integers = all(is_whole(w) for w, v in zip(words, expected, strict=False) if v is None)
        if not integers:
            assert cm.read_column(path, "x").tolist() == words
    else:
        assert np.array_equal(cm.read_column(path, "x"), expected, equal_nan=True)


@given(numbers=st.lists(FLOATS, max_size=30), mark=MARKED)
@example(
    numbers=[0.1, -0.0, -0.5, 1e15, 1e16, 5e-324, 123456789012345.6, 0.1 + 0.2, 2.0**53, 1 / 3], mark="."
)
@example(numbers=[1e10, 12345678901.2, 1e-7, 1.5e-9, 1.7976931348623157e308], mark=",")
def test_the_shortest_text_is_that_of_python_without_an_exponent(numbers, mark):
    text, begins, ends = write(np.array(numbers).reshape(-1, 1), np.array([SHORTEST]), mark)

    found = [text[a:b].decode() for a, b in zip(begins[:, 0], ends[:, 0], strict=True)]
    assert found == [shortest(value).replace(".", mark) for value in numbers]
    assert [bits(float(word.replace(",", "."))) for word in found] == [bits(value + 0.0) for value in numbers]
    values = csv_numbers.read(Fields(text, begins[:, 0], ends[:, 0]), mark, Words([]))[0]
    assert values.tolist() == numbers


@given(
    units=st.lists(st.one_of(st.integers(-(2**53), 2**53), st.integers(-999, 999)), max_size=20),
    places=st.integers(0, 15),
)
@example(units=[0, 1, -1, 10**8], places=8)
@example(units=[-9_007_199_254_740_291], places=2)
@example(units=[3383855691165845], places=4)
@example(units=[3578819244064751], places=14)
@example(units=[4426323205214027], places=3)
def test_fixed_decimals_are_those_of_python(units, places):
    values = np.array([unit / 10.0**places for unit in units])

    found = formatted(values, places).to_pylist()

    assert found == [f"{value + 0.0:.{places}f}" for value in values.tolist()]


def test_whole_numbers_of_any_size_have_fixed_decimals():
    """Those beyond 2^53 are written as what they are: not whole numbers that are exact."""
    texts = formatted(np.array([9e20, -(2.0**63), 1e300, 2.0**53, 7.0]), 0).to_pylist()

    assert texts == [f"9{'0' * 20}.0", f"{-(2**63)}.0", f"{int(1e300)}.0", str(2**53), "7"]


def test_columns_have_places_of_their_own_and_gaps_no_text():
    values = np.array([[1.5, 2.25, np.nan], [np.nan, 0.0, 1e-9]])
    text, begins, ends = write(values, np.array([SHORTEST, 1, 10]), ",")

    words = [text[a:b].decode() for a, b in zip(begins.flat, ends.flat, strict=True)]
    assert words == ["1,5", "2,3", "", "", "0,0", "0,0000000010"]


@given(words=st.lists(st.decimals(-(10**9), 10**9, places=3), max_size=8), mark=MARKED)
def test_texts_that_are_written_with_so_many_places_come_back(words, mark):
    values = np.array([float(word) for word in words])
    text, begins, ends = write(values.reshape(-1, 1), np.array([3]), mark)
    found = [text[a:b].decode() for a, b in zip(begins[:, 0], ends[:, 0], strict=True)]

    assert found == [str(Decimal(word) + 0).replace(".", mark) for word in words]


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["1234", "-5", "NA"], 0),
        (["1.234", "12.345", "-999.000"], DOT),
        (["1.234", "0.123"], DOT | CLEAR_DOT),
        (["1.23"], DOT | CLEAR_DOT),
        (["1234.567"], DOT | CLEAR_DOT),
        (["1.234e3"], DOT | CLEAR_DOT),
        (["1,234", "*"], COMMA),
        (["1,2345", "5"], COMMA | CLEAR_COMMA),
        (["1.234", "1,5"], DOT | COMMA | CLEAR_COMMA),
    ],
)
def test_marks_that_could_part_thousands_are_not_clear(words, seen):
    assert read(words, None)[1] == seen


def test_the_first_mark_is_that_of_the_first_record_that_has_one():
    a, b = laid(["1", "NA", "*.", "1,5"]), laid(["1", "", "2.5", "3"])

    assert first_mark([a, b], Words([b"*."])) == "."
    assert first_mark([a], Words([b"*."])) == ","
    assert first_mark([laid(["1", "2"]), laid([])], Words([])) is None


TEXTS = ["much", "1_000", "\u0661\u0662", "0x10", "True", '1""5', "1.2.3", "--1", "1e", "1e+", ".", "nan(1)"]


REFUSED = dict.fromkeys(TEXTS, "text")


COMMAS = {"1,5": r'a comma \(decimal=",", --decimal ,\)', "1,234": r"a comma \(decimal="}


SEPARATED = ["1,234.5", "1.234,5", "1'234", "1 234,50", "1.234.567", "1\u202f234.5", "-1,234,567"]


NO_NUMBERS = {**REFUSED, **COMMAS, **dict.fromkeys(SEPARATED, "some")}


@pytest.mark.parametrize(("word", "what"), NO_NUMBERS.items())
def test_what_is_no_number_is_refused(tmp_path, word, what):
    with pytest.raises(TypeError, match=rf"income must be numeric.*, got {what}.*in line 14"):
        mask_lines(tmp_path, [*LINES, f'12,"{word}",z'])


def test_integers_beyond_2_to_the_53_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"income must hold integers of at most 2\^53, got a larger one in line 14"
    ):
        mask_lines(tmp_path, [*LINES, "12,9007199254740993,z"])


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@pytest.mark.parametrize("sigma", [1e13, 1e17])
def test_what_is_released_beyond_2_to_the_53_is_read_back(tmp_path, sigma):
    x = np.random.default_rng(1).lognormal(40.0, 0.5, 200)
    scheme = cm.ConditionalMasking(0.6, sigma)
    lines = [f"{i},{v!r},z" for i, v in enumerate(x.tolist())]
    z = mask_lines(tmp_path, lines, schemes={"income": scheme})

    expected = scheme.mask(pd.Series(x, name="income"), rng=1).to_numpy()
    assert np.array_equal([float(line.split(",")[1]) for line in z.splitlines()[1:]], expected)
    assert np.array_equal(cm.read_column(tmp_path / "b.csv", "income"), expected)
