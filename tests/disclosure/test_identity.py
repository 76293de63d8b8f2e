"""Relations record by record: the residual, what rounding allows, and how they are printed."""

import numpy as np
import pytest

from condmask.disclosure.identity import Identity, resolution

RNG = np.random.default_rng(1)
A, B = RNG.lognormal(3.0, 0.5, (2, 500)).round(1)
SUM = Identity("t", (("a", 2.0), ("b", -0.5)), 7.0)
RATIO = Identity("bmi", (("w", 1.0), ("h", -2.0)), np.log(3.0), True)


def test_the_residual_of_a_sum_is_the_left_side_less_the_right():
    table = {"a": A, "b": B, "t": 2.0 * A - 0.5 * B + 7.0 + np.arange(500) % 2}

    assert SUM.residual(table) == pytest.approx(np.arange(500) % 2, abs=1e-9)
    assert SUM.holds(table, {}).tolist() == (np.arange(500) % 2 == 0).tolist()
    assert SUM.names == ("t", "a", "b")
    assert str(SUM) == "'t' = 2 'a' - 0.5 'b' + a constant"


def test_the_residual_of_a_product_is_relative_and_is_there_for_values_below_0():
    exact = 3.0 * A / B**2
    table = {"w": A, "h": B, "bmi": exact * (1.0 + 0.1 * (np.arange(500) % 2))}

    assert RATIO.residual(table) == pytest.approx(np.arange(500) % 2 * 0.1 / 2.1, abs=1e-9)
    assert RATIO.holds(table, {}).mean() == 0.5
    assert RATIO.residual({**table, "bmi": -exact}) == pytest.approx(-1.0)
    assert not RATIO.says_something({**table, "bmi": -exact}).any()
    assert str(RATIO) == "'bmi' = 3 * 'w' / 'h'^2"


@pytest.mark.parametrize(("step", "share"), [(0.0, 0.0), (0.02, 0.1), (0.1, 0.5), (0.2, 1.0)])
def test_a_released_step_allows_half_of_it(step, share):
    off = np.arange(500) % 10 / 100.0 + 0.01  # .01 to .1
    table = {"a": A, "b": B, "t": 2.0 * A - 0.5 * B + 7.0 + off}

    assert SUM.holds(table, {"t": step}).mean() == pytest.approx(share)
    assert SUM._replace(rounding=(("t", step),)).holds(table, {}).mean() == pytest.approx(share)
    # a release on a finer grid than that of the data adds nothing, on a coarser one what it rounds
    rounded = SUM._replace(rounding=(("t", 0.1),))
    assert rounded.holds(table, {"t": 0.05}).mean() == 0.5
    assert rounded.holds(table, {"t": 0.12}).all()


def test_rounding_of_a_product_weighs_by_the_power():
    table = {"w": A, "h": B, "bmi": 3.0 * A / B**2}
    off = {**table, "h": B + 0.04}

    assert not RATIO.holds(off, {}).any()
    assert RATIO._replace(rounding=(("h", 0.1),)).holds(off, {}).all()
    assert not RATIO._replace(rounding=(("w", 0.1),)).holds(off, {}).all()


@pytest.mark.parametrize(
    ("name", "target"), [("sum", "t"), ("sum", "b"), ("product", "h"), ("product", "bmi")]
)
def test_a_relation_computes_each_of_its_columns(name, target):
    identity = SUM if name == "sum" else RATIO
    table = {"a": A, "b": B, "t": 2.0 * A - 0.5 * B + 7.0, "w": A, "h": B, "bmi": 3.0 * A / B**2}
    wrong = {**table, target: table[target] * 1.5}

    _, computed, _ = identity.computed(wrong, target)

    right = np.log(table[target]) if identity.product else table[target]
    assert computed == pytest.approx(right, rel=1e-6, abs=1e-6)


def test_the_factor_of_a_hidden_column_is_not_printed():
    assert str(Identity("t", (("a", 1.0), ("i", 1234.5)), hidden=("i",))) == "'t' = 'a' + a multiple of 'i'"
    assert Identity("t", (("a", 1.0), ("b", 1.0))).adds_up
    assert not SUM.adds_up


@pytest.mark.parametrize(
    ("x", "step"),
    [
        (A, 0.1), (A.round(), 1.0), (1_000.0 * A.round(), 1_000.0), (A / 3.0, 0.0), (np.zeros(9), 0.0),
        (np.append(A, np.nan), 0.1), (np.append(np.tile(A, 2), 0.123), 0.1),
    ],
)  # fmt: skip
def test_the_resolution_is_that_of_nearly_all_values(x, step):
    assert resolution(x) == pytest.approx(step)


def test_single_precision_has_a_resolution_too():
    x = (A / 3.0).astype(np.float32).astype(float)

    assert np.median(np.abs(x)) * 2.0**-24 < resolution(x) < np.median(np.abs(x)) * 2.0**-22
