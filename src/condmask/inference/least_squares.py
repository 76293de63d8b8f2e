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
from condmask.inference.parts import Rows, complete_rows, summed
from condmask.inference.pseudo_values import Part, Parts, PseudoValues

# of a column, the part that the others do not determine: above, one Cholesky factor serves, or two
FAR, CLOSE = 0.03, 1e-5
DETERMINED = 1e-11  # as rounding leaves it where they determine the column
ALONE = 1e-10  # by how little a leverage may miss 1


class Basis:
    """Orthonormal rows that span columns, of the records that miss nothing, with a constant or without.

    Parameters
    ----------
    columns : list of ndarray of shape (n,) or RemoteColumn
        NaN where a value is missing.
    needed : sequence of ndarray, RemoteColumn or None
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
        self._columns, self.complete = columns, complete_rows(*columns, *needed)
        self.first = int(intercept)
        self._only: np.ndarray | None = None
        count = self.first + len(columns)
        none = np.full(len(columns), np.inf)
        low, high, self.records = self.complete.fold(self._ends_with, (none, -none, 0), _both_ends)
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
        (sums,) = self.complete.fold(self._add_rows, (np.zeros(self.units.size),))
        means: np.ndarray = sums / self.records
        if self.first:
            self._middles[1:] = means[1:]
            self.back[0, 1:] = -means[1:]
        return means[self.first :]

    def products(self, means: np.ndarray | None = None) -> np.ndarray:
        """The products of the rows; with the means of the columns these are looked at for tails, too."""
        products: np.ndarray = np.zeros(self.back.shape)
        if means is None:
            return np.asarray(self.complete.fold(self._add_products, (products,))[0])
        low, high = (end / self.units[self.first :] for end in self._ends)
        products, tails = self.complete.fold(self._add_products, (products, PlainTails(low, high, means)))
        self.kurtoses = tails.kurtoses
        return products

    def turn(self, matrix: np.ndarray) -> None:
        """Multiply the rows by a matrix."""
        self._turns.append(partial(np.matmul, matrix))
        self.back = self.back @ matrix.T

    def reflected(self, norms: np.ndarray) -> np.ndarray:
        """The upper triangle from which orthonormal rows make the rows, divided by their norms."""
        return np.asarray(
            self.complete.fold(partial(self._reflect, norms), np.empty((0, norms.size)), _both_triangles)
        )

    def divide(self, norms: np.ndarray, upper: np.ndarray) -> None:
        """Divide the rows by their norms and by that triangle; but for rounding they are orthonormal then."""
        self._turns.append(partial(_divided, norms, upper))
        self.back = self.back / norms @ np.linalg.inv(upper)

    def _of(self, rows: Rows | Part) -> np.ndarray:
        return np.array([rows.of(column) for column in self._columns])

    # --- steps ---

    def _ends_with(self, found: Any, rows: Rows) -> Any:
        """The least and the largest of each column, and the number of records."""
        values = self._of(rows)
        return _both_ends(found, (values.min(axis=1), values.max(axis=1), values.shape[1]))

    def _add_rows(self, sums: tuple[np.ndarray], rows: Rows) -> tuple[np.ndarray]:
        sums[0][:] += self.standardised(rows).sum(axis=1)
        return sums

    def _add_products(self, gathered: Any, rows: Rows) -> Any:
        """The products, and the tails where these are asked for."""
        products, *tails = gathered
        basis = self.rows(rows)
        products += basis @ basis.T
        for each in tails:
            each.add(self._of(rows) / self.units[self.first :, None])
        return gathered

    def _reflect(self, norms: np.ndarray, upper: np.ndarray, rows: Rows) -> np.ndarray:
        return _triangle(np.vstack([upper, (self.rows(rows) / norms[:, None]).T]))


def _both_ends(one: Any, other: Any) -> Any:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1]), one[2] + other[2]


def _both_triangles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _triangle(np.vstack([one, other]))


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
    along, total = parts.fold(partial(_along, space, shift), (np.zeros(count), pseudo.sums(count)))
    variation, m = Variation(pseudo, back @ total), space.records
    clusters = SampledSums(np.zeros(count), options.clusters, options.cluster_count)
    step = partial(_residuals, space, shift, along, options.clusters is not None)
    variation, clusters, leans = parts.fold(step, (variation, clusters, np.zeros(count)), _both_residuals)
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


Residuals = tuple[Variation, SampledSums, np.ndarray]


def _along(
    space: Basis, shift: float, sums: tuple[np.ndarray, np.ndarray], part: Part
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients in the basis, and the sums of its rows by pool."""
    q = space.rows(part)
    sums[0][:] += q @ (part.values + shift)
    part.add_by_pool(sums[1], q)
    return sums


def _residuals(
    space: Basis, shift: float, along: np.ndarray, clustered: bool, gathered: Residuals, part: Part
) -> Residuals:
    """How coefficients vary, and by how much they lean on a record that alone determines one."""
    variation, clusters, leans = gathered
    q = space.rows(part)
    residual = part.values + shift - along @ q
    weights = space.back @ q
    if clustered:
        variation.add(weights, part)
        clusters.add(weights * residual, part)
        return gathered
    apart = 1.0 - np.einsum("ij,ij->j", q, q)
    alone = apart < ALONE
    if alone.any():
        apart[alone] = np.inf
        leans = np.maximum(leans, np.abs(weights[:, alone]).max(axis=1))
    variation.add(weights, part, (residual / apart) ** 2)
    return variation, clusters, leans


def _both_residuals(one: Residuals, other: Residuals) -> Residuals:
    return *summed(one[:2], other[:2]), np.maximum(one[2], other[2])
