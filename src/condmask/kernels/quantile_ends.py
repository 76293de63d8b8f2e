"""The ends of intervals for quantiles of many small samples at once: the score test inverted, row by row.

A row knows its T and the variance of T at the nodes of a lattice of its own. On a fine grid T is, from one
node or record to the next, as good as a straight line, and falls or rises by a jump at a record; the monotone
rearrangement T* of such pieces is a line of straight pieces as well, which is known without an error once the
values at the ends of the pieces are sorted: the stretch on which T is less than v grows by as much for each
piece that v lies in. On a coarse grid T is constant from each point to the next, and is sorted as it is.

All probabilities, levels and targets read the same T*: an end is where the test first or last excludes a
point of it, looked for from the quantile outwards.
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels.lattice import count_up_to

FLAT = 1e-9  # of T: pieces that rise by less have one value
FAR = 4  # nodes that a piece may be long where no record is near


class Lattice(NamedTuple):
    """What the rows of a block have in common.

    Attributes
    ----------
    width : float
        Of a cell, in steps of the grid.
    fine : bool
        Whether a cell has many steps, so that T is taken for straight lines between nodes and records.
    p : float
    limits, jumps : ndarray of shape (5,)
        Of the kernels that the sums are made of.
    shared_donors : bool
        Whether several records may share a donor.
    """

    width: float
    fine: bool
    p: float
    limits: np.ndarray
    jumps: np.ndarray
    shared_donors: bool


class Row(NamedTuple):
    """One sample on its lattice.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Masked values in steps of the grid, ascending.
    first : float
        The cell of node 0.
    smooth : ndarray
        T without its steps at the records, at the nodes of a fine grid; else T at the points of the grid.
    sums : ndarray of shape (5, nodes)
        Sums of which the variance of T is made, less what records to the left add from afar.
    below : ndarray of shape (nodes,)
        How many records lie in cells up to each node's.
    """

    z: np.ndarray
    first: float
    smooth: np.ndarray
    sums: np.ndarray
    below: np.ndarray


class Question(NamedTuple):
    """What is asked of every row.

    Attributes
    ----------
    q : ndarray of shape (probabilities,)
    c : ndarray of shape (levels,)
        z^2/n.
    population : ndarray of bool of shape (targets,)
        Whether the target is the population, not the file.
    rearranged : bool
        Whether quantiles are those of T*, whose variance is less than that of T.
    slack : float
        By so much T may stay below a probability that counts as reached.
    gain, room : float
        Of `inference.rearranged_variance`.
    """

    q: np.ndarray
    c: np.ndarray
    population: np.ndarray
    rearranged: bool
    slack: float
    gain: float
    room: float


@kernel
def count(rows, first, width, counts):
    """counts[row, i]: how many of the values of a row lie in cell i from its first."""
    for row in range(rows.shape[0]):
        for z in rows[row]:
            counts[row, np.int64(np.floor(z / width) - first[row])] += 1.0


@kernel
def spread(rows, first, width, weights):
    """weights[row, i]: the values of a row spread to nodes, by the cubic through four of them."""
    for row in range(rows.shape[0]):
        for z in rows[row]:
            place = z / width - first[row]
            i = np.int64(np.floor(place))
            shares = _cubic(place - i)
            for k in range(4):
                weights[row, i - 1 + k] += shares[k]


@kernel(inline="always")
def _cubic(u):
    """What the values at -1, 0, 1 and 2 weigh in that of the cubic through them at u."""
    return (
        -u * (u - 1.0) * (u - 2.0) / 6.0,
        (u + 1.0) * (u - 1.0) * (u - 2.0) / 2.0,
        -(u + 1.0) * u * (u - 2.0) / 2.0,
        (u + 1.0) * u * (u - 1.0) / 6.0,
    )


@kernel
def value_at(x, row, lattice):
    """T at points of the grid."""
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = _value(x[i], row, lattice)
    return out


@kernel
def variance_at(x, row, lattice):
    """n times the variance of T about the file, at points of the grid."""
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = _variance(x[i], _up_to(row.z, x[i]), row, lattice)
    return out


@kernel
def quantile_ends(row, lattice, question, value, low, high):
    """Quantiles, and the ends of their intervals by level, target and probability, in steps.

    Returns
    -------
    bool
        Whether the lattice reached far enough for them.
    """
    x, t, variance = _with_variance(row, lattice, *_rearranged(row, lattice))
    for j in range(question.q.size):
        reached = question.q[j] - question.slack
        value[j] = _reached(x, t, reached, lattice) if question.rearranged else _first(row, lattice, reached)
    served = True
    kept = np.ones(question.q.size)
    for level in range(question.c.size):
        c = question.c[level]
        for target in range(question.population.size):
            whole = question.population[target]
            own_low, own_high = low[level, target], high[level, target]
            kept[:] = 1.0
            served &= _ends(x, t, variance, lattice, question, c, whole, kept, own_low, own_high)
            if question.rearranged and c < 1.0:
                for j in range(kept.size):
                    ends = min(own_low[j], value[j]), max(own_high[j], value[j])
                    kept[j] = _kept(row, lattice, question, c, whole, question.q[j], value[j], ends)
                served &= _ends(x, t, variance, lattice, question, c, whole, kept, own_low, own_high)
            for j in range(kept.size):
                own_low[j], own_high[j] = min(own_low[j], value[j]), max(own_high[j], value[j])
                if whole and question.q[j] <= c:
                    own_low[j] = -np.inf
                if whole and 1.0 - question.q[j] <= c:
                    own_high[j] = np.inf
    return served


# --- T and its variance -------------------------------------------------------------------------------


@kernel
def _up_to(z, x):
    """How many records lie at x or to the left."""
    return count_up_to(z, x, 0, z.size)


@kernel
def _smooth(x, row, lattice):
    """The smooth part of T at a point of the line, by the cubic through four nodes."""
    place = x / lattice.width - row.first
    last = row.smooth.size - 1
    i = min(max(np.int64(np.floor(place)), 1), last - 2)
    u = min(max(place - i, -1.0), 2.0)
    a, b, c, d = _cubic(u)
    near = a * row.smooth[i - 1] + b * row.smooth[i]
    return near + c * row.smooth[i + 1] + d * row.smooth[i + 2]


@kernel
def _value(x, row, lattice):
    """T at a point of the grid."""
    if lattice.fine:
        # the smooth part is taken half a step to the right, where it is exact
        return _up_to(row.z, x) / (lattice.p * row.z.size) + _smooth(x + 0.5, row, lattice)
    i = np.int64(min(max(x - row.first * lattice.width, 0.0), row.smooth.size - 1.0))
    return row.smooth[i]


@kernel
def _variance(x, up_to, row, lattice):
    """n times the variance of T about the file; `up_to`: how many records lie at x or to the left."""
    n, place = row.z.size, (np.floor(x) + 1.0) / lattice.width - 1.0 - row.first
    place = min(max(place, 0.0), row.below.size - 2.0)
    i = np.int64(np.floor(place))
    along = place - i
    between = row.below[i] + along * (row.below[i + 1] - row.below[i])
    psi, square = (
        _sum(0, i, along, between, up_to, row, lattice),
        _sum(1, i, along, between, up_to, row, lattice),
    )
    psi, square = psi / n, square / n
    v = square - psi * psi
    if lattice.shared_donors:
        rest = _sum(2, i, along, between, up_to, row, lattice) / n
        d = _sum(3, i, along, between, up_to, row, lattice) / n - rest * rest
        return max(v - max(d, 0.0), 0.0)
    inside = _sum(4, i, along, between, up_to, row, lattice) / n - psi * psi
    return max(v - max(inside, 0.0), 0.0)


@kernel(inline="always")
def _sum(k, i, along, between, up_to, row, lattice):
    near = row.sums[k, i] + along * (row.sums[k, i + 1] - row.sums[k, i])
    return near + lattice.limits[k] * between + lattice.jumps[k] * (up_to - between)


# --- its rearrangement --------------------------------------------------------------------------------


@kernel
def _rearranged(row, lattice):
    """T*: points, and its values there, both ascending; on a coarse grid those of whole steps."""
    if not lattice.fine:
        t = np.sort(row.smooth)
        return row.first * lattice.width + np.arange(t.size), t
    n, nodes, width = row.z.size, row.smooth.size, lattice.width
    most = 2 * (nodes + n)
    # where T reaches these values: by how much faster T* then takes in the line, and how much at once
    value, rate, length = np.empty(most), np.empty(most), np.empty(most)
    count, node, record = 0, 0, 0
    x, smooth = row.first * width, row.smooth[0]
    while node < nodes - 1:
        ahead = (row.first + node + 1) * width
        following = node + 1
        if (record == n or row.z[record] > ahead + (FAR + 16) * width) and (
            record == 0 or row.z[record - 1] < x - 16 * width
        ):
            following = min(node + FAR, nodes - 1)
            ahead = (row.first + following) * width
        if record < n and row.z[record] < ahead:
            ahead = row.z[record]
            then = _smooth(ahead, row, lattice)
        else:
            then, node = row.smooth[following], following
        if ahead > x:
            steps = record / (lattice.p * n)
            low, high = steps + min(smooth, then), steps + max(smooth, then)
            if high - low < FLAT:
                value[count], rate[count], length[count] = 0.5 * (low + high), 0.0, ahead - x
                count += 1
            else:
                slope = (ahead - x) / (high - low)
                value[count], rate[count], length[count] = low, slope, 0.0
                value[count + 1], rate[count + 1], length[count + 1] = high, -slope, 0.0
                count += 2
        x, smooth = ahead, then
        while record < n and row.z[record] <= x:
            record += 1
    order = _ascending(value[:count])
    points, values = np.empty(2 * count), np.empty(2 * count)
    at, taken, speed, before = 0, row.first * width, 0.0, value[order[0]]
    for k in order:
        taken += speed * (value[k] - before)
        before = value[k]
        speed += rate[k]
        points[at], values[at] = taken, before
        at += 1
        if length[k] > 0.0:
            taken += length[k]
            points[at], values[at] = taken, before
            at += 1
    return points[:at], values[:at]


@kernel
def _with_variance(row, lattice, x, t):
    """T* and n times the variance of T at its points; on a fine grid also at records, where that jumps."""
    z, n, fine = row.z, row.z.size, lattice.fine
    most = x.size + 2 * n if fine else x.size
    points, values, variance = np.empty(most), np.empty(most), np.empty(most)
    at, record = 0, 0
    for k in range(x.size):
        while record < n and z[record] <= x[k]:
            own = z[record]
            following = record + 1
            while following < n and z[following] == own:
                following += 1
            if fine and k > 0:
                stretch = x[k] - x[k - 1]
                along = (own - x[k - 1]) / stretch if stretch > 0.0 else 1.0
                for up_to in (record, following):
                    points[at], values[at] = own, t[k - 1] + along * (t[k] - t[k - 1])
                    variance[at] = _variance(own - (up_to == record), up_to, row, lattice)
                    at += 1
            record = following
        points[at], values[at] = x[k], t[k]
        variance[at] = _variance(x[k], record, row, lattice)
        at += 1
    return points[:at], values[:at], variance[:at]


@kernel
def _ascending(values):
    """The order of values that are spread rather evenly: by buckets, and then by insertion."""
    count = values.size
    low, high = values.min(), values.max()
    scale = (count - 1.0) / (high - low) if high > low else 0.0
    ends = np.zeros(count + 1, dtype=np.int64)
    for value in values:
        ends[np.int64((value - low) * scale) + 1] += 1
    ends = np.cumsum(ends)
    order = np.empty(count, dtype=np.int64)
    for k in range(count):
        bucket = np.int64((values[k] - low) * scale)
        order[ends[bucket]] = k
        ends[bucket] += 1
    for k in range(1, count):
        own, j = order[k], k
        while j > 0 and values[order[j - 1]] > values[own]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = own
    return order


@kernel
def _reached(x, t, level, lattice):
    """Where T* first reaches a value."""
    k = np.searchsorted(t, level)
    if not lattice.fine or k == 0 or k == t.size:
        return np.rint(x[min(k, t.size - 1)])
    return np.rint(x[k - 1] + (level - t[k - 1]) / (t[k] - t[k - 1]) * (x[k] - x[k - 1]))


@kernel
def _first(row, lattice, level):
    """The first point of the grid at which T reaches a value, or the last of all."""
    n, nodes = row.z.size, row.smooth.size
    if not lattice.fine:
        for i in range(nodes):
            if row.smooth[i] >= level:
                return row.first * lattice.width + i
        return row.first * lattice.width + nodes - 1
    record, step = 0, 1.0 / (lattice.p * n)
    for node in range(nodes):
        end = (row.first + node) * lattice.width
        while record < n and row.z[record] <= end:
            x = row.z[record]
            while record < n and row.z[record] == x:
                record += 1
            if record * step + _smooth(x + 0.5, row, lattice) >= level:
                return x
        if record * step + row.smooth[node] >= level:  # it rose since the last record or node
            before = max(end - lattice.width, row.z[record - 1] if record > 0 else -np.inf)
            while end - before > 1.0:
                middle = np.floor(0.5 * (before + end))
                if record * step + _smooth(middle + 0.5, row, lattice) >= level:
                    end = middle
                else:
                    before = middle
            return end
    return (row.first + nodes - 1) * lattice.width


# --- the ends -----------------------------------------------------------------------------------------


@kernel
def _ends(x, t, variance, lattice, question, c, whole, kept, low, high):
    """The points that the test does not exclude, for every probability; whether all ends were found."""
    if c >= 1.0:
        low[:], high[:] = -np.inf, np.inf
        return True
    ratio, served = c / (1.0 - c), True
    for j in range(kept.size):
        q, share = question.q[j], ratio * kept[j]
        binomial = q * (1.0 - q) if whole else 0.0
        k = np.searchsorted(t, q)
        last = k - 1
        while last >= 0 and not _excluded(q - t[last], variance[last], binomial, share, q):
            last -= 1
        served &= last >= 0 or (whole and q <= c)
        low[j] = _edge(x, t, variance, lattice, last, last + 1, q, binomial, share, 1.0)
        first = k
        while first < t.size and not _excluded(t[first] - q, variance[first], binomial, share, 1.0 - q):
            first += 1
        served &= first < t.size or (whole and 1.0 - q <= c)
        high[j] = _edge(x, t, variance, lattice, first, first - 1, q, binomial, share, -1.0)
    return served


@kernel(inline="always")
def _excluded(apart, variance, binomial, share, most):
    """Whether T*, within [0, 1], lies farther from q than its radius."""
    apart = min(apart, most)
    return apart > 0.0 and apart * apart > share * (variance + binomial)


@kernel
def _edge(x, t, variance, lattice, out, inside, q, binomial, share, side):
    """Between an excluded point of T* and its neighbour: where the test begins to exclude."""
    if out < 0 or out >= t.size:
        return np.rint(x[min(max(inside, 0), t.size - 1)]) + (0.0 if lattice.fine or out < 0 else 1.0)
    if not lattice.fine:
        return x[out] + 1.0 if side > 0.0 else x[out]
    if inside < 0 or inside >= t.size:
        return np.rint(x[out])
    beyond = side * (min(max(t[out], 0.0), 1.0) - q) + np.sqrt(share * (variance[out] + binomial))
    within = side * (min(max(t[inside], 0.0), 1.0) - q) + np.sqrt(share * (variance[inside] + binomial))
    along = beyond / (beyond - within) if within > beyond else 1.0
    return np.rint(x[out] + min(max(along, 0.0), 1.0) * (x[inside] - x[out]))


@kernel
def _kept(row, lattice, question, c, whole, q, value, ends):
    """Var T* / Var T about a quantile whose interval has these ends (`inference.rearranged_variance`)."""
    n, p = row.z.size, lattice.p
    binomial = q * (1.0 - q) if whole else 0.0
    originals = (1.0 if whole else 0.0) - (0.0 if lattice.shared_donors else 1.0)
    middle, least = _up_to(row.z, value) / n, np.inf
    for side in range(2):
        end = ends[side]
        variance = _variance(end, _up_to(row.z, end), row, lattice) + binomial
        # records at the lower end itself lie to its right
        share = middle - _up_to(row.z, end - 0.5) / n if side == 0 else _up_to(row.z, end) / n - middle
        rise = np.sqrt(c / (1.0 - c) * variance)
        if rise > 0.0 and variance > 0.0:
            ratio = max(share / (p * p) / rise + originals, 0.0)
            least = min(least, ratio * ratio / (n * variance))
    return 1.0 / np.sqrt(1.0 + question.gain * min(least, n * p * p / question.room))
