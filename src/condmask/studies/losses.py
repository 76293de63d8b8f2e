"""The usual measures of information loss of a masked table, for any method.

They compare the masked values directly with the originals. For schemes with estimators they are an upper
bound of the loss, not a prediction.
"""

import numpy as np

NAMES = ("IL1s", "eigenvalues", "correlations")


def losses(x: np.ndarray, z: np.ndarray, others: np.ndarray) -> np.ndarray:
    """IL1s, loss of eigenvalues and of correlations, of one masked column beside others that stay.

    Parameters
    ----------
    x, z : ndarray of shape (n,)
        Original and masked column.
    others : ndarray of shape (k, n)
        Columns that were not masked.

    Returns
    -------
    ndarray of shape (3,)
        IL1s: mean of abs(x - z) / (sqrt(2) S), S the standard deviation of x (Yancey, Winkler and Creecy,
        2002). Mean relative difference of the eigenvalues of the two correlation matrices, each weighed by
        its own size; NaN without other columns. Mean absolute difference of the correlations.
    """
    spread = float(np.std(x, ddof=1))
    distance = float(np.mean(np.abs(x - z))) / (np.sqrt(2.0) * spread) if spread > 0.0 else np.nan
    if len(others) == 0:
        return np.array([distance, np.nan, np.nan])
    before, after = (np.corrcoef(np.vstack([column, others])) for column in (x, z))
    original, masked = (np.sort(np.linalg.eigvalsh(matrix))[::-1] for matrix in (before, after))
    eigenvalues = float(np.abs(original - masked).sum() / np.abs(original).sum())
    correlations = float(np.mean(np.abs(before[0, 1:] - after[0, 1:])))
    return np.array([distance, eigenvalues, correlations])
