r"""Computes pseudo-values: for each masked value a value whose mean, given the file, is the
record's original.

A swapped record's donor is any of the other records of its pool, so given the file the masked
value has the mean ``f X_i + (1 - f) Xbar``, where Xbar is the mean of the pool, n its size and
f = 1 - p - p/(n-1). Solved record by record, that gives *pseudo-values* ``Zbar + (Z_i - Zbar) /
f``. How a masked value varies about its mean, and how far the donors of a permutation depend on
each other, is estimated from the masked values without bias (docs/inference.rst, "Groups, weights,
regressions, pairs").

Two folds give the figures by pool; everything by record is computed chunk by chunk. Reverse
mapping has a class of its own (f = 1, p' = 1): both classes are `PseudoValues`.

The mean of a masked value follows from eq. (1) of Ghatak & Roy, and the variance of its noise from
their Theorem 2.1.
"""

from typing import Protocol

import numpy as np

from condmask.inference.interval import UndefinedError
from condmask.law import Law
from condmask.linear.chunks import Chunk, Chunks, add_padded
from condmask.moments.theorem_2_1 import noise_variance

MIN_FACTOR = 1e-15  # f, which is not above 0 within rounding
ROUNDING_OF_RECORDS = 1e-9  # added to a number of records before it is rounded down


def refuse_small_pools(p: float, size: np.ndarray) -> None:
    """Refuse pools of so few records that masking leaves no covariance in one of them."""
    n = int(size[size > 0].min())
    factor = 1.0 - p - p / (n - 1) if n > 1 else float(p == 0.0)
    if factor <= MIN_FACTOR:
        too_few = int(1.0 + p / (1.0 - p) + ROUNDING_OF_RECORDS)
        raise UndefinedError(
            f"z must have more than {too_few} records (in each stratum) for a covariance at "
            f"p={p}, got {n}"
        )


class PseudoValues(Protocol):
    """Provides the pseudo-values of a file, and how these vary given the file.

    Attributes
    ----------
    n : int
        The number of records with a value.
    origin, unit : float
        The original is about ``origin + unit * values``; all else is in these units.
    size : ndarray of shape (pools,)
        The number of records by pool, of which some may not occur.
    factor : ndarray of shape (pools,)
        f, by which masking shrinks deviations from the mean.
    share : ndarray of shape (pools,)
        The part of the mean of weights over its pool by which a weight is lowered: p' = 1 - f, and
        1 after reverse mapping.
    """

    n: int
    origin: float
    unit: float
    size: np.ndarray
    factor: np.ndarray
    share: np.ndarray

    @property
    def v(self) -> np.ndarray:
        """Return the sums by pool of the variances that `spread` gives."""

    def values(self, chunk: Chunk) -> np.ndarray:
        """Return the pseudo-values of a chunk."""

    def spread(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray | float]:
        """Return how the masked values of a chunk vary.

        Returns
        -------
        v : ndarray of shape (m,)
            The variance of each given the file: right on average, and negative for some.
        q : ndarray of shape (m,) or float
            By which values of a permutation depend on each other; 0 where donors are drawn
            independently.
        """

    def in_common(
        self, total: np.ndarray, others: np.ndarray, q: np.ndarray, pools: np.ndarray | slice
    ) -> np.ndarray | float:
        """Return by how much variances of sums are smaller because donors form a permutation.

        Parameters
        ----------
        total : ndarray
            The sums of weights by pool, in any shape.
        others : ndarray
            The factor k of each masked value whose record has no weight.
        q : ndarray
            The sums of weights times q.
        pools : ndarray or slice
            The pools, along the last axis.
        """


class ConditionalPseudoValues:
    """Computes the pseudo-values of conditionally masked values: see `PseudoValues`.

    Parameters
    ----------
    chunks : Chunks
        All records that have a value.
    law : Law
    cycle : bool
        Whether donors form a permutation.

    Attributes
    ----------
    n, origin, unit, size, factor, share
        As of `PseudoValues`.
    mean : ndarray of shape (pools,)
        Of the masked values.
    originals : ndarray of shape (pools,)
        The variance of the originals, at least 0.
    cycle : bool
        Whether donors form a permutation.
    v, q : ndarray of shape (pools,)
        The sums of the figures that `spread` returns.
    """

    n: int
    origin: float
    unit: float
    size: np.ndarray
    factor: np.ndarray
    share: np.ndarray
    mean: np.ndarray
    originals: np.ndarray
    v: np.ndarray
    q: np.ndarray

    def __init__(self, chunks: Chunks, law: Law, *, cycle: bool) -> None:
        self.law = law
        self.cycle = cycle
        self.size, sums, low, high = chunks.fold(
            _pool_sums_and_ends, add_padded, add_padded, np.minimum, np.maximum
        )
        self.n = int(self.size.sum())
        some = np.maximum(self.size, 1.0)
        self.origin = float(sums.sum() / self.n)
        self.unit = max(float(high) - self.origin, self.origin - float(low)) or 1.0
        self.mean = (sums / some - self.origin) / self.unit

        def deviations(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
            deviation = self._deviation(chunk)
            return chunk.by_pool(deviation, some.size), chunk.by_pool(deviation**2, some.size)

        off, squares = chunks.fold(deviations)
        self.mean = self.mean + off / some  # removes the rounding error of large sums
        squares = squares - off**2 / some
        rest = np.maximum(self.size - 1.0, 1.0)
        p = law.p
        variance = squares / rest
        self._more = self.size / rest
        self.originals = np.maximum(variance - noise_variance(law, self.unit), 0.0)
        # the variance that comes from the donor's value and from the noise
        self._other = p * self.originals + noise_variance(law, self.unit)
        refuse_small_pools(p, self.size)
        self.factor = 1.0 - p * self._more
        self.share = 1.0 - self.factor
        self.v = p * self._more * squares + (1.0 - p) * self._other * self.size
        self.q = (self._more * squares - self._other * self.size) / (1.0 - p)

    def values(self, chunk: Chunk) -> np.ndarray:
        """Return the pseudo-values of a chunk; NaN for values that are missing."""
        return np.asarray(
            chunk.of_pool(self.mean) + self._deviation(chunk) / chunk.of_pool(self.factor)
        )

    def spread(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Return how the masked values of a chunk vary: see `PseudoValues`."""
        square = self._deviation(chunk) ** 2 * chunk.of_pool(self._more)
        p = self.law.p
        other = chunk.of_pool(self._other)
        return p * square + (1.0 - p) * other, (square - other) / (1.0 - p)

    def in_common(
        self, total: np.ndarray, others: np.ndarray, q: np.ndarray, pools: np.ndarray | slice
    ) -> np.ndarray | float:
        """Return the effect of donors that form a permutation: see `PseudoValues`."""
        if not self.cycle:
            return 0.0
        p = self.law.p
        size = np.maximum(self.size[pools], 1.0)
        mixed = q / self.factor[pools] + others * self.q[pools]
        of_originals = p * p * self.originals[pools] * total
        return np.asarray(total / size * (2.0 * p * (1.0 - p) * mixed + of_originals))

    def _deviation(self, chunk: Chunk) -> np.ndarray:
        return np.asarray((chunk.z - self.origin) / self.unit - chunk.of_pool(self.mean))


def _pool_sums_and_ends(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return by pool the numbers of records and the sums of z, and both ends of z."""
    size = chunk.by_pool(np.ones(chunk.z.size))
    return size, chunk.by_pool(chunk.z), chunk.z.min(), chunk.z.max()
