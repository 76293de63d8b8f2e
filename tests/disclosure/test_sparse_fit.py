"""Least absolute deviations: exact where more than half of the rows obey, and what leverage does.

Oracle: SciPy's linear programming, and the factors that were built in.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from condmask.disclosure import sparse_fit

N, K = 400, 12
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, K))
FACTORS = np.zeros(K)
FACTORS[[1, 4, 7]] = 0.8, -1.3, 0.4


def least_absolute_deviations(x, y):
    """The factors, and last the constant, by linear programming."""
    n, k = x.shape
    design = np.column_stack([x, np.ones(n)])
    cost = np.concatenate([np.zeros(k + 1), np.ones(n)])
    above = np.block([[design, -np.eye(n)], [-design, -np.eye(n)]])
    bounds = [(None, None)] * (k + 1) + [(0.0, None)] * n
    return linprog(cost, above, np.concatenate([y, -y]), bounds=bounds).x[: k + 1]


@pytest.mark.parametrize("obey", [1.0, 0.8, 0.55])
def test_the_fit_is_exact_where_more_than_half_of_the_rows_obey(obey):
    wrong = RNG.random(N) > obey
    y = X @ FACTORS + 0.5 + np.where(wrong, 3.0 * RNG.normal(size=N), 0.0)

    (fitted,) = sparse_fit.fit(X[None], y[None])

    exact = np.append(FACTORS, 0.5)
    assert least_absolute_deviations(X, y) == pytest.approx(exact, abs=1e-6)
    assert fitted == pytest.approx(exact, abs=1e-3)


def test_several_targets_are_fitted_as_each_alone(monkeypatch):
    y = np.stack([X @ FACTORS, X @ FACTORS[::-1] + RNG.normal(size=N) * (np.arange(N) % 3 == 0)])
    x = np.stack([X, X])

    together = sparse_fit.fit(x, y)
    monkeypatch.setattr(sparse_fit, "SOLVED", 1)

    assert sparse_fit.fit(x, y) == pytest.approx(together, rel=1e-9, abs=1e-12)
    assert together[1][:-1] == pytest.approx(FACTORS[::-1], abs=1e-3)


def test_rows_far_out_have_no_more_weight_than_others():
    x, y = X.copy(), X @ FACTORS
    x[:20] *= 1_000.0
    y[:20] = x[:20] @ -FACTORS

    (fitted,) = sparse_fit.fit(x[None], y[None])

    assert np.abs(least_absolute_deviations(x, y)[1] - FACTORS[1]) > 0.5  # leverage
    assert fitted[:-1] == pytest.approx(FACTORS, abs=1e-3)


def test_of_many_columns_those_that_explain_are_chosen():
    nuisance = RNG.normal(size=(N, 300))
    part = 2.0 * RNG.normal(size=N)
    z = np.column_stack([X, nuisance, part, part + X[:, 0]])  # X0 is the difference of the last two

    chosen = sparse_fit.chosen(z, 0, np.arange(1, z.shape[1]))

    assert {z.shape[1] - 2, z.shape[1] - 1} <= set(chosen)
    assert chosen.size == sparse_fit.FEATURES
    assert sparse_fit.chosen(z, 0, np.arange(1, 9)).tolist() == list(range(1, 9))


def test_missing_values_and_constants_are_0_in_units_of_deviations():
    x = np.column_stack([[1.0, 2.0, np.nan, 9.0], [5.0, 5.0, 5.0, 5.0], np.full(4, np.nan)])

    z, middle, size = sparse_fit.standardised(x)

    assert middle.tolist() == [2.0, 5.0, 0.0]
    assert size == pytest.approx([8.0 / 3.0, 0.0, 0.0])
    assert z == pytest.approx(
        np.column_stack([np.array([-1.0, 0.0, 0.0, 7.0]) * 3.0 / 8.0, np.zeros((4, 2))])
    )
