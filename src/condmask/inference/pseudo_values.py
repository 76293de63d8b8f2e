"""Pseudo-values: for each masked value a value whose mean, given the file, is the record's original.

A swapped record's donor is any of the other records of its pool, so given the file the masked value has the
mean ``f X_i + (1 - f) Xbar``, Xbar that of the pool, n its size and f = 1 - p - p/(n-1). Solved record by
record, that gives *pseudo-values* ``Zbar + (Z_i - Zbar) / f``. How a masked value varies about its mean, and
what the donors of a permutation have in common, is known from the masked values without bias
(docs/inference.rst, "Linear statistics").

Only figures by pool are kept. Everything by record is computed part by part.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from condmask.inference.parts import CompleteRows, Rows, add, frame_of
from condmask.law import Law
from condmask.linear.pseudo_values import covariance_factor
from condmask.moments.theorem_2_1 import noise_variance
from condmask.variance.interval import Interval, UndefinedError


class Part:
    """Some records that have a value, with their pseudo-values and how these vary given the file.

    Everything is in the units of `file`, and computed on first use.
    """

    def __init__(self, file: "PseudoValues", rows: Rows) -> None:
        self.file, self.rows = file, rows

    def of(self, column: np.ndarray) -> np.ndarray:
        """Another column in these records."""
        return self.rows.of(column)

    @property
    def size(self) -> int:
        """The number of records."""
        return self.rows.size

    @cached_property
    def masked(self) -> np.ndarray:
        """The masked values."""
        return np.asarray((self.of(self.file.z) - self.file.origin) / self.file.unit)

    @cached_property
    def pool(self) -> np.ndarray | None:
        """The number of each record's pool; None where all are one."""
        return None if self.file.pool is None else self.of(self.file.pool)

    @cached_property
    def values(self) -> np.ndarray:
        """The pseudo-values; without swapping, the masked values themselves."""
        file = self.file
        if file.law.p == 0.0:
            return self.masked
        return np.asarray(self._mean + self._deviation / self.of_pool(file.factor))

    @cached_property
    def masked_variances(self) -> np.ndarray:
        """The variance of each masked value given the file: right on average, and negative for some."""
        p = self.file.law.p
        return np.asarray(p * self._square + self.of_pool((1.0 - p) * self.file.other))

    @property
    def variances(self) -> np.ndarray:
        """The variance of each pseudo-value given the file."""
        return np.asarray(self.masked_variances / self.of_pool(self.file.factor**2))

    @property
    def donor_covariance(self) -> np.ndarray:
        """q_i, by which values of a permutation depend on each other: on average (X_i - mu)^2 under noise."""
        return np.asarray((self._square - self.of_pool(self.file.other)) / (1.0 - self.file.law.p))

    def of_pool(self, figures: np.ndarray) -> np.ndarray:
        """Figures by pool, record by record; of a single pool they need not be repeated."""
        return figures if self.pool is None else figures[..., self.pool]

    def add_by_pool(self, sums: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Add values, or values with weights, to sums by pool along the last axis."""
        if self.pool is not None:
            add(sums, self.pool, values if weights is None else weights * values)
        elif weights is None:
            sums += values.sum(axis=-1, keepdims=True)
        else:
            sums += (weights @ values)[..., None]  # without an array in between, which costs more

    @cached_property
    def _mean(self) -> np.ndarray:
        return self.of_pool(self.file.pool_mean)

    @cached_property
    def _deviation(self) -> np.ndarray:
        return np.asarray(self.masked - self._mean)

    @cached_property
    def _square(self) -> np.ndarray:
        size = self.file.pool_size
        return np.asarray(self._deviation**2 * self.of_pool(size / np.maximum(size - 1, 1)))


class Parts:
    """Records of a file part by part, as often as they are gone through; a single part is made once."""

    def __init__(self, file: "PseudoValues", rows: CompleteRows) -> None:
        self._file, self._rows = file, rows
        self._only: list[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        parts = (self._file.part(self._file, rows) for rows in self._rows)
        if not self._rows.single:
            return parts
        if self._only is None:
            self._only = list(parts)
        if not self._only:
            raise UndefinedError("z must have records in which the other columns have values, too, got none")
        return iter(self._only)


class PseudoValues:
    """The records of a file that have a value, with their pseudo-values and how these vary given the file.

    Everything but the origin, the unit and n is computed on first use.

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
    n : int
        The number of records with a value.
    """

    part: type[Part] = Part

    def __init__(self, z: Any, law: Law, pool: Any, *, cycle: bool) -> None:
        self.z, self.law, self.pool, self.cycle = z, law, pool, cycle
        self._present = CompleteRows(z)
        self.origin, self.unit, self.n = frame_of(z, self._present)

    def parts(self, *needed: Any) -> "Parts":
        """The records that have a value and miss nothing in other columns."""
        return Parts(self, CompleteRows(self.z, *needed) if needed else self._present)

    def sums(self, *shape: int) -> np.ndarray:
        """Sums by pool along the last axis, of nothing as yet."""
        return np.zeros((*shape, self.pool_count))

    def values(self) -> np.ndarray:
        """The pseudo-values in units of the data, in the places of the records; NaN for missing values."""
        values = np.empty(self.z.size)
        if self.n < self.z.size:
            values.fill(np.nan)
        for part in self.parts():
            rows, used = part.rows
            values[rows][slice(None) if used is None else used] = self.origin + self.unit * part.values
        return values

    @cached_property
    def pool_count(self) -> int:
        """One more than the largest number of a pool."""
        if self.pool is None:
            return 1
        return 1 + max((int(rows.of(self.pool).max()) for rows in self._present), default=-1)

    @cached_property
    def pool_size(self) -> np.ndarray:
        """By pool the number of records."""
        if self.pool is None:
            return np.array([self.n])
        size = np.zeros(self.pool_count, dtype=np.int64)
        for rows in self._present:
            add(size, rows.of(self.pool))
        return size

    @cached_property
    def pool_mean(self) -> np.ndarray:
        """The mean of the masked values, by pool."""
        sums = self.sums()
        for part in self.parts():
            part.add_by_pool(sums, part.masked)
        return np.asarray(sums / np.maximum(self.pool_size, 1))

    @cached_property
    def factor(self) -> np.ndarray:
        """f by pool, by which masking shrinks deviations from the mean."""
        size, p = self.pool_size, self.law.p
        covariance_factor(p, int(size[size > 0].min()))
        return np.where(size > 0, 1.0 - p - p / np.maximum(size - 1, 1), 1.0)

    @property
    def donor_share(self) -> np.ndarray:
        """p n/(n-1) by pool: the part of its pool's mean by which a weight is lowered."""
        return np.asarray(1.0 - self.factor)

    @property
    def noise_variance(self) -> float:
        """The variance that noise adds to masked values."""
        return noise_variance(self.law, self.unit)

    @cached_property
    def other(self) -> np.ndarray:
        """The variance of what a record shows that does not keep its place: of a donor's value and noise."""
        return np.asarray(self.law.p * self.originals + self.noise_variance)

    @cached_property
    def originals(self) -> np.ndarray:
        """The variance of the originals by pool, at least 0."""
        variance = self._squares / np.maximum(self.pool_size - 1, 1)
        return np.asarray(np.maximum(variance - self.noise_variance, 0.0))

    @property
    def pool_variances(self) -> np.ndarray:
        """The sums of `masked_variances` by pool."""
        p = self.law.p
        return np.asarray(p * self._spread + (1.0 - p) * self.other * self.pool_size)

    @property
    def pool_covariance(self) -> np.ndarray:
        """The sums of `donor_covariance` by pool."""
        return np.asarray((self._spread - self.other * self.pool_size) / (1.0 - self.law.p))

    def cycle_covariance(self, total: np.ndarray, mixed: np.ndarray, pools: Any = slice(None)) -> np.ndarray:
        """What donors of a permutation have in common, by pool, from the sums of k and of k q.

        Times the sum of k and divided by the number of records it is to be taken from the variance.
        """
        p = self.law.p
        return np.asarray(2.0 * p * (1.0 - p) * mixed + p * p * self.originals[pools] * total)

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
    def _squares(self) -> np.ndarray:
        """The sums of squares about the means, by pool."""
        sums = self.sums()
        for part in self.parts():
            part.add_by_pool(sums, (part.masked - part.of_pool(self.pool_mean)) ** 2)
        return sums

    @property
    def _spread(self) -> np.ndarray:
        size = self.pool_size
        return np.asarray(self._squares * (size / np.maximum(size - 1, 1)))
