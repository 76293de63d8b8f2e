"""The trained attacker, who learns from examples what the coins of a file look like, and knows no theory.

The file is halved. Releases are drawn in which each half is masked by itself. The coins of one half teach a
classifier from all that a release shows of a record (`trained_features`): gradient boosting, stopped and
calibrated by a quarter of the records. It then guesses the coins of the other half.

At most 32,768 records are used, and whole units with as many for each column that names units. Nothing
depends on the number of threads.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask.audit_input import AuditInput
from condmask.disclosure import boosting, relations, swap_posterior
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.causes import COARSER, NAMED, Cause, tells
from condmask.disclosure.drawn_release import DrawnRelease, draw, is_masked
from condmask.disclosure.folds import fold_of
from condmask.disclosure.trained_features import (
    Context,
    Feature,
    Sample,
    column_attacks,
    context,
    features,
    samples,
)

FEW, RELEASES = 1 << 13, 16  # records: of fewer records several releases are drawn, up to so many
CHECKED = 4  # one record in so many checks the others
LOTS = 3  # one record in so many is used to find what shows most
TEACH, CHECK, ATTACK, NONE = 0, 1, 2, 3
WHY = {  # kinds of features: what they are, and what helps
    "column": ("the values of each column", COARSER),
    "clear": ("the columns in clear", "mask within strata by those that are related to it, or drop them"),
    "columns": ("how all columns are related", "pass smaller sigmas, or drop one of the columns"),
    "relation": ("rules among columns", "drop a column that others give away"),
    "order": ("the order of the rows", "shuffle the rows before masking"),
    "unit": (
        "the other records with the same {!r}",
        "release one record per {!r}, or mask within strata by it if each has enough records",
    ),
}


class TrainedFile(NamedTuple):
    """A file, its halves, and samples with what is known of them under any scheme."""

    data: AuditInput
    half: np.ndarray
    samples: list[Sample]


class Trained(NamedTuple):
    """The shares of coins guessed and of records known for certain."""

    guessed: float
    certain: float


class Examples(NamedTuple):
    """Records of releases: features, coins, and what each is for: to teach, to check or to be attacked."""

    looks: list[Feature]
    swapped: np.ndarray
    part: np.ndarray


def trained_file(data: AuditInput) -> TrainedFile:
    """A file as the trained attacker learns from it."""
    half = fold_of(data.n, 2)
    return TrainedFile(data, half, samples(data, half))


def with_trained(audit: Audit, file: TrainedFile, schemes: dict[str, Any]) -> Audit:
    """The audit with the figures of the trained attacker, where these are greater."""
    p, guessed, certain, why = next(iter(schemes.values())).p, 0.0, 0.0, None
    for shown in examples(file, schemes):
        trained = attack(shown, p)
        if max(trained.guessed - audit.guessed, trained.certain - audit.certain) > NAMED and (
            why is None or trained.guessed > guessed
        ):
            why = _cause(shown, trained, audit, p)
        guessed, certain = max(guessed, trained.guessed), max(certain, trained.certain)
    causes = sorted([*audit.causes, *([] if why is None else [why])], key=lambda cause: -cause.share)
    return replace(
        audit, guessed=max(audit.guessed, guessed), certain=max(audit.certain, certain), trained=guessed,
        causes=tuple(causes),
    )  # fmt: skip


def _cause(shown: Examples, trained: Trained, audit: Audit, p: float) -> Cause:
    """The cause that a trained attacker guesses more; each kind of feature is tried to find from what."""
    few = np.arange(shown.part.size) % LOTS < 1
    shown = Examples(
        [look._replace(values=look.values[few]) for look in shown.looks], shown.swapped[few], shown.part[few]
    )
    alone = [look for look in shown.looks if look.kind == "column"]
    groups = {(look.kind, look.column if look.kind == "unit" else "") for look in shown.looks}
    reached = {("column", ""): attack(shown, p, alone).guessed + NAMED}  # others have to show more
    for group in sorted(groups - reached.keys()):
        some = [look for look in shown.looks if look.kind == group[0] and group[1] in ("", look.column)]
        reached[group] = attack(shown, p, alone + some).guessed
    kind, column = max(reached, key=lambda group: reached[group])
    what, remedy = WHY[kind]
    text = (
        f"an attacker is trained on releases of half of the file and learns most from {what.format(column)}: "
        f"{tells(trained.guessed)}, for certain that of {trained.certain:.0%}"
    )
    return Cause("trained", max(trained.guessed - audit.blind, trained.certain), remedy.format(column), text)


class Drawn(NamedTuple):
    """A sample under some schemes, releases drawn from it, and what each record serves for."""

    known: Context
    releases: list[DrawnRelease]
    part: np.ndarray


def drawn(file: TrainedFile, schemes: dict[str, Any]) -> Iterator[Drawn]:
    """Releases of a file, one sample after the other."""
    data, half, masked = file.data, file.half, is_masked(file.data)
    attacks, related = column_attacks(data, schemes, half), relations.identities_of(data)
    releases: list[DrawnRelease] = []
    for sample in file.samples:
        number = int(np.clip(-(-FEW // sample.rows.size), 1, RELEASES))
        releases += [draw(data, schemes, half, k) for k in range(len(releases), number)]
        check = fold_of(sample.rows.size, CHECKED) == 0
        part = np.where(sample.half == 1, ATTACK, np.where(check, CHECK, TEACH))
        part[~masked[sample.rows]] = NONE
        yield Drawn(context(data, schemes, sample, attacks, related), releases[:number], part)


def examples(file: TrainedFile, schemes: dict[str, Any]) -> Iterator[Examples]:
    """Records of releases drawn from a file, one sample after the other."""
    for known, releases, part in drawn(file, schemes):
        looks = [features(known, release) for release in releases]
        joined = [
            same[0]._replace(values=np.concatenate([look.values for look in same]))
            for same in zip(*looks, strict=True)
        ]
        swapped = np.concatenate([release.swapped[known.sample.rows] for release in releases])
        yield Examples(joined, swapped, np.tile(part, len(releases)))


def attack(shown: Examples, p: float, looks: list[Feature] | None = None) -> Trained:
    """How well the trained attacker does with all features, or with some."""
    table = np.column_stack([look.values for look in (shown.looks if looks is None else looks)])
    teach, check, attacked = (shown.part == part for part in (TEACH, CHECK, ATTACK))
    swapped = shown.swapped
    chance = boosting.chances(table[teach], swapped[teach], table[check], swapped[check], table[attacked])
    return figures(chance, swapped[attacked], p)


def figures(chance: np.ndarray, swapped: np.ndarray, p: float) -> Trained:
    """The shares of coins guessed right and of records certain, for which guesses are right as often."""
    right = (chance >= 0.5) == swapped
    doubt, most = np.minimum(chance, 1.0 - chance), swap_posterior.doubt(p)
    order = np.argsort(doubt)
    doubt, number = doubt[order], np.arange(1, doubt.size + 1)
    last = np.diff(doubt, append=np.inf) > 0.0
    sure = last & (doubt < most) & (np.cumsum(~right[order]) <= most * number)
    return Trained(float(right.mean()), float(number[sure].max(initial=0)) / doubt.size)
