"""Guess values by formulas of columns in clear that hold in most records, with free factors."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from condmask.disclosure.attacker_view import AttackerView
from condmask.disclosure.features import clear_beside, least_squares

MAX_TERMS = 100  # columns that are added up
MAX_FACTORS = 12  # columns with which products are formed
RECORDS_PER_TERM = 4  # at least, so that factors are determined
MIN_COMPLETE_SHARE = 0.9  # of the rows of a column that hold a number
FIT_STEPS = 10  # of least squares on the half of the records that fit best


def quotient(view: AttackerView) -> np.ndarray:
    """Guess the values by the quotient of two sums of columns in clear and their products.

    An average and its weights give a part so: x times one sum is the other. The sums may have
    rises from row to row among their terms, as for values that are smoothed exponentially.
    """
    columns = _mostly_known([*view.sample.clear.numbers.values(), *clear_beside(view)], view)
    # no sum of these is the same in all rows, but for 0
    columns = columns - np.nanmean(columns, axis=0)
    most = min(
        MAX_FACTORS,
        int(np.sqrt(max(view.x.size / RECORDS_PER_TERM - 2 * columns.shape[1], 4.0))) - 2,
    )
    some = columns[:, :most]
    over = np.column_stack(
        (np.ones(view.x.size), columns, *(a * b for a, b in combinations(some.T, 2)))
    )
    terms = np.column_stack((over, view.x[:, None] * some))

    def guess(factors: np.ndarray) -> np.ndarray:
        above, below = np.split(factors, [over.shape[1]])
        return np.asarray(over @ above / (1.0 - some @ below))

    return _guess_by_halves(view, terms, view.x, guess)


def powers(view: AttackerView) -> np.ndarray:
    """Guess the values by the product of powers of columns in clear that comes nearest to them.

    A body mass index and a height give a weight so.
    """
    u, *logarithms = (
        np.log(np.where(x > 0.0, x, np.nan)) for x in (view.x, *view.sample.clear.numbers.values())
    )
    terms = _mostly_known([np.ones(u.size), *logarithms], view)
    return _guess_by_halves(view, terms, u, lambda factors: np.exp(terms @ factors))


def _mostly_known(columns: list[np.ndarray], view: AttackerView) -> np.ndarray:
    """Return the first columns with few gaps, as many as the number of records allows."""
    some = [x for x in columns if np.isfinite(x).mean() > MIN_COMPLETE_SHARE][
        : min(MAX_TERMS, view.x.size // (4 * RECORDS_PER_TERM))
    ]
    return np.array(some).reshape(-1, view.x.size).T


def _guess_by_halves(
    view: AttackerView, terms: np.ndarray, u: np.ndarray, guess: Callable[..., np.ndarray]
) -> np.ndarray:
    """Guess the values of each half with the factors that fit most records of the other half.

    Guesses are kept in the range of all values; the median stands in place of gaps.
    """
    known = np.isfinite(terms.sum(axis=1) + u)
    found = np.full(u.size, np.nan)
    for side in (0, 1):
        fit = known & (view.sample.half != side)
        asked = view.sample.half == side
        if fit.any():
            with np.errstate(all="ignore"):  # where a sum is 0 by which is divided
                found[asked] = guess(about_most(terms[fit], u[fit]))[asked]
    middle = np.nanmedian(view.x)
    within = (np.nanmin(view.x), np.nanmax(view.x))
    return np.asarray(np.nan_to_num(np.clip(found, *within), nan=middle))


def about_most(terms: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the factors of the sum of terms that fits most records.

    Least squares are repeated on the half of the records that the last sum fitted best.
    """
    some = np.ones(u.size, dtype=bool)
    for _ in range(FIT_STEPS):
        factors = least_squares(terms[some], u[some])
        apart = np.abs(u - terms @ factors)
        some = apart <= np.median(apart)
    return factors


STANDALONE_GUESSES = (quotient, powers)
