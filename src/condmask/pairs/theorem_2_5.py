"""Computes the covariance of the original with another column, with strata, gaps and joint
masking.

Theorem 2.5 of Ghatak & Roy. The covariance follows from the moments E a^i b^j of the released
pairs by donor pool, i + j up to 4. These add, so parts of a file are read once. Given the file, a
masked value has the mean ``f X_i + (1 - f) Xbar``, where Xbar is the mean of its pool and
f = 1 - p - p/(n-1); the *pseudo-value* that solves this has the mean X_i. The covariance of
pseudo-values with an unmasked column is that of the original, without bias, within strata and
between them. Columns masked together keep their covariance (docs/theory.rst, "Covariance").
"""

from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import BLOCK
from condmask.inference.interval import UndefinedError
from condmask.linear.chunks import Chunks, add_padded, summed
from condmask.linear.records import ColumnOrName, Records
from condmask.moments.theorem_2_1 import noise_matrix, theorem_2_1

DEGREE = 4  # of moments: squares of polynomials of degree 2 are needed


class PairMoments(NamedTuple):
    """Sums over pairs of a masked value and a value of another column.

    Leading axes run over samples.

    Attributes
    ----------
    center : (float, float) or ndarray of shape (2, samples)
        The points about which powers of both columns are taken, near their means.
    unit : ndarray of shape (2,)
        The units of both columns, in which no power is too large.
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
        """Return the sums over the records of both."""
        share = other.n / np.maximum(self.n + other.n, 1.0)
        apart = other.center - self.center
        unit = np.max([self.unit, other.unit, np.abs(apart)], axis=0)
        one, two = (each.about(self.center + share * apart, unit) for each in (self, other))
        return one._replace(
            sums=add_padded(one.sums, two.sums), alone=add_padded(one.alone, two.alone)
        )

    def about(self, center: np.ndarray, unit: np.ndarray) -> "PairMoments":
        """Return the sums about another centre, in another unit."""
        distance = (self.center - center) / unit
        ratio = self.unit / unit
        orders = np.arange(DEGREE + 1)
        of_a, of_b = (noise_matrix(distance[k] ** orders) * ratio[k] ** orders for k in range(2))
        return PairMoments(center, unit, of_a @ self.sums @ of_b.T, self.alone @ of_a[:3, :3].T)

    @property
    def n(self) -> Any:
        """Return the number of pairs, of each sample."""
        return self.sums[..., 0, 0].sum(axis=-1)

    @property
    def middle(self) -> np.ndarray:
        """Return the means of both columns over the pairs, in units of the data."""
        return np.asarray(self.center + self.unit * [self.means[1, 0], self.means[0, 1]])

    @property
    def means(self) -> np.ndarray:
        """Return the means of a^i b^j over all pairs, of shape (..., 5, 5)."""
        return np.asarray(self.sums.sum(axis=-3) / self.n[..., None, None])

    @property
    def by_pool(self) -> np.ndarray:
        """Return the means of a^i b^j by pool, 0 in pools without pairs."""
        return np.asarray(self.sums / np.maximum(self.sums[..., :1, :1], 1.0))


def pair_moments(z: np.ndarray, w: np.ndarray, pool: np.ndarray | None = None) -> PairMoments:
    """Return the sums for masked values and another column, of shape (n,) or (samples, n), NaN
    where missing.

    `pool` has the number of each record's donor pool; None means that there is one.
    """
    here = ~np.isnan(z)
    center_a, unit_a, of_a = _deviation_powers(z, here)
    center_b, unit_b, of_b = _deviation_powers(w, here & ~np.isnan(w))
    code = None if pool is None else np.maximum(pool, 0)  # missing values have powers of 0
    alone = np.moveaxis(summed(of_a[..., :3, :], code), -2, -1)
    sums = np.zeros((*alone.shape[:-1], DEGREE + 1, DEGREE + 1))
    for i in range(DEGREE + 1):
        for j in range(DEGREE + 1 - i):
            sums[..., i, j] = summed(of_a[..., i, :] * of_b[..., j, :], code)
    return PairMoments(np.array([center_a, center_b]), np.array([unit_a, unit_b]), sums, alone)


def moments_of_columns(records: Records, w: ColumnOrName) -> PairMoments:
    """Return the sums for the columns of a file, read chunk by chunk."""
    chunks = Chunks(records, w, gaps=True)
    (total,) = chunks.fold(
        lambda chunk: (pair_moments(chunk.z, chunk.column(0), chunk.pool),), add, cells=BLOCK
    )
    if total.n < 2:
        raise UndefinedError(
            f"other must have at least 2 values where z has them, got {int(total.n)}"
        )
    return total


def original_pair_moments(
    released: np.ndarray, p: float, noise: np.ndarray, noise_of_b: np.ndarray | None
) -> np.ndarray:
    """Return moments of the originals, of shape (..., 5, 5), given those of released pairs by
    pool.

    If both columns were masked together, Theorem 2.1 holds in two variables, with the noise of
    both. An unmasked column stays with its record when a value is swapped, so mixed moments of
    swapped pairs are products; without these, the moments of kept pairs remain, which have noise
    in one column only.
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


def pseudo_covariance(moments: PairMoments, factor: np.ndarray) -> Any:
    """Return the covariance of pseudo-values, which lie 1 / factor times as far from the mean of
    their pool as masked values."""
    n = moments.n
    sums = moments.sums
    rest = (1.0 - 1.0 / factor) * moments.alone[..., 1] / np.maximum(moments.alone[..., 0], 1.0)
    total, of_product = (
        np.sum(sums[..., 1, j] / factor + sums[..., 0, j] * rest, axis=-1) for j in range(2)
    )
    return (of_product - total * sums[..., 0, 1].sum(axis=-1) / n) / (n - 1.0)


def _deviation_powers(x: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the mean, a unit, and the powers of deviations, of shape (..., 5, n), with 0 for
    missing values."""
    weight = present / np.maximum(present.sum(axis=-1, keepdims=True), 1)
    # a sum in which no term is too large
    center = np.sum(np.where(present, x, 0.0) * weight, axis=-1, keepdims=True)
    deviation = np.where(present, x - center, 0.0)
    unit = float(np.abs(deviation).max(initial=0.0)) or 1.0
    powers = accumulate([present, *[deviation / unit] * DEGREE], np.multiply)
    return center[..., 0], unit, np.stack(list(powers), axis=-2)
