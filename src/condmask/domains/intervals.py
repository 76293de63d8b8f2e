"""Intervals of distribution functions and quantiles of groups.

About the population the part of the variance that unmasked records have is that under the
hypothesis y: with S what masking adds for each of N effective records, ``(F - y)^2 = c (S + y (1 -
y))`` is solved for y, c = t^2 / N. A quantile's interval holds the points at which a rearranged
band of such intervals contains its probability (docs/theory.rst, "Groups of records").
"""

from typing import NamedTuple

import numpy as np

from condmask.inference.interval import Target, multiplier

REACHED = 1e-10  # what a distribution function may lack of a probability
MIN_VARIANCE = 1e-300


class Band(NamedTuple):
    """Estimates of a distribution function at points, their intervals and standard errors."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    standard_error: np.ndarray


def band_of(
    estimate: np.ndarray,
    variance: np.ndarray,
    records: float,
    degrees: float,
    level: float,
    target: Target,
) -> Band:
    """Return the intervals of a distribution function.

    Parameters
    ----------
    estimate, variance : ndarray of shape (points,)
        The latter about the target.
    records : float
        Effective ones of the group.
    degrees : float
        Of freedom of Student's t about the population.
    level : float
    target : {"population", "file"}
    """
    error = np.sqrt(variance)
    if target == "file":
        reach = multiplier(level) * error
        ends = estimate - reach, estimate + reach
    else:
        inside = np.clip(estimate, 0.0, 1.0)
        more = np.maximum(variance * records - inside * (1.0 - inside), 0.0)
        c = multiplier(level, max(degrees, 1.0)) ** 2 / records
        middle = c + 2.0 * estimate
        root = middle**2 - 4.0 * (1.0 + c) * (estimate**2 - c * more)
        root = np.sqrt(np.maximum(root, 0.0))
        ends = (middle - root) / (2.0 + 2.0 * c), (middle + root) / (2.0 + 2.0 * c)
    low, high = (np.clip(end, 0.0, 1.0) for end in ends)
    return Band(estimate, low, high, error)


def quantile_ends(t: np.ndarray, band: Band, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals of quantiles from a band at ascending points t, rearranged.

    They are infinite where the band does not reach the probability.
    """
    low = np.interp(q, np.sort(band.high), t, left=-np.inf)
    high = np.interp(q, np.sort(band.low), t, right=np.inf)
    return low, high


def quantiles_of(x: np.ndarray, below: np.ndarray, q: np.ndarray, width: float) -> np.ndarray:
    """Return quantiles of a distribution function known at ascending points, the middles of cells
    of some width within which it is taken to rise evenly."""
    at = np.minimum(below.searchsorted(q - REACHED, side="left"), x.size - 1)
    before = np.where(at > 0, below[at - 1], 0.0)
    rise = np.maximum(below[at] - before, MIN_VARIANCE)
    return np.asarray(x[at] + width * (np.clip((q - before) / rise, 0.0, 1.0) - 0.5))
