"""A copy sorted by several threads, against Python's own sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.engines import sorting
from condmask.kernels import range_partition

RNG = np.random.default_rng(12)
SHAPES = {
    "normal": RNG.normal(size=4_000),
    "ascending": np.arange(4_000.0),
    "all one": np.zeros(4_000),
    "two values": np.repeat([2.0, 1.0], 2_000),
    "largest floats": np.append(RNG.normal(size=3_998), [1.7e308, -1.7e308]),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Threads are said to pay early, and cut where a few records tell."""
    monkeypatch.setattr(sorting, "PARALLEL", 64)
    monkeypatch.setattr(sorting, "SAMPLED", 32)


@pytest.mark.parametrize("workers", [1, 2, 5, 8, 20])
@pytest.mark.parametrize("shape", SHAPES)
def test_threads_sort_as_one(shape, workers):
    z = SHAPES[shape]
    before = z.tolist()

    found = sorting.ascending(z, workers)

    assert found.tolist() == sorted(before)
    assert z.tolist() == before


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 129])
def test_sizes_about_those_from_which_threads_pay(n):
    z = np.random.default_rng(n).normal(size=n)

    assert sorting.ascending(z, 3).tolist() == sorted(z.tolist())


@pytest.mark.parametrize(
    ("n", "workers", "ranges"), [(63, 4, 0), (64, 1, 0), (64, map, 0), (64, 4, 4), (4_000, 20, 8)]
)
def test_each_of_a_few_threads_has_a_range_of_about_the_same_size(monkeypatch, n, workers, ranges):
    parts, gather = [], range_partition.gather

    def noted(z, low, high, out):
        parts.append(out.size)
        gather(z, low, high, out)

    monkeypatch.setattr(range_partition, "gather", noted)
    z = np.random.default_rng(3).permutation(n).astype(float)

    assert sorting.ascending(z, workers).tolist() == list(range(n))
    assert len(parts) == ranges
    # edges are ranks among 32 records or more: the share of a range is within four standard errors of
    # sqrt(1/4 / 32) = .09 of 1/ranges, for fixed data
    assert all(abs(part / n - 1 / ranges) < 4 * 0.09 for part in parts)


@given(st.lists(st.floats(-9, 9), max_size=40), st.floats(-9, 9), st.floats(0, 9))
def test_values_of_a_range_are_gathered_in_their_order(values, low, width):
    high = low + width
    z, inside = np.array(values), [value for value in values if low <= value < high]
    out = np.full(len(inside), np.nan)

    range_partition.gather(z, low, high, out)

    assert out.tolist() == inside
    assert range_partition.count_below(z, low) == len([value for value in values if value < low])


@pytest.mark.parametrize(
    "z",
    [
        np.random.default_rng(3).laplace(10.0, 1000.0, 30_000),
        np.random.default_rng(3).lognormal(8.0, 0.5, 30_000).round(-2),
        np.append(np.random.default_rng(3).normal(size=9_000), [1e300, -1e300, 0.0, -0.0]),
        1e9 + np.random.default_rng(3).normal(size=9_000),
        np.zeros(5) * -1.0,
    ],
    ids=["continuous", "heaped", "far", "close", "zeros"],
)
def test_selected_values_are_those_of_the_sorted_sample(z):
    ranks = np.array([0, z.size - 1, *np.random.default_rng(4).integers(0, z.size, 9), 2, 2])

    found = sorting.selected(z, ranks, (z.min(), z.max()))

    assert np.array_equal(found, np.sort(z)[ranks])
    assert not np.signbit(found[found == 0.0]).any()
