"""The interval of the distribution function at a point, which inverts its score test."""

import numpy as np

from condmask.inference.theorem import AsymptoticVariance


def ends(t: np.ndarray, variance: AsymptoticVariance, c: float, target: str) -> tuple[np.ndarray, np.ndarray]:
    """The ends of intervals about values of T; c = z^2/n."""
    if c >= 1.0:
        return np.zeros(t.shape), np.ones(t.shape)
    if target == "file":
        radius = np.sqrt(variance.file * c / (1.0 - c))
        return np.clip(t - radius, 0.0, 1.0), np.clip(t + radius, 0.0, 1.0)
    middle = 2.0 * t * (1.0 - c) + c
    root = np.sqrt(np.maximum(middle**2 - 4.0 * (t**2 * (1.0 - c) - c * variance.file), 0.0))
    return np.clip(0.5 * (middle - root), 0.0, 1.0), np.clip(0.5 * (middle + root), 0.0, 1.0)
