"""A file's masked column in one pass and little memory: power sums of sparse cells, which can be merged."""

from typing import TYPE_CHECKING, Any

import numpy as np

from condmask import _checks, _state, frames
from condmask.kernels import cells
from condmask.kernels.lattice import ORDER
from condmask.weights.expansion import coarser

if TYPE_CHECKING:
    from condmask.schemes.conditional import ConditionalMasking

CELLS_PER_SIGMA = 64
MOST_CELLS = 1 << 18  # of 88 bytes
_FARTHEST = 2.0**62


class Summary:
    """Power sums of masked values by cells, from which estimates are made without the values.

    Parameters
    ----------
    scheme : ConditionalMasking
        What was published with the data.
    resolution : float, optional
        Width of the cells, in the units of the data. Default sigma / 64; with `decimals`, the whole
        number of grid steps next below it, and at least one. Cells are counted from absolute 0, so
        summaries of parts with the same resolution can be merged.
    most_cells : int
        Where the data occupy more cells (of 88 bytes), cells become twice as wide.

    Notes
    -----
    Equal to the estimate from the values within 1e-12 for moments, for T_1 at edges of cells and for T_b
    with a bandwidth of at least 4 cells (5 where p < 0.5). The order of updates and merges
    changes nothing beyond rounding: the width depends on the union of the occupied cells alone.

    Examples
    --------
    >>> import condmask as cm
    >>> scheme = cm.ConditionalMasking(0.6, 100.0)
    >>> january, february = cm.Summary(scheme), cm.Summary(scheme)
    >>> january.update([310.0, 420.0])
    >>> february.update([385.0, 290.0])
    >>> scheme.estimate(january + february).mean()
    351.25
    """

    def __init__(
        self,
        scheme: "ConditionalMasking",
        *,
        resolution: float | None = None,
        most_cells: int = MOST_CELLS,
    ) -> None:
        step = 0.0 if scheme.decimals is None else 10.0**-scheme.decimals
        if resolution is None:
            width = scheme.sigma / CELLS_PER_SIGMA
            self._base = width if step == 0.0 else step * max(1.0, np.floor(width / step))
        else:
            self._base = _checks.positive(resolution, "resolution")
            if step > 0.0 and abs(self._base / step - max(1.0, np.rint(self._base / step))) > 1e-9:
                raise ValueError(
                    f"resolution must be a whole number of steps of the grid, {step:g}, got {resolution!r}"
                )
        self.scheme = scheme
        self._offset = 0.5 * step  # rounded values lie inside the cells, never on an edge
        self._most = _checks.whole(most_cells, "most_cells", least=1)
        self._level = 0
        self._index = np.empty(0, dtype=np.int64)
        self._moments = np.empty((0, ORDER))
        self._pairs = np.zeros(6)  # n, mean z, mean w, and the sums of squares and products about them

    @property
    def n(self) -> int:
        """Number of masked values, missing ones left out."""
        return int(self._moments[:, 0].sum())

    @property
    def resolution(self) -> float:
        """Width of the cells now, in the units of the data."""
        return float(self._base * 2.0**self._level)

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return int(self._index.nbytes + self._moments.nbytes + self._pairs.nbytes)

    def __repr__(self) -> str:
        cells_ = f"cells={self._index.size}, resolution={self.resolution:g}"
        return f"Summary(n={self.n}, {cells_}, scheme={self.scheme!r})"

    def update(self, z: Any, other: Any = None) -> None:
        """Add masked values, and with them those of a column that was not masked.

        Parameters
        ----------
        z : array_like or series of shape (n,)
            Masked values; missing ones are left out.
        other : array_like or series of shape (n,), optional
            For covariances and correlations, which use the records where both are present.
        """
        values = frames.column(z, "z", least=0).array
        if other is not None:
            w = frames.column(other, "other", least=0).array
            _checks.same_length(w, "other", values.size, "z")
            both = ~(np.isnan(values) | np.isnan(w))
            self._pairs = _together(self._pairs, _products(values[both], w[both]))
        ordered = np.sort(values[~np.isnan(values)])
        if ordered.size == 0:
            return
        position = np.ceil((ordered + self._offset) / self.resolution) - 1.0
        if not np.abs(position[[0, -1]]).max() < _FARTHEST:
            raise ValueError(
                f"z must stay within 2^62 cells of {self.resolution:g}, got "
                f"{float(np.abs(ordered).max())!r}; pass a larger resolution"
            )
        starts = np.flatnonzero(np.diff(position, prepend=np.nan) != 0.0)
        index = position[starts].astype(np.int64)
        moments = np.zeros((index.size, ORDER))
        edges = np.append(starts, ordered.size)
        cells.cell_sums(ordered, edges, self._centers(index), 1.0 / self.resolution, moments)
        self._add(index, moments)

    def merge(self, other: "Summary") -> None:
        """Add all that another summary of the same scheme and resolution holds."""
        if not isinstance(other, Summary):
            raise TypeError(f"other must be a Summary, got {type(other).__name__}")
        if other.scheme != self.scheme or other._base != self._base:
            raise ValueError(
                f"other must have the scheme {self.scheme!r} and start at the resolution {self._base:g}, got "
                f"{other.scheme!r} and {other._base:g}"
            )
        self._pairs = _together(self._pairs, other._pairs)
        index, moments = other._index, other._moments
        while self._level < other._level:
            self._coarsen()
        for _ in range(self._level - other._level):
            index, moments = halved(index, moments) if index.size else (index, moments)
        self._add(index, moments)

    def __add__(self, other: "Summary") -> "Summary":
        """Both together, as a new summary."""
        total = Summary.from_bytes(self.to_bytes())
        total.merge(other)
        return total

    def to_bytes(self) -> bytes:
        """The whole state; `from_bytes` gives it back bit by bit."""
        described = {
            "scheme": self.scheme.to_dict(), "base": self._base, "most": self._most, "level": self._level
        }  # fmt: skip
        return _state.pack(described, index=self._index, moments=self._moments, pairs=self._pairs)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Summary":
        """A summary from what `to_bytes` gave."""
        from condmask.schemes.conditional import ConditionalMasking

        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"data must be the bytes of a Summary, got {type(data).__name__}")
        try:
            described, arrays = _state.unpack(data)
            summary = cls(
                ConditionalMasking.from_dict(described["scheme"]), resolution=described["base"],
                most_cells=described["most"],
            )  # fmt: skip
            summary._level = described["level"]
            summary._index, summary._moments, summary._pairs = (
                arrays[name] for name in ("index", "moments", "pairs")
            )
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"data must be the bytes of a Summary, got {len(data)} bytes that are not"
            ) from error
        return summary

    # --- private ---

    def _add(self, index: np.ndarray, moments: np.ndarray) -> None:
        self._index, self._moments = merged(self._index, self._moments, index, moments)
        while self._index.size > self._most:
            self._coarsen()

    def _coarsen(self) -> None:
        self._level += 1
        if self._index.size:
            self._index, self._moments = halved(self._index, self._moments)

    def _centers(self, index: np.ndarray) -> np.ndarray:
        return (index + 0.5) * self.resolution - self._offset


