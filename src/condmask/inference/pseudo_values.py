"""Pseudo-values: for each masked value one whose mean, given the file, is the record's original.

A swapped record's donor is any of the other records of its pool, so given the file the masked value has the
mean ``f X_i + (1 - f) Xbar``, Xbar that of the pool, n its size and f = 1 - p - p/(n-1). Undone record by
record, that gives *pseudo-values* ``Zbar + (Z_i - Zbar) / f``. How a masked value varies about its mean, and
what the donors of a permutation have in common, is known from the masked values without bias
(docs/inference.rst, "Linear statistics").
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask.inference.intervals import Interval, UndefinedError
from condmask.law import Law


def covariance_factor(p: float, n: int) -> float:
    """The share f of a covariance that masking leaves among the n records of a pool."""
    factor = 1.0 - p - p / (n - 1) if n > 1 else 0.0
    if factor <= 0.0:
        raise UndefinedError(
            f"z must have more than {1.0 + p / (1.0 - p):.0f} records (in each stratum) for a "
            f"covariance at p={p}, got {n}"
        )
    return factor


def standardised(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Deviations from a value among them in units of the largest, and that unit; NaN stays."""
    with np.errstate(over="ignore"):
        shifted = values - values[np.flatnonzero(~np.isnan(values))[0]]
    scale = float(max(np.fmax.reduce(shifted), -np.fmin.reduce(shifted))) or 1.0
    return shifted / scale, scale


class PseudoValues:
    """The records of a file that have a value, with their pseudo-values and how these vary given the file.

    All but the origin and the unit is worked out when it is first asked for.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Masked values; NaN where one is missing.
    law : Law
    pool : ndarray of shape (n,), optional
        The number of each record's donor pool, of which some may not occur; None where all are one.
    cycle : bool
        Whether donors form a permutation.

    Attributes
    ----------
    origin, unit : float
        The original is about ``origin + unit * values``; all else is in these units.
    rows : ndarray of bool or slice
        Which records of the file have a value, of which all else is.
    masked : ndarray
        The masked values.
    pool, pool_size : ndarray
        The pool of each record, and by pool the number of records.
    """

    def __init__(self, z: np.ndarray, law: Law, pool: np.ndarray | None, *, cycle: bool) -> None:
        present = ~np.isnan(z)
        self.rows: Any = slice(None) if present.all() else present
        z = z[self.rows]
        self.origin = float(z[0])
        self.masked, self.unit = standardised(z)
        self.law, self.cycle = law, cycle
        self.pool = np.zeros(z.size, dtype=np.int64) if pool is None else pool[self.rows]
        self.pool_size = np.array([z.size]) if pool is None else np.bincount(self.pool)

    @property
    def n(self) -> int:
        """The number of records with a value."""
        return int(self.masked.size)

    @cached_property
    def values(self) -> np.ndarray:
        """The pseudo-values; without swapping, the masked values themselves."""
        if self.law.p == 0.0:
            return self.masked
        mean = self.of_pool(self.pool_mean)
        return np.asarray(mean + (self.masked - mean) / self.of_pool(self.factor))

    @cached_property
    def pool_mean(self) -> np.ndarray:
        """The mean of the masked values, by pool."""
        return np.asarray(self.by_pool(self.masked) / np.maximum(self.pool_size, 1))

    @cached_property
    def factor(self) -> np.ndarray:
        """f by pool, by which masking shrinks deviations from the mean."""
        return np.array([covariance_factor(self.law.p, int(n)) if n else 1.0 for n in self.pool_size])

    @property
    def donor_share(self) -> np.ndarray:
        """p n/(n-1) by pool: the part of its pool's mean by which a weight is lowered."""
        return np.asarray(1.0 - self.factor)

    @property
    def noise_variance(self) -> float:
        """The variance that noise adds to masked values."""
        return (1.0 - self.law.p) * float(self.law.noise_moments(2, self.unit)[2])

    @property
    def masked_variances(self) -> np.ndarray:
        """The variance of each masked value given the file: right on average, and negative for some."""
        return self._variances[0]

    @property
    def variances(self) -> np.ndarray:
        """The variance of each pseudo-value given the file."""
        return np.asarray(self.masked_variances / self.of_pool(self.factor) ** 2)

    @property
    def donor_covariance(self) -> np.ndarray:
        """q_i, by which values of a permutation depend on each other: on average (X_i - mu)^2 under noise."""
        return self._variances[1]

    def cycle_covariance(self, total: np.ndarray, mixed: np.ndarray, pools: Any = slice(None)) -> np.ndarray:
        """What donors of a permutation have in common, by pool, from the sums of k and of k q.

        Times the sum of k and divided by the number of records it is to be taken from the variance.
        """
        p = self.law.p
        return np.asarray(2.0 * p * (1.0 - p) * mixed + p * p * self._variances[2][pools] * total)

    def by_pool(self, values: np.ndarray, pool: np.ndarray | None = None) -> np.ndarray:
        """Sums along the last axis by pool, of all records or of those in these pools."""
        size = self.pool_size.size
        if size == 1:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        pool = self.pool if pool is None else pool
        sums = [np.bincount(pool, row, size) for row in np.atleast_2d(values)]
        return np.array(sums).reshape(*values.shape[:-1], size)

    def of_pool(self, values: np.ndarray, pool: np.ndarray | None = None) -> np.ndarray:
        """Figures by pool, record by record; of a single pool they need not be repeated."""
        return values if values.shape[-1] == 1 else values[..., self.pool if pool is None else pool]

    def in_units(self, interval: Interval, *, total: Any = 1.0, units: Any = 1.0) -> Interval:
        """An interval in the units of the data.

        `total` is the sum of the weights, and `units` are what these are to be divided by.
        """
        origin, unit = self.origin * total, self.unit / units
        return interval._replace(
            low=origin + unit * interval.low,
            high=origin + unit * interval.high,
            standard_error=unit * interval.standard_error,
            estimate=origin + unit * interval.estimate,
        )

    @cached_property
    def _variances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By record the variance and q, and by pool the variance of the originals, at least 0."""
        p, size = self.law.p, self.pool_size
        square = (self.masked - self.of_pool(self.pool_mean)) ** 2
        original = np.maximum(self.by_pool(square) / np.maximum(size - 1, 1) - self.noise_variance, 0.0)
        square *= self.of_pool(size / np.maximum(size - 1, 1))
        other = self.of_pool(p * original) + self.noise_variance
        return p * square + (1.0 - p) * other, (square - other) / (1.0 - p), original
