"""Hostile arguments end: what would take a ratio of arguments as its length or its steps has a bound.

Oracle: the bound itself, in numbers of steps, of values looked up and of waves summed, never a clock; and for
searches exact fractions.
"""


import numpy as np
import pytest

import condmask as cm

NANOSECONDS = np.random.default_rng(1).normal(1.7e18, 1e15, 200)
CENTS = np.append(np.random.default_rng(2).lognormal(10.0, 0.6, 199).round(2), 9.99e17)
HOURS, EUROS = cm.ConditionalMasking(0.6, 3600.0), cm.ConditionalMasking(0.6, 8000.0, decimals=2)
NEAR = np.arange(200.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: HOURS.mask(NANOSECONDS, rng=1),
        lambda: EUROS.mask(CENTS, rng=1),
        lambda: cm.mask_table({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}, rng=1),
        lambda: cm.audit(NANOSECONDS, HOURS),
        lambda: cm.audit({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}),
        lambda: cm.risk(NANOSECONDS, HOURS, d=1.0),
        lambda: cm.risk(NEAR, HOURS, d=1.0, released=NANOSECONDS),
    ],
)
def test_values_beyond_the_grid_are_refused_before_anybody_looks_at_them(call):
    with pytest.raises(ValueError, match=r"must stay within 2\^53 steps of .* at position \d+"):
        call()


def test_the_refusal_names_the_farthest_value_and_the_step_that_serves():
    with pytest.raises(ValueError, match="stay within") as masked:
        EUROS.mask(CENTS, rng=1)
    with pytest.raises(ValueError, match="stay within") as unaudited:
        EUROS.mask(CENTS, rng=1, accept_visible_coins=True)

    message = (  # 9.99e17 < 128 * 2^53 = 1.15e18
        "x must stay within 2^53 steps of 0.01, noise included, got a value beyond at position 199; pass "
        "step=128 and round=True"
    )
    assert [str(masked.value), str(unaudited.value)] == [message, message]


def test_a_masked_value_beyond_the_grid_is_named_by_its_place_in_the_column():
    x, z = NEAR.copy(), NEAR.copy()
    x[3], z[150] = np.nan, 1e18

    with pytest.raises(ValueError, match=r"released must stay within .* at position 150"):
        cm.risk(x, HOURS, d=1.0, released=z)


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("make", [table.table, table.smooth_table])
def test_tables_sum_so_many_waves_and_the_bandwidth_that_is_named_serves(monkeypatch, make, density):
    waves, each = [], weight._sum_over_nodes

    def counting(wave, v, w, share):
        waves.append(np.size(v) * w.size)
        return each(wave, v, w, share)

    monkeypatch.setattr(weight, "_sum_over_nodes", counting)
    monkeypatch.setattr(table, "MOST_WORK", 2.0**20)
    masking = Masking("laplace", 0.3, 1e-4, 1e-5)

    with pytest.raises(ValueError, match="Laplace noise on a grid") as refused:
        make.__wrapped__(masking, 1e-8, density)
    assert waves == []
    least = float(str(refused.value).split("at least ")[1].split()[0])
    make.__wrapped__(masking._replace(beta=least), 1e-8, density)

    # a step of the search is a tenth, a bandwidth counts by its square
    assert 2.0**17 < sum(waves) <= 2.0**20


def test_the_gini_coefficient_looks_at_so_many_points(monkeypatch):
    estimate = cm.ConditionalMasking(0.6, 1.0).estimate(1e6 * np.arange(1.0, 30.0))
    monkeypatch.setattr(inequality, "LONGEST", 0)
    assert estimate.gini() > 0.0

    monkeypatch.setattr(inequality, "MOST_POINTS", 1 << 10)

    with pytest.raises(ValueError, match="the data must lie closer together for the Gini coefficient"):
        estimate.gini()
