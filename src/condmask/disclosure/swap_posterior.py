r"""How many coins an attacker guesses where noise of one law is added to whole numbers.

A released value z is another record's with probability p, else the record's own plus noise. Who knows p, the
noise and the law F of the data guesses "swapped" where p F(z) >= (1 - p) (F * noise)(z), and is right in

    sum over z of  p f(z) [the guess is swapped] + (1 - p) (f * noise)(z) [the guess is kept]

of all coins, f being the values attacked. F is learned from *other* records: the file is split into folds by
row, and the values of a fold are attacked with the law of the rest. So nothing is known of a value but by its
digits, its neighbours and its repetitions (kernels/learned_density.py), and where nothing is known F and
F * noise are equal. No coin is drawn: f and f * noise are counted.

F * noise is smooth, so it is one Fourier transform on cells of a sixteenth to a thirty-second of sigma, and
linear between; who lies where in a cell is forgotten, which moves it by half a cell at most. On coarser grids
cells are points and all is exact. Cells lie within reach of records. Where these take more than MOST_CELLS,
only so many records as fit are attacked, evenly chosen by rank. Of kept records all points that may be
released are looked at, or `most` evenly drawn ones where there are more; of swapped ones likewise. Either
choice of m adds an error of at most 1 / (2 sqrt(m)).

Cost: O(n log n).
"""

from functools import lru_cache
from math import ceil, floor, log2
from typing import NamedTuple

import numpy as np

from condmask.deconvolution.expansion import fast_length
from condmask.disclosure import digit_classes
from condmask.kernels import learned_density as kernels
from condmask.kernels.learned_density import Forest, Look
from condmask.law import Law

FOLDS, RECORDS_FOR_TWO = 10, 20_000
CELLS_PER_SIGMA, MOST_CELLS = 16.0, 1 << 19
MANY_CELLS = 1 << 15  # beyond, a fold is attacked on the pieces that hold its records
REACH = {"normal": 8.0, "laplace": 16.0}  # sigma; beyond lies less than 1e-9 of the noise
MARGIN = 64.0  # sigma around the data that anybody thinks possible
FAINT = 1e-13  # of the largest share of a cell: what a Fourier transform may lose
UNLIKELY = 1e-12  # cells with less of the kept records are not looked at
CERTAIN = 0.05


