"""The weight K of one masked value in the frequency domain, where it is elementary.

The estimate of the original's distribution function is
``T(x) = (1/n) sum_j K((x - z_j) / sigma)``, and K undoes the masking::

    p K(u) + (1 - p) E[K(u - Y)] = 1{u >= 0}         Y: the noise, in units of sigma

so that the transform of K' is ``1 / (p + (1-p) phi(w))``, phi the characteristic function of Y:
bounded for every 0 < p <= 1. Its limit at high frequencies, 1/p, is K's step, which is counted
exactly; what remains is smooth, and settles beyond a reach. Smoothing by a bandwidth multiplies by
``exp(-(beta w)^2 / 2)``.

The K of Theorems 2.2 and 2.3 (docs/theory.rst, "The model and its inverse").
"""

from functools import lru_cache
from math import ceil, exp, log, log1p, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from condmask.law import FINE_GRID

# Beyond this argument exp(-v^2/2) and erfc are below 1e-17.
SATURATION = 8.6

# Terms of the aliased transform of rounded normal noise, for each sigma in a step; the others are
# below rounding.
ALIASED_TERMS_PER_SIGMA = 1.5


class Masking(NamedTuple):
    """The parameters of K.

    Attributes
    ----------
    noise : {"normal", "laplace"}
    p : float
        The probability of a swap; 0 where noise was added to all values.
    beta : float
        The bandwidth in units of sigma; 0 for T_1.
    delta : float
        The step of the grid in units of sigma; 0 without a grid.
    """

    noise: str
    p: float
    beta: float = 0.0
    delta: float = 0.0


def symbol(masking: Masking, w: np.ndarray) -> Any:
    """Return phi(w), the characteristic function of the (rounded) noise, its s.d. before rounding
    being 1."""
    delta = masking.delta
    if masking.noise == "laplace":
        return 1.0 / (1.0 + 0.5 * w * w) if delta == 0.0 else _rounded_laplace(w, delta)
    if delta == 0.0:
        return np.exp(-0.5 * w * w)
    # the transform of rounded noise repeats that of the noise at multiples of `turn`; frequencies
    # count from the nearest multiple, so that nothing cancels where the transform vanishes
    turn = 2.0 * pi / delta
    near = w - np.rint(w / turn) * turn
    total = np.exp(-0.5 * near * near) * np.sinc(0.5 * delta / pi * near)
    for k in range(1, ceil(ALIASED_TERMS_PER_SIGMA * delta) + 1):
        for other in (near - k * turn, near + k * turn):
            total = total + np.exp(-0.5 * other * other) * np.sinc(0.5 * delta / pi * other)
    return total


def smooth_symbol(masking: Masking, w: np.ndarray) -> Any:
    """Return the transform of K' without the step 1/p of K, where there is no bandwidth.

    With a grid it is that of K half a step to the right of each grid point. Sums over whole steps
    then divide by 2 sin(delta w / 2) / delta instead of w, which removes the rounding from the
    numerator (docs/theory.rst, "Rounding").
    """
    p = masking.p
    phi = symbol(masking, w)
    share = (1.0 - p) / p / (p + (1.0 - p) * phi)
    return -share * (phi if masking.delta == 0.0 else np.exp(-0.5 * w * w))


def smoothed_symbol(masking: Masking, w: np.ndarray, beta: float | np.ndarray) -> Any:
    """Return the transform of all of K', smoothed by bandwidths that broadcast with w."""
    return np.exp(-0.5 * (beta * w) ** 2) / (masking.p + (1.0 - masking.p) * symbol(masking, w))


def is_coarse(masking: Masking) -> bool:
    """Return whether the grid is so coarse that T_1 is summed at its whole steps, since no smooth
    function passes through its values there."""
    if masking.delta == 0.0:
        return False
    if masking.noise == "laplace":
        return _geometric(masking.p, masking.delta)[0] <= 0.0
    return masking.delta > FINE_GRID


