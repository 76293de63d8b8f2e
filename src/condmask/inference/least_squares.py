"""Least squares of the original on columns that were not masked, in one orthonormal basis of their space.

The columns are made orthonormal by the Cholesky factor of their products, a second time where one column is
nearly determined by the others, since what rounding leaves grows with the square; by reflections, which cost
several times as much, where it is determined even more nearly. Coefficients, residuals, leverages and
variances then follow from the basis alone.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.linear_variance import (
    CHUNK,
    Sampled,
    linear_interval,
    sampled_sums,
    weighted_squares,
)  # fmt: skip
from condmask.inference.pseudo_values import PseudoValues

# of a column, the part that the others do not determine: above, one Cholesky factor serves, or two
FAR, CLOSE = 0.03, 1e-5
DETERMINED = 1e-11  # as rounding leaves it where they determine the column
ALONE = 1e-10  # by how little a leverage may miss 1


class Basis(NamedTuple):
    """Orthonormal rows, of shape (q, m), the matrix that makes coefficients of what they give, and what
    these are to be divided by: the largest entries of the columns, so that no square overflows."""

    rows: np.ndarray
    back: np.ndarray
    units: np.ndarray


def basis(names: list[str], columns: list[np.ndarray], *, intercept: bool) -> Basis:
    """A basis of the space of columns without gaps; of the constant, too, where there is an intercept."""
    first, m = int(intercept), columns[0].size
    count = first + len(columns)
    if m <= count:
        raise ValueError(f"W must have fewer coefficients than records, got {count} for {m} records")
    rows, back = np.empty((count, m)), np.eye(count)
    norms, units = np.full(count, np.sqrt(m)), np.ones(count)
    rows[:first] = 1.0
    for k, column in enumerate(columns, first):
        units[k] = float(max(column.max(), -column.min())) or 1.0
        np.divide(column, units[k], out=rows[k])
        middle = float(rows[k].mean()) * first
        rows[k] -= middle
        norms[k] = np.sqrt(rows[k] @ rows[k])
        if norms[k] <= DETERMINED * np.sqrt(m):
            raise ValueError(_dependent(names[k - first], intercept=intercept))
        back[:first, k] = -middle
    back /= norms
    factor = _cholesky(rows, norms)
    least = 0.0 if factor is None else np.abs(np.diag(factor)).min()
    if factor is None or least < CLOSE:
        orthonormal, upper = np.linalg.qr((rows / norms[:, None]).T)
        last = int(np.abs(np.diag(upper)).argmin())
        if abs(upper[last, last]) < DETERMINED:
            raise ValueError(_dependent(names[last - first], intercept=intercept))
        return Basis(np.ascontiguousarray(orthonormal.T), back @ np.linalg.inv(upper), units)
    _turn(rows, once := np.linalg.inv(factor), norms)
    if least < FAR:
        _turn(rows, again := np.linalg.inv(np.linalg.cholesky(rows @ rows.T)), np.ones(count))
        once = again @ once
    return Basis(rows, back @ once.T, units)


def _turn(rows: np.ndarray, matrix: np.ndarray, norms: np.ndarray) -> None:
    """The rows, divided by their norms, times a matrix, in their place."""
    for start in range(0, rows.shape[1], CHUNK):
        part = rows[:, start : start + CHUNK]
        part[:] = (matrix / norms) @ part


def _cholesky(rows: np.ndarray, norms: np.ndarray) -> np.ndarray | None:
    try:
        return np.asarray(np.linalg.cholesky(rows @ rows.T / np.outer(norms, norms)))
    except np.linalg.LinAlgError:
        return None


def _dependent(name: str, *, intercept: bool) -> str:
    others = "the others and the intercept" if intercept else "the others"
    return f"W must have no column that {others} determine, got {name!r}"


def fit(
    space: Basis, pseudo: PseudoValues, rows: Any, options: IntervalOptions, *, intercept: bool
) -> Interval:
    """The coefficients of a regression of the records `rows` among those with a value."""
    q, back, units = space
    y = pseudo.values[rows]
    if not intercept:
        y = y + pseudo.origin / pseudo.unit
    along = q @ y
    residual = y - along @ q
    weights = back @ q
    if options.clusters is None:
        apart = 1.0 - np.einsum("ij,ij->j", q, q)
        alone = np.flatnonzero(apart < ALONE)
        apart[alone] = np.inf
        variance = weighted_squares(weights, (residual / apart) ** 2)
        # the fit leaves such a record no residual: how far its original lies from others like it is unknown
        leans = np.abs(weights[:, alone]).max(axis=1, initial=0.0)
        variance[leans > ALONE * np.abs(back).max(axis=1)] = np.nan
        sampled = Sampled(variance, float(y.size - len(q)))
    else:
        variance, degrees = sampled_sums(weights * residual, options.clusters[pseudo.rows][rows])
        sampled = Sampled(variance * ((y.size - 1) / (y.size - len(q))), degrees)
    quantity = "regression of the original, coefficients"
    interval = linear_interval(quantity, back @ along, weights, sampled, pseudo, rows, options)
    constant = np.zeros(len(q))
    constant[: int(intercept)] = 1.0
    return pseudo.in_units(interval, total=constant, units=units)
