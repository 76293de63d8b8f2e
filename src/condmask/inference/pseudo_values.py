"""Sums of originals with known weights: unbiased, and with the variance that masking gives them.

Given the file, the pseudo-values Zt_i have the means X_i, so ``sum l_i Zt_i`` has that of ``sum l_i X_i``. It
is ``sum k_i Z_i`` with ``k_i = (l_i - p' lbar) / f``, where lbar is the mean of l over the donor pool,
``p' = p n/(n-1)`` and f = 1 - p' as in `covariance`. Its variance given the file is the sum
of ``k_i^2 v_i``, v_i that of Z_i, less what the donors of a permutation have in common
(docs/inference.rst, "Linear statistics").
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.covariance import Donors, donors, standardised, undone
from condmask.law import Law

CHUNK = 8192  # records at a time, so that what is made of them stays in the cache


class Undone(NamedTuple):
    """The records of a file that have a value, undone one by one.

    Attributes
    ----------
    origin, unit : float
        The original is about ``origin + unit * values``; all else is in these units.
    rows : ndarray of bool or slice
        Which records of the file they are.
    values : ndarray
        Pseudo-values.
    variances : ndarray
        Of the masked values given the file; the mean of each is right, and it may be negative.
    shared : ndarray
        q_i, by which values of a permutation depend on each other: of mean (X_i - mu)^2 where noise is added.
    donors : Donors
        Their pools.
    spread : ndarray
        The variance of the originals, pool by pool; at least 0.
    lent : ndarray
        p' by pool: by what part of its pool's mean a weight is lowered.
    law : Law
    cycle : bool
        Whether donors form a permutation.
    """

    origin: float
    unit: float
    rows: Any
    values: np.ndarray
    variances: np.ndarray
    shared: np.ndarray
    donors: Donors
    spread: np.ndarray
    lent: np.ndarray
    law: Law
    cycle: bool

    @property
    def n(self) -> int:
        """The number of records with a value."""
        return int(self.values.size)

    def placed(
        self,
        estimate: np.ndarray,
        error: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        *,
        total: Any = 1.0,
        units: Any = 1.0,
    ) -> tuple[np.ndarray, ...]:
        """An estimate, its standard error and its interval in the units of the data.

        `total` is the sum of the weights, and `units` are what these are to be divided by.
        """
        at, unit = self.origin * total, self.unit / units
        return at + unit * estimate, unit * error, at + unit * low, at + unit * high

    def by_pool(self, values: np.ndarray, pool: np.ndarray | None = None) -> np.ndarray:
        """Sums along the last axis by pool, of all records or of those in these pools."""
        size = self.donors.size.size
        if size == 1:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        pool = self.donors.pool if pool is None else pool
        sums = [np.bincount(pool, each, size) for each in np.atleast_2d(values)]
        return np.array(sums).reshape(*values.shape[:-1], size)

    def of_pool(self, values: np.ndarray, pool: np.ndarray | None = None) -> np.ndarray:
        """What is known by pool, by record; of a single pool it need not be repeated."""
        return values if values.shape[-1] == 1 else values[..., self.donors.pool if pool is None else pool]

    def linked(self, weighed: np.ndarray, mixed: np.ndarray, pools: Any = slice(None)) -> np.ndarray:
        """What donors of a permutation have in common, by pool, from the sums of k and of k q.

        Times the sum of k and divided by the number of records it is to be taken from the variance.
        """
        p = self.law.p
        return np.asarray(2.0 * p * (1.0 - p) * mixed + p * p * self.spread[pools] * weighed)

    def noise(self) -> np.ndarray:
        """The variance of each pseudo-value given the file."""
        return np.asarray(self.variances / self.of_pool(self.donors.factor) ** 2)


def undo(z: np.ndarray, law: Law, pool: np.ndarray | None, *, cycle: bool) -> Undone:
    """The records of a file undone; NaN where a value is missing."""
    there = ~np.isnan(z)
    rows: Any = slice(None) if there.all() else there
    known = z[rows]
    origin = float(known[0])
    a, unit = standardised(known)
    pools = donors(a, law, None if pool is None else pool[rows])
    values = a if law.p == 0.0 else undone(a, pools)
    own, shared, spread = _variances(a, law.p, pools, float(law.noise_moments(2, unit)[2]))
    lent = 1.0 - pools.factor
    return Undone(origin, unit, rows, values, own, shared, pools, spread, lent, law, cycle)


def _variances(
    a: np.ndarray, p: float, pools: Donors, noise: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variances, what is shared, and the spread; `noise` is the variance of what is added."""
    size, own = pools.size, pools.own
    square = (a - own(pools.mean)) ** 2
    degrees = np.maximum(size - 1, 1)
    spread = np.maximum(pools.sums(square) / degrees - (1.0 - p) * noise, 0.0)
    square *= own(size / degrees)
    other = own(p * spread) + (1.0 - p) * noise
    return p * square + (1.0 - p) * other, (square - other) / (1.0 - p), spread


def sandwich(weights: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """sum_i c_i l_i l_i', l_i the columns of `weights`, of shape (q, n)."""
    found = np.zeros((len(weights), len(weights)))
    for start in range(0, middle.size, CHUNK):
        part = weights[:, start : start + CHUNK]
        found += (part * middle[start : start + CHUNK]) @ part.T
    return found


def file_covariance(weights: np.ndarray, file: Undone, rows: Any = slice(None)) -> np.ndarray:
    """The covariance matrix, given the file, of ``sum l_i Zt_i``; in squared units.

    Parameters
    ----------
    weights : ndarray of shape (q, m)
        l, of the m records that have a weight; it is 0 for all others.
    file : Undone
    rows : ndarray of bool or slice
        Which of the records with a value these are.
    """
    pool, size, _, factor = file.donors
    own, shared, pool = file.variances[rows], file.shared[rows], pool[rows]
    total = file.by_pool(weights, pool)
    lowered = total * (file.lent / np.maximum(size, 1))
    others = -lowered / factor  # k of the records without a weight
    rest = file.by_pool(file.variances) - file.by_pool(own, pool)
    found = (others * rest) @ others.T
    for start in range(0, own.size, CHUNK):
        at = slice(start, start + CHUNK)
        k = (weights[:, at] - file.of_pool(lowered, pool[at])) / file.of_pool(factor, pool[at])
        found += (k * own[at]) @ k.T
    if file.cycle:
        # of one pool without a column in between, which costs more than the product
        sums = (weights @ shared)[:, None] if size.size == 1 else file.by_pool(weights * shared, pool)
        mixed = sums / factor + others * file.by_pool(file.shared)
        crossed = (total / np.maximum(size, 1)) @ file.linked(total, mixed).T
        found -= 0.5 * (crossed + crossed.T)
    return np.asarray(found)
