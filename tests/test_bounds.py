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
    with pytest.raises(
        ValueError, match=r"must stay within 2\^53 steps of .* at position \d+; pass step=\S+ and"
    ):
        call()


def test_a_masked_value_beyond_the_grid_is_named_by_its_place_in_the_column():
    x, z = NEAR.copy(), NEAR.copy()
    x[3], z[150] = np.nan, 1e18

    with pytest.raises(ValueError, match=r"released must stay within .* at position 150"):
        cm.risk(x, HOURS, d=1.0, released=z)
