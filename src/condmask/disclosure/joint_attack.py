"""Columns masked together share their coins, and those in clear show none: what all of them tell of coins.

With additive noise every column's likelihood ratio is known where it is attacked by itself. To these come
features of several columns: what is left of an identity, and of one column given another (less a multiple of
it, or as a ratio).
A swapped record carries all values of one donor, a kept one has noise of its own in each. Their likelihood
ratios are counted, in classes of equal size, in one half of the rows; the other half is attacked. All
logarithms are added, and the sum is tempered, since features repeat each other: by the power that suits the
first half. Noise is drawn once for every row looked at, from a stream that is always the same.

By reverse mapping a column alone tells nothing (docs/reverse_mapping.rst), and every feature is of several:
of two masked columns, or of one beside one in clear, also what is left of the normal scores of one given
those of the other, in classes of the latter. Each row is looked at twice: with the values of a record of its
pool, and with those of its place in the order of the values with noise, all records being kept.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.disclosure import simulated_maps, swap_posterior
from condmask.disclosure.correlations import normal_scores, pearson
from condmask.disclosure.folds import fold_of
from condmask.disclosure.relations import MOST_COLUMNS, Identity, Steps
from condmask.disclosure.swap_attack import ColumnAttack
from condmask.strata import crossed

LOOKED_AT = 1 << 15
TEMPERS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.1, 0.0)
CLASSES, RECORDS_PER_CLASS = 24, 16
ACROSS = 8  # classes of the one column given another
BEFOREHAND = 0.5  # records in each class

Table = dict[str, np.ndarray]
Tables = tuple[Table, Table]  # rows as they are where all are swapped, and where all are kept


class Joint(NamedTuple):
    """The share of coins guessed, that of records known for certain, and what each feature tells alone."""

    guessed: float
    certain: float
    identities: dict[Identity, float]
    pairs: dict[tuple[str, str], float]
    ties: float = 0.0


class _Attack(NamedTuple):
    """Rows with their coins for one half, and without for the other."""

    p: float
    learned: np.ndarray  # the rows of this half

    @property
    def most(self) -> int:
        """The classes for which there are records enough."""
        return int(np.count_nonzero(self.learned)) // RECORDS_PER_CLASS

    def classes(self, feature: np.ndarray, most: int = CLASSES) -> np.ndarray:
        """Classes of equal size of a feature, in swapped and kept records, from 1 on; 0 where missing."""
        present = ~np.isnan(feature)
        learned = feature[:, self.learned][present[:, self.learned]]
        most = min(most, learned.size // (2 * RECORDS_PER_CLASS))
        parts = np.arange(1, most) / max(most, 1)
        edges = np.unique(np.quantile(learned, parts, method="inverted_cdf")) if most > 1 else np.empty(0)
        return np.where(present, np.searchsorted(edges, feature, side="right") + 1, 0)

    def ratio(self, place: np.ndarray) -> np.ndarray:
        """The log likelihood ratio of classes, in swapped and kept records; class 0 tells nothing."""
        size = int(place.max()) + 1
        counts = np.stack([np.bincount(part[self.learned], minlength=size) for part in place])
        shares = (counts + BEFOREHAND) / (counts.sum(axis=1) + BEFOREHAND * size)[:, None]
        ratios = np.log(shares[0] / shares[1])
        ratios[0] = 0.0
        return np.asarray(ratios[place])

    def crossed(self, feature: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Classes of a feature in those of another."""
        across = int(np.clip(0.5 * np.sqrt(self.most), 1, ACROSS))
        classes, other = self.classes(feature, min(CLASSES, self.most // across)), self.classes(given, across)
        return np.where((classes > 0) & (other > 0), classes * (across + 1) + other, 0)

    def figures(self, ratio: np.ndarray) -> tuple[float, float]:
        """The shares of coins guessed, and of records certain, in the other half."""
        chance = chances(self.p, ratio[:, ~self.learned]).ravel()
        n = chance.size // 2
        swapped, kept = np.repeat((self.p / n, 0.0), n), np.repeat((0.0, (1.0 - self.p) / n), n)
        return swap_posterior.guessed(swapped, kept, chance), swap_posterior.certain(
            swapped, kept, chance, self.p
        )

    def fit(self, ratio: np.ndarray, rows: np.ndarray) -> float:
        """The mean logarithm of the chance that is given to the coins of some rows."""
        chance = np.clip(chances(self.p, ratio[:, rows]), 1e-12, 1.0 - 1e-12)
        return float(self.p * np.log(chance[0]).mean() + (1.0 - self.p) * np.log1p(-chance[1]).mean())

    def tempered(self, ratio: np.ndarray) -> np.ndarray:
        """The power of the likelihood ratio that suits the first half."""
        return max(
            (temper * ratio for temper in TEMPERS), key=lambda tempered: self.fit(tempered, self.learned)
        )


def chances(p: float, ratio: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, given the logarithm of a likelihood ratio."""
    return np.asarray(1.0 / (1.0 + (1.0 - p) / p * np.exp(-np.clip(ratio, -600.0, 600.0))))


def joint(
    values: Table, clear: Table, columns: dict[str, ColumnAttack], strata: np.ndarray | None,
    folds: np.ndarray, identities: list[Identity], steps: Steps, *, tied: int,
) -> Joint:  # fmt: skip
    """What columns tell together; all arrays are those of the rows looked at, `folds` theirs.

    `tied` is the number of all records where several may take one record's values, else 0.
    """
    some = evenly_spaced(folds.size, LOOKED_AT)
    n = some.size
    fold, code = folds[some], None if strata is None else strata[some]
    stream = np.random.default_rng(0)
    total = np.zeros((2, n))
    swapped: Table = {name: np.roll(x[some], 1) for name, x in clear.items()}  # masked values are another's
    kept: Table = {name: x[some] for name, x in clear.items()}
    for name, column in columns.items():
        x = values[name][some]
        present = np.flatnonzero(~np.isnan(x))
        of_stratum = None if code is None else code[present]
        for row, (table, noise) in enumerate(((swapped, None), (kept, stream))):
            law, units = column.law, column.law.to_units(x[present])
            if noise is not None:
                units = units + law.draw(noise, units.size)
            total[row, present] = column.log_ratios(units, of_stratum, fold[present])
            table[name] = np.full(n, np.nan)
            table[name][present] = law.from_units(units)
    attack = _Attack(next(iter(columns.values())).law.p, fold_of(n, 2) == 0)
    by_identity = _of_identities(attack, swapped, kept, identities, steps, total)
    by_pair, by_ties = {}, 0.0
    if tied:
        others = _others(swapped, kept, list(columns), code, attack.p, tied / n, stream)
        ratio = attack.ratio(attack.classes(others))
        total += ratio
        by_ties = attack.figures(ratio)[0]
    for a, b in _pairs(list(columns)):
        ratios = [
            attack.ratio(attack.classes(residual))
            for residual in _residuals(swapped, kept, a, b, attack.learned)
        ]
        best = max(ratios, key=lambda ratio: attack.figures(ratio)[0])
        total += best
        by_pair[a, b] = attack.figures(best)[0]
    return Joint(*attack.figures(attack.tempered(total)), by_identity, by_pair, by_ties)


def _others(
    swapped: Table, kept: Table, names: list[str], code: np.ndarray | None, p: float, scale: float,
    stream: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """How many others of a stratum show a record's values in all masked columns, if swapped and if kept.

    Of `scale` times as many records; swapped ones take the values of one record, whose others are Poisson.
    """
    n = swapped[names[0]].size
    rows = [np.append(swapped[name], kept[name]) for name in names] + (
        [] if code is None else [np.tile(code, 2)]
    )
    _, place = np.unique(np.nan_to_num(np.stack(rows), nan=np.inf), axis=1, return_inverse=True)
    donors, moved = (np.bincount(half, minlength=2 * n) for half in np.split(place.ravel(), 2))
    if_swapped, if_kept = place.ravel().reshape(2, n)
    of_swapped = p * (1.0 + scale * (donors[if_swapped] - 1.0)) + (1.0 - p) * scale * moved[if_swapped]
    of_kept = p * scale * donors[if_kept] + (1.0 - p) * scale * (moved[if_kept] - 1.0)
    return stream.poisson(np.stack((of_swapped, of_kept))).astype(float)


def rearranged(values: Table, clear: Table, schemes: dict[str, Any], strata: np.ndarray | None) -> Tables:
    """Rows as they are where all are swapped, and where all are kept, by reverse mapping in their pools."""
    stream, n = np.random.default_rng(0), next(iter(values.values())).size
    present = {name: ~np.isnan(x) for name, x in values.items()}
    code = crossed([*present.values(), *([] if strata is None else [strata + 1])], n)
    swapped, kept = dict(clear), dict(clear)
    donor = np.empty(n, dtype=np.int64)
    donor[np.argsort(code, kind="stable")] = np.lexsort((stream.random(n), code))
    for name, scheme in schemes.items():
        x, pool = values[name][present[name]], code[present[name]]
        keys = simulated_maps.with_noise(x, scheme, stream)
        place = np.flatnonzero(present[name])[np.lexsort((stream.random(x.size), keys, pool))]
        swapped[name], kept[name] = values[name][donor], np.full(n, np.nan)
        kept[name][place] = x[np.lexsort((x, pool))]
    return swapped, kept


def joint_of_rearranged(
    p: float, tables: Tables, masked: list[str], identities: list[Identity], steps: Steps
) -> Joint:
    """What columns released by reverse mapping tell together, and beside those in clear."""
    swapped, kept = tables
    n = swapped[masked[0]].size
    attack, total = _Attack(p, fold_of(n, 2) == 0), np.zeros((2, n))
    by_identity = _of_identities(attack, swapped, kept, identities, steps, total)
    scores = {name: normal_scores(np.stack((swapped[name], kept[name]))) for name in swapped}
    beside = [(a, b) for a in masked for b in swapped if b not in masked]
    by_pair, ratios = {}, []
    for a, b in [*_pairs(masked), *beside]:
        places = [attack.crossed(_residual_scores(scores[a], scores[b]), scores[b])]
        if b in masked:
            places += [
                attack.classes(residual) for residual in _residuals(swapped, kept, a, b, attack.learned)
            ]
        best = max(map(attack.ratio, places), key=lambda ratio: attack.figures(ratio)[0])
        by_pair[a, b] = attack.figures(best)[0]
        ratios.append((by_pair[a, b], best))
    for _, best in sorted(ratios, key=lambda pair: -pair[0]):
        now, more = (attack.fit(attack.tempered(ratio), ~attack.learned) for ratio in (total, total + best))
        if more > now:  # else it says what others say, or nothing
            total += best
    return Joint(*attack.figures(attack.tempered(total)), by_identity, by_pair)


def _residual_scores(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The residual of one column given another, by the regression where they go together more."""
    slopes = [0.0]
    for x, y in zip(a, b, strict=True):
        present = ~np.isnan(x + y)
        slopes.append(pearson(x[present], y[present]))
    return np.asarray(a - max(slopes, key=abs) * b)


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    return list(combinations(names, 2)) if len(names) <= MOST_COLUMNS else []


def _of_identities(
    attack: _Attack, swapped: Table, kept: Table, identities: list[Identity], steps: Steps, total: np.ndarray
) -> dict[Identity, float]:
    """The share of coins that each identity tells; its logarithms are added to the total."""
    by_identity = {}
    for identity in identities:
        place = attack.classes(np.stack((identity.residual(swapped), identity.residual(kept))))
        place[np.stack([identity.holds(table, steps) for table in (swapped, kept)])] = place.max() + 1
        ratio = attack.ratio(place)
        total += ratio
        by_identity[identity] = attack.figures(ratio)[0]
    return by_identity


def _residuals(swapped: Table, kept: Table, a: str, b: str, learned: np.ndarray) -> list[np.ndarray]:
    """The residuals of b given a: less a multiple, and as a ratio; of swapped and of kept records."""
    x, y = swapped[a][learned], swapped[b][learned]
    present = ~np.isnan(x + y)
    x, y = x[present] - x[present].mean(), y[present] - y[present].mean()
    slope = float(np.sum(x * y)) / max(float(np.sum(x * x)), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return [
            np.stack((swapped[b] - slope * swapped[a], kept[b] - slope * kept[a])),
            np.stack((swapped[b] / swapped[a], kept[b] / kept[a])),
        ]
