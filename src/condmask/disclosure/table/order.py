"""Find out whether the order of the rows tells of values, and in which orders records may follow.

An order that tells nothing is left alone, so that the verdict on a table does not depend on it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.encode import ORDER, Columns, Encoded, column_of
from condmask.disclosure.table.neighbours import (
    Group,
    Stretch,
    shrunk,
    standard,
    stretch,
    stretches,
)

WIDTHS = (1, 4, 16)  # rows before and after
MIN_GAIN = 0.03  # of the variance of a column, explained by the rows next to each
MIN_LIKENESS = 0.1
CERTAINTY = 5.0  # standard errors of a correlation
CERTAINTY_OF_PERIODS = 4.5  # of which many are compared
NORMAL_QUARTILE = 0.6745
MIN_RELATIVE_LIKENESS = 0.8  # of the most alike period
MAX_COLUMNS = 8
MAX_ORDERS = 4
MIN_ORDER_VALUES = 4
MIN_APART = 0.5  # of the pairs of records after one another in a unit, that an order tells apart
MIN_WAVE_APART = 0.99  # the same, by a year or a wave
MAX_DERIVING = 6  # columns whose rises and means in a unit are formed
MAX_WINDOWS = 6
MAX_COMPARED_ROWS = 4_000


def order_tells(z: np.ndarray, rows: np.ndarray, encoded: Encoded) -> bool:
    """Return whether rows near each other are alike, or the next row tells of the one before.

    Parameters
    ----------
    z : ndarray of shape (m,)
        A masked column, standardized.
    rows : ndarray of shape (m,)
        Where records stand in the table.
    encoded : Encoded
    """
    place = np.argsort(rows)
    columns = [standard(x)[place] for x in list(encoded.numbers.values())[:MAX_COLUMNS]]
    codes = [standard(c * 1.0)[place] for c in list(encoded.codes.values())[:MAX_COLUMNS]]
    masked = z[place]
    m = masked.size
    if m < 2 * WIDTHS[-1]:
        return False
    beside = stretch("rows", np.zeros(m, dtype=np.int64), np.arange(m), 4)
    everyone = np.ones(m, dtype=bool)
    for column in (masked, *columns, *codes):
        if shrunk(beside, column, everyone, column, np.arange(m)).gain > MIN_GAIN:
            return True
    least = max(MIN_LIKENESS, CERTAINTY / np.sqrt(m))
    for column in columns:
        before = abs(float(np.mean(masked[1:] * column[:-1])))
        after = abs(float(np.mean(masked[:-1] * column[1:])))
        if max(before, after) > least:
            return True
    return period(masked) > 0


def period(ordered: np.ndarray) -> int:
    """Return after how many rows, beyond the next ones, a column is most alike again; 0 if
    never."""
    m = ordered.size
    most = m // 4
    spectrum = np.fft.rfft(ordered - ordered.mean(), 2 * m)
    sums = np.fft.irfft(np.abs(spectrum) ** 2)[:most]
    alike = sums / np.maximum(m - np.arange(most), 1) / (ordered.var() or 1.0)
    if most < 4:
        return 0
    middle = alike[2:-1]
    is_peak = (middle > alike[1:-2]) & (middle > alike[3:])
    # as much as lags are alike by chance, where neighbours are alike too
    by_chance = max(float(np.median(np.abs(alike[2:]))) / NORMAL_QUARTILE, 1.0 / np.sqrt(m))
    certain = middle > max(MIN_LIKENESS, CERTAINTY_OF_PERIODS * by_chance)
    peaks = 2 + np.flatnonzero(is_peak & certain)
    if not peaks.size:
        return 0
    return int(peaks[alike[peaks] > MIN_RELATIVE_LIKENESS * alike[peaks].max()][0])


def orders_of(encoded: Encoded) -> Columns:
    """Return the numbers by which records may follow one another: that of the rows where it
    tells, dates, and others."""
    names = [ORDER, *encoded.dates, *encoded.numbers]
    many = [
        name
        for name in dict.fromkeys(names)
        if name in encoded.numbers and np.unique(encoded.numbers[name]).size >= MIN_ORDER_VALUES
    ]
    return {name: encoded.numbers[name] for name in many[:MAX_ORDERS]}


class Within(NamedTuple):
    """Numbers in clear that differ among the records of a unit.

    Attributes
    ----------
    orders : dict of str to ndarray
        Those by which its records may follow one another.
    numbers : dict of str to ndarray
        Those of which means and rises are formed.
    """

    orders: Columns
    numbers: Columns


def within(encoded: Encoded, unit: Group, orders: Columns) -> Within:
    """Return the numbers that differ among the records of a unit: a person's date of birth does
    not.

    Of orders, those come first by which records of a unit never tie, though they have few levels
    in all, as a wave or a year has; then those that serve all records. Of numbers, columns come
    before parts of columns.
    """
    order = np.argsort(unit.codes, kind="stable")
    same = unit.codes[order][1:] == unit.codes[order][:-1]
    neighbours = max(int(np.count_nonzero(same)), 1)
    is_wave = {}
    for name, x in encoded.numbers.items():
        ordered = x[order]
        apart = np.count_nonzero((ordered[1:] != ordered[:-1]) & same) / neighbours
        if apart > MIN_APART:
            is_wave[name] = apart > MIN_WAVE_APART and name in encoded.codes
    by = [name for name in orders if name in is_wave]
    by += [name for name in is_wave if name not in orders]
    by.sort(key=lambda name: not is_wave[name])
    whole_first = sorted(is_wave, key=lambda name: column_of(name) != name)
    return Within(
        {name: encoded.numbers[name] for name in by[:MAX_ORDERS]},
        {name: encoded.numbers[name] for name in whole_first[:MAX_DERIVING]},
    )


def windows_of(
    orders: Columns, units: Sequence[Group], of_unit: Mapping[str, Within]
) -> list[Stretch]:
    """Return the stretches before and after each record, among all and in its unit, by the orders
    of each."""
    found = []
    for by, values in orders.items():
        found += stretches(f"next by {by}", np.zeros(values.size, dtype=np.int64), values, WIDTHS)
    for unit in units:
        for by, values in of_unit[unit.name].orders.items():
            found += stretches(f"next by {by} in {unit.name}", unit.codes, values, WIDTHS)
    return found


def telling(windows: Sequence[Stretch], z: np.ndarray) -> list[Stretch]:
    """Return the stretches that tell most of a masked column, standardized as z."""
    everyone = np.ones(z.size)
    rows = np.arange(0, z.size, max(1, z.size // MAX_COMPARED_ROWS))
    gains = [(shrunk(near, z, everyone, z, rows, near.sizes - 1.0).gain, near) for near in windows]
    gains.sort(key=lambda gain: -gain[0])
    return [near for gain, near in gains[:MAX_WINDOWS] if gain > MIN_GAIN]
