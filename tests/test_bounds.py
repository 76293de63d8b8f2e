"""Hostile arguments end: what would take a ratio of arguments as its length or its steps has a bound.

Oracle: the bound itself, in numbers of steps, of values looked up and of waves summed, never a clock; and for
searches exact fractions.
"""

from fractions import Fraction

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import (
    convolution,
    credible_window,
    digit_classes,
    learned_density,
    record_posteriors,
    swap_posterior,
    verbatim,
)
from condmask.disclosure.audit import posterior
from condmask.grid import Grid
from condmask.kernels import learned_density as kernels

NANOSECONDS = np.random.default_rng(1).normal(1.7e18, 1e15, 200)
CENTS = np.append(np.random.default_rng(2).lognormal(10.0, 0.6, 199).round(2), 9.99e17)
HOURS, EUROS = cm.ConditionalMasking(0.6, 3600.0), cm.ConditionalMasking(0.6, 8000.0, decimals=2)
NEAR = np.arange(200.0)


class CountingFloor:
    """NumPy for a kernel that is run as plain Python: how often it rounded down."""

    def __init__(self):
        self.times = 0

    def floor(self, x):
        self.times += 1
        assert self.times < 100, "the search does not end"
        return np.floor(x)

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize(
    ("step", "multiple"),
    [(1, 5), (2, 5), (Fraction(1, 100), 1), (Fraction(1, 4), Fraction(1, 3)), (Fraction(33, 10), 7)],
)
def test_the_search_for_a_multiple_takes_few_steps_wherever_it_begins(monkeypatch, step, multiple):
    step, multiple = Fraction(step), Fraction(multiple)
    grid = Grid(float(step.numerator), float(step.denominator))
    look, counting = digit_classes.levels([multiple], grid), CountingFloor()
    monkeypatch.setattr(kernels, "np", counting)
    search = getattr(kernels.multiples_below, "py_func", kernels.multiples_below)
    random = np.random.default_rng(3)
    near = random.integers(-(10**9), 10**9, 40).tolist()
    far = [sign * (2**53 - k) for sign in (1, -1) for k in range(30)]

    for x in [*near, *far, 2**60, -(2**62)]:
        counting.times = 0
        found = search(look, 1, x)
        assert counting.times <= 2 * (kernels.MOST_OFF + 1)
        exact = -((1 - 2 * x) * step // (2 * multiple))  # the least j with j multiple + step/2 >= x step
        if abs(x) <= 10**9:
            assert found == exact
        elif abs(x) <= 2**53:  # three roundings of half a number each, and a ratio above 1
            assert abs(found - exact) <= 3


@pytest.mark.parametrize(
    "call",
    [
        lambda: HOURS.mask(NANOSECONDS, rng=1),
        lambda: EUROS.mask(CENTS, rng=1),
        lambda: cm.mask_table({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}, rng=1),
        lambda: cm.audit(NANOSECONDS, HOURS),
        lambda: cm.audit({"a": NEAR, "t": NANOSECONDS}, {"a": HOURS, "t": HOURS}),
        lambda: posterior(NANOSECONDS, NEAR, HOURS),
        lambda: posterior(NEAR, NANOSECONDS, HOURS),
        lambda: cm.risk(NANOSECONDS, HOURS, d=1.0),
        lambda: cm.risk(1e5 * NANOSECONDS, cm.ConditionalMasking(0.6, 3600.0, step=0), d=1.0, audit=False),
        lambda: cm.release_risk(NEAR, NANOSECONDS, HOURS, d=1.0),
        lambda: cm.record_risk(NEAR, NANOSECONDS, HOURS, d=1.0),
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

    for call in (cm.record_risk, cm.release_risk):
        with pytest.raises(ValueError, match=r"z must stay within .* at position 150$"):
            call(x, z, HOURS, d=1.0)


def test_an_audit_looks_each_cell_up_for_some_folds_only_where_records_lie_apart(monkeypatch):
    looked_up, below = [], learned_density.LearnedDensity.below
    monkeypatch.setattr(
        learned_density.LearnedDensity, "below", lambda self, x: looked_up.append(x.size) or below(self, x)
    )
    n = 300
    x = np.random.default_rng(4).lognormal(10.0, 0.6, n).round(2)

    found = cm.audit(x, cm.ConditionalMasking(0.6, 0.01))

    # 8 sigma to either side in cells of 1/16 to 1/32. Each of ten folds needs the cells of its own tenth: all
    # of them once here and once for the proposal, and a fifth for each of some schemes that are tried
    cells = n * (2 * 8 * 32 + 2)
    assert sum(looked_up) < 8 * cells
    assert found.visible


@pytest.mark.parametrize(
    "call",
    [
        lambda x, scheme: cm.audit(x, scheme),
        lambda x, scheme: cm.risk(x, scheme, d=[0.1], audit=False),
        lambda x, scheme: cm.record_risk(x, x + 0.25, scheme, d=0.1),
        lambda x, scheme: posterior(x, x + 0.25, scheme),
    ],
)
def test_attackers_lay_out_so_many_cells_at_a_time_however_far_apart_values_lie(monkeypatch, call):
    laid, cells = [], convolution.Pieces.cells

    def counting(pieces):
        laid.append(pieces.size)
        return cells(pieces)

    monkeypatch.setattr(convolution.Pieces, "cells", counting)
    for module in (swap_posterior, credible_window, record_posteriors, verbatim):
        monkeypatch.setattr(module, "MOST_CELLS", 1 << 12)
    x = np.random.default_rng(5).lognormal(10.0, 0.6, 240).round(2)

    call(x, cm.ConditionalMasking(0.6, 0.5))  # 8 sigma to either side are 257 cells or more: 60,000 of them

    assert 1 << 10 < max(laid) <= 1 << 12
