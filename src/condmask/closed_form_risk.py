"""What an attacker learns about a record from its masked value, in closed form given the original file."""

import numpy as np

from condmask.kernels.replication import pairs_within
from condmask.law import Law


def chance_of_near(near: np.ndarray, donors: float, d: np.ndarray, law: Law) -> np.ndarray:
    """P(|Z - X| < d) if `near` of the possible donors of a record are that near.

    The last axis of `near` is that of the distances. For sums over pairs of records the result is the mean
    over all records.
    """
    return np.asarray(law.p * near / donors + (1.0 - law.p) * law.noise_within(d))


def interval_risk(ordered: np.ndarray, d: np.ndarray, law: Law) -> np.ndarray:
    """P(|Z_i - X_i| < d), averaged over the records of a file masked by eq. (1) or by added noise.

    `ordered` has ascending records along its last axis; the last axis of the result is that of the distances.
    """
    n, pairs = ordered.shape[-1], np.zeros(ordered.shape[:-1] + d.shape)
    if law.p > 0.0:
        # on a grid in whole steps, so that differences are not rounded
        rows, apart = law.to_units(ordered), d if law.grid is None else law.grid.above(d)
        pairs_within(np.atleast_2d(rows), apart, np.atleast_2d(pairs))
    return chance_of_near(pairs, n * (n - 1.0) if law.p else 1.0, d, law)


def mean_squared_error(x: np.ndarray, law: Law) -> np.ndarray:
    """E (Z_i - X_i)^2 given the file, averaged over records: 2 p S_X^2 + (1 - p) E Y^2.

    S^2 has the divisor n - 1. The paper's factor n / (n - 1) is wrong.
    """
    return np.asarray(2.0 * law.p * x.var(axis=-1, ddof=1) + (1.0 - law.p) * law.variance)


def mean_squared_error_of_mean(x: np.ndarray, law: Law, *, shared_donors: bool) -> np.ndarray:
    """E (mean of Z - X_i)^2 over samples of n with the variance of this file, averaged over records.

    ``Var X (1 - 2/n) + Var(mean of Z)``, where n Var(mean of Z) is
    ``Var X + (1-p) Var Y + (n-1) kappa Var X``. With donors by eq. (1), which several records may share,
    ``kappa = p^2 (n-2)/(n-1)^2 + 2p(1-p)/(n-1)``; along a cycle no donor is shared and kappa is 0. The paper
    assumes that the Z_i are independent.
    """
    p, n, variance = law.p, x.shape[-1], x.var(axis=-1, ddof=1)
    kappa = p * p * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1) if shared_donors else 0.0
    of_mean = (variance * (1.0 + (n - 1) * kappa) + (1.0 - p) * law.variance) / n
    return np.asarray(variance * (1.0 - 2.0 / n) + of_mean)
