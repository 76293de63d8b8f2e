"""Rules for the smoothing bandwidth, computed from the masked values."""

from typing import Any

import numpy as np

from condmask import _checks
from condmask.deconvolution import weight
from condmask.deconvolution.weight import Masking
from condmask.errors import ArgumentError
from condmask.law import Law

# "scott" is R's bw.nrd; it reproduces the paper's tables (docs/theory.rst, "Bandwidth")
RULES = {"scott": (1.06, -1 / 5), "silverman": (0.9, -1 / 5), "undersmooth": (1.06, -1 / 3)}
NARROWEST, WIDEST = 1e-20, 1e20  # bandwidth, in sigma
FEWEST_STEPS = 1.5  # of a grid
LEAST = 1e-300  # so that it can be divided


def check_rule(value: Any) -> Any:
    """A bandwidth as a number or the name of a rule; None stays."""
    if value is None:
        return None
    if not isinstance(value, str):
        return _checks.positive(value, "bandwidth", least=LEAST)
    return _checks.choice(value, "bandwidth", tuple(RULES))


def rule(name: str, spread: float, iqr: float, n: int) -> float:
    """The bandwidth that a rule gives for a standard deviation, an interquartile range and n values."""
    factor, power = RULES[name]
    spreads = [s for s in (spread, iqr / 1.34) if s > 0.0]
    if not spreads:
        raise ArgumentError(f"bandwidth={name!r} needs masked values that differ; pass a number")
    return float(factor * min(spreads) * n**power)


def quartile_places(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of n ascending values the quartiles lie between, and how far along."""
    place = np.array([0.25, 0.75]) * (n - 1)
    low = np.floor(place)
    return low.astype(np.int64), place - low


def masking(law: Law, bandwidth: float | None) -> Masking:
    """What K depends on at this bandwidth; None stands for T_1."""
    beta = 0.0 if bandwidth is None else bandwidth / law.sigma
    return Masking(law.noise, law.p, beta, law.step / law.sigma)


def check_bandwidth(width: float, law: Law) -> None:
    """Refuse a bandwidth so far from sigma that powers of their ratio overflow, or too fine for the grid."""
    if not NARROWEST <= width / law.sigma <= WIDEST:
        raise ArgumentError(
            f"bandwidth must be between {NARROWEST:g} and {WIDEST:g} sigma, got {width:g} "
            f"with sigma={law.sigma:g}"
        )
    if width < FEWEST_STEPS * law.step:
        raise ArgumentError(
            f"bandwidth must be at least {FEWEST_STEPS} steps of the grid, {FEWEST_STEPS * law.step:g}, "
            f"got {width:g} with step={law.step:g}"
        )


def checked_masking(law: Law, bandwidth: float | None) -> Masking:
    """What K depends on at this bandwidth; an error if it is too small or large."""
    if bandwidth is not None:
        check_bandwidth(bandwidth, law)
    return masking(law, bandwidth)


def search_lengths(masking: Masking, sigma: float, tol: float) -> tuple[float, float]:
    """How far a record reaches, and how near a crossing of T is searched, where sigma is so long."""
    finest = sigma if masking.beta == 0.0 else min(1.0, masking.beta) * sigma
    return (weight.reach(masking, 0.25 * tol) + 1.0) * sigma, 1e-13 * finest
