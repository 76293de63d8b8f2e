"""Expansions of a smooth kernel: cells so wide that two Taylor expansions keep the tolerance.

The records of a cell enter through their power sums about its centre, and what a cell receives is a
polynomial, so between cells the sum is a convolution, done by FFT or, for few cells, term by term::

    L_l[i] = sum_m sum_k (-1)^m / (l! m!) h^(l+m) g^(l+m)((i - k) h) M_m[k]

With P = ORDER powers on both sides, and s the Fourier transform of the kernel g, the error per record is
at most ``(1/pi) int |s(w)| (2 r + r^2) dw``, ``r = (w h / 2)^P / P!``: each factor exp(i w t) of the
shift is replaced by its Taylor polynomial. The tolerance sets h by this bound, and the distance beyond
which g counts as constant by a bound on a shifted contour (docs/theory.rst, "The lattice").
"""

from functools import lru_cache, partial
from math import comb, factorial, pi
from typing import Any, NamedTuple

import numpy as np

from condmask.deconvolution import bounds, weight
from condmask.kernels.lattice import ORDER, add_between_cells

# Pairs of cells, times two, which are summed sooner than the transforms of a convolution begin.
FEW_PAIRS = 2500

_FACTORIALS = np.array([float(factorial(m)) for m in range(ORDER)])


class Shape(NamedTuple):
    """A smooth kernel: the smooth part of K or K' of a masking, or (masking None) the normal law's own.

    Lengths are in units of sigma, of the bandwidth for the normal law. `boost` times the second derivative
    of the normal law is taken from it, which undoes Laplace noise.
    """

    masking: weight.Masking | None
    density: bool = False
    boost: float = 0.0


class Cells(NamedTuple):
    """Cell width, cells within reach, and derivatives[q, k] = h^q g^(q)(k h) for k = 0 .. reach."""

    width: float
    reach: int
    derivatives: np.ndarray


@lru_cache(maxsize=64)
def widest(shape: Shape, tol: float) -> float:
    """The h at which the error bound of the expansions equals half of `tol`."""
    cutoff = _cutoff(shape)
    w, size = bounds.spectral(partial(_transform, shape), cutoff)
    # the bound is a polynomial of the second degree in (h cutoff)^ORDER
    r = (0.5 * w / cutoff) ** ORDER / factorial(ORDER)
    linear, square = float(np.sum(size * r)), float(np.sum(size * r * r))
    power = 0.5 * tol / (linear + np.sqrt(linear**2 + 0.5 * tol * square))
    return float(min(power ** (1.0 / ORDER), 64.0)) / cutoff


@lru_cache(maxsize=64)
def cells_within_reach(shape: Shape, tol: float, width: float | None = None) -> int:
    """How many cells lie between a record and where it counts as constant, to half of `tol`."""
    width = widest(shape, tol) if width is None else width
    return int(np.ceil(_reach(shape, 0.5 * tol, width) / width)) + 1


@lru_cache(maxsize=64)
def cells(shape: Shape, tol: float, width: float | None = None) -> Cells:
    """Cells that keep the error per record below `tol`: the widest, or of a given width below that."""
    width = widest(shape, tol) if width is None else width
    reach = cells_within_reach(shape, tol, width)
    return Cells(width, reach, derivatives(shape, width, reach, 2 * ORDER - 1))


