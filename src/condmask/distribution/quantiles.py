"""Quantiles of T, which is not monotone: where it first reaches a probability, or its rearrangement T* does.

T is known at its points, values and nodes, and bends by no more than a bound between them, so that cells
which cannot hold what is searched are passed, and others cut until they are straight. Of a long line only
those stretches are looked at where T can be near a probability: a stretch of c records, and those within
reach, moves T by c times the extremes of K at most.
"""

from math import log
from typing import Any, Protocol

import numpy as np

from condmask.distribution.counting import Counted
from condmask.distribution.layer import Layer
from condmask.kernels import rearrange

BLOCK = 1 << 10  # nodes of the line that are looked at together, at least
MOST_BLOCKS = 1 << 14
PARTS = 16  # of a cell that may hold a probability
ROUNDS = 2  # of cutting, before what is left of a cell is straight enough for T*
STRAIGHT = 1e-15  # of T, by which the curve may leave its chord
NEARLY = 1e-9  # as much for T*

FEW, MANY = 100, 2_000  # records: where rearranging pays
P_OF_FEW, P_OF_MANY = 0.77, 0.5  # below these p


class Estimated(Protocol):
    """T_1 or T_b."""

    n: int
    counted: Counted
    line: Layer
    most: float  # of K; the least is 1 less that
    bend: float  # the most of the second derivative between points
    finest: float  # distance of points

    def points(self, low: float, high: float, parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, T there, and just before."""

    def sides(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T at points, and just before."""


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


def points_near(t: Estimated, places: np.ndarray, parts: int = 1) -> Points:
    """The points of T in some stretches."""
    cut = np.flatnonzero(places[1:, 0] > places[:-1, 1])
    starts, ends = places[np.append(0, cut + 1), 0], places[np.append(cut, -1), 1]
    lows, highs = t.line.points(starts).tolist(), t.line.points(ends).tolist()
    found = [t.points(low, high, parts) for low, high in zip(lows, highs, strict=True)]
    x, right, left = (np.concatenate(column) for column in zip(*found, strict=True))
    return x, right, left


def arcs(t: Estimated, x: np.ndarray, straight: float) -> np.ndarray:
    """By how much T may leave its chord in each cell; where cells are long, it is settled or not wanted."""
    cell = np.diff(x)
    arc = 0.125 * t.bend * cell * cell
    arc[(cell > 1.5 * t.line.node + 1.0 * (t.finest == 1.0)) | (cell <= t.finest) | (arc < straight)] = 0.0
    return arc


def cut(t: Estimated, points: Points, cells: np.ndarray) -> Points:
    """The points, and more of them within some cells."""
    x, right, left = points
    more = x[cells, None] + np.diff(x)[cells, None] * np.arange(1, PARTS) / PARTS
    more = np.setdiff1d(np.floor(more) if t.finest == 1.0 else more, x)
    where = np.searchsorted(x, more)
    sides = t.sides(more)
    return (
        np.insert(x, where, more),
        np.insert(right, where, sides[0]),
        np.insert(left, where, sides[1]),
    )


def first(t: Any, q: np.ndarray) -> np.ndarray:
    """The least points at which T is at least q."""
    points = points_near(t, near(t, np.sort(q)))
    while True:
        x, right, left = points
        arc = arcs(t, x, STRAIGHT)
        most = np.append(np.maximum(right[:-1], left[1:]) + arc, np.inf)
        cell = np.minimum(np.searchsorted(np.maximum.accumulate(most), q), x.size - 1)
        bent = (right[cell] < q) & (np.append(arc, 0.0)[cell] > 0.0)
        if not bent.any():
            break
        points = cut(t, points, np.unique(cell[bent]))
    following = np.minimum(cell + 1, x.size - 1)
    rise = np.where(right[cell] < q, left[following] - right[cell], 1.0)
    share = np.where(right[cell] < q, (q - right[cell]) / np.where(rise > 0.0, rise, 1.0), 0.0)
    return np.asarray(x[cell] + share * (x[following] - x[cell]))


def rearranged(t: Any, q: np.ndarray) -> np.ndarray:
    """The least points at which the monotone rearrangement of T is at least q."""
    ordered = np.sort(q)
    points = points_near(t, near(t, ordered))
    for _ in range(ROUNDS):
        points = cut(t, points, holding(t, points, ordered))
    places, values = rearrange.rearranged(*points)
    reached = rearrange.reaching(places, values, q)
    return np.asarray(np.rint(reached) if t.finest == 1.0 else reached)


def holding(t: Estimated, points: Points, q: np.ndarray) -> np.ndarray:
    """The cells, not straight, that may hold one of the ascending probabilities."""
    x, right, left = points
    arc, ends = arcs(t, x, NEARLY), (right[:-1], left[1:])
    low, high = np.minimum(*ends) - arc, np.maximum(*ends) + arc
    return np.flatnonzero((np.searchsorted(q, low) < np.searchsorted(q, high, side="right")) & (arc > 0.0))


def monotone(t: Any, x: np.ndarray) -> np.ndarray:
    """The monotone rearrangement of T at points, within [0, 1]."""
    edges, least, most = stretches(t)
    place = np.clip(t.line.places(x), 0.0, edges[-1])
    block = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, least.size - 1)
    low = np.minimum.accumulate(least[::-1])[::-1][block].min()
    high = np.maximum.accumulate(most)[block].max()
    holds = (most >= low) & (least <= high)
    holds[[0, -1]] = True
    points = points_near(t, np.stack((edges[:-1], edges[1:]), axis=1)[holds])
    at = x + 0.5 * (t.finest == 1.0)  # a step of a grid is the stretch to the next
    for more in range(ROUNDS + 1):
        places, values = rearrange.rearranged(*points)
        known = np.interp(at, places, values)
        if more < ROUNDS:
            points = cut(t, points, holding(t, points, np.sort(known)))
    return np.asarray(np.where(x < places[0], 0.0, np.where(x > places[-1], 1.0, np.clip(known, 0.0, 1.0))))
