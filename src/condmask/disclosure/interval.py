"""What an attacker learns about a record from its masked value: closed forms, given the original file."""

import numpy as np

from condmask._grid import Grid
from condmask.kernels.pairs import pairs_within
from condmask.law import Law
from condmask.levels import level_laws, level_of


def interval_risk(ordered: np.ndarray, d: np.ndarray, law: Law) -> np.ndarray:
    """P(|Z_i - X_i| < d), averaged over the records of a file masked by eq. (1) or by added noise.

    The records are ascending, the last axis of `ordered`; the distances are that of the result.
    """
    near = np.empty(ordered.shape[:-1] + d.shape)
    near[:] = kept_within(ordered, d, law)
    if law.p == 0.0:
        return np.asarray(near)
    if isinstance(law.grid, Grid):  # in whole steps, where no difference is rounded
        ordered, d = law.grid.units(ordered), law.grid.above(d)
    n = ordered.shape[-1]
    pairs = np.empty(near.shape)
    pairs_within(np.atleast_2d(ordered), d, np.atleast_2d(pairs))
    return np.asarray(law.p * pairs / (n * (n - 1.0)) + (1.0 - law.p) * near)


def kept_within(x: np.ndarray, d: np.ndarray, law: Law) -> np.ndarray:
    """P(|Z_i - X_i| < d) of kept records, averaged over those of the last axis of x."""
    if law.is_plain:
        return law.noise_within(d)
    if law.scale == "linear":
        level = level_of(law.to_units(x), law.heaps)
        share = np.stack([np.mean(level == k, axis=-1) for k in range(len(level_laws(law)))], axis=-1)
        return np.asarray(share @ np.stack([own.noise_within(d) for own in level_laws(law)]))
    size = np.abs(x)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(size > 0.0, d / size, np.inf)
        up, down = np.log1p(far), np.where(far < 1.0, np.log1p(-np.minimum(far, 1.0)), -np.inf)
    chance = law.noise_below(up) - (1.0 - law.noise_below(-down))
    return np.asarray(np.where(d > 0.0, np.maximum(chance, 0.0), 0.0).mean(axis=-2))


def kept_square(x: np.ndarray, law: Law) -> np.ndarray:
    """E (Z_i - X_i)^2 of kept records, averaged over those of the last axis of x."""
    if law.is_plain:
        return np.full(x.shape[:-1], law.variance)
    if law.scale == "linear":
        level = level_of(law.to_units(x), law.heaps)
        share = np.stack([np.mean(level == k, axis=-1) for k in range(len(level_laws(law)))], axis=-1)
        return np.asarray(share @ np.array([own.variance for own in level_laws(law)]))
    return np.asarray(np.mean(x * x, axis=-1) * (law.growth(2) - 2.0 * law.growth(1) + 1.0))


def mean_squared_error(x: np.ndarray, law: Law) -> np.ndarray:
    """E (Z_i - X_i)^2 given the file, averaged over records: 2 p S_X^2 + (1 - p) E (Z - X)^2 of kept ones.

    S^2 has the divisor n - 1. The paper's factor n / (n - 1) is wrong.
    """
    return np.asarray(2.0 * law.p * x.var(axis=-1, ddof=1) + (1.0 - law.p) * kept_square(x, law))


def mean_squared_error_of_mean(x: np.ndarray, law: Law, *, shared_donors: bool) -> np.ndarray:
    """E (mean of Z - X_i)^2 over samples of n with the variance of this file, averaged over records.

    ``Var X (1 - 2/n) + Var(mean of Z)``, where n Var(mean of Z) is
    ``Var X + (1-p) Var Y + (n-1) kappa Var X``. With donors by eq. (1), which several records may share,
    ``kappa = p^2 (n-2)/(n-1)^2 + 2p(1-p)/(n-1)``; along a cycle none is shared and kappa is 0. The paper
    takes the Z_i to be independent.
    """
    if law.scale == "log":  # the mean of the masked amounts is not that of the file
        return np.full(x.shape[:-1], np.nan)
    p, n, variance = law.p, x.shape[-1], x.var(axis=-1, ddof=1)
    kappa = p * p * (n - 2) / (n - 1) ** 2 + 2.0 * p * (1.0 - p) / (n - 1) if shared_donors else 0.0
    of_mean = (variance * (1.0 + (n - 1) * kappa) + (1.0 - p) * kept_square(x, law)) / n
    return np.asarray(variance * (1.0 - 2.0 / n) + of_mean)
