"""Intervals for the distribution function at a point: what its score test does not exclude.

See docs/inference.rst, "Score form".
"""

import numpy as np

from condmask.inference.theorem import Variance


def cdf_interval(
    t: np.ndarray, variance: Variance, c: np.ndarray | float, target: str, p: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends about values of T, within [0, 1].

    With A/n the variance of T given the file and c = z^2/n, all g with (T - g)^2 (1 - c) <= c (A +
    g (1 - g)) for the population, Wilson's interval if nothing were masked; T -+ sqrt(A c / (1 -
    c)) for the file. They hold T, or the end of [0, 1] that is nearest to it; those for the file
    also an end that the population may have, since beyond the data A is estimated from next to
    nothing, often as 0.
    """
    known = np.less(c, 1.0)
    c = np.where(known, c, 0.0)
    if target == "file":
        middle = t
        radius = np.sqrt(variance.file * c / (1.0 - c))
    else:
        middle = t * (1.0 - c) + 0.5 * c
        radius = np.sqrt(np.maximum(middle**2 - t**2 * (1.0 - c) + c * variance.file, 0.0))
    low = np.minimum(middle - radius, t)
    high = np.maximum(middle + radius, t)
    if target == "file" and p < 1.0:  # else T is what the file has
        reach = np.sqrt(variance.about("population") * c / (1.0 - c))
        low = np.where(t <= reach, 0.0, low)
        high = np.where(1.0 - t <= reach, 1.0, high)
    return np.where(known, np.clip(low, 0.0, 1.0), 0.0), np.where(
        known, np.clip(high, 0.0, 1.0), 1.0
    )
