"""From a candidate to a relation: the columns that it needs, with short factors where these do."""

from typing import NamedTuple

import numpy as np

from condmask.disclosure.relation_candidates import Candidate
from condmask.disclosure.sparse_fit import NARROWEST

EXACT = 1e-9  # relative
# of the target's mean deviation, besides rounding
TOLERANCES = (100.0 * NARROWEST, 10.0 * NARROWEST, NARROWEST, 1e-6)
KEPT = 0.98  # of the records that obey: those that go on doing so with shorter factors, or fewer columns
OBEY = 0.08  # of the records: below, it is left
COARSE = 0.125  # of the target's mean deviation: rounding beyond is grouping
RIDGE = 1e-10  # where columns depend on each other
FEWEST = 8  # records that obey, beyond the number of columns
DIGITS = range(1, 7)
LARGEST = 700.0  # logarithm of a factor that is a number


class Rows(NamedTuple):
    """Records of a candidate's columns, and half the steps to which they are rounded."""

    y: np.ndarray
    x: np.ndarray
    half_y: np.ndarray
    half_x: np.ndarray

    def only(self, columns: np.ndarray) -> "Rows":
        return self._replace(x=self.x[:, columns], half_x=self.half_x[:, columns])

    def residual(self, factors: np.ndarray, constant: float) -> np.ndarray:
        return np.asarray(self.y - self.x @ factors - constant)

    def slack(self, factors: np.ndarray) -> np.ndarray:
        """How far off rounding may bring it."""
        size = np.abs(self.y) + np.abs(self.x) @ np.abs(factors)
        return np.asarray(self.half_y + self.half_x @ np.abs(factors) + EXACT * size)

    def obeying(self, factors: np.ndarray, constant: float, more: float = 0.0) -> np.ndarray:
        return np.asarray(np.abs(self.residual(factors, constant)) <= self.slack(factors) + more)


def refit(candidate: Candidate, rows: Rows, *, logarithms: bool) -> Candidate | None:
    """The relation with the fewest columns and the shortest factors that as many records obey; or None."""
    factors, constant = candidate.factors, candidate.constant
    deviation = float(np.mean(np.abs(rows.y - np.median(rows.y))))
    if deviation == 0.0 or np.median(rows.slack(factors)) > 2.0 * COARSE * deviation:
        return None
    columns = np.arange(factors.size)
    for k, tolerance in enumerate(TOLERANCES):
        obeying = rows.only(columns).obeying(factors, constant, tolerance * deviation)
        if np.count_nonzero(obeying) < max(OBEY * obeying.size, columns.size / 3 + FEWEST):
            return None
        some = Rows(*(part[obeying] for part in rows))
        if k == 0:
            columns = _needed(some, columns, factors, tolerance * deviation)
            if not columns.size:
                return None
        factors, constant = _least_squares(some.only(columns))
        if not np.isfinite(factors).all():
            return None
    rows = rows.only(columns)
    factors, constant = _short(rows, factors, constant, logarithms=logarithms)
    if not np.all(factors) or np.count_nonzero(rows.obeying(factors, constant)) < OBEY * rows.y.size:
        return None
    return Candidate(candidate.target, candidate.features[columns], factors, constant)


def _needed(some: Rows, columns: np.ndarray, factors: np.ndarray, more: float) -> np.ndarray:
    """The columns without which the relation would fail, where it holds."""
    middle, size = some.x.mean(axis=0), some.x.std(axis=0)
    x, y = (some.x - middle) / np.where(size > 0.0, size, np.inf), some.y - some.y.mean()
    gram, moments = x.T @ x + RIDGE * y.size * np.eye(size.size), x.T @ y
    slack = some.slack(factors) + more
    for column in columns[np.argsort(np.abs(factors) * size)]:
        fewer = columns[columns != column]
        if not fewer.size:
            break
        residual = y - x[:, fewer] @ np.linalg.solve(gram[np.ix_(fewer, fewer)], moments[fewer])
        if np.mean(np.abs(residual) <= slack) >= KEPT:
            columns = fewer
    return columns


def _least_squares(some: Rows) -> tuple[np.ndarray, float]:
    middle, low = some.x.mean(axis=0), some.y.mean()
    x = some.x - middle
    size = np.sqrt(np.mean(x * x, axis=0))
    size = np.where(size > 0.0, size, 1.0)
    factors = np.linalg.lstsq(x / size, some.y - low, rcond=1e-12)[0] / size
    return factors, float(low - middle @ factors)


def _short(rows: Rows, factors: np.ndarray, constant: float, *, logarithms: bool) -> tuple[np.ndarray, float]:
    """The shortest factors, and then the shortest constant, that as many records obey."""
    obeying = rows.obeying(factors, constant)
    number = np.count_nonzero(obeying)
    for digits in DIGITS:
        short = np.array([_rounded(factor, digits) for factor in factors])
        middle = float(np.median(rows.residual(short, 0.0)[obeying]))
        if np.count_nonzero(rows.obeying(short, middle)) >= KEPT * number:
            factors, constant = short, middle
            break
    number = np.count_nonzero(rows.obeying(factors, constant))
    for digits in (0, *DIGITS):
        if logarithms and abs(constant) < LARGEST:
            short_constant = float(np.log(_rounded(np.exp(constant), max(digits, 1)))) if digits else 0.0
        else:
            short_constant = _rounded(constant, digits) if digits else 0.0
        if np.count_nonzero(rows.obeying(factors, short_constant)) >= KEPT * number:
            return factors, short_constant
    return factors, constant


def _rounded(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")
