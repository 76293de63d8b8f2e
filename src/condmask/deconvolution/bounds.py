"""How far a kernel reaches, and how steep it gets: bounds from its Fourier transform.

For v > 0 the inverse Fourier integral may be moved up by i c, below the first pole of the transform s, where
its factor exp(i w v) is at most exp(-c v)::

    |g(v) - limit| <= exp(-c v) / pi  int_0^inf |s(v' + i c)| dv'

The integrals are taken over nodes, and raised by MARGIN for what that neglects.
"""

from collections.abc import Callable
from math import pi

import numpy as np

# Sums over these nodes, up to the cutoff, err by less than 0.1% (tests/deconvolution/test_bounds.py), and a
# bound that is 1% too large costs a tenth of a percent of a cell's width.
MARGIN = 1.01


def tail(
    transform: Callable[[np.ndarray], np.ndarray], height: float, cutoff: float, spread: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(c, A): arrays such that |g(v) - limit| <= A exp(-c v) for v > 0 and all c below `height`.

    With `spread`, of the Taylor polynomials of g about points up to v + spread as well, however many terms.
    """
    c, v = contours(height, cutoff)
    w = v + 1j * c
    return c[:, 0], integrals(np.abs(transform(w)) * np.exp(spread * np.abs(w)), v)


def contours(height: float, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """How far up, of shape (18, 1), and the nodes along, dense near the pole of 1/w."""
    v = np.sinh(np.linspace(0.0, np.arcsinh(50.0 * cutoff), 500)) / 50.0
    return height * np.linspace(0.05, 0.9, 18)[:, None], v


def integrals(size: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What a transform of this size at the nodes adds up to, over pi."""
    return np.asarray(MARGIN / pi * np.trapezoid(size, v, axis=1))


def settled(c: np.ndarray, amplitude: np.ndarray, tol: float) -> float:
    """The distance beyond which the least of the bounds A exp(-c v) is below `tol`."""
    return float(np.min(np.maximum(np.log(np.maximum(amplitude, 1e-300) / tol) / c, 0.0)))


def spectral(transform: Callable[[np.ndarray], np.ndarray], cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """(w, size): nodes such that sum(f(w) size) bounds (1/pi) int f(w) |s(w)| dw for f >= 0."""
    step = cutoff / 2000
    w = (np.arange(2000) + 0.5) * step
    return w, MARGIN / pi * step * np.abs(transform(w))
