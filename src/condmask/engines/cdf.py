"""The interface of an estimated distribution function as a whole.

Its values at any points, its quantiles, its monotone rearrangement, and, where all of it is known, its values
sorted.
"""

from typing import Any, Protocol

import numpy as np

from condmask._blocks import Workers
from condmask.engines import crossings, lattice
from condmask.engines.rearrangement import Rearrangement
from condmask.kernels.curve import Curve


class CDF(Protocol):
    """A distribution function T, which need not be monotone."""

    def at(self, x: np.ndarray) -> np.ndarray:
        """T at points x."""

    def quantile(self, q: np.ndarray, crossing: str) -> np.ndarray:
        """The first points where T ("first") or its monotone rearrangement ("rearranged") reaches q."""

    def rearranged(self, x: np.ndarray, tol: float) -> np.ndarray:
        """The monotone rearrangement of T at points x, within [0, 1], to `tol`."""

    @property
    def rearrangement(self) -> Rearrangement | None:
        """T in ascending order, where it is known at all points."""


class CurveCDF:
    """T as a curve over sorted records, in which quantiles are searched.

    Parameters
    ----------
    curve : Curve
    reach : float
        The distance within which a record's weight changes.
    resolution : float
        The spacing at which a crossing between records is not pursued further.
    tol : float
        How far T may stay below a probability that counts as reached.
    workers : int or map-like callable
    """

    rearrangement: Any = None

    def __init__(
        self, curve: Curve, reach: float, resolution: float, tol: float, workers: Workers = 1
    ) -> None:
        self._curve, self._reach, self._resolution = curve, reach, resolution
        self._tol, self._workers = tol, workers

    def at(self, x: np.ndarray) -> np.ndarray:
        return lattice.values(self._curve, x + self._curve.half, self._workers)

    def quantile(self, q: np.ndarray, crossing: str) -> np.ndarray:
        return crossings.crossing_points(
            self._curve, q, self._reach, self._resolution, self._tol, crossing, self._workers
        )

    def rearranged(self, x: np.ndarray, tol: float) -> np.ndarray:
        return crossings.monotone_values(self._curve, x, self._reach, self._resolution, tol, self._workers)


class EmpiricalCDF:
    """The distribution function of records as they are.

    Parameters
    ----------
    values : ndarray
        Distinct, ascending.
    below : ndarray of shape (values + 1,)
        The number of records before each, and in all.
    """

    rearrangement: Any = None

    def __init__(self, values: np.ndarray, below: np.ndarray) -> None:
        self._values, self._below = values, below

    def at(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._below[np.searchsorted(self._values, x, side="right")] / self._below[-1])

    def quantile(self, q: np.ndarray, crossing: str) -> np.ndarray:
        ranks = ranks_of(q, int(self._below[-1]))
        return np.asarray(self._values[np.searchsorted(self._below[1:], ranks, side="right")])

    def rearranged(self, x: np.ndarray, tol: float) -> np.ndarray:
        return self.at(x)


def ranks_of(q: np.ndarray, n: int) -> np.ndarray:
    """The places of quantiles among n ascending records, from 0 on."""
    return np.asarray(np.clip(np.ceil(q * n).astype(np.int64), 1, n) - 1)
