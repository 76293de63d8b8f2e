"""The attack on a column: one problem, or one for each stratum.

Strata are attacked together, or each by itself where the evidence says that their values lie differently.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import digit_classes, swap_posterior, ties
from condmask.disclosure.swap_posterior import Outcomes, Problem
from condmask.kernels.learned_density import Look
from condmask.law import Law

FEW = 32  # records that have no look of their own
APART = 64  # strata that may be attacked each by itself
LEAST_POINTS = 256  # looked at in a problem
SIZES = 8  # that stand for those of all strata


class Effort(NamedTuple):
    """What an audit may cost.

    Evenly spaced rows; folds (0: by the number of rows) and how many of them are attacked; points looked at;
    records that choose a look; lots of records that suggest a grid; whether strata may be attacked apart.
    """

    rows: int
    folds: int
    attacked: int
    points: int
    screened: int
    lots: int
    apart: bool


FULL = Effort(1 << 17, 0, swap_posterior.FOLDS, 1 << 15, 4096, 6, True)
HALF = Effort(1 << 15, 0, 2, 1 << 14, 4096, 4, True)
BRIEF = Effort(1 << 10, 2, 1, 1 << 9, 128, 0, False)


class Rows(NamedTuple):
    """The rows that are looked at, and the folds they are in."""

    rows: np.ndarray
    fold: np.ndarray
    folds: int


def rows_of(n: int, effort: Effort) -> Rows:
    """Evenly spaced rows, all where there are no more."""
    some = n > effort.rows
    rows = (np.arange(effort.rows) * (n / effort.rows)).astype(np.int64) if some else np.arange(n)
    folds = effort.folds or swap_posterior.folds_for(rows.size)
    return Rows(rows, swap_posterior.fold_of(rows.size, folds), folds)


class Task(NamedTuple):
    """One problem, the look that serves it best, and the records of each of its strata."""

    problem: Problem
    look: Look
    sizes: np.ndarray


class Column(NamedTuple):
    """A column of n values laid out for attack: the task of each of the sorted strata, -1 for none."""

    law: Law
    n: int
    effort: Effort
    strata: np.ndarray
    numbers: np.ndarray
    tasks: list[Task]

    def outcomes(self, *, closely: bool = False) -> list[Outcomes]:
        """What may be released of each task, by its share; last, of records of which nothing is told."""
        parts, left = [], 1.0
        for problem, look, _ in self.tasks:
            share = problem.n / self.n
            most = max(LEAST_POINTS, int(share * self.effort.points))
            found = swap_posterior.attacked(problem, look, most, self.effort.attacked, closely=closely)
            parts.append(found.weighted(share))
            left -= share
        one, p = np.ones(1), self.law.p
        blind = Outcomes(np.zeros(1, np.int64), left * p * one, left * (1.0 - p) * one, one, one, one, one)
        return [*parts, blind]

    def ratios(
        self, at: np.ndarray, strata: np.ndarray | None, fold: np.ndarray, *, shared: bool = False
    ) -> np.ndarray:
        """log F - log (F * noise) of released values, as who has not seen a fold has them.

        With `shared` donors he counts equal values as well: those of all records, then, are given.
        """
        found = np.zeros(at.size)
        if not self.tasks:
            return found
        codes = _codes(strata, at.size)
        place = np.minimum(np.searchsorted(self.strata, codes), self.strata.size - 1)
        number = np.where(self.strata[place] == codes, self.numbers[place], -1)
        for k, (problem, look, _) in enumerate(self.tasks):
            own = np.flatnonzero(number == k)
            if own.size:
                law, noised = swap_posterior.densities(problem, look, at[own].astype(np.int64), fold[own])
                found[own] = np.log(law) - np.log(noised)
                if shared:
                    size, times = _alike(place[own]), _alike(np.stack((place[own], at[own])))
                    law, noised = (size * swap_posterior.per_point(problem, each) for each in (law, noised))
                    found[own] += ties.log_ratios(self.law.p, law, noised, times)
        return found


def lay_out(
    values: np.ndarray, kind: str, law: Law, strata: np.ndarray | None, rows: Rows, effort: Effort
) -> Column:
    """Prepare the attack on the values of some rows, as the publisher has them; missing ones are left out."""
    there = ~np.isnan(values)
    fold = rows.fold
    if not there.all():
        values, fold, strata = values[there], fold[there], None if strata is None else strata[there]
    at = law.to_units(values).astype(np.int64)
    codes, number = np.unique(_codes(strata, at.size), return_inverse=True)
    tasks: list[Task] = []

    def task(which: np.ndarray, compared: bool) -> tuple[Task | None, float]:
        sizes = np.bincount(number, minlength=codes.size)[which]
        chosen = np.flatnonzero(np.isin(number, which)) if which.size < codes.size else slice(None)
        found = swap_posterior.problem(at[chosen], fold[chosen], rows.folds, law)
        return _task(found, at[chosen], values[chosen], kind, effort, compared, sizes)

    numbers, members = np.full(codes.size, -1), np.arange(codes.size)
    apart = effort.apart and 1 < codes.size <= APART
    whole, evidence = task(members, apart) if codes.size else (None, 0.0)
    found = [(members, whole)]
    if apart:
        single = [task(members[k : k + 1], True) for k in members]
        if sum(each for _, each in single) > evidence:
            found = [(members[k : k + 1], each) for k, (each, _) in enumerate(single)]
    for which, each in found:
        if each is not None:
            numbers[which] = len(tasks)
            tasks.append(each)
    return Column(law, values.size, effort, codes, numbers, tasks)


def _alike(columns: np.ndarray) -> np.ndarray:
    """How many columns are like each one."""
    _, place, times = np.unique(columns, axis=-1, return_inverse=True, return_counts=True)
    return np.asarray(times[place.ravel()])


def _codes(strata: np.ndarray | None, n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.int64) if strata is None else strata


def _task(
    problem: Problem,
    at: np.ndarray,
    values: np.ndarray,
    kind: str,
    effort: Effort,
    compared: bool,
    sizes: np.ndarray,
) -> tuple[Task | None, float]:
    """The problem with its best look, and the evidence; no task where nobody knows of anybody else."""
    law, tried = problem.law, []
    if at.size >= FEW:
        assert law.grid is not None
        tried = digit_classes.candidates(values, kind, law.grid, effort.lots, min(at.size, effort.screened))
    tried = [look for look in tried if digit_classes.tells(look, at, law, effort.screened)]
    look, evidence = (
        swap_posterior.best_look(problem, tried) if tried or compared else (digit_classes.PLAIN, 0.0)
    )
    alone = np.count_nonzero(problem.table.any(axis=1)) < 2
    return None if alone else Task(problem, look, sizes), evidence


class Figures(NamedTuple):
    """What an attacker can tell of the coins of one column.

    `unchanged` is the share of kept records, of those to which noise is added, that are released as they are;
    `alone` that of coins guessed without counting equal values, and `ties` what these add to `guessed` or
    `certain`.
    """

    blind: float
    guessed: float
    certain: float
    unchanged: float
    alone: float
    ties: float


def figures(column: Column, parts: list[Outcomes], n: int, *, shared: bool) -> Figures:
    """The figures from what may be released of n values."""
    p, unchanged, noisy = column.law.p, 0.0, 0.0
    blind = max(p, 1.0 - p)
    told = np.zeros((2, 2))  # by values alone, and by how many records share them: guessed, certain
    for task, part in zip([*column.tasks, None], parts, strict=True):
        chance = swap_posterior.posterior(p, part.law, part.noised)
        alone = (
            swap_posterior.guessed(part.swapped, part.kept, chance),
            swap_posterior.certain(part.swapped, part.kept, chance, p),
        )
        told[0] += alone
        told[1] += alone if task is None or not shared else _by_ties(p, task, part, n / column.n)
        if task is not None:
            share, law = task.problem.n / column.n, task.problem.law
            unchanged += share * float(law.noise_within(np.array([law.step]))[0])
            noisy += share
    told[:, 0] = np.maximum(told[:, 0], blind)
    (alone, _), (right, sure), more = told[0].tolist(), told.max(axis=0).tolist(), told[1] - told[0]
    return Figures(blind, right, sure, unchanged / max(noisy, 1e-300), alone, max(0.0, float(more.max())))


def _by_ties(p: float, task: Task, part: Outcomes, scale: float) -> np.ndarray:
    """Coins guessed and records certain where `scale` times as many records are masked as are looked at.

    Equal values are counted within a stratum. How many records of one have a value is known where it is
    attacked by itself, and where several are, strata are taken by size.
    """
    problem = task.problem
    law, noised = (swap_posterior.per_point(problem, each) for each in (part.law, part.noised))
    alone = task.sizes.size == 1
    held = problem.counts_at(part.points) if alone else (part.swapped > 0.0).astype(np.float64)
    sizes = np.sort(task.sizes)
    sizes, number = np.unique(sizes[swap_posterior.evenly(np.cumsum(sizes), SIZES)[0]], return_counts=True)
    found = np.zeros(2)
    for size, weight in zip(sizes * scale, number / SIZES, strict=True):
        unseen = size - size / scale if alone else size
        found += weight * ties.figures(p, part, size * law, size * noised, held, unseen * law)
    return found


def repeats(column: Column, parts: list[Outcomes]) -> bool:
    """Whether more records agree than do by chance: so few do not show what values that many share tell."""
    agree, by_chance = 0.0, 0.0
    for (problem, *_), part in zip(column.tasks, parts[:-1], strict=True):
        counts = problem.counts.astype(np.float64)
        agree += float(np.sum(counts * (counts - 1.0)))
        by_chance += problem.n**2 * float(
            np.average(swap_posterior.per_point(problem, part.noised), weights=part.kept)
        )
    return agree > 3.0 * by_chance + 24.0
