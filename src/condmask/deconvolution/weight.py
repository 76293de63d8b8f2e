"""The weight of one masked value in the estimate of the distribution function.

The estimate of the original CDF is ``T(x) = (1/n) sum_j K((x - z_j) / sigma)``. K undoes the masking::

    p K(u) + (1 - p) E[K(u - Y)] = 1{u >= 0}         Y: the noise, in units of sigma

so in the Fourier domain it is ``1 / (p + (1-p) phi(w))`` with phi the characteristic function of Y, bounded
for every 0 < p <= 1. K is antisymmetric about its step, ``K(u) = 1/2 + sign(u) G(|u|)``, and this file
computes G, the *half-weight* (and the density weight K'), from the inverse Fourier integral for normal
noise and from closed forms for Laplace noise. The midpoint rule on the integral converges geometrically.

beta is the smoothing bandwidth in units of sigma (0: none, the paper's T_1; else T_b, Theorem 2.3), delta
the step of the grid to which data and noise were rounded (0: none). With a grid and beta = 0, u is to be
taken half a step to the right of the grid point, where it is exact (docs/theory.rst, "Rounding").

Error (tests/deconvolution/test_weight.py): below 4e-15/p for the integral, 4e-16/p for the closed forms.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, log, log1p, log2, pi, sqrt
from typing import Any

import numpy as np

from condmask.deconvolution import bounds
from condmask.distribution.symbol import Masking as Masking
from condmask.law import FINE_GRID

# Beyond this argument exp(-v^2/2) and erfc are below 1e-17.
SATURATION = 8.6

# Up to this step, in units of sigma, three terms of the rounded normal noise's aliased transform are all of
# it: exp(-(3 pi)^2 / 2) = 5e-20.
ALIASED = 1.0


def symbol(masking: Masking, w: np.ndarray) -> Any:
    """phi(w), the characteristic function of the (rounded) noise, of unit s.d.; w may be complex."""
    delta = masking.delta
    if masking.noise == "laplace":
        return 1.0 / (1.0 + 0.5 * w * w) if delta == 0.0 else _rounded_laplace_symbol(w, delta)
    if delta == 0.0:
        return np.exp(-0.5 * w * w)
    if delta <= ALIASED:
        # what repeats the noise's own transform, and the fall of both sides: no rounding where it vanishes
        turn = 2.0 * pi / delta
        w = w - np.rint(np.real(w) / turn) * turn
        total = np.exp(-0.5 * w * w) * _sinc(0.5 * delta * w)
        if delta > FINE_GRID:
            for other in (w - turn, w + turn):
                total = total + np.exp(-0.5 * other * other) * np.sin(0.5 * delta * other) / (
                    0.5 * delta * other
                )
        return total
    from scipy.special import ndtr  # takes .1 s to import

    k = np.arange(1, int(12.0 / delta) + 3)
    probability = ndtr((0.5 - k) * delta) - ndtr((-0.5 - k) * delta)
    total = 1.0 - 2.0 * probability.sum() + 0.0 * w
    for step, chance in zip(k, probability, strict=True):
        total = total + 2.0 * chance * np.cos(step * delta * w)
    return total


def smooth_symbol(masking: Masking, w: np.ndarray) -> Any:
    """S(w): transform of the smooth part of K', what remains of 1/(p + (1-p) phi) without its limit 1/p."""
    return _unsmoothed_symbol(masking, w) * np.exp(-0.5 * (masking.beta * w) ** 2)


def _unsmoothed_symbol(masking: Masking, w: np.ndarray) -> Any:
    """Of S(w) what is the same for all bandwidths; without one there is another, on a grid."""
    p, phi = masking.p, symbol(masking, w)
    share = (1.0 - p) / p / (p + (1.0 - p) * phi)
    if masking.delta > 0.0 and masking.beta == 0.0:
        # T_1 on a grid: summing over whole steps divides by 2 sin(delta w / 2) / delta instead of w,
        # which takes the rounding out of the numerator (docs/theory.rst, "Rounding")
        phi = np.exp(-0.5 * w * w)
    return -share * phi


