r"""Computes covariances of columns released by reverse mapping, with another or an unmasked one.

Two columns masked together share swap status and the order of the swapped records; the kept values
of each are mapped back separately. So the mean of phi(Z_a, Z_b) is on average that of
``p phi + (1-p) T phi`` over the originals, with T = M_a (x) M_b, and the mean of
``Phi = (p I + (1-p) T)^{-1} x_a x_b`` is on average that of x_a x_b. Noise is totally positive,
and so are M and T: their eigenvalues lie in [0, 1], on which a polynomial in T approximates the
inverse well. Powers of T factor, and nothing is ill-posed: the inverse is 1/p at most.

Theorem 2.5 of Ghatak & Roy after reverse mapping (docs/inference.rst, "Reverse mapping").
"""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning, UndefinedError
from condmask.inference.polynomial_variance import polynomial_covariance
from condmask.law import EXACT
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.records import ColumnOrName
from condmask.moments.influence import influence_of_pair
from condmask.pairs import theorem_2_5
from condmask.pairs.pair_variance import Pair, linear_covariance
from condmask.pairs.theorem_2_5 import DEGREE, PairMoments
from condmask.reverse_mapping.pseudo_values import ReverseMapped

UNKNOWN_ERROR = (
    "the error of estimates from columns masked together by reverse mapping is not known: "
    "mask one "
    "of them alone, or fit each of at least 30 parts or strata and take the spread of the "
    "estimates"
)
MAX_POWERS = 20  # of T: with more, rounding errors exceed the gain of the polynomial
MIN_JOINT_P = (
    0.05  # for which so few powers are right to 2e-4; at .001 covariances are off by half
)


def joint(one: ReverseMapped, two: ReverseMapped) -> Pair:
    """Pair two columns masked together; the variances of their covariance are not known.

    In a donor pool, all records have values in both columns, or none has.
    """
    p = one.p
    if p < MIN_JOINT_P:
        raise UndefinedError(
            f"p must be at least {MIN_JOINT_P} for columns masked together by reverse mapping"
        )
    moments = theorem_2_5.moments_of_columns(one.records, two.records.z)
    x, y = (
        _powers_of_mapping(file, middle)
        for file, middle in zip((one, two), moments.middle, strict=True)
    )
    # a polynomial in t that approximates 1 / (p + (1-p) t) on [0, 1]
    line = np.polynomial.Chebyshev.interpolate(
        lambda t: 1.0 / (p + (1.0 - p) * t), MAX_POWERS, domain=[0.0, 1.0]
    )
    x *= line.convert(kind=np.polynomial.Polynomial).coef[:, None]
    own, other = (file.cell[(one.cell >= 0) & (two.cell >= 0)] for file in (one, two))
    total = sum(float(of_x[own] @ of_y[other]) for of_x, of_y in zip(x, y, strict=True))
    value = total / (moments.n - 1.0) * (one.unit / moments.unit[0]) * (two.unit / moments.unit[1])
    return Pair(moments, (EXACT, EXACT), value, 1.0, _unknown, None)


def _unknown(weights: np.ndarray) -> np.ndarray:
    """Warn, and return the variances of a `Pair` as NaN."""
    warn(f"covariance: {UNKNOWN_ERROR}", EstimateWarning)
    return np.full((2, *np.shape(weights)[:-1]), np.nan)


def _powers_of_mapping(file: ReverseMapped, middle: float) -> np.ndarray:
    """Return M^j x by cell, where x is the distance of values from the middle, j = 0, 1, ..."""
    powers = [file.means - (middle - file.origin) / file.unit]
    for _ in range(MAX_POWERS):
        powers.append(np.concatenate([of.apply(powers[-1][cells]) for of, cells, _ in file.pools]))
    return np.array(powers)


def pair_with_unmasked(own: ReverseMapped, w: ColumnOrName) -> Pair:
    """Pair a released column with an unmasked one, by the covariance of its pseudo-values."""
    moments = theorem_2_5.moments_of_columns(own.records, w)
    value, file, population = linear_covariance(own, own.records, w, moments)
    variances = partial(_variances_with_unmasked, own, w, moments, file)
    share = (1.0 - own.p) ** 2
    return Pair(moments, (EXACT, None), value, share, variances, lambda: (file, population))


def _variances_with_unmasked(
    own: ReverseMapped,
    w: ColumnOrName,
    released: PairMoments,
    of_covariance: float,
    weights: ArrayLike,
) -> np.ndarray:
    """Return the variances of functions of the covariance with an unmasked column and of both
    variances: see `Pair`.

    The variances of both columns are known, so about the file only the covariance varies. About
    the population, the influence function on the originals adds a variance. It is a polynomial of
    degree 2; the mean of its square follows from undone powers of the original times powers of
    w.
    """
    a, b = released.middle
    moments = released.about(released.middle, released.unit).means
    ratio = (own.unit / released.unit[0]) ** np.arange(DEGREE)[:, None]
    undone = own.powers((a - own.origin) / own.unit) * ratio

    def mixed(chunk: Chunk) -> tuple[np.ndarray]:
        of_w = np.vander((chunk.column(0) - b) / released.unit[1], DEGREE + 1, increasing=True)
        return (undone[:, own.cell[chunk.rows]] @ of_w[:, 1:] / released.n,)

    (moments[:DEGREE, 1:],) = Chunks(own.records, w).fold(mixed)
    h = influence_of_pair(np.asarray(weights), (0.0, 0.0)).h
    file = np.asarray(weights)[:, 0] ** 2 * of_covariance
    return np.array(
        [file, file + np.maximum(polynomial_covariance(h, h, moments)[:, 0], 0.0) / released.n]
    )
