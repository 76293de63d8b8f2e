"""Where values lie, as somebody learned it from other records: densities on whole numbers.

A *tree* over 2^h whole numbers. The values in a cell are spread evenly, or the cell is split into halves,
whose shares have the law Beta(1/2, 1/2), and each half is such a cell again; either case has the chance 1/2,
down to single numbers. The mean density given the records is a product along one path, so it adapts to
smooth data, to gaps and to numbers that many records share. A number with one record gets at most twice the
density around it: nobody learns much from one record.

A *look* parts the whole numbers into kinds, and each kind has its share and a tree over its own places:

    levels      kind l: what is next to a multiple of ratio[l], and of no coarser one; the places are counted
    residues    kind r: what is r modulo m; the places are floor(z / m), in one tree for all

Ratios are fractions of whole numbers, in steps of the grid.

Cost: a tree has at most h nodes for each distinct number, seldom more than two; a density O(h + levels).
"""

from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

from condmask._jit import kernel

LOG_2, LOG_PI = log(2.0), log(np.pi)
# A guess of a whole number of up to 2^53 is off by this at most: three roundings make it and three what it is
# checked with, each of half a number at most, and it is rounded up.
MOST_OFF = 4
EMPTY = -1  # no records below this node; -2 - k stands for the one record values[k]


class Forest(NamedTuple):
    """Trees side by side: ascending places from each one's base on; two children and three weights a node.

    The weights are the chances that the cell is not split, that it is and the value lies left, or right.
    """

    places: np.ndarray
    kids: np.ndarray
    weights: np.ndarray
    roots: np.ndarray
    heights: np.ndarray
    bases: np.ndarray


class Look(NamedTuple):
    """How whole numbers are parted into kinds: by residues where the modulus is above 1, else by levels.

    The multiples of level l are above[l] / below[l] steps apart.
    """

    modulus: int
    above: np.ndarray
    below: np.ndarray


@kernel
def grow(places, before, start, stop, height, free, spans, kids, weights, evidence):
    """Lay the tree of places[start:stop] from node `free` on: its root, log evidence and the next free node.

    ``before[k]`` counts the records before places[k]; the rows of `spans` are start, stop and height.
    """
    count = before[stop] - before[start]
    if count < 2:
        return (EMPTY if count == 0 else -2 - start), -LOG_2 * height * count, free
    spans[free, 0], spans[free, 1], spans[free, 2] = start, stop, height
    made, node = free + 1, free
    while node < made:
        low, high, h = spans[node]
        kids[node, :] = EMPTY
        if h > 0:
            middle = ((places[low] >> h) << h) + (np.int64(1) << (h - 1))
            a, b = low, high
            while a < b:
                half = (a + b) // 2
                if places[half] < middle:
                    a = half + 1
                else:
                    b = half
            for side in range(2):
                first, last = (low, a) if side == 0 else (a, high)
                own = before[last] - before[first]
                if own == 1:
                    kids[node, side] = -2 - first
                elif own > 1:
                    kids[node, side] = made
                    spans[made, 0], spans[made, 1], spans[made, 2] = first, last, h - 1
                    made += 1
        node += 1
    for node in range(made - 1, free - 1, -1):
        low, high, h = spans[node]
        evidence[node] = 0.0
        if h == 0:
            continue
        n = before[high] - before[low]
        whole, split = -LOG_2 * h * n, -LOG_PI - lgamma(n + 1.0)
        for side in range(2):
            kid = kids[node, side]
            own = 0.0
            if kid >= 0:
                own = before[spans[kid, 1]] - before[spans[kid, 0]]
                split += evidence[kid]
            elif kid != EMPTY:
                own = 1.0
                split -= LOG_2 * (h - 1)
            split += lgamma(own + 0.5)
            weights[node, 1 + side] = (own + 0.5) / (n + 1.0)
        most = max(whole, split)
        evidence[node] = most + log(0.5 * (exp(whole - most) + exp(split - most)))
        chance = 1.0 / (1.0 + exp(min(whole - split, 700.0)))
        weights[node, 0] = 1.0 - chance
        weights[node, 1] *= chance
        weights[node, 2] *= chance
    return free, evidence[free], made


