"""Quantiles of T, which is not monotone: where it first reaches a probability, or its rearrangement T* does.

T is known at nodes. From one to the next its steps rise by the records between, and the rest bends by no more
than a bound, so that cells which cannot hold what is searched are passed, and others cut until no record lies
in them and they are straight. Of a long line only those stretches are looked at where T can be near a
probability: a stretch of c records, and those within reach, moves T by c times the extremes of K at most.
"""

from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Layer
from condmask.kernels import rearrange

BLOCK = 1 << 10  # nodes of the line that are looked at together, at least
MOST_BLOCKS = 1 << 14
FEW_VALUES = 1 << 12  # which are points at once
PARTS = 16  # of a cell that may hold a probability
IN_CELL = 32  # distinct values, which become points together
MOST_CUT = 64  # cells, for one probability
ROUNDS = 8  # of cutting, for T*
STRAIGHT = 1e-15  # of T, by which the curve may leave its chord
NEARLY = 1e-7  # as much for T*

FEW, MANY = 100, 2_000  # records: where rearranging pays
P_OF_FEW, P_OF_MANY = 0.77, 0.5  # below these p


class Estimated(Protocol):
    """T_1 or T_b."""

    n: int
    counted: Counted
    line: Layer
    most: float  # of K; the least is 1 less that
    jump: float  # of K at 0
    bend: float  # the most of the second derivative of the rest of K, per node
    finest: float  # distance of points

    def nodes(self, low: float, high: float, parts: int) -> np.ndarray:
        """Points between these, so many for each node."""

    def values_and_nodes(self, low: float, high: float, parts: int) -> np.ndarray:
        """The same, and values at which T jumps."""

    def sides(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T at points, and just before."""


class Cells(NamedTuple):
    """What lies between points of T.

    Attributes
    ----------
    low, high : ndarray of shape (cells,)
        Bounds of T.
    first, last : ndarray of shape (cells,)
        Which of the values lie inside.
    bent : ndarray of bool of shape (cells,)
        Whether T may leave its chord.
    """

    low: np.ndarray
    high: np.ndarray
    first: np.ndarray
    last: np.ndarray
    bent: np.ndarray

    @property
    def open(self) -> np.ndarray:
        """Whether there is more to be known."""
        return np.asarray(self.bent | (self.last > self.first))


Points = tuple[np.ndarray, np.ndarray, np.ndarray]


def crossing_of(p: float, n: int) -> str:
    """ "rearranged" or "first", whichever has the smaller error for T of so many records.

    Rearranging takes out the ups and downs of T, of which the first crossing makes a bias. They grow as p and
    n fall, so it pays below a p that falls with log n (docs/inference_distribution.rst, "Rearranging").
    """
    share = min(max(log(MANY / max(n, 1)) / log(MANY / FEW), 0.0), 1.0)
    return "rearranged" if 0.0 < p < P_OF_MANY + share * (P_OF_FEW - P_OF_MANY) else "first"


def stretches(t: Estimated) -> Points:
    """Where stretches of the line begin and the last one ends, and the least and the most of T in each."""
    last = t.line.size - 1.0
    edges = np.append(np.arange(0.0, last, max(BLOCK, last // MOST_BLOCKS)), last)
    ends = np.stack((edges[:-1] - t.line.beyond, edges[1:] + t.line.beyond))
    before, up_to = t.counted.below[np.searchsorted(t.line.place, ends)]
    near = up_to - before
    return edges, (before + near * (1.0 - t.most)) / t.n, (before + near * t.most) / t.n


def near(t: Estimated, q: np.ndarray) -> np.ndarray:
    """Pairs of places on the line between which T may reach one of the ascending probabilities."""
    edges, least, most = stretches(t)
    holds = np.searchsorted(q, least, side="right") < np.searchsorted(q, most, side="right")
    holds[0] = True  # where T reaches what is not above 0
    return np.stack((edges[:-1], edges[1:]), axis=1)[holds]


def points_near(t: Estimated, places: np.ndarray) -> Points:
    """The nodes in some stretches, and few values; T there, and just before."""
    apart = np.flatnonzero(places[1:, 0] > places[:-1, 1])
    starts, ends = places[np.append(0, apart + 1), 0], places[np.append(apart, -1), 1]
    lows, highs = t.line.points(starts).tolist(), t.line.points(ends).tolist()
    points = t.values_and_nodes if t.counted.values.size <= FEW_VALUES else t.nodes
    x = np.concatenate([points(low, high, 1) for low, high in zip(lows, highs, strict=True)])
    return x, *t.sides(x)


def cells_of(t: Estimated, points: Points, straight: float) -> Cells:
    """What lies between points; where they are far apart, T is settled or not wanted."""
    x, right, left = points
    cell, node, values = np.diff(x), t.line.node, t.counted.values
    first, last = np.searchsorted(values, x[:-1], side="right"), np.searchsorted(values, x[1:])
    share = 1.0
    if t.line.size > BLOCK:  # where records are few, T bends by their share
        far = t.line.beyond * node
        within = np.searchsorted(values, x[1:] + far), np.searchsorted(values, x[:-1] - far)
        share = (t.counted.below[within[0]] - t.counted.below[within[1]]) / t.n
    arc = 0.125 * t.bend * share * (cell / node) ** 2
    far_apart = cell > 1.5 * node + 1.0 * (t.finest == 1.0)
    arc[far_apart | (cell <= t.finest) | (arc < straight)] = 0.0
    last = np.where(far_apart | (t.jump == 0.0), first, np.maximum(last, first))
    rise = t.jump * (t.counted.below[last] - t.counted.below[first]) / t.n
    low = np.minimum(right[:-1], left[1:] - rise) - arc
    return Cells(low, np.maximum(right[:-1] + rise, left[1:]) + arc, first, last, arc > 0.0)


def cut(t: Estimated, points: Points, cells: Cells, some: np.ndarray) -> Points:
    """The points, and more of them within some cells: a few values, or equal parts."""
    x, right, left = points
    first, held = cells.first[some], (cells.last - cells.first)[some]
    parted = some[cells.bent[some] | (held > IN_CELL)]
    more = x[parted, None] + np.diff(x)[parted, None] * np.arange(1, PARTS) / PARTS
    few = held <= IN_CELL
    start = np.repeat(first[few] - np.cumsum(held[few]) + held[few], held[few])
    own = t.counted.values[start + np.arange(start.size)]
    more = np.union1d(np.floor(more) if t.finest == 1.0 else more, own)
    more = more[x[np.minimum(np.searchsorted(x, more), x.size - 1)] != more]
    where, sides = np.searchsorted(x, more), t.sides(more)
    return (
        np.insert(x, where, more),
        np.insert(right, where, sides[0]),
        np.insert(left, where, sides[1]),
    )


def first(t: Any, q: np.ndarray) -> np.ndarray:
    """The least points at which T is at least q."""
    points, size = points_near(t, near(t, np.sort(q))), 0
    while True:
        x, right, left = points
        cells = cells_of(t, points, STRAIGHT)
        most = np.maximum.accumulate(np.append(cells.high, np.inf))
        cell = np.searchsorted(most, q)
        unknown = (right[cell] < q) & np.append(cells.open, False)[cell]
        if not unknown.any() or x.size == size:  # or points are as close as numbers
            break
        size = x.size
        # T reaches the probability at a known place, and may before in some cells, which are cut together
        reached = np.searchsorted(np.maximum.accumulate(np.maximum(right[:-1], left[1:])), q[unknown])
        doubtful = [
            start + np.flatnonzero((cells.high[start:stop] >= each) & cells.open[start:stop])[:MOST_CUT]
            for start, stop, each in zip(
                cell[unknown], np.maximum(reached, cell[unknown]) + 1, q[unknown], strict=True
            )
        ]
        points = cut(t, points, cells, np.unique(np.concatenate(doubtful)))
    following = np.minimum(cell + 1, x.size - 1)
    missing, rise = q - right[cell], left[following] - right[cell]
    share = np.where((missing > 0.0) & (rise > 0.0), missing / np.where(rise > 0.0, rise, 1.0), 0.0)
    return np.asarray(x[cell] + np.minimum(share, 1.0) * (x[following] - x[cell]))


def holding(cells: Cells, q: np.ndarray) -> np.ndarray:
    """The cells in which T may reach one of the ascending probabilities at an unknown place."""
    reached = (np.searchsorted(q, bound, side="right") for bound in (cells.low, cells.high))
    return np.flatnonzero(np.less(*reached) & cells.open)


def rearranged(t: Any, q: np.ndarray) -> np.ndarray:
    """The least points at which the monotone rearrangement of T is at least q."""
    ordered = np.sort(q)
    points = points_near(t, near(t, ordered))
    for _ in range(ROUNDS):
        cells = cells_of(t, points, NEARLY)
        held = holding(cells, ordered)
        if held.size == 0:
            break
        points = cut(t, points, cells, held)
    places, values = rearrange.rearranged(*points)
    reached = rearrange.reaching(places, values, q)
    return np.asarray(np.rint(reached) if t.finest == 1.0 else reached)


def monotone(t: Any, x: np.ndarray) -> np.ndarray:
    """The monotone rearrangement of T at points, within [0, 1]."""
    edges, least, most = stretches(t)
    place = np.clip(t.line.places(x), 0.0, edges[-1])
    block = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, least.size - 1)
    low = np.minimum.accumulate(least[::-1])[::-1][block].min()
    high = np.maximum.accumulate(most)[block].max()
    wanted = (most >= low) & (least <= high)
    wanted[[0, -1]] = True
    points = points_near(t, np.stack((edges[:-1], edges[1:]), axis=1)[wanted])
    at = x + 0.5 * (t.finest == 1.0)  # a step of a grid is the stretch to the next
    for _ in range(ROUNDS):
        places, values = rearrange.rearranged(*points)
        known, cells = np.interp(at, places, values), cells_of(t, points, NEARLY)
        held = holding(cells, np.sort(known))
        if held.size == 0:
            break
        points = cut(t, points, cells, held)
    return np.asarray(np.where(x < places[0], 0.0, np.where(x > places[-1], 1.0, np.clip(known, 0.0, 1.0))))