def laplace_tail(masking: Masking) -> tuple[float, float]:
    """Return A and a of K(u) = 1 + A exp(-u/a), u > 0, under Laplace noise; on a grid K is so at
    half steps."""
    p = masking.p
    delta = masking.delta
    if delta == 0.0:
        return 0.5 * (1.0 - p) / p, sqrt(0.5 * p)
    # the tail of the lattice kernel is geometric; its value half a step off a grid point is the
    # exponential with the same ratio per step
    bend, root = _geometric(p, delta)
    half = exp(-delta * sqrt(0.5))
    fall = -np.expm1(-delta * sqrt(2.0))
    amplitude = (1.0 - p) * half * (1.0 + half * half) / (2.0 * fall * fall * root * sqrt(bend))
    return float(amplitude), delta / log1p((root + 1.0) / (2.0 * bend))


@lru_cache(maxsize=256)
def reach(masking: Masking, tol: float) -> float:
    """Return the distance from 0, in sigma, beyond which K without a bandwidth differs from 0 or 1
    by less than `tol`.

    K - 1 is a sum over the poles of its transform, ``2 Re exp(i w u) / (p w^2)``, of which the
    nearest to the real axis counts twice for the others.
    """
    p = masking.p
    delta = masking.delta
    if p in (0.0, 1.0):
        return 0.0
    if is_coarse(masking):
        apart = np.flatnonzero(np.abs(_settling(masking)) >= tol)
        return float(delta * (apart[-1] + 2 if apart.size else 1))
    if masking.noise == "laplace":
        amplitude, decay = laplace_tail(masking)
        return max(0.0, decay * log(amplitude / tol))
    pole = np.sqrt(2.0 * (log(1.0 - p) - log(p)) + 2j * pi)
    amplitude = 4.0 / (p * abs(pole) ** 2)
    # 1/12: rounding widens the noise, and so brings the pole nearer
    return float(log(amplitude / tol) / pole.imag * sqrt(1.0 + delta * delta / 12.0))


@lru_cache(maxsize=256)
def bend(masking: Masking) -> float:
    """Return an upper bound on the absolute second derivative of T_1 between its steps, in units
    of sigma."""
    if is_coarse(masking):
        return 0.0
    if masking.noise == "laplace":
        amplitude, decay = laplace_tail(masking)
        return amplitude / decay**2
    # the integral of w times the transform; rounding adds little
    return -log(masking.p) / (pi * masking.p)


def _settling(masking: Masking, size: int = 1 << 13) -> np.ndarray:
    """Return K - 1 half a step beyond 0, 1, 2, ... steps of a coarse grid."""
    theta = 2.0 * pi * np.arange(size // 2 + 1) / size
    phi = symbol(masking, theta / masking.delta)
    jumps = np.fft.irfft(1.0 / (masking.p + (1.0 - masking.p) * phi), size)
    return np.asarray(np.cumsum(jumps[: size // 4]) - 0.5 * jumps[0] - 0.5)


def _rounded_laplace(w: np.ndarray, delta: float) -> Any:
    """Return phi of rounded Laplace noise, a ratio of two linear functions of 1 - cos."""
    half = exp(-delta * sqrt(0.5))
    zero = -np.expm1(-delta * sqrt(0.5))
    fall = -np.expm1(-delta * sqrt(2.0))
    turned = 2.0 * np.sin(0.5 * delta * w) ** 2  # 1 - cos, without cancellation on fine grids
    return zero + half * fall * (fall - turned) / (fall * fall + 2.0 * half * half * turned)


def _geometric(p: float, delta: float) -> tuple[float, float]:
    """Return g and s, s^2 = 1 + 4 g, under rounded Laplace noise: K's tail is a multiple of
    ((s-1) / (s+1))^k.

    1 / (p + (1-p) phi) is a ratio of two linear functions of 1 - cos, and 2 g the slope of the
    lower one. For g <= 0, on coarse grids, the tail alternates or there is none.
    """
    half = exp(-delta * sqrt(0.5))
    rise = -np.expm1(-delta * sqrt(0.5))
    bent = half * (2.0 * p * half / rise - (1.0 - p) * rise) / (2.0 * rise * (1.0 + half) ** 2)
    return float(bent), sqrt(1.0 + 4.0 * bent)
