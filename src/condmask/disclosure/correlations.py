"""How closely two columns go together: correlation, ranks, normal scores."""

import numpy as np


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's correlation of two columns; 0 where one is constant."""
    a, b = a - a.mean(), b - b.mean()
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b)))
        return float(np.sum(a * b)) / size if 0.0 < size < np.inf else 0.0


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks, the mean one where values tie."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[place])


def normal_scores(values: np.ndarray) -> np.ndarray:
    """The normal quantiles of mean ranks, among all values; NaN where one is missing."""
    from scipy.special import ndtri  # takes .1 s to import

    scores, present = np.full(values.shape, np.nan), ~np.isnan(values)
    scores[present] = ndtri((ranks(values[present]) - 0.5) / max(1, int(present.sum())))
    return scores
