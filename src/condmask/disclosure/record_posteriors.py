"""What the best attacker concludes from the masked values of a release, record by record."""

from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.disclosure.baselines import FullestWindows
from condmask.disclosure.coin_classes import chances as chances_of
from condmask.disclosure.convolution import pieces_around
from condmask.disclosure.credible_window import MOST_CELLS, bits_for
from condmask.disclosure.folds import FoldCounts, fold_of
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import StrataAttack
from condmask.disclosure.value_attack import windows_by_cells


class RecordPosteriors(NamedTuple):
    """What the best attacker makes of some records, for each width of interval.

    Attributes
    ----------
    first : ndarray of shape (records, widths)
        Where the guessed intervals begin, in units.
    chance : ndarray of shape (records, widths)
        Their posterior mass: how sure the attacker is.
    hit : ndarray of bool
        Whether they hold the original.
    swapped : ndarray of shape (records,)
        The chance that the record was swapped, in the attacker's eyes.
    density : ndarray of shape (records,)
        The share of originals that the attacker expects at the masked value, by the step.
    """

    first: np.ndarray
    chance: np.ndarray
    hit: np.ndarray
    swapped: np.ndarray
    density: np.ndarray


def record_posteriors(
    file: Original, attack: StrataAttack | None, z: np.ndarray, rows: np.ndarray, d: np.ndarray,
    constant: FullestWindows,
) -> RecordPosteriors:  # fmt: skip
    """What the best attacker makes of the records at `rows`, which show z in units of the law.

    `attack` is that on all records of the file.
    """
    wide, p, m = file.wide(d), file.law.p, rows.size
    posteriors = RecordPosteriors(
        np.tile(constant.first, (m, 1)), np.tile(p * constant.share, (m, 1)),
        np.zeros((m, d.size), dtype=bool), np.full(m, p), np.zeros(m),
    )  # fmt: skip
    if attack is not None:
        points, fold = z.astype(np.int64), fold_of(rows, len(attack.folded.table))
        order = np.argsort(points, kind="stable")
        for lot in _lots(attack.folded, points[order], wide):
            _fill(posteriors, attack, file, order[lot], points, fold, wide, constant)
    original = file.units[rows]
    for k, width in enumerate(wide):
        first = posteriors.first[:, k]
        posteriors.hit[:, k] = (first <= original) & (original < first + width)
    return posteriors


def _lots(folded: FoldCounts, ordered: np.ndarray, wide: np.ndarray) -> list[slice]:
    """Masked values whose cells, the finest of all widths, fit into memory together."""
    bits = int(bits_for(folded, wide).min())
    pieces = pieces_around(ordered, folded, bits) if ordered.size else None
    if pieces is None or pieces.size <= MOST_CELLS:
        return [slice(0, ordered.size)]
    lot = pieces.values_within(MOST_CELLS)
    return [slice(start, start + lot) for start in range(0, ordered.size, lot)]


def _fill(
    posteriors: RecordPosteriors, attack: StrataAttack, file: Original, members: np.ndarray,
    points: np.ndarray, fold: np.ndarray, wide: np.ndarray, constant: FullestWindows,
) -> None:  # fmt: skip
    """Fill in what the best attacker makes of the masked values at `members`."""
    if not members.size:
        return
    p = file.law.p
    for which, windows in windows_by_cells(attack, file, wide, constant, points[members]):
        for k in np.unique(fold[members]).tolist():
            attacker = windows.attacker(k)
            of_fold = members[fold[members] == k]
            if attacker is None:
                continue
            for start, stop in blocks(of_fold.size):
                rows = of_fold[start:stop]
                law, noised = attacker.densities(points[rows])
                swapped = chances_of(p, np.log(law) - np.log(noised)) if p else np.zeros(law.size)
                cells = windows.at(points[rows])
                choice, mass = windows.best(attacker, cells, swapped)
                to = np.ix_(rows, which)
                posteriors.first[to], posteriors.chance[to] = windows.first(choice), mass
                posteriors.swapped[rows] = swapped
                posteriors.density[rows] = law / windows.cells.width