def _products(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Number, means, and sums of squares and products about them."""
    if z.size == 0:
        return np.zeros(6)
    a, b = z - z.mean(), w - w.mean()
    return np.array([z.size, z.mean(), w.mean(), a @ a, a @ b, b @ b])


def _together(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The same of two sets of pairs together (Chan, Golub and LeVeque)."""
    n = one[0] + other[0]
    if n == 0.0:
        return one
    dz, dw = other[1:3] - one[1:3]
    share = one[0] * other[0] / n
    return np.array(
        [
            n,
            one[1] + dz * other[0] / n,
            one[2] + dw * other[0] / n,
            one[3] + other[3] + dz * dz * share,
            one[4] + other[4] + dz * dw * share,
            one[5] + other[5] + dw * dw * share,
        ]
    )


def halved(index, moments):
    """Cells twice as wide."""
    parents = index >> 1
    first = np.flatnonzero(np.diff(parents, prepend=parents[0] - 1))
    pairs = np.zeros((first.size, 2, ORDER))
    row = np.cumsum(np.diff(parents, prepend=parents[0] - 1) != 0) - 1
    pairs[row, index & 1] = moments
    return parents[first], coarser(pairs.reshape(-1, ORDER), 2)


def merged(index, moments, other_index, other_moments):
    """The cells of two sets together."""
    union = np.union1d(index, other_index)
    total = np.zeros((union.size, ORDER))
    total[np.searchsorted(union, index)] = moments
    total[np.searchsorted(union, other_index)] += other_moments
    return union, total
