r"""How many coins an attacker guesses where noise of one law is added to whole numbers.

A released value z is another record's with probability p, else the record's own plus noise. An attacker who
knows p, the noise and the law F of the data guesses "swapped" if p F(z) >= (1 - p) (F * noise)(z), and gets

    sum over z of  p f(z) [the guess is swapped] + (1 - p) (f * noise)(z) [the guess is kept]

of all coins right, f being the values attacked. F is learned from *other* records: the file is split into
folds by row, and the values of a fold are attacked with the law of the rest. So a value is known only by its
digits, its neighbours and its repetitions (learned_density.py); where nothing is known, F and F * noise are
equal. No coin is drawn: f and f * noise are counted.

If F * noise (convolution.py) has more than MOST_CELLS cells, only as many records as fit are attacked, evenly
chosen by rank. For kept records all points that may be released are examined, or `most` evenly drawn ones if
there are more; for swapped ones likewise. Either choice of m points adds an error of at most 1 / (2 sqrt(m)).

Cost: O(n log n).
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import digit_classes
from condmask.disclosure.convolution import Cells, pieces_around
from condmask.disclosure.folds import FoldCounts, systematic_sample
from condmask.disclosure.learned_density import LearnedDensity, learn
from condmask.kernels.learned_density import DigitClasses

MOST_CELLS = 1 << 19
MANY_CELLS = 1 << 15  # beyond, a fold is attacked on the pieces that hold its records
FAINT = 1e-13  # of the largest share of a cell: what a Fourier transform may lose
UNLIKELY = 1e-12  # cells with less of the kept records are not looked at
CERTAIN = 0.05


def posterior(p: float, law: np.ndarray, noised: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, given F and F * noise at the value it shows."""
    return np.asarray(p * law / (p * law + (1.0 - p) * noised))


def guessed(swapped: np.ndarray, kept: np.ndarray, chance: np.ndarray) -> float:
    """The share of coins guessed by saying "swapped" if that has a chance of 1/2 or more."""
    guess = chance >= 0.5
    return float(swapped[guess].sum() + kept[~guess].sum())


def certain(swapped: np.ndarray, kept: np.ndarray, chance: np.ndarray, p: float) -> float:
    """The share of records of whose coin the attacker is certain."""
    sure = np.minimum(chance, 1.0 - chance) < doubt(p)
    return float(swapped[sure].sum() + kept[sure].sum())


def guessed_surest(swapped: np.ndarray, kept: np.ndarray, chance: np.ndarray, share: float) -> float:
    """The share of coins guessed in that share of the records of which the attacker is surest.

    Records that show the same are equally sure, and are taken in part, swapped and kept alike.
    """
    sure = np.maximum(chance, 1.0 - chance)
    order = np.argsort(-sure, kind="stable")
    last = np.append(np.flatnonzero(np.diff(sure[order])), order.size - 1)
    records, right = (
        np.append(0.0, np.cumsum(part[order])[last])
        for part in (swapped + kept, np.where(chance >= 0.5, swapped, kept))
    )
    least = share * records[-1]
    return float(np.interp(least, records, right) / least)


def doubt(p: float) -> float:
    """The chance of an error below which an attacker is certain: 1 in 20, and half that of a blind guess.

    The second counts where p is below .1 or above .9, and nearly all is certain without a look.
    """
    return min(CERTAIN, 0.5 * p, 0.5 * (1.0 - p))


class Outcomes(NamedTuple):
    """What may be released, and how likely: each row a point, with its weight among swapped and kept records.

    The weights sum to p and 1 - p. `law` and `noised` are F and F * noise there as the attacker has them, up
    to a common factor; `smoothed` is F without its finer structure, and `digits` stands for law / noised by
    the class of the point alone.
    """

    points: np.ndarray
    swapped: np.ndarray
    kept: np.ndarray
    law: np.ndarray
    noised: np.ndarray
    smoothed: np.ndarray
    digits: np.ndarray

    def weighted(self, share: float) -> "Outcomes":
        """The outcomes of a share of the records."""
        return self._replace(swapped=share * self.swapped, kept=share * self.kept)


def concatenate(parts: list[Outcomes]) -> Outcomes:
    """The outcomes of several parts, one after the other."""
    return Outcomes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Attacker(NamedTuple):
    """The attacker who knows the law F, by point and by cell, and its convolution with the noise."""

    learned: LearnedDensity
    cells: Cells
    masses: np.ndarray
    noised: np.ndarray

    def densities(self, points: np.ndarray, *, closely: bool = False) -> list[np.ndarray]:
        """F and F * noise at points, in masses of a cell, equal where nothing is known.

        Who looks closely gets F without its finer structure as well.
        """
        index, inside = self.cells.at(points)
        densities = [self.learned.density(points) * self.cells.width]
        for masses in (self.noised, *([self.cells.smoothed(self.masses)] if closely else [])):
            densities.append(self.cells.interpolated(masses, points, index))
        faint = FAINT * float(self.noised.max())
        return [np.where(inside, density + faint, 1.0) for density in densities]


