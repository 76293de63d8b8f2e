"""The law F of the data, as learned from other records than those attacked.

Optional Polya trees, one for each class of digits (kernels/learned_density.py): nothing is known of a value
but by its digits, its neighbours and its repetitions.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from condmask.disclosure import digit_classes
from condmask.disclosure.folds import FoldCounts
from condmask.kernels import learned_density as kernels
from condmask.kernels.learned_density import DigitClasses, OptionalPolyaTrees

MARGIN = 64.0  # sigma around the data that anybody thinks possible


class LearnedDensity(NamedTuple):
    """The law F of the data, as learned from records, and the log evidence for its classes.

    `shares` holds that of each class, and that of all classes before it.
    """

    classes: DigitClasses
    trees: OptionalPolyaTrees
    shares: np.ndarray
    evidence: float

    def density(self, points: np.ndarray) -> np.ndarray:
        """The share of the records at each point."""
        share = np.empty(points.size)
        kernels.densities(self.classes, self.trees, self.shares, points, share)
        return share

    def below(self, points: np.ndarray) -> np.ndarray:
        """The share of the records before each point."""
        share = np.empty(points.size)
        kernels.masses_below(self.classes, self.trees, self.shares, points, share)
        return share


def learn(folded: FoldCounts, counts: np.ndarray, classes: DigitClasses) -> LearnedDensity:
    """The law as it is known from so many records at each of the values."""
    margin = ceil(MARGIN * folded.sigma) + 2
    low, high = folded.values[[0, -1]] + np.array([-margin, margin])
    occupied = counts > 0
    number, places = digit_classes.class_and_place(classes, folded.values[occupied])
    counts = counts[occupied]
    size, prior = digit_classes.class_count(classes), digit_classes.prior(classes)
    records = np.bincount(number, counts, size)
    if classes.modulus > 1:
        bases, tops = np.array([low // classes.modulus]), np.array([high // classes.modulus + 1])
        places, counts = _merged(places - bases[0], counts)
        starts = np.array([0, places.size])
    else:
        bases, tops = np.array(
            [[kernels.place_in_level(classes, k, x) for k in range(size)] for x in (low, high + 1)]
        )
        starts = np.append(0, np.cumsum(np.bincount(number, minlength=size)))
        order = np.argsort(number, kind="stable") if size > 1 else slice(None)
        places, counts = (places - bases[number])[order], counts[order]
    heights = np.array([int(length).bit_length() for length in np.maximum(tops - bases - 1, 0)])
    trees, evidence = _grow(places, counts, starts, heights, bases)
    share = (records + prior) / (records.sum() + prior * size)
    shares = np.stack((share, np.cumsum(share) - share), axis=1)
    return LearnedDensity(classes, trees, shares, evidence + digit_classes.dirichlet(records, prior))


def best_classes(folded: FoldCounts, candidates: list[DigitClasses]) -> tuple[DigitClasses, float]:
    """The classes with the most evidence, one for all unless others have clearly more; its logarithm."""
    counts = folded.counts
    best, most = digit_classes.ONE_CLASS, learn(folded, counts, digit_classes.ONE_CLASS).evidence
    least = most + digit_classes.least_evidence(folded.n)
    for classes in candidates:
        evidence = learn(folded, counts, classes).evidence
        if evidence > max(most, least):
            best, most = classes, evidence
    return best, most


def _merged(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending values, each once."""
    first = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
    return (values[first], np.add.reduceat(counts, first)) if first.size else (values, counts)


def _grow(
    places: np.ndarray, counts: np.ndarray, starts: np.ndarray, heights: np.ndarray, bases: np.ndarray
) -> tuple[OptionalPolyaTrees, float]:
    """The trees of all classes, and the log evidence of all."""
    before, sizes = np.append(0, np.cumsum(counts)), np.diff(starts)
    # at most two nodes for each place where paths part, and one for each cell that holds one place alone
    single = np.array([h - int(m).bit_length() for h, m in zip(heights, sizes, strict=True)])
    nodes = int(np.sum(2 * sizes + sizes * np.maximum(single + 1, 0) + 1))
    spans, kids = np.empty((nodes, 3), dtype=np.int64), np.empty((nodes, 2), dtype=np.int64)
    weights, evidence, roots = np.empty((nodes, 3)), np.empty(nodes), np.empty(heights.size, dtype=np.int64)
    free, total = 0, 0.0
    for k in range(heights.size):
        roots[k], of_tree, free = kernels.grow_tree(
            places, before, starts[k], starts[k + 1], heights[k], free, spans, kids, weights, evidence
        )
        total += of_tree
    return OptionalPolyaTrees(places, kids[:free].copy(), weights[:free].copy(), roots, heights, bases), total