def fast_length(least: int) -> int:
    """The next length whose Fourier transform is fast: 2, 3 and 5 are its prime factors.

    SciPy's takes .1 s to import, which every command would wait for.
    """
    best, fives = 1 << (least - 1).bit_length(), 1
    while fives < best:
        odd = fives
        while odd < best:
            best = min(best, odd << (-(-least // odd) - 1).bit_length())
            odd *= 3
        fives *= 5
    return best


def derivatives(shape: Shape, width: float, reach: int, orders: int) -> np.ndarray:
    """width^q g^(q)(k width) for q < orders and 0 <= k <= reach, by one FFT per order.

    g is the half-weight's smooth part (odd, sine transform) or the density's (even, cosine transform).
    """
    far = width * reach + _reach(shape, 1e-17, 0.0) + 1.0
    size = fast_length(int(np.ceil(far / width)) + 1)
    step = 2.0 * pi / (size * width)
    w = (np.arange(int(_cutoff(shape) / step) + 2) + 0.5) * step
    spectrum = _transform(shape, w) * (step / pi)
    lag = np.arange(reach + 1)
    turn = np.exp(1j * pi * lag / size)
    base = 1 if shape.density else 0
    q = np.arange(orders)[:, None]
    folded = np.zeros((orders, -(-w.size // size) * size))
    folded[:, : w.size] = spectrum * (w * width) ** q
    waves = np.fft.ifft(folded.reshape(orders, -1, size).sum(axis=1), norm="forward")[:, : reach + 1] * turn
    return np.ascontiguousarray((np.array([1, 1j, -1, -1j])[(q + base) % 4] * waves).imag)


@lru_cache(maxsize=64)
def steepness(shape: Shape, tol: float) -> tuple[float, float]:
    """Bounds of how fast the half-weight's smooth part rises anywhere, and of its second derivative."""
    width, _, d = cells(shape, tol)
    theta = np.arange(-64, 65) / 128.0
    powers = theta[:, None] ** np.arange(2 * ORDER - 4) / np.cumprod([1.0, *range(1, 2 * ORDER - 4)])
    slope, bend, change = (powers @ d[q : q + 2 * ORDER - 4] for q in (1, 2, 3))
    steepest = float(slope.max() + np.abs(bend).max() / 256.0)
    most_bent = float(np.abs(bend).max() + np.abs(change).max() / 256.0)
    return max(0.0, steepest) / width, most_bent / width**2


def waves(shape: Shape, width: float, reach: int, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """The terms before they are summed: a bandwidth b damps the term at w by exp(-b^2 w^2 / 2).

    Returns the terms, of shape (orders, reach + 1, nodes), and -w^2 / 2.
    """
    far = width * reach + _reach(shape, 1e-17, 0.0) + 1.0
    step = 2.0 * pi / far
    w = (np.arange(int(_cutoff(shape) / step) + 2) + 0.5) * step
    phase = np.exp(1j * w * (np.arange(reach + 1) * width)[:, None])
    q = np.arange(orders)[:, None, None]
    turn = np.array([1, 1j, -1, -1j])[(q + int(shape.density)) % 4]
    terms = (turn * phase).imag * (_transform(shape, w) * (step / pi)) * (w * width) ** q
    return np.ascontiguousarray(terms), -0.5 * w * w


def coarser(moments: np.ndarray, times: int) -> np.ndarray:
    """The power sums of cells `times` as wide, each of so many of these; exact, by the binomial theorem."""
    if times == 1:
        return moments
    moments = np.pad(moments, ((0, -len(moments) % times), (0, 0)))
    shift = (np.arange(times) + 0.5) / times - 0.5
    matrix = np.zeros((times, ORDER, ORDER))
    for m in range(ORDER):
        for k in range(m + 1):
            matrix[:, k, m] = comb(m, k) * shift ** (m - k) / float(times) ** k
    return moments.reshape(-1, times * ORDER) @ matrix.reshape(times * ORDER, ORDER)


def local_polynomials(moments: np.ndarray, lattice: Cells, density: bool, limit: float) -> np.ndarray:
    """Coefficients, in powers of cell widths from the centre, of the sum on every cell within reach.

    `lattice` are the `Cells`, `limit` what a record far to the left counts (to the right: 0).
    """
    sources, reach = len(moments), lattice.reach
    targets = sources + 2 * reach
    if sources * reach <= FEW_PAIRS:
        received = np.zeros((ORDER, targets))
        add_between_cells(moments, lattice.derivatives, not density, limit, received)
    else:
        received = _convolved(moments, lattice, density, limit)
    return np.ascontiguousarray(received.T / _FACTORIALS)


def _convolved(moments: np.ndarray, lattice: Cells, density: bool, limit: float) -> np.ndarray:
    """Local polynomials by one FFT for each power, times factorials and not yet transposed."""
    sources, reach = len(moments), lattice.reach
    targets = sources + 2 * reach
    size = fast_length(targets + sources)
    signs = np.where(np.arange(ORDER) % 2, -1.0, 1.0)
    spectra = np.fft.rfft(np.ascontiguousarray((moments * (signs / _FACTORIALS)).T), size)
    lag = np.arange(reach + 1)
    q = np.arange(2 * ORDER - 1)[:, None]
    response = np.zeros((2 * ORDER - 1, size))
    # a half-weight is odd, a density even
    response[:, reach - lag] = np.where((q + density) % 2, 1.0, -1.0) * lattice.derivatives
    response[:, reach + lag] = lattice.derivatives
    response[0, : 2 * reach + 1] += 0.5 * limit
    response[0, 2 * reach + 1 : targets] = limit
    waves = np.fft.rfft(response)
    del response
    products = np.array(
        [np.einsum("mk,mk->k", waves[order : order + ORDER], spectra) for order in range(ORDER)]
    )
    return np.fft.irfft(products, size)[:, :targets]


def _transform(shape: Shape, w: np.ndarray) -> Any:
    """s(w): of g' where g is a half-weight, so it is divided by w, of g itself where it is a density."""
    if shape.masking is None:
        spectrum = np.exp(-0.5 * w * w) * (1.0 + shape.boost * w * w)
    else:
        spectrum = weight.smooth_symbol(shape.masking, w)
    return spectrum if shape.density else spectrum / w


def _cutoff(shape: Shape) -> float:
    if shape.masking is None:
        return float(weight.SATURATION + 0.25 * np.log1p(shape.boost))
    return weight.cutoff(shape.masking)


def _reach(shape: Shape, tol: float, spread: float) -> float:
    """Beyond this distance g, and its Taylor shifts by up to `spread`, are constant to `tol`."""
    if shape.masking is not None:
        return bounds.settled(*weight.smooth_tail(shape.masking, shape.density, spread), tol)
    return bounds.settled(*bounds.tail(partial(_transform, shape), 12.0, _cutoff(shape), spread), tol)
