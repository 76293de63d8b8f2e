"""The trained attacker: who learns by examples what the coins of a file look like, and knows no theory.

The file is halved. Releases of either half are drawn, each half masked by itself; those of one teach, with
their coins, a classifier whatever a release shows of a record (`trained_features`): gradient boosting, stopped
and calibrated by a quarter of the records. It then guesses the coins of the other half.

Cost: of at most 16,384 records of each half some 10 s for 20 columns; nothing depends on the number of
threads.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.disclosure import boosting, swap_posterior
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.causes import NAMED, Cause, tells
from condmask.disclosure.drawn_release import draw
from condmask.disclosure.folds import fold_of
from condmask.disclosure.trained_features import Feature, context, features

MOST = 1 << 14  # records of each half that are looked at
FEW, RELEASES = 1 << 12, 8  # of fewer records more releases are drawn, up to so many
CHECKED = 4  # one record in so many checks the others


class Trained(NamedTuple):
    """The shares of coins guessed, and of records known for certain."""

    guessed: float
    certain: float


class Examples(NamedTuple):
    """Records of releases: their features, coins, and what each is for: to teach, to check, to be attacked."""

    looks: list[Feature]
    swapped: np.ndarray
    part: np.ndarray


TEACH, CHECK, ATTACK = 0, 1, 2


def examples(data: AuditInput, schemes: dict[str, Any]) -> Examples:
    """Records of releases drawn of a file."""
    half = fold_of(data.n, 2)
    rows = [np.flatnonzero(half == side) for side in (0, 1)]
    rows = [some[evenly_spaced(some.size, MOST)] for some in rows]
    part = np.concatenate((np.where(np.arange(rows[0].size) % CHECKED, TEACH, CHECK), np.full(rows[1].size, ATTACK)))
    known = context(data, schemes, half, np.concatenate(rows))
    number = int(np.clip(-(-FEW // rows[0].size), 1, RELEASES))
    releases = [draw(data, schemes, half, k) for k in range(number)]
    looks = [features(known, release) for release in releases]
    joined = [
        same[0]._replace(values=np.concatenate([look.values for look in same]))
        for same in zip(*looks, strict=True)
    ]
    swapped = np.concatenate([release.swapped[known.rows] for release in releases])
    return Examples(joined, swapped, np.tile(part, number))


def attack(found: Examples, p: float, looks: list[Feature] | None = None) -> Trained:
    """What the trained attacker reaches, by all features or some."""
    table = np.column_stack([look.values for look in (found.looks if looks is None else looks)])
    teach, check, attacked = (found.part == part for part in (TEACH, CHECK, ATTACK))
    swapped = found.swapped
    chance = boosting.chances(table[teach], swapped[teach], table[check], swapped[check], table[attacked])
    return figures(chance, swapped[attacked], p)


def figures(chance: np.ndarray, swapped: np.ndarray, p: float) -> Trained:
    """The share of coins guessed right, and that of records certain: where the guesses are right as often."""
    right = (chance >= 0.5) == swapped
    doubt, most = np.minimum(chance, 1.0 - chance), swap_posterior.doubt(p)
    certain = 0.0
    for least in (1.0, 0.5, 0.25, 0.1):
        sure = doubt < least * most
        if sure.any() and np.mean(~right[sure]) <= most:
            certain = float(sure.mean())
            break
    return Trained(float(right.mean()), certain)
