"""What an attacker learns about a record from its masked value: closed forms, given the original file."""

import numpy as np

from condmask.kernels.pairs import pairs_within
from condmask.law import Law


def interval_risk(x: np.ndarray, d: np.ndarray, law: Law) -> np.ndarray:
    """P(|Z_i - X_i| < d), averaged over the records of a file masked by eq. (1) or by added noise."""
    near = law.noise_within(d)
    if law.p == 0.0:
        return near
    if law.grid is not None:  # in whole steps, where no difference is rounded
        x, d = law.grid.units(x), law.grid.above(d)
    ordered = np.sort(x)
    n = ordered.size
    pairs = np.array([pairs_within(ordered, distance) for distance in d])
    return law.p * pairs / (n * (n - 1.0)) + (1.0 - law.p) * near


def mean_squared_error(x: np.ndarray, law: Law) -> float:
    """E (Z_i - X_i)^2 given the file, averaged over its records: 2 p S_X^2 + (1 - p) Var Y, S^2 with n - 1.

    The paper's factor n / (n - 1) is wrong.
    """
    return float(2.0 * law.p * np.var(x, ddof=1) + (1.0 - law.p) * law.variance)


def mean_squared_error_of_mean(x: np.ndarray, law: Law, *, shared_donors: bool) -> float:
    """E (mean of Z - X_i)^2 over samples with the variance of this file, averaged over records.

    ``Var X (1 - 2/n) + Var(mean of Z)``, where n Var(mean of Z) is
    ``Var X + (1-p) Var Y + (n-1) kappa Var X``. With donors by eq. (1), which several records may share,
    ``kappa = p^2 (n-2)/(n-1)^2 + 2p(1-p)/(n-1)``; along a cycle none is shared and kappa is 0. The paper
    takes the Z_i to be independent.
    """
    p, n = law.p, x.size
    kappa = p * p * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1) if shared_donors else 0.0
    variance = float(np.var(x, ddof=1))
    of_mean = (variance * (1.0 + (n - 1) * kappa) + (1.0 - p) * law.variance) / n
    return float(variance * (1.0 - 2.0 / n) + of_mean)
