"""Quantiles of T, which is not monotone: where it first reaches a probability, or its
rearrangement T* does.

T is known at nodes. From one to the next its steps rise by the records between, and the rest bends
by no more than a bound, so that cells which cannot hold what is searched are passed, and others
cut until no record lies in them and they are straight. Of a long line only those stretches are
looked at where T can be near a probability: a stretch of c records, and those within reach, moves
T by c times the extremes of K at most.

Everywhere t is T_1 or T_b. Both have `n` and `counted`; their `line` of nodes, and at these the
`smooth` part of n T, which is read `shift` to the right of a point; how `most` of K, its `jump` at
0 and the `bend` of the rest bound it; `whole`, where points are whole steps; and `sums` and
`decay` under Laplace noise.

Quantiles of Theorems 2.2 and 2.3 (docs/theory.rst, "Crossings").
"""

from collections.abc import Iterator
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from condmask.kernels import crossings, rearrange
from condmask.kernels.nodes import POINTS

BLOCK = 1 << 10  # nodes of the line that are looked at together
STRAIGHT = 1e-15  # of T, by which the curve may leave its chord
NEARLY = 5e-9
IN_K = 5e-11  # as much for T*, in 1 and in the most of K

FEW = 100
MANY = 2_000  # records: where rearranging pays
P_OF_FEW = 0.77
P_OF_MANY = 0.5  # below these p

Points = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, T there, and just before


def crossing_of(p: float, n: int) -> str:
    """ "rearranged" or "first", whichever has the smaller error for T of so many records.

    Rearranging takes out the ups and downs of T, of which the first crossing makes a bias. They
    grow as p and n fall, so it pays below a p that falls with log n (docs/inference.rst,
    "Rearranging").
    """
    share = min(max(log(MANY / n) / log(MANY / FEW), 0.0), 1.0)
    return "rearranged" if 0.0 < p < P_OF_MANY + share * (P_OF_FEW - P_OF_MANY) else "first"


def stretches(t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where stretches of the line begin and the last one ends, and the least and the most of T in
    each."""
    last = t.line.size - 1.0
    edges = np.append(np.arange(0.0, last, BLOCK), last)
    ends = np.stack((edges[:-1] - t.line.beyond, edges[1:] + t.line.beyond))
    before, up_to = t.counted.below[np.searchsorted(t.line.place, ends)]
    near = up_to - before
    return edges, (before + near * (1.0 - t.most)) / t.n, (before + near * t.most) / t.n


def runs(t: Any, q: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Parts of the line, and the most of T where it reaches none of the ascending probabilities,
    else inf."""
    edges, least, most = stretches(t)
    holds = np.searchsorted(q, least) < np.searchsorted(q, most, side="right")
    holds[0] = True  # where T reaches what is not above 0
    cuts = [0, *(np.flatnonzero(np.diff(holds)) + 1).tolist(), holds.size]
    for start, stop in pairwise(cuts):
        yield int(edges[start]), int(edges[stop]), np.inf if holds[start] else float(most[start])


def by_stretch(t: Any, first: int, last: int) -> Iterator[tuple[crossings.Steps, int, int]]:
    """T on the stretches of a part of the line, and between which of their nodes that lies."""
    line = t.line
    counted = t.counted
    length = t.line.length
    for k in range(first // length, (last - 1) // length + 1):
        own = line.around(k)
        begin = k * length - POINTS
        steps = crossings.Steps(
            counted.values[own],
            line.place[own] - begin,
            counted.below[own.start : own.stop + 1],
            t.smooth(k),
            line.node,
            t.shift,
            t.jump,
            t.bend,
            line.beyond,
            t.sums[:, own],
            t.decay,
            t.whole,
            np.empty(POINTS),
        )
        yield steps, max(first, k * length) - begin, min(last, (k + 1) * length) - begin


def reached(t: Any, q: np.ndarray, *, rearranged: bool) -> np.ndarray:
    """The least points at which T, or its monotone rearrangement, is at least q."""
    order = np.argsort(q)
    straight = t.n * (NEARLY if rearranged else STRAIGHT)
    targets = q[order] * t.n
    found = np.full((2, q.size), np.nan)
    for first, last, most in runs(t, q[order]):
        if most == np.inf:
            for steps, start, stop in by_stretch(t, first, last):
                crossings.reached(steps, start, stop, targets, straight, rearranged, found)
        elif rearranged:
            ends = t.line.points(np.array([first, last])) - t.shift
            ends = np.ceil(ends - crossings.ROUNDING) if t.whole else ends
            found[0, targets > t.n * most] += ends[1] - ends[0]
    places: np.ndarray = found.sum(axis=0)
    places[np.isnan(places)] = t.line.points(np.array([t.line.size - 1.0]))
    places[order] = places.copy()
    return places


def points(t: Any, first: int, last: int, parts: int) -> Points:
    """The values between two nodes of the line, and so many points a node; T there, and just
    before."""
    found = []
    for steps, start, stop in by_stretch(t, first, last):
        most = (stop - start) * max(parts, 1) + 1 + steps.values.size
        own = np.empty((3, most))
        found.append(own[:, : crossings.points(steps, start, stop, parts, *own)])
    x, right, left = np.concatenate(found, axis=1)
    return x, right / t.n, left / t.n


def monotone(t: Any, x: np.ndarray) -> np.ndarray:
    """The monotone rearrangement of T at points, within [0, 1]."""
    edges, least, most = stretches(t)
    place = np.clip(t.line.places(x), 0.0, edges[-1])
    block = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, least.size - 1)
    low = least[block.min() :].min()
    high = most[: block.max() + 1].max()
    wanted = (most >= low) & (least <= high)
    wanted[[0, -1]] = True
    share = (most - least) / (2.0 * t.most - 1.0)  # of the records, that a stretch feels
    parts = np.sqrt(0.125 * t.bend * share / max(NEARLY, IN_K * t.most))
    parts = np.clip(parts, 1.0, t.line.node if t.whole else np.inf)  # steps are all there is
    looked_at = np.array([edges[:-1], edges[1:], np.ceil(parts)], dtype=np.int64)[:, wanted]
    known = np.concatenate([points(t, *each) for each in looked_at.T.tolist()], axis=1)
    places, values = rearrange.rearranged(*known)
    at = x + 0.5 * t.whole  # a step of a grid is the stretch to the next
    return np.asarray(np.clip(np.interp(at, places, values, 0.0, 1.0), 0.0, 1.0))