def half_weight(masking: Masking, v: np.ndarray) -> Any:
    """G(v) for v >= 0: K(u) = 1/2 + G(u) for u >= 0 and 1/2 - G(-u) below."""
    p, beta = masking.p, masking.beta
    if has_closed_form(masking):
        amplitude, decay = laplace_tail(masking)
        if beta == 0.0:
            return 0.5 + amplitude * np.exp(-v / decay)
        return normal_half_weight(v / beta) + amplitude * _smoothed_tail(v / beta, beta / decay)
    if is_discrete(masking):
        table = discrete_half_weights(masking)
        return table[np.minimum((v / masking.delta).astype(np.int64), table.size - 1)]
    w, weight = _nodes(masking, float(np.max(v, initial=0.0)))
    smooth = _sum_over_nodes(np.sin, v, w, smooth_symbol(masking, w) / w * weight)
    step = 0.5 if beta == 0.0 else normal_half_weight(v / beta)
    return step / p + smooth


def density_weight(masking: Masking, v: np.ndarray) -> Any:
    """K'(v) for v >= 0 and a bandwidth beta > 0; K' is even."""
    p, beta = masking.p, masking.beta
    peak = np.exp(-0.5 * (v / beta) ** 2) / (beta * sqrt(2.0 * pi))
    if has_closed_form(masking):
        amplitude, decay = laplace_tail(masking)
        left, right = _tail_parts(v / beta, beta / decay)
        return peak / p - amplitude / decay * (left + right)
    w, weight = _nodes(masking, float(np.max(v, initial=0.0)))
    return peak / p + _sum_over_nodes(np.cos, v, w, smooth_symbol(masking, w) * weight)


def smooth_weight(masking: Masking, v: np.ndarray, density: bool = False) -> Any:
    """What remains of G(v), or of K'(v), without the step's share: that of 1{u >= 0}/p, smoothed by beta."""
    if density:
        return density_weight(masking, v) - normal_density(v / masking.beta) / (masking.beta * masking.p)
    step = 0.5 if masking.beta == 0.0 else normal_half_weight(v / masking.beta)
    return half_weight(masking, v) - step / masking.p


def normal_half_weight(v: np.ndarray) -> Any:
    """The normal distribution function less one half."""
    from scipy.special import erf

    return np.asarray(0.5 * erf(v / sqrt(2.0)))


def normal_density(v: np.ndarray) -> Any:
    """The normal density."""
    return np.exp(-0.5 * v * v) / sqrt(2.0 * pi)


def laplace_tail(masking: Masking) -> tuple[float, float]:
    """(A, a) with K(u) = 1 + A exp(-u/a) for u > 0 and Laplace noise; exact on a grid too, at half steps."""
    p, delta = masking.p, masking.delta
    if delta == 0.0:
        return 0.5 * (1.0 - p) / p, sqrt(0.5 * p)
    # the tail of the lattice kernel is geometric; its value half a step off a grid point is the
    # exponential with the same ratio per step
    bend, root = _geometric(p, delta)
    half = exp(-delta * sqrt(0.5))
    fall = -np.expm1(-delta * sqrt(2.0))
    amplitude = (1.0 - p) * half * (1.0 + half * half) / (2.0 * fall * fall * root * sqrt(bend))
    return float(amplitude), delta / log1p((root + 1.0) / (2.0 * bend))


def has_closed_form(masking: Masking) -> bool:
    """Whether K is elementary: Laplace noise, off a grid or unsmoothed."""
    return masking.noise == "laplace" and (
        masking.delta == 0.0 or (masking.beta == 0.0 and not is_discrete(masking))
    )


def is_discrete(masking: Masking) -> bool:
    """Whether K is to be tabulated at whole steps of a coarse grid."""
    if masking.delta == 0.0 or masking.beta > 0.0:
        return False
    if masking.noise == "laplace":
        return _geometric(masking.p, masking.delta)[0] <= 0.0
    return masking.delta > FINE_GRID


