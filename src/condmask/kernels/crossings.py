"""Where a function with steps reaches values, and its values at points: T of one sample or of many.

It rises by `jump` for each record; the rest bends little, and is known at nodes. From one node to the next
both are bounded, so most cells are passed with one look. The others are halved between records until the
function leaves its chord by less than rounding or, on a grid, until one step is left: no crossing is missed
but excursions below rounding.

Cost: O(1) for each node and value. A cell is read once for all targets that it may hold, most often once
between two values, and some 30 times for a target where it does not jump; a look is some thirty products.

Quantiles of Theorems 2.2 and 2.3 (docs/theory.rst, "Crossings").
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels import nodes

ROUNDING = 1e-6  # of a step, by which a node may miss a point of the grid


class Steps(NamedTuple):
    """n T on a stretch of a line of nodes, the gaps of which may be shortened.

    Attributes
    ----------
    values, places : ndarray of shape (v,)
        Where it may jump, ascending, and where that is on the line, in nodes.
    below : ndarray of int64 of shape (v + 1,)
        The number of records before each value, and in all.
    nodes : ndarray of shape (size,)
        The smooth part.
    node, shift : float
        The distance of nodes; and how far to the right of a point the smooth part is read.
    jump : float
    bend, reach : float
        The most of the second derivative of one record's smooth part, per node; how many nodes it reaches.
    sums : ndarray of shape (2, v or 0)
        Under Laplace noise `exponentials.weighted_sums`, of which the smooth part is made between values.
    decay : float
        Of these.
    whole : bool
        Whether points are whole numbers.
    room : ndarray of shape (10,)
        To work in.
    """

    values: np.ndarray
    places: np.ndarray
    below: np.ndarray
    nodes: np.ndarray
    node: float
    shift: float
    jump: float
    bend: float
    reach: float
    sums: np.ndarray
    decay: float
    whole: bool
    room: np.ndarray


@kernel(inline="always")
def _edge(steps, x):
    """The first point of a cell that begins at x."""
    return np.ceil(x - ROUNDING) if steps.whole else x


@kernel(inline="always")
def point(steps, node, following):
    """Where a node is, `following` the next value on the line, as seen from the nearer value."""
    before, last = following - 1, steps.values.size - 1
    if following > last or (before >= 0 and node - steps.places[before] <= steps.places[following] - node):
        return steps.values[before] + (node - steps.places[before]) * steps.node - steps.shift
    return steps.values[following] - (steps.places[following] - node) * steps.node - steps.shift


@kernel(inline="always")
def smooth(steps, node, x, at, following):
    """The smooth part at a point, x where its cell begins."""
    if steps.sums.shape[1]:
        left = right = 0.0
        if following > 0:
            apart = steps.values[following - 1] - at - steps.shift
            left = steps.sums[0, following - 1] * np.exp(apart / steps.decay)
        if following < steps.values.size:
            apart = at + steps.shift - steps.values[following]
            right = steps.sums[1, following] * np.exp(apart / steps.decay)
        return (1.0 - steps.jump) * (steps.below[following] + 0.5 * (right - left))
    return nodes.value(node + (at - x) / steps.node, steps.nodes, steps.room)


# `_nrt=False`, here and below: no array is made, and so none need be counted as used, which numba would do at
# each look, for two thirds of the time
@kernel(_nrt=False)
def reached(steps, first, last, targets, straight, rearranged, out):
    """out[k]: where the function first reaches targets[k], which ascend, between two nodes.

    Or, `rearranged`, where its values in ascending order do: the length of all x counts at which it is below.
    A stretch goes on where the one before it ended: `out` is NaN where nothing is reached yet. `straight` is
    by how much a chord may be left.
    """
    known = np.searchsorted(out, np.inf, side="right")
    place = np.searchsorted(steps.places, first, side="right")
    near = before = np.searchsorted(steps.places, first - steps.reach)
    x = point(steps, first, place)
    value = np.searchsorted(steps.values, x)
    for node in range(first, last):
        while place < steps.places.size and steps.places[place] <= node + 1:
            place += 1
        end, following = point(steps, node + 1, place), value
        while following < steps.values.size and steps.values[following] < end:
            following += 1
        while before < steps.places.size and steps.places[before] < node - steps.reach:
            before += 1
        while near < steps.places.size and steps.places[near] <= node + 1 + steps.reach:
            near += 1
        bend = steps.bend * (steps.below[near] - steps.below[before])
        rest = min(steps.nodes[node], steps.nodes[node + 1]), max(steps.nodes[node], steps.nodes[node + 1])
        low = steps.jump * steps.below[value] + rest[0] - 0.125 * bend
        high = steps.jump * steps.below[following] + rest[1] + 0.125 * bend
        cell = _edge(steps, x), _edge(steps, end)
        if cell[0] < cell[1]:
            some = np.searchsorted(targets, low, side="right")
            most = np.searchsorted(targets, high, side="right")
            for k in range(most, known if rearranged else 0):
                out[k] += cell[1] - cell[0]
            begun = max(known, most if rearranged else some)
            out[known:begun] = cell[0]
            known, some = begun, some if rearranged else begun
            inside = targets[some:most], out[some:most]
            known += _within(steps, node, x, cell, value, bend, *inside, straight, rearranged)
        x, value = end, following


@kernel(_nrt=False)
def _within(steps, node, x, cell, value, bend, targets, out, straight, rearranged):
    """Add to each out[k] the length of a cell on which the function is below targets[k]; if not rearranged,
    set it to where the function reaches targets[k], and return how many it reaches: the first ones."""
    start, first, every = cell[0], 0, targets.size
    while start < cell[1] and first < every:
        end = cell[1]
        if steps.jump > 0.0 and value < steps.values.size and steps.values[value] < end:
            end = steps.values[value]
            if end <= start:
                value += 1
                continue
        jumps, left = steps.jump * steps.below[value], start
        at_left = smooth(steps, node, x, start, value)
        done, width = 0, 1.0  # `done` intervals of this width lie to the left
        while done * width < 1.0:
            right = start + (done + 1) * width * (end - start) if (done + 1) * width < 1.0 else end
            right = np.floor(right) if steps.whole else right
            at_right = smooth(steps, node, x, min(right, x + steps.node), value)
            arc = 0.125 * bend * min((right - left) / steps.node, 1.0) ** 2
            arc = arc if arc > straight else 0.0
            # targets before `some` are reached at once, those from `most` on are not
            low, high = jumps + min(at_left, at_right) - arc, jumps + max(at_left, at_right) + arc
            some = max(first, np.searchsorted(targets, low, side="right"))
            most = max(first, np.searchsorted(targets, high, side="right"))
            # far from 0 two points are neighbours before their chord is straight
            single = arc == 0.0 or not left < 0.5 * (left + right) < right
            if some < most and not (right - left <= 1.0 if steps.whole else single):
                done, width = 2 * done, 0.5 * width
                continue
            if rearranged:
                for k in range(most, every):
                    out[k] += right - left
            else:
                out[first:some] = left
                first = some
            for k in range(some, most):
                level, part = targets[k] - jumps, right - left
                if at_left >= level and (steps.whole or not rearranged):
                    part = 0.0
                elif not steps.whole:
                    along = (level - at_left) / (at_right - at_left)
                    part *= along if at_left < level else 1.0 - along
                if rearranged:
                    out[k] += part
                elif part < right - left:
                    out[k], first = left + part, k + 1
            done, left, at_left = done + 1, right, at_right
            while done & 1 == 0:
                done, width = done >> 1, 2.0 * width
        start = end
    return first


@kernel(_nrt=False)
def points(steps, first, last, parts, x, right, left):
    """The values between two nodes, and so many points a node; the function there, and just before.

    They go to the front of three arrays, ascending; returns how many. Where the grid is finer than nodes,
    single points a node lie between its steps; 0 parts are the nodes alone.
    """
    jumps, finer = steps.jump > 0.0 and parts > 0, steps.node > 1.0 or not steps.whole
    bare = parts == 0 or (parts == 1 and finer)
    parts = max(parts, 1)
    count, node = 0, float(first)
    place = np.searchsorted(steps.places, first, side="right")
    value = np.searchsorted(steps.places, first - 1.0 - steps.shift / steps.node)
    begin = point(steps, node, place)
    for fine in range(first * parts, last * parts + 1):
        while place < steps.places.size and steps.places[place] <= fine / parts:
            place += 1
        following = point(steps, fine / parts, place)
        at = following if bare else _edge(steps, following)
        inside = at - following < steps.node / parts
        at = at if inside else following
        while value < steps.values.size and steps.values[value] <= at:
            if jumps and steps.values[value] >= begin:
                _put(steps, node, begin, steps.values[value], value, value + 1, count, x, right, left)
                count += 1
            value += 1
        node, begin = fine / parts, following
        if inside and (count == 0 or x[count - 1] < at):
            if bare:
                x[count] = at
                right[count] = left[count] = steps.jump * steps.below[value] + steps.nodes[fine]
            else:
                _put(steps, node, begin, at, value, value, count, x, right, left)
            count += 1
    return count


@kernel(inline="always")
def _put(steps, node, begin, at, before, following, count, x, right, left):
    """One of `points`, with so many values before it and up to it."""
    x[count] = at
    right[count] = steps.jump * steps.below[following] + smooth(steps, node, begin, at, following)
    left[count] = right[count] - steps.jump * (steps.below[following] - steps.below[before])
    if steps.whole:
        left[count] = steps.jump * steps.below[before]
        left[count] += smooth(steps, node, begin, at - 1.0, before)
