"""Ends of intervals of statistics that lie within bounds, or are ratios.

See docs/theory.rst, "Statistics of income".
"""

from collections.abc import Callable

import numpy as np

from condmask.inference import bounded
from condmask.inference.interval import multiplier

Ends = tuple[np.ndarray, np.ndarray]
Rule = Callable[[np.ndarray, np.ndarray, float, float], Ends]  # estimate, error, level, degrees


def free(value: np.ndarray, error: np.ndarray, level: float, degrees: float) -> Ends:
    """Return the ends by Student's t."""
    reach = multiplier(level, max(degrees, 1.0)) * error
    return value - reach, value + reach


def positive(value: np.ndarray, error: np.ndarray, level: float, degrees: float) -> Ends:
    """Return the ends for quantities from 0 on."""
    some = error > 0.0
    unit = np.where(some, error, 1.0)
    low, high = bounded.not_negative(value / unit, level)
    return np.where(some, low * unit, value), np.where(some, high * unit, value)


def ratio(value: np.ndarray, error: np.ndarray, level: float, degrees: float) -> Ends:
    """Return the ends for positive ratios, symmetric on their logarithms."""
    reach = multiplier(level, max(degrees, 1.0)) * error / value
    return value * np.exp(-reach), value * np.exp(reach)


def within(most: float) -> Rule:
    """Return the rule for quantities between 0 and a bound."""

    def ends(value: np.ndarray, error: np.ndarray, level: float, degrees: float) -> Ends:
        some = error > 0.0
        low = value.copy()
        high = value.copy()
        low[some], high[some] = bounded.interval_between(
            value[some], error[some], 0.0, most, level
        )
        return low, high

    return ends
