"""Units: the firms, households or persons to which several records belong, told by columns in
clear.

A column tells units if few records share one of its labels and these are alike in a masked column.
Looked at are columns as they are, whole numbers without their last digits, or by these (a firm's
number and the month in one), pairs of columns (a street and the number of a house), records that
name each other by numbers, so many rows after one another, and every so many rows.
"""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from condmask.correlations import intraclass, ranks

MAX_UNIT_RECORDS = 1_000  # records; larger groups show no more than a column of categories
MIN_LIKENESS = 0.1
CERTAINTY = 1.5  # of the variance between units, at least, and times its standard error
MAX_UNITS = 3
MAX_PAIRED_CANDIDATES = 12  # units used; columns of which pairs are looked at
DIGIT_MODULI = (10.0, 100.0, 1000.0)
TURNS = "rows modulo"
MAX_PERIOD_ROWS = 16_384
BY_CHANCE = 4.5
MIN_RELATIVE_LIKENESS = 0.8  # standard errors; of the most alike
MAX_GAP_ROWS = 400  # rows: longer ones between those looked at count as so many
MIN_NAMED_SHARE = 0.25  # of the records, that others name
RUNS = (2, 3, 4, 5, 6, 8, 10, 12)  # rows

Columns = dict[str, np.ndarray]


def units_of(numbers: Columns, labels: Columns, masked: Columns, rows: np.ndarray) -> Columns:
    """The units that columns in clear and numbers of rows tell, by name, the most alike ones
    first."""
    ranked = [np.where(np.isnan(x), np.nan, ranks(x)) for x in masked.values()]
    runs = {
        f"rows by {length}": np.unique(rows // length, return_inverse=True)[1] for length in RUNS
    }
    runs |= {f"{TURNS} {turn}": rows % turn for x in ranked if (turn := period(x, rows))}
    found = {**candidates(numbers, labels), **runs}
    alike = {name: _alike(codes, ranked) for name, codes in found.items()}
    best = sorted(found, key=lambda name: -alike[name])[:MAX_UNITS]
    return {name: found[name] for name in best if alike[name] > 0.0}


def candidates(numbers: Columns, labels: Columns) -> Columns:
    """What may tell units, by name."""
    whole = {name: x for name, x in numbers.items() if (x[~np.isnan(x)] % 1.0 == 0.0).all()}
    found = {name: codes_of(x) for name, x in whole.items()}
    found |= labels
    columns = list(found.items())[:MAX_PAIRED_CANDIDATES]
    for name, x in whole.items():
        for digits in DIGIT_MODULI:
            if np.nanmax(np.abs(x), initial=0.0) >= 10.0 * digits:
                found[f"{name} by {digits:g}"] = codes_of(np.floor(x / digits))
                found[f"{name} modulo {digits:g}"] = codes_of(x % digits)
    found |= _together(whole)
    for (one, a), (other, b) in combinations(columns, 2):
        found[f"{one} x {other}"] = np.where(
            (a < 0) | (b < 0), -1, codes_of(a * (b.max() + 2.0) + b)
        )
    return found


def period(x: np.ndarray, rows: np.ndarray) -> int:
    """After how many rows, beyond the next ones, a column is most alike again: machines take
    turns, and weeks return; 0 if never."""
    there = ~np.isnan(x)
    place = np.cumsum(np.minimum(np.diff(rows, prepend=rows[0]), MAX_GAP_ROWS))
    z = np.zeros((2, 1 << int(place[-1] + MAX_PERIOD_ROWS).bit_length()))
    z[0, place[there]] = (x[there] - x[there].mean()) / (x[there].std() or 1.0)
    z[1, place[there]] = 1.0
    both, pairs = (np.fft.irfft(np.abs(np.fft.rfft(each)) ** 2)[:MAX_PERIOD_ROWS] for each in z)
    alike = both / np.maximum(pairs, 1.0)
    alike[alike < np.maximum(MIN_LIKENESS, BY_CHANCE / np.sqrt(np.maximum(pairs, 1.0)))] = 0.0
    peaks = 2 + np.flatnonzero((alike[2:-1] > alike[3:]) & (alike[2:-1] > alike[1:-2]))
    return (
        int(peaks[alike[peaks] > MIN_RELATIVE_LIKENESS * alike[peaks].max()][0])
        if peaks.size
        else 0
    )


def _together(numbers: Columns) -> Iterator[tuple[str, np.ndarray]]:
    """Records joined with the one that each names by its number in another column, a spouse or an
    earlier case."""
    orders = {
        name: np.argsort(b) for name, b in numbers.items() if (np.diff(np.sort(b)) != 0.0).all()
    }
    for (one, order), (other, a) in product(orders.items(), numbers.items()):
        b = numbers[one]
        each = np.arange(a.size)
        at = order[np.searchsorted(b, a, sorter=order).clip(0, a.size - 1)]
        named = np.where((b[at] == a) & (at != each), at, each)
        if np.unique(named[named != each]).size > MIN_NAMED_SHARE * a.size:
            from scipy.sparse import coo_array, csgraph  # takes .1 s to import

            joined = coo_array((np.ones(a.size), (each, named)), (a.size, a.size))
            yield f"{one} and {other}", csgraph.connected_components(joined)[1].astype(np.int64)


def codes_of(values: np.ndarray) -> np.ndarray:
    """Equal numbers as numbers from 0; -1 for missing ones."""
    return np.where(np.isnan(values), -1, np.unique(values, return_inverse=True)[1])


def _alike(codes: np.ndarray, ranked: list[np.ndarray]) -> float:
    """How alike the records of a unit are in a masked column, by ranks; 0 where it is no unit."""
    size = np.bincount(codes[codes >= 0])
    units = np.count_nonzero(size)
    freedom = int(size.sum()) - units
    if units < 2 or freedom <= 0 or size.sum() > MAX_UNIT_RECORDS * units:
        return 0.0
    alike = max(intraclass(x, codes) for x in ranked)
    return alike if alike > max(MIN_LIKENESS, CERTAINTY / np.sqrt(freedom)) else 0.0
