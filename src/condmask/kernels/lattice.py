"""Sums of a smooth kernel over n records in one pass: records to cells, cells to cells, cells to any x.

The line is cut into cells of width h. The records of a cell enter through their power sums about its
centre, which give the Taylor expansion of the sum at any other centre; what a cell receives is a
polynomial, evaluated at any x inside it. Between cells the sum is a convolution, done by FFT::

    L_l[i] = sum_m sum_k (-1)^m / (l! m!) h^(l+m) g^(l+m)((i - k) h) M_m[k]

With P = ORDER powers on both sides, and s the Fourier transform of the kernel g, the error per record is
at most ``(1/pi) int |s(w)| (2 r + r^2) dw``, ``r = (w h / 2)^P / P!``: each factor exp(i w t) of the
shift is replaced by its Taylor polynomial. The tolerance sets h by this bound, and the distance beyond
which g counts as constant by a bound on a shifted contour (docs/theory.rst, "The lattice").

A *stretch* is a range of sorted records that has a lattice. Records outside stretches, too thinly spread
to pay for one, are summed one by one from the table of the kernel.
"""

from functools import lru_cache
from math import comb, factorial, pi
from typing import NamedTuple

import numpy as np
from scipy.fft import next_fast_len

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels import weight
from condmask.kernels.interpolant import Table, sum_weights

ORDER = 10
CHUNK = 1024  # records whose positions are computed together
_FACTORIALS = np.array([float(factorial(m)) for m in range(ORDER)])


class Layer(NamedTuple):
    """The sum of one kernel over all records, ready for evaluation.

    Stretch k holds records starts[k] .. stops[k], and answers for origins[k] - reach <= x <= highs[k]; its
    cells begin at row offsets[k] of `coefficients`, `margin` of them left of the origin. Further left than
    `reach` a record counts `limit`, further right 0. `unit` is the length in which the table is written.
    """

    starts: np.ndarray
    stops: np.ndarray
    origins: np.ndarray
    highs: np.ndarray
    offsets: np.ndarray
    coefficients: np.ndarray
    per_width: float
    margin: float
    limit: float
    reach: float
    unit: float
    table: Table


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
def widest(shape, tol):
    """The h at which the error bound of the expansions equals half of `tol`, from below."""
    w = (np.arange(256) + 0.5) * (_cutoff(shape) / 256)
    size = np.abs(_transform(shape, w)) * (w[1] - w[0]) / pi

    def bound(h):
        r = np.minimum((0.5 * w * h) ** ORDER / factorial(ORDER), 1e100)
        return float(np.sum(size * (2.0 * r + r * r))) * 1.05

    low, high = 0.0, 64.0 / _cutoff(shape)
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bound(middle) <= 0.5 * tol else (low, middle)
    return low


@lru_cache(maxsize=64)
def cells_within_reach(shape, tol, width=None):
    """How many cells lie between a record and where it counts as constant, to half of `tol`."""
    width = widest(shape, tol) if width is None else width
    return int(np.ceil(_reach(shape, 0.5 * tol, width) / width)) + 1


@lru_cache(maxsize=64)
def cells(shape: Shape, tol: float, width: float | None = None) -> Cells:
    """Cells that keep the error per record below `tol`: the widest, or of a given width below that."""
    width = widest(shape, tol) if width is None else width
    reach = cells_within_reach(shape, tol, width)
    return Cells(width, reach, derivatives(shape, width, reach, 2 * ORDER - 1))


def derivatives(shape, width, reach, orders):
    """width^q g^(q)(k width) for q < orders and 0 <= k <= reach, by one FFT per order.

    g is the half-weight's smooth part (odd, sine transform) or the density's (even, cosine transform).
    """
    far = width * reach + _reach(shape, 1e-17, 0.0) + 1.0
    size = next_fast_len(int(np.ceil(far / width)) + 1)
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


