"""Least squares of the original on columns that were not masked, in one orthonormal basis of their space.

The Cholesky factor of their products makes the columns orthonormal. If one column is nearly determined by the
others this is done twice, since rounding errors grow with the square; if even more nearly, reflections come
first, part by part, which cost several times as much. Coefficients, residuals, leverages and variances then
follow from the basis alone, of which only one part is held at a time.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.heavy_tails import PlainTails
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.linear_variance import Sampled, SampledSums, Variation
from condmask.inference.parts import CompleteRows, Rows
from condmask.inference.pseudo_values import Part, Parts, PseudoValues

# of a column, the part that the others do not determine: above, one Cholesky factor serves, or two
FAR, CLOSE = 0.03, 1e-5
DETERMINED = 1e-11  # as rounding leaves it where they determine the column
ALONE = 1e-10  # by how little a leverage may miss 1


class Basis:
    """Orthonormal rows that span columns, of the records that miss nothing, with a constant or without.

    Parameters
    ----------
    columns : list of ndarray of shape (n,)
        NaN where a value is missing.
    needed : sequence of ndarray or None
        Other columns that records may not miss.
    intercept : bool

    Attributes
    ----------
    complete : CompleteRows
        The records.
    records : int
        Their number.
    units : ndarray of shape (count,)
        The largest entries of the columns, by which they are divided, so that no square overflows.
    back : ndarray of shape (count, count)
        The matrix that makes coefficients of what the rows give, which the units are to divide.
    kurtoses : list of float
        By column.
    """

    def __init__(self, columns: list[Any], needed: tuple[Any, ...], *, intercept: bool) -> None:
        self._columns, self.complete = columns, CompleteRows(*columns, *needed)
        self.first = int(intercept)
        self._only: np.ndarray | None = None
        count = self.first + len(columns)
        low, high, self.records = self._found_ends()
        largest = np.maximum(high, -low)
        self.units, self._middles = np.ones(count), np.zeros(count)
        self.units[self.first :] = np.where(largest == 0.0, 1.0, largest)
        self._ends = low, high
        self._turns: list[Callable[[np.ndarray], np.ndarray]] = []
        self.back, self.kurtoses = np.eye(count), [np.nan]

    def rows(self, rows: Rows | Part) -> np.ndarray:
        """The basis in these rows of the file, of shape (count, m)."""
        if self._only is not None:
            return self._only
        basis = self.standardised(rows)
        for turn in self._turns:
            basis = turn(basis)
        return basis

    def keep(self) -> None:
        """Keep a basis of one part, so that batches do not recompute it."""
        if self.complete.single:
            (self._only,) = (self.rows(rows) for rows in self.complete)

    def standardised(self, rows: Rows | Part) -> np.ndarray:
        """The constant, if it is one of them, and the columns in their units, about what is their middle."""
        columns = self._of(rows)
        basis = np.empty((self.units.size, columns.shape[1]))
        basis[: self.first] = 1.0
        np.divide(columns, self.units[self.first :, None], out=basis[self.first :])
        basis -= self._middles[:, None]
        return basis

    def centre(self) -> np.ndarray:
        """Take the means off the columns where there is a constant; the means."""
        sums = np.zeros(self.units.size)
        for rows in self.complete:
            sums += self.standardised(rows).sum(axis=1)
        means: np.ndarray = sums / self.records
        if self.first:
            self._middles[1:] = means[1:]
            self.back[0, 1:] = -means[1:]
        return means[self.first :]

    def products(self, means: np.ndarray | None = None) -> np.ndarray:
        """The products of the rows; with the means of the columns these are looked at for tails, too."""
        products: np.ndarray = np.zeros(self.back.shape)
        units, (low, high) = self.units[self.first :], self._ends
        tails = None if means is None else PlainTails(low / units, high / units, means)
        for rows in self.complete:
            basis = self.rows(rows)
            products += basis @ basis.T
            if tails is not None:
                tails.add(self._of(rows) / units[:, None])
        if tails is not None:
            self.kurtoses = tails.kurtoses
        return products

    def turn(self, matrix: np.ndarray) -> None:
        """Multiply the rows by a matrix."""
        self._turns.append(partial(np.matmul, matrix))
        self.back = self.back @ matrix.T

    def reflected(self, norms: np.ndarray) -> np.ndarray:
        """The upper triangle from which orthonormal rows make the rows, divided by their norms."""
        upper = np.empty((0, norms.size))
        for rows in self.complete:
            upper = _triangle(np.vstack([upper, (self.rows(rows) / norms[:, None]).T]))
        return upper

    def divide(self, norms: np.ndarray, upper: np.ndarray) -> None:
        """Divide the rows by their norms and by that triangle; but for rounding they are orthonormal then."""
        self._turns.append(partial(_divided, norms, upper))
        self.back = self.back / norms @ np.linalg.inv(upper)

    def _of(self, rows: Rows | Part) -> np.ndarray:
        return np.array([rows.of(column) for column in self._columns])

    def _found_ends(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The least and the largest of each column, and the number of records."""
        low, high, records = np.full(len(self._columns), np.inf), np.full(len(self._columns), -np.inf), 0
        for rows in self.complete:
            values = self._of(rows)
            low, high = np.minimum(low, values.min(axis=1)), np.maximum(high, values.max(axis=1))
            records += values.shape[1]
        return low, high, records


