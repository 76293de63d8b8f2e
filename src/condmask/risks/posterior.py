"""The best attacker: who knows Z_i, p, sigma and the law of the data, over all classes of values."""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import attack
from condmask.disclosure.attack import FULL, Effort, Rows, Task
from condmask.disclosure.interval import kept_within
from condmask.law import Law
from condmask.levels import class_law, classes
from condmask.risks.original import Original
from condmask.risks.outlook import Line, Outlook, bits_for, line_of

LEAST, MOST = 256, 2048  # masked values tried each way, of a fold
EVALUATIONS = 4e6  # of windows, in a class


class Class(NamedTuple):
    """The records whose masked values show one class: their rows, and the attack on them, if any."""

    code: int
    rows: np.ndarray
    law: Law | None
    task: Task | None
    line: Line | None


def classes_of(file: Original, rows: Rows, effort: Effort) -> list[Class]:
    """The classes of a file, of whose records all are looked at."""
    code = classes(file.units, file.law)[0]
    found = []
    for each in [0] if file.law.is_plain else np.unique(code).tolist():
        own = np.flatnonzero(code == each)
        law, task, line = class_law(each, file.law), None, None
        if law is not None:
            some = Rows(own, rows.fold[own], rows.folds)
            laid = attack.lay_out(file.values[own], file.kind, file.law, None, some, effort)
            task = laid.tasks[0] if laid.tasks else None
            line = line_of(file, each, law)
        found.append(Class(each, own, law, task, line))
    return found


def outlooks(
    own: Class, wide: np.ndarray, steady: tuple[np.ndarray, np.ndarray], around: np.ndarray | None = None
) -> list[tuple[np.ndarray, Outlook]]:
    """Which of the widths share cells, and the outlook for these."""
    assert own.task is not None
    assert own.line is not None
    share, first = steady
    if own.line.law.scale == "log" and own.code == 0:
        first = -(first + wide)
    bits = bits_for(own.task.problem, own.line, wide)
    found = []
    for each in np.unique(bits).tolist():
        some = np.flatnonzero(bits == each)
        found.append(
            (some, Outlook(own.task, own.line, wide[some], (share[some], first[some]), each, around))
        )
    return found


def by_posterior(
    file: Original, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray], effort: Effort = FULL
) -> np.ndarray:
    """The risk of who guesses the best interval for each masked value."""
    rows = file.rows(effort.rows)
    some = file if rows.rows.size == file.n else file.some(rows.rows)
    wide, total = file.wide(d), np.zeros(d.size)
    for own in classes_of(some, rows._replace(rows=np.arange(some.n)), effort):
        share = own.rows.size / some.n
        if own.task is None:
            total += share * _without_law(some, own, d, steady)
            continue
        for which, outlook in outlooks(own, wide, steady):
            length = min(outlook.noise.size, outlook.edges.size)
            most = EVALUATIONS * effort.points / FULL.points * share / (2.0 * length * which.size)
            total[which] += share * outlook.risk(int(np.clip(most, LEAST, MOST)), effort.attacked)
    return total


def _without_law(
    file: Original, own: Class, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Of values of a class of which nothing is known: who takes them as they are, or has one answer."""
    p = file.law.p
    if own.law is None:  # nothing is added
        kept, guess = (d > 0.0).astype(np.float64), float(file.values[own.rows[0]])
        lone = _shares(file, np.array([guess]), d)[:, 0]
    else:
        values = file.values[own.rows]
        kept = kept_within(values, d, file.law)
        lone = _shares(file, values[:: max(1, values.size // 256)], d).mean(axis=1)
    return np.asarray(np.maximum(p * lone + (1.0 - p) * kept, p * steady[0]))


def _shares(file: Original, guesses: np.ndarray, d: np.ndarray) -> np.ndarray:
    from condmask.risks.plain import around

    return np.array([around(file, guess, d) for guess in guesses]).T
