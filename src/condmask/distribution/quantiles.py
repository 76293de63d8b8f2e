"""Quantiles of T, which is not monotone: the first point at which T, or its monotone rearrangement
T*, reaches a probability.

T is known at nodes. From one node to the next it steps up by the records between them, and its
smooth part bends by no more than a bound. So cells that cannot hold a crossing are passed, and the
others are cut until no record lies in them and they are straight. On a long line only those blocks
are searched in which T can be near a probability: c records, in a block or within reach of it,
move T by c/n times the extremes of K at most.

Quantiles of Theorems 2.2 and 2.3 (docs/theory.rst, "Crossings").
"""

from collections.abc import Iterator
from itertools import pairwise
from math import log

import numpy as np

from condmask.distribution.curve import Curve
from condmask.kernels import crossings, rearrange
from condmask.kernels.nodes import POINTS

BLOCK_NODES = 1 << 10  # nodes that have common bounds of T
MAX_SAG = 1e-15  # distance of T from its chord that counts as none
MAX_SAG_OF_T_STAR = 5e-9  # as much for T*
MAX_SAG_OF_WEIGHTS = 5e-11  # and in units of the bound of K

# rearranging pays below a p that falls from the first to the second as n grows
SMALL_SAMPLE = 100
LARGE_SAMPLE = 2_000
MAX_P_OF_SMALL_SAMPLE = 0.77
MAX_P_OF_LARGE_SAMPLE = 0.5

Points = tuple[np.ndarray, np.ndarray, np.ndarray]  # ascending x, T at x, and T just before x


def crossing_of(p: float, n: int) -> str:
    """Return "rearranged" or "first", whichever quantile has the smaller error with n records.

    The first crossing is biased by the ups and downs of T, which rearranging takes out. They grow
    as p and n fall, so it pays below a p that falls with log n (docs/inference.rst,
    "Rearranging").
    """
    share = min(max(log(LARGE_SAMPLE / n) / log(LARGE_SAMPLE / SMALL_SAMPLE), 0.0), 1.0)
    max_p = MAX_P_OF_LARGE_SAMPLE + share * (MAX_P_OF_SMALL_SAMPLE - MAX_P_OF_LARGE_SAMPLE)
    return "rearranged" if 0.0 < p < max_p else "first"


def blocks_of_line(t: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut the line into blocks and bound T in each.

    Returns
    -------
    edges : ndarray of shape (blocks + 1,)
        Nodes at which blocks begin, and the last one ends.
    low, high : ndarray of shape (blocks,)
        Bounds of T in each block.
    """
    last = t.line.size - 1.0
    edges = np.append(np.arange(0.0, last, BLOCK_NODES), last)
    ends = np.stack((edges[:-1] - t.line.beyond, edges[1:] + t.line.beyond))
    before, up_to = t.counted.below[np.searchsorted(t.line.place, ends)]
    near = up_to - before
    return (
        edges,
        (before + near * (1.0 - t.max_weight)) / t.n,
        (before + near * t.max_weight) / t.n,
    )


def runs(t: Curve, q: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Split the line into runs of blocks, by whether T can reach any of the ascending q there.

    Yields the first and the last node of each run, and inf; or, where T reaches no q, its upper
    bound in the first block of the run.
    """
    edges, least, most = blocks_of_line(t)
    holds = np.searchsorted(q, least) < np.searchsorted(q, most, side="right")
    holds[0] = True  # T reaches a q up to 0 at its first node
    cuts = [0, *(np.flatnonzero(np.diff(holds)) + 1).tolist(), holds.size]
    for start, stop in pairwise(cuts):
        yield int(edges[start]), int(edges[stop]), np.inf if holds[start] else float(most[start])


def by_stretch(t: Curve, first: int, last: int) -> Iterator[tuple[crossings.Steps, int, int]]:
    """Yield T on each stretch of the line between two nodes, and the first and last of these
    nodes as numbered within the stretch."""
    line = t.line
    counted = t.counted
    length = t.line.length
    for k in range(first // length, (last - 1) // length + 1):
        around = line.around(k)
        begin = k * length - POINTS
        steps = crossings.Steps(
            counted.values[around],
            line.place[around] - begin,
            counted.below[around.start : around.stop + 1],
            t.smooth(k),
            line.node,
            t.shift,
            t.jump,
            t.bend,
            line.beyond,
            t.sums[:, around],
            t.decay,
            t.whole,
            np.empty(POINTS),
        )
        yield steps, max(first, k * length) - begin, min(last, (k + 1) * length) - begin


def reached(t: Curve, q: np.ndarray, *, rearranged: bool) -> np.ndarray:
    """Return the least points at which T, or its monotone rearrangement, is at least q.

    Points are in the units of the values, of the shape of q: (probabilities,).
    """
    order = np.argsort(q)
    straight = t.n * (MAX_SAG_OF_T_STAR if rearranged else MAX_SAG)
    targets = q[order] * t.n
    found = np.full((2, q.size), np.nan)
    for first, last, most in runs(t, q[order]):
        if most == np.inf:
            for steps, start, stop in by_stretch(t, first, last):
                crossings.reached(steps, start, stop, targets, straight, rearranged, found)
        elif rearranged:
            ends = t.line.points(np.array([first, last])) - t.shift
            ends = np.ceil(ends - crossings.MAX_OFF_GRID) if t.whole else ends
            found[0, targets > t.n * most] += ends[1] - ends[0]
    places: np.ndarray = found.sum(axis=0)
    places[np.isnan(places)] = t.line.points(np.array([t.line.size - 1.0]))
    places[order] = places.copy()
    return places


def points(t: Curve, first: int, last: int, parts: int) -> Points:
    """Return the values between two nodes of the line and `parts` points a node, and T there."""
    pieces = []
    for steps, start, stop in by_stretch(t, first, last):
        most = (stop - start) * max(parts, 1) + 1 + steps.values.size
        room = np.empty((3, most))
        count = crossings.points(steps, start, stop, parts, *room)
        pieces.append(room[:, :count])
    x, right, left = np.concatenate(pieces, axis=1)
    return x, right / t.n, left / t.n


def monotone(t: Curve, x: np.ndarray) -> np.ndarray:
    """Return the monotone rearrangement of T at points, within [0, 1]."""
    edges, least, most = blocks_of_line(t)
    place = np.clip(t.line.places(x), 0.0, edges[-1])
    block = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, least.size - 1)
    low = least[block.min() :].min()
    high = most[: block.max() + 1].max()
    wanted = (most >= low) & (least <= high)
    wanted[[0, -1]] = True
    # the share of the records that lie in a block or within reach of it
    share = (most - least) / (2.0 * t.max_weight - 1.0)
    sag = max(MAX_SAG_OF_T_STAR, MAX_SAG_OF_WEIGHTS * t.max_weight)
    parts = np.sqrt(0.125 * t.bend * share / sag)
    # on a grid no more points than steps
    parts = np.clip(parts, 1.0, t.line.node if t.whole else np.inf)
    looked_at = np.array([edges[:-1], edges[1:], np.ceil(parts)], dtype=np.int64)[:, wanted]
    known = np.concatenate([points(t, *each) for each in looked_at.T.tolist()], axis=1)
    places, values = rearrange.rearranged(*known)
    # on a grid T is constant from a step to the next: its middle stands for it
    at = x + 0.5 * t.whole
    return np.asarray(np.clip(np.interp(at, places, values, 0.0, 1.0), 0.0, 1.0))
