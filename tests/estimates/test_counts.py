"""Counts against the estimate from the values, bit by bit, however the values were cut and merged."""

import io
import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import condmask as cm
from condmask import _state
from condmask.estimates.origin import Origin

pytestmark = pytest.mark.usefixtures("unaudited")

RNG = np.random.default_rng(12)
NOISES = ("normal", "laplace")


def scheme(p=0.6, sigma=1.3, **options):
    if "decimals" not in options:
        options.setdefault("step", 0.125)
    return cm.ConditionalMasking(p, sigma, **options)


def counted(one, *parts, **options):
    counts = cm.Counts(one, **options)
    for part in parts:
        counts.update(part)
    return counts


def gridded(values, step=0.125):
    return np.rint(np.asarray(values, dtype=float) / step) * step


def test_sixteen_threads_add_to_the_same_counts():
    one, together = scheme(), Barrier(16)
    parts = [[gridded(RNG.normal(0.0, 3.0, 20)) for _ in range(30)] for _ in range(16)]
    shared, values = cm.Counts(one), np.concatenate([part for own in parts for part in own])

    def add(own):
        together.wait(60)
        for part in own:
            shared.update(part)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads meet within a line
    try:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(add, parts))
    finally:
        sys.setswitchinterval(before)

    expected = counted(one, values)
    assert shared.n == values.size
    assert all(map(np.array_equal, shared.counted[:2], expected.counted[:2]))


def answers(one):
    """All that counts determine."""
    x, q = np.linspace(-40, 80, 37), np.linspace(0.03, 0.97, 21)
    yield from (one.n, one.mean(), one.variance(), one.moment(3), one.moment(4, central=True))
    yield from (one.bandwidth(), one.bandwidth("undersmooth"))
    for width in (None, 0.6, "scott"):
        yield one.cdf(x, bandwidth=width)
        yield one.quantile(q, bandwidth=width)
        yield one.quantile(q[:3], bandwidth=width, crossing="rearranged")
        yield one.cdf(x[::9], bandwidth=width, monotone=True)
    yield one.pdf(x)


def assert_same_answers(one, other):
    for a, b in zip(answers(one), answers(other), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", [0.2, 0.6])
def test_counts_give_the_bits_of_their_values(noise, p):
    rng = np.random.default_rng(108)
    one = scheme(p, noise=noise)
    z = gridded(rng.laplace(40, 5, 4_000))

    assert_same_answers(one.estimate(counted(one, z)), one.estimate(z))


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32), n=st.integers(30, 300), spread=st.sampled_from([3, 20, 1000]),
    cuts=st.lists(st.integers(0, 300), max_size=5), order=st.randoms(use_true_random=False),
)  # fmt: skip
def test_cuts_and_the_order_of_merges_leave_no_trace(seed, n, spread, cuts, order):
    one = scheme(0.3)
    z = gridded(np.random.default_rng(seed).normal(0, spread, n))
    parts = [counted(one, part) for part in np.split(z, np.sort(np.minimum(cuts, n)).astype(int))]
    order.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part if n % 2 else part + total

    assert np.array_equal(total.counted.values, np.unique(z) / 0.125)
    assert_same_answers(one.estimate(total), one.estimate(z))


PUBLISHED = {
    "p": 0.6, "sigma": 1.0, "noise": "normal", "step": 1.0, "strata": None,
    "missing": (), "missing_as": "code", "donors": "permutation",
}  # fmt: skip
DIFFERENT = [
    {"p": 0.7}, {"sigma": 2.0}, {"noise": "laplace"}, {"step": 0.5},
    {"strata": "region"}, {"strata": ("region", "sex")},
    {"missing": (-8.0,)}, {"missing": (-8.0, -9.0)}, {"donors": "sample"},
]  # fmt: skip


@pytest.mark.parametrize("options", DIFFERENT, ids=str)
def test_counts_of_schemes_that_differ_in_one_thing_are_not_added(options):
    # where -8 is a code it is no value, so that one file has other counts with and without it
    one, other = (cm.ConditionalMasking(**{**PUBLISHED, **own}) for own in ({}, options))
    z = [1.0, 1.0, 1.0]  # on all of these grids
    first, second = counted(one, z), counted(other, z)

    for a, b in ((first, second), (second, first)):
        before = a.to_bytes()
        with pytest.raises(ValueError, match=r"^other must be Counts of the same scheme "):
            a.merge(b)
        with pytest.raises(ValueError, match=r"^other must be Counts of the same scheme "):
            a + b
        assert a.to_bytes() == before
    for counts, scheme_ in ((first, other), (second, one)):
        with pytest.raises(ValueError, match=r"^z must be Counts of the scheme "):
            scheme_.estimate(counts)
    again = cm.Counts.from_bytes(second.to_bytes())
    assert (again + second).n == other.estimate(second).n + 3 == 6  # what is alike is added


