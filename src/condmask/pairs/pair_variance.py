"""How the covariance and the variances of two columns vary, from the moments of their released
pairs.

Of the estimates of Theorem 2.5, by docs/inference.rst, "The theorem".
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from condmask.inference.polynomial_variance import polynomial_variance
from condmask.law import EXACT, Law
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.pseudo_values import PseudoValues, refuse_small_pools
from condmask.linear.records import Records
from condmask.linear.variance import variances_of_sums
from condmask.moments.influence import influence_of_pair
from condmask.moments.theorem_2_1 import noise_variance
from condmask.pairs import theorem_2_5
from condmask.pairs.theorem_2_5 import DEGREE, PairMoments, original_moments

Laws = tuple[Law, Law | None]


class Pair(NamedTuple):
    """What is known of a masked column and another one; of several samples along leading axes.

    Attributes
    ----------
    moments : PairMoments
    laws : (Law, Law or None)
        Of both columns, None of one that was not masked.
    covariance : float or ndarray
        That of the originals, in units of `moments`.
    share : float
        One masked record says as much about a correlation with a plain column as this many
        unmasked ones.
    variances : callable
        Gives, from weights of shape (..., functions, 3) as `influence_of_pair` takes them, the variances of
        functions of the covariance and the variances, about the file and about the population: (2,
        ..., functions).
    linear : callable, optional
        Gives the variances of the covariance with a plain column, about the file and about the
        population.
    """

    moments: PairMoments
    laws: Laws
    covariance: Any
    share: float
    variances: Callable[[np.ndarray], np.ndarray]
    linear: Callable[[], tuple[float, float]] | None

    @property
    def unit(self) -> float:
        """That of a covariance; infinite where no number is as large."""
        first, second = self.moments.unit.tolist()
        return float(first * second)

    @property
    def released(self) -> np.ndarray:
        """The variances of both columns as released, of shape (..., 2)."""
        means = self.moments.means
        n = self.moments.n[..., None]
        squares = [
            means[..., 2, 0] - means[..., 1, 0] ** 2,
            means[..., 0, 2] - means[..., 0, 1] ** 2,
        ]
        return np.asarray(np.stack(squares, axis=-1) * (n / (n - 1.0)))

    @property
    def originals(self) -> np.ndarray:
        """Those of the originals, of shape (..., 2); they may be negative."""
        columns = zip(self.laws, self.moments.unit, strict=True)
        return self.released - [noise_variance(law or EXACT, unit) for law, unit in columns]

    @property
    def correlation(self) -> Any:
        """That of the originals; NaN where a variance is estimated negative or zero."""
        positive = np.where(self.originals > 0.0, self.originals, np.nan)
        return self.covariance / np.sqrt(positive).prod(axis=-1)


def pair_of(moments: PairMoments, law: Law, law_of_w: Law | None, *, shared_donors: bool) -> Pair:
    """A masked column with a plain one, or with one that was masked together with it by
    `law_of_w`."""
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
        moments, (law, law_of_w), theorem_2_5.covariance(moments, factor), share, variances, None
    )


def pair_variances(
    moments: PairMoments, laws: Laws, factor: np.ndarray, weights: Any, *, shared_donors: bool
) -> np.ndarray:
    """The variances of functions of the covariance and of the variances, by the theorem: see
    `Pair`."""
    law, law_of_w = laws
    size = moments.sums[..., 0, 0][..., None, :]
    released = moments.by_pool[..., None, :, :, :]
    noise_of_w = None if law_of_w is None else law_of_w.noise_moments(DEGREE, moments.unit[1])
    original = original_moments(
        released, law.p, law.noise_moments(DEGREE, moments.unit[0]), noise_of_w
    )
    share = size / size.sum(axis=-1, keepdims=True)
    of_pools = released[..., 1, 0], released[..., 0, 1]
    means = tuple(np.sum(share * each, axis=-1, keepdims=True) for each in of_pools)
    functions = influence_of_pair(
        weights,
        means,
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


def linear_covariance(pseudo: PseudoValues, records: Records, w: Any, moments: PairMoments) -> Any:
    """The covariance with a plain column, and its variances about the file and about the
    population.

    It is ``sum l_i X_i``, with l the deviations of the other column over n - 1.
    """
    chunks = Chunks(records, w)
    n = moments.n
    middle = moments.middle[1]
    (unit, unit_of_w) = moments.unit

    def weights(chunk: Chunk) -> np.ndarray:
        return np.asarray((chunk.columns[0] - middle) / unit_of_w / (n - 1.0))

    def sums(chunk: Chunk) -> tuple[Any, ...]:
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
    return value * ratio, *(np.cumsum(np.maximum(variances, 0.0)) * ratio**2)
