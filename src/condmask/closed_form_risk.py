"""Computes, given the original file, how near masked values are to the originals, in closed form.

Follows from eq. (1) of Ghatak & Roy.
"""

import numpy as np

from condmask.kernels.replication import pairs_within
from condmask.law import Law


def chance_of_near(near: np.ndarray, donors: float, d: np.ndarray, law: Law) -> np.ndarray:
    """Return P(|Z - X| < d) if `near` of the possible donors of a record are that near.

    The last axis of `near` is that of the distances. For sums over pairs of records the result is
    the mean over all records.
    """
    return np.asarray(law.p * near / donors + (1.0 - law.p) * law.noise_within(d))


def interval_risk(ordered: np.ndarray, d: np.ndarray, law: Law) -> np.ndarray:
    """Return P(|Z_i - X_i| < d), averaged over the records of a file masked by eq. (1) or by added
    noise.

    `ordered` has ascending records along its last axis; the last axis of the result is that of the
    distances.
    """
    n = ordered.shape[-1]
    pairs = np.zeros(ordered.shape[:-1] + d.shape)
    if law.p > 0.0:
        # on a grid in whole steps, so that differences are not rounded
        rows = law.to_units(ordered)
        apart = d if law.grid is None else law.grid.above(d)
        pairs_within(np.atleast_2d(rows), apart, np.atleast_2d(pairs))
    return chance_of_near(pairs, n * (n - 1.0) if law.p else 1.0, d, law)
