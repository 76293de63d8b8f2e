"""The score test of the distribution function at a point, and the interval that inverts it."""

import numpy as np

from condmask.inference.theorem import AsymptoticVariance


def test(
    t: np.ndarray, hypothesis: np.ndarray, variance: AsymptoticVariance, n: int, target: str
) -> tuple[np.ndarray, np.ndarray]:
    """Distances of T from hypothetical values, in standard errors under these, and p-values."""
    from scipy.special import ndtr  # takes .1 s to import

    sample = hypothesis * (1.0 - hypothesis) if target == "population" else 0.0
    under = variance.file + sample + (t - hypothesis) ** 2
    positive = under > 0.0
    statistic = np.where(positive, (t - hypothesis) * np.sqrt(n / np.where(positive, under, 1.0)), 0.0)
    return statistic, 2.0 * ndtr(-np.abs(statistic))


def ends(t: np.ndarray, variance: AsymptoticVariance, c: float, target: str) -> tuple[np.ndarray, np.ndarray]:
    """The ends of intervals about values of T; c = z^2/n."""
    if c >= 1.0:
        return np.zeros(t.shape), np.ones(t.shape)
    if target == "file":
        radius = np.sqrt(variance.file * c / (1.0 - c))
        return np.clip(t - radius, 0.0, 1.0), np.clip(t + radius, 0.0, 1.0)
    middle = 2.0 * t * (1.0 - c) + c
    given = variance.file + smoothed_away(variance)
    root = np.sqrt(np.maximum(middle**2 - 4.0 * (t**2 * (1.0 - c) - c * given), 0.0))
    return np.clip(0.5 * (middle - root), 0.0, 1.0), np.clip(0.5 * (middle + root), 0.0, 1.0)


def smoothed_away(variance: AsymptoticVariance) -> np.ndarray:
    """By how much Var h falls short of g (1 - g), turned: 0 for T_1, for T_b E Phi^2 - E Phi."""
    return np.asarray(np.minimum(variance.means.h_squared - variance.means.psi, 0.0))
