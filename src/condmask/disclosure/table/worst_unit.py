"""Name the unit that is guessed most: a branch, a school, an article."""

import numpy as np

from condmask.disclosure.table.encode import column_of
from condmask.disclosure.table.view import MaskedColumn, View

MIN_RECORDS = 12  # of a unit
MAX_CHANCE = 0.01  # of the largest rate of all units, if all records were guessed equally often


def worst_unit(view: View, column: MaskedColumn, hit: np.ndarray) -> tuple[str, float]:
    """Return the unit of which most records are guessed, and the share of them; an empty text and
    NaN where no unit differs from others beyond chance.

    A unit is named by its column and its number of records, and by none of its values.
    """
    from scipy.stats import binom  # takes .3 s to import

    present = column.present
    overall = min(max(float(hit[present].mean()), 1e-9), 1.0)
    codes = view.encoded.codes | {unit.name: unit.codes for unit in column.units}
    tried = 0
    found: list[tuple[float, float, str]] = []
    for name, code in codes.items():
        some = present & (code >= 0)
        size = np.bincount(code[some])
        right = np.bincount(code[some], hit[some])
        large = np.flatnonzero(size >= MIN_RECORDS)
        tried += large.size
        chance = binom.sf(right[large] - 1.0, size[large], overall)
        for k, rare in zip(large.tolist(), chance.tolist(), strict=True):
            if rare < MAX_CHANCE:
                text = f"{column_of(name)} of {int(size[k]):,}"
                found.append((float(right[k] / size[k]), rare, text))
    beyond_chance = [each for each in found if each[1] * tried < MAX_CHANCE]
    if not beyond_chance:
        return "", float("nan")
    share, _, text = max(beyond_chance)
    return text, share
