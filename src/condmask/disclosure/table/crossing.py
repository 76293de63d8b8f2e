"""Find columns in clear that together say who a record belongs to, though none does by itself.

A person's date of birth, sex and district stay the same from year to year. Crossed, they put the
same records side by side far more often than columns that know nothing of each other would.
Columns are crossed one after the other, the one that does most so first, while this holds.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.encode import PART_OF, Encoded, column_of
from condmask.disclosure.table.neighbours import Group, group

MAX_CANDIDATES = 8  # codes with the most levels
MAX_COLUMNS = 4  # that are crossed
MIN_STEP_LIFT = 1.2  # of the chance that two records agree, over that of unrelated columns
MIN_LIFT = 3.0  # the same, in all
CERTAINTY = 5.0  # standard errors of the number of pairs of records that agree by chance
MIN_RECORDS = 1.2  # mean size of units that several columns name
MAX_RECORDS = 50.0
MIN_GROWTH = 1.05  # of the number of groups, by a further column


class Crossing(NamedTuple):
    """Columns that are crossed, their groups, and the chance that two records share one."""

    names: tuple[str, ...]
    codes: np.ndarray
    agreement: float

    @property
    def groups(self) -> int:
        """Return the number of groups."""
        return int(self.codes.max()) + 1


def crossed(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a code for each pair of codes, -1 where either is missing."""
    pair = one * (int(other.max(initial=0)) + 1) + other
    return np.where((one < 0) | (other < 0), -1, pair)


def composites(encoded: Encoded, pairs: Mapping[tuple[str, str], Group]) -> list[Group]:
    """Return the groups of the columns that together name units; none where they name none.

    ``pairs`` are the groups by two codes that were formed already.
    """
    singles = _candidates(encoded)
    best = None
    most = MIN_STEP_LIFT
    for one, other in combinations(singles, 2):
        pair = pairs.get((one, other)) or pairs.get((other, one))
        if pair is None or column_of(one) == column_of(other):
            continue
        both = Crossing((one, other), pair.codes, _agreement(pair.codes))
        lift = _lift(both, singles[one], singles[other])
        if lift > most:
            best = both
            most = lift
    if best is None:
        return []
    best = _extended(best, singles)
    by_chance = float(np.prod([singles[name].agreement for name in best.names]))
    mean_size = best.codes.size / best.groups
    if best.agreement < MIN_LIFT * by_chance or not MIN_RECORDS < mean_size < MAX_RECORDS:
        return []
    return [group(" x ".join(best.names), best.codes, structural=True)]


def _candidates(encoded: Encoded) -> dict[str, Crossing]:
    """Return columns and parts of dates that may be crossed, those of most levels first."""
    every = encoded.codes | encoded.keys
    names = [name for name in every if PART_OF not in name or column_of(name) in encoded.dates]
    names.sort(key=lambda name: -int(every[name].max(initial=-1)))
    return {
        name: Crossing((name,), every[name], _agreement(every[name]))
        for name in names[:MAX_CANDIDATES]
    }


def _extended(start: Crossing, singles: Mapping[str, Crossing]) -> Crossing:
    """Return a crossing with further columns, while records agree far beyond chance."""
    best = start
    while len(best.names) < MAX_COLUMNS:
        taken = {column_of(name) for name in best.names}
        tries = []
        for name, single in singles.items():
            if column_of(name) in taken:
                continue
            codes = group("", crossed(best.codes, single.codes)).codes
            new = Crossing((*best.names, name), codes, _agreement(codes))
            if new.groups > MIN_GROWTH * best.groups:
                tries.append((_lift(new, best, single), new))
        lift, longer = max(tries, key=lambda one: one[0], default=(0.0, best))
        if lift < MIN_STEP_LIFT:
            break
        best = longer
    return best


def _agreement(codes: np.ndarray) -> float:
    """Return the chance that two records have the same code."""
    count = np.bincount(codes[codes >= 0]).astype(np.float64)
    return float(np.sum(count * (count - 1.0))) / max(codes.size * (codes.size - 1.0), 1.0)


def _lift(both: Crossing, one: Crossing, other: Crossing) -> float:
    """Return how much more often two records agree than if both parts were unrelated; 0 where
    that may be chance."""
    pairs = 0.5 * both.codes.size * (both.codes.size - 1.0)
    expected = one.agreement * other.agreement * pairs
    agreeing = both.agreement * pairs
    if expected <= 0.0 or agreeing - expected < CERTAINTY * np.sqrt(expected):
        return 0.0
    return agreeing / expected
