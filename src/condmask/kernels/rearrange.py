"""Computes T*, the monotone rearrangement of T: T* is below v on as long a stretch as T is.

T is taken as linear between ascending points, at which it may jump. Then T* is piecewise linear as
well: the length of the stretch on which T is below v grows with v by the sum of the inverse slopes
of all pieces that contain v. Constant pieces, as those of T on a coarse grid, make it jump. Cost:
that of sorting the values.

See docs/inference.rst, "Rearranging".
"""

import numpy as np

from condmask._jit import kernel

MIN_RISE = 1e-9  # of T: pieces that rise by less count as constant


def rearranged(
    x: np.ndarray, right: np.ndarray, left: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return T*, given values of T.

    Parameters
    ----------
    x : ndarray of shape (points,)
        Ascending; two at least.
    right, left : ndarray of shape (points,)
        T from each point on, and just before it.

    Returns
    -------
    places, values : ndarray
        Ascending points of T*, which is linear in between: it jumps where places are equal, and is
        constant where values are. It begins at x[0] and ends at x[-1].
    """
    value, rate, length = _events(x, right, left)
    places: np.ndarray
    values: np.ndarray
    places, values = _taken(x[0], value, rate, length, np.argsort(value, kind="stable"))
    return places, values


@kernel
def _events(x, right, left):
    """Return the values at which the inverse slope of T* changes, the change, and the length of a
    constant piece at each value."""
    most = 2 * x.size
    count = 0
    value = np.empty(most)
    rate = np.empty(most)
    length = np.empty(most)
    for i in range(x.size - 1):
        low = min(right[i], left[i + 1])
        high = max(right[i], left[i + 1])
        apart = x[i + 1] - x[i]
        if high - low < MIN_RISE:
            value[count] = 0.5 * (low + high)
            rate[count] = 0.0
            length[count] = apart
            count += 1
        else:
            slope = apart / (high - low)
            value[count] = low
            rate[count] = slope
            length[count] = 0.0
            value[count + 1] = high
            rate[count + 1] = -slope
            length[count + 1] = 0.0
            count += 2
    return value[:count], rate[:count], length[:count]


@kernel
def _taken(start, value, rate, length, order):
    """Return places and values of T*, given its events in order."""
    places = np.empty(2 * order.size)
    values = np.empty(2 * order.size)
    at = 0
    place = start
    lost = 0.0
    speed = 0.0
    before = value[order[0]]
    for k in order:
        place, lost = _farther(place, lost, max(speed, 0.0) * (value[k] - before))
        before = value[k]
        speed += rate[k]
        places[at] = place + lost
        values[at] = before
        at += 1
        if length[k] > 0.0:
            place, lost = _farther(place, lost, length[k])
            places[at] = place + lost
            values[at] = before
            at += 1
    return places[:at], values[:at]


@kernel(inline="always")
def _farther(place, lost, length):
    """Return a place moved on by a length, and the sum of all rounding errors (Neumaier): far from
    0, short lengths would be lost."""
    total = place + length
    if abs(place) >= abs(length):
        return total, lost + ((place - total) + length)
    return total, lost + ((length - total) + place)
