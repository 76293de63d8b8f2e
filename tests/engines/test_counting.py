"""Counts by grid point against a dictionary, for data that come in any order and lie anywhere."""

import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.engines import counting
from condmask.engines.counting import EMPTY, ValueCounts, count, distinct, merged
from condmask.grid import Grid, decimal_grid, grid_of
from condmask.samples.columns import counted_parts

GRIDS = [Grid(1.0, 1.0), decimal_grid(2), decimal_grid(-2), grid_of(0.05), grid_of(1 / 3), grid_of(2.0**-30)]
RNG = np.random.default_rng(2)
N = 20_000  # more than FEW, so that windows are counted
SHAPES = {
    "normal": RNG.normal(0, 1000, N),
    "ties": RNG.integers(-3, 4, N),
    "two far clusters": np.where(RNG.random(N) < 0.5, 0, 10**9) + RNG.normal(0, 300, N),
    "ten clusters, more than windows": RNG.integers(0, 10, N) * 10**10 + RNG.normal(0, 9, N),
    "isolated": RNG.integers(-(2**45), 2**45, N),
    "one outlier": np.append(RNG.normal(0, 100, N), 2.0**50),
    "lognormal": np.exp(RNG.normal(0, 4, N)) * 1000,
    "sorted": np.arange(N) * 17,
    "few": RNG.normal(0, 10, 50),
    "one": np.array([5.0]),
}


def plain(units):
    """Value: how often, by Python's own counting."""
    found = sorted(Counter(np.asarray(units).tolist()).items())
    return [value for value, _ in found], [times for _, times in found]


def assert_counts(found, units):
    values, times = plain(units)
    assert found.values.tolist() == values
    assert found.counts.tolist() == times
    assert found.counts.dtype == np.int64


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_every_record_is_counted_at_its_point(name, grid):
    units = np.rint(SHAPES[name])

    found, off = count(grid.values(units), grid)

    assert off.size == 0
    assert_counts(found, units)
    assert found.n == units.size
    assert np.array_equal(found.records(), np.sort(units))
    assert found.below.tolist() == [0, *np.cumsum(found.counts).tolist()]


