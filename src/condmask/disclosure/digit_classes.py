"""Ways to part the points of a grid into classes by their digits.

A chain of ever coarser multiples (1, 5, 10, 50, ...) makes levels; a modulus makes last digits (4.99, 9.99).
Which way serves is a question of evidence, put to the records.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, lgamma

import numpy as np

from condmask.disclosure.folds import kronecker
from condmask.grid import Grid
from condmask.kernels import learned_density as kernels
from condmask.kernels.learned_density import DigitClasses
from condmask.law import Law
from condmask.visible_grid import visible_grid

MODULI = (10, 100, 1000)
RECORDS_PER_RESIDUE, MOST_MODULUS = 4, 1 << 10
SIMPLE = 10**6  # denominators of the ratio of two grids; others are numbers like any
SUBSAMPLE, FEWEST = 24, 8  # records that suggest a grid: few, so that some such lot holds none that is off it
LEVEL_PRIOR, RESIDUE_PRIOR = 0.5, 0.1  # records that each class is given beforehand
LEAST_EVIDENCE, PER_RECORD = 3.0, 0.005  # classes with less tell less than .03 of the coins
NOISE = (-2.0, 2.0)  # sigma, at most: what records without the digits of the data look like


def levels(multiples: list[Fraction], grid: Grid) -> DigitClasses:
    """Classes by the coarsest of some multiples, each a multiple of the one before, next to a point."""
    step = _fraction(grid)
    above, below = np.array([(1.0, 1.0), *(_simple(m / step) for m in multiples if m > step)]).T.copy()
    return DigitClasses(1, above, below)


def residues(modulus: int) -> DigitClasses:
    """Classes by the remainder."""
    return DigitClasses(modulus, np.ones(1), np.ones(1))


def _fraction(grid: Grid) -> Fraction:
    return Fraction(grid.numerator) / Fraction(grid.denominator)


def _simple(ratio: Fraction) -> tuple[float, float]:
    near = ratio.limit_denominator(SIMPLE)
    if abs(near - ratio) <= ratio / 10**12:
        return float(near.numerator), float(near.denominator)
    return float(ratio), 1.0


ONE_CLASS = levels([], Grid(1.0, 1.0))


def decimal_chain(least: Fraction, most: float) -> list[Fraction]:
    """1 and 5 times powers of ten, above the least and up to the most."""
    chain, power = [], Fraction(10) ** (int(np.floor(np.log10(float(least)))) - 1)
    while power <= most:
        chain += [m for m in (power, 5 * power) if least < m <= most]
        power *= 10
    return chain


@lru_cache(maxsize=64)
def decimal_levels(grid: Grid, least: Fraction, decades: int) -> DigitClasses:
    """Levels of 1 and 5 times powers of ten, above the least and below so many powers."""
    return levels(decimal_chain(least, 9.0 * 10.0 ** (decades - 1)), grid)


def candidates(values: np.ndarray, kind: str, grid: Grid, lots: int, screened: int) -> list[DigitClasses]:
    """Classes for data as the publisher has them, by their digits and by the grids of some lots of records.

    ``screened`` is the number of records that are to tell which of them serve.
    """
    sizes = np.abs(values[values != 0.0])
    if not sizes.size:
        return []
    most, step = float(sizes.max()), _fraction(grid)
    tried = [decimal_levels(grid, step, ceil(np.log10(most)))]
    tried += [residues(m) for m in MODULI if m * RECORDS_PER_RESIDUE <= screened]
    for visible in _visible_grids(values, kind, grid.step, lots):
        multiple = Fraction(visible.numerator).limit_denominator(SIMPLE) / Fraction(visible.denominator)
        decimals = [d for d in decimal_chain(multiple, most) if (d / multiple).denominator == 1]
        coarser = decimals or [multiple * d for d in decimal_chain(Fraction(1), most / float(multiple))]
        tried.append(levels([multiple, *coarser], grid))
        ratio = (multiple / step).limit_denominator(SIMPLE)
        if 1 < ratio.numerator <= MOST_MODULUS and ratio.denominator > 1:
            tried.append(residues(ratio.numerator))
    return [classes for classes in tried if class_count(classes) > 1]


def _visible_grids(values: np.ndarray, kind: str, step: float, lots: int) -> list[Grid]:
    """Grids on which all of a few records lie."""
    grids: list[Grid] = []
    width = max(1, values.size // max(lots, 1))
    for start in range(0, min(values.size, width * lots), width):
        part = np.ascontiguousarray(values[start : start + width : max(1, width // SUBSAMPLE)][:SUBSAMPLE])
        grid = visible_grid(part, kind, step) if part.size >= FEWEST else None
        if grid is not None and grid not in grids:
            grids.append(grid)
    return grids


def class_count(classes: DigitClasses) -> int:
    """The number of classes."""
    return int(classes.modulus) if classes.modulus > 1 else int(classes.above.size)


def prior(classes: DigitClasses) -> float:
    """How many records each class is given beforehand."""
    return RESIDUE_PRIOR if classes.modulus > 1 else LEVEL_PRIOR


def least_evidence(n: int) -> float:
    """How much more log evidence than one class alone others must have from n records."""
    return LEAST_EVIDENCE + PER_RECORD * n


def tell_from_noise(classes: DigitClasses, units: np.ndarray, law: Law, records: int) -> bool:
    """Whether records are of other classes than the same records with noise, by the evidence of some."""
    units = units[:: max(1, units.size // records)]
    # each record is moved by a number of its own: one and the same could be a multiple of what is looked for
    spread = law.sigma / law.step * kronecker(units.size)
    moved = np.concatenate([units + np.rint(most * spread).astype(np.int64) for most in NOISE])
    size, before = class_count(classes), prior(classes)
    counts, blurred = (np.bincount(classify(classes, points), minlength=size) for points in (units, moved))
    chances = (blurred + before) / (blurred.sum() + before * blurred.size)
    evidence = dirichlet(counts, before) - float(counts @ np.log(chances))
    return evidence > least_evidence(units.size)


def class_and_place(classes: DigitClasses, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each point, and its place there."""
    if class_count(classes) == 1:
        return np.zeros(points.size, dtype=np.int64), points
    number, places = np.empty((2, points.size), dtype=np.int64)
    kernels.classify(classes, points, number, places)
    return number, places


def classify(classes: DigitClasses, points: np.ndarray) -> np.ndarray:
    """The class of each point."""
    return class_and_place(classes, points)[0]


def dirichlet(counts: np.ndarray, prior: float) -> float:
    """The log chance of records of these classes, whose shares have a Dirichlet law."""
    positive = counts[counts > 0].tolist()
    whole = lgamma(prior * counts.size) - lgamma(sum(positive) + prior * counts.size)
    return whole + sum(lgamma(c + prior) for c in positive) - len(positive) * lgamma(prior)
