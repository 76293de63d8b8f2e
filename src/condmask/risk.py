"""What an attacker learns about a record from its masked value: closed forms, given the original file."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from condmask._grid import to_units, whole_steps
from condmask.kernels.pairs import pairs_within


def interval_risk(x: np.ndarray, d: np.ndarray, scheme: Any) -> np.ndarray:
    """P(|Z_i - X_i| < d), averaged over the records of a file masked by eq. (1) or by added noise."""
    decimals = getattr(scheme, "decimals", None)
    if decimals is not None:  # in whole steps, where no difference is rounded
        x, d = to_units(x, decimals), whole_steps(d, decimals)
    near = _noise_within(d if decimals is None else (d - 0.5) * 10.0**-decimals, scheme)
    p = getattr(scheme, "p", 0.0)
    if p == 0.0:
        return near
    ordered = np.sort(x)
    n = ordered.size
    pairs = np.array([pairs_within(ordered, distance) for distance in d])
    return p * pairs / (n * (n - 1.0)) + (1.0 - p) * near


def _noise_within(d: np.ndarray, scheme: Any) -> np.ndarray:
    """P(|Y| < d) for the noise of a scheme before it is rounded."""
    u = np.maximum(d, 0.0) / scheme.sigma
    if scheme.noise == "normal":
        return np.asarray(ndtr(u) - ndtr(-u))
    return np.asarray(-np.expm1(-u * np.sqrt(2.0)))


def mean_squared_error(x: np.ndarray, scheme: Any) -> float:
    """E (Z_i - X_i)^2 given the file, averaged over its records: 2 p S_X^2 + (1 - p) Var Y, S^2 with n - 1.

    The paper's factor n / (n - 1) is wrong.
    """
    p = getattr(scheme, "p", 0.0)
    return float(2.0 * p * np.var(x, ddof=1) + (1.0 - p) * scheme.noise_variance)


def mean_squared_error_of_mean(x: np.ndarray, scheme: Any) -> float:
    """E (mean of Z - X_i)^2 over samples with the variance of this file, averaged over records.

    ``Var X (1 - 2/n) + Var(mean of Z)``, where donors are shared: with
    ``kappa = p^2 (n-2)/(n-1)^2 + 2p(1-p)/(n-1)``, n Var(mean of Z) is
    ``Var X + (1-p) Var Y + (n-1) kappa Var X``. The paper takes the Z_i to be independent.
    """
    p, n = getattr(scheme, "p", 0.0), x.size
    kappa = p * p * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1)
    variance = float(np.var(x, ddof=1))
    of_mean = (variance * (1.0 + (n - 1) * kappa) + (1.0 - p) * scheme.noise_variance) / n
    return float(variance * (1.0 - 2.0 / n) + of_mean)
