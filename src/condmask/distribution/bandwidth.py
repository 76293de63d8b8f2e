"""Rules for the smoothing bandwidth, computed from the masked values.

The bandwidth b of Theorem 2.3 (docs/theory.rst, "Bandwidth").
"""

import numpy as np

from condmask.distribution.symbol import Masking
from condmask.errors import ArgumentError
from condmask.law import Law

# "scott" is R's bw.nrd; it reproduces the paper's tables (docs/theory.rst, "Bandwidth")
RULES = {"scott": (1.06, -1 / 5), "silverman": (0.9, -1 / 5), "undersmooth": (1.06, -1 / 3)}
MIN_IN_SIGMA = 1e-4
MAX_IN_SIGMA = 1e20
MIN_STEPS = 1.5  # steps of a grid in a bandwidth
MIN_BANDWIDTH = 1e-300  # so that 1 / bandwidth is finite


def rule_bandwidth(
    name: str, spread: np.ndarray | float, quartiles: np.ndarray, n: int
) -> np.ndarray:
    """Return the bandwidths of a rule, 0 for samples of equal values.

    Parameters
    ----------
    name : {"scott", "silverman", "undersmooth"}
    spread : float or ndarray of shape (samples,)
        Standard deviations.
    quartiles : ndarray of shape (..., 2)
        The lower and the upper quartile of each sample.
    n : int
        Records of a sample.
    """
    factor, power = RULES[name]
    range_ = np.diff(quartiles)[..., 0] / 1.34
    narrower = np.where(range_ > 0.0, np.minimum(spread, range_), spread)
    return np.asarray(factor * n**power * narrower)


def masking(law: Law, bandwidth: float | None) -> Masking:
    """Return the parameters of K at a bandwidth in the units of the data, or None for T_1.

    Without noise the unit is 1 in place of sigma.
    """
    sigma = law.sigma or 1.0
    return Masking(
        law.noise, law.p, 0.0 if bandwidth is None else bandwidth / sigma, law.step / sigma
    )


def check_bandwidth(width: float, law: Law) -> None:
    """Raise ArgumentError if a bandwidth is too far from sigma, or too narrow for the grid."""
    if law.sigma > 0.0 and not MIN_IN_SIGMA <= width / law.sigma <= MAX_IN_SIGMA:
        raise ArgumentError(
            f"bandwidth must be between {MIN_IN_SIGMA:g} and {MAX_IN_SIGMA:g} sigma, got "
            f"{width:g} with sigma={law.sigma:g}; bandwidth=None does not smooth"
        )
    least = f"{MIN_STEPS * law.step:.15g}"
    if width < float(least):
        raise ArgumentError(
            f"bandwidth must be at least {MIN_STEPS} steps of the grid, {least}, got {width:g} "
            f"with step={law.step:g}"
        )