def test_counts_of_columns_of_different_origins_are_not_added():
    for origin in (Origin("g"), Origin(patterns=("age",))):
        first, second = counted(scheme(), [1.0, 1.0]), counted(scheme(), [1.0, 1.0], origin=origin)
        with pytest.raises(ValueError, match=r"^other must be Counts of the same scheme "):
            first.merge(second)
        assert scheme().estimate(second).origin == origin


# --- reverse mapping: counts by value ---

MAPPED = cm.ConditionalMasking(0.6, 1.3, reverse_mapping=True)
VALUES = st.one_of(
    st.integers(-20, 20).map(lambda k: 100.0 * k),  # heaps
    st.floats(-1e6, 1e6),
    st.sampled_from([-0.0, 0.0, 5e-324, -5e-324, 1e300, -1e300, 2.0**53, 2.0**53 + 2.0]),
)


@settings(max_examples=60)
@given(
    values=st.lists(VALUES, min_size=2, max_size=60), cuts=st.lists(st.integers(0, 60), max_size=4),
    order=st.randoms(use_true_random=False),
)  # fmt: skip
def test_counts_by_value_depend_on_the_records_alone(values, cuts, order):
    whole = counted(MAPPED, np.array(values))
    shuffled = np.array(order.sample(values, len(values)))
    parts = [counted(MAPPED, part) for part in np.split(shuffled, np.sort(np.minimum(cuts, len(values))))]
    total = parts[0]
    for part in parts[1:]:
        total = total + cm.Counts.from_bytes(part.to_bytes()) if len(values) % 2 else part + total

    assert total.to_bytes() == whole.to_bytes()
    assert whole.n == len(values)
    distinct, records = (each.tolist() for each in whole.counted[:2])
    assert dict(zip(distinct, records, strict=True)) == Counter(values)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), n=st.sampled_from([2, 30, 3_000]), places=st.sampled_from([-1, 0, 12]))
def test_counts_by_value_give_the_bits_of_the_records(seed, n, places):
    x = np.random.default_rng(seed).laplace(40.0, 50.0, n).round(places)
    x[::7] = 0.0
    if np.unique(x).size < 4:
        return
    records, found = MAPPED.estimate(x), MAPPED.estimate(counted(MAPPED, *np.array_split(x[::-1], 3)))

    assert_same_answers(found, records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.EstimateWarning)
        for target in ("population", "file"):
            for a, b in zip(found.summary(target=target), records.summary(target=target), strict=True):
                assert a == b
            one, other = (each.summary(points=[10.0], target=target) for each in (found, records))
            for part in ("estimate", "standard_error", "low", "high"):
                assert np.array_equal(getattr(one, part), getattr(other, part))
        assert found.expectation(np.cos) == records.expectation(np.cos)


OTHERS = [
    {"p": 0.7}, {"sigma": 2.0}, {"noise": "laplace"}, {"scale": "log"}, {"aggregate_ends": 3},
    {"strata": "region"}, {"missing": (-8.0,)},
    {"reverse_mapping": False, "step": 0.5},
]  # fmt: skip


@pytest.mark.parametrize("options", OTHERS, ids=str)
def test_counts_after_reverse_mapping_are_added_to_their_like_alone(options):
    one, other = MAPPED, cm.ConditionalMasking(**{"p": 0.6, "sigma": 1.3, "reverse_mapping": True, **options})
    first, second = counted(one, [1.0, 2.0]), counted(other, [1.0, 2.0])

    for a, b in ((first, second), (second, first)):
        with pytest.raises(ValueError, match=r"^other must be Counts of the same scheme "):
            a + b
    with pytest.raises(ValueError, match=r"^z must be Counts of the scheme "):
        one.estimate(second)
    again = cm.Counts.from_bytes(second.to_bytes())
    assert other.estimate(again + second).n == 4


def test_counts_after_reverse_mapping_leave_codes_and_gaps_out():
    one = cm.ConditionalMasking(0.6, 1.3, reverse_mapping=True, missing=(-8.0,))
    counts = counted(one, [-8.0, np.nan, 3.0, 3.0, 7.5])

    assert (counts.n, counts.counted.values.tolist()) == (3, [3.0, 7.5])


def test_codes_released_as_nulls_are_no_part_of_a_release():
    # a masked value may be -8 then, and counts as one
    one, other = (scheme(missing=codes, missing_as="null") for codes in ((), (-8.0,)))

    total = counted(one, [-8.0, 1.0]) + counted(other, [-8.0, np.nan])

    assert total.counted.values.tolist() == [-64.0, 8.0]
    assert total.counted.counts.tolist() == [2, 1]


