"""Where a function with steps reaches values, and its values at points: T of one sample or of
many.

It rises by `jump` for each record; the rest bends little, and is known at nodes. From one node to
the next both are bounded, so most cells are passed with one look. The others are halved between
records until the function leaves its chord by less than rounding or, on a grid, until one step is
left: no crossing is missed but excursions below rounding.

Where the function is level at a target but for rounding, the common bound of its bend would have a
cell cut down to the end. So after some looks the bend of the cell itself is worked out, which is
next to nothing there, and after as many more the chords are taken as they are. In the middle of a
gap, which is shortened to two reaches, the function is constant: that cell, however long, is
looked at once.

Cost: O(1) for each node and value. A cell is read once for all targets that it may hold, most
often once between two values, and some 30 times for a target where it does not jump; a look is
some thirty products. Between two values of a cell there are at most ``2 LOOKS (1 + targets)``
looks and 64 more.

Quantiles of Theorems 2.2 and 2.3 (docs/theory.rst, "Crossings").
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels import nodes

ROUNDING = 1e-6  # of a step, by which a node may miss a point of the grid
# between two values of a cell, for each of its targets and one more; an ordinary one takes 40
LOOKS = 64
NARROW = 2.0**-52  # of a cell: no part is cut further
BEHIND = 6.0  # nodes: a step back on a grid that is not coarse
LONG = 2.0  # nodes: a cell that is longer is the middle of a gap
# second differences of nodes, the most by which the polynomial through ten of them bends
BENT = 1.9


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
        The most of the second derivative of one record's smooth part, per node; how many nodes it
        reaches.
    sums : ndarray of shape (2, v or 0)
        Under Laplace noise `exponentials.weighted_sums`, of which the smooth part is made between
        values.
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
    before = following - 1
    last = steps.values.size - 1
    if following > last or (
        before >= 0 and node - steps.places[before] <= steps.places[following] - node
    ):
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
    # where nodes are closer than neighbouring numbers
    along = min(max((at - x) / steps.node, -BEHIND), LONG)
    return nodes.value(node + along, steps.nodes, steps.room)


@kernel(inline="always")
def own_bend(steps, node, start, end, following):
    """The most of the second derivative of the smooth part between two values of one cell, per
    node."""
    if steps.sums.shape[1]:
        left = right = 0.0
        if following > 0:
            apart = steps.values[following - 1] - start - steps.shift
            left = steps.sums[0, following - 1] * np.exp(apart / steps.decay)
        if following < steps.values.size:
            apart = end + steps.shift - steps.values[following]
            right = steps.sums[1, following] * np.exp(apart / steps.decay)
        return 0.5 * abs(1.0 - steps.jump) * max(left, right) * (steps.node / steps.decay) ** 2
    most = 0.0
    for k in range(node - nodes.LEFT, node - nodes.LEFT + nodes.POINTS - 2):
        most = max(most, abs(steps.nodes[k] - 2.0 * steps.nodes[k + 1] + steps.nodes[k + 2]))
    return BENT * most


# `_nrt=False`, here and below: no array is made, and so none need be counted as used, which numba
# would do at each look, for two thirds of the time
@kernel(_nrt=False)
def reached(steps, first, last, targets, straight, rearranged, out):
    """out[k]: where the function first reaches targets[k], which ascend, between two nodes.

    Or, `rearranged`, where its values in ascending order do: the length of all x counts at which
    it is below. A stretch goes on where the one before it ended: `out` is NaN where nothing is
    reached yet. `straight` is by how much a chord may be left.

    `out` has two rows to be added up: places and gaps, and the lengths of cells, which far from 0
    would be lost in a sum with them.
    """
    known = np.searchsorted(out[0], np.inf, side="right")
    place = np.searchsorted(steps.places, first, side="right")
    near = before = np.searchsorted(steps.places, first - steps.reach)
    x = point(steps, first, place)
    value = np.searchsorted(steps.values, x)
    for node in range(first, last):
        while place < steps.places.size and steps.places[place] <= node + 1:
            place += 1
        end = point(steps, node + 1, place)
        following = value
        while following < steps.values.size and steps.values[following] < end:
            following += 1
        while before < steps.places.size and steps.places[before] < node - steps.reach:
            before += 1
        while near < steps.places.size and steps.places[near] <= node + 1 + steps.reach:
            near += 1
        bend = steps.bend * (steps.below[near] - steps.below[before])
        gap = end - x > LONG * steps.node
        bend = 0.0 if gap else bend
        rest = (
            min(steps.nodes[node], steps.nodes[node + 1]),
            max(steps.nodes[node], steps.nodes[node + 1]),
        )
        low = steps.jump * steps.below[value] + rest[0] - 0.125 * bend
        high = steps.jump * steps.below[following] + rest[1] + 0.125 * bend
        cell = _edge(steps, x), _edge(steps, end)
        if cell[0] < cell[1]:
            some = np.searchsorted(targets, low, side="right")
            most = np.searchsorted(targets, high, side="right")
            row = 0 if gap else 1
            for k in range(most, known if rearranged else 0):
                out[row, k] += cell[1] - cell[0]
            begun = max(known, most if rearranged else some)
            out[0, known:begun] = cell[0]
            out[1, known:begun] = 0.0
            known = begun
            some = some if rearranged else begun
            inside = targets[some:most], out[:, some:most]
            known += _within(steps, node, x, cell, gap, value, bend, *inside, straight, rearranged)
        x = end
        value = following


@kernel(_nrt=False)
def _within(steps, node, x, cell, gap, value, bend, targets, out, straight, rearranged):
    """Add to each out[:, k] the length of a cell on which the function is below targets[k]; if not
    rearranged, set it to where the function reaches targets[k], and return how many it reaches:
    the first."""
    start = cell[0]
    first = 0
    every = targets.size
    row = 0 if gap else 1
    farthest = cell[0] if gap else x + steps.node
    enough = LOOKS * (every + 1)
    while start < cell[1] and first < every:
        end = cell[1]
        if steps.jump > 0.0 and value < steps.values.size and steps.values[value] < end:
            end = steps.values[value]
            if end <= start:
                value += 1
                continue
        jumps = steps.jump * steps.below[value]
        left = start
        at_left = smooth(steps, node, x, start, value)
        done = 0
        width = 1.0  # `done` intervals of this width lie to the left
        looks = 0
        bent = bend
        while done * width < 1.0:
            right = start + (done + 1) * width * (end - start) if (done + 1) * width < 1.0 else end
            right = np.floor(right) if steps.whole else right
            at_right = smooth(steps, node, x, min(right, farthest), value)
            looks += 1
            if looks == enough:
                bent = min(bend, own_bend(steps, node, start, end, value))
            # far from 0 two points are neighbours before their chord is straight
            least = not left < 0.5 * (left + right) < right or (
                steps.whole and right - left <= 1.0
            )
            least = least or looks > 2 * enough or width < NARROW
            arc = 0.125 * bent * min((right - left) / steps.node, 1.0) ** 2
            arc = arc if arc > straight and not least else 0.0
            # targets before `some` are reached at once, those from `most` on are not
            low = jumps + min(at_left, at_right) - arc
            high = jumps + max(at_left, at_right) + arc
            some = max(first, np.searchsorted(targets, low, side="right"))
            most = max(first, np.searchsorted(targets, high, side="right"))
            if some < most and not least and (steps.whole or arc > 0.0):
                done = 2 * done
                width = 0.5 * width
                continue
            if rearranged:
                for k in range(most, every):
                    out[row, k] += right - left
            else:
                out[0, first:some] = left
                out[1, first:some] = 0.0
                first = some
            for k in range(some, most):
                part = _below(
                    at_left, at_right, targets[k] - jumps, right - left, steps.whole, rearranged
                )
                if rearranged:
                    out[row, k] += part
                elif part < right - left:
                    out[0, k] = left + part
                    out[1, k] = 0.0
                    first = k + 1
            done = done + 1
            left = right
            at_left = at_right
            while done & 1 == 0:
                done = done >> 1
                width = 2.0 * width
        start = end
    return first


@kernel(inline="always")
def _below(at_left, at_right, level, length, whole, rearranged):
    """On which length a chord is below a level within it, at its beginning alone if not
    rearranged."""
    falls = at_left >= level
    if falls and (not rearranged or (whole and length <= 1.0)):
        return 0.0
    if whole and length <= 1.0:
        return length
    along = (level - at_left) / (at_right - at_left)
    part = length * (1.0 - along if falls else along)
    return max(np.ceil(part) - falls, 0.0) if whole else part


@kernel(_nrt=False)
def points(steps, first, last, parts, x, right, left):
    """The values between two nodes, and so many points a node; the function there, and just
    before.

    They go to the front of three arrays, ascending; returns how many. Where the grid is finer than
    nodes, single points a node lie between its steps; 0 parts are the nodes alone, each of them,
    even where they are closer than neighbouring numbers. Other points that coincide appear once.
    """
    jumps = steps.jump > 0.0 and parts > 0
    finer = steps.node > 1.0 or not steps.whole
    nodes_alone = parts == 0
    bare = nodes_alone or (parts == 1 and finer)
    parts = max(parts, 1)
    count = 0
    node = float(first)
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
                _put(
                    steps,
                    node,
                    begin,
                    steps.values[value],
                    value,
                    value + 1,
                    count,
                    x,
                    right,
                    left,
                )
                count += 1
            value += 1
        node = fine / parts
        begin = following
        if inside and (nodes_alone or count == 0 or x[count - 1] < at):
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
