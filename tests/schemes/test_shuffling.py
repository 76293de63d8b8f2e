"""Data shuffling: the margin and the rank correlation stay."""

import numpy as np
import pytest

import condmask as cm

RNG = np.random.default_rng(31)
X = RNG.laplace(10, 1000, 3_000)
W = -0.5 * X + RNG.normal(0, 800, X.size)


def test_shuffling_by_a_column_that_says_nothing_is_swapping():
    x = np.sort(X)

    z = cm.DataShuffling().mask(x, given=np.ones(x.size), rng=1)

    # six standard errors of a correlation of zero
    assert abs(np.corrcoef(z, x)[0, 1]) < 6 / np.sqrt(x.size)
    assert np.array_equal(np.sort(z), x)


@pytest.mark.parametrize("order", ["as drawn", "sorted by x"])
def test_shuffling_keeps_the_correlation_with_a_column_of_few_values(order):
    rng = np.random.default_rng(7)
    group = rng.choice([0.0, 1.0], 20_000, p=[0.7, 0.3])
    x = rng.normal(1.6 * group, 1.0)
    if order == "sorted by x":
        group, x = group[np.argsort(x)], np.sort(x)

    z = cm.DataShuffling().mask(x, given=group, rng=2)

    # .59; scores of x and of z differ in law within the groups by what the copula leaves out
    assert np.corrcoef(z, group)[0, 1] == pytest.approx(np.corrcoef(x, group)[0, 1], abs=0.02)


def test_shuffling_a_constant_or_by_itself_returns_it():
    x = np.round(X, -3)  # many ties

    assert np.array_equal(cm.DataShuffling().mask(np.ones(50), given=X[:50], rng=1), np.ones(50))
    assert np.array_equal(cm.DataShuffling().mask(x, given=x, rng=1), x)


def test_shuffling_keeps_the_rank_correlation_and_swapping_loses_it():
    rho = np.corrcoef(np.argsort(np.argsort(X)), np.argsort(np.argsort(W)))[0, 1]
    z = cm.DataShuffling().mask(X, given=W, rng=1)
    found = np.corrcoef(np.argsort(np.argsort(z)), np.argsort(np.argsort(W)))[0, 1]

    # six standard errors of a rank correlation at n = 3000
    assert abs(found - rho) < 6 / np.sqrt(X.size)
    assert abs(np.corrcoef(cm.DataSwapping().mask(X, rng=1), W)[0, 1]) < 6 / np.sqrt(X.size)


def test_shuffling_needs_another_column_of_as_many_values():
    with pytest.raises(ValueError, match=r"^given must have at least one column, got none$"):
        cm.DataShuffling().mask(X, given=np.ones((X.size, 0)))
    with pytest.raises(ValueError, match=r"^others must have the unmasked columns that DataShuffling uses"):
        cm.DataShuffling().mask_rows(X[None], np.random.default_rng(1), ())
