"""Grids: a column that is on one stays there, and rounding to one moves no value by more than half a step."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import condmask as cm
from condmask._grid import decimal_grid, grid_of, single_step, step_for, suits, visible_grid
from fuzz.target import arguments
from fuzz.values import arrays

EXACT_UNITS = 2.0**50  # beyond, products with a step of many digits may be rounded by half a step
STEPS = st.one_of(
    st.sampled_from([0.1, 0.05, 1 / 3, 1 / 7, 2.0**-20, 1e-12, 3.0, 1e6, 1e-300, 0.7, 12.5]),
    st.fractions(Fraction(1, 1000), 1000, max_denominator=1000).filter(bool).map(float),
    st.floats(1e-290, 1e290),
)


@arguments(
    step=STEPS, units=st.lists(st.integers(-(2**54), 2**54) | st.integers(-100, 100), max_size=30),
    other=arrays(30), places=st.integers(-15, 15), sigma=st.floats(0.5, 1e4), seed=st.integers(0, 99),
)  # fmt: skip
def one(step, units, other, places, sigma, seed):
    for grid in (grid_of(step), decimal_grid(places)):
        # beyond, the product with a step that is no short number is rounded by more than half a step
        kept = np.array([k for k in units if abs(k) <= EXACT_UNITS], dtype=np.float64)
        values = grid.values(kept)
        assert np.array_equal(grid.units(values), kept), "a grid point is another one"
        assert np.array_equal(grid.below(values), kept)
        finite = other[np.isfinite(other)]
        near = finite[np.abs(finite) < grid.step * 2.0**50]
        moved = np.abs(grid.values(grid.units(near)) - near)
        slack = 4.0 * np.spacing(np.abs(near) + grid.step)
        assert (moved <= grid.step / 2.0 + slack).all(), "rounded to another point than the nearest"
    seen(finite, step)
    masked_on_its_grid(step, kept, sigma, seed)


def seen(values, step):
    """What grid values show of themselves holds all of them."""
    grid = visible_grid(values, "float64", step)
    if grid is not None and values.size:
        scale = float(np.abs(values).max())
        back = grid.values(grid.units(values))
        assert np.allclose(back, values, rtol=0.0, atol=16.0 * np.spacing(scale)), (
            "a value off the grid it shows"
        )
        assert step_for(step, grid) > 0.0
        suits(step, grid)
    if values.size:
        single_step(values, step)


def masked_on_its_grid(step, units, sigma, seed):
    """Masked values of a column on a grid are on it."""
    grid = grid_of(step)
    x = grid.values(units)
    scheme = cm.ConditionalMasking(0.6, sigma * grid.step, step=step)
    z = scheme.mask(x, rng=seed, accept_visible_coins=True)
    assert np.array_equal(grid.values(grid.units(z)), z), "a masked value off the grid"
    if not np.array_equal(scheme.mask(x, rng=seed, workers=2, accept_visible_coins=True), z):
        raise AssertionError("two workers draw otherwise than one")