def posterior(p: float, law: np.ndarray, noised: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, as the attacker has it."""
    return np.asarray(p * law / (p * law + (1.0 - p) * noised))


def guessed(swapped: np.ndarray, kept: np.ndarray, chance: np.ndarray) -> float:
    """The share of coins guessed by who says "swapped" where he gives that a chance of 1/2 or more."""
    says = chance >= 0.5
    return float(swapped[says].sum() + kept[~says].sum())


def certain(swapped: np.ndarray, kept: np.ndarray, chance: np.ndarray, p: float) -> float:
    """The share of records of whose coin he is certain."""
    sure = np.minimum(chance, 1.0 - chance) < doubt(p)
    return float(swapped[sure].sum() + kept[sure].sum())


def doubt(p: float) -> float:
    """The chance of an error below which he is certain: 1 in 20, and half of that of a blind guess.

    The second counts where p is below .1 or above .9, and nearly all is certain without a look.
    """
    return min(CERTAIN, 0.5 * p, 0.5 * (1.0 - p))


def fold_of(n: int, folds: int) -> np.ndarray:
    """The fold of each row: whatever its place in a file has to do with its value, folds are alike."""
    return np.asarray((digit_classes.spread_evenly(n) * folds).astype(np.int64))


def folds_for(n: int) -> int:
    """Two for many records, ten for few."""
    return int(min(FOLDS, max(2, ceil(RECORDS_FOR_TWO / max(n, 1)))))


class Outcomes(NamedTuple):
    """What may be released, and how likely: each row a point, with its weight among swapped and kept records.

    The weights sum to p and 1 - p. `law` and `noised` are F and F * noise there as the attacker has them, up
    to a common factor; `plain` is F without its finer structure, and `digits` stands for law / noised by the
    kind of the point alone.
    """

    points: np.ndarray
    swapped: np.ndarray
    kept: np.ndarray
    law: np.ndarray
    noised: np.ndarray
    plain: np.ndarray
    digits: np.ndarray

    def weighted(self, share: float) -> "Outcomes":
        """The same for a share of the records."""
        return self._replace(swapped=share * self.swapped, kept=share * self.kept)


def together(parts: list[Outcomes]) -> Outcomes:
    """One after the other."""
    return Outcomes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Problem(NamedTuple):
    """Whole numbers to which noise of one law is added, counted by fold."""

    values: np.ndarray
    table: np.ndarray  # (folds, values)
    law: Law

    @property
    def counts(self) -> np.ndarray:
        """The records of all folds at each value."""
        return np.asarray(self.table.sum(axis=0))

    def counts_at(self, points: np.ndarray) -> np.ndarray:
        """The records that show each point where no noise is added."""
        place = np.minimum(np.searchsorted(self.values, points), self.values.size - 1)
        return np.where(self.values[place] == points, self.counts[place], 0)

    @property
    def n(self) -> int:
        return int(self.table.sum())

    @property
    def sigma(self) -> float:
        """In whole steps."""
        return self.law.sigma / self.law.step


def problem(at: np.ndarray, fold: np.ndarray, folds: int, law: Law) -> Problem:
    """Count whole numbers by fold."""
    low, high = int(at.min()), int(at.max())
    if high - low <= 4 * at.size + (1 << 16):
        size = high - low + 1
        table = np.bincount(fold * size + (at - low), minlength=folds * size).reshape(folds, size)
        there = np.flatnonzero(table.any(axis=0))
        return Problem(there + low, table[:, there], law)
    values, place = np.unique(at, return_inverse=True)
    table = np.bincount(fold * values.size + place, minlength=folds * values.size)
    return Problem(values, table.reshape(folds, values.size), law)


# --- the line in cells ----------------------------------------------------------------------------


class Cells(NamedTuple):
    """The line in cells of 2^bits steps, near records only: pieces one after the other; sigma in cells."""

    bits: int
    starts: np.ndarray
    offsets: np.ndarray
    first: np.ndarray  # step of every cell
    sigma: float
    reach: int
    noise: np.ndarray
    length: int  # of the transform
    spectrum: np.ndarray  # of the noise

    def at(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each step, and whether it has one."""
        cell = steps >> self.bits
        piece = np.maximum(np.searchsorted(self.starts, cell, side="right") - 1, 0)
        index = cell - self.starts[piece] + self.offsets[piece]
        inside = (index >= self.offsets[piece]) & (index < self.offsets[piece + 1])
        return np.where(inside, index, 0), inside

    def counted(self, steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight in every cell."""
        return np.bincount(self.at(steps)[0], weights, int(self.offsets[-1]))

    def with_any(self, steps: np.ndarray) -> "Cells":
        """The pieces that hold any of some steps; noise takes nothing from one to another."""
        held = np.unique(np.searchsorted(self.starts, steps >> self.bits, side="right") - 1)
        if held.size == self.starts.size:
            return self
        return _laid_out(self.bits, self.starts[held], np.diff(self.offsets)[held], self.sigma, self.noise)

    def noised(self, masses: np.ndarray) -> np.ndarray:
        """The masses of all cells after noise was added."""
        found = np.fft.irfft(np.fft.rfft(masses, self.length) * self.spectrum, self.length)
        return np.maximum(found[self.reach : self.reach + masses.size], 0.0)

    def smoothed(self, masses: np.ndarray) -> np.ndarray:
        """The masses of all cells averaged over some quarter of sigma."""
        half = max(1, round(self.sigma / 8.0))
        total = np.cumsum(np.pad(masses, (half + 1, half)))
        return np.asarray((total[2 * half + 1 :] - total[: -2 * half - 1]) / (2 * half + 1))

    def around(self, masses: np.ndarray, steps: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The mass of a cell around each step of the cells at `index`: linear between middles of cells."""
        if self.bits == 0:
            return np.asarray(masses[index])
        width = 1 << self.bits
        apart = ((steps & (width - 1)) + 0.5) / width - 0.5
        beside = np.clip(index + np.where(apart < 0.0, -1, 1), 0, masses.size - 1)
        return np.asarray(masses[index] + np.abs(apart) * (masses[beside] - masses[index]))


def bits_of(task: Problem) -> int:
    """How many steps a cell has, as a power of two."""
    return max(0, floor(log2(task.sigma / CELLS_PER_SIGMA)))


def per_point(task: Problem, masses: np.ndarray) -> np.ndarray:
    """Masses of a cell as those of its points."""
    return masses / (1 << bits_of(task))


class Pieces(NamedTuple):
    """Where cells are to be, before there are any: their size and the noise, and the pieces they make."""

    bits: int
    sigma: float
    noise: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    @property
    def cells(self) -> int:
        """How many there would be."""
        return int(self.lengths.sum())

    @property
    def each(self) -> int:
        """How many there are around one value alone."""
        return int(self.noise.size)


def pieces_around(values: np.ndarray, task: Problem, bits: int | None = None) -> Pieces:
    """Those within reach of the noise of ascending values; of cells of 2^bits steps, where that is given."""
    bits = bits_of(task) if bits is None else bits
    sigma = task.sigma / (1 << bits)
    noise = noise_shares(task.law.noise, sigma)
    reach = noise.size // 2
    own = values >> bits
    new = np.flatnonzero(np.diff(own) > 2 * reach) + 1
    first, last = np.append(0, new), np.append(new, own.size) - 1
    return Pieces(bits, sigma, noise, own[first] - reach, own[last] - own[first] + 1 + 2 * reach)


def cells_around(values: np.ndarray, task: Problem, bits: int | None = None) -> Cells:
    """The cells of these pieces: so many that the caller has to know that there are not too many."""
    found = pieces_around(values, task, bits)
    return _laid_out(found.bits, found.starts, found.lengths, found.sigma, found.noise)


def _laid_out(bits: int, starts: np.ndarray, lengths: np.ndarray, sigma: float, noise: np.ndarray) -> Cells:
    offsets = np.append(0, np.cumsum(lengths))
    steps = (np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])) << bits
    length = fast_length(steps.size + noise.size)
    spectrum = np.fft.rfft(noise, length)
    return Cells(bits, starts, offsets, steps, sigma, noise.size // 2, noise, length, spectrum)


@lru_cache(maxsize=64)
def noise_shares(name: str, sigma: float) -> np.ndarray:
    """The share of the noise in each cell, from the cell where it starts."""
    ends = np.arange(ceil(REACH[name] * sigma) + 2) + 0.5
    within = Law(0.0, name, sigma).noise_within(ends)
    half = 0.5 * np.diff(within, prepend=-within[0])
    return np.concatenate((half[:0:-1], half))


# --- what the attacker knows ----------------------------------------------------------------------


class Known(NamedTuple):
    """The law F of the data, as somebody learned it from records."""

    look: Look
    forest: Forest
    shares: np.ndarray
    evidence: float

    def density(self, points: np.ndarray) -> np.ndarray:
        """The share of the records at each point."""
        found = np.empty(points.size)
        kernels.densities(self.look, self.forest, self.shares, points, found)
        return found

    def below(self, points: np.ndarray) -> np.ndarray:
        """The share of the records before each point."""
        found = np.empty(points.size)
        kernels.masses_below(self.look, self.forest, self.shares, points, found)
        return found


def learned(task: Problem, counts: np.ndarray, look: Look) -> Known:
    """The law as it is known from so many records at each of the values of a problem."""
    margin = ceil(MARGIN * task.sigma) + 2
    low, high = task.values[[0, -1]] + np.array([-margin, margin])
    there = counts > 0
    kinds, places = digit_classes.sorted_out(look, task.values[there])
    counts = counts[there]
    size, prior = digit_classes.size(look), digit_classes.prior(look)
    held = np.bincount(kinds, counts, size)
    if look.modulus > 1:
        bases, tops = np.array([low // look.modulus]), np.array([high // look.modulus + 1])
        places, counts = _merged(places - bases[0], counts)
        starts = np.array([0, places.size])
    else:
        bases, tops = np.array(
            [[kernels.place_in_level(look, k, x) for k in range(size)] for x in (low, high + 1)]
        )
        starts = np.append(0, np.cumsum(np.bincount(kinds, minlength=size)))
        order = np.argsort(kinds, kind="stable") if size > 1 else slice(None)
        places, counts = (places - bases[kinds])[order], counts[order]
    heights = np.array([int(length).bit_length() for length in np.maximum(tops - bases - 1, 0)])
    forest, evidence = _grown(places, counts, starts, heights, bases)
    share = (held + prior) / (held.sum() + prior * size)
    shares = np.stack((share, np.cumsum(share) - share), axis=1)
    return Known(look, forest, shares, evidence + digit_classes.dirichlet(held, prior))


def _merged(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending values, each once."""
    first = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
    return (values[first], np.add.reduceat(counts, first)) if first.size else (values, counts)


def _grown(
    places: np.ndarray, counts: np.ndarray, starts: np.ndarray, heights: np.ndarray, bases: np.ndarray
) -> tuple[Forest, float]:
    """The trees of all kinds, and the evidence of all."""
    before, own = np.append(0, np.cumsum(counts)), np.diff(starts)
    # at most two nodes for each place where paths part, and one for each cell that holds one place alone
    alone = np.array([h - int(m).bit_length() for h, m in zip(heights, own, strict=True)])
    nodes = int(np.sum(2 * own + own * np.maximum(alone + 1, 0) + 1))
    spans, kids = np.empty((nodes, 3), dtype=np.int64), np.empty((nodes, 2), dtype=np.int64)
    weights, evidence, roots = np.empty((nodes, 3)), np.empty(nodes), np.empty(heights.size, dtype=np.int64)
    free, total = 0, 0.0
    for k in range(heights.size):
        roots[k], of_tree, free = kernels.grow(
            places, before, starts[k], starts[k + 1], heights[k], free, spans, kids, weights, evidence
        )
        total += of_tree
    return Forest(places, kids[:free].copy(), weights[:free].copy(), roots, heights, bases), total


class Attacker(NamedTuple):
    """Who knows the law F, by point and by cell, and what noise makes of it."""

    known: Known
    cells: Cells
    masses: np.ndarray
    noised: np.ndarray

    def densities(self, points: np.ndarray, *, closely: bool = False) -> list[np.ndarray]:
        """F and F * noise at points, in masses of a cell, equal where nothing is known.

        Who looks closely gets F without its finer structure as well.
        """
        index, inside = self.cells.at(points)
        found = [self.known.density(points) * (1 << self.cells.bits)]
        for masses in (self.noised, *([self.cells.smoothed(self.masses)] if closely else [])):
            found.append(self.cells.around(masses, points, index))
        faint = FAINT * float(self.noised.max())
        return [np.where(inside, each + faint, 1.0) for each in found]


def attacker(known: Known, cells: Cells) -> Attacker:
    """Who knows the law, and looks at some cells."""
    first, width = cells.first, 1 << cells.bits
    below = known.below(np.append(first, first[-1:] + width))
    masses = np.diff(below)
    last = cells.offsets[1:-1] - 1  # of each piece but the last one: the next cell is elsewhere
    masses[last] = known.below(first[last] + width) - below[last]
    return Attacker(known, cells, masses, cells.noised(masses))


def best_look(task: Problem, found: list[Look]) -> tuple[Look, float]:
    """The look with the most evidence, which must be some to beat none; and its logarithm."""
    counts = task.counts
    best, most = digit_classes.PLAIN, learned(task, counts, digit_classes.PLAIN).evidence
    least = most + digit_classes.least_evidence(task.n)
    for look in found:
        evidence = learned(task, counts, look).evidence
        if evidence > max(most, least):
            best, most = look, evidence
    return best, most


# --- the attack -----------------------------------------------------------------------------------


def attacked(task: Problem, look: Look, most: int, folds: int, *, closely: bool) -> Outcomes:
    """What may be released of so many folds, against attackers who have seen the others."""
    total, table = task.counts, task.table
    values, pieces = task.values, pieces_around(task.values, task)
    if pieces.cells > MOST_CELLS:
        chosen = evenly(np.cumsum(total), max(2, MOST_CELLS // pieces.each))[0]
        table = table * (np.bincount(chosen, minlength=total.size) / total)
        values = task.values[np.unique(chosen)]
    cells = cells_around(values, task)
    own = [k for k in range(len(table)) if table[k].any() and (total > task.table[k]).any()][:folds]
    all_own = sum(table[k].sum() for k in own)
    parts = []
    for k in own:
        near = cells if cells.offsets[-1] <= MANY_CELLS else cells.with_any(task.values[table[k] > 0])
        who = attacker(learned(task, total - task.table[k], look), near)
        found = outcomes(who, task, table[k], most // len(own), closely)
        parts.append(found.weighted(table[k].sum() / all_own))
    return together(parts)


def densities(task: Problem, look: Look, at: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """F and F * noise at released values, in whole steps, as who has not seen a fold has them."""
    found, order = np.ones((2, at.size)), np.argsort(at, kind="stable")
    pieces = pieces_around(at[order], task)
    # the cells of so many surely fit
    lot = at.size if pieces.cells <= MOST_CELLS else max(1, MOST_CELLS // pieces.each)
    known = [
        learned(task, task.counts - own, look) if (task.counts > own).any() else None for own in task.table
    ]
    for start in range(0, at.size, lot):
        rows = order[start : start + lot]
        cells = cells_around(at[rows], task)
        for k in np.unique(fold[rows]):
            who, own = known[k], fold[rows] == k
            if who is not None:
                found[:, rows[own]] = attacker(who, cells).densities(at[rows[own]])
    return found


def outcomes(who: Attacker, task: Problem, counts: np.ndarray, most: int, closely: bool) -> Outcomes:
    """What may be released of so many records at each value, against one attacker: `most` points each way."""
    p, cells, width = task.law.p, who.cells, 1 << who.cells.bits
    there = np.flatnonzero(counts)
    steps, share = task.values[there], counts[there] / counts.sum()
    kept = cells.noised(cells.counted(steps, share))
    held = np.flatnonzero(kept > UNLIKELY)
    if held.size * width <= most:
        moved = (cells.first[held][:, None] + np.arange(width)).ravel()
        moved_share = np.repeat(kept[held], width)
    else:
        index, part = evenly(np.cumsum(kept), most)
        moved = cells.first[index] + (part * width).astype(np.int64)
        moved_share = np.ones(most)
    if there.size > most:
        steps = steps[evenly(np.cumsum(share), most)[0]]
        share = np.full(most, 1.0 / most)
    points = np.concatenate((steps, moved))
    swapped = np.concatenate((p * share, np.zeros(moved.size)))
    kept = np.concatenate((np.zeros(steps.size), (1.0 - p) / moved_share.sum() * moved_share))
    law, noised, *more = who.densities(points, closely=closely)
    more += [_by_kind(who, points, kept, counts.sum())] if closely else [law, law]
    return Outcomes(points, swapped, kept, law, noised, *more)


def _by_kind(who: Attacker, points: np.ndarray, kept: np.ndarray, n: float) -> np.ndarray:
    """The likelihood ratio of the kind of each point, by itself."""
    look, shares = who.known.look, who.known.shares[:, 0]
    kinds = digit_classes.kinds_of(look, points)
    moved = np.bincount(kinds, kept, shares.size) * (n / kept.sum()) + digit_classes.prior(look)
    return np.asarray((shares * moved.sum() / moved)[kinds])


def evenly(cumulated: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """So many places evenly spread over what was cumulated: the entry and how far into it."""
    goal = (np.arange(most) + digit_classes.spread_evenly(most)) / most * cumulated[-1]
    index = np.minimum(np.searchsorted(cumulated, goal, side="right"), cumulated.size - 1)
    own = np.diff(cumulated, prepend=0.0)[index]
    part = (goal - cumulated[index] + own) / np.maximum(own, 1e-300)
    return index, np.clip(part, 0.0, np.nextafter(1.0, 0.0))
