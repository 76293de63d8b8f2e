"""Least squares of the original on columns that were not masked, in an orthonormal basis of their
space.

The Cholesky factor of their products makes the columns orthonormal but for rounding errors, which
grow with the square as they come close to one another; a small number added keeps it regular. That
of the products of what it gives does the rest. Coefficients, residuals, leverages and variances
then follow from the basis alone, of which only one chunk is held at a time.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.interval import Interval
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import Records
from condmask.linear.variance import ONE_CLUSTER, IntervalOptions, of_sums, t_interval
from condmask.moments.heavy_tails import central_sums, plain_kurtosis

DETERMINED = 1e-11  # of a column, the part that others do not determine, as rounding leaves it
ROUNDING = 1e-14  # of a column's largest entry: one that reaches no farther is constant
ADDED = 1e-14  # to the squares of columns of length 1
ALONE = 1e-10  # by how little a leverage may miss 1


class Basis:
    """Orthonormal rows that span columns, of the records that miss nothing, with a constant or
    without.

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
        How far the columns reach from their means, or from 0 without a constant: they are divided
        by it.
    back : ndarray of shape (count, count)
        The matrix that makes coefficients of what the rows give, which the units are to divide.
    kurtoses : ndarray of shape (columns,)
    turns : list of ndarray
        The matrices by which rows were turned.
    """

    def __init__(self, chunks: Chunks, names: list[str], *, intercept: bool) -> None:
        self._names = names
        self._first = int(intercept)
        self.turns = list[np.ndarray]()
        ends = chunks.fold(_sums_and_ends, np.add, np.add, np.minimum, np.maximum)
        self.records, sums, low, high = ends
        count = self._first + len(names)
        if self.records <= count:
            raise ArgumentError(
                f"W must have fewer coefficients than records, got {count} for {self.records} records"
            )
        means = sums / self.records
        middles = means if intercept else np.zeros(means.size)
        reach = np.maximum(high - middles, middles - low)
        varies = reach > ROUNDING * np.maximum(high, -low)
        first = np.ones(self._first)
        units = np.where(varies, reach, 1.0)
        self.units = np.append(first, units)
        self._middles = np.append(0.0 * first, middles)
        self.back = np.eye(count)
        self._apart = np.append(first, varies)
        self.back[0] -= self._middles / self.units

        def products(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
            rows = self.rows(chunk)
            return rows @ rows.T, central_sums(rows[self._first :], (means - middles) / units)

        of_rows, powers = chunks.fold(products)
        self.kurtoses = plain_kurtosis(*powers / self.records)
        self.turn(of_rows)

    def rows(self, chunk: Chunk) -> np.ndarray:
        """The basis in a chunk, of shape (count, m); at first the columns about the mean, in their
        units."""
        rows = np.ones((self.units.size, chunk.z.size))
        rows[self._first :] = chunk.columns[:-1]
        rows -= self._middles[:, None]
        rows /= self.units[:, None]
        for turn in self.turns:
            rows = turn @ rows
        return rows

    def turn(self, products: np.ndarray) -> np.ndarray:
        """Make rows of these products nearly orthonormal; the matrix by which they are turned."""
        norms = np.sqrt(np.diag(products))
        norms[norms == 0.0] = 1.0
        factor = np.linalg.cholesky(products / np.outer(norms, norms) + ADDED * np.eye(norms.size))
        self._apart *= np.diag(factor) * (norms if self.turns else 1.0)
        if self._apart.min() < DETERMINED:
            column = self._names[int(self._apart.argmin()) - self._first]
            others = "the others and the intercept" if self._first else "the others"
            raise ArgumentError(
                f"W must have no column that is determined by {others}, got {column!r}"
            )
        turn = np.linalg.inv(factor) / norms
        self.turns.append(turn)
        self.back = self.back @ turn.T
        return turn


def regress(
    pseudo: PseudoValues,
    records: Records,
    columns: dict[str, Any],
    options: IntervalOptions,
    *,
    intercept: bool,
) -> tuple[Interval, int, np.ndarray]:
    """The coefficients of a regression on columns, that of the constant first; the number of
    records, and the kurtosis of each column."""
    chunks = Chunks(records, *columns.values(), options.clusters)
    basis = Basis(chunks, list(columns), intercept=intercept)
    count = len(basis.back)
    shift = 0.0 if intercept else pseudo.origin / pseudo.unit

    def products(chunk: Chunk) -> tuple[Any, ...]:
        rows = basis.rows(chunk)
        values = pseudo.values(chunk) + shift
        return rows @ rows.T, rows @ values, chunk.by_pool(rows, pseudo.size.size)

    of_rows, along, total = chunks.fold(products)
    turn = basis.turn(of_rows)
    along = turn @ along
    total = turn @ total
    back = basis.back
    clustered = options.clusters is not None

    def residuals(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        rows = basis.rows(chunk)
        weights = back @ rows
        residual = pseudo.values(chunk) + shift - along @ rows
        if clustered:
            return weights, weights * residual
        apart = 1.0 - np.einsum("ij,ij->j", rows, rows)
        return weights, left_out(weights * residual, apart, weights, np.abs(back).max(axis=1))

    m = basis.records
    clusters = options.cluster_count
    correction = (m - 1) / (m - count) if clustered else 1.0
    variances, degrees = of_sums(pseudo, chunks, back @ total, residuals, clusters, correction)
    quantity = "regression of the original, coefficients"
    constant = np.arange(count) < int(intercept)
    found = t_interval(
        quantity,
        back @ along,
        variances,
        degrees if clustered else float(m - count),
        pseudo,
        options,
        total=constant,
        units=basis.units,
        unknown=ONE_CLUSTER if clusters == 1 else "a record alone determines it",
    )
    return found, m, basis.kurtoses


def left_out(
    contributions: np.ndarray, apart: np.ndarray, weights: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Contributions as if each residual were of a fit without its own record: HC3.

    `apart` is 1 less the leverage. A record may alone determine coefficients, on which it has more
    than next to no weight beside the largest: how far others like it lie is unknown.
    """
    alone = apart < ALONE
    found = contributions / np.where(alone, 1.0, apart)
    leans = np.abs(weights[:, alone]) > ALONE * largest[:, None]
    found[:, alone] = np.where(leans, np.nan, 0.0)
    return found


def _sums_and_ends(chunk: Chunk) -> tuple[Any, ...]:
    columns = np.array(chunk.columns[:-1])
    return chunk.z.size, columns.sum(axis=1), columns.min(axis=1), columns.max(axis=1)
