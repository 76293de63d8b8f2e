"""The monotone rearrangement of a function that is known piece by piece: its values, sorted by stretches."""

from functools import cached_property

import numpy as np

BROAD = 0.05  # a range of values, from which on all are sorted, once for all that is asked


class Rearrangement:
    """The values of T from left to right, on how long a stretch it has each, and T in ascending order.

    Parameters
    ----------
    values : ndarray
        T, piece by piece.
    sizes, widths, lefts : ndarray of shape (pieces,)
        How many values a piece has, on how long a stretch each, and where the piece begins.
    gaps : ndarray of shape (pieces - 1,)
        T between the pieces.
    smooth : bool
        Whether T goes from one value to the next, or jumps.
    """

    def __init__(
        self, values: np.ndarray, sizes: np.ndarray, widths: np.ndarray, lefts: np.ndarray, gaps: np.ndarray,
        *, smooth: bool,
    ) -> None:  # fmt: skip
        self.smooth, self.origin = smooth, float(lefts[0])
        # of all stretches where they are equal, which they are in one piece; else `lengths`
        self.length, self.lengths = float(widths[0]), np.empty(0)
        if lefts.size > 1:
            cuts, apart = np.cumsum(sizes)[:-1], lefts[1:] - (lefts + widths * sizes)[:-1]
            values = np.insert(values, cuts, gaps)
            self.lengths = np.insert(np.repeat(widths, sizes), cuts, apart)
        self.values = values

    @cached_property
    def highest(self) -> np.ndarray:
        """T up to each value at most."""
        return np.asarray(np.maximum.accumulate(self.values))

    @cached_property
    def lowest(self) -> np.ndarray:
        """T from each value on at least."""
        return np.asarray(np.minimum.accumulate(self.values[::-1])[::-1])

    def between(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """The values in a range, ascending; T* has value k from edge k to edge k + 1."""
        if high - low >= BROAD:
            values, edges = self.ascending
            first, stop = np.searchsorted(values, low), np.searchsorted(values, high, side="right")
            return values[first:stop], edges[first : stop + 1]
        part = slice(np.searchsorted(self.highest, low), np.searchsorted(self.lowest, high, side="right"))
        values, lengths = self.values[part], self.lengths[part]
        inside, under = (values >= low) & (values <= high), values < low
        if self.lengths.size == 0:
            return self._in_order(values[inside], float(part.start + np.count_nonzero(under)))
        before = self.lengths[: part.start].sum() + lengths[under].sum()
        return self._in_order(values[inside], before, lengths[inside])

    @cached_property
    def ascending(self) -> tuple[np.ndarray, np.ndarray]:
        """All values ascending, and the edges between which the rearrangement has them."""
        return self._in_order(self.values, 0.0, self.lengths if self.lengths.size else None)

    def _in_order(
        self, values: np.ndarray, before: float, lengths: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values ascending, and their edges; smaller ones take `before`, a number of values or a length."""
        if lengths is None:
            ascending = np.sort(values)
            return ascending, self.origin + self.length * (before + np.arange(ascending.size + 1.0))
        order = np.argsort(values, kind="stable")
        return values[order], self.origin + np.cumsum(np.append(before, lengths[order]))
