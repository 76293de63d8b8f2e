"""Units: the firms, households or persons to which several records belong, told by columns in clear.

A column tells units if few records share one of its labels and these are alike in a masked column. Looked at
are columns as they are, whole numbers without their last digits (a firm's number and the month in one),
pairs of columns (a street and the number of a house), and so many rows after one another.
"""

from itertools import combinations

import numpy as np

from condmask.correlations import intraclass, ranks

LARGEST = 1_000  # records; larger groups show no more than a column of categories
ALIKE, CERTAINTY = 0.1, 1.5  # of the variance between units, at least, and times its standard error
MOST, PAIRED = 3, 12  # units used; columns of which pairs are looked at
LAST_DIGITS = (10.0, 100.0, 1000.0)
RUNS = (2, 3, 4, 5, 6, 8, 10, 12)  # rows


def units_of(
    numbers: dict[str, np.ndarray],
    labels: dict[str, np.ndarray],
    masked: dict[str, np.ndarray],
    rows: np.ndarray,
) -> dict[str, np.ndarray]:
    """The units that columns in clear and numbers of rows tell, by name, the most alike ones first."""
    ranked = [np.where(np.isnan(x), np.nan, ranks(x)) for x in masked.values()]
    runs = {f"rows by {length}": np.unique(rows // length, return_inverse=True)[1] for length in RUNS}
    found = {
        name: (alike, codes)
        for name, codes in {**candidates(numbers, labels), **runs}.items()
        if (alike := _alike(codes, ranked)) > 0.0
    }
    best = sorted(found, key=lambda name: -found[name][0])[:MOST]
    return {name: found[name][1] for name in best}


def candidates(numbers: dict[str, np.ndarray], labels: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What may tell units, by name."""
    whole = {name: x for name, x in numbers.items() if (x[~np.isnan(x)] % 1.0 == 0.0).all()}
    found = {name: _codes(x) for name, x in whole.items()}
    found |= labels
    columns = list(found.items())[:PAIRED]
    for name, x in whole.items():
        for digits in LAST_DIGITS:
            if np.nanmax(np.abs(x), initial=0.0) >= 10.0 * digits:
                found[f"{name} by {digits:g}"] = _codes(np.floor(x / digits))
    for (one, a), (other, b) in combinations(columns, 2):
        found[f"{one} x {other}"] = np.where((a < 0) | (b < 0), -1, _codes(a * (b.max() + 2.0) + b))
    return found


def _codes(values: np.ndarray) -> np.ndarray:
    """Equal numbers as numbers from 0; -1 for missing ones."""
    return np.where(np.isnan(values), -1, np.unique(values, return_inverse=True)[1])


def _alike(codes: np.ndarray, ranked: list[np.ndarray]) -> float:
    """How alike the records of a unit are in a masked column, by ranks; 0 where it is no unit."""
    size = np.bincount(codes[codes >= 0])
    units = np.count_nonzero(size)
    freedom = int(size.sum()) - units
    if units < 2 or freedom <= 0 or size.sum() > LARGEST * units:
        return 0.0
    alike = max(intraclass(x, codes) for x in ranked)
    return alike if alike > max(ALIKE, CERTAINTY / np.sqrt(freedom)) else 0.0
