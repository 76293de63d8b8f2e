"""Regresses the original on unmasked columns by least squares, in an orthonormal basis of their
span.

The Cholesky factor of the columns' products makes them orthonormal up to rounding errors, which
grow with the square as columns come close to one another; a small number added keeps the matrix
regular. A second factor, of the products of the result, removes these errors. Coefficients,
residuals, leverages and variances then follow from the basis alone, of which only one chunk is
held at a time.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.interval import Interval
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.covariance import Sums, covariances
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import ColumnOrName, Records
from condmask.linear.variance import (
    ONE_CLUSTER,
    IntervalOptions,
    t_interval,
    variances_of_sums,
)
from condmask.moments.heavy_tails import central_sums, plain_kurtosis

MIN_UNDETERMINED = 1e-11  # part of a column not determined by the others, despite rounding
CONSTANT = 1e-14  # of a column's largest entry: one that reaches no farther is constant
ADDED = 1e-14  # to the squares of columns of length 1
MIN_LEVERAGE_GAP = 1e-10  # 1 less the leverage of a record that alone determines a coefficient


class Basis:
    """Orthonormalises columns over the records that miss nothing, with a constant or without.

    Parameters
    ----------
    chunks : Chunks
        The records, with the columns and, last, the clusters.
    names : list of str
        Of the columns.
    intercept : bool
        Whether the constant is one of them, the first.

    Attributes
    ----------
    records : int
        The number of records.
    units : ndarray of shape (count,)
        How far the columns reach from their means, or from 0 without a constant: columns are
        divided by these.
    back : ndarray of shape (count, count)
        The matrix that turns coefficients of the basis into those of the columns, times `units`.
    kurtoses : ndarray of shape (columns,)
    turns : list of ndarray
        The matrices by which rows are multiplied, in this order.
    """

    records: int
    units: np.ndarray
    back: np.ndarray
    kurtoses: np.ndarray
    turns: list[np.ndarray]

    def __init__(self, chunks: Chunks, names: list[str], *, intercept: bool) -> None:
        self._names = names
        self._first = int(intercept)
        self.turns = []
        self.records, sums, low, high = chunks.fold(
            _column_ends, np.add, np.add, np.minimum, np.maximum
        )
        count = self._first + len(names)
        if self.records <= count:
            raise ArgumentError(
                "W must have fewer coefficients than records, "
                f"got {count} for {self.records} records"
            )
        means = sums / self.records
        middles = means if intercept else np.zeros(means.size)
        reach = np.maximum(high - middles, middles - low)
        varies = reach > CONSTANT * np.maximum(high, -low)
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
        """Return the basis in a chunk, of shape (count, m).

        Before the first turn: the columns about their means, in their units.
        """
        rows = np.ones((self.units.size, chunk.z.size))
        rows[self._first :] = _regressors(chunk)
        rows -= self._middles[:, None]
        rows /= self.units[:, None]
        for turn in self.turns:
            rows = turn @ rows
        return rows

    def turn(self, products: np.ndarray) -> np.ndarray:
        """Make rows with these products nearly orthonormal.

        Returns
        -------
        ndarray of shape (count, count)
            The matrix by which rows are multiplied from now on.

        Raises
        ------
        ArgumentError
            If others determine a column.
        """
        norms = np.sqrt(np.diag(products))
        norms[norms == 0.0] = 1.0
        factor = np.linalg.cholesky(products / np.outer(norms, norms) + ADDED * np.eye(norms.size))
        self._apart *= np.diag(factor) * (norms if self.turns else 1.0)
        if self._apart.min() < MIN_UNDETERMINED:
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
    columns: Mapping[str, ColumnOrName],
    options: IntervalOptions,
    *,
    intercept: bool,
) -> "Fit":
    """Regress the original on columns; the coefficient of the constant is the first, if there is
    an intercept."""
    chunks = Chunks(records, *columns.values(), options.clusters)
    basis = Basis(chunks, list(columns), intercept=intercept)
    count = len(basis.back)
    shift = 0.0 if intercept else pseudo.origin / pseudo.unit

    def products(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        return weights, hc3_contributions(
            weights * residual, apart, weights, np.abs(back).max(axis=1)
        )

    m = basis.records
    clusters = options.cluster_count
    correction = (m - 1) / (m - count) if clustered else 1.0
    variances, degrees = variances_of_sums(
        pseudo, chunks, back @ total, residuals, clusters, correction
    )
    quantity = "regression of the original, coefficients"
    constant = np.arange(count) < int(intercept)
    coefficients = t_interval(
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
    sums = Sums(pseudo, chunks, back @ total, residuals, clusters, correction)
    of_tests = _degrees_of_tests(
        pseudo, options, count, residual_degrees=m - count, of_clusters=degrees
    )
    joint = FitJoint(sums, options, pseudo.unit / basis.units)
    return Fit(coefficients, m, basis.kurtoses, of_tests, joint)


def _degrees_of_tests(
    pseudo: PseudoValues,
    options: IntervalOptions,
    count: int,
    *,
    residual_degrees: int,
    of_clusters: float | np.ndarray,
) -> np.ndarray:
    """Return the degrees of freedom of each of `count` coefficients."""
    if options.target == "file":
        return np.full(count, pseudo.n - 1.0)
    if options.clusters is None:
        return np.full(count, float(residual_degrees))
    return np.array(np.broadcast_to(of_clusters, count), dtype=np.float64)


class FitJoint:
    """Computes how the coefficients of a regression vary together.

    Parameters
    ----------
    of : Sums
    options : IntervalOptions
    units : ndarray of shape (coefficients,)
        Those of the coefficients.
    """

    def __init__(self, of: Sums, options: IntervalOptions, units: np.ndarray) -> None:
        self._of = of
        self._options = options
        self._units = units

    @cached_property
    def matrix(self) -> np.ndarray:
        """The covariances of all coefficients."""
        pseudo = self._of.pseudo
        sampled = 1.0 - pseudo.n / self._options.population_size
        found = covariances(self._of, self._options.target, sampled)
        return np.asarray(found * np.outer(self._units, self._units))

    def __call__(self, places: Sequence[int]) -> np.ndarray:
        """Return the covariances of some coefficients."""
        return np.asarray(self.matrix[np.ix_(places, places)])


class Fit(NamedTuple):
    """A regression.

    Attributes
    ----------
    coefficients : Interval
    records : int
    kurtoses : ndarray of shape (columns,)
    degrees : ndarray of shape (coefficients,)
        Of freedom of Student's t.
    joint : FitJoint
    """

    coefficients: Interval
    records: int
    kurtoses: np.ndarray
    degrees: np.ndarray
    joint: FitJoint


def hc3_contributions(
    contributions: np.ndarray, apart: np.ndarray, weights: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Return contributions with each residual taken from a fit without its own record (HC3).

    Parameters
    ----------
    contributions, weights : ndarray of shape (coefficients, m)
    apart : ndarray of shape (m,)
        1 less the leverage. Where it is 0 the record alone determines some coefficients: those on
        which its weight is not negligible. How far similar records lie is unknown, so its
        contributions to these are NaN.
    largest : ndarray of shape (coefficients,)
        The largest absolute entries, beside which weights are negligible.

    Returns
    -------
    ndarray of shape (coefficients, m)
    """
    alone = apart < MIN_LEVERAGE_GAP
    robust = contributions / np.where(alone, 1.0, apart)
    depends = np.abs(weights[:, alone]) > MIN_LEVERAGE_GAP * largest[:, None]
    robust[:, alone] = np.where(depends, np.nan, 0.0)
    return robust


def _regressors(chunk: Chunk) -> np.ndarray:
    """Return all columns but the last, which holds the clusters."""
    return np.array([chunk.column(place) for place in range(len(chunk.columns) - 1)])


def _column_ends(chunk: Chunk) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of records, and of each column the sum and both ends."""
    columns = _regressors(chunk)
    return chunk.z.size, columns.sum(axis=1), columns.min(axis=1), columns.max(axis=1)
