"""Intervals for the distribution function at a point: all values that its score test accepts.

See docs/inference.rst, "Score form".
"""

import numpy as np

from condmask.inference.theorem import Variance


def cdf_interval(
    t: np.ndarray, variance: Variance, c: np.ndarray | float, target: str, p: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and high ends of intervals about values of T, within [0, 1].

    Parameters
    ----------
    t : ndarray of shape (points,)
        Values of T.
    variance : Variance
        n Var T at the points.
    c : float or ndarray that broadcasts with the points
        z^2/n of the level.
    target : {"population", "file"}
    p : float

    Notes
    -----
    With A/n the variance of T given the file, an interval for the population holds all g with
    (T - g)^2 (1 - c) <= c (A + g (1 - g)): Wilson's interval if nothing were masked. One for the
    file is T -+ sqrt(A c / (1 - c)). Intervals hold T, or the end of [0, 1] nearest to it. One for
    the file is extended to 0 or 1 where the test for the population accepts that: beyond the data
    A is estimated from next to nothing, often as 0.
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
    if target == "file" and p < 1.0:  # with p = 1, T is the distribution function of the file
        reach = np.sqrt(variance.about("population") * c / (1.0 - c))
        low = np.where(t <= reach, 0.0, low)
        high = np.where(1.0 - t <= reach, 1.0, high)
    return np.where(known, np.clip(low, 0.0, 1.0), 0.0), np.where(
        known, np.clip(high, 0.0, 1.0), 1.0
    )
