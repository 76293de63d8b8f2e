"""Find out whether the order of the rows tells of values, and in which orders records may follow.

An order that tells nothing is left alone, so that the verdict on a table does not depend on it.
"""

from collections.abc import Sequence

import numpy as np

from condmask.disclosure.table.encode import ORDER, Columns, Encoded
from condmask.disclosure.table.neighbours import Stretch, shrunk, standard, stretch, stretches

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


def windows_of(orders: Columns, units: Columns) -> list[Stretch]:
    """Return the stretches before and after each record, among all and in its unit."""
    found = []
    for unit, codes in units.items():
        where = f" in {unit}" if unit else ""
        for by, values in orders.items():
            found += stretches(f"next by {by}{where}", codes, values, WIDTHS)
    return found


def telling(windows: Sequence[Stretch], z: np.ndarray) -> list[Stretch]:
    """Return the stretches that tell most of a masked column, standardized as z."""
    everyone = np.ones(z.size)
    rows = np.arange(0, z.size, max(1, z.size // MAX_COMPARED_ROWS))
    gains = [(shrunk(near, z, everyone, z, rows, near.sizes - 1.0).gain, near) for near in windows]
    gains.sort(key=lambda gain: -gain[0])
    return [near for gain, near in gains[:MAX_WINDOWS] if gain > MIN_GAIN]
