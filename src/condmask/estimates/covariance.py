"""Covariance of the original with another column: Theorem 2.5, with strata and with joint masking.

A swapped record's donor is any of the other n - 1, so masking leaves the share (1-p) - p/(n-1) of a
covariance with a column that was not masked. Within strata that holds stratum by stratum, and what
lies between the strata stays: donors share the stratum. Columns masked together keep their covariance
(docs/theory.rst, "Covariance").
"""

from typing import Any

import numpy as np


def check_joint(scheme: Any, other: Any) -> None:
    """Two masked columns have a covariance only if one coin and one donor served both."""
    if scheme.group is None or scheme.group != other.group:
        raise ValueError(
            "other must have been masked together with this column (mask_table), "
            f"got groups {scheme.group!r} and {other.group!r}"
        )


def retained(p: float, n: int) -> float:
    """The share of a covariance that masking leaves among n records."""
    factor = (1.0 - p) - p / (n - 1)
    if factor <= 0.0:
        raise ValueError(
            f"z must have more than {1.0 + p / (1.0 - p):.0f} records (in each stratum) for a covariance "
            f"at p={p}, got {n}"
        )
    return factor


def covariance(
    z: np.ndarray, w: np.ndarray, p: float, strata: np.ndarray | None
) -> tuple[float, float, float]:
    """Cov(X, W) in units of two scales, and the scales, from masked z and plain w; divisor n - 1."""
    a, scale = standardise(z)
    b, other_scale = standardise(w)
    n = z.size
    if strata is None:
        return float(np.add.reduce(a * b) / (n - 1)) / retained(p, n), scale, other_scale
    size = np.bincount(strata)
    mean_a = np.bincount(strata, a) / np.maximum(size, 1)
    mean_b = np.bincount(strata, b) / np.maximum(size, 1)
    within = np.bincount(strata, (a - mean_a[strata]) * (b - mean_b[strata]))
    recovered = sum(within[s] / retained(p, int(size[s])) for s in range(size.size) if size[s] > 1)
    between = np.add.reduce(size * mean_a * mean_b)
    return float((recovered + between) / (n - 1)), scale, other_scale


def joint_covariance(z: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """Cov(X_a, X_b) of two columns masked together, in units of two scales, and the scales."""
    a, scale = standardise(z)
    b, other_scale = standardise(other)
    return float(np.add.reduce(a * b) / (z.size - 1)), scale, other_scale


def standardise(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Deviations from the mean in units of the largest, and that unit."""
    with np.errstate(over="ignore"):
        shifted = values - values[0]
    scale = float(np.abs(shifted).max()) or 1.0
    deviations = shifted / scale
    return deviations - deviations.mean(), scale
