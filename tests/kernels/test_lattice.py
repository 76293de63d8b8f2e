"""Power sums, pages and polynomials of cells against loops over the records."""

from math import factorial

import numpy as np
import pytest

from condmask.kernels import lattice

STREAM = np.random.default_rng(2)
Z = np.sort(STREAM.normal(size=3_000))
ORIGIN, PER_WIDTH = -6.0, 2.5
CELL = np.floor((Z - ORIGIN) * PER_WIDTH).astype(int)
NONE = np.empty(0, dtype=np.int64)


def plain_sums(counts):
    t = (Z - ORIGIN) * PER_WIDTH - CELL - 0.5
    return np.array([np.bincount(CELL, counts * t**m, 30) for m in range(lattice.ORDER)]).T


def test_power_sums_are_those_of_each_cell():
    found = np.zeros((30, lattice.ORDER))
    for start, stop in ((0, 1_000), (1_000, 1_001), (1_001, Z.size)):  # blocks add up
        lattice.power_sums(Z, start, stop, ORIGIN, PER_WIDTH, 0, found)

    # a thousand terms of at most 1 in a cell
    assert found == pytest.approx(plain_sums(np.ones(Z.size)), abs=1e-11)


@pytest.mark.parametrize("counted", [False, True])
def test_scattered_power_sums_are_the_same_in_any_order(counted):
    order = STREAM.permutation(Z.size)
    counts = STREAM.integers(1, 4, Z.size) if counted else np.ones(Z.size)
    below, found = np.append(0, np.cumsum(counts[order])).astype(np.int64), np.zeros((30, lattice.ORDER))

    lattice.scattered_power_sums(Z[order], below if counted else NONE, 0, Z.size, ORIGIN, PER_WIDTH, 0, found)

    assert found == pytest.approx(plain_sums(counts), abs=1e-11)


@pytest.mark.parametrize("odd", [True, False])
def test_what_cells_receive_is_the_sum_over_pairs_of_cells(odd):
    limit, reach = 0.7, 3
    moments = STREAM.normal(size=(6, lattice.ORDER))
    moments[2] = 0.0  # an empty cell
    derivatives = STREAM.normal(size=(2 * lattice.ORDER - 1, reach + 1))
    found = np.ones((lattice.ORDER, 6 + 2 * reach))  # what is there stays

    lattice.add_between_cells(moments, derivatives, odd, limit, found)

    expected = np.ones_like(found)
    for i in range(found.shape[1]):
        for k in range(6):
            lag = i - reach - k
            for power in range(lattice.ORDER):
                for m in range(lattice.ORDER):
                    order, share = power + m, (-1) ** m / factorial(m) * moments[k, m]
                    if abs(lag) <= reach:
                        sign = -1 if lag < 0 and (order % 2 == 1) != odd else 1
                        expected[power, i] += share * sign * derivatives[order, abs(lag)]
            if lag >= -reach:
                expected[0, i] += limit * (0.5 if lag <= reach else 1.0) * moments[k, 0]
    assert found == pytest.approx(expected, rel=1e-11)


def test_pages_are_as_wide_as_they_may_be_and_begin_at_records():
    starts = np.empty(Z.size, dtype=np.int64)
    count = lattice.pages(Z, 0.25, starts)

    expected, edge = [], -np.inf
    for j, z in enumerate(Z):
        if z > edge:
            expected.append(j)
            edge = z + 0.25
    assert starts[:count].tolist() == expected


@pytest.mark.parametrize("fewest", [1, 3, 6, 10**6])
def test_full_pages_are_joined_where_their_zones_overlap(fewest):
    reach, rng = 0.2, np.random.default_rng(9)
    z = np.sort(np.concatenate((rng.normal(0.0, 3.0, 300), rng.normal(40.0, 1.0, 50))))
    starts = np.empty(z.size + 1, dtype=np.int64)
    pages = lattice.pages(z, reach, starts)
    starts[pages] = z.size
    ends = np.empty((pages, 2), dtype=np.int64)

    found = ends[: lattice.join_pages(z, starts[: pages + 1], fewest, reach, ends)].tolist()

    expected, before = [], None
    for page in range(pages):
        start, stop = int(starts[page]), int(starts[page + 1])
        if stop - start >= fewest:
            if before == page - 1 and expected and z[start] - z[start - 1] <= 2.0 * reach:
                expected[-1][1] = stop
            else:
                expected.append([start, stop])
            before = page
    assert found == expected
    assert (len(found) > 0) == (fewest < 10**6)


def test_a_polynomial_is_that_of_the_cell_and_of_the_last_cells_beyond():
    coefficients = STREAM.random((7, lattice.ORDER))
    for x in (-1.0, 0.0, 0.37, 1.99, 9.0):  # origin 0, 2 cells to a unit, 1 to the left; cells 2 .. 5
        position = 2.0 * x + 1.0
        cell = int(np.clip(np.floor(position), 0, 3))
        found = lattice.polynomial(x, 0.0, 2.0, 1.0, 2, 4, coefficients)
        expected = np.polynomial.polynomial.polyval(position - cell - 0.5, coefficients[2 + cell])
        assert found == pytest.approx(expected, rel=1e-12)


def test_counts_below_and_up_to_differ_by_the_equal_ones():
    values = np.array([1.0, 2.0, 2.0, 5.0])
    for x in (0.0, 1.0, 2.0, 3.0, 5.0, 6.0):
        assert lattice.count_below(values, x, 0, 4) == np.searchsorted(values, x)
        assert lattice.count_up_to(values, x, 0, 4) == np.searchsorted(values, x, side="right")