def attacker(learned: LearnedDensity, cells: Cells) -> Attacker:
    """The attacker who learned a law, and looks at some cells."""
    first, width = cells.first, cells.width
    below = learned.below(np.append(first, first[-1:] + width))
    masses = np.diff(below)
    last = cells.offsets[1:-1] - 1  # of each piece but the last one: the next cell is elsewhere
    masses[last] = learned.below(first[last] + width) - below[last]
    return Attacker(learned, cells, masses, cells.convolved(masses))


def attack(folded: FoldCounts, classes: DigitClasses, most: int, folds: int, *, closely: bool) -> Outcomes:
    """What may be released of a number of folds, against attackers who have seen the others."""
    total, table, values = folded.counts, folded.table, folded.values
    pieces = pieces_around(values, folded)
    if pieces.size > MOST_CELLS:
        chosen = systematic_sample(np.cumsum(total), pieces.values_within(MOST_CELLS))[0]
        table = table * (np.bincount(chosen, minlength=total.size) / total)
        pieces = pieces_around(values[np.unique(chosen)], folded)
    cells = pieces.cells()
    attacked = [k for k in range(len(table)) if table[k].any() and (total > folded.table[k]).any()][:folds]
    records = sum(table[k].sum() for k in attacked)
    parts = []
    for k in attacked:
        near = cells if pieces.size <= MANY_CELLS else cells.holding(values[table[k] > 0])
        others = attacker(learn(folded, total - folded.table[k], classes), near)
        part = outcomes(others, folded, table[k], most // len(attacked), closely)
        parts.append(part.weighted(table[k].sum() / records))
    return concatenate(parts)


def densities(folded: FoldCounts, classes: DigitClasses, points: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """F and F * noise at released values, in whole steps, to an attacker who has not seen their fold."""
    law_and_noised, order = np.ones((2, points.size)), np.argsort(points, kind="stable")
    for k in np.unique(fold):
        held = folded.table[k]
        if not (folded.counts > held).any():
            continue
        density, of_fold = learn(folded, folded.counts - held, classes), order[fold[order] == k]
        pieces = pieces_around(points[of_fold], folded)
        lot = of_fold.size if pieces.size <= MOST_CELLS else pieces.values_within(MOST_CELLS)
        for start in range(0, of_fold.size, lot):
            rows = of_fold[start : start + lot]
            cells = pieces_around(points[rows], folded).cells()
            law_and_noised[:, rows] = attacker(density, cells).densities(points[rows])
    return law_and_noised


def outcomes(against: Attacker, folded: FoldCounts, counts: np.ndarray, most: int, closely: bool) -> Outcomes:
    """What may be released of the records at each value, against one attacker: `most` points each way."""
    p, cells = folded.law.p, against.cells
    occupied = np.flatnonzero(counts)
    steps, share = folded.values[occupied], counts[occupied] / counts.sum()
    kept = cells.convolved(cells.histogram(steps, share))
    likely = np.flatnonzero(kept > UNLIKELY)
    if likely.size * cells.width <= most:
        moved = (cells.first[likely][:, None] + np.arange(cells.width)).ravel()
        moved_share = np.repeat(kept[likely], cells.width)
    else:
        index, part = systematic_sample(np.cumsum(kept), most)
        moved = cells.first[index] + (part * cells.width).astype(np.int64)
        moved_share = np.ones(most)
    if occupied.size > most:
        steps = steps[systematic_sample(np.cumsum(share), most)[0]]
        share = np.full(most, 1.0 / most)
    points = np.concatenate((steps, moved))
    swapped = np.concatenate((p * share, np.zeros(moved.size)))
    kept = np.concatenate((np.zeros(steps.size), (1.0 - p) / moved_share.sum() * moved_share))
    law, noised, *more = against.densities(points, closely=closely)
    more += [_by_class(against.learned, points, kept, counts.sum())] if closely else [law, law]
    return Outcomes(points, swapped, kept, law, noised, *more)


def _by_class(learned: LearnedDensity, points: np.ndarray, kept: np.ndarray, n: float) -> np.ndarray:
    """The likelihood ratio of the class of each point, by itself."""
    classes, shares = learned.classes, learned.shares[:, 0]
    number = digit_classes.classify(classes, points)
    moved = np.bincount(number, kept, shares.size) * (n / kept.sum()) + digit_classes.prior(classes)
    return np.asarray((shares * moved.sum() / moved)[number])
