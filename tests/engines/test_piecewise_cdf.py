"""T_b as polynomials on cells. Oracle: the polynomials at many points, and these values sorted."""

import numpy as np
import pytest

from condmask.engines.piecewise_cdf import PiecewiseCDF

# two cells from 0 to 2, up to .6 and down to .4; then from 5 to 6 from .4 to 1
PIECES = [np.array([[0.3, 0.6, 0.0], [0.5, -0.2, 0.0]]), np.array([[0.7, 0.6, 0.0]])]
CDF = PiecewiseCDF(np.array([0.0, 5.0]), np.array([1.0, 1.0]), PIECES, np.array([0.0, 0.4, 1.0]))
X = np.linspace(0.0, 6.0, 600_001)
T = np.interp(X, [0.0, 1.0, 2.0, 5.0, 6.0], [0.0, 0.6, 0.4, 0.4, 1.0])
Q = np.array([0.1, 0.45, 0.55, 0.7, 0.95])


def test_it_is_the_polynomial_of_each_cell_and_constant_between_pieces():
    assert CDF.at(X[:-1]) == pytest.approx(T[:-1], abs=1e-12)
    assert CDF.at(np.array([-1.0, -np.inf, 3.0, 7.0, np.inf])).tolist() == [0.0, 0.0, 0.4, 1.0, 1.0]


def test_quantiles_are_first_crossings_or_those_of_the_sorted_values():
    first = [X[np.argmax(q <= T)] for q in Q]
    rearranged = X[np.searchsorted(np.sort(T), Q)]

    assert CDF.quantile(Q, "first") == pytest.approx(first, abs=2e-5)
    assert CDF.quantile(Q, "rearranged") == pytest.approx(rearranged, abs=2e-5)


def test_the_rearrangement_inverts_its_quantiles():
    x = np.array([-0.1, 0.5, 1.0, 4.5, 5.2, 5.9])
    expected = np.append(0.0, np.interp(x[1:], X, np.sort(T)))

    # the slope is at most .6, and the oracle's points lie 1e-5 apart
    assert CDF.rearranged(x, 1e-9) == pytest.approx(expected, abs=1e-5)


def test_values_in_ascending_order():
    values, _ = CDF.rearrangement.ascending

    assert (np.diff(values) >= 0.0).all()
    assert values.size == 4 * 3 + 1  # four in each cell, and that between the pieces
