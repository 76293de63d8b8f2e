"""What the best attacker makes of the masked values of a release, record by record."""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import coins
from condmask.disclosure.attack import FULL
from condmask.disclosure.together import chances as chances_of
from condmask.levels import classes
from condmask.risks.original import Original
from condmask.risks.outlook import MOST_CELLS, bits_for, room
from condmask.risks.posterior import Class, classes_of, outlooks


class Seen(NamedTuple):
    """Of some records, for each width of interval.

    Attributes
    ----------
    first : ndarray of shape (records, widths)
        Where the guessed intervals begin, as positions.
    chance : ndarray of shape (records, widths)
        Their posterior mass: how sure he is.
    hit : ndarray of bool
        Whether they hold the original.
    swapped : ndarray of shape (records,)
        The chance that the record was swapped, as he has it.
    density : ndarray of shape (records,)
        The share of originals that he expects at the masked value, a step of its class.
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
    everyone = file.rows(file.n)
    code, at = classes(z, file.law)
    at = at.astype(np.int64)
    for own in classes_of(file, everyone, FULL._replace(rows=file.n)):
        members = np.flatnonzero(code == own.code)
        if own.task is None:
            if own.law is None:  # a kept one is what it was
                _as_it_is(found, file, members, float(file.positions[own.rows[0]]), d, wide)
            continue
        order = members[np.argsort(at[members], kind="stable")]
        for lot in _lots(own, at[order], wide):
            _look(found, own, own.rows.size / file.n, order[lot], at, everyone.fold[rows], wide, steady)
    original = file.positions[rows]
    for k, width in enumerate(wide):
        found.hit[:, k] = (found.first[:, k] <= original) & (original < found.first[:, k] + width)
    return found


def _lots(own: Class, ordered: np.ndarray, wide: np.ndarray) -> list[slice]:
    """Masked values whose cells, the finest of all widths, fit into memory together."""
    assert own.task is not None
    assert own.line is not None
    problem = own.task.problem
    bits = int(bits_for(problem, own.line, wide).min())
    pieces = coins.pieces_around(ordered, problem, bits) if ordered.size else None
    if pieces is None or pieces.cells <= MOST_CELLS:
        return [slice(0, ordered.size)]
    return [slice(start, start + room(pieces)) for start in range(0, ordered.size, room(pieces))]


def _look(
    found: Seen, own: Class, share: float, members: np.ndarray, at: np.ndarray, fold: np.ndarray,
    wide: np.ndarray, steady: tuple[np.ndarray, np.ndarray],
) -> None:  # fmt: skip
    if not members.size:
        return
    assert own.task is not None
    points = own.task.problem.points.seen(at[members])
    mirrored = own.line is not None and own.line.law.scale == "log" and own.code == 0
    for which, outlook in outlooks(own, wide, steady, at[members]):
        for k in np.unique(fold[members]).tolist():
            who = outlook.attacker(k)
            some = np.flatnonzero(fold[members] == k)
            if who is None or not some.size:
                continue
            law, noised = who.densities(points[some])
            p = own.task.problem.law.p
            swapped = chances_of(p, np.log(law) - np.log(noised)) if p else np.zeros(law.size)
            cells = outlook.at(points[some])
            choice, mass = outlook.best(who, cells, swapped)
            first = outlook.first(choice)
            if mirrored:
                first = -(first + wide[which])
            to = members[some]
            found.first[np.ix_(to, which)], found.chance[np.ix_(to, which)] = first, mass
            found.swapped[to] = swapped
            found.density[to] = share * law / (1 << outlook.cells.bits)


def _as_it_is(
    found: Seen, file: Original, members: np.ndarray, value: float, d: np.ndarray, wide: np.ndarray
) -> None:
    """Of a value that masking never changes: the interval around it, where that is worth more."""
    p, around = file.law.p, np.array([value]) - 0.5 * wide
    mass = np.where(d > 0.0, 1.0 - p + p * file.share(around, around + wide), 0.0)
    better = mass > found.chance[members]
    found.first[members] = np.where(better, around, found.first[members])
    found.chance[members] = np.where(better, mass, found.chance[members])