def waves(shape, width, reach, orders):
    """The same before they are summed: a bandwidth b damps the term at w by exp(-b^2 w^2 / 2).

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


@kernel(fastmath=SAFE_MATH)
def power_sums(z, start, stop, origin, per_width, first, moments):
    """moments[k - first, m] += sum of t^m over z[start:stop] in cell k, t in cell widths from its centre.

    z sorted; a run of records in one cell is summed in registers.
    """
    j = start
    while j < stop:
        cell = np.int64((z[j] - origin) * per_width)
        edge = origin + (cell + 1) / per_width
        low, step = j, 1
        while low + step < stop and z[low + step] < edge:
            low += step
            step *= 2
        high = min(low + step, stop)
        while high - low > 1:
            middle = (low + high) // 2
            if z[middle] < edge:
                low = middle
            else:
                high = middle
        centre = cell + 0.5
        s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = s9 = 0.0
        for i in range(j, high):
            t = (z[i] - origin) * per_width - centre
            t2 = t * t
            t3 = t2 * t
            t4 = t2 * t2
            s1 += t
            s2 += t2
            s3 += t3
            s4 += t4
            s5 += t4 * t
            s6 += t4 * t2
            s7 += t4 * t3
            s8 += t4 * t4
            s9 += t4 * t4 * t
        row = moments[cell - first]
        row[0] += high - j
        row[1] += s1
        row[2] += s2
        row[3] += s3
        row[4] += s4
        row[5] += s5
        row[6] += s6
        row[7] += s7
        row[8] += s8
        row[9] += s9
        j = high


@kernel(fastmath=SAFE_MATH)
def scattered_power_sums(z, start, stop, origin, per_width, moments):
    """The same of records in any order, cells counted from 0."""
    t, cell = np.empty(CHUNK), np.empty(CHUNK, dtype=np.int32)
    for begin in range(start, stop, CHUNK):
        count = min(stop - begin, CHUNK)
        for j in range(count):  # apart from the sums, this loop vectorises
            position = (z[begin + j] - origin) * per_width
            cell[j] = np.int32(position)
            t[j] = position - cell[j] - 0.5
        for j in range(count):
            k, t1 = cell[j], t[j]
            t2 = t1 * t1
            t4 = t2 * t2
            t6 = t4 * t2
            t8 = t4 * t4
            moments[k, 0] += 1.0
            moments[k, 1] += t1
            moments[k, 2] += t2
            moments[k, 3] += t2 * t1
            moments[k, 4] += t4
            moments[k, 5] += t4 * t1
            moments[k, 6] += t6
            moments[k, 7] += t6 * t1
            moments[k, 8] += t8
            moments[k, 9] += t8 * t1


def coarser(moments, times):
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


def local_polynomials(moments, lattice, density, limit):
    """Coefficients, in powers of cell widths from the centre, of the sum on every cell within reach.

    `lattice` are the `Cells`, `limit` what a record far to the left counts (to the right: 0).
    """
    sources, reach = len(moments), lattice.reach
    targets = sources + 2 * reach
    size = next_fast_len(targets + sources, real=True)
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
    return np.ascontiguousarray(np.fft.irfft(products, size)[:, :targets].T / _FACTORIALS)


@kernel
def pages(z, width, starts):
    """Cut sorted z into pages at most `width` wide, each beginning at a record; returns their number."""
    count, j = 0, 0
    while j < z.size:
        starts[count] = j
        count += 1
        edge = z[j] + width
        low, step = j, 1
        while low + step < z.size and z[low + step] <= edge:
            low += step
            step *= 2
        high = min(low + step, z.size)
        while high - low > 1:
            middle = (low + high) // 2
            if z[middle] <= edge:
                low = middle
            else:
                high = middle
        j = high
    return count


@kernel(inline="always")
def polynomial(x, origin, per_width, margin, offset, count, coefficients):
    """The local polynomial at x of a stretch of `count` cells."""
    position = (x - origin) * per_width + margin
    cell = min(max(np.int64(position), 0), count - 1)
    t = position - cell - 0.5
    k = offset + cell
    value = coefficients[k, 9]
    value = value * t + coefficients[k, 8]
    value = value * t + coefficients[k, 7]
    value = value * t + coefficients[k, 6]
    value = value * t + coefficients[k, 5]
    value = value * t + coefficients[k, 4]
    value = value * t + coefficients[k, 3]
    value = value * t + coefficients[k, 2]
    value = value * t + coefficients[k, 1]
    return value * t + coefficients[k, 0]


@kernel
def count_below(z, x, low, high):
    """How many of the sorted z lie below x, known to be between low and high."""
    while low < high:
        middle = (low + high) // 2
        if z[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def count_up_to(values, x, low, high):
    """How many of the sorted values are at most x, known to be between low and high."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def add_layer(x, z, weight, layer, out):
    """out[i] += weight times the layer's kernel summed over all sorted records z, at x[i]."""
    starts, stops, origins, highs, offsets, coefficients, per_width, margin, limit, reach, unit, table = layer
    number = starts.size
    for i in range(x.size):
        k, high = 0, number
        while k < high:  # the first stretch that does not end before x
            middle = (k + high) // 2
            if highs[middle] < x[i]:
                k = middle + 1
            else:
                high = middle
        done = stops[k - 1] if k > 0 else 0
        total = limit * done
        while True:
            end = starts[k] if k < number else z.size
            if done < end:  # records without a lattice
                first = count_below(z, x[i] - reach, done, end)
                last = count_up_to(z, x[i] + reach, first, end)
                total += limit * (first - done)
                if first < last:
                    total += sum_weights(z, x[i], unit, table, first, last)
                if last < end:
                    break
            if k == number or x[i] < origins[k] - reach:
                break
            cells = offsets[k + 1] - offsets[k]
            total += polynomial(x[i], origins[k], per_width, margin, offsets[k], cells, coefficients)
            done = stops[k]
            k += 1
        out[i] += weight * total


def _transform(shape, w):
    """s(w): of g' where g is a half-weight, so it is divided by w, of g itself where it is a density."""
    if shape.masking is None:
        spectrum = np.exp(-0.5 * w * w) * (1.0 + shape.boost * w * w)
    else:
        spectrum = weight.smooth_symbol(shape.masking, w)
    return spectrum if shape.density else spectrum / w


def _cutoff(shape):
    if shape.masking is None:
        return weight.SATURATION + 0.25 * np.log1p(shape.boost)
    return weight.cutoff(shape.masking)


def _reach(shape, tol, spread):
    """Beyond this distance g, and its Taylor shifts by up to `spread`, are constant to `tol`."""
    strip = 12.0 if shape.masking is None else weight.contour(shape.masking)
    c = strip * np.linspace(0.15, 0.9, 6)[:, None]
    v = np.sinh(np.linspace(0.0, np.arcsinh(50.0 * _cutoff(shape)), 240)) / 50.0  # dense near the pole of 1/w
    w = v + 1j * c
    size = np.abs(_transform(shape, w)) * np.exp(spread * np.abs(w))
    amplitude = 1.1 / pi * np.trapezoid(size, v, axis=1)
    return float(np.min(np.maximum(np.log(np.maximum(amplitude, 1e-300) / tol) / c[:, 0], 0.0)))
