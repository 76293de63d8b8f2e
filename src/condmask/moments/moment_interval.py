"""Estimates moments of the original, with variances and intervals, for one sample or several.

Theorem 2.1 of Ghatak & Roy, and the variance of docs/inference.rst, "The theorem".
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval import (
    Interval,
    Target,
    interval,
)
from condmask.inference.polynomial_variance import polynomial_variance
from condmask.inference.theorem import Variance
from condmask.law import Law
from condmask.moments.influence import influence_of_moment
from condmask.moments.theorem_2_1 import Powers, noise_variance, original_moments, shift

NEGATIVE = (
    "the variance of the original is estimated negative, so its standard deviation is NaN: the "
    "noise is too large for this many records"
)


class Sampled(NamedTuple):
    """Mean powers of masked values under one law, of one sample or of several.

    Attributes
    ----------
    n : int
        The number of records of each sample.
    law : Law
        With p = 1 for originals released in another order.
    shared_donors : bool
        Whether several records may share a donor.
    masked : Powers
        Up to the order of a moment; for its interval, up to twice that order.
    """

    n: int
    law: Law
    shared_donors: bool
    masked: Powers


def moment(sampled: Sampled, order: int, *, central: bool) -> Any:
    """Return a moment of the original, about its mean or about 0."""
    center, scale, means = original_moments(sampled.masked, sampled.law)
    with np.errstate(over="ignore"):
        if order == 1 and not central:
            return center + means[1] * scale
        about = -means[1] if central else center / scale
        return shift(means[: order + 1], about)[order] * np.float64(scale) ** order


def variance(sampled: Sampled, *, root: bool = False) -> Any:
    """Return the variance of the original, divisor n - 1, or its root; a negative variance has the
    root NaN."""
    value = scaled_variance(sampled)
    unit = np.float64(sampled.masked.scale)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.sqrt(value) * unit if root else value * unit**2


def moment_interval(
    sampled: Sampled,
    level: float | np.ndarray,
    target: Target,
    order: int,
    quantity: str,
    *,
    central: bool,
) -> Interval:
    """Return the interval of a moment, called `quantity`.

    With an array of levels, the axis of samples is that of levels.
    """
    error = moment_variance(sampled, order, central=central).standard_error(sampled.n, target)
    with np.errstate(over="ignore", invalid="ignore"):  # too large for a number
        error = error * np.float64(sampled.masked.scale) ** order
        return interval(moment(sampled, order, central=central), error, level, target, quantity)


def scaled_variance(sampled: Sampled) -> Any:
    """Return the variance of the original in squares of the scale; it may be negative."""
    _, scale, means = sampled.masked
    return (means[2] - means[1] ** 2) * sampled.n / (sampled.n - 1) - noise_variance(
        sampled.law, scale
    )


def moment_variance(sampled: Sampled, order: int, *, central: bool) -> Variance:
    """Return n times the variances of a moment, in the same power of the scale."""
    law = sampled.law
    (center, scale, _) = sampled.masked
    masked = sampled.masked.means[: 2 * order + 1]
    original = original_moments(Powers(center, scale, masked), law).means
    noise = law.noise_moments(order, scale)
    about = None if central else center / scale
    functions = influence_of_moment(original[: order + 1], order, about, noise, law.p)
    masked, original = (
        np.moveaxis(each, 0, -1)[..., None, :, None] for each in (masked, original)
    )
    return polynomial_variance(
        masked, original, functions, law.p, shared_donors=sampled.shared_donors
    )
