"""The best attacker: who knows Z_i, p, sigma and the law of the data."""

import numpy as np

from condmask.disclosure import swap_attack
from condmask.disclosure.baselines import around
from condmask.disclosure.credible_window import Outlook, bits_for
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import FULL, Effort, Rows, Task

LEAST, MOST = 256, 2048  # masked values tried each way, of a fold
EVALUATIONS = 4e6  # of windows


def task_of(file: Original, rows: Rows, effort: Effort) -> Task | None:
    """The attack on a file of whose records all are looked at; None where nobody knows of anybody else."""
    tasks = swap_attack.lay_out(file.values, file.kind, file.law, None, rows, effort).tasks
    return tasks[0] if tasks else None


def outlooks(
    task: Task,
    file: Original,
    wide: np.ndarray,
    steady: tuple[np.ndarray, np.ndarray],
    around: np.ndarray | None = None,
) -> list[tuple[np.ndarray, Outlook]]:
    """Which of the widths share cells, and the outlook for these."""
    (share, first), bits = steady, bits_for(task.problem, wide)
    some = [(np.flatnonzero(bits == each), each) for each in np.unique(bits).tolist()]
    return [
        (own, Outlook(task, file, wide[own], (share[own], first[own]), each, around)) for own, each in some
    ]


def by_posterior(
    file: Original, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray], effort: Effort = FULL
) -> np.ndarray:
    """The risk of who guesses the best interval for each masked value."""
    rows = file.rows(effort.rows)
    some = file if rows.rows.size == file.n else file.some(rows.rows)
    task = task_of(some, rows._replace(rows=np.arange(some.n)), effort)
    if task is None:
        return _without_law(some, d, steady)
    found = np.zeros(d.size)
    for which, outlook in outlooks(task, some, file.wide(d), steady):
        length = min(outlook.noise.size, outlook.edges.size)
        most = EVALUATIONS * effort.points / FULL.points / (2.0 * length * which.size)
        found[which] = outlook.risk(int(np.clip(most, LEAST, MOST)), effort.attacked)
    return found


def _without_law(file: Original, d: np.ndarray, steady: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Of a file of which nothing is known: who takes values as they are, or has one answer."""
    p, values = file.law.p, file.values
    lone = np.mean([around(file, guess, d) for guess in values[:: max(1, values.size // 256)]], axis=0)
    return np.asarray(np.maximum(p * lone + (1.0 - p) * file.law.noise_within(d), p * steady[0]))
