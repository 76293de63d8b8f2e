"""The best attacker, who knows Z_i, p, sigma and the law of the data."""

import numpy as np

from condmask.disclosure import swap_attack
from condmask.disclosure.baselines import FullestWindows, around
from condmask.disclosure.credible_window import CredibleWindows, bits_for
from condmask.disclosure.folds import FoldedRows, folded_rows
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import FULL, Effort, StrataAttack

LEAST, MOST = 256, 2048  # masked values tried each way, of a fold
EVALUATIONS = 4e6  # of windows


def attack_on(file: Original, rows: FoldedRows, effort: Effort) -> StrataAttack | None:
    """The attack on a file with all its records; None if there are no other records to learn from."""
    attacks = swap_attack.prepare(file.values, file.kind, file.law, None, rows, effort).attacks
    return attacks[0] if attacks else None


def windows_by_cells(
    attack: StrataAttack, file: Original, wide: np.ndarray, constant: FullestWindows,
    around: np.ndarray | None = None,
) -> list[tuple[np.ndarray, CredibleWindows]]:  # fmt: skip
    """Which of the widths share cells of one size, and the windows of these."""
    bits = bits_for(attack.folded, wide)
    groups = [(np.flatnonzero(bits == size), size) for size in np.unique(bits).tolist()]
    return [(k, CredibleWindows(attack, file, wide[k], constant.of(k), size, around)) for k, size in groups]


def by_posterior(
    file: Original, d: np.ndarray, constant: FullestWindows, effort: Effort = FULL
) -> np.ndarray:
    """The risk of guessing the best interval for each masked value."""
    rows = folded_rows(file.n, effort.rows)
    some = file if rows.rows.size == file.n else file.some(rows.rows)
    attack = attack_on(some, rows._replace(rows=np.arange(some.n)), effort)
    if attack is None:
        return _without_law(some, d, constant)
    risk = np.zeros(d.size)
    for which, windows in windows_by_cells(attack, some, file.wide(d), constant):
        length = min(windows.noise.size, windows.edges.size)
        most = EVALUATIONS * effort.points / FULL.points / (2.0 * length * which.size)
        risk[which] = windows.risk(int(np.clip(most, LEAST, MOST)), effort.attacked)
    return risk


def _without_law(file: Original, d: np.ndarray, constant: FullestWindows) -> np.ndarray:
    """The risk of a file about which nothing is known: values are taken as they are, or guessed alike."""
    p, values = file.law.p, file.values
    lone = np.mean([around(file, guess, d) for guess in values[:: max(1, values.size // 256)]], axis=0)
    return np.asarray(np.maximum(p * lone + (1.0 - p) * file.law.noise_within(d), p * constant.share))
