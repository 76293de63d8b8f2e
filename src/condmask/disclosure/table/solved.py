"""Solve for values that follow from several columns, or from values of other records, at once.

A mark follows from the other marks, their weights and the average: the value times one sum of
columns is another sum. A moving average or a meter reading tells by how much a value differs from
the one some records before, or what both add up to; so a value is carried from record to record,
and one original, or the mean of what kept records show, tells all of them.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.encode import Columns
from condmask.disclosure.table.learners import FOLDS
from condmask.disclosure.table.neighbours import runs

MAX_FACTORS = 12  # columns of which products are formed
MIN_COMPLETE_SHARE = 0.9
SOLVED_ROWS = 3_000  # from which factors are found
FIT_STEPS = 4  # on the half of the rows that fit best
ROWS_PER_TERM = 4
LAGS = (1, 2, 3, 4, 5, 6, 7, 12)  # records before
MAX_CARRYING = 4  # columns that may tell rises
CARRIED_ROWS = 1_200
MAX_LEFT = 0.2  # of the spread of the values, not told by a rise
LEAST = 1e-12


# --- from columns ---


def quotient(x: np.ndarray, numbers: Columns, fold: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the quotient of two sums of columns in clear and their products that is nearest to
    the values of other folds."""
    complete = [w for w in numbers.values() if np.mean(~np.isnan(w)) > MIN_COMPLETE_SHARE]
    guess = np.full(x.size, np.nan)
    if len(complete) < 2:
        return guess
    centered = [np.nan_to_num(w - np.nanmean(w)) / (np.nanstd(w) or 1.0) for w in complete]
    some = np.column_stack(centered[:MAX_FACTORS])
    products = [a * b for a, b in combinations(some.T, 2)]
    over = np.column_stack((np.ones(x.size), some, *products))
    # numbers of the order of 1, as the others are
    unit = float(np.std(x)) or 1.0
    terms = np.column_stack((over, (x / unit)[:, None] * some))
    for side in range(FOLDS):
        rows = np.flatnonzero(known & (fold != side))
        rows = rows[:: max(1, rows.size // SOLVED_ROWS)]
        if rows.size < ROWS_PER_TERM * terms.shape[1]:
            continue
        factors = _robust(terms[rows], x[rows] / unit)
        above, below = np.split(factors, [over.shape[1]])
        asked = fold == side
        under = 1.0 - some[asked] @ below
        guess[asked] = unit * (over[asked] @ above) / np.where(np.abs(under) > LEAST, under, 1.0)
    return guess


def _robust(terms: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the factors of least squares on the half of the rows that fit best."""
    best = np.arange(target.size)
    factors = np.zeros(terms.shape[1])
    for _ in range(FIT_STEPS):
        factors = np.linalg.lstsq(terms[best], target[best], rcond=1e-10)[0]
        off = np.abs(terms @ factors - target)
        best = np.argsort(off)[: max(target.size // 2, 2 * terms.shape[1])]
    return np.asarray(factors)


# --- from record to record ---


class Chain(NamedTuple):
    """Records of which each follows from the one before: sign times its value, and a rise.

    Attributes
    ----------
    codes : ndarray of int of shape (m,)
        The chain of each record.
    sign : ndarray of shape (m,)
        1, or by turns 1 and -1 where two values add up.
    rise : ndarray of shape (m,)
        The difference from sign times the value at the start of the chain.
    """

    codes: np.ndarray
    sign: np.ndarray
    rise: np.ndarray

    def carried(self, values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return what the known values of other records of a chain make of each, NaN where there
        is none."""
        start = np.where(known, self.sign * (values - self.rise), 0.0)
        number = known * 1.0
        total = np.bincount(self.codes, start)[self.codes] - start
        count = np.bincount(self.codes, number)[self.codes] - number
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.rise + self.sign * total / count)


def chain_of(
    x: np.ndarray,
    numbers: Columns,
    units: Sequence[tuple[np.ndarray, Columns]],
    orders: Columns,
) -> Chain | None:
    """Return the chain along which columns in clear carry values best, among all or within
    units, of which codes and orders are given; None if they hardly do."""
    telling = np.column_stack((np.empty((x.size, 0)), *list(numbers.values())[:MAX_CARRYING]))
    best = None
    least = MAX_LEFT * float(np.std(x))
    everyone = (np.zeros(x.size, dtype=np.int64), orders)
    for codes, by_name in (everyone, *units):
        for by in by_name.values():
            order = np.lexsort((by, codes))
            first, size = runs(codes[order])
            place = np.arange(x.size) - np.repeat(first, size)
            for lag, sign in [(1, -1.0), *((lag, 1.0) for lag in LAGS)]:
                rows = np.flatnonzero(place >= lag)
                rows = rows[:: max(1, rows.size // CARRIED_ROWS)]
                here = _terms(telling[order], rows, lag)
                whole = ~np.isnan(here).any(axis=1)
                rows, here = rows[whole], here[whole]
                if rows.size < ROWS_PER_TERM * here.shape[1]:
                    continue
                rise = x[order[rows]] - sign * x[order[rows - lag]]
                factors = np.linalg.lstsq(here, rise, rcond=1e-9)[0]
                left = float(np.std(here @ factors - rise))
                if left < least:
                    least = 0.9 * left
                    best = (order, place, lag, sign, factors)
    return None if best is None else _chain(telling, *best)


def _terms(telling: np.ndarray, rows: np.ndarray, lag: int) -> np.ndarray:
    """Return columns in clear of records, of those just before, and of those a lag before."""
    parts = [telling[rows], telling[rows - 1]]
    if lag > 1:
        parts.append(telling[rows - lag])
    return np.column_stack((np.ones(rows.size), *parts))


def _chain(
    telling: np.ndarray,
    order: np.ndarray,
    place: np.ndarray,
    lag: int,
    sign: float,
    factors: np.ndarray,
) -> Chain:
    """Add up rises along each chain, which starts anew where one is not known."""
    m = order.size
    rise = np.full(m, np.nan)
    rows = np.flatnonzero(place >= lag)
    rise[rows] = _terms(telling[order], rows, lag) @ factors
    run = np.cumsum(place == 0)
    by_chain = np.lexsort((place, place % lag, run))
    starts = np.isnan(rise[by_chain])
    number = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    step = np.arange(m) - first[number]
    turns = np.where(step % 2 == 0, 1.0, sign)
    running = np.cumsum(turns * np.nan_to_num(rise[by_chain]))
    total = turns * (running - running[first][number])
    at = order[by_chain]
    codes = np.empty(m, dtype=np.int64)
    signs = np.empty(m)
    rises = np.empty(m)
    codes[at] = number
    signs[at] = turns
    rises[at] = total
    return Chain(codes, signs, rises)
