"""Where a function with steps reaches values, and its values at points: T of one sample or of many.

It rises by `jump` for each record; the rest bends little, and is known at nodes. From one node to the next
both are bounded, so most cells are passed with one look. The others are halved between records until the
function leaves its chord by less than rounding or, on a grid, until one step is left: no crossing is missed
but excursions below rounding.

Cost: O(1) for each node and value, and some ten products for each of some 30 looks at a cell that holds a
target.

Quantiles of Theorems 2.2 and 2.3 (docs/theory.rst, "Crossings").
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels import nodes
from condmask.kernels.nodes import POINTS

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


@kernel
def smooth(steps, node, x, at, following, share):
    """The smooth part at a point, x where its cell begins; `share` is room for ten numbers."""
    if steps.sums.shape[1]:
        left = right = 0.0
        if following > 0:
            apart = steps.values[following - 1] - at - steps.shift
            left = steps.sums[0, following - 1] * np.exp(apart / steps.decay)
        if following < steps.values.size:
            apart = at + steps.shift - steps.values[following]
            right = steps.sums[1, following] * np.exp(apart / steps.decay)
        return (1.0 - steps.jump) * (steps.below[following] + 0.5 * (right - left))
    return nodes.value(node + (at - x) / steps.node, steps.nodes, share)


@kernel
def reached(steps, first, last, targets, straight, rearranged, out):
    """out[k]: where the function first reaches targets[k], which ascend, between two nodes.

    Or, `rearranged`, where its values in ascending order do: the length of all x counts at which it is below.
    A stretch goes on where the one before it ended: `out` is NaN where nothing is reached yet. `straight` is
    by how much a chord may be left.
    """
    share, known = np.empty(POINTS), targets.size - np.sum(np.isnan(out))
    place = np.searchsorted(steps.places, first, side="right")
    value = np.searchsorted(steps.places, first - 1.0 - steps.shift / steps.node)
    near = before = np.searchsorted(steps.places, first - steps.reach)
    x = point(steps, first, place)
    while value < steps.values.size and steps.values[value] < x:
        value += 1
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
        for k in range(known if rearranged and cell[0] < cell[1] else 0):
            if targets[k] > high:
                out[k] += cell[1] - cell[0]
            elif targets[k] > low:
                out[k] += _within(steps, node, x, cell, value, bend, targets[k], straight, True, share)
        while cell[0] < cell[1] and known < targets.size and targets[known] <= high:
            start, target = cell[0], targets[known]
            if target > low:
                start += _within(steps, node, x, cell, value, bend, target, straight, rearranged, share)
            if start == np.inf:
                break
            out[known] = start
            known += 1
        x, value = end, following


@kernel
def _within(steps, node, x, cell, value, bend, target, straight, rearranged, share):
    """The length of a cell on which the function is below a target; or else that before it is not, inf if it
    always is."""
    start, total = cell[0], 0.0
    while start < cell[1]:
        end = cell[1]
        if steps.jump > 0.0 and value < steps.values.size and steps.values[value] < end:
            end = steps.values[value]
            if end <= start:
                value += 1
                continue
        level = target - steps.jump * steps.below[value]
        left, at_left = start, smooth(steps, node, x, start, value, share)
        done, width = 0, 1.0  # `done` intervals of this width lie to the left
        while done * width < 1.0:
            right = start + (done + 1) * width * (end - start) if (done + 1) * width < 1.0 else end
            right = np.floor(right) if steps.whole else right
            at_right = smooth(steps, node, x, min(right, x + steps.node), value, share)
            arc = 0.125 * bend * min((right - left) / steps.node, 1.0) ** 2
            arc = arc if arc > straight else 0.0
            below = max(at_left, at_right) + arc < level
            above = min(at_left, at_right) - arc >= level
            # far from 0 two points are neighbours before their chord is straight
            single = arc == 0.0 or not left < 0.5 * (left + right) < right
            if steps.whole:
                single = right - left <= 1.0
            if not (below or above or single):
                done, width = 2 * done, 0.5 * width
                continue
            part = right - left
            if above or (at_left >= level and (steps.whole or not rearranged)):
                part = 0.0
            elif not (below or steps.whole):
                along = (level - at_left) / (at_right - at_left)
                part *= along if at_left < level else 1.0 - along
            if not rearranged and part < right - left:
                return left + part - cell[0]
            total += part
            done, left, at_left = done + 1, right, at_right
            while done & 1 == 0:
                done, width = done >> 1, 2.0 * width
        start = end
    return total if rearranged else np.inf


@kernel
def points(steps, first, last, parts, x, right, left):
    """The values between two nodes, and so many points a node; the function there, and just before.

    They go to the front of three arrays, ascending; returns how many. Where the grid is finer than nodes,
    single points a node lie between its steps; 0 parts are the nodes alone.
    """
    jumps, finer = steps.jump > 0.0 and parts > 0, steps.node > 1.0 or not steps.whole
    bare = parts == 0 or (parts == 1 and finer)
    parts = max(parts, 1)
    share, count, node = np.empty(POINTS), 0, float(first)
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
                _put(steps, node, begin, steps.values[value], value, value + 1, share, count, x, right, left)
                count += 1
            value += 1
        node, begin = fine / parts, following
        if inside and (count == 0 or x[count - 1] < at):
            if bare:
                x[count] = at
                right[count] = left[count] = steps.jump * steps.below[value] + steps.nodes[fine]
            else:
                _put(steps, node, begin, at, value, value, share, count, x, right, left)
            count += 1
    return count


@kernel(inline="always")
def _put(steps, node, begin, at, before, following, share, count, x, right, left):
    """One of `points`, with so many values before it and up to it."""
    x[count] = at
    right[count] = steps.jump * steps.below[following] + smooth(steps, node, begin, at, following, share)
    left[count] = right[count] - steps.jump * (steps.below[following] - steps.below[before])
    if steps.whole:
        left[count] = steps.jump * steps.below[before]
        left[count] += smooth(steps, node, begin, at - 1.0, before, share)
