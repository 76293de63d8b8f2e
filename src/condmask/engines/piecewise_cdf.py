"""A distribution function or density that is a polynomial on each of many equal cells: T_b."""

from functools import cached_property

import numpy as np

from condmask._blocks import blocks
from condmask.engines.rearrangement import Rearrangement
from condmask.kernels import bisection

POINTS = 1 << 16
NODES = 4  # values of each cell that are rearranged


class PiecewiseCDF:
    """T_b, or its density: a polynomial on each of many equal cells, on some pieces of the line.

    Parameters
    ----------
    lefts, widths : ndarray of shape (pieces,)
        Where the cells of each piece begin, and their width.
    coefficients : list of ndarray of shape (cells, ORDER)
        In powers of the position in a cell, from -1/2 to 1/2.
    before : ndarray of shape (pieces + 1,)
        The value before each piece, and after all.
    """

    def __init__(
        self, lefts: np.ndarray, widths: np.ndarray, coefficients: list[np.ndarray], before: np.ndarray
    ) -> None:
        self.lefts, self.widths, self.coefficients, self.before = lefts, widths, coefficients, before
        self.sizes = np.array([len(part) for part in coefficients])
        self.offsets = np.cumsum([0, *self.sizes])
        self._rows = coefficients[0] if len(coefficients) == 1 else np.concatenate(coefficients)

    def at(self, x: np.ndarray) -> np.ndarray:
        """The value at any points."""
        values = np.empty(x.size)
        for start, stop in blocks(x.size, POINTS):
            values[start:stop] = self._at(x[start:stop])
        return values

    def quantile(self, q: np.ndarray, crossing: str) -> np.ndarray:
        """The first points where the value reaches q, or where its monotone rearrangement does."""
        return self._first(q) if crossing == "first" else self._rearranged_quantile(q)

    def rearranged(self, x: np.ndarray, tol: float) -> np.ndarray:
        """The monotone rearrangement at any points, within [0, 1], to `tol`, by bisection of its inverse."""
        low, high = np.zeros(x.size), np.ones(x.size)
        while x.size and float((high - low).max()) > tol:
            middle = 0.5 * (low + high)
            reached = self._rearranged_quantile(middle) <= x
            low, high = np.where(reached, middle, low), np.where(reached, high, middle)
        return np.asarray(np.where(x < self.lefts[0], 0.0, 0.5 * (low + high)))

    @cached_property
    def rearrangement(self) -> Rearrangement:
        """The values in ascending order, `NODES` in each cell."""
        places = (np.arange(NODES) + 0.5) / NODES - 0.5
        values = (self._rows @ (places[:, None] ** np.arange(self._rows.shape[1])).T).ravel()
        return Rearrangement(
            values, NODES * self.sizes, self.widths / NODES, self.lefts, self.before[1:-1], smooth=True
        )

    def _first(self, q: np.ndarray) -> np.ndarray:
        points = np.full(q.size, np.inf)
        for left, width, part in zip(self.lefts, self.widths, self.coefficients, strict=True):
            rest = np.flatnonzero(np.isinf(points))
            if rest.size:
                own = np.empty(rest.size)
                bisection.first_crossings(part, left, width, q[rest], own)
                points[rest] = own
        return np.where(np.isinf(points), self.lefts[-1] + self.widths[-1] * self.sizes[-1], points)

    def _rearranged_quantile(self, q: np.ndarray) -> np.ndarray:
        total, ends = np.zeros(q.size), self.lefts + self.widths * self.sizes
        for k, (width, part) in enumerate(zip(self.widths, self.coefficients, strict=True)):
            own = np.empty(q.size)
            bisection.lengths_below(part, width, q, own)
            total += own
            if k + 1 < self.lefts.size:
                total += (self.lefts[k + 1] - ends[k]) * (self.before[k + 1] < q)
        return np.asarray(self.lefts[0] + total)

    def _at(self, x: np.ndarray) -> np.ndarray:
        piece = np.maximum(np.searchsorted(self.lefts, x, side="right") - 1, 0)
        with np.errstate(invalid="ignore"):  # infinite points
            position = (x - self.lefts[piece]) / self.widths[piece]
        inside = (position >= 0.0) & (position < self.sizes[piece])
        cell = np.where(inside, position, 0.0).astype(np.int64)
        t = np.where(inside, position, 0.0) - cell - 0.5
        rows = self._rows[self.offsets[piece] + cell]
        value = rows[:, -1].copy()
        for order in range(rows.shape[1] - 2, -1, -1):
            value *= t
            value += rows[:, order]
        return np.where(inside, value, self.before[piece + (position > 0.0)])
