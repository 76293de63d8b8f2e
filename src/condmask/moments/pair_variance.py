"""How the covariance and the variances of two columns vary, from the moments of their released pairs."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from condmask.law import Law
from condmask.linear.pseudo_values import covariance_factor
from condmask.moments import theorem_2_5
from condmask.moments.influence import of_pair
from condmask.moments.polynomial_variance import Moments, mean_of, polynomial_variance, product
from condmask.moments.theorem_2_1 import noise_variance
from condmask.moments.theorem_2_5 import DEGREE, PairMoments, original_moments

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
        One masked record says as much about a correlation with a plain column as this many unmasked ones.
    variances : callable
        Gives, from `Weights` of shape (..., functions, 3), the variances of functions of the covariance and
        the variances, about the file and about the population: (2, ..., functions).
    linear : callable, optional
        Gives the variance of the covariance with a plain column about the file, and what the population adds.
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
        means, n = self.moments.means, self.moments.n[..., None]
        squares = [means[..., 2, 0] - means[..., 1, 0] ** 2, means[..., 0, 2] - means[..., 0, 1] ** 2]
        return np.asarray(np.stack(squares, axis=-1) * (n / (n - 1.0)))

    @property
    def originals(self) -> np.ndarray:
        """Those of the originals, of shape (..., 2); they may be negative."""
        pairs = zip(self.laws, self.moments.unit, strict=True)
        return self.released - [0.0 if law is None else noise_variance(law, unit) for law, unit in pairs]


def pair_of(moments: PairMoments, law: Law, law_of_w: Law | None, *, shared_donors: bool) -> Pair:
    """A masked column with a plain one, or with one that was masked together with it by `law_of_w`."""
    factor, share = np.ones(moments.alone.shape[:-1]), 1.0
    if law_of_w is None:
        size, share = moments.alone[..., 0], (1.0 - law.p) ** 2
        covariance_factor(law.p, int(size[size > 0].min()))
        factor = np.where(size > 0, 1.0 - law.p - law.p / np.maximum(size - 1.0, 1.0), 1.0)
    laws = law, law_of_w
    variances = partial(pair_variances, moments, laws, factor, shared_donors=shared_donors)
    linear = partial(linear_variances, moments, law, factor, shared_donors=shared_donors)
    covariance = theorem_2_5.covariance(moments, factor)
    return Pair(moments, laws, covariance, share, variances, linear if law_of_w is None else None)


def pair_variances(
    moments: PairMoments, laws: Laws, factor: np.ndarray, weights: Any, *, shared_donors: bool
) -> np.ndarray:
    """The variances of functions of the covariance and of the variances, by the theorem: see `Pair`."""
    law, law_of_w = laws
    size, released = moments.sums[..., 0, 0][..., None, :], moments.by_pool[..., None, :, :, :]
    noise_of_w = None if law_of_w is None else law_of_w.noise_moments(DEGREE, moments.unit[1])
    original = original_moments(released, law.p, law.noise_moments(DEGREE, moments.unit[0]), noise_of_w)
    share = size / size.sum(axis=-1, keepdims=True)
    of_pools = released[..., 1, 0], released[..., 0, 1]
    means = tuple(np.sum(share * each, axis=-1, keepdims=True) for each in of_pools)
    functions = of_pair(
        weights, means, law.p, plain=None if law_of_w is not None else of_pools, factor=factor[..., None, :]
    )
    file, sample = polynomial_variance(
        Moments(released, original), functions, law.p, shared_donors=shared_donors, share=share,
        correction=size / np.maximum(size - 1.0, 1.0), nonnegative=False,
    )  # fmt: skip
    return np.asarray(np.array([file, file + sample]) / moments.n[..., None])


def linear_variances(
    moments: PairMoments, law: Law, factor: np.ndarray, *, shared_donors: bool
) -> tuple[float, float]:
    """The variance of a covariance with a plain column about the file, and what the population adds.

    It is ``sum l_i X_i``, with l the deviations of the other column over n - 1, and its variance that of such
    sums of pseudo-values (docs/inference_linear.rst), whose sums over records are moments by pool here.
    """
    p, f, added = law.p, factor, noise_variance(law, moments.unit[0])
    (size, total, squares), sums, n = moments.alone.T, moments.sums, moments.n
    mean, degrees = total / np.maximum(size, 1.0), np.maximum(size - 1.0, 1.0)
    squares = squares - total * mean
    originals = np.maximum(squares / degrees - added, 0.0)
    other = p * originals + added  # the variance of what a record shows that does not keep its place

    def total_of(*factors: np.ndarray) -> np.ndarray:
        """The sums over pairs of a product of polynomials, by pool."""
        return np.asarray(sums[:, 0, 0] * mean_of(reduce(product, factors), moments.by_pool))

    line = np.array([[[-moments.means[0, 1], 1.0]]]) / (n - 1.0)  # l, of the other column
    square = np.stack([mean**2, -2.0 * mean, np.ones(mean.size)], axis=-1) * (size / degrees)[:, None]
    square, values = square[..., None], np.stack([mean - mean / f, 1.0 / f], axis=-1)[..., None]
    varied = _plus(p * square, (1.0 - p) * other)  # the variance of each masked value
    weight = total_of(line)
    lowered = weight * (1.0 - f) / np.maximum(size, 1.0)
    k = _plus(line, -lowered) / f[:, None, None]
    rest = p * squares * size / degrees + (1.0 - p) * other * size - total_of(varied)
    file = total_of(k, k, varied) + np.where(sums[:, 0, 0] < size, (lowered / f) ** 2 * rest, 0.0)
    if not shared_donors:
        common = total_of(line, _plus(square, -other)) - lowered * (squares / degrees - other) * size
        mixed = common / (f * (1.0 - p))
        file -= weight / np.maximum(size, 1.0) * (2.0 * p * (1.0 - p) * mixed + p * p * originals * weight)
    values = _plus(values, -total_of(values).sum() / n)
    inside = total_of(line, line, values, values).sum() - total_of(line, values).sum() ** 2 / n
    excess = inside * n / (n - 1.0) - np.sum(total_of(line, line, varied) / f**2)
    return float(file.sum()), float(excess)


def _plus(polynomials: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Polynomials plus constants."""
    raised = polynomials + np.zeros((np.size(constant), 1, 1))
    raised[:, 0, 0] += constant
    return raised