@pytest.mark.parametrize("name", ["normal", "isolated", "few"])
def test_what_lies_off_the_grid_is_handed_back(name):
    units = np.rint(SHAPES[name])
    strange = np.array([0.4, np.nan, -7.5, np.inf, -np.inf, 1e-9, np.nan])
    z = np.insert(units, [0, 3, 17, units.size // 2, units.size, 1, 2], strange)

    found, off = count(z, Grid(1.0, 1.0))

    assert_counts(found, units)
    assert sorted(off[~np.isnan(off)].tolist()) == [-np.inf, -7.5, 1e-9, 0.4, np.inf]
    assert np.isnan(off).sum() == 2


@pytest.mark.parametrize("workers", [1, 2, 5, "map"])
def test_the_number_of_workers_leaves_no_trace(workers):
    units = np.rint(np.random.default_rng(3).normal(0, 9000, 2 * counting.BLOCK + 77))
    units[::1000] *= 10**9
    with ThreadPoolExecutor(3) as pool:
        found, off = count(units, Grid(1.0, 1.0), pool.map if workers == "map" else workers)

    values, times = np.unique(units, return_counts=True)
    assert (found.values.tolist(), found.counts.tolist(), off.size) == (values.tolist(), times.tolist(), 0)


@given(
    near=st.lists(st.integers(-60, 60), max_size=80),
    far=st.lists(st.integers(-(2**50), 2**50), max_size=30),
    off=st.lists(st.sampled_from([0.5, -7.25, np.inf]), max_size=5),
    order=st.randoms(use_true_random=False),
    workers=st.sampled_from([1, 2]),
)
def test_windows_and_blocks_of_any_size_count_the_same(near, far, off, order, workers):
    records = [*near, *far, *off]
    order.shuffle(records)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in {
            "SAMPLE": 4, "SMALLEST": 16, "WINDOWS": 3, "FEW": 2, "SHARED": 40, "BLOCK": 7,
        }.items():  # fmt: skip
            patch.setattr(counting, name, size)

        found, rest = count(np.array(records, dtype=float), Grid(1.0, 1.0), workers)

    assert_counts(found, np.array([*near, *far], dtype=float))
    assert sorted(rest.tolist()) == sorted(off)


def test_values_may_miss_their_point_by_rounding_alone():
    grid = decimal_grid(1)
    points = np.arange(-5000, 5001) / 10
    z = np.concatenate([points, np.nextafter(points, 1e9), np.nextafter(points, -1e9)])
    zero = z[np.abs(z) < 1e-9]  # next to 0 nothing is near enough but 0

    found, off = count(z, grid)

    assert sorted(off.tolist()) == sorted(zero[zero != 0.0].tolist())
    assert found.values.tolist() == list(range(-5000, 5001))
    assert (np.delete(found.counts, 5000) == 3).all()


def test_a_million_isolated_points_take_little_memory():
    z = np.random.default_rng(4).integers(-(2**52), 2**52, 1_000_000).astype(float)
    count(z[:9000], Grid(1.0, 1.0))
    tracemalloc.start()
    found, _ = count(z, Grid(1.0, 1.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.n == 1_000_000
    assert peak < 2e8  # of 8 MB of records, a window of 4 points each (32 MB) and sorting


@given(
    parts=st.lists(st.lists(st.integers(-9, 9), max_size=8), max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_parts_are_merged_in_any_order(parts, order):
    counted = [count(np.array(part, dtype=float), Grid(1.0, 1.0))[0] for part in parts]
    order.shuffle(counted)

    assert_counts(
        merged([EMPTY, *counted]), np.array([value for part in parts for value in part], dtype=float)
    )


def test_nothing_has_no_counts():
    found, off = count(np.empty(0), Grid(1.0, 1.0))

    assert (found.n, off.size, found.below.tolist()) == (0, 0, [0])
    assert merged([found, EMPTY]).n == 0
    assert ValueCounts(*found).records().size == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_parts_far_from_the_first_are_counted_too(workers):
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, 900, 2_000) + start for start in (0.0, 1e9, -1e7, 1.0)]
    parts[2][::3] = np.nan
    found = counted_parts([(part, "float64") for part in parts], decimal_grid(0), workers)
    z = np.concatenate(parts)
    values, counts = np.unique(z[~np.isnan(z)], return_counts=True)
    assert np.array_equal(found.values, values)
    assert np.array_equal(found.counts, counts)


def test_zero_has_no_sign():
    values, counts = counting.by_value(np.array([-1.0, -0.0, 0.0]))
    assert (values.tolist(), counts.tolist()) == ([-1.0, 0.0], [1, 2])
    assert not np.signbit(values[1])


@pytest.mark.parametrize("held", [0, 40, 1 << 18])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_distinct_numbers_are_those_of_all_parts(held, kind, monkeypatch):
    monkeypatch.setattr(counting, "MERGED", held)
    parts = [RNG.integers(0, most, 50).astype(kind) for most in (10, 90, 3, 90, 200)]
    for some in (parts, parts[:1], []):
        found = distinct(iter(some), kind)
        assert found.dtype == kind
        assert found.tolist() == sorted({number for part in some for number in part.tolist()})


def test_more_points_than_memory_holds_are_not_counted(monkeypatch):
    monkeypatch.setattr(counting, "MERGED", 4)
    monkeypatch.setattr(counting, "MOST_POINTS", 10)
    tally = counting.Tally(grid_of(1.0))

    def add(*firsts):
        for first in firsts:
            tally.add_counts(ValueCounts(np.arange(first, first + 3.0), np.ones(3, dtype=np.int64)))

    add(*[0.0] * 9)  # the same points again
    with pytest.raises(counting.TooManyPointsError):
        add(*range(0, 60, 3))
