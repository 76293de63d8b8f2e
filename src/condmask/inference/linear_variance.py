"""How sums of originals with known weights vary: exactly through the masking, and through sampling.

Given the file, the pseudo-values Zt_i have the means X_i, so ``sum l_i Zt_i`` has that of ``sum l_i X_i``. It
is ``sum k_i Z_i`` with ``k_i = (l_i - p' lbar) / f``, where lbar is the mean of l over the donor pool,
``p' = p n/(n-1)`` and f = 1 - p'. Its variance given the file is the sum of ``k_i^2 v_i``, v_i that of Z_i,
less what the donors of a permutation have in common. About the population records vary too: by the sum of
their squared contributions, in clusters by that of the clusters' sums, from which the part of the masking,
which they contain, is taken out again (docs/inference.rst, "Linear statistics").

Weights are known part by part, after one pass that sums them by pool.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.parts import add
from condmask.inference.pseudo_values import Part, PseudoValues


class Sampled(NamedTuple):
    """The variances of sums over a sample, masking included, and their degrees of freedom."""

    variance: np.ndarray | float
    degrees: float


class Variation:
    """How sums of originals vary, gathered part by part.

    Parameters
    ----------
    pseudo : PseudoValues
    total : ndarray of shape (q, pools)
        The sums of the weights by pool.

    Attributes
    ----------
    records : int
        The number of records that had a weight as yet.
    """

    def __init__(self, pseudo: PseudoValues, total: np.ndarray) -> None:
        self._pseudo, self._total, self.records = pseudo, total, 0
        self._lowered = total * (pseudo.donor_share / np.maximum(pseudo.pool_size, 1))
        self._file, self._excess = np.zeros((2, len(total)))
        self._count, self._variances = pseudo.sums(2)
        self._shared = pseudo.sums(len(total))

    def add(self, weights: np.ndarray, part: Part, squares: np.ndarray | float = 0.0) -> None:
        """Records with their weights, of shape (q, m).

        `squares` have the means of what the population adds, and the masking, to the square of a weight.
        """
        file, variances = part.file, part.masked_variances
        k = (weights - part.of_pool(self._lowered)) / part.of_pool(file.factor)
        self._file += np.square(k, out=k) @ variances
        self._excess += np.square(weights, out=k) @ (squares - part.variances)
        self.records += part.size
        part.add_by_pool(self._variances, variances)
        part.add_by_pool(self._count, np.ones(part.size))
        if file.cycle:
            part.add_by_pool(self._shared, part.donor_covariance, weights)

    @property
    def file(self) -> np.ndarray:
        """The variances of the sums given the file, of shape (q,)."""
        pseudo, size = self._pseudo, np.maximum(self._pseudo.pool_size, 1)
        others = -self._lowered / pseudo.factor  # k of the records without a weight
        rest = np.where(self._count < pseudo.pool_size, pseudo.pool_variances - self._variances, 0.0)
        file = self._file + others**2 @ rest
        if pseudo.cycle:
            mixed = self._shared / pseudo.factor + others * pseudo.pool_covariance
            file -= np.sum(self._total / size * pseudo.cycle_covariance(self._total, mixed), axis=-1)
        return np.asarray(file)

    def interval(
        self, quantity: str, estimate: np.ndarray, sampled: Sampled, options: IntervalOptions
    ) -> Interval:
        """Intervals of the sums, in units of the pseudo-values.

        `quantity` says in words what is estimated, and `sampled` has what `squares` have not of the variance
        over samples.
        """
        excess = sampled.variance + self._excess
        return options.t_interval(quantity, estimate, self.file, excess, sampled.degrees, self._pseudo.n)


class SampledSums:
    """How sums of contributions vary over samples of records, or of clusters where these were sampled.

    Parameters
    ----------
    mean : ndarray of shape (q,)
        The mean of the contributions of records; of clusters it is not needed.
    clusters : ndarray of shape (n,), optional
        The number of each record's cluster, of which there are `count`.
    """

    def __init__(self, mean: np.ndarray, clusters: Any = None, count: int = 0) -> None:
        self._mean, self._clusters, self._count = mean, clusters, 0
        self._squares = np.zeros(mean.size)
        self._sums, self._occurs = np.zeros((mean.size, count)), np.zeros(count, dtype=bool)

    def add(self, contributions: np.ndarray, part: Part) -> None:
        """The contributions of records, of shape (q, m)."""
        if self._clusters is None:
            centred = contributions - self._mean[:, None]
            self._squares += np.einsum("ij,ij->i", centred, centred)
            self._count += part.size
        else:
            cluster = part.of(self._clusters)
            add(self._sums, cluster, contributions)
            self._occurs[cluster] = True

    @property
    def sampled(self) -> Sampled:
        """The variances of the sums."""
        count, squares = self._count, self._squares
        if self._clusters is not None:
            sums: Any = self._sums[:, self._occurs]
            count = sums.shape[1]
            squares = np.sum((sums - sums.mean(axis=1, keepdims=True)) ** 2, axis=1)
        return Sampled(squares * (count / max(count - 1, 1)), count - 1.0)
