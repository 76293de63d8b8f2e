"""Questions to whole columns. Oracle: NumPy on the column as one array."""

import numpy as np
import pytest

import condmask as cm
from condmask._blocks import BLOCK
from condmask.audit_input import AuditInput
from condmask.disclosure import guard_rails, long_columns, rare_values
from condmask.disclosure.aggregated_ends import aggregate
from condmask.disclosure.long_columns import count_present, has_finite, random_rows, share_holding
from condmask.disclosure.relations import identities

RNG = np.random.default_rng(8)
N = 2 * BLOCK + 1_000


def test_values_are_counted_across_blocks():
    x = np.full(N, np.nan)
    assert count_present(x) == 0
    assert not has_finite(x)
    x[[0, BLOCK, N - 1]] = 1.0, np.inf, 2.0
    assert count_present(x) == 3
    assert has_finite(x)


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_rows_are_the_first_of_each_half_in_random_order(n):
    order = np.random.default_rng(0).permutation(n)
    some, others = random_rows(n, 5, 20)
    assert some.tolist() == order[: (n + 1) // 2][:5].tolist()
    assert others.tolist() == order[(n + 1) // 2 :][:20].tolist()


def test_of_many_rows_some_are_drawn_once(monkeypatch):
    monkeypatch.setattr(long_columns, "SHUFFLED", 99)
    some, others = random_rows(100, 5, 20)
    drawn = np.concatenate([some, others])
    assert (some.size, others.size) == (5, 20)
    assert np.unique(drawn).size == 25
    assert 0 <= drawn.min() <= drawn.max() < 100


def test_a_relation_of_masked_columns_alone_shows_in_few_of_many_rows(monkeypatch):
    monkeypatch.setattr(long_columns, "SHUFFLED", 1_000)
    a, b = RNG.lognormal(5, 1, (2, 40_000)).round(2)
    table = {"a": a, "b": b, "sum": np.where(np.arange(a.size) < 30_000, a + b, RNG.lognormal(6, 1, a.size))}
    (relation,) = identities(table, {"a", "b", "sum"})
    held = relation.holds(table, {})
    assert share_holding(relation, table, {}) == held.mean()
    assert 0.7 < held.mean() < 0.8


def test_a_crowded_cell_matters_at_its_ends_alone(monkeypatch):
    """A heap beside lonely records, of which 300 may come between."""
    x = np.concatenate([RNG.uniform(0.0, 0.99, N), RNG.uniform(1.2, 3.0, 6), RNG.normal(12.0, 1.0, N)])
    RNG.shuffle(x)
    scheme = cm.ConditionalMasking(0.3, 1.0, reverse_mapping=True)
    whole = rare_values.own_value(x, scheme)
    monkeypatch.setattr(rare_values, "CROWDED", 1_000)
    assert whole.size
    assert np.array_equal(rare_values.own_value(x, scheme), whole)


@pytest.mark.parametrize("coded", [False, True])
def test_pools_are_counted_across_blocks(coded):
    x, y = np.ones(N), np.ones(N)
    x[5:], y[: N - 30] = np.nan, np.nan
    strata = (np.arange(N) == 3).astype(np.int32) if coded else None
    data = AuditInput({"x": x, "y": y}, {"x": "float64", "y": "float64"}, {}, strata)
    verdict = guard_rails.review(data, {"x": cm.ConditionalMasking(0.5, 1.0, reverse_mapping=True)})
    assert verdict.refusals[0].startswith(f"a donor pool has {1 if coded else 35} records")


@pytest.mark.parametrize("pools", [0, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_ends_are_aggregated_pool_by_pool(pools, gaps):
    x = RNG.normal(0.0, 1.0, N).round(4)
    if gaps:
        x[::7] = np.nan
    code = RNG.integers(-1, pools, N).astype(np.int32) if pools else None
    expected = x.copy()
    for pool in range(max(pools, 1)):
        rows = np.flatnonzero(~np.isnan(x) & ((code == pool) if pools else True))
        ordered = np.sort(x[rows])
        for end in (rows[x[rows] <= ordered[2]], rows[x[rows] >= ordered[-3]]):
            expected[end] = round(float(np.mean(x[end])), 4)
    aggregate(x, code, 3)
    assert np.allclose(x, expected, rtol=0.0, atol=1.01e-4, equal_nan=True)
    assert np.mean((x == expected) | np.isnan(x)) > 0.9999
