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

from typing import NamedTuple

import numpy as np

from condmask._jit import SAFE_MATH, kernel
from condmask.kernels.interpolant import Table, sum_weights

ORDER = 10
CHUNK = 1024  # records whose positions are computed together


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