def discrete_half_weights(masking: Masking, size: int = 1 << 13) -> np.ndarray:
    """G half a step beyond 0, 1, 2, ... grid steps, by the discrete Fourier transform; the last entry is 1/2.

    The grid is coarse, so K reaches its limit within some hundred steps; aliasing from `size` is far below
    rounding.
    """
    theta = 2.0 * pi * np.arange(size // 2 + 1) / size
    phi = symbol(masking, theta / masking.delta)
    jumps = np.fft.irfft(1.0 / (masking.p + (1.0 - masking.p) * phi), size)
    return np.append(np.cumsum(jumps[: size // 4]) - 0.5 * jumps[0], 0.5)


def tail_bound(masking: Masking) -> tuple[np.ndarray, np.ndarray]:
    """(c, A): arrays such that |G(v) - 1/2| <= A exp(-c v) for v > 0, smooth part only where beta > 0.

    Where K has a closed form, one of each; else from its Fourier integral (bounds.py).
    """
    if has_closed_form(masking):
        amplitude, decay = laplace_tail(masking)
        return np.array([1.0 / decay]), np.array(
            [amplitude * exp(min(0.5 * (masking.beta / decay) ** 2, 700.0))]
        )
    return smooth_tail(masking)


def smooth_tail(
    masking: Masking, density: bool = False, spread: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(c, A) of bounds.py for the smooth part of K, or of K'.

    Other data have another bandwidth, so what does not depend on it is kept, at nodes up to the next power of
    two.
    """
    beta = masking.beta
    same = masking._replace(beta=1.0 if beta > 0.0 else 0.0)
    c, v, far, size = _on_contours(same, contour(masking), 2.0 ** ceil(log2(cutoff(masking))))
    size = size * np.exp(spread * far - 0.5 * (beta * v) ** 2 + 0.5 * (beta * c) ** 2)
    return c[:, 0], bounds.integrals(size if density else size / far, v)


@lru_cache(maxsize=8)
def _on_contours(
    masking: Masking, height: float, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The nodes, their distances from 0, and the size of S there but for the bandwidth."""
    c, v = bounds.contours(height, cutoff)
    w = v + 1j * c
    return c, v, np.abs(w), np.abs(_unsmoothed_symbol(masking, w))


@lru_cache(maxsize=256)
def reach(masking: Masking, tol: float) -> float:
    """Beyond this distance from 0, K differs from 0 or 1 by less than `tol`."""
    if is_discrete(masking):
        apart = np.flatnonzero(np.abs(discrete_half_weights(masking) - 0.5) >= tol)
        return masking.delta * (apart[-1] + 2 if apart.size else 1)
    if has_closed_form(masking) and masking.beta >= SATURATION * laplace_tail(masking)[1]:
        return masking.beta * SATURATION  # the smoothing is so wide that nothing of the exponential shows
    return max(bounds.settled(*tail_bound(masking), 0.5 * tol), masking.beta * SATURATION)


def strip(masking: Masking) -> float:
    """Half-width of the strip in which S is analytic: Im w_1, w_1^2 = 2 ln((1-p)/p) + 2 pi i."""
    p, delta = masking.p, masking.delta
    if has_closed_form(masking):
        return 1.0 / laplace_tail(masking)[1]
    if masking.noise == "laplace":
        bend, root = _geometric(p, delta)
        return log1p((root + 1.0) / (2.0 * bend)) / delta if bend > 0.0 else 1.0 / delta
    first = np.sqrt(2.0 * (log(1.0 - p) - log(p)) + 2j * pi)
    if delta > FINE_GRID:  # rounding widens the noise and so narrows the strip; 1/12 is Sheppard's correction
        return float(first.imag) / sqrt(1.0 + delta * delta / 6.0)
    return float(first.imag) / sqrt(1.0 + delta * delta / 12.0)


def contour(masking: Masking) -> float:
    """How far up the inverse Fourier integral is worth moving: a wide bandwidth soon outweighs the gain."""
    return strip(masking) if masking.beta == 0.0 else min(strip(masking), 12.0 / masking.beta)


def cutoff(masking: Masking) -> float:
    """The frequency beyond which S is below 1e-17 of its size."""
    decay = masking.beta**2 + (0.0 if masking.noise == "laplace" or masking.delta > FINE_GRID else 1.0)
    largest = SATURATION + 0.25 * max(0.0, -log(masking.p))
    return largest / sqrt(decay)


def derivative_bound(masking: Masking, order: int) -> float:
    """Bound of the order-th derivative of the smooth part of G, from its Fourier transform."""
    if has_closed_form(masking) and masking.beta == 0.0:
        amplitude, decay = laplace_tail(masking)
        return amplitude / decay**order
    w, size = bounds.spectral(lambda w: smooth_symbol(masking, w), cutoff(masking))
    return float(np.sum(size * w ** (order - 1)))


def _rounded_laplace_symbol(w: np.ndarray, delta: float) -> Any:
    h = delta * sqrt(2.0)
    q, fall = exp(-h), -np.expm1(-h)
    bend = 2.0 * np.sin(0.5 * delta * w) ** 2  # 1 - cos, without cancellation on fine grids
    zero = -np.expm1(-0.5 * h)
    if h < 600.0:
        return zero + 2.0 * np.sinh(0.5 * h) * q * (fall - bend) / (fall * fall + 2.0 * q * bend)
    return zero + 0.0 * bend


def _geometric(p: float, delta: float) -> tuple[float, float]:
    """(g, s), s^2 = 1 + 4 g: for rounded Laplace noise K's tail is a multiple of ((s-1) / (s+1))^k.

    1 / (p + (1-p) phi) is a ratio of two linear functions of 1 - cos, and 2 g the slope of the lower one.
    For g <= 0, on coarse grids, the tail alternates or there is none.
    """
    half, rise = exp(-delta * sqrt(0.5)), -np.expm1(-delta * sqrt(0.5))
    bend = half * (2.0 * p * half / rise - (1.0 - p) * rise) / (2.0 * rise * (1.0 + half) ** 2)
    return float(bend), sqrt(1.0 + 4.0 * bend)


def _smoothed_tail(v: np.ndarray, kappa: float) -> Any:
    """sign(v) e^{-|v| kappa} convolved with the standard normal, at v >= 0."""
    left, right = _tail_parts(v, kappa)
    return right - left


def _tail_parts(v: np.ndarray, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """e^{kappa^2/2} [e^{kappa v} Phi(-v - kappa), e^{-kappa v} Phi(v - kappa)], which never overflow."""
    from scipy.special import erfc, erfcx

    root = sqrt(2.0)
    peak = 0.5 * np.exp(-0.5 * v * v)
    left = peak * erfcx((v + kappa) / root)
    near = peak * erfcx(np.maximum(kappa - v, 0.0) / root)
    far = 0.5 * np.exp(np.minimum(0.5 * kappa * kappa - kappa * v, 0.0)) * erfc((kappa - v) / root)
    return left, np.where(v < kappa, near, far)


def _sinc(x: np.ndarray) -> np.ndarray:
    small = np.abs(x) < 1e-8
    return np.where(small, 1.0, np.sin(x) / np.where(small, 1.0, x))


def _nodes(masking: Masking, largest: float) -> tuple[np.ndarray, float]:
    """Midpoint nodes and weights of the inverse Fourier integral, good for 0 <= v <= largest.

    The rule's error at v is the tail of K at 2 pi / h - v, so h is set by the reach.
    """
    h = 2.0 * pi / _period(masking, largest)
    w = (np.arange(int(cutoff(masking) / h) + 2) + 0.5) * h
    return w, h / pi


def waves(masking: Masking, largest: float) -> float:
    """How many nodes that integral has."""
    return cutoff(masking) * _period(masking, largest) / (2.0 * pi) + 2.0


def _period(masking: Masking, largest: float) -> float:
    return largest + reach(masking, 1e-17 / masking.p) + 1.0


def _sum_over_nodes(
    wave: Callable[[np.ndarray], np.ndarray], v: np.ndarray, w: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """sum_k weight_k wave(v w_k), in slices that stay small."""
    v = np.atleast_1d(np.asarray(v, dtype=np.float64))
    total = np.empty(v.shape)
    rows = max(1, 2_000_000 // w.size)
    for start in range(0, v.size, rows):
        part = slice(start, start + rows)
        total[part] = wave(v[part, None] * w) @ weight
    return total
