"""Rules for the smoothing bandwidth, computed from the masked values."""

from typing import Any

import numpy as np

from condmask import _checks

# "scott" is R's bw.nrd; it reproduces the paper's tables (docs/theory.rst, "Bandwidth")
RULES = {"scott": (1.06, -1 / 5), "silverman": (0.9, -1 / 5), "undersmooth": (1.06, -1 / 3)}
NARROWEST, WIDEST = 1e-20, 1e20  # bandwidth, in sigma


def bandwidth(z: np.ndarray, value: Any) -> float:
    """A bandwidth in the units of the data, from a number or the name of a rule."""
    if not isinstance(value, str):
        return _checks.positive(value, "bandwidth")
    _checks.choice(value, "bandwidth", tuple(RULES))
    scale = float(np.abs(z).max()) or 1.0
    z = z / scale  # so that squares neither overflow nor vanish
    lower, upper = np.quantile(z, [0.25, 0.75])
    return rule(value, float(z.std(ddof=1)), float(upper - lower), z.size) * scale


def rule(name: str, spread: float, iqr: float, n: int) -> float:
    """The bandwidth that a rule gives for a standard deviation, an interquartile range and n values."""
    factor, power = RULES[name]
    spreads = [s for s in (spread, iqr / 1.34) if s > 0.0]
    if not spreads:
        raise ValueError(f"bandwidth={name!r} needs masked values that differ; pass a number")
    return float(factor * min(spreads) * n**power)


def check_bandwidth(width: float, sigma: float) -> None:
    """Refuse a bandwidth so far from sigma that powers of their ratio overflow."""
    if not NARROWEST <= width / sigma <= WIDEST:
        raise ValueError(
            f"bandwidth must be between {NARROWEST:g} and {WIDEST:g} sigma, got {width:g} "
            f"with sigma={sigma:g}"
        )
