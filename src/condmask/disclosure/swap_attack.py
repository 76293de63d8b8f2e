"""The attack on a column: one for all strata, or one for each.

Strata are attacked together, or each by itself where the evidence says that their values lie differently.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import digit_classes, swap_posterior, ties
from condmask.disclosure.convolution import per_point
from condmask.disclosure.folds import MOST_FOLDS, FoldCounts, FoldedRows, count_by_fold, systematic_sample
from condmask.disclosure.learned_density import best_classes
from condmask.disclosure.swap_posterior import Outcomes
from condmask.kernels.learned_density import DigitClasses
from condmask.law import Law

FEW = 32  # records whose digits are not looked at
APART = 64  # strata that may be attacked each by itself
LEAST_POINTS = 256  # looked at in one attack
SIZES = 8  # that stand for those of all strata
WORST = 0.1  # of the records


class Effort(NamedTuple):
    """What an audit may cost.

    Evenly spaced rows; folds (0: by the number of rows) and how many of them are attacked; points looked at;
    records that choose classes of digits; lots of records that suggest a grid; whether strata may be attacked
    apart; rows in which all columns are attacked together.
    """

    rows: int
    folds: int
    attacked: int
    points: int
    screened: int
    lots: int
    apart: bool
    together: int = 1 << 15


FULL = Effort(1 << 17, 0, MOST_FOLDS, 1 << 15, 4096, 6, True)
HALF = Effort(1 << 15, 0, 2, 1 << 14, 4096, 4, True)
BRIEF = Effort(1 << 10, 2, 1, 1 << 9, 128, 0, False, 1 << 11)


class StrataAttack(NamedTuple):
    """Values of some strata by fold, the classes of digits that serve best, and the sizes of the strata."""

    folded: FoldCounts
    classes: DigitClasses
    sizes: np.ndarray


class ColumnAttack(NamedTuple):
    """A column of n values prepared for attack: for each of the sorted strata its attack, -1 for none."""

    law: Law
    n: int
    effort: Effort
    strata: np.ndarray
    numbers: np.ndarray
    attacks: list[StrataAttack]

    def outcomes(self, *, closely: bool = False) -> list[Outcomes]:
        """What may be released, by attack with its share; last, of records of which nothing is known."""
        parts, left = [], 1.0
        for folded, classes, _ in self.attacks:
            share = folded.n / self.n
            most = max(LEAST_POINTS, int(share * self.effort.points))
            part = swap_posterior.attack(folded, classes, most, self.effort.attacked, closely=closely)
            parts.append(part.weighted(share))
            left -= share
        one, p = np.ones(1), self.law.p
        blind = Outcomes(np.zeros(1, np.int64), left * p * one, left * (1.0 - p) * one, one, one, one, one)
        return [*parts, blind]

    def log_ratios(
        self, units: np.ndarray, strata: np.ndarray | None, fold: np.ndarray, *, shared: bool = False
    ) -> np.ndarray:
        """log F - log (F * noise) of released values, to an attacker who has not seen their fold.

        With `shared` donors the attacker counts equal values as well, which needs the values of all records.
        """
        ratios = np.zeros(units.size)
        if not self.attacks:
            return ratios
        codes = _codes(strata, units.size)
        place = np.minimum(np.searchsorted(self.strata, codes), self.strata.size - 1)
        number = np.where(self.strata[place] == codes, self.numbers[place], -1)
        for k, (folded, classes, _) in enumerate(self.attacks):
            rows = np.flatnonzero(number == k)
            if rows.size:
                points = units[rows].astype(np.int64)
                law, noised = swap_posterior.densities(folded, classes, points, fold[rows])
                ratios[rows] = np.log(law) - np.log(noised)
                if shared:
                    size, times = (
                        _multiplicity(place[rows]),
                        _multiplicity(np.stack((place[rows], units[rows]))),
                    )
                    law, noised = (size * per_point(folded, masses) for masses in (law, noised))
                    ratios[rows] += ties.log_ratios(self.law.p, law, noised, times)
        return ratios


def prepare(
    values: np.ndarray, kind: str, law: Law, strata: np.ndarray | None, rows: FoldedRows, effort: Effort
) -> ColumnAttack:
    """The attack on the values of some rows, as the publisher has them; missing ones are left out."""
    present = ~np.isnan(values)
    fold = rows.fold
    if not present.all():
        values, fold = values[present], fold[present]
        strata = None if strata is None else strata[present]
    units = law.to_units(values).astype(np.int64)
    if strata is None:  # of one pool no numbers are needed
        codes, number = np.zeros(min(1, units.size), dtype=np.int64), np.empty(0, dtype=np.int64)
        every_size = np.array([units.size])
    else:
        codes, number, every_size = np.unique(strata, return_inverse=True, return_counts=True)

    def attack(members: np.ndarray, compared: bool) -> tuple[StrataAttack | None, float]:
        sizes = every_size[members]
        some = np.flatnonzero(np.isin(number, members)) if members.size < codes.size else slice(None)
        folded = count_by_fold(units[some], fold[some], rows.folds, law)
        return _attack(folded, units[some], values[some], kind, effort, compared, sizes)

    numbers, members = np.full(codes.size, -1), np.arange(codes.size)
    apart = effort.apart and 1 < codes.size <= APART
    whole, evidence = attack(members, apart) if codes.size else (None, 0.0)
    chosen = [(members, whole)]
    if apart:
        single = [attack(members[k : k + 1], True) for k in members]
        if sum(of_stratum for _, of_stratum in single) > evidence:
            chosen = [(members[k : k + 1], of_stratum) for k, (of_stratum, _) in enumerate(single)]
    attacks: list[StrataAttack] = []
    for which, prepared in chosen:
        if prepared is not None:
            numbers[which] = len(attacks)
            attacks.append(prepared)
    return ColumnAttack(law, values.size, effort, codes, numbers, attacks)


def _multiplicity(columns: np.ndarray) -> np.ndarray:
    """How many columns are like each one."""
    _, place, times = np.unique(columns, axis=-1, return_inverse=True, return_counts=True)
    return np.asarray(times[place.ravel()])


def _codes(strata: np.ndarray | None, n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.int64) if strata is None else strata


def _attack(
    folded: FoldCounts, units: np.ndarray, values: np.ndarray, kind: str, effort: Effort, compared: bool,
    sizes: np.ndarray,
) -> tuple[StrataAttack | None, float]:  # fmt: skip
    """The attack by the best classes, and their evidence; none without other records to learn from."""
    law, tried = folded.law, []
    if units.size >= FEW:
        assert law.grid is not None
        tried = digit_classes.candidates(
            values, kind, law.grid, effort.lots, min(units.size, effort.screened)
        )
    tried = [
        classes for classes in tried if digit_classes.tell_from_noise(classes, units, law, effort.screened)
    ]
    classes, evidence = best_classes(folded, tried) if tried or compared else (digit_classes.ONE_CLASS, 0.0)
    alone = np.count_nonzero(folded.table.any(axis=1)) < 2
    return None if alone else StrataAttack(folded, classes, sizes), evidence


class Figures(NamedTuple):
    """What an attacker can tell of the coins of one column.

    `unchanged` is the share of kept records, of those to which noise is added, that are released as they are;
    `by_value` that of coins guessed without counting equal values, and `ties` what these add to `guessed` or
    `certain`; `worst` that of the tenth of the records of whose coins the attacker is surest, by value.
    """

    blind: float
    guessed: float
    certain: float
    unchanged: float
    by_value: float
    ties: float
    worst: float = 0.0


def figures(column: ColumnAttack, parts: list[Outcomes], n: int, *, shared: bool) -> Figures:
    """The figures from what may be released of n values."""
    p, unchanged, noisy = column.law.p, 0.0, 0.0
    blind = max(p, 1.0 - p)
    together = swap_posterior.concatenate(parts)
    chances = swap_posterior.posterior(p, together.law, together.noised)
    worst = swap_posterior.guessed_surest(together.swapped, together.kept, chances, WORST)
    totals = np.zeros((2, 2))  # by values alone, and by how many records share them: guessed, certain
    for attack, part in zip([*column.attacks, None], parts, strict=True):
        chance = swap_posterior.posterior(p, part.law, part.noised)
        by_value = (
            swap_posterior.guessed(part.swapped, part.kept, chance),
            swap_posterior.certain(part.swapped, part.kept, chance, p),
        )
        totals[0] += by_value
        totals[1] += by_value if attack is None or not shared else _by_ties(p, attack, part, n / column.n)
        if attack is not None:
            share, law = attack.folded.n / column.n, attack.folded.law
            unchanged += share * float(law.noise_within(np.array([law.step]))[0])
            noisy += share
    totals[:, 0] = np.maximum(totals[:, 0], blind)
    without_ties = float(totals[0, 0])
    guessed, certain = totals.max(axis=0).tolist()
    unchanged /= max(noisy, 1e-300)
    more = max(0.0, float((totals[1] - totals[0]).max()))
    return Figures(blind, guessed, certain, unchanged, without_ties, more, max(worst, guessed))


def _by_ties(p: float, attack: StrataAttack, part: Outcomes, scale: float) -> np.ndarray:
    """Coins guessed and records certain where `scale` times as many records are masked as are looked at.

    Equal values are counted within a stratum. How many records of one have a value is known where it is
    attacked by itself, and where several are, strata are taken by size.
    """
    folded = attack.folded
    law, noised = (per_point(folded, masses) for masses in (part.law, part.noised))
    alone = attack.sizes.size == 1
    held = folded.counts_at(part.points) if alone else (part.swapped > 0.0).astype(np.float64)
    sizes = np.sort(attack.sizes)
    sizes, number = np.unique(sizes[systematic_sample(np.cumsum(sizes), SIZES)[0]], return_counts=True)
    shares = np.zeros(2)
    for size, weight in zip(sizes * scale, number / SIZES, strict=True):
        unseen = size - size / scale if alone else size
        shares += weight * ties.figures(p, part, size * law, size * noised, held, unseen * law)
    return shares


def repeats_beyond_chance(column: ColumnAttack, parts: list[Outcomes]) -> bool:
    """Whether more records agree than do by chance: so few do not show what values that many share tell."""
    agree, by_chance = 0.0, 0.0
    for attack, part in zip(column.attacks, parts[:-1], strict=True):
        counts = attack.folded.counts.astype(np.float64)
        agree += float(np.sum(counts * (counts - 1.0)))
        by_chance += attack.folded.n**2 * float(
            np.average(per_point(attack.folded, part.noised), weights=part.kept)
        )
    return agree > 3.0 * by_chance + 24.0
