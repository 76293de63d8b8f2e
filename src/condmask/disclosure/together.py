"""Columns masked together share their coins: what all of them tell of these.

Every column's likelihood ratio is known where it is attacked by itself. To these come features of several
columns: what is left of an identity, and of one column given another (less a multiple of it, or as a ratio).
A swapped record carries all values of one donor, a kept one has noise of its own in each. Their likelihood
ratios are counted, in classes of equal size, in one half of the rows; the other half is attacked. All
logarithms are added, and the sum is tempered, since features repeat each other: by the power that suits the
first half. Noise is drawn once for every row looked at, from a stream that is always the same.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.disclosure import coins
from condmask.disclosure.attack import Column, Rows
from condmask.disclosure.relations import MOST_COLUMNS, Identity, Steps

LOOKED_AT = 1 << 15
TEMPERS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.1, 0.0)
CLASSES, RECORDS_PER_CLASS = 24, 16
BEFOREHAND = 0.5  # records in each class

Table = dict[str, np.ndarray]


class Joint(NamedTuple):
    """The share of coins guessed, that of records known for certain, and what each feature tells alone."""

    guessed: float
    certain: float
    identities: dict[Identity, float]
    pairs: dict[tuple[str, str], float]


class _Attack(NamedTuple):
    """Rows with their coins for one half, and without for the other."""

    p: float
    known: np.ndarray

    def ratio(self, swapped: np.ndarray, kept: np.ndarray, exact: np.ndarray | None) -> np.ndarray:
        """The log likelihood ratio of a feature, in swapped and in kept records; exact: where it is 0."""
        both = np.stack((swapped, kept))
        there = ~np.isnan(both)
        seen = both[:, self.known][there[:, self.known]]
        most = min(CLASSES, seen.size // (2 * RECORDS_PER_CLASS))
        edges = np.unique(np.quantile(seen, np.arange(1, most) / most)) if most > 1 else np.empty(0)
        place = np.searchsorted(edges, both, side="right") + 1
        if exact is not None:
            place[exact] = 0
        place[~there] = edges.size + 2
        counts = np.stack([np.bincount(part[self.known], minlength=edges.size + 3) for part in place])
        shares = (counts + BEFOREHAND) / (counts.sum(axis=1) + BEFOREHAND * counts.shape[1])[:, None]
        found = np.log(shares[0] / shares[1])
        found[-1] = 0.0
        return np.asarray(found[place])

    def figures(self, ratio: np.ndarray) -> tuple[float, float]:
        """The shares of coins guessed, and of records certain, in the other half."""
        chance = chances(self.p, ratio[:, ~self.known]).ravel()
        n = chance.size // 2
        swapped, kept = np.repeat((self.p / n, 0.0), n), np.repeat((0.0, (1.0 - self.p) / n), n)
        return coins.guessed(swapped, kept, chance), coins.certain(swapped, kept, chance, self.p)

    def tempered(self, ratio: np.ndarray) -> np.ndarray:
        """The power of the likelihood ratio that suits the first half."""
        some = ratio[:, self.known]
        fits = []
        for temper in TEMPERS:
            chance = np.clip(chances(self.p, temper * some), 1e-12, 1.0 - 1e-12)
            fits.append(self.p * np.log(chance[0]).mean() + (1.0 - self.p) * np.log1p(-chance[1]).mean())
        return np.asarray(TEMPERS[int(np.argmax(fits))] * ratio)


def chances(p: float, ratio: np.ndarray) -> np.ndarray:
    """The chance that a record was swapped, given the logarithm of a likelihood ratio."""
    return np.asarray(1.0 / (1.0 + (1.0 - p) / p * np.exp(-np.clip(ratio, -600.0, 600.0))))


def joint(
    values: Table, clear: Table, columns: dict[str, Column], strata: np.ndarray | None, rows: Rows,
    identities: list[Identity], steps: Steps,
) -> Joint:  # fmt: skip
    """What columns tell together; all arrays are those of the rows looked at."""
    n = min(rows.rows.size, LOOKED_AT)
    some = (np.arange(n) * (rows.rows.size / n)).astype(np.int64)
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
            total[row, there] = column.ratios(at, own, fold[there])
            table[name] = np.full(n, np.nan)
            table[name][there] = law.from_units(at)
    task = _Attack(next(iter(columns.values())).law.p, coins.fold_of(n, 2) == 0)
    told, by_pair = {}, {}
    for each in identities:
        exact = np.stack([each.holds(table, steps) for table in (swapped, kept)])
        ratio = task.ratio(each.left_over(swapped), each.left_over(kept), exact)
        total += ratio
        told[each] = task.figures(ratio)[0]
    names = list(columns) if len(columns) <= MOST_COLUMNS else []
    for a, b in combinations(names, 2):
        ratios = [task.ratio(one, other, None) for one, other in _left_over(swapped, kept, a, b, task.known)]
        best = max(ratios, key=lambda ratio: task.figures(ratio)[0])
        total += best
        by_pair[a, b] = task.figures(best)[0]
    return Joint(*task.figures(task.tempered(total)), told, by_pair)


def _left_over(
    swapped: Table, kept: Table, a: str, b: str, known: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What is left of b given a: less a multiple, and as a ratio; of swapped and of kept records."""
    x, y = swapped[a][known], swapped[b][known]
    there = ~np.isnan(x + y)
    x, y = x[there] - x[there].mean(), y[there] - y[there].mean()
    slope = float(np.sum(x * y)) / max(float(np.sum(x * x)), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return [
            (swapped[b] - slope * swapped[a], kept[b] - slope * kept[a]),
            (swapped[b] / swapped[a], kept[b] / kept[a]),
        ]
