"""Scales on which noise is added and guesses are judged, in spreads of a column."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

D = 0.1  # of the spread, within which a guess counts
NORMAL_DECILE_RANGE = 2.563  # standard deviations of the normal law between its deciles


class Line(NamedTuple):
    """The scale on which noise is added, and the way back to units of the data.

    Attributes
    ----------
    to : callable
        Takes units of the data to the scale.
    back : callable
        Takes the scale to units of the data.
    """

    to: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray], np.ndarray]


def line_of(x: np.ndarray, scheme: Any) -> Line:
    """Return the scale on which noise is added, in spreads of a column; on the log scale zero lies
    below others."""
    unit = spread_of(x, scheme)
    on_line = _unscaled(x, scheme)
    if not is_log(scheme):
        return Line(lambda values: on_line(values) / unit, lambda places: places * unit)
    least = _least_amount(x)
    return Line(
        lambda values: on_line(values) / unit,
        lambda places: np.sign(places) * least * np.exp(np.abs(places) * unit),
    )


def spread_of(x: np.ndarray, scheme: Any) -> float:
    """How far a column spreads on the line on which noise is added."""
    return spread(_unscaled(x, scheme)(x[~np.isnan(x)]))


def spread(places: np.ndarray) -> float:
    """A standard deviation by the deciles: of numbers, or where most are 0 of the others."""
    for some in (places, places[places != 0.0]):
        low, high = np.quantile(some, (0.1, 0.9)) if some.size else (0.0, 0.0)
        if high > low:
            return float(high - low) / NORMAL_DECILE_RANGE
    return 1.0


def _unscaled(x: np.ndarray, scheme: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The line on which noise is added, in its own units."""
    if not is_log(scheme):
        return np.asarray
    least = _least_amount(x)
    return lambda values: np.sign(values) * np.log(np.maximum(np.abs(values) / least, 1.0))


def _least_amount(x: np.ndarray) -> float:
    """Return the amount below which the log scale tells none from zero."""
    return 0.5 * float(np.abs(x).min(initial=np.inf, where=(x < 0.0) | (x > 0.0)))


def two_digits(value: float) -> float:
    """A number in two digits."""
    return float(f"{value:.2g}")


def is_log(scheme: Any) -> bool:
    """Whether noise is added to logarithms."""
    return bool(scheme.reverse_mapping and scheme.scale == "log")