@kernel
def density(forest, tree, place):
    """The share of one tree's records at a place."""
    y, h = place - forest.bases[tree], forest.heights[tree]
    if y < 0 or y >> h > 0:
        return 0.0
    node, reached, even, found = forest.roots[tree], 1.0, 0.5**h, 0.0
    while node >= 0 and h > 0:
        h -= 1
        side = (y >> h) & 1
        found += reached * forest.weights[node, 0] * even
        reached *= forest.weights[node, 1 + side]
        node = forest.kids[node, side]
        even *= 2.0
    if node < EMPTY:
        apart = y ^ forest.places[-2 - node]
        while h > 0:
            h -= 1
            found += 0.5 * reached * even
            even *= 2.0
            if apart >> h:
                reached *= 0.125
                break
            reached *= 0.375
    return found + reached * even


@kernel
def mass_below(forest, tree, place):
    """The share of one tree's records before a place."""
    y, h = place - forest.bases[tree], forest.heights[tree]
    if y <= 0:
        return 0.0
    if y >> h > 0:
        return 1.0
    node, reached, found = forest.roots[tree], 1.0, 0.0
    even = 0.5**h
    while node >= 0 and h > 0:
        found += reached * forest.weights[node, 0] * even * (y & ((np.int64(1) << h) - 1))
        h -= 1
        side = (y >> h) & 1
        if side == 1:
            found += reached * forest.weights[node, 1]
        reached *= forest.weights[node, 1 + side]
        node = forest.kids[node, side]
        even *= 2.0
    if node < EMPTY:
        own = forest.places[-2 - node]
        while h > 0:
            found += 0.5 * reached * even * (y & ((np.int64(1) << h) - 1))
            h -= 1
            even *= 2.0
            side, there = (y >> h) & 1, (own >> h) & 1
            if side == 1:
                found += reached * (0.125 if there == 1 else 0.375)
            if side != there:
                reached *= 0.125
                break
            reached *= 0.375
    return found + reached * even * (y & ((np.int64(1) << h) - 1))


@kernel
def multiples_below(look, level, x):
    """How many numbers of a level, the coarser ones included, lie below x, but for a constant."""
    if level == 0:
        return x
    above, below = look.above[level], look.below[level]
    j = np.int64(np.ceil((x - 0.5) * below / above))
    for _ in range(MOST_OFF):
        if np.floor((j - 1) * above / below + 0.5) < x:
            break
        j -= 1
    for _ in range(MOST_OFF):
        if np.floor(j * above / below + 0.5) >= x:
            break
        j += 1
    return j


@kernel
def place_in_level(look, level, x):
    """How many numbers of a level alone lie below x."""
    place = multiples_below(look, level, x)
    if level + 1 < look.above.size:
        place -= multiples_below(look, level + 1, x)
    return place


@kernel
def belongs(look, level, z):
    """Whether a number is next to a multiple of a level above 0."""
    ratio = look.above[level] / look.below[level]
    return np.floor(np.rint(z / ratio) * look.above[level] / look.below[level] + 0.5) == z


@kernel
def kind_of(look, z):
    """The kind of a whole number."""
    if look.modulus > 1:
        return z % look.modulus
    level = 0
    while level + 1 < look.above.size and belongs(look, level + 1, z):
        level += 1
    return level


@kernel
def sort_out(look, units, kinds, places):
    """The kind of every whole number, and its place there."""
    for i in range(units.size):
        kind = kind_of(look, units[i])
        kinds[i] = kind
        places[i] = units[i] // look.modulus if look.modulus > 1 else place_in_level(look, kind, units[i])


@kernel
def densities(look, forest, shares, units, out):
    """out[i]: the share of all records at units[i]; shares[k, 0] is that of the kind k."""
    for i in range(units.size):
        z = units[i]
        kind = kind_of(look, z)
        if look.modulus > 1:
            found = density(forest, 0, z // look.modulus)
        else:
            found = density(forest, kind, place_in_level(look, kind, z))
        out[i] = shares[kind, 0] * found


@kernel
def masses_below(look, forest, shares, units, out):
    """out[i]: the share of all records below units[i]; shares[k, 1] is that of the kinds before k."""
    for i in range(units.size):
        x = units[i]
        if look.modulus > 1:
            block = x // look.modulus
            out[i] = mass_below(forest, 0, block) + density(forest, 0, block) * shares[x % look.modulus, 1]
        else:
            found, upto = 0.0, multiples_below(look, 0, x)
            for level in range(look.above.size):
                coarser = multiples_below(look, level + 1, x) if level + 1 < look.above.size else 0
                found += shares[level, 0] * mass_below(forest, level, upto - coarser)
                upto = coarser
            out[i] = found
