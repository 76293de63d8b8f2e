"""Relations that may hold: fits of one column by others, ratios and differences of two, sums of two.

Fits find what holds in most records (sparse_fit.py). What holds in fewer is looked for among two columns,
whose ratio or difference is then the same in a tenth of the records, and among three, one of which is the
sum of the others. In logarithms these are ratios, products and powers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from condmask.disclosure import sparse_fit

OFTEN = 0.08  # of the records: how often a ratio, a difference or a sum must be met to be looked at closely
CLOSE = 1e-7  # of a column's size: what passes for equal
MOST = 4  # sums of two by column
SUMMED, TRIED, TWICE = 192, 64, 2  # records in which they are tried, and first; how often they are met there
COLUMNS = 100  # among which they are tried


def shortest(number: float, error: float) -> float:
    """The number of fewest digits that is as near."""
    near = (float(f"{number:.{digits}g}") for digits in range(1, 16))
    return next((short for short in near if abs(short - number) <= error), number)


class Candidate(NamedTuple):
    """target = constant + sum of factor * feature, by place of the column."""

    target: int
    features: np.ndarray
    factors: np.ndarray
    constant: float


def of_two(x: np.ndarray, rows: list[np.ndarray], masked: np.ndarray) -> Iterator[Candidate]:
    """Columns whose ratio or difference is the same in many records."""
    sizes = np.nanmean(np.abs(x), axis=0)
    for target in np.flatnonzero(masked):
        others = np.array(
            [k for k in range(masked.size) if k > target or (k != target and not masked[k])], dtype=int
        )
        if not others.size:
            continue
        y, z, columns = (
            x[rows[target], target][:, None],
            x[np.ix_(rows[target], others)],
            np.arange(others.size),
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where((y != 0.0) & (z != 0.0), y / z, np.nan)
        for ratio, values in ((True, ratios), (False, y - z)):
            values.sort(axis=0)
            far = max(2, int(OFTEN * len(values)))
            gap = values[far:] - values[:-far]
            at = np.argmin(np.where(np.isnan(gap), np.inf, gap), axis=0)
            common = values[at + far // 2, columns]
            size = np.abs(common) if ratio else sizes[target] + sizes[others]
            for k in np.flatnonzero((gap[at, columns] <= CLOSE * size) & (common != 0.0)):
                value = shortest(float(common[k]), CLOSE * (abs(common[k]) if ratio else size[k]))
                factor, constant = (value, 0.0) if ratio else (1.0, value)
                yield Candidate(int(target), others[[k]], np.array([factor]), constant)


def of_three(
    x: np.ndarray, rows: list[np.ndarray], halves: np.ndarray, masked: np.ndarray, enough: np.ndarray
) -> Iterator[Candidate]:
    """Columns that are the sum of two others in many records."""
    m = masked.size
    if not 3 <= m <= COLUMNS:
        return
    sizes = np.nanmean(np.abs(x), axis=0)
    for target in np.flatnonzero(enough):
        others = np.delete(np.arange(m), target)
        pairs = others[np.stack(np.triu_indices(m - 1, 1))]
        first, second = pairs[:, masked[target] | masked[pairs].any(axis=0)]
        if not first.size:
            continue
        some = x[rows[target][:SUMMED]]
        width = halves[target] + CLOSE * (sizes[target] + sizes[first] + sizes[second])
        few = some[:TRIED]
        off = np.abs(few[:, [target]] - few[:, first] - few[:, second])
        often = np.count_nonzero(off <= width, axis=0) >= TWICE
        first, second, width = first[often], second[often], width[often]
        a, b, c = some[:, [target]], some[:, first], some[:, second]
        two = (a != 0.0).astype(np.int8) + (b != 0.0) + (c != 0.0) >= 2
        counts = np.count_nonzero((np.abs(a - (b + c)) <= width) & two, axis=0)
        counts -= np.count_nonzero(np.abs(np.roll(a, 1) - (b + c)) <= width, axis=0)
        for k in np.argsort(-counts, kind="stable")[:MOST]:
            if counts[k] > OFTEN * len(some):
                yield Candidate(int(target), np.array([first[k], second[k]]), np.ones(2), 0.0)


def of_fits(
    x: np.ndarray, rows: list[np.ndarray], targets: list[tuple[int, np.ndarray]]
) -> Iterator[Candidate]:
    """Sparse fits of targets by some columns each."""
    z, middle, size = sparse_fit.standardised(x)
    lots: dict[tuple[int, int], list[tuple[int, np.ndarray]]] = {}
    for target, others in targets:
        features = sparse_fit.chosen(z[rows[target]], target, others[size[others] > 0.0])
        if features.size and size[target] > 0.0:
            lots.setdefault((rows[target].size, features.size), []).append((target, features))
    for lot in lots.values():
        fitted = sparse_fit.fit(
            np.stack([z[np.ix_(rows[target], features)] for target, features in lot]),
            np.stack([z[rows[target], target] for target, _ in lot]),
        )
        for (target, features), standard in zip(lot, fitted, strict=True):
            factors = standard[:-1] * size[target] / size[features]
            constant = middle[target] + standard[-1] * size[target] - factors @ middle[features]
            yield Candidate(target, features, factors, float(constant))
