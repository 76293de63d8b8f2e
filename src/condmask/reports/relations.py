"""Compare relations for an internal report: group means, and one regression.

Each is given for the original, for the released values as if they were true, and as estimated. The
columns are those that people would use: groups of few levels, and numbers that vary and number
nobody.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask.errors import CondmaskError, collect_warnings
from condmask.inference.interval import Interval
from condmask.labels import coded
from condmask.publish.release import Release

MAX_GROUPS = 12
MIN_GROUP_RECORDS = 20  # of each group of a column whose means are compared
MAX_REGRESSORS = 2
MAX_MULTIPLE = 0.95  # correlation of two regressors that say the same


class RelationRow(NamedTuple):
    """One group mean or coefficient: of the original, of released values, and as estimated."""

    label: str
    original: float
    released: float
    found: Interval


class Relation(NamedTuple):
    """Group means by one column, or the coefficients of one regression.

    Attributes
    ----------
    title : str
    rows : list of RelationRow
    """

    title: str
    rows: list[RelationRow]


def relations(
    release: Release,
    name: str,
    original: Any,
    values: tuple[np.ndarray, np.ndarray],
    numbers: Mapping[str, tuple[np.ndarray, ...]],
) -> list[Relation]:
    """Return what can be compared for one masked column; nothing where no column suits.

    Parameters
    ----------
    release : Release
    name : str
        The masked column.
    original : data frame or dict of columns
        With its rows in any order.
    values : tuple of ndarray
        The column in the original and in the release.
    numbers : dict of str to tuple of ndarray
        Columns in clear that hold numbers, in the order of the original and of the release.
    """
    found: list[Relation] = []
    with suppress(CondmaskError), collect_warnings():
        found += _group_means(release, name, original, values)
    with suppress(CondmaskError), collect_warnings():
        found += _regression(release, name, values, numbers)
    return found


def _group_means(
    release: Release, name: str, original: Any, values: tuple[np.ndarray, np.ndarray]
) -> Iterable[Relation]:
    """Yield the means of groups by the first column in clear with few levels."""
    if not (isinstance(original, dict) or frames.is_frame(original)):
        return
    x, z = values
    for other in release.source.names:
        if other in release.schemes or other not in frames.column_names(original):
            continue
        labels = release.source.labels(other)
        labels = labels if hasattr(labels, "code") else coded({other: labels}, other)
        sizes = np.bincount(labels.code[labels.code >= 0])
        if not 2 <= sizes.size <= MAX_GROUPS or sizes.min() < MIN_GROUP_RECORDS:
            continue
        of_original = coded({other: frames.table_column(original, other)}, other)
        texts = [str(label) for label in of_original.distinct]
        means = release[name].group_means(other, target="file")
        rows = []
        for place, label in enumerate(labels.distinct):
            if label not in means or str(label) not in texts:
                continue
            here = x[of_original.code == texts.index(str(label))]
            masked = z[labels.code == place]
            row = (float(np.nanmean(here)), float(np.nanmean(masked)), means[label])
            rows.append(RelationRow(str(label), *row))
        if rows:
            yield Relation(f"Means of {name} by {other}", rows)
            return


def _regression(
    release: Release,
    name: str,
    values: tuple[np.ndarray, np.ndarray],
    numbers: Mapping[str, tuple[np.ndarray, ...]],
) -> Iterable[Relation]:
    """Yield the regression on the numbers in clear that go with the original most."""
    x, z = values
    clear = {other: both for other, both in numbers.items() if other not in release.schemes}
    chosen = _regressors(x, {other: both[0] for other, both in clear.items()})
    if not chosen:
        return
    found = release[name].regress(chosen if len(chosen) > 1 else chosen[0], target="file")
    of_original = _least_squares(x, [clear[other][0] for other in chosen])
    of_release = _least_squares(z, [clear[other][1] for other in chosen])
    rows = [
        RelationRow(label, float(before), float(after), found[label])
        for label, before, after in zip(
            ["intercept", *chosen], of_original, of_release, strict=True
        )
    ]
    yield Relation(f"Regression of {name} on {' and '.join(chosen)}", rows)


def _regressors(x: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
    """Return the columns of numbers that go with a column most and do not say the same."""
    strength = {
        name: _correlation(x, other) for name, other in columns.items() if not _numbers_rows(other)
    }
    chosen: list[str] = []
    for name in sorted(strength, key=lambda each: -strength[each]):
        alike = (_correlation(columns[name], columns[each]) > MAX_MULTIPLE for each in chosen)
        if len(chosen) < MAX_REGRESSORS and not any(alike):
            chosen.append(name)
    return chosen


def _numbers_rows(values: np.ndarray) -> bool:
    """Return whether a column holds another whole number in each record, as numbers of persons
    do."""
    whole = bool(np.all(values == np.rint(values)))
    return whole and np.unique(values).size == values.size


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return the absolute correlation of two columns; 0 if it is not defined."""
    there = ~(np.isnan(x) | np.isnan(y))
    if there.sum() < 3 or np.ptp(x[there]) == 0.0 or np.ptp(y[there]) == 0.0:
        return 0.0
    return float(abs(np.corrcoef(x[there], y[there])[0, 1]))


def _least_squares(outcome: np.ndarray, columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return the coefficients of a regression by least squares, the intercept first."""
    design = np.column_stack([np.ones(outcome.size), *columns])
    there = ~np.isnan(outcome)
    return np.asarray(np.linalg.lstsq(design[there], outcome[there], rcond=None)[0])
