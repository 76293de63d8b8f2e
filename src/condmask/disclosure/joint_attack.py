"""What all columns show of coins: columns masked together share them, columns in clear show whose they are.

Each column's own likelihood ratio is known from the attack on it alone. Features of several columns are added
(coin_classes.py says how they are counted and chosen):

    relations     what is left of an identity or an inequality, and whether it holds
    pairs         a masked column given another one, masked or in clear: less a multiple of it, as a ratio, in
                  classes of the other, or where that is missing
    regressions   a masked column given all others
    units         given the other records of a unit, or the rows beside it (units.py)
    ties          how many records agree in all masked columns

A swapped record carries the masked values of one donor beside its own columns in clear, a kept one has noise
of its own in each. Rows and their neighbours are drawn from streams that are always the same.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from condmask.correlations import intraclass, normal_scores, pearson
from condmask.disclosure import units
from condmask.disclosure.attacked_rows import ALIKE, AttackedRows
from condmask.disclosure.coin_classes import CoinClasses
from condmask.disclosure.identity import Table
from condmask.disclosure.redrawn import redrawn
from condmask.disclosure.swap_attack import ColumnAttack
from condmask.kernels import normal

FEWEST = 64  # rows that teach anything
FEW_VALUES = 24  # of a column in clear: each is a class
MOST_PAIRS = 32  # pairs examined
CLOSE, APART = 0.02, 16  # of the variance, between so many classes of another column
FINE = 64  # classes of what units tell
CHANCE = 3.0  # standard errors of what is alike by chance, at most
BESIDE = 8  # rows that stand together


class Joint(NamedTuple):
    """The shares of coins guessed and of records known for certain, and what each feature shows alone.

    Units are by masked column and the column that names them, "" for the rows beside each other.
    """

    guessed: float
    certain: float
    relations: dict[Any, float]
    pairs: dict[tuple[str, str], float]
    units: dict[tuple[str, str], float]
    ties: float


def joint(
    rows: AttackedRows, schemes: dict[str, Any], columns: dict[str, ColumnAttack], relations: list[Any],
    steps: dict[str, float], *, tied: int = 0,
) -> Joint:  # fmt: skip
    """What columns show together in some rows.

    `columns` are the attacks on single masked columns, none under reverse mapping; `tied` is the number of
    all records if several may take one record's values, else 0.
    """
    n, stream, p = rows.rows.size, np.random.default_rng(0), next(iter(schemes.values())).p
    attack = CoinClasses.of(p, n)
    drawn = redrawn(rows.values, schemes, rows.strata, columns, rows.fold, stream)
    tables: tuple[Table, Table] = (
        {**rows.clear, **{name: x[0] for name, x in drawn.values.items()}},
        {**rows.clear, **{name: x[1] for name, x in drawn.values.items()}},
    )
    total = np.sum([*drawn.ratios.values()], axis=0)
    by_relation: dict[Any, float] = {}
    by_pair: dict[tuple[str, str], float] = {}
    by_unit: dict[tuple[str, str], float] = {}
    features: list[np.ndarray] = []
    for relation in relations:
        features.append(_of_relation(attack, tables, relation, steps))
        by_relation[relation] = attack.alone(features[-1])
    by_ties = 0.0
    if tied and len(schemes) > 1:  # of one column they are counted where it is attacked by itself
        features.append(attack.classes(_agreeing(drawn.values, rows.strata, p, tied / n, stream)))
        by_ties = attack.alone(features[-1])
    scores = {name: normal_scores(np.stack([table[name] for table in tables])) for name in tables[0]}
    for a, b in _close(scores, list(schemes), list(rows.clear)):
        of_pair = [*_of_pair(attack, tables, scores, a, b, b in schemes)]
        by_pair[a, b] = max(map(attack.alone, of_pair), default=0.0)
        features += of_pair
    for (a, b), place in _of_labels(attack, scores, schemes, rows.labels):
        features.append(place)
        by_pair[a, b] = max(by_pair.get((a, b), 0.0), attack.alone(place))
    features += _of_regressions(attack, scores, list(schemes), list(rows.clear))
    alike = [
        (name, codes, column)
        for name, codes in (*rows.units.items(), *(("", codes) for codes in _beside(rows.rows)))
        for column in schemes
        if intraclass(normal_scores(rows.values[column]), codes) > max(ALIKE, CHANCE / np.sqrt(n))
    ]
    if alike:
        again = redrawn(rows.values, schemes, rows.strata, columns, rows.fold, stream)
        shown = again.released(stream.random(n) < p)
    for name, codes, column in alike:
        ratio = units.log_ratios(
            p,
            shown.values[column],
            shown.ratios[column],
            drawn.values[column],
            again.values[column][1],
            codes,
        )
        of_unit = [np.nan_to_num(ratio), attack.classes(ratio, FINE)]
        by_unit[column, name] = max(by_unit.get((column, name), 0.0), *map(attack.alone, of_unit))
        features += of_unit
    if n < FEWEST or not (features or len(schemes) > 1):  # each column by itself tells all
        return Joint(max(p, 1.0 - p), 0.0, {}, {}, {}, 0.0)
    guessed, certain = attack.strongest(total, features)
    return Joint(guessed, certain, by_relation, by_pair, by_unit, by_ties)


def _of_relation(
    attack: CoinClasses, tables: tuple[Table, Table], relation: Any, steps: dict[str, float]
) -> np.ndarray:
    """Classes of what is left of a relation; where it holds is one by itself."""
    place = attack.classes(np.stack([relation.residual(table) for table in tables]))
    place[np.stack([relation.holds(table, steps) for table in tables])] = place.max() + 1
    return place


# --- two columns ---


def _close(scores: Table, masked: list[str], clear: list[str]) -> list[tuple[str, str]]:
    """The pairs of a masked column and another that go together at all, those that do most where many do.

    By the share of the variance of scores, and of their squares, that lies between classes of the other.
    """
    pairs: dict[tuple[str, str], float] = {}
    for way, others in enumerate((masked, clear)):  # go together in swapped records, or in kept ones
        x = np.stack([np.nan_to_num(part) for name in masked for part in _powers(scores[name][way])])
        x = x - x.mean(axis=1, keepdims=True)
        total = np.maximum((x**2).sum(axis=1), 1e-300)
        for k, other in enumerate(others):
            _, codes = np.unique(np.floor(APART * _uniform(scores[other][way])), return_inverse=True)
            member = np.eye(codes.max() + 1)[codes]
            between = ((x @ member) ** 2 / member.sum(axis=0)).sum(axis=1) / total
            shares = (between - member.shape[1] / codes.size).reshape(-1, 2).max(axis=1)
            for position, (name, share) in enumerate(zip(masked, shares.tolist(), strict=True)):
                if name != other:
                    pair = (other, name) if way == 0 and position > k else (name, other)
                    pairs[pair] = max(pairs.get(pair, 0.0), share)
    return sorted((pair for pair in pairs if pairs[pair] > CLOSE), key=lambda pair: -pairs[pair])[:MOST_PAIRS]


def _powers(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return scores, scores**2


def _uniform(scores: np.ndarray) -> np.ndarray:
    """Between 0 and 1; 1 where missing."""
    shares = np.empty(scores.size)
    normal.below(np.ascontiguousarray(scores).ravel(), shares)
    return np.asarray(np.nan_to_num(shares.reshape(scores.shape), nan=1.0))


def _of_pair(
    attack: CoinClasses, tables: tuple[Table, Table], scores: Table, a: str, b: str, masked: bool
) -> Iterator[np.ndarray]:
    """Classes of one column given another: in classes of that, less a multiple of it, and as a ratio."""
    x, y = scores[a], scores[b]
    if masked:
        yield attack.crossed(_residual_scores(x, y), y)
        for residual in _residuals(tables, a, b, attack.learned):
            yield attack.classes(residual)
        return
    missing = np.isnan(y)
    if missing.any() and not missing.all():
        yield attack.within(x, 1 + missing)
    given = _given(attack, y)
    if given.max() > 1:
        residual = _residual_scores(x, y) if given.max() <= FEW_VALUES + 1 else x
        yield attack.within(np.where(np.isnan(residual), x, residual), given)


def _given(attack: CoinClasses, scores: np.ndarray) -> np.ndarray:
    """Classes of a column in clear; missing values are one, and of few different values each is."""
    missing = np.isnan(scores)
    values = np.unique(scores[0][~missing[0]])
    if values.size <= FEW_VALUES:
        given = np.searchsorted(values, scores) + 1
    else:
        given = attack.classes(scores, int(np.clip(0.5 * np.sqrt(attack.most), 1, 8)))
    given[missing] = given[~missing].max(initial=0) + 1
    return np.asarray(given)


def _of_labels(
    attack: CoinClasses, scores: Table, masked: Any, labels: Table
) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Classes of masked columns within each of few labels."""
    for name, codes in labels.items():
        values, given = np.unique(codes, return_inverse=True)
        if 1 < values.size <= FEW_VALUES + 1:
            for column in masked:
                yield (column, name), attack.within(scores[column], np.tile(given + 1, (2, 1)))