def basis(names: list[str], columns: list[Any], *needed: Any, intercept: bool) -> Basis:
    """A basis of the space of columns; of the constant, too, where there is an intercept."""
    space, first = Basis(columns, needed, intercept=intercept), int(intercept)
    count = first + len(columns)
    if space.records <= count:
        raise ArgumentError(
            f"W must have fewer coefficients than records, got {count} for {space.records} records"
        )
    products = space.products(space.centre())
    norms = np.sqrt(np.diag(products))
    constant = np.flatnonzero(norms[first:] <= DETERMINED * np.sqrt(space.records))
    if constant.size:
        raise ArgumentError(_dependent(names[constant[0]], intercept=intercept))
    factor = _cholesky(products / np.outer(norms, norms))
    least = 0.0 if factor is None else np.abs(np.diag(factor)).min()
    if factor is None or least < CLOSE:
        upper = space.reflected(norms)
        last = int(np.abs(np.diag(upper)).argmin())
        if abs(upper[last, last]) < DETERMINED:
            raise ArgumentError(_dependent(names[last - first], intercept=intercept))
        space.divide(norms, upper)
    else:
        space.turn(np.linalg.inv(factor) / norms)
    if least < FAR:
        space.turn(np.linalg.inv(np.linalg.cholesky(space.products())))
    space.keep()
    return space


def _cholesky(products: np.ndarray) -> np.ndarray | None:
    try:
        return np.asarray(np.linalg.cholesky(products))
    except np.linalg.LinAlgError:
        return None


def _triangle(columns: np.ndarray) -> np.ndarray:
    triangle: np.ndarray = np.linalg.qr(columns, mode="r")  # type: ignore[assignment]
    return triangle


def _divided(norms: np.ndarray, upper: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return _substituted(upper, rows / norms[:, None])


def _substituted(upper: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rows from which an upper triangle makes the given ones, one after the other: as exact as these."""
    found = np.empty(rows.shape)
    for k, row in enumerate(rows):
        found[k] = (row - upper[:k, k] @ found[:k]) / upper[k, k]
    return found


def _dependent(name: str, *, intercept: bool) -> str:
    others = "the others and the intercept" if intercept else "the others"
    return f"W must have no column that is determined by {others}, got {name!r}"


def fit(space: Basis, pseudo: PseudoValues, options: IntervalOptions, *, intercept: bool) -> Interval:
    """The coefficients of a regression on the columns of a basis."""
    back, count = space.back, len(space.back)
    shift = 0.0 if intercept else pseudo.origin / pseudo.unit
    parts = Parts(pseudo, space.complete)
    along, total = np.zeros(count), pseudo.sums(count)
    for part in parts:
        q = space.rows(part)
        along += q @ (part.values + shift)
        part.add_by_pool(total, q)
    variation, m = Variation(pseudo, back @ total), space.records
    clusters = SampledSums(np.zeros(count), options.clusters, options.cluster_count)
    leans = np.zeros(count)
    for part in parts:
        q = space.rows(part)
        residual, weights = part.values + shift - along @ q, back @ q
        if options.clusters is not None:
            variation.add(weights, part)
            clusters.add(weights * residual, part)
            continue
        apart = 1.0 - np.einsum("ij,ij->j", q, q)
        alone = apart < ALONE
        if alone.any():  # how far the coefficients lean on a record that alone determines one
            apart[alone] = np.inf
            leans = np.maximum(leans, np.abs(weights[:, alone]).max(axis=1))
        variation.add(weights, part, (residual / apart) ** 2)
    if options.clusters is None:
        # the fit leaves such a record no residual: how far its original lies from others like it is unknown
        unknown = leans > ALONE * np.abs(back).max(axis=1)
        sampled = Sampled(np.where(unknown, np.nan, 0.0), float(m - count))
    else:
        variance, degrees = clusters.sampled
        sampled = Sampled(variance * ((m - 1) / (m - count)), degrees)
    quantity = "regression of the original, coefficients"
    interval = variation.interval(quantity, back @ along, sampled, options)
    constant = np.zeros(count)
    constant[: int(intercept)] = 1.0
    return pseudo.in_units(interval, total=constant, units=space.units)
