"""Where values lie, as somebody learned it from other records: densities on whole numbers.

An *optional Polya tree* (Wong and Ma, Ann. Statist. 38, 2010) over 2^h whole numbers: the values in a cell
are spread evenly, or the cell is split into halves, whose shares have the law Beta(1/2, 1/2), and each half
is such a cell again; either case has the chance 1/2, down to single numbers. The mean density given the
records is a product along one path, so it adapts to smooth data, to gaps and to numbers that many records
share. A number with one record gets at most twice the density around it: nobody learns much from one record.

*Digit classes* part the whole numbers, and each class has its share and a tree over its own places:

    levels      class l: what is next to a multiple of ratio[l], and of no coarser one; the places are counted
    residues    class r: what is r modulo m; the places are floor(z / m), in one tree for all

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


class OptionalPolyaTrees(NamedTuple):
    """Optional Polya trees side by side: ascending places from each one's base on.

    Each node has two children and three weights: the chances that the cell is not split, that it is and the
    value lies left, or right.
    """

    places: np.ndarray
    kids: np.ndarray
    weights: np.ndarray
    roots: np.ndarray
    heights: np.ndarray
    bases: np.ndarray


class DigitClasses(NamedTuple):
    """How whole numbers are parted into classes: by residues where the modulus is above 1, else by levels.

    The multiples of level l are above[l] / below[l] steps apart.
    """

    modulus: int
    above: np.ndarray
    below: np.ndarray


@kernel
def grow_tree(places, before, start, stop, height, free, spans, kids, weights, evidence):
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
                size = before[last] - before[first]
                if size == 1:
                    kids[node, side] = -2 - first
                elif size > 1:
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
            size = 0.0
            if kid >= 0:
                size = before[spans[kid, 1]] - before[spans[kid, 0]]
                split += evidence[kid]
            elif kid != EMPTY:
                size = 1.0
                split -= LOG_2 * (h - 1)
            split += lgamma(size + 0.5)
            weights[node, 1 + side] = (size + 0.5) / (n + 1.0)
        most = max(whole, split)
        evidence[node] = most + log(0.5 * (exp(whole - most) + exp(split - most)))
        chance = 1.0 / (1.0 + exp(min(whole - split, 700.0)))
        weights[node, 0] = 1.0 - chance
        weights[node, 1] *= chance
        weights[node, 2] *= chance
    return free, evidence[free], made


@kernel
def density(trees, tree, place):
    """The share of one tree's records at a place."""
    y, h = place - trees.bases[tree], trees.heights[tree]
    if y < 0 or y >> h > 0:
        return 0.0
    node, reached, even, share = trees.roots[tree], 1.0, 0.5**h, 0.0
    while node >= 0 and h > 0:
        h -= 1
        side = (y >> h) & 1
        share += reached * trees.weights[node, 0] * even
        reached *= trees.weights[node, 1 + side]
        node = trees.kids[node, side]
        even *= 2.0
    if node < EMPTY:
        apart = y ^ trees.places[-2 - node]
        while h > 0:
            h -= 1
            share += 0.5 * reached * even
            even *= 2.0
            if apart >> h:
                reached *= 0.125
                break
            reached *= 0.375
    return share + reached * even


@kernel
def mass_below(trees, tree, place):
    """The share of one tree's records before a place."""
    y, h = place - trees.bases[tree], trees.heights[tree]
    if y <= 0:
        return 0.0
    if y >> h > 0:
        return 1.0
    node, reached, share = trees.roots[tree], 1.0, 0.0
    even = 0.5**h
    while node >= 0 and h > 0:
        share += reached * trees.weights[node, 0] * even * (y & ((np.int64(1) << h) - 1))
        h -= 1
        side = (y >> h) & 1
        if side == 1:
            share += reached * trees.weights[node, 1]
        reached *= trees.weights[node, 1 + side]
        node = trees.kids[node, side]
        even *= 2.0
    if node < EMPTY:
        lone = trees.places[-2 - node]
        while h > 0:
            share += 0.5 * reached * even * (y & ((np.int64(1) << h) - 1))
            h -= 1
            even *= 2.0
            side, record = (y >> h) & 1, (lone >> h) & 1
            if side == 1:
                share += reached * (0.125 if record == 1 else 0.375)
            if side != record:
                reached *= 0.125
                break
            reached *= 0.375
    return share + reached * even * (y & ((np.int64(1) << h) - 1))


@kernel
def multiples_below(classes, level, x):
    """How many numbers of a level, the coarser ones included, lie below x, but for a constant."""
    if level == 0:
        return x
    above, below = classes.above[level], classes.below[level]
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
def place_in_level(classes, level, x):
    """How many numbers of a level alone lie below x."""
    place = multiples_below(classes, level, x)
    if level + 1 < classes.above.size:
        place -= multiples_below(classes, level + 1, x)
    return place


@kernel
def belongs(classes, level, z):
    """Whether a number is next to a multiple of a level above 0."""
    ratio = classes.above[level] / classes.below[level]
    return np.floor(np.rint(z / ratio) * classes.above[level] / classes.below[level] + 0.5) == z


@kernel
def class_of(classes, z):
    """The class of a whole number."""
    if classes.modulus > 1:
        return z % classes.modulus
    level = 0
    while level + 1 < classes.above.size and belongs(classes, level + 1, z):
        level += 1
    return level


@kernel
def classify(classes, units, numbers, places):
    """The class of every whole number, and its place there."""
    for i in range(units.size):
        number = class_of(classes, units[i])
        numbers[i] = number
        if classes.modulus > 1:
            places[i] = units[i] // classes.modulus
        else:
            places[i] = place_in_level(classes, number, units[i])


@kernel
def densities(classes, trees, shares, units, out):
    """out[i]: the share of all records at units[i]; shares[k, 0] is that of the class k."""
    for i in range(units.size):
        z = units[i]
        number = class_of(classes, z)
        if classes.modulus > 1:
            share = density(trees, 0, z // classes.modulus)
        else:
            share = density(trees, number, place_in_level(classes, number, z))
        out[i] = shares[number, 0] * share


@kernel
def masses_below(classes, trees, shares, units, out):
    """out[i]: the share of all records below units[i]; shares[k, 1] is that of the classes before k."""
    for i in range(units.size):
        x = units[i]
        if classes.modulus > 1:
            block = x // classes.modulus
            out[i] = mass_below(trees, 0, block) + density(trees, 0, block) * shares[x % classes.modulus, 1]
        else:
            share, upto = 0.0, multiples_below(classes, 0, x)
            for level in range(classes.above.size):
                coarser = multiples_below(classes, level + 1, x) if level + 1 < classes.above.size else 0
                share += shares[level, 0] * mass_below(trees, level, upto - coarser)
                upto = coarser
            out[i] = share
