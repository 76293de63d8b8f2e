"""Computes where a function with steps reaches values, and its values at points.

The function, T of one sample or of several, rises by `jump` at each record; the smooth rest bends
little, and is known at nodes. Both are bounded from one node to the next, so most cells are
skipped after one evaluation. The others are halved between records until the function deviates
from its chord by less than rounding or, on a grid, until one step is left: no crossing is missed,
apart from excursions below rounding.

Where the function is constant up to rounding and equal to a target, the common bound of its bend
would make halving go on to the end. So after some evaluations the bend of the cell itself is
computed, which is nearly 0 there, and after as many more chords are used as they are. In the
middle of a gap, which is shortened to two reaches, the function is constant: that cell, however
long, is evaluated once.

Cost: O(1) for each node and value. A cell is evaluated once for all targets that it may hold,
usually once between two values, and some 30 times for a target where it does not jump; an
evaluation is some thirty products. Between two values of a cell there are at most
``2 LOOKS (1 + targets)`` evaluations and 64 more.

Quantiles of Theorems 2.2 and 2.3 of Ghatak & Roy (docs/theory.rst, "Crossings").
"""

from typing import NamedTuple

import numpy as np

from condmask._jit import kernel
from condmask.kernels import nodes

MAX_OFF_GRID = 1e-6  # of a step: the distance by which a node may miss a grid point
# evaluations between two values of a cell, for each of its targets and one more, after which the
# bend of the cell is computed; ordinary ones take 40
LOOKS = 64
MIN_WIDTH = 2.0**-52  # of a cell: narrower parts are not halved
MAX_BEHIND = 6.0  # nodes: a step back on a grid that is not coarse
MIN_GAP_NODES = 2.0  # a longer cell is the middle of a gap
BEND_PER_DIFFERENCE = (
    1.9  # maximal bend of the polynomial through ten nodes, per second difference
)


class Steps(NamedTuple):
    """n T on a stretch of a line of nodes, the gaps of which may be shortened.

    Attributes
    ----------
    values, places : ndarray of shape (v,)
        The points at which it may jump, ascending, and their places on the line, in nodes.
    below : ndarray of int64 of shape (v + 1,)
        The number of records before each value, and in all.
    nodes : ndarray of shape (size,)
        The smooth part.
    node, shift : float
        The distance of nodes; and the distance to the right of a point at which the smooth part is
        read.
    jump : float
    bend, reach : float
        The maximal second derivative of one record's smooth part, per node; and the number of
        nodes that it reaches.
    sums : ndarray of shape (2, v or 0)
        Under Laplace noise `exponentials.weighted_sums`, from which the smooth part follows
        between values.
    decay : float
        The decay of these sums.
    whole : bool
        Whether points are whole numbers.
    room : ndarray of shape (10,)
        Working memory.
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
    """Return the first point of a cell that begins at x."""
    return np.ceil(x - MAX_OFF_GRID) if steps.whole else x


@kernel(inline="always")
def point(steps, node, following):
    """Return the point of a node, counted from the nearer value; `following` is the next value on
    the line."""
    before = following - 1
    last = steps.values.size - 1
    if following > last or (
        before >= 0 and node - steps.places[before] <= steps.places[following] - node
    ):
        return steps.values[before] + (node - steps.places[before]) * steps.node - steps.shift
    return steps.values[following] - (steps.places[following] - node) * steps.node - steps.shift


@kernel(inline="always")
def smooth(steps, node, x, at, following):
    """Return the smooth part at a point of the cell that begins at x."""
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
    along = min(max((at - x) / steps.node, -MAX_BEHIND), MIN_GAP_NODES)
    return nodes.value(node + along, steps.nodes, steps.room)


@kernel(inline="always")
def own_bend(steps, node, start, end, following):
    """Return the maximal second derivative of the smooth part between two values of one cell, per
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
    return BEND_PER_DIFFERENCE * most


# `_nrt=False`, here and below: no array is allocated, so numba need not count references, which
# would take two thirds of the time
@kernel(_nrt=False)
def reached(steps, first, last, targets, straight, rearranged, out):
    """For ascending targets, set out[:, k] to the first point between two nodes at which the
    function is at least targets[k].

    If `rearranged`, do so for its values in ascending order: out[:, k] becomes the length of all x
    at which the function is below targets[k]. A stretch continues the one before it: `out` is NaN
    for targets that are not reached yet. `straight` is the tolerated deviation from a chord.

    The two rows of `out` are to be added: places and gaps, and the lengths of cells, which would
    be lost by rounding in one sum far from 0.
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
        gap = end - x > MIN_GAP_NODES * steps.node
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
    """Search one cell; return the number of targets that the function reaches in it: the first
    ones.

    Set out[:, k] to the point at which the function reaches targets[k]; if rearranged, add to it
    the length on which the function is below targets[k].
    """
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
            # far from 0 two points are adjacent numbers before their chord is straight
            least = not left < 0.5 * (left + right) < right or (
                steps.whole and right - left <= 1.0
            )
            least = least or looks > 2 * enough or width < MIN_WIDTH
            arc = 0.125 * bent * min((right - left) / steps.node, 1.0) ** 2
            arc = arc if arc > straight and not least else 0.0
            # targets before `some` are reached at the start, those from `most` on not at all
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
    """Return the length on which a chord is below a level, only at its beginning if not
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
    """Put the values between two nodes and `parts` points a node into x, and the function at these
    and just before these into right and left; return their number.

    Points ascend. If the grid is finer than the nodes and parts is 1, points lie between grid
    steps. parts = 0 gives every node and nothing else, even if nodes are closer than adjacent
    numbers. Other points that coincide appear once.
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
    """Put one of `points`, with `before` values before it and `following` values up to it."""
    x[count] = at
    right[count] = steps.jump * steps.below[following] + smooth(steps, node, begin, at, following)
    left[count] = right[count] - steps.jump * (steps.below[following] - steps.below[before])
    if steps.whole:
        left[count] = steps.jump * steps.below[before]
        left[count] += smooth(steps, node, begin, at - 1.0, before)
