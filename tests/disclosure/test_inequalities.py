"""Inequalities that always hold are found where they say something."""

import numpy as np
import pytest

from condmask.disclosure.inequalities import MOST, Inequality, inequalities

N = 2_000
RNG = np.random.default_rng(1)
GROSS = RNG.lognormal(7.0, 0.6, N)
NET = GROSS * RNG.uniform(0.5, 1.0, N)


def sentences(table, masked):
    return [str(inequality) for inequality in inequalities(table, masked)]


def test_net_never_exceeds_gross():
    table = {"gross": GROSS, "net": NET, "other": RNG.lognormal(7.0, 0.6, N)}

    assert sentences(table, {"net"}) == sentences(table, {"gross"}) == ["'net' <= 'gross'"]
    assert sentences(table, {"other"}) == []


def test_some_parts_never_exceed_a_total():
    shares = RNG.dirichlet((4.0, 3.0, 2.0, 1.0), N).T
    table = {"total": GROSS} | {name: GROSS * share for name, share in zip("abc", shares, strict=False)}

    assert sentences(table, set(table)) == ["'a' + 'b' + 'c' <= 'total'"]


@pytest.mark.parametrize(
    "other",
    [RNG.uniform(0.0, 1.0, N), GROSS, np.where(RNG.random(N) < 0.99, NET, 2.0 * GROSS), np.full(N, np.nan)],
    ids=["far below all", "the same", "in most records", "missing"],
)
def test_what_holds_of_itself_or_not_always_is_none(other):
    assert sentences({"gross": GROSS, "other": other}, {"gross"}) == []


def test_it_holds_up_to_rounding_and_its_residual_is_what_is_left():
    inequality, table = Inequality(("a", "b"), "t"), {"a": NET, "b": -NET + 3.0, "t": np.full(N, 2.0)}

    assert inequality.residual(table) == pytest.approx(-1.0)
    assert not inequality.holds(table, {"t": 1.0}).any()
    assert inequality.holds(table, {"t": 1.0, "a": 1.0}).all()
    assert inequality.names == ("a", "b", "t")


def test_there_are_no_more_than_a_few():
    table = {f"c{k}": GROSS * (1.0 + 0.01 * k) * RNG.uniform(0.99, 1.0, N) for k in range(20)}

    assert len(inequalities(table, set(table))) == MOST