def _residual_scores(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The residual of one column given another, by the regression where they go together more."""
    slopes = [0.0]
    for x, y in zip(a, b, strict=True):
        present = ~np.isnan(x + y)
        slopes.append(pearson(x[present], y[present]) if present.any() else 0.0)
    return np.asarray(a - max(slopes, key=abs) * b)


def _residuals(tables: tuple[Table, Table], a: str, b: str, learned: np.ndarray) -> list[np.ndarray]:
    """The residuals of b given a: less a multiple, and as a ratio; of swapped and of kept records."""
    swapped, kept = tables
    x, y = swapped[a][learned], swapped[b][learned]
    present = ~np.isnan(x + y)
    if not present.any():
        return []
    x, y = x[present] - x[present].mean(), y[present] - y[present].mean()
    slope = float(np.sum(x * y)) / max(float(np.sum(x * x)), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return [
            np.stack((swapped[b] - slope * swapped[a], kept[b] - slope * kept[a])),
            np.stack((swapped[b] / swapped[a], kept[b] / kept[a])),
        ]


# --- all columns ---


def _of_regressions(
    attack: CoinClasses, scores: Table, masked: list[str], clear: list[str]
) -> Iterator[np.ndarray]:
    """Classes of what is left of each masked column given all others: masked ones, or those in clear."""
    for name in masked:
        others = [other for other in masked if other != name]
        if len(others) > 1:  # go together in swapped records
            expected = _expected(scores[name], [scores[other] for other in others], attack.learned, way=0)
            yield attack.classes(scores[name] - expected)
        if len(clear) > 1:  # belong to kept ones
            expected = _expected(scores[name], [scores[other] for other in clear], attack.learned, way=1)
            yield attack.crossed(scores[name] - expected, expected)


def _expected(y: np.ndarray, others: list[np.ndarray], learned: np.ndarray, way: int) -> np.ndarray:
    """What a regression expects, in swapped records (way 0) or in kept ones (1); gaps are at the mean."""
    design = np.nan_to_num(np.stack(others))
    x, rows = design[:, way, learned], ~np.isnan(y[way, learned])
    x, y = x[:, rows], y[way, learned][rows]
    ridge = np.eye(len(x)) * max(1.0, float(len(x)))
    slopes = np.linalg.solve(x @ x.T + ridge, x @ y)
    return np.asarray(np.tensordot(slopes, design, axes=1))


# --- other records ---


def _beside(rows: np.ndarray) -> list[np.ndarray]:
    """Rows that stand together as units, cut in two ways."""
    run = np.cumsum(np.diff(rows, prepend=rows[:1] - 1) != 1) * (int(rows.max(initial=0)) // BESIDE + 2)
    return [run + (rows + shift) // BESIDE for shift in (0, BESIDE // 2)]


def _agreeing(
    values: Table, strata: np.ndarray | None, p: float, scale: float, stream: np.random.Generator
) -> np.ndarray:
    """How many others of a stratum show a record's values in all masked columns, if swapped and if kept.

    Of `scale` times as many records; swapped ones take the values of one record, whose others are Poisson.
    """
    both = [*values.values()]
    n = both[0].shape[1]
    columns = [x.ravel() for x in both] + ([] if strata is None else [np.tile(strata, 2)])
    _, place = np.unique(np.nan_to_num(np.stack(columns), nan=np.inf), axis=1, return_inverse=True)
    donors, moved = (np.bincount(half, minlength=2 * n) for half in np.split(place.ravel(), 2))
    if_swapped, if_kept = place.ravel().reshape(2, n)
    of_swapped = p * (1.0 + scale * (donors[if_swapped] - 1.0)) + (1.0 - p) * scale * moved[if_swapped]
    of_kept = p * scale * donors[if_kept] + (1.0 - p) * scale * (moved[if_kept] - 1.0)
    return stream.poisson(np.stack((of_swapped, of_kept))).astype(float)
