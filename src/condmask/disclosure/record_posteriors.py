"""What the best attacker makes of the masked values of a release, record by record."""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import swap_posterior
from condmask.disclosure.credible_window import MOST_CELLS, bits_for, room
from condmask.disclosure.joint_attack import chances as chances_of
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import FULL, Task
from condmask.disclosure.value_attack import outlooks, task_of


class Seen(NamedTuple):
    """Of some records, for each width of interval.

    Attributes
    ----------
    first : ndarray of shape (records, widths)
        Where the guessed intervals begin, in units.
    chance : ndarray of shape (records, widths)
        Their posterior mass: how sure he is.
    hit : ndarray of bool
        Whether they hold the original.
    swapped : ndarray of shape (records,)
        The chance that the record was swapped, as he has it.
    density : ndarray of shape (records,)
        The share of originals that he expects at the masked value, by the step.
    """

    first: np.ndarray
    chance: np.ndarray
    hit: np.ndarray
    swapped: np.ndarray
    density: np.ndarray


def looked_at(
    file: Original, z: np.ndarray, rows: np.ndarray, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> Seen:
    """Of the records at `rows`, whose masked values z are in units of the law."""
    wide, p, m = file.wide(d), file.law.p, rows.size
    found = Seen(
        np.tile(steady[1], (m, 1)), np.tile(p * steady[0], (m, 1)), np.zeros((m, d.size), dtype=bool),
        np.full(m, p), np.zeros(m),
    )  # fmt: skip
    everyone, at = file.rows(file.n), z.astype(np.int64)
    task = task_of(file, everyone, FULL._replace(rows=file.n))
    if task is not None:
        order = np.argsort(at, kind="stable")
        for lot in _lots(task.problem, at[order], wide):
            _look(found, task, file, order[lot], at, everyone.fold[rows], wide, steady)
    original = file.units[rows]
    for k, width in enumerate(wide):
        found.hit[:, k] = (found.first[:, k] <= original) & (original < found.first[:, k] + width)
    return found


def _lots(problem: swap_posterior.Problem, ordered: np.ndarray, wide: np.ndarray) -> list[slice]:
    """Masked values whose cells, the finest of all widths, fit into memory together."""
    bits = int(bits_for(problem, wide).min())
    pieces = swap_posterior.pieces_around(ordered, problem, bits) if ordered.size else None
    if pieces is None or pieces.cells <= MOST_CELLS:
        return [slice(0, ordered.size)]
    return [slice(start, start + room(pieces)) for start in range(0, ordered.size, room(pieces))]


def _look(
    found: Seen, task: Task, file: Original, members: np.ndarray, at: np.ndarray, fold: np.ndarray,
    wide: np.ndarray, steady: tuple[np.ndarray, np.ndarray],
) -> None:  # fmt: skip
    if not members.size:
        return
    p, points = file.law.p, at[members]
    for which, outlook in outlooks(task, file, wide, steady, points):
        for k in np.unique(fold[members]).tolist():
            who = outlook.attacker(k)
            some = np.flatnonzero(fold[members] == k)
            if who is None or not some.size:
                continue
            law, noised = who.densities(points[some])
            swapped = chances_of(p, np.log(law) - np.log(noised)) if p else np.zeros(law.size)
            cells = outlook.at(points[some])
            choice, mass = outlook.best(who, cells, swapped)
            to = members[some]
            found.first[np.ix_(to, which)], found.chance[np.ix_(to, which)] = outlook.first(choice), mass
            found.swapped[to] = swapped
            found.density[to] = law / (1 << outlook.cells.bits)
