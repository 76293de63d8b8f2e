"""A distribution function that is constant from each point of a grid to the next: T_1."""

from functools import cached_property

import numpy as np

from condmask.engines.rearrangement import Rearrangement

FEW = 16  # quantiles, for which counting is sooner done than sorting


class StepCDF:
    """T_1: constant from each grid point to the next, given at all points of some pieces of the line.

    Parameters
    ----------
    starts : ndarray of shape (pieces,)
        The first point of each piece.
    values : list of ndarray
        T at the points of each piece; it keeps the last value until the next piece, and is 0 before all.
    """

    def __init__(self, starts: np.ndarray, values: list[np.ndarray]) -> None:
        self.starts = starts
        self.offsets = np.cumsum([0, *(part.size for part in values)])
        self.values = values[0] if len(values) == 1 else np.concatenate(values)

    def at(self, k: np.ndarray) -> np.ndarray:
        """T at grid points."""
        return self._look_up(self.values, k)

    def rearranged(self, k: np.ndarray, tol: float = 0.0) -> np.ndarray:
        """The monotone rearrangement of T at grid points, within [0, 1], whatever `tol`."""
        values, edges = self.rearrangement.ascending
        place = np.searchsorted(edges[1:], k, side="right")
        t = np.clip(values[np.minimum(place, values.size - 1)], 0.0, 1.0)
        return np.asarray(np.where(place < values.size, np.where(k < self.starts[0], 0.0, t), 1.0))

    def quantile(self, q: np.ndarray, crossing: str) -> np.ndarray:
        """The first grid points where T reaches q, or where its monotone rearrangement does."""
        if crossing == "first":
            index = np.searchsorted(self._running, q)
            return self._point(np.minimum(index, self.values.size - 1))
        if q.size > FEW:
            values, edges = self.rearrangement.ascending
            return np.asarray(edges[np.searchsorted(values, q)])
        smaller = np.array([np.count_nonzero(self.values < target) for target in q], dtype=np.float64)
        for last, gap in zip(self.offsets[1:-1] - 1, self._gaps, strict=True):
            smaller += gap * (self.values[last] < q)
        return np.asarray(self.starts[0] + smaller)

    @property
    def _gaps(self) -> np.ndarray:
        """The points between the pieces, on which T keeps its last value."""
        return np.diff(self.starts) - np.diff(self.offsets)[:-1]

    @cached_property
    def _running(self) -> np.ndarray:
        return np.maximum.accumulate(self.values)

    @cached_property
    def rearrangement(self) -> Rearrangement:
        """T in ascending order."""
        sizes = np.diff(self.offsets)
        between = self.values[self.offsets[1:-1] - 1]
        return Rearrangement(self.values, sizes, np.ones(sizes.size), self.starts, between, smooth=False)

    def _look_up(self, values: np.ndarray, k: np.ndarray) -> np.ndarray:
        piece = np.maximum(np.searchsorted(self.starts, k, side="right") - 1, 0)
        with np.errstate(invalid="ignore"):  # infinite points
            place = np.clip(k - self.starts[piece], 0.0, np.diff(self.offsets)[piece] - 1.0)
        return np.asarray(
            np.where(k < self.starts[0], 0.0, values[self.offsets[piece] + place.astype(np.int64)])
        )

    def _point(self, index: np.ndarray) -> np.ndarray:
        piece = np.searchsorted(self.offsets, index, side="right") - 1
        return np.asarray(self.starts[piece] + (index - self.offsets[piece]))
