"""How far a kernel reaches, and how steep it gets: bounds from its Fourier transform.

For v > 0 the inverse Fourier integral may be moved up by i c, below the first pole of the transform s, where
its factor exp(i w v) is at most exp(-c v)::

    |g(v) - limit| <= exp(-c v) / pi  int_0^inf |s(v' + i c)| dv'

The integrals are sums over nodes. MARGIN is what they are raised by for it.
"""

from math import pi

import numpy as np

# The sums below err by less than 0.1% (tests/weights/test_bounds.py); a bound that is 1% too large costs nothing.
MARGIN = 1.01


def tail(transform, height, cutoff, spread=0.0):
    """(c, A): arrays such that |g(v) - limit| <= A exp(-c v) for v > 0 and all c below `height`.

    With `spread`, of the Taylor polynomials of g about points up to v + spread as well, however many terms.
    """
    c = height * np.linspace(0.05, 0.9, 18)[:, None]
    v = np.sinh(np.linspace(0.0, np.arcsinh(50.0 * cutoff), 500)) / 50.0  # dense near the pole of 1/w
    w = v + 1j * c
    size = np.abs(transform(w)) * np.exp(spread * np.abs(w))
    return c[:, 0], MARGIN / pi * np.trapezoid(size, v, axis=1)


def settled(c, amplitude, tol):
    """The distance beyond which the least of the bounds A exp(-c v) is below `tol`."""
    return float(np.min(np.maximum(np.log(np.maximum(amplitude, 1e-300) / tol) / c, 0.0)))


def spectral(transform, cutoff):
    """w and size: nodes, and so much |s(w)| / pi at each that sum(f(w) size) bounds (1/pi) int f(w) |s(w)| dw."""
    step = cutoff / 2000
    w = (np.arange(2000) + 0.5) * step
    return w, MARGIN / pi * step * np.abs(transform(w))
