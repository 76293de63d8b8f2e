"""Formulas by which columns in clear give a masked one away are found, and none where there is
none."""

import numpy as np
import pytest

from condmask.disclosure.computable import computable
from condmask.disclosure.sample import sample_of
from condmask.disclosure.unmasked import Table, clear_of

N = 6_000
STREAM = np.random.default_rng(0)
X = STREAM.lognormal(8.0, 0.6, N).round()
A = STREAM.lognormal(6.0, 0.5, N).round()
B = STREAM.integers(0, 500, N).astype(float)
OTHERS = {f"n{k}": STREAM.normal(100.0, 20.0, N).round(1) for k in range(6)}


def in_part(values, share):
    return np.where(STREAM.random(N) < share, values, STREAM.permutation(values))


def found(x, **clear):
    masked = {"x": np.asarray(x, dtype=float)}
    clear = {**OTHERS, **clear}
    table = Table(masked, None, clear_of({**masked, **clear}, masked))
    return computable(sample_of(table))


@pytest.mark.parametrize(
    ("x", "clear", "text", "share", "slack"),
    [
        (X, {"c": X}, "c", 1.0, 0.5),
        (X, {"c": in_part(X, 0.13)}, "c", 0.13, 0.5),
        (X, {"tax": 0.25 * in_part(X, 0.3)}, "4 tax", 0.3, 0.02),
        (X, {"born": 2000.0 - in_part(X, 0.3)}, "2000 - born", 0.3, 0.5),
        (X, {"later": in_part(X, 0.3) + 18.0}, "later - 18", 0.3, 0.5),
        (X, {"bonus": A, "total": X + A}, "total - bonus", 1.0, 0.5),
        (X, {"bonus": A, "total": in_part(X + A, 0.3)}, "total - bonus", 0.3, 0.5),
        (X, {"rate": A, "product": X * A}, "product / rate", 1.0, 0.5 * X / A),
        (X, {"text": np.array([f"EUR {value:.0f}" for value in X])}, "text", 1.0, 0.5),
        (X, {"total": np.cumsum(X)}, "the rise of total from the record before", 1.0, 0.5),
        (
            X,
            {"left": np.cumsum(X[::-1])[::-1]},
            "the rise of left from the record after",
            1.0,
            0.5,
        ),
        (X, {"before": np.roll(X, 1)}, "before of the record after", 1.0, 0.5),
    ],
)
def test_found(x, clear, text, share, slack):
    formula = found(x, **clear)["x"]

    assert formula.text == text
    assert set(formula.names) <= {*clear, *OTHERS}
    assert formula.share == pytest.approx(share, abs=0.02)
    assert np.mean(np.abs(formula.values - x) < 1e-9 * X) == pytest.approx(share, abs=0.02)
    # half a step of what is rounded, times its factor; none of numbers below 25 steps
    rounded = formula.slack > 0.0
    assert np.mean(rounded) > 0.95
    np.testing.assert_allclose(
        formula.slack[rounded], np.broadcast_to(slack, N)[rounded], rtol=1e-6
    )


def test_rounding_of_large_numbers_makes_no_small_ones_formulas():
    rates = STREAM.gamma(2.0, 0.02, N).round(4)
    prices = 100.0 * STREAM.integers(50, 1_500, N)

    assert found(rates, county=STREAM.integers(1, 60, N), price=prices) == {}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(
    ("clear", "text", "share"),
    [
        (
            {
                "firm": np.arange(N) // 12,
                "month": np.arange(N) % 12 + 1.0,
                "so far": X.reshape(-1, 12).cumsum(axis=1).ravel(),
            },
            "the rise of so far from the record before by month in firm",
            11 / 12,
        ),
        (
            {
                "person": np.arange(N) // 6,
                "year": 2000.0 + np.arange(N) % 6,
                "last": np.roll(X, 1),
            },
            "last of the record after by year in person",
            5 / 6,
        ),
        (
            {
                "firm": np.arange(N) // 24,
                "month": np.arange(N) % 24.0,
                "last year": np.roll(X, 12),
            },
            "last year of the record 12 after by month in firm",
            0.5,
        ),
        (
            {"couple": np.arange(N) // 2, "spouse": X.reshape(-1, 2)[:, ::-1].ravel()},
            "spouse of the record",
            0.5,
        ),
        ({"day": np.arange(N) * 3.0, "total": np.cumsum(X)}, "the rise of total from the", 1.0),
    ],
)
def test_no_order_of_rows_hides_running_totals_last_values_or_spouses(
    clear, text, share, shuffled
):
    order = STREAM.permutation(N) if shuffled else np.arange(N)
    formula = found(X[order], **{name: column[order] for name, column in clear.items()})["x"]

    assert not shuffled or text in formula.text
    assert formula.share == pytest.approx(share, abs=0.02) or not shuffled


@pytest.mark.parametrize("spread", [3, 10, 100])
def test_correlated_whole_numbers_are_no_formula(spread):
    stream = np.random.default_rng(spread)
    law = np.full((3, 3), 0.95) + 0.05 * np.eye(3)
    x, a, b = (stream.multivariate_normal(np.zeros(3), law, N) * spread).round().T

    assert found(x, a=a, b=b) == {}


def test_zeros_that_agree_are_no_formula():
    zeros = STREAM.random(N) < 0.4

    assert found(np.where(zeros, 0.0, X), c=np.where(zeros, 0.0, STREAM.permutation(X))) == {}


def test_few_values_that_agree_with_a_constant_are_no_formula():
    x, yes = np.random.default_rng(2).integers([[0], [0]], [[8], [2]], (2, N)).astype(float)

    assert found(1_250.0 * x, case=np.arange(N), yes=yes) == {}  # 3750 times the rise of case


def test_noise_is_no_formula():
    assert found(X) == {}
    # errors about as large as those of rounding: as many are small as their law lets expect
    for noise in (
        STREAM.laplace(0.0, 0.5, N),
        STREAM.normal(0.0, 0.8, N),
        STREAM.uniform(-1.4, 1.4, N),
    ):
        assert found(X + noise.round(4), c=X) == {}
