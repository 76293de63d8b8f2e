r"""What equal values tell in a release without any digits to look at.

Several swapped records may carry one record's value, kept ones agree by chance alone. Where m records are
expected at a point of the grid, the swapped ones there are a Poisson number of values of :math:`m` records,
each taken by a Poisson number of mean p of others; the kept ones are Poisson with mean (1 - p) m. Who sees t
records at a point guesses all of them alike, by the expected share of swapped ones among t.

On a fine grid (m to 0) he is right in 1 - p + p (1 - e^-p) or in p, whichever is more: 67% at p = .6. Along a
cycle no value is taken twice, and ties tell nothing.
"""

from functools import lru_cache
from math import exp

import numpy as np

LEAST, MOST, POINTS = 1e-4, 256.0, 48


def guessed(p: float, expected: np.ndarray) -> np.ndarray:
    """The share of coins guessed by ties where so many records are expected at a point."""
    means, shares = _table(p)
    found = np.interp(np.log(np.maximum(expected, LEAST)), means, shares, right=max(p, 1.0 - p))
    return np.asarray(found)


@lru_cache(maxsize=64)
def _table(p: float) -> tuple[np.ndarray, np.ndarray]:
    means = np.geomspace(LEAST, MOST, POINTS)
    return np.log(means), np.array([share_guessed(p, float(m)) for m in means])


def share_guessed(p: float, mean: float) -> float:
    """The same, computed for one point."""
    count = int(mean + 14.0 * np.sqrt(2.0 * mean) + 30.0)
    swapped, copies = np.empty(count), np.empty(count)  # Neyman's law; k times the chance of k copies of one
    copies[0] = mean * p * exp(-p)
    for k in range(1, count):
        copies[k] = copies[k - 1] * p / k
    swapped[0] = exp(mean * np.expm1(-p))
    for k in range(1, count):
        swapped[k] = float(copies[:k] @ swapped[k - 1 :: -1]) / k
    kept = np.empty(count)
    kept[0] = exp(-(1.0 - p) * mean)
    for k in range(1, count):
        kept[k] = kept[k - 1] * (1.0 - p) * mean / k
    number = np.arange(count)
    of_swapped = np.convolve(number * swapped, kept)[:count]
    of_kept = np.convolve(swapped, number * kept)[:count]
    return float(np.maximum(of_swapped, of_kept).sum() / mean)
