"""What an attacker may look at: ways to part the points of a grid by their digits.

A chain of ever coarser multiples (1, 5, 10, 50, ...) makes levels; a modulus makes last digits (4.99, 9.99).
Which way serves is a question of evidence, put to the records.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, lgamma

import numpy as np

from condmask._grid import Grid, visible_grid
from condmask.kernels import learned_density
from condmask.kernels.learned_density import Look
from condmask.law import Law

MODULI = (10, 100, 1000)
RECORDS_PER_RESIDUE, MOST_MODULUS = 4, 1 << 10
SIMPLE = 10**6  # denominators of the ratio of two grids; others are numbers like any
SUBSAMPLE, FEWEST = 24, 8  # records that suggest a grid: few, so that some such lot holds none that is off it
LEVEL_PRIOR, RESIDUE_PRIOR = 0.5, 0.1  # records that each kind is given beforehand
LEAST_EVIDENCE, PER_RECORD = 3.0, 0.005  # a look that says less tells less than .03 of the coins
NOISE = (-2.0, 2.0)  # sigma, at most: what records without the digits of the data look like
GOLDEN = 0.6180339887498949  # whose multiples are spread evenly modulo 1


def levels(multiples: list[Fraction], grid: Grid) -> Look:
    """Kinds by the coarsest of some multiples, each a multiple of the one before, next to a point."""
    step = _fraction(grid)
    above, below = np.array([(1.0, 1.0), *(_simple(m / step) for m in multiples if m > step)]).T.copy()
    return Look(1, above, below)


def residues(modulus: int) -> Look:
    """Kinds by the remainder."""
    return Look(modulus, np.ones(1), np.ones(1))


def _fraction(grid: Grid) -> Fraction:
    return Fraction(grid.numerator) / Fraction(grid.denominator)


def _simple(ratio: Fraction) -> tuple[float, float]:
    near = ratio.limit_denominator(SIMPLE)
    if abs(near - ratio) <= ratio / 10**12:
        return float(near.numerator), float(near.denominator)
    return float(ratio), 1.0


PLAIN = levels([], Grid(1.0, 1.0))


def decimal_chain(least: Fraction, most: float) -> list[Fraction]:
    """1 and 5 times powers of ten, above the least and up to the most."""
    found, power = [], Fraction(10) ** (int(np.floor(np.log10(float(least)))) - 1)
    while power <= most:
        found += [m for m in (power, 5 * power) if least < m <= most]
        power *= 10
    return found


@lru_cache(maxsize=64)
def decimal_levels(grid: Grid, least: Fraction, decades: int) -> Look:
    """Levels of 1 and 5 times powers of ten, above the least and below so many powers."""
    return levels(decimal_chain(least, 9.0 * 10.0 ** (decades - 1)), grid)


def candidates(values: np.ndarray, kind: str, grid: Grid, lots: int, screened: int) -> list[Look]:
    """Looks at data as the publisher has them, by their digits and by the grids of some lots of records.

    ``screened`` is the number of records that are to tell which looks serve.
    """
    sizes = np.abs(values[values != 0.0])
    if not sizes.size:
        return []
    most, step = float(sizes.max()), _fraction(grid)
    looks = [decimal_levels(grid, step, ceil(np.log10(most)))]
    looks += [residues(m) for m in MODULI if m * RECORDS_PER_RESIDUE <= screened]
    for found in _visible(values, kind, grid.step, lots):
        own = Fraction(found.numerator).limit_denominator(SIMPLE) / Fraction(found.denominator)
        decimals = [d for d in decimal_chain(own, most) if (d / own).denominator == 1]
        multiples = decimals or [own * d for d in decimal_chain(Fraction(1), most / float(own))]
        looks.append(levels([own, *multiples], grid))
        ratio = (own / step).limit_denominator(SIMPLE)
        if 1 < ratio.numerator <= MOST_MODULUS and ratio.denominator > 1:
            looks.append(residues(ratio.numerator))
    return [look for look in looks if size(look) > 1]


def _visible(values: np.ndarray, kind: str, step: float, lots: int) -> list[Grid]:
    """Grids on which all of a few records lie."""
    found: list[Grid] = []
    width = max(1, values.size // max(lots, 1))
    for start in range(0, min(values.size, width * lots), width):
        part = np.ascontiguousarray(values[start : start + width : max(1, width // SUBSAMPLE)][:SUBSAMPLE])
        grid = visible_grid(part, kind, step) if part.size >= FEWEST else None
        if grid is not None and grid not in found:
            found.append(grid)
    return found


def size(look: Look) -> int:
    """The number of kinds."""
    return int(look.modulus) if look.modulus > 1 else int(look.above.size)


def prior(look: Look) -> float:
    """How many records each kind is given beforehand."""
    return RESIDUE_PRIOR if look.modulus > 1 else LEVEL_PRIOR


def least_evidence(n: int) -> float:
    """How much more than none a look must say of n records."""
    return LEAST_EVIDENCE + PER_RECORD * n


def tells(look: Look, at: np.ndarray, law: Law, records: int) -> bool:
    """Whether records are of other kinds than the same records with noise, by the evidence of some."""
    at = at[:: max(1, at.size // records)]
    # each record is moved by a number of its own: one and the same could be a multiple of what is looked for
    spread = law.sigma / law.step * spread_evenly(at.size)
    moved = np.concatenate([at + np.rint(most * spread).astype(np.int64) for most in NOISE])
    counts, blurred = (np.bincount(kinds_of(look, z), minlength=size(look)) for z in (at, moved))
    chances = (blurred + prior(look)) / (blurred.sum() + prior(look) * blurred.size)
    said = dirichlet(counts, prior(look)) - float(counts @ np.log(chances))
    return said > least_evidence(at.size)


def spread_evenly(n: int) -> np.ndarray:
    """Numbers between 0 and 1, spread evenly over all rows, and over those of any period."""
    turns = np.arange(n) * GOLDEN
    return np.asarray(turns - np.floor(turns))


def sorted_out(look: Look, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each point, and its place there."""
    if size(look) == 1:
        return np.zeros(points.size, dtype=np.int64), points
    kinds, places = np.empty((2, points.size), dtype=np.int64)
    learned_density.sort_out(look, points, kinds, places)
    return kinds, places


def kinds_of(look: Look, points: np.ndarray) -> np.ndarray:
    """The kind of each point."""
    return sorted_out(look, points)[0]


def dirichlet(counts: np.ndarray, prior: float) -> float:
    """The log chance of records of these kinds, whose shares have a Dirichlet law."""
    held = counts[counts > 0].tolist()
    found = lgamma(prior * counts.size) - lgamma(sum(held) + prior * counts.size)
    return found + sum(lgamma(c + prior) for c in held) - len(held) * lgamma(prior)
