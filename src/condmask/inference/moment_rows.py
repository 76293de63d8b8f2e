"""Moments of many samples under one law, and their intervals: `moment_intervals` for rows."""

from collections.abc import Sequence

import numpy as np

from condmask.inference.influence import of_moment
from condmask.inference.intervals import Interval, interval
from condmask.inference.polynomial_variance import Moments, polynomial_variance
from condmask.kernels import moments as kernels
from condmask.law import Law
from condmask.samples.moments import shift, theorem_2_1

Ends = tuple[np.ndarray, np.ndarray]


class MomentRows:
    """Mean powers of rows of masked values about their means, and moments of the originals.

    Parameters
    ----------
    z : ndarray of shape (rows, n)
    law : Law
        With p = 1 of values that are those of the originals in another order.
    shared_donors : bool
        Whether several records may share a donor.
    highest : int
        Of the powers that are summed: the order of a moment, twice that for its interval.
    """

    def __init__(self, z: np.ndarray, law: Law, *, shared_donors: bool, highest: int) -> None:
        self.n, self._law, self._shared = z.shape[1], law, shared_donors
        self._center = z.mean(axis=1)
        deviation = z - self._center[:, None]
        # of NumPy, which has infinity for what is too large
        self._scale = np.float64(max(deviation.max(), -deviation.min(), law.sigma) or 1.0)
        sums = np.zeros((len(z), highest + 1))
        for row, own in zip(deviation, sums, strict=True):
            kernels.add_powers(row, 0.0, self._scale, 0, self.n, own)
        self._masked = sums.T / self.n
        self._noise = np.eye(1, highest + 1)[0]
        if law.p < 1.0:
            self._noise = law.noise_moments(highest, self._scale)
        self._original = theorem_2_1(self._masked, law.p, self._noise)

    def moments(self, order: int) -> np.ndarray:
        """The raw moments of the originals of this order."""
        means = shift(self._original[: order + 1], self._center / self._scale)
        with np.errstate(over="ignore"):
            return np.asarray(means[order] * self._scale**order)

    def variances(self) -> np.ndarray:
        """The variances of the originals, with divisor n - 1; some may be estimated negative."""
        masked = (self._masked[2] - self._masked[1] ** 2) * self.n / (self.n - 1)
        return np.asarray((masked - (1.0 - self._law.p) * self._noise[2]) * self._scale**2)

    def moment_ends(self, order: int, levels: Sequence[float], target: str) -> Ends:
        """The ends of intervals of a raw moment, of shape (levels, rows)."""
        error = self._error(order, self._center / self._scale, target)
        with np.errstate(over="ignore", invalid="ignore"):  # no number, where one is too large
            error = error * self._scale**order
            intervals = [interval(self.moments(order), error, level, target, "") for level in levels]
        return _stacked(intervals)

    def std_ends(self, levels: Sequence[float], target: str) -> Ends:
        """The ends of intervals of the standard deviation, of shape (levels, rows)."""
        value, error = self.variances(), self._error(2, None, target) * self._scale**2
        low, high = _stacked(
            [interval(value, error, level, target, "", logarithmic=True) for level in levels]
        )
        return np.sqrt(low), np.sqrt(high)

    def _error(self, order: int, about: np.ndarray | None, target: str) -> np.ndarray:
        """The standard error of a moment about a point so far below the means, or the central one."""
        functions = of_moment(self._original, order, about, self._noise[: order + 1], self._law.p)
        masked, original = (
            powers[: 2 * order + 1].T[:, None, :, None] for powers in (self._masked, self._original)
        )
        file, sample = polynomial_variance(
            Moments(masked, original), functions, self._law.p, shared_donors=self._shared
        )
        return np.asarray(np.sqrt((file if target == "file" else file + sample) / self.n))


def _stacked(intervals: list[Interval]) -> Ends:
    return np.array([each.low for each in intervals]), np.array([each.high for each in intervals])
