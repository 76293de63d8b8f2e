"""Rules for the smoothing bandwidth, computed from the masked values.

The bandwidth b of Theorem 2.3 (docs/theory.rst, "Bandwidth").
"""

from typing import Any

import numpy as np

from condmask.distribution.symbol import Masking
from condmask.errors import ArgumentError
from condmask.law import Law

# "scott" is R's bw.nrd; it reproduces the paper's tables (docs/theory.rst, "Bandwidth")
RULES = {"scott": (1.06, -1 / 5), "silverman": (0.9, -1 / 5), "undersmooth": (1.06, -1 / 3)}
NARROWEST = 1e-4
WIDEST = 1e20  # bandwidth, in sigma
FEWEST_STEPS = 1.5  # of a grid
LEAST = 1e-300  # so that it can be divided


def rule(name: str, spread: Any, quartiles: np.ndarray, n: int) -> Any:
    """The bandwidths of a rule for samples of n, whose quartiles are in the last axis; 0 of equal
    values."""
    (factor, power) = RULES[name]
    range_ = np.diff(quartiles)[..., 0] / 1.34
    return factor * n**power * np.where(range_ > 0.0, np.minimum(spread, range_), spread)


def masking(law: Law, bandwidth: float | None) -> Masking:
    """What K depends on at this bandwidth, None for T_1; values without noise are in units of
    1."""
    sigma = law.sigma or 1.0
    return Masking(
        law.noise, law.p, 0.0 if bandwidth is None else bandwidth / sigma, law.step / sigma
    )


def check_bandwidth(width: float, law: Law) -> None:
    """Refuse a bandwidth that is too far from sigma, or too fine for the grid."""
    if law.sigma > 0.0 and not NARROWEST <= width / law.sigma <= WIDEST:
        raise ArgumentError(
            f"bandwidth must be between {NARROWEST:g} and {WIDEST:g} sigma, got {width:g} "
            f"with sigma={law.sigma:g}; bandwidth=None does not smooth"
        )
    least = f"{FEWEST_STEPS * law.step:.15g}"
    if width < float(least):
        raise ArgumentError(
            f"bandwidth must be at least {FEWEST_STEPS} steps of the grid, {least}, got {width:g} with "
            f"step={law.step:g}"
        )
