"""The trained attacker on values, who learns from examples which guess of an original is near.

There are several guesses of each original: the released value, what columns in clear predict, what a relation
computes, what the other records of a unit show, the middle of the law, and what all of these predict.
For each distance a classifier learns how likely each guess is to be near; the attacker takes the likeliest.

The attacker learns from one half of the file, in releases drawn from it, and is tried on the other
(`trained_attack`).
"""

from typing import Any

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.audit_input import AuditInput
from condmask.disclosure import boosting
from condmask.disclosure.drawn_release import DrawnRelease
from condmask.disclosure.leave_one_out import others_of_unit
from condmask.disclosure.trained_attack import ATTACK, CHECK, TEACH, drawn, trained_file
from condmask.disclosure.trained_features import Context, features

TRIED = 1 << 13  # records that teach and check, and as many that are attacked


def by_training(
    data: AuditInput, schemes: dict[str, Any], name: str, d: np.ndarray
) -> tuple[np.ndarray, int]:
    """The share of originals of a column that are guessed closer than each distance, and their number."""
    best, records = np.zeros(d.size), 0
    for known, releases, part in drawn(trained_file(data), schemes):
        rows = known.sample.rows
        original = data.values[name][rows]
        some = np.flatnonzero(~np.isnan(original) & (part <= ATTACK))
        some = some[evenly_spaced(some.size, 2 * TRIED)]
        tables = [np.column_stack([look.values for look in features(known, release)]) for release in releases]
        table = np.concatenate([of_release[some] for of_release in tables])
        x, parts = np.tile(original[some], len(releases)), np.tile(part[some], len(releases))
        place = np.tile(np.arange(some.size) % 2 == 0, len(releases))
        guesses = _guesses(known, releases, name, some, d)
        predicted = boosting.predictions(table[(parts == TEACH) & place], x[(parts == TEACH) & place], table)
        learned, checked, asked = (parts == TEACH) & ~place, parts == CHECK, parts == ATTACK
        for k, distance in enumerate(d.tolist()):
            ways = [*guesses, _middle(x[parts != ATTACK], distance) + 0.0 * x, predicted]
            near = np.stack([np.abs(way - x) < distance for way in ways])
            chance = np.empty((len(ways), np.count_nonzero(asked)))
            for row, (way, hit) in enumerate(zip(ways, near, strict=True)):
                looks = np.column_stack((table, way))
                chance[row] = boosting.chances(
                    looks[learned], hit[learned], looks[checked], hit[checked], looks[asked]
                )
            said = np.argmax(chance, axis=0)
            share = float(np.mean(near[:, asked][said, np.arange(said.size)]))
            best[k] = max(best[k], share)
        records = max(records, int(np.count_nonzero(asked)))
    return best, records


def _middle(x: np.ndarray, distance: float) -> float:
    """The constant guess that is within a distance of most of some originals."""
    x = np.sort(x)
    inside = np.searchsorted(x, x + 2.0 * distance) - np.arange(x.size)
    return float(x[np.argmax(inside)]) + distance * (1.0 - 1e-9)


def _guesses(
    known: Context, releases: list[DrawnRelease], name: str, rows: np.ndarray, d: np.ndarray
) -> list[np.ndarray]:
    """Guesses of the originals of a column, of the records at some rows of the sample."""
    sample, ways = known.sample, []
    for release in releases:
        shown = {other: z[sample.rows] for other, z in release.values.items()}
        z = shown[name]
        of_release = [z, *([sample.predicted[name]] if sample.predicted else [])]
        for identity in known.identities:
            if name in identity.names:
                computed = identity.computed({**shown, **sample.clear}, name)[1]
                with np.errstate(over="ignore"):
                    of_release.append(np.exp(computed) if identity.product else computed)
        for code in sample.units.values():
            _, mean, median, _, off = others_of_unit(code, z, (float(np.median(d)),))
            of_release += [mean, median, z - off]
        ways.append(np.stack([way[rows] for way in of_release]))
    return list(np.concatenate(ways, axis=1))
