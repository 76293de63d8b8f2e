r"""Covariances of columns released by reverse mapping: of two together, and how those with a plain
one vary.

Two columns masked together share coins and the order of the swapped; each kept one is mapped back
by itself. So the mean of phi(Z_a, Z_b) is on average that of ``p phi + (1-p) T phi`` over the
originals, with T = M_a (x) M_b, and the mean of ``Phi = (p I + (1-p) T)^{-1} x_a x_b`` that of x_a
x_b. Noise is totally positive, and so are M and T: their eigenvalues lie in [0, 1], on which a
polynomial in T is as good as the inverse. Powers of T factor, and nothing is ill-posed: the
inverse is 1/p at most.

Theorem 2.5 after reverse mapping (docs/inference.rst, "Reverse mapping").
"""

from functools import partial
from typing import Any

import numpy as np

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning, UndefinedError
from condmask.inference.polynomial_variance import polynomial_covariance
from condmask.law import EXACT
from condmask.linear.chunks import Chunk, Chunks
from condmask.moments.influence import influence_of_pair
from condmask.pairs import theorem_2_5
from condmask.pairs.pair_variance import Pair, linear_covariance
from condmask.pairs.theorem_2_5 import DEGREE, PairMoments
from condmask.reverse_mapping.pseudo_values import ReverseMapped

TOGETHER = (
    "how estimates err from columns masked together by reverse mapping is not known: mask one of them alone, "
    "or fit each of at least 30 parts or strata, between which estimates vary as they err"
)
TERMS = 20  # powers of T, beyond which rounding grows by more than the polynomial gains
# p, at which so few terms are right to 2e-4; at .001 covariances would be off by half
LEAST = 0.05


def joint(one: ReverseMapped, two: ReverseMapped) -> Pair:
    """Two columns masked together, whose variances as functions of the masking are not known.

    A donor pool has the values of both columns or lacks one of them.
    """
    p = one.p
    if p < LEAST:
        raise UndefinedError(
            f"p must be at least {LEAST} for columns masked together by reverse mapping"
        )
    moments = theorem_2_5.of_columns(one.records, two.records.z)
    x, y = (_powers(file, middle) for file, middle in zip((one, two), moments.middle, strict=True))
    # a polynomial in t that is nearly the inverse on [0, 1]
    line = np.polynomial.Chebyshev.interpolate(
        lambda t: 1.0 / (p + (1.0 - p) * t), TERMS, domain=[0.0, 1.0]
    )
    x *= line.convert(kind=np.polynomial.Polynomial).coef[:, None]
    own, other = (file.cell[(one.cell >= 0) & (two.cell >= 0)] for file in (one, two))
    total = sum(float(of_x[own] @ of_y[other]) for of_x, of_y in zip(x, y, strict=True))
    value = total / (moments.n - 1.0) * (one.unit / moments.unit[0]) * (two.unit / moments.unit[1])
    return Pair(moments, (EXACT, EXACT), value, 1.0, _unknown, None)


def _unknown(weights: Any) -> np.ndarray:
    """The variances of a `Pair` of which none is known."""
    warn(f"covariance: {TOGETHER}", EstimateWarning)
    return np.full((2, *np.shape(weights)[:-1]), np.nan)


def _powers(file: ReverseMapped, middle: float) -> np.ndarray:
    """M^j x by cell, x how far values lie above the middle, j = 0, 1, ..."""
    powers = [file.means - (middle - file.origin) / file.unit]
    for _ in range(TERMS):
        powers.append(np.concatenate([of.apply(powers[-1][cells]) for of, cells, _ in file.pools]))
    return np.array(powers)


def pair_of(own: ReverseMapped, w: Any) -> Pair:
    """A released column with a plain one: the covariance of its pseudo-values."""
    moments = theorem_2_5.of_columns(own.records, w)
    value, *linear = linear_covariance(own, own.records, w, moments)
    variances = partial(_variances, own, w, moments, linear[0])
    return Pair(
        moments, (EXACT, None), value, (1.0 - own.p) ** 2, variances, lambda: tuple(linear)
    )


def _variances(
    own: ReverseMapped, w: Any, released: PairMoments, of_covariance: float, weights: Any
) -> np.ndarray:
    """The variances of functions of the covariance with a plain column and of both variances: see
    `Pair`.

    The variances of both columns are known, so about the file the covariance alone varies. About
    the population there is the influence function on the originals besides, a polynomial of degree
    2, of whose square the mean follows from powers of the original, undone, times powers of w.
    """
    a, b = released.middle
    moments = released.about(released.middle, released.unit).means
    ratio = (own.unit / released.unit[0]) ** np.arange(DEGREE)[:, None]
    undone = own.powers((a - own.origin) / own.unit) * ratio

    def mixed(chunk: Chunk) -> tuple[np.ndarray]:
        of_w = np.vander((chunk.columns[0] - b) / released.unit[1], DEGREE + 1, increasing=True)
        return (undone[:, own.cell[chunk.rows]] @ of_w[:, 1:] / released.n,)

    (moments[:DEGREE, 1:],) = Chunks(own.records, w).fold(mixed)
    h = influence_of_pair(weights, (0.0, 0.0)).h
    file = np.asarray(weights)[:, 0] ** 2 * of_covariance
    return np.array(
        [file, file + np.maximum(polynomial_covariance(h, h, moments)[:, 0], 0.0) / released.n]
    )
