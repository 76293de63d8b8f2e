"""Sums of a smooth kernel over n records in one pass: records to cells, cells to cells, cells to any x.

The line is cut into cells of width h. The records of a cell enter through their power sums about its
centre, which give the Taylor expansion of the sum at any other centre; what a cell receives is a
polynomial, evaluated at any x inside it. Between cells the sum is a convolution, done by FFT or, for few
cells, term by term::

    L_l[i] = sum_m sum_k (-1)^m / (l! m!) h^(l+m) g^(l+m)((i - k) h) M_m[k]

With P = ORDER powers on both sides, and s the Fourier transform of the kernel g, the error per record is
at most ``(1/pi) int |s(w)| (2 r + r^2) dw``, ``r = (w h / 2)^P / P!``: each factor exp(i w t) of the
shift is replaced by its Taylor polynomial. The tolerance sets h by this bound, and the distance beyond
which g counts as constant by a bound on a shifted contour (docs/theory.rst, "The lattice").

A *stretch* is a range of sorted records that has a lattice. Records outside stretches, too thinly spread
to pay for one, are summed one by one from the table of the kernel.
"""

import numpy as np

from condmask._jit import SAFE_MATH, kernel

ORDER = 10
CHUNK = 1024  # records whose positions are computed together


@kernel(inline="always")
def records(below, index):
    """The number of records among the first `index` values, each of which is one where `below` is empty."""
    return below[index] if below.size > 0 else index


assert ORDER == 10, "the next two kernels are written out, add_between_cells by five powers"


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
def scattered_power_sums(z, below, start, stop, origin, per_width, first, moments):
    """Power sums of values in any order, with their counts."""
    counted = below.size > 0
    t, cell, count = np.empty(CHUNK), np.empty(CHUNK, dtype=np.int32), np.ones(CHUNK)
    for begin in range(start, stop, CHUNK):
        number = min(stop - begin, CHUNK)
        for j in range(number):  # apart from the sums, this loop vectorises
            position = (z[begin + j] - origin) * per_width
            cell[j] = np.int32(position)
            t[j] = position - cell[j] - 0.5
        if counted:
            for j in range(number):
                count[j] = below[begin + j + 1] - below[begin + j]
        for j in range(number):
            row, w, t1 = moments[cell[j] - first], count[j], t[j]
            w1, t2 = w * t1, t1 * t1
            t4 = t2 * t2
            w2, w3, w4, w5 = w * t2, w1 * t2, w * t4, w1 * t4
            row[0] += w
            row[1] += w1
            row[2] += w2
            row[3] += w3
            row[4] += w4
            row[5] += w5
            row[6] += w2 * t4
            row[7] += w3 * t4
            row[8] += w4 * t4
            row[9] += w5 * t4


@kernel(fastmath=SAFE_MATH)
def add_between_cells(moments, derivatives, odd, limit, local):
    """local[l, i] += l! times the coefficient of t^l in target cell i; the first source is cell `reach`.

    `derivatives` as of expansion.py, for lags up to the reach; `odd`: whether they are those of an odd
    function; `limit`: what a record counts farther to its right than the reach, and half of it within.
    """
    sources, reach = moments.shape[0], derivatives.shape[1] - 1
    width = 2 * reach + 1
    response = np.empty((2 * ORDER - 1, width))
    for order in range(2 * ORDER - 1):
        flip = -1.0 if (order % 2 == 1) != odd else 1.0
        for lag in range(reach + 1):
            response[order, reach - lag] = flip * derivatives[order, lag]
            response[order, reach + lag] = derivatives[order, lag]
    response[0] += 0.5 * limit
    passed, terms = 0.0, np.empty(ORDER)
    for k in range(sources):
        count, share = moments[k, 0], 1.0
        if count != 0.0:
            for m in range(ORDER):
                terms[m] = share * moments[k, m]
                share *= -1.0 / (m + 1.0)
            for m in range(0, ORDER, 5):  # five at a time load and store what is received but once
                t0, t1, t2, t3, t4 = terms[m], terms[m + 1], terms[m + 2], terms[m + 3], terms[m + 4]
                for power in range(ORDER):
                    received, first = local[power], power + m
                    g0, g1, g2 = response[first], response[first + 1], response[first + 2]
                    g3, g4 = response[first + 3], response[first + 4]
                    for i in range(width):  # this loop vectorises
                        received[k + i] += t0 * g0[i] + t1 * g1[i] + t2 * g2[i] + t3 * g3[i] + t4 * g4[i]
        passed += count
        if k + width < local.shape[1]:
            local[0, k + width] += limit * passed


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


@kernel
def join_pages(z, starts, fewest, reach, stretches):
    """Full pages, joined where their zones of influence overlap: stretches[k] is (start, stop); their number.

    `starts` are those of the pages, and the number of records.
    """
    count = 0
    for page in range(starts.size - 1):
        start, stop = starts[page], starts[page + 1]
        if stop - start < fewest:
            continue
        if count > 0 and stretches[count - 1, 1] == start and z[start] - z[start - 1] <= 2.0 * reach:
            stretches[count - 1, 1] = stop
        else:
            stretches[count, 0], stretches[count, 1] = start, stop
            count += 1
    return count


@kernel(inline="always")
def polynomial(x, origin, per_width, margin, offset, count, coefficients):
    """The local polynomial at x of a stretch of `count` cells."""
    position = (x - origin) * per_width + margin
    cell = min(max(np.int64(position), 0), count - 1)
    t = position - cell - 0.5
    c = coefficients[offset + cell]
    value = c[ORDER - 1]
    for power in range(ORDER - 2, -1, -1):
        value = value * t + c[power]
    return value


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