@pytest.mark.parametrize("strata", ["region", ("region", "sex")])
def test_bytes_give_the_counts_back(strata):
    rng = np.random.default_rng(110)
    counts = cm.Counts(scheme(0.6, strata=strata), origin=Origin("g", ("a", "b")))
    counts.update(gridded(rng.normal(size=1000) * 9))

    back = cm.Counts.from_bytes(counts.to_bytes())

    assert back.to_bytes() == counts.to_bytes()
    assert (back.scheme, back.origin) == (counts.scheme, counts.origin)
    assert (back.nbytes, back.n) == (counts.nbytes, 1000)
    back.merge(counts)  # what is read back goes on
    assert back.n == 2000


@pytest.mark.parametrize("read", [cm.Counts.from_bytes, cm.StudyResult.load])
def test_damaged_bytes_are_refused(read, tmp_path):
    rng = np.random.default_rng(111)
    whole = counted(scheme(), gridded(rng.normal(size=100))).to_bytes()
    missing = io.BytesIO()
    np.savez(missing, described=np.frombuffer(b"{}", dtype=np.uint8), index=0, moments=0, pairs=0, sums=0)
    damaged = [b"", b"nothing", whole[:1000], whole[:-100], missing.getvalue()]
    for data in damaged:
        given, file = data, tmp_path / "state.npz"
        if read == cm.StudyResult.load:
            file.write_bytes(data)
            given = file
        with pytest.raises(ValueError, match=r"^(data must be the bytes|path must be a saved StudyResult)"):
            read(given)
    with pytest.raises(TypeError, match=r"^data must be the bytes of Counts, got str$"):
        cm.Counts.from_bytes("text")


def test_a_turned_byte_is_refused_or_changes_nothing():
    whole = counted(scheme(), gridded(np.random.default_rng(111).normal(size=100))).to_bytes()
    refused = 0
    for place in range(0, len(whole), 5):
        turned = bytearray(whole)
        turned[place] ^= 255
        try:
            read = cm.Counts.from_bytes(bytes(turned))
        except ValueError:
            refused += 1
        else:  # nobody reads this byte: a date, say
            assert read.to_bytes() == whole

    assert refused > len(whole) / 10


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("step", [2.0**-10, 1.0])
def test_infinite_points_have_the_limits(noise, step):
    rng = np.random.default_rng(112)
    one = scheme(sigma=8.0, noise=noise, step=step)
    estimate = one.estimate(counted(one, np.round(rng.normal(0, 9, 100))))
    far, limits = [-np.inf, -1e308, 1e308, np.inf], pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-15)

    assert estimate.cdf(far) == limits
    assert estimate.cdf(far, bandwidth=9.0) == pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-10)
    assert estimate.pdf(far, bandwidth=9.0) == pytest.approx([0.0] * 4, abs=1e-15)


