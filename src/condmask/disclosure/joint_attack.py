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

from condmask.disclosure import simulated_maps, swap_posterior
from condmask.disclosure.causes import correlation, ranks
from condmask.disclosure.folds import FoldedRows, evenly_spaced, fold_of
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
    known: np.ndarray

    @property
    def most(self) -> int:
        """The classes for which there are records enough."""
        return int(np.count_nonzero(self.known)) // RECORDS_PER_CLASS

    def classes(self, feature: np.ndarray, most: int = CLASSES) -> np.ndarray:
        """Classes of equal size of a feature, in swapped and kept records, from 1 on; 0 where missing."""
        there = ~np.isnan(feature)
        seen = feature[:, self.known][there[:, self.known]]
        most = min(most, seen.size // (2 * RECORDS_PER_CLASS))
        parts = np.arange(1, most) / max(most, 1)
        edges = np.unique(np.quantile(seen, parts, method="inverted_cdf")) if most > 1 else np.empty(0)
        return np.where(there, np.searchsorted(edges, feature, side="right") + 1, 0)

    def ratio(self, place: np.ndarray) -> np.ndarray:
        """The log likelihood ratio of classes, in swapped and kept records; class 0 tells nothing."""
        size = int(place.max()) + 1
        counts = np.stack([np.bincount(part[self.known], minlength=size) for part in place])
        shares = (counts + BEFOREHAND) / (counts.sum(axis=1) + BEFOREHAND * size)[:, None]
        found = np.log(shares[0] / shares[1])
        found[0] = 0.0
        return np.asarray(found[place])

    def crossed(self, feature: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Classes of a feature in those of another."""
        across = int(np.clip(0.5 * np.sqrt(self.most), 1, ACROSS))
        own, other = self.classes(feature, min(CLASSES, self.most // across)), self.classes(given, across)
        return np.where((own > 0) & (other > 0), own * (across + 1) + other, 0)

    def figures(self, ratio: np.ndarray) -> tuple[float, float]:
        """The shares of coins guessed, and of records certain, in the other half."""
        chance = chances(self.p, ratio[:, ~self.known]).ravel()
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
        return max((temper * ratio for temper in TEMPERS), key=lambda each: self.fit(each, self.known))


def chances(p: float, ratio: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, given the logarithm of a likelihood ratio."""
    return np.asarray(1.0 / (1.0 + (1.0 - p) / p * np.exp(-np.clip(ratio, -600.0, 600.0))))


def joint(
    values: Table, clear: Table, columns: dict[str, ColumnAttack], strata: np.ndarray | None,
    rows: FoldedRows, identities: list[Identity], steps: Steps, *, tied: int,
) -> Joint:  # fmt: skip
    """What columns tell together; all arrays are those of the rows looked at.

    `tied` is the number of all records where several may take one record's values, else 0.
    """
    some = evenly_spaced(rows.rows.size, LOOKED_AT)
    n = some.size
    fold, code = rows.fold[some], None if strata is None else strata[some]
    stream = np.random.default_rng(0)
    total = np.zeros((2, n))
    swapped: Table = {name: np.roll(x[some], 1) for name, x in clear.items()}  # masked values are another's
    kept: Table = {name: x[some] for name, x in clear.items()}
    for name, column in columns.items():
        x = values[name][some]
        there = np.flatnonzero(~np.isnan(x))
        own = None if code is None else code[there]
        for row, (table, noise) in enumerate(((swapped, None), (kept, stream))):
            law, at = column.law, column.law.to_units(x[there])
            if noise is not None:
                at = at + law.draw(noise, at.size)
            total[row, there] = column.log_ratios(at, own, fold[there])
            table[name] = np.full(n, np.nan)
            table[name][there] = law.from_units(at)
    task = _Attack(next(iter(columns.values())).law.p, fold_of(n, 2) == 0)
    told, by_pair, by_ties = _of_identities(task, swapped, kept, identities, steps, total), {}, 0.0
    if tied:
        others = _others(swapped, kept, list(columns), code, task.p, tied / n, stream)
        ratio = task.ratio(task.classes(others))
        total += ratio
        by_ties = task.figures(ratio)[0]
    for a, b in _pairs(list(columns)):
        ratios = [task.ratio(task.classes(each)) for each in _left_over(swapped, kept, a, b, task.known)]
        best = max(ratios, key=lambda ratio: task.figures(ratio)[0])
        total += best
        by_pair[a, b] = task.figures(best)[0]
    return Joint(*task.figures(task.tempered(total)), told, by_pair, by_ties)


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
    donors, moved = (np.bincount(each, minlength=2 * n) for each in np.split(place.ravel(), 2))
    here = place.ravel().reshape(2, n)
    of_swapped = p * (1.0 + scale * (donors[here[0]] - 1.0)) + (1.0 - p) * scale * moved[here[0]]
    of_kept = p * scale * donors[here[1]] + (1.0 - p) * scale * (moved[here[1]] - 1.0)
    return stream.poisson(np.stack((of_swapped, of_kept))).astype(float)


def rearranged(values: Table, clear: Table, schemes: dict[str, Any], strata: np.ndarray | None) -> Tables:
    """Rows as they are where all are swapped, and where all are kept, by reverse mapping in their pools."""
    stream, n = np.random.default_rng(0), next(iter(values.values())).size
    there = {name: ~np.isnan(x) for name, x in values.items()}
    code = crossed([*there.values(), *([] if strata is None else [strata + 1])], n)
    swapped, kept = dict(clear), dict(clear)
    donor = np.empty(n, dtype=np.int64)
    donor[np.argsort(code, kind="stable")] = np.lexsort((stream.random(n), code))
    for name, scheme in schemes.items():
        own, pool = values[name][there[name]], code[there[name]]
        keys = simulated_maps.with_noise(own, scheme, stream)
        place = np.flatnonzero(there[name])[np.lexsort((stream.random(own.size), keys, pool))]
        swapped[name], kept[name] = values[name][donor], np.full(n, np.nan)
        kept[name][place] = own[np.lexsort((own, pool))]
    return swapped, kept


def joint_of_rearranged(
    p: float, tables: Tables, masked: list[str], identities: list[Identity], steps: Steps
) -> Joint:
    """What columns released by reverse mapping tell together, and beside those in clear."""
    swapped, kept = tables
    n = swapped[masked[0]].size
    task, total = _Attack(p, fold_of(n, 2) == 0), np.zeros((2, n))
    told = _of_identities(task, swapped, kept, identities, steps, total)
    scores = {name: normal_scores(np.stack((swapped[name], kept[name]))) for name in swapped}
    beside = [(a, b) for a in masked for b in swapped if b not in masked]
    by_pair, ratios = {}, []
    for a, b in [*_pairs(masked), *beside]:
        places = [task.crossed(_given(scores[a], scores[b]), scores[b])]
        if b in masked:
            places += [task.classes(each) for each in _left_over(swapped, kept, a, b, task.known)]
        best = max(map(task.ratio, places), key=lambda ratio: task.figures(ratio)[0])
        by_pair[a, b] = task.figures(best)[0]
        ratios.append((by_pair[a, b], best))
    for _, each in sorted(ratios, key=lambda pair: -pair[0]):
        now, more = (task.fit(task.tempered(ratio), ~task.known) for ratio in (total, total + each))
        if more > now:  # else it says what is said, or nothing
            total += each
    return Joint(*task.figures(task.tempered(total)), told, by_pair)


def normal_scores(both: np.ndarray) -> np.ndarray:
    """The normal quantiles of mean ranks, in two versions of a column; NaN where it is missing."""
    from scipy.special import ndtri  # takes .1 s to import

    found, there = np.full(both.shape, np.nan), ~np.isnan(both)
    found[there] = ndtri((ranks(both[there]) - 0.5) / max(1, int(there.sum())))
    return found


def _given(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What is left of one column given another, by the regression where they go together more."""
    slopes = [0.0]
    for x, y in zip(a, b, strict=True):
        there = ~np.isnan(x + y)
        slopes.append(correlation(x[there], y[there]))
    return np.asarray(a - max(slopes, key=abs) * b)


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    return list(combinations(names, 2)) if len(names) <= MOST_COLUMNS else []


def _of_identities(
    task: _Attack, swapped: Table, kept: Table, identities: list[Identity], steps: Steps, total: np.ndarray
) -> dict[Identity, float]:
    """The share of coins that each identity tells; its logarithms are added to the total."""
    told = {}
    for each in identities:
        place = task.classes(np.stack((each.left_over(swapped), each.left_over(kept))))
        place[np.stack([each.holds(table, steps) for table in (swapped, kept)])] = place.max() + 1
        ratio = task.ratio(place)
        total += ratio
        told[each] = task.figures(ratio)[0]
    return told


def _left_over(swapped: Table, kept: Table, a: str, b: str, known: np.ndarray) -> list[np.ndarray]:
    """What is left of b given a: less a multiple, and as a ratio; of swapped and of kept records."""
    x, y = swapped[a][known], swapped[b][known]
    there = ~np.isnan(x + y)
    x, y = x[there] - x[there].mean(), y[there] - y[there].mean()
    slope = float(np.sum(x * y)) / max(float(np.sum(x * x)), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return [
            np.stack((swapped[b] - slope * swapped[a], kept[b] - slope * kept[a])),
            np.stack((swapped[b] / swapped[a], kept[b] / kept[a])),
        ]
