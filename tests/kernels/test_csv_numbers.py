"""Numbers in CSV text against Python's float and repr, bit by bit and letter by letter."""

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condmask.kernels import csv_numbers as kernels

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


def laid(words):
    """Words as one text, and the bounds of each."""
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    return np.frombuffer(b"".join(words), dtype=np.uint8), ends - [len(word) for word in words], ends


def parsed(words, mark="."):
    text, starts, stops = laid(words)
    values, state = np.empty(len(words)), np.empty(len(words), dtype=np.uint8)
    seen = kernels.parse_numbers(text, starts, stops, ord(mark) if mark else 0, values, state)
    return values, state, seen


def formatted(values, places, mark="."):
    rows = np.array(values, dtype=np.float64).reshape(-1, len(places))
    out = np.empty(rows.size * kernels.WIDEST, dtype=np.uint8)
    ends = np.empty(rows.size, dtype=np.int64)
    left = kernels.format_numbers(rows, np.array(places), ord(mark), out, ends)
    text = out.tobytes()
    found = [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
    assert left == sum(word == "" and not math.isnan(v) for word, v in zip(found, rows.flat, strict=True))
    return found


def bits(value):
    return struct.pack("<d", value)


@given(words=st.lists(st.text("0123456789.,eE+- \tx_", max_size=26), min_size=1, max_size=20), mark=MARKED)
@example(
    words=["9007199254740993", "9007199254740992", "-0", "1e22", "1e23", "1e-22", ".5", "5.", "+1"], mark="."
)
@example(words=["0" * 30 + "1", "0." + "0" * 20 + "1", "1e400", "1e-400", "1" * 18, "1" * 19], mark=".")
@example(words=["983247669427647561e-4", "21119964924259762e-10"], mark=".")
def test_numbers_are_those_of_float_or_handed_back(words, mark):
    values, state, _ = parsed([word.encode() for word in words], mark)

    for word, value, what in zip(words, values.tolist(), state.tolist(), strict=True):
        if not word.strip():
            assert what == kernels.MISSING
            continue
        try:
            other = word if mark == "." else word.replace(".", "x").replace(",", ".")
            expected = None if "_" in word else float(other)
        except ValueError:
            expected = None
        if what == kernels.DONE:
            assert bits(value) == bits(expected)
        elif what == kernels.EXACTLY:
            assert expected is not None
            assert math.isnan(value)
        else:
            assert (what, expected) == (kernels.WORD, None)


@given(numbers=st.lists(FLOATS, min_size=1, max_size=30), places=st.integers(0, 17), mark=MARKED)
def test_most_numbers_are_read_at_once_and_exactly(numbers, places, mark):
    words = [f"{v:.{places}e}" if abs(v) > 1e15 else f"{v:.{places}f}" for v in numbers]
    values, state, _ = parsed([word.replace(".", mark).encode() for word in words], mark)

    for word, value, what in zip(words, values.tolist(), state.tolist(), strict=True):
        assert what in (kernels.DONE, kernels.EXACTLY)
        if what == kernels.DONE:
            assert bits(value) == bits(float(word))
        else:
            assert sum(map(str.isdigit, word)) > 15 or "e" in word


@given(numbers=st.lists(FLOATS, min_size=1, max_size=30), mark=MARKED)
@example(
    numbers=[0.1, 0.0, -0.5, 1e15, 1e16, 5e-324, 123456789012345.6, 0.1 + 0.2, 2.0**53, 1 / 3, 1e-4], mark="."
)
def test_the_shortest_text_is_that_of_python(numbers, mark):
    found = formatted([v + 0.0 for v in numbers], [kernels.SHORTEST], mark)

    for value, word in zip(numbers, found, strict=True):
        assert word in ("", repr(value + 0.0).replace(".", mark))


def test_common_numbers_need_no_help():
    random = np.random.default_rng(1)
    for values in (
        random.lognormal(8.0, 0.5, 5_000),
        random.normal(size=5_000),
        random.lognormal(8.0, 3.0, 5_000).round(2),
        np.rint(random.normal(size=5_000) * 2**10) / 2**10,
        random.integers(-(10**9), 10**9, 5_000).astype(float),
    ):
        found = formatted(values, [kernels.SHORTEST])

        assert sum(word == "" for word in found) < 10


@given(data=st.data(), places=st.integers(0, 15))
def test_fixed_decimals_are_those_of_python(data, places):
    units = data.draw(st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=1, max_size=20))
    values = [unit / 10.0**places for unit in units]

    found = formatted(values, [places])

    for unit, value, word in zip(units, values, found, strict=True):
        assert word == f"{value:.{places}f}" or (word == "" and abs(unit) >= 2**51 - 1)


def test_products_that_round_to_the_next_unit_are_handed_back():
    """From 2^51 on value and product may be off by half a unit together."""
    for unit, places in ((3383855691165845, 4), (3578819244064751, 14), (4426323205214027, 3)):
        value = unit / 10.0**places
        assert formatted([value], [places])[0] in ("", f"{value:.{places}f}")


def test_gaps_have_no_text_and_large_numbers_are_handed_back():
    assert formatted([np.nan, 1e300, 2.0**53, -(2.0**51) + 1.0], [0]) == ["", "", "", "-2251799813685247"]
    assert formatted([np.nan, 1.5, 2.25, np.nan], [kernels.SHORTEST, 1]) == ["", "1.5", "2.25", ""]


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["1234", "-5", "NA", "1.2.3"], 0),
        (["1.234", "12.345", "-999.000"], kernels.DOT),
        (["1.234", "0.123"], kernels.DOT | kernels.CLEAR_DOT),
        (["1.23"], kernels.DOT | kernels.CLEAR_DOT),
        (["1234.567"], kernels.DOT | kernels.CLEAR_DOT),
        (["1.234e3"], kernels.DOT | kernels.CLEAR_DOT),
        (["1,234"], kernels.COMMA),
        (["1,2345", "5"], kernels.COMMA | kernels.CLEAR_COMMA),
        (["1.234", "1,5"], kernels.DOT | kernels.COMMA | kernels.CLEAR_COMMA),
        (["1.234,5"], 0),
    ],
)
def test_marks_that_could_part_thousands_are_not_clear(words, seen):
    assert parsed([word.encode() for word in words], mark=None)[2] == seen


@given(
    pieces=st.lists(
        st.tuples(st.binary(max_size=4), st.binary(min_size=1, max_size=4), st.booleans()), max_size=9
    )
)
def test_texts_that_are_wanting_are_filled_in(pieces):
    pieces = [(b"" if wanting else own, more, wanting) for own, more, wanting in pieces]
    fields, _, ends = laid([own for own, _, _ in pieces])
    more, _, more_ends = laid([more for _, more, wanting in pieces if wanting])
    expected = [more if wanting else own for own, more, wanting in pieces]
    out, out_ends = np.empty(fields.size + more.size, dtype=np.uint8), np.empty_like(ends)

    wanting = np.array([wanting for *_, wanting in pieces], dtype=bool)
    kernels.fill_in(fields, ends, wanting, more, more_ends, out, out_ends)

    assert out.tobytes() == b"".join(expected)
    assert out_ends.tolist() == np.cumsum([len(each) for each in expected]).tolist()
