"""Least squares of the original on columns that were not masked, in an orthonormal basis of their space.

The Cholesky factor of their products makes the columns orthonormal. If one column is nearly determined by the
others this is done again, since rounding errors grow with the square; if even more nearly, a small number
added to the squares keeps the first factor regular. Coefficients, residuals, leverages and variances then
follow from the basis alone, of which only one chunk is held at a time.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.records import Records
from condmask.linear.variance import IntervalOptions, of_sums, t_interval
from condmask.variance.heavy_tails import central_sums, plain_kurtosis
from condmask.variance.interval import Interval

# of a column, the part that the others do not determine: above, one Cholesky factor serves, or two
FAR, CLOSE = 0.03, 1e-5
DETERMINED = 1e-11  # as rounding leaves it where they determine the column
ADDED = 1e-13  # to the squares of columns of length 1 that are closer
ALONE = 1e-10  # by how little a leverage may miss 1


class Basis:
    """Orthonormal rows that span columns, of the records that miss nothing, with a constant or without.

    Parameters
    ----------
    chunks : Chunks
        The records, with the columns and those of clusters.
    names : list of str
        Of the columns.
    intercept : bool
        Whether the constant is one of them, the first.

    Attributes
    ----------
    records : int
        Their number.
    units : ndarray of shape (count,)
        The largest entries of the columns, by which they are divided, so that no square overflows.
    back : ndarray of shape (count, count)
        The matrix that makes coefficients of what the rows give, which the units are to divide.
    off : ndarray of shape (columns,)
        How far their means lie from 0 in the rows at first.
    turns : list of ndarray
        The matrices by which rows were turned.
    orthonormal : bool
        Whether that was enough.
    """

    orthonormal = False

    def __init__(self, chunks: Chunks, names: list[str], *, intercept: bool) -> None:
        self._names, self._first, self.turns = names, int(intercept), list[np.ndarray]()
        ends = chunks.fold(_sums_and_ends, np.add, np.add, np.minimum, np.maximum)
        self.records, sums, low, high = ends
        count = self._first + len(names)
        if self.records <= count:
            raise ArgumentError(
                f"W must have fewer coefficients than records, got {count} for {self.records} records"
            )
        largest = np.where((low == 0.0) & (high == 0.0), 1.0, np.maximum(high, -low))
        self.units, self._apart = np.append(np.ones(self._first), largest), np.ones(count)
        self._middles, self.back = np.zeros(count), np.eye(count)
        self.off = sums / self.records / largest
        if intercept:
            self._middles[1:], self.off = self.off, np.zeros(count - 1)
            self.back[0] -= self._middles

    def rows(self, chunk: Chunk) -> np.ndarray:
        """The basis in a chunk, of shape (count, m); at first the columns in their units, about the mean."""
        rows = np.ones((self.units.size, chunk.z.size))
        rows[self._first :] = chunk.columns[:-1]
        rows /= self.units[:, None]
        rows -= self._middles[:, None]
        for turn in self.turns:
            rows = turn @ rows
        return rows

    def turn(self, products: np.ndarray) -> np.ndarray:
        """Make the rows more nearly orthonormal, from their products; the matrix by which they are turned."""
        norms = np.sqrt(np.diag(products))
        constant = norms[self._first :] <= DETERMINED * np.sqrt(self.records)
        if not self.turns and constant.any():
            self._refuse(int(constant.argmax()))
        factor = _cholesky(products / np.outer(norms, norms))
        apart = np.diag(factor)
        self._apart *= apart * norms if self.turns else apart
        if self._apart.min() < DETERMINED:
            self._refuse(int(self._apart.argmin()) - self._first)
        turn = np.linalg.inv(factor) / norms
        self.turns.append(turn)
        self.back, self.orthonormal = self.back @ turn.T, bool(apart.min() >= FAR)
        return turn

    def _refuse(self, column: int) -> None:
        others = "the others and the intercept" if self._first else "the others"
        raise ArgumentError(
            f"W must have no column that is determined by {others}, got {self._names[column]!r}"
        )


def regress(
    pseudo: Any, records: Records, columns: dict[str, Any], options: IntervalOptions, *, intercept: bool
) -> tuple[Interval, int, np.ndarray]:
    """The coefficients of a regression on columns, that of the constant first; the number of records, and the
    kurtosis of each column."""
    chunks = Chunks(records, *columns.values(), options.clusters)
    basis = Basis(chunks, list(columns), intercept=intercept)
    count, shift = len(basis.back), 0.0 if intercept else pseudo.origin / pseudo.unit
    kurtoses = np.empty(0)

    def products(chunk: Chunk) -> tuple[Any, ...]:
        rows, values = basis.rows(chunk), pseudo.values(chunk) + shift
        of_rows = rows @ rows.T, rows @ values, chunk.by_pool(rows, pseudo.size.size)
        return of_rows if basis.turns else (*of_rows, central_sums(rows[int(intercept) :], basis.off))

    while not basis.orthonormal:
        of_rows, along, total, *powers = chunks.fold(products)
        turn = basis.turn(of_rows)
        kurtoses = plain_kurtosis(*powers[0] / basis.records) if powers else kurtoses
        along, total = turn @ along, turn @ total
    back, clustered = basis.back, options.clusters is not None

    def residuals(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        rows = basis.rows(chunk)
        weights, residual = back @ rows, pseudo.values(chunk) + shift - along @ rows
        if clustered:
            return weights, weights * residual
        apart = 1.0 - np.einsum("ij,ij->j", rows, rows)
        return weights, left_out(weights * residual, apart, weights, np.abs(back).max(axis=1))

    file, sampled, masked, degrees = of_sums(pseudo, chunks, back @ total, residuals, options.cluster_count)
    m = basis.records
    if clustered:
        sampled = sampled * ((m - 1) / (m - count))
    else:
        degrees = float(m - count)
    quantity, constant = "regression of the original, coefficients", np.arange(count) < int(intercept)
    found = t_interval(
        quantity, back @ along, (file, sampled - masked), degrees, pseudo, options,
        total=constant, units=basis.units,
    )  # fmt: skip
    return found, basis.records, kurtoses


def left_out(
    contributions: np.ndarray, apart: np.ndarray, weights: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Contributions as if each residual were of a fit without its own record: HC3.

    `apart` is 1 less the leverage. A record may alone determine coefficients, on which it has more than next
    to no weight beside the largest: how far others like it lie is unknown.
    """
    alone = apart < ALONE
    found = contributions / np.where(alone, 1.0, apart)
    leans = np.abs(weights[:, alone]) > ALONE * largest[:, None]
    found[:, alone] = np.where(leans, np.nan, 0.0)
    return found


def _sums_and_ends(chunk: Chunk) -> tuple[Any, ...]:
    columns = np.array(chunk.columns[:-1])
    return chunk.z.size, columns.sum(axis=1), columns.min(axis=1), columns.max(axis=1)


def _cholesky(products: np.ndarray) -> np.ndarray:
    """The Cholesky factor of the products of columns of length 1, so far apart at least that it is right."""
    for added in (0.0, ADDED):
        try:
            factor = np.linalg.cholesky(products + added * np.eye(len(products)))
        except np.linalg.LinAlgError:
            continue
        if np.diag(factor).min() >= CLOSE:
            break
    return np.asarray(factor)
