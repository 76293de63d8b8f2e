"""Numbers, columns and arguments as Hypothesis draws them: with extremes and with what is none."""

import decimal
import fractions

import numpy as np
from hypothesis import strategies as st

EXTREMES = (
    0.0, -0.0, 1.0, -1.0, 5e-324, 2.2e-308, 1e-16, 1e15, 2.0**53, 2.0**53 + 2, 2.0**63, 1e300, 1.7e308,
    -1.7e308,
    float("inf"), float("-inf"), float("nan"), 1 / 3, 0.1,
)  # fmt: skip


def numbers():
    """Floats, whole numbers beyond any type, and extremes."""
    return st.one_of(st.sampled_from(EXTREMES), st.floats(), st.integers(-(2**70), 2**70))


def arrays(most=40):
    """Arrays of numbers: plain, on a grid, tied, or of extremes."""
    size = st.integers(0, most)
    plain = st.tuples(size, st.integers(0, 2**32), st.sampled_from([1e-300, 1e-3, 1.0, 1e6, 1e300])).map(
        drawn
    )
    whole = st.lists(st.integers(-50, 50), max_size=most).map(lambda v: np.array(v, dtype=np.int64))
    tenths = whole.map(lambda v: v / 10.0)
    extreme = st.lists(st.one_of(st.sampled_from(EXTREMES), st.floats()), max_size=most).map(np.array)
    gappy = tenths.map(lambda v: np.where(np.arange(v.size) % 4 == 1, np.nan, v))
    return st.one_of(plain, plain, whole, tenths, gappy, extreme)


def drawn(arguments):
    """Normal values from a seed, in some unit."""
    size, seed, unit = arguments
    return np.random.default_rng(seed).normal(0.0, unit, size)


def columns(most=40):
    """Arrays of several types, and lists."""
    kinds = [
        np.asarray,
        list,
        single,
        np.ascontiguousarray,
        lambda v: v[::-1],
        lambda v: np.repeat(v, 2)[::2],
    ]
    return st.tuples(arrays(most), st.sampled_from(kinds)).map(lambda both: both[1](both[0]))


def single(values):
    """In single precision."""
    with np.errstate(all="ignore"):
        return np.asarray(values, dtype=np.float32)


ODD = (
    None, True, ..., 1j, np.datetime64("NaT"), np.float16(1), np.array(2.0), np.array([]), np.eye(2),
    range(3), object(), decimal.Decimal("NaN"), fractions.Fraction(1, 3), int, len, {1}, np.array(["a"]),
    np.array([None, 1], dtype=object), np.array([1], dtype=">f8"), np.ma.masked, np.zeros((0, 2)),
)  # fmt: skip


def anything():
    """What nobody should pass, and what somebody does."""
    plain = st.one_of(st.sampled_from(ODD), numbers(), st.text(max_size=5), st.binary(max_size=5))
    several = st.lists(plain, max_size=3), st.dictionaries(st.text(max_size=2), plain, max_size=2)
    return st.one_of(plain, *several)
