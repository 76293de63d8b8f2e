"""Correlations of many samples with a plain column, and their intervals: `pair_intervals` for rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.inference import bounded, influence
from condmask.inference.covariance import PairSums
from condmask.inference.intervals import UndefinedError, multiplier
from condmask.inference.pair_intervals import RHO, TARGETS, quadratic
from condmask.inference.pair_variance import DEGREE, original_moments
from condmask.inference.polynomial_variance import Moments, polynomial_variance
from condmask.inference.pseudo_values import covariance_factor
from condmask.inference.reverse_mapped import ReverseMapped
from condmask.inference.reverse_pairs import pair_variances
from condmask.law import Law


class Correlations(NamedTuple):
    """The correlations of samples, and how they vary.

    Attributes
    ----------
    r : ndarray of shape (rows,)
        Where a variance is estimated negative or zero, NaN.
    square : ndarray of shape (2, rows, 3)
        About the file and about the population, the factors of 1, rho and rho^2 in the squared standard
        error if rho is the correlation.
    variance, error, kept : ndarray of shape (rows,)
        The variance of the original, its standard error about the file, and what part it is of that of the
        masked values; NaN of rows that have no correlation at all.
    """

    r: np.ndarray
    square: np.ndarray
    variance: np.ndarray
    error: np.ndarray
    kept: np.ndarray

    def ends(self, levels: Sequence[float], target: str) -> tuple[np.ndarray, np.ndarray]:
        """The ends of intervals, of shape (levels, rows): from -1 to 1 where the noise hides the original."""
        low, high = np.full((2, len(levels), self.r.size), [[[-1.0]], [[1.0]]])
        for k, level in enumerate(levels):
            reach = multiplier(level)[1] * self.error
            known = ~np.isnan(self.r) & ~((self.variance <= reach) & (self.kept < 0.5))
            square = self.square[TARGETS.index(target), known]
            low[k, known], high[k, known] = bounded.interval(self.r[known], square, level)
        low[:, np.isnan(self.variance)], high[:, np.isnan(self.variance)] = np.nan, np.nan
        return low, high


def correlations(z: np.ndarray, w: np.ndarray, law: Law, *, shared_donors: bool) -> Correlations:
    """Those of rows of masked values with rows of another column, by the moments of pairs."""
    n = z.shape[1]
    (a, unit), (b, _) = _deviations(z), _deviations(w)
    released = np.zeros((len(z), DEGREE + 1, DEGREE + 1))
    for start, stop in blocks(n):
        released += np.matmul(_powers(a[:, start:stop]), np.swapaxes(_powers(b[:, start:stop]), 1, 2))
    released /= n
    first, second, product = released[:, 2, 0], released[:, 0, 2], released[:, 1, 1]
    degrees, noise, factor = n / (n - 1), law.noise_moments(DEGREE, unit), covariance_factor(law.p, n)
    original = original_moments(released, law.p, noise, None)
    variance, of_w = first * degrees - (1.0 - law.p) * noise[2], second * degrees
    weights, r = _weights(variance, of_w, product * degrees / factor)
    nothing = np.zeros(1)
    functions = influence.of_pair(weights, (0.0, 0.0), law.p, plain=(nothing, nothing), factor=factor)
    moments = Moments(released[:, None, None], original[:, None, None])
    file, sample = polynomial_variance(
        moments, functions, law.p, shared_donors=shared_donors, correction=degrees, nonnegative=False
    )
    return _made(r, variance, first * degrees, np.array([file, file + sample]) / n)


def reverse_mapped_correlations(z: np.ndarray, w: np.ndarray, scheme: Any) -> Correlations:
    """Those of rows of values that were released by reverse mapping, undone one row after the other."""
    found = [_reverse_mapped(row, other, scheme) for row, other in zip(z, w, strict=True)]
    return Correlations(
        *(np.concatenate(each, axis=int(each[0].ndim == 3)) for each in zip(*found, strict=True))
    )


def _reverse_mapped(z: np.ndarray, w: np.ndarray, scheme: Any) -> Correlations:
    try:
        pseudo = ReverseMapped(z, scheme, None)
        sums = PairSums(pseudo, w, None)
        covariance, variances, _ = sums.product
        first, second, product = (np.array([each]) for each in (*variances, covariance))
        weights, r = _weights(first, second, product)
        squares = pair_variances(sums, pseudo, [influence.Weights(*each) for each in weights[0].tolist()])
    except UndefinedError:
        unknown = np.full(1, np.nan)
        return Correlations(unknown, np.full((2, 1, 3), np.nan), unknown, unknown, unknown)
    return _made(r, first, sums.squares[:1], squares[:, None])


def _weights(variance: np.ndarray, of_w: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of r - rho for each hypothesis, then those of the variance; and the correlations r."""
    known = (variance > 0.0) & (of_w > 0.0)
    first, second = np.where(known, variance, 1.0), np.where(known, of_w, 1.0)
    size = np.sqrt(first) * np.sqrt(second)
    weights = np.zeros((variance.size, len(RHO) + 1, 3))
    for k, rho in enumerate(RHO):
        weights[:, k] = np.column_stack([1.0 / size, -0.5 * rho / first, -0.5 * rho / second])
    weights[:, -1] = [0.0, 1.0, 0.0]
    return weights, np.where(known, covariance / size, np.nan)


def _made(r: np.ndarray, variance: np.ndarray, masked: np.ndarray, squares: np.ndarray) -> Correlations:
    kept = np.where(masked > 0.0, variance / np.where(masked > 0.0, masked, 1.0), 1.0)
    error = np.sqrt(np.maximum(squares[0, :, -1], 0.0))
    return Correlations(r, quadratic(squares[..., :-1]), variance, error, kept)


def _deviations(x: np.ndarray) -> tuple[np.ndarray, float]:
    """Deviations from the means of rows, in a unit that is safe, and the unit."""
    deviation = x - x.mean(axis=1)[:, None]
    unit = float(max(deviation.max(), -deviation.min())) or 1.0
    return np.divide(deviation, unit, out=deviation), unit


def _powers(x: np.ndarray) -> np.ndarray:
    """The powers of rows, of shape (rows, orders, n)."""
    powers = np.ones((len(x), DEGREE + 1, x.shape[1]))
    for k in range(DEGREE):
        np.multiply(powers[:, k], x, out=powers[:, k + 1])
    return powers
