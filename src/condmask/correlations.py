"""Compute correlations of two columns, ranks, and intraclass correlations of labelled records."""

import numpy as np


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Return Pearson's correlation of two columns, 0 if either is constant."""
    a = a - a.mean()
    b = b - b.mean()
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b)))
        return float(np.sum(a * b)) / size if 0.0 < size < np.inf else 0.0


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of values; tied values have their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[place])


def intraclass(values: np.ndarray, codes: np.ndarray) -> float:
    """Return the share of the variance that lies between labels, by analysis of variance.

    The share is at least 0. Missing values, codes below 0 and labels of one record are left out.
    """
    present = ~np.isnan(values) & (codes >= 0)
    _, place, number = np.unique(codes[present], return_inverse=True, return_counts=True)
    inside = number[place] > 1
    x = values[present][inside]
    _, place, number = np.unique(place[inside], return_inverse=True, return_counts=True)
    if number.size < 2:
        return 0.0
    mean = np.bincount(place, x) / number
    within = float(np.sum((x - mean[place]) ** 2)) / (x.size - number.size)
    between = float(np.sum(number * (mean - x.mean()) ** 2)) / (number.size - 1)
    size = (x.size - float(np.sum(number**2)) / x.size) / (number.size - 1)
    share = between + (size - 1.0) * within
    return max(0.0, (between - within) / share) if share > 0.0 else 0.0
