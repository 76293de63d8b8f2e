"""Hypothesis: columns and schemes as users have them."""

import numpy as np
from hypothesis import strategies as st

import condmask as cm

# p reaches both ends, where every record or none is swapped in a small file
PROBABILITIES = st.floats(1e-3, 1 - 1e-3)
SIGMAS = st.floats(1e-3, 1e6)
SEEDS = st.integers(0, 2**64)


def columns(least=2, most=60, missing=False):
    """Values with many digits; with ``missing`` some are NaN, but at least two are there."""
    value = st.floats(-1e9, 1e9, allow_nan=False).map(lambda v: v + np.pi)
    if not missing:
        return st.lists(value, min_size=least, max_size=most).map(np.array)
    gappy = st.lists(st.one_of(value, st.just(np.nan)), min_size=least, max_size=most).map(
        np.array
    )
    return gappy.filter(lambda x: np.isfinite(x).sum() >= 2)


@st.composite
def rounded_columns(draw, least=2, most=60):
    """(values, decimals): values on a grid of 10^-decimals."""
    decimals = draw(st.integers(-3, 6))
    steps = draw(st.lists(st.integers(-(10**6), 10**6), min_size=least, max_size=most))
    return np.array(
        [k / 10**decimals if decimals >= 0 else float(k * 10**-decimals) for k in steps]
    ), decimals


@st.composite
def schemes(draw, decimals=None):
    """Without a grid, on the default one, or on that of so many decimals."""
    return cm.ConditionalMasking(
        draw(PROBABILITIES),
        draw(SIGMAS),
        noise=draw(st.sampled_from(["normal", "laplace"])),
        donors=draw(st.sampled_from(["sample", "permutation"])),
        decimals=decimals,
        step=draw(st.sampled_from([0.0, None])) if decimals is None else None,
        missing=None,  # no number is asked about, however far from others it is drawn
    )
