"""Crossings of piecewise polynomials against dense evaluation, and against Chebyshev's, which are cosines."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import bisection

FINE = np.linspace(-0.5, 0.5, 1001)


def first(coefficients, targets, origin=0.0, width=1.0):
    out = np.zeros(len(targets))
    bisection.first_crossings(coefficients, origin, width, np.array(targets, dtype=float), out)
    return out


def below(coefficients, targets, width=1.0):
    out = np.zeros(len(targets))
    bisection.lengths_below(coefficients, width, np.array(targets, dtype=float), out)
    return out


def pieces(seed, cells, order, trend):
    """Independent polynomials, so that the function jumps at every edge, along a rising line."""
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(0, 1, (cells, order)) * 1.5 ** np.arange(order)
    coefficients[:, 0] += trend * np.arange(cells)
    return coefficients


def dense(coefficients):
    """All cells at 1001 points each."""
    return np.array([np.polynomial.polynomial.polyval(FINE, c) for c in coefficients])


def chebyshev(degree):
    """T_n(2 t), t in [-1/2, 1/2]: one cell."""
    unit = np.zeros(degree + 1)
    unit[degree] = 1.0
    return np.array([np.polynomial.chebyshev.cheb2poly(unit) * 2.0 ** np.arange(degree + 1)])


@given(
    seed=st.integers(0, 2**32),
    cells=st.integers(1, 12),
    order=st.integers(1, 11),
    trend=st.sampled_from([0.0, 2.0, -2.0]),
)
def test_the_first_crossing_is_on_the_curve_and_nothing_before_it_reaches_the_target(
    seed, cells, order, trend
):
    coefficients = pieces(seed, cells, order, trend)
    values = dense(coefficients)
    targets = np.random.default_rng(seed).uniform(values.min() - 1, values.max() + 1, 9)
    at = (np.arange(cells)[:, None] + 0.5 + FINE).ravel()
    # what Horner's rule may err by: 2 x 11 roundings of at most the sum of |c_l| 2^-l
    rounding = 22 * 2.3e-16 * (np.abs(coefficients) * 0.5 ** np.arange(order)).sum(axis=1).max()

    for target, x in zip(targets, first(coefficients, targets), strict=True):
        if x == np.inf:
            assert values.max() < target + rounding
            continue
        assert not (values.ravel()[at < x - 1e-12] >= target + rounding).any()
        cell = min(int(x), cells - 1)
        near = [
            np.polynomial.polynomial.polyval(x - k - 0.5, coefficients[k]) for k in {cell, max(cell - 1, 0)}
        ]
        starts = x == cell and max(near) >= target
        assert starts or min(abs(f - target) for f in near) <= 50 * rounding


@given(seed=st.integers(0, 2**32), cells=st.integers(1, 12), order=st.integers(1, 11))
def test_lengths_below_are_those_of_dense_evaluation(seed, cells, order):
    coefficients = pieces(seed, cells, order, 0.5)
    values = dense(coefficients)
    targets = np.quantile(values, [0.0, 0.03, 0.4, 0.8, 1.0]) + np.array([-1, 0, 0, 0, 1])
    # each of at most order - 1 crossings a cell, and each edge, may be off by a step of the fine grid
    tolerance = 2e-3 * cells * order

    found = below(coefficients, targets)

    assert found == pytest.approx((values < targets[:, None, None]).mean(axis=2).sum(axis=1), abs=tolerance)
    assert (found[0], found[-1]) == (0.0, cells)


@pytest.mark.parametrize("degree", [7, 8, 9, 10])
@pytest.mark.parametrize("target", [-0.9, 0.0, 0.3, 0.999, 1 - 1e-9])
def test_narrow_excursions_are_not_missed(degree, target):
    # T_n(cos a) = cos(n a); from the left end, n a = n pi, sign T_n rises from -1 to its first maximum
    sign = -1.0 if degree % 2 == 0 else 1.0
    turns = np.arccos(target)
    crossing = (np.cos(((degree - 1) * np.pi + turns) / degree) + 1) / 2
    # {sign T_n < target} over all half turns k pi .. (k + 1) pi of n a
    length = 0.0
    for k in range(degree):
        rising = (k % 2 == 1) == (sign > 0)  # as n a grows from k pi
        edge = k * np.pi + (np.pi - turns if rising else turns)
        low, high = (k * np.pi, edge) if rising else (edge, (k + 1) * np.pi)
        length += (np.cos(low / degree) - np.cos(high / degree)) / 2
    coefficients = sign * chebyshev(degree)
    # rounding of f, 1e-16 of the sum of |c_l| 2^-l (3363 for n = 10), over the slope there
    tolerance = 4e-13 / np.sqrt(1 - target**2)

    assert first(coefficients, [target]) == pytest.approx(crossing, abs=tolerance)
    assert below(coefficients, [target]) == pytest.approx(length, abs=degree * tolerance)


def test_origin_and_width_are_those_of_the_cells():
    line = np.array([[0.125, 0.25], [0.375, 0.25], [0.625, 0.25], [0.875, 0.25]])

    assert first(line, [0.5, 0.0, -3.0, 1.0, 0.9], -20.0, 5.0).tolist() == [-10.0, -20.0, -20.0, 0.0, -2.0]
    assert below(line, [0.5, 0.0, -3.0, 1.0, 2.0], 5.0).tolist() == [10.0, 0.0, 0.0, 20.0, 20.0]


def test_what_is_never_reached_is_at_infinity():
    coefficients = pieces(1, 5, 8, 0.0)

    assert first(coefficients, [1e9, np.inf, np.nan]).tolist() == [np.inf] * 3
    assert first(np.full((3, 8), np.nan), [0.5]).tolist() == [np.inf]
    assert first(coefficients, [-np.inf]).tolist() == [0.0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the halvings take minutes where nothing is compiled")
@pytest.mark.parametrize("value", [0.5, 0.5 - 1e-16, 0.5 - 1e-12])
def test_a_flat_curve_beside_its_target_takes_no_search(value):
    # a maximum of order 8: rounding must end the halving, or 2^50 intervals were looked at
    flat = np.zeros((2, 9))
    flat[:, 0], flat[:, 8] = value, -1.0

    assert first(flat, [0.5]).item() == (pytest.approx(0.5, abs=1e-2) if value == 0.5 else np.inf)
    assert below(flat, [0.5]).item() == pytest.approx(2.0, abs=0.1)


def samples():
    coefficients = np.array([pieces(seed, 20, 8, 1.0) for seed in range(6)])
    return coefficients, np.linspace(-3, 3, 6), np.linspace(0.1, 2, 6), np.linspace(-5, 25, 31)


@pytest.mark.parametrize("cut", [0, 1, 4, 6])
def test_samples_can_be_shared_out_between_threads(cut):
    coefficients, origin, width, targets = samples()
    parts = np.zeros((6, 31))

    for block in ((0, cut), (cut, 6)):
        bisection.first_crossings_of_samples(coefficients, origin, width, targets, *block, parts)

    for s in range(6):
        assert np.array_equal(parts[s], first(coefficients[s], targets, origin[s], width[s]))


def test_a_user_may_call_the_kernel_in_compiled_code():
    coefficients = np.array([[0.5, 1.0], [1.5, 1.0]])

    @numba.njit
    def spread(coefficients):
        quartiles = np.empty(2)
        bisection.first_crossings(coefficients, 0.0, 1.0, np.array([0.25, 1.75]), quartiles)
        return quartiles[1] - quartiles[0]

    assert spread(coefficients) == 1.5
