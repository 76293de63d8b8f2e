"""Computes variances of the covariance and variances of two columns, given their released pairs.

Of the estimates of Theorem 2.5 of Ghatak & Roy, by docs/inference.rst, "The theorem".
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from condmask.inference.polynomial_variance import polynomial_variance
from condmask.law import EXACT, Law
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.pseudo_values import PseudoValues, refuse_small_pools
from condmask.linear.records import ColumnOrName, Records
from condmask.linear.variance import variances_of_sums
from condmask.moments.influence import influence_of_pair
from condmask.moments.theorem_2_1 import noise_variance
from condmask.pairs import theorem_2_5
from condmask.pairs.theorem_2_5 import DEGREE, PairMoments, original_pair_moments

Laws = tuple[Law, Law | None]


class Pair(NamedTuple):
    """Estimates for a masked column and another one; leading axes run over samples.

    Attributes
    ----------
    moments : PairMoments
    laws : (Law, Law or None)
        The laws of both columns; None for an unmasked one.
    covariance : float or ndarray
        The covariance of the originals, in units of `moments`.
    share : float
        The number of unmasked records with as much information about a correlation as one
        masked record.
    variances : callable
        Returns the variances of functions of the covariance and the variances, about the file and
        about the population, of shape (2, ..., functions); takes weights of shape (..., functions,
        3) as `influence_of_pair` does.
    linear : callable, optional
        Returns the variances of the covariance with an unmasked column, about the file and about
        the population.
    """

    moments: PairMoments
    laws: Laws
    covariance: float | np.ndarray
    share: float
    variances: Callable[[np.ndarray], np.ndarray]
    linear: Callable[[], tuple[float, float]] | None

    @property
    def unit(self) -> float:
        """Return the unit of a covariance; infinite if it is too large for a number."""
        first, second = self.moments.unit.tolist()
        return float(first * second)

    @property
    def released(self) -> np.ndarray:
        """Return the variances of both columns as released, of shape (..., 2)."""
        means = self.moments.means
        n = self.moments.n[..., None]
        squares = [
            means[..., 2, 0] - means[..., 1, 0] ** 2,
            means[..., 0, 2] - means[..., 0, 1] ** 2,
        ]
        return np.asarray(np.stack(squares, axis=-1) * (n / (n - 1.0)))

    @property
    def originals(self) -> np.ndarray:
        """Return the variances of the originals, of shape (..., 2); they may be negative."""
        columns = zip(self.laws, self.moments.unit, strict=True)
        return self.released - [noise_variance(law or EXACT, unit) for law, unit in columns]

    @property
    def correlation(self) -> np.ndarray:
        """Return the correlation of the originals; NaN where a variance is estimated negative or
        zero."""
        positive = np.where(self.originals > 0.0, self.originals, np.nan)
        return np.asarray(self.covariance / np.sqrt(positive).prod(axis=-1))


def conditional_pair(
    moments: PairMoments, law: Law, law_of_w: Law | None, *, shared_donors: bool
) -> Pair:
    """Pair a masked column with an unmasked one (`law_of_w` is None) or with one masked in the
    same call under `law_of_w`."""
    factor = np.ones(moments.alone.shape[:-1])
    share = 1.0
    if law_of_w is None:
        size = moments.alone[..., 0]
        share = (1.0 - law.p) ** 2
        refuse_small_pools(law.p, size)
        factor = np.where(size > 0, 1.0 - law.p - law.p / np.maximum(size - 1.0, 1.0), 1.0)
    variances = partial(
        pair_variances, moments, (law, law_of_w), factor, shared_donors=shared_donors
    )
    return Pair(
        moments,
        (law, law_of_w),
        theorem_2_5.pseudo_covariance(moments, factor),
        share,
        variances,
        None,
    )


def pair_variances(
    moments: PairMoments,
    laws: Laws,
    factor: np.ndarray,
    weights: np.ndarray,
    *,
    shared_donors: bool,
) -> np.ndarray:
    """Return the variances of functions of the covariance and the variances, by the theorem: see
    `Pair`."""
    law, law_of_w = laws
    size = moments.sums[..., 0, 0][..., None, :]
    released = moments.by_pool[..., None, :, :, :]
    noise_of_w = None if law_of_w is None else law_of_w.noise_moments(DEGREE, moments.unit[1])
    original = original_pair_moments(
        released, law.p, law.noise_moments(DEGREE, moments.unit[0]), noise_of_w
    )
    share = size / size.sum(axis=-1, keepdims=True)
    of_pools = released[..., 1, 0], released[..., 0, 1]
    first, second = (np.sum(share * each, axis=-1, keepdims=True) for each in of_pools)
    functions = influence_of_pair(
        weights,
        (first, second),
        plain=None if law_of_w is not None else of_pools,
        factor=factor[..., None, :],
    )
    file, sample = polynomial_variance(
        released,
        original,
        functions,
        law.p,
        shared_donors=shared_donors,
        share=share,
        correction=size / np.maximum(size - 1.0, 1.0),
        nonnegative=False,
    )
    return np.asarray(np.array([file, file + sample]) / moments.n[..., None])


def linear_covariance(
    pseudo: PseudoValues, records: Records, w: ColumnOrName, moments: PairMoments
) -> tuple[float, float, float]:
    """Return the covariance with an unmasked column, and its variances about the file and about
    the population.

    It is ``sum l_i X_i``, where l_i is the deviation of the other column divided by n - 1.
    """
    chunks = Chunks(records, w)
    n = moments.n
    middle = moments.middle[1]
    unit, unit_of_w = moments.unit

    def weights(chunk: Chunk) -> np.ndarray:
        return np.asarray((chunk.column(0) - middle) / unit_of_w / (n - 1.0))

    def sums(chunk: Chunk) -> tuple[float, float, np.ndarray]:
        line = weights(chunk)
        values = pseudo.values(chunk)
        return line @ values, values.sum(), chunk.by_pool(line, pseudo.size.size)

    value, total, of_weights = chunks.fold(sums)

    def contributions(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        line = weights(chunk)
        return line[None], (line * (pseudo.values(chunk) - total / n) - value / n)[None]

    variances, _ = variances_of_sums(
        pseudo, chunks, of_weights[None], contributions, correction=n / (n - 1.0)
    )
    ratio = pseudo.unit / unit
    file, population = np.cumsum(np.maximum(variances, 0.0)) * ratio**2
    return value * ratio, file, population