def test_counts_of_wide_data_give_the_bits_of_their_values():
    one = scheme(0.6, 1.0, step=2.0**-10)
    z = gridded(1e6 * np.random.default_rng(3).standard_cauchy(3_000), 2.0**-10)
    found, whole = one.estimate(counted(one, z)), one.estimate(z)

    assert_same_answers(found, whole)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: scheme().estimate(cm.Counts(scheme())),
            r"z must have at least 2 values, got Counts of 0",
        ),
        (
            lambda: scheme().estimate(counted(scheme(), [1.0])),
            r"z must have at least 2 values, got Counts of 1",
        ),
        (
            lambda: scheme(0.7).estimate(counted(scheme(), [1.0])),
            r"z must be Counts of the scheme .*p=0\.7.*",
        ),
        (
            lambda: cm.Counts(scheme(sigma=1000.0, step=0)),
            r"scheme must have a grid for Counts, got step=0; mask with step=1, the default .*",
        ),
        (
            lambda: counted(scheme(), [1.0, 1.3, np.nan, 0.2]),
            r"z must lie on the grid of its scheme, multiples of 0\.125, got 1\.3 at position 1 \(2 such "
            r"values\); data without a grid have a scheme of step=0",
        ),
        (lambda: cm.Counts.from_bytes(b"nothing"), r"data must be the bytes of Counts, got 7 .*"),
        (
            lambda: cm.Counts(scheme()).merge(cm.Counts(scheme(0.7))),
            r"other must be Counts of the same scheme .*",
        ),
        (
            lambda: scheme().estimate(counted(scheme(), [1.0, 2.0])).cdf(0.0, bandwidth=0.1),
            r"bandwidth must be at least 1\.5 steps of the grid, 0\.1875, got 0\.1 with step=0\.125",
        ),
        (
            lambda: scheme().estimate(counted(scheme(), [1.0, 2.0]), workers="x"),
            r"workers must be a whole number .* got 'x'",
        ),
        (
            lambda: scheme().estimate(counted(scheme(), [1.0, 2.0])).covariance([1.0, 2.0]),
            r"z must be masked values for statistics of two columns, got Counts, which keep no pairs",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()


@pytest.mark.parametrize(
    "other", [cm.DataSwapping(), cm.AdditiveNoise(10.0), cm.MultiplicativeNoise(0.1), "scheme"]
)
def test_schemes_without_t_1_are_refused(other):
    with pytest.raises(TypeError, match=r"^scheme must be ConditionalMasking, got "):
        cm.Counts(other)


def test_a_refused_update_adds_nothing():
    counts = counted(scheme(), [1.0, 2.0])
    before = counts.to_bytes()

    with pytest.raises(ValueError, match="z must lie on the grid"):
        counts.update([3.0, 0.3])

    assert counts.to_bytes() == before


@pytest.mark.parametrize("container", [pd.Series, pl.Series, pa.array, list])
def test_any_container_is_counted(container):
    rng = np.random.default_rng(114)
    z = gridded(rng.normal(size=500))

    assert counted(scheme(), container(z)).to_bytes() == counted(scheme(), z).to_bytes()


def test_single_precision_may_miss_decimal_points_by_its_own_rounding():
    one = cm.ConditionalMasking(0.6, 1.0, decimals=2)
    z = np.arange(-500, 500) / 100

    found = counted(one, z.astype(np.float32))

    assert found.counted.values.tolist() == list(range(-500, 500))
    assert_same_answers(one.estimate(found), one.estimate(z))


def test_missing_values_and_empty_parts_are_left_out():
    counts = cm.Counts(scheme())
    counts.update([])
    counts.update([np.nan, 1.0, np.nan])

    assert counts.n == 1
    assert "n=1, points=1, nbytes=16" in repr(counts)


def packed(whole, described=(), **arrays):
    """The bytes of counts of which some parts are others; their digest holds."""
    parts, given = _state.unpack(whole.to_bytes())
    for name, other in dict(described).items():
        parts[name] = {**parts[name], **other} if isinstance(other, dict) else other
    return _state.pack(parts, **{**given, **arrays})


@pytest.mark.parametrize(
    ("described", "arrays"),
    [
        ({"scheme": {"p": 1.5}}, {}),
        ({"scheme": {"sigma": -1.0}}, {}),
        ({"scheme": {"noise": "cauchy"}}, {}),
        ({"scheme": {"step": 0.0}}, {}),
        ({"scheme": {"missing": ["a"]}}, {}),
        ({"scheme": 5}, {}),
        ({"origin": [5, [], []]}, {}),
        ({"origin": [None, [], ["a"]]}, {}),
        ({"origin": 5}, {}),
        ({}, {"values": np.array([3.0, 2.0]), "counts": np.array([1, 1])}),
        ({}, {"values": np.array([1.0, np.nan]), "counts": np.array([1, 1])}),
        ({}, {"values": np.array([1.5, 2.0]), "counts": np.array([1, 1])}),
        ({}, {"values": np.array([1.0, 2.0]), "counts": np.array([1, -1])}),
        ({}, {"values": np.array([1.0, 2.0]), "counts": np.array([1.0, 1.0])}),
        ({}, {"values": np.array([1.0, 2.0]), "counts": np.array([1])}),
        ({}, {"values": np.array(1.0), "counts": np.array(1)}),
        ({}, {"values": np.array([1.0, 2.0]), "counts": np.array([2**62, 2**62])}),
    ],
)
def test_a_state_that_no_updates_lead_to_is_refused(described, arrays):
    counts = counted(scheme(), gridded(np.random.default_rng(1).normal(size=50)))

    assert cm.Counts.from_bytes(packed(counts)).to_bytes() == counts.to_bytes()
    with pytest.raises(ValueError, match=r"^data must be the bytes of Counts, got \d+ bytes that are not$"):
        cm.Counts.from_bytes(packed(counts, described, **arrays))


def test_counts_whose_bytes_were_changed_are_refused():
    counts = counted(scheme(), gridded(np.random.default_rng(1).normal(size=50)))
    with np.load(io.BytesIO(counts.to_bytes())) as state:
        parts = dict(state)
    parts["values"] = parts["values"] + 1.0  # whole, ascending: nothing but the digest tells
    changed = io.BytesIO()
    np.savez(changed, **parts)

    with pytest.raises(ValueError, match=r"^data must be the bytes of Counts"):
        cm.Counts.from_bytes(changed.getvalue())
