"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint
masking.

All comes from the moments of the released pairs by donor pool, i + j up to 4 in E a^i b^j, and
these add: parts of a file are gone through once. A masked value has, given the file, the mean
``f X_i + (1 - f) Xbar``, Xbar that of its pool and f = 1 - p - p/(n-1); the *pseudo-value* that
solves this has the mean X_i. The covariance of pseudo-values with a plain column is that of the
original, without bias, within strata and between them. Columns masked together keep their
covariance (docs/theory.rst, "Covariance").
"""

from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import BLOCK
from condmask.inference.interval import UndefinedError
from condmask.linear.chunks import Chunks, add_padded, summed
from condmask.linear.records import Records
from condmask.moments.theorem_2_1 import noise_matrix, theorem_2_1

DEGREE = 4  # of the squares of polynomials of degree 2


class PairMoments(NamedTuple):
    """Sums over pairs of a masked value and one of another column; samples stand along leading
    axes.

    Attributes
    ----------
    center : (float, float) or ndarray of shape (2, samples)
        About which powers of both are taken, near their means.
    unit : ndarray of shape (2,)
        Of the powers, in which none is too large.
    sums : ndarray of shape (..., pools, 5, 5)
        The sums of a^i b^j over the records with both values, by donor pool, i + j up to 4.
    alone : ndarray of shape (..., pools, 3)
        The sums of a^0, a^1, a^2 over all records with a masked value.
    """

    center: np.ndarray
    unit: np.ndarray
    sums: np.ndarray
    alone: np.ndarray

    def __add__(self, other: "PairMoments") -> "PairMoments":  # type: ignore[override]
        """Those of the records of both."""
        share = other.n / np.maximum(self.n + other.n, 1.0)
        apart = other.center - self.center
        unit = np.max([self.unit, other.unit, np.abs(apart)], axis=0)
        one, two = (each.about(self.center + share * apart, unit) for each in (self, other))
        return one._replace(
            sums=add_padded(one.sums, two.sums), alone=add_padded(one.alone, two.alone)
        )

    def about(self, center: np.ndarray, unit: np.ndarray) -> "PairMoments":
        """The same about another centre, in another unit."""
        distance = (self.center - center) / unit
        ratio = self.unit / unit
        orders = np.arange(DEGREE + 1)
        of_a, of_b = (noise_matrix(distance[k] ** orders) * ratio[k] ** orders for k in range(2))
        return PairMoments(center, unit, of_a @ self.sums @ of_b.T, self.alone @ of_a[:3, :3].T)

    @property
    def n(self) -> Any:
        """The number of pairs."""
        return self.sums[..., 0, 0].sum(axis=-1)

    @property
    def middle(self) -> np.ndarray:
        """The means of both columns over the pairs, in units of the data."""
        return np.asarray(self.center + self.unit * [self.means[1, 0], self.means[0, 1]])

    @property
    def means(self) -> np.ndarray:
        """The means of a^i b^j over all pairs, of shape (..., 5, 5)."""
        return np.asarray(self.sums.sum(axis=-3) / self.n[..., None, None])

    @property
    def by_pool(self) -> np.ndarray:
        """The means of a^i b^j by pool, 0 in one without pairs."""
        return np.asarray(self.sums / np.maximum(self.sums[..., :1, :1], 1.0))


def pair_moments(z: np.ndarray, w: np.ndarray, pool: np.ndarray | None = None) -> PairMoments:
    """Those of masked values and another column, both of shape (n,) or (samples, n), NaN where
    missing.

    `pool` has the number of each record's donor pool; None where all are one.
    """
    here = ~np.isnan(z)
    center, unit, (of_a, of_b) = zip(
        _powers(z, here), _powers(w, here & ~np.isnan(w)), strict=True
    )
    code = None if pool is None else np.maximum(pool, 0)  # what is missing has powers of 0
    alone = np.moveaxis(summed(of_a[..., :3, :], code), -2, -1)
    sums = np.zeros((*alone.shape[:-1], DEGREE + 1, DEGREE + 1))
    for i in range(DEGREE + 1):
        for j in range(DEGREE + 1 - i):
            sums[..., i, j] = summed(of_a[..., i, :] * of_b[..., j, :], code)
    return PairMoments(np.array(center), np.array(unit), sums, alone)


def of_columns(records: Records, w: Any) -> PairMoments:
    """Those of the columns of a file, chunk by chunk."""
    chunks = Chunks(records, w, gaps=True)
    (found,) = chunks.fold(
        lambda chunk: (pair_moments(chunk.z, chunk.column(0), chunk.pool),), add, cells=BLOCK
    )
    if found.n < 2:
        raise UndefinedError(
            f"other must have at least 2 values where z has them, got {int(found.n)}"
        )
    return found


def original_moments(
    released: np.ndarray, p: float, noise: np.ndarray, noise_of_b: np.ndarray | None
) -> np.ndarray:
    """Moments of the originals, of shape (..., 5, 5), from those of the released pairs of donor
    pools.

    By Theorem 2.1 in two variables where both columns were masked together, with the noise of
    both. A plain column does not go with the swapped, of whose pairs the mixed moments are
    products; what is left of these are moments of kept pairs, which have noise in one column
    alone.
    """
    masked = np.moveaxis(released, (-2, -1), (0, 1))
    if noise_of_b is not None:
        original = theorem_2_1(masked, p, noise, noise_of_b)
    else:
        original = masked.copy()
        original[:, 0] = theorem_2_1(masked[:, 0], p, noise)
        swapped = original[:, :1] * masked[:1, 1:]
        original[:, 1:] = theorem_2_1((masked[:, 1:] - p * swapped) / (1.0 - p), 0.0, noise)
    return np.moveaxis(original, (0, 1), (-2, -1))


def covariance(moments: PairMoments, factor: np.ndarray) -> Any:
    """The covariance of pseudo-values, which lie 1 / factor times as far from the mean of their
    pool."""
    n = moments.n
    sums = moments.sums
    rest = (1.0 - 1.0 / factor) * moments.alone[..., 1] / np.maximum(moments.alone[..., 0], 1.0)
    total, of_product = (
        np.sum(sums[..., 1, j] / factor + sums[..., 0, j] * rest, axis=-1) for j in range(2)
    )
    return (of_product - total * sums[..., 0, 1].sum(axis=-1) / n) / (n - 1.0)


def _powers(x: np.ndarray, present: np.ndarray) -> tuple[Any, float, np.ndarray]:
    """The mean, a unit, and the powers of deviations of shape (..., 5, n), 0 of what is
    missing."""
    weight = present / np.maximum(present.sum(axis=-1, keepdims=True), 1)
    # none of whose terms is too large
    center = np.sum(np.where(present, x, 0.0) * weight, axis=-1, keepdims=True)
    deviation = np.where(present, x - center, 0.0)
    unit = float(np.abs(deviation).max(initial=0.0)) or 1.0
    powers = accumulate([present, *[deviation / unit] * DEGREE], np.multiply)
    return center[..., 0], unit, np.stack(list(powers), axis=-2)
