"""Records undone after reverse mapping, as pseudo-values in chunks have it."""

from typing import Any

import numpy as np

from condmask.linear.chunks import Chunk


class Mapped:
    """The pseudo-values of `ReverseMapped`: f = 1, p' = 1, donors as if drawn independently.

    Attributes are those of `PseudoValues`.
    """

    def __init__(self, file: Any) -> None:
        self._file, self.n, self.origin, self.unit = file, file.n, file.origin, file.unit
        self.size, self.factor, self.share = file.pool_size, file.factor, file.donor_share
        self.v, self.q = file.pool_variances, np.zeros(file.pool_count)

    def values(self, chunk: Chunk) -> np.ndarray:
        """The pseudo-values of a chunk."""
        return np.asarray(self._file.undone[0][self._file.cell[chunk.rows]])

    def spread(self, chunk: Chunk) -> tuple[np.ndarray, float]:
        """The variance of each released value's h given the file, and 0."""
        return np.asarray(self._file.undone[1][self._file.cell[chunk.rows]]), 0.0

    def common(self, *_: Any) -> float:
        """0: donors have nothing in common."""
        return 0.0
