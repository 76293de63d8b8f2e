"""How a function of the covariance and the variances of two columns varies: the theorem, by moments.

Linearised, an estimate from pairs is a mean of phi(Z, W). Its variance about the file and about the
population follows from phi on the released records and, on the originals, from h, the influence function of
the target, and from at(x), the mean of phi(x, W') over independent W' (docs/inference.rst, "The theorem").
For covariances and variances these are polynomials in the values and in the means; their moments under the
original law come from those of the released records, by the recursion of Theorem 2.1 in two variables.
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from condmask.inference.theorem import variance_given_file
from condmask.law import Law
from condmask.strata import rows_of

Term = tuple[int, int]  # powers of x and of w
Polynomial = dict[Term, float]
DEGREE = 4  # of the squares of polynomials of degree 2
ONE, X, W, XX, XW, WW = (0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)


class Column(NamedTuple):
    """One of two columns: its values in safe units, and the moments 0 to 4 of their noise.

    `masked` says whether it was masked together with the other one.
    """

    values: np.ndarray
    noise: list[float]
    masked: bool

    def part(self, own: np.ndarray) -> "Column":
        """Some of the records."""
        return self._replace(values=self.values[own])


def column(values: np.ndarray, law: Law | None, unit: float) -> Column:
    """A column from its values in safe units; None is the law of what was not masked."""
    noise = np.eye(1, DEGREE + 1)[0] if law is None else law.noise_moments(DEGREE, unit)
    return Column(values, noise.tolist(), law is not None)


class Moments:
    """Moments of the originals of two columns of one donor pool, from the released pairs.

    Columns masked together keep their pairs when they are swapped; a plain column does not go with them.
    """

    def __init__(self, a: Column, b: Column, p: float) -> None:
        self.a, self.b, self.p = a, b, p
        self._known: dict[Term, float] = {}
        self._powers = [[np.ones(a.values.size)] for _ in range(2)]
        for powers, values in zip(self._powers, (a.values, b.values), strict=True):
            for _ in range(DEGREE):
                powers.append(powers[-1] * values)

    def mean(self, polynomial: Polynomial) -> float:
        """Of a polynomial in the originals."""
        return sum(factor * self._moment(term) for term, factor in polynomial.items())

    def covariance(self, one: Polynomial, two: Polynomial) -> float:
        """Of two polynomials in the originals."""
        return self.mean(product(one, two)) - self.mean(one) * self.mean(two)

    def released(self, polynomial: Polynomial) -> np.ndarray:
        """A polynomial in the released values, record by record."""
        found = np.zeros(self.a.values.size)
        for (i, j), factor in polynomial.items():
            found += factor * (self._powers[0][i] * self._powers[1][j])
        return found

    def _moment(self, term: Term) -> float:
        if term not in self._known:
            self._known[term] = self._worked_out(term)
        return self._known[term]

    def _worked_out(self, term: Term) -> float:
        p, (i, j) = self.p, term
        seen = float(self._powers[0][i] @ self._powers[1][j]) / self.a.values.size
        added = sum(factor * self._moment(each) for each, factor in self._added(term))
        if self.b.masked or j == 0:
            return seen - (1.0 - p) * added
        alone = self._moment((i, 0)) * float(np.mean(self._powers[1][j]))
        return (seen - p * alone) / (1.0 - p) - added

    def _added(self, term: Term) -> Iterator[tuple[Term, float]]:
        """What noise adds to a moment: binomial terms with its moments of even order."""
        i, j = term
        for m in range(0, i + 1, 2):
            for r in range(0, j + 1, 2):
                if m or r:
                    yield (i - m, j - r), comb(i, m) * comb(j, r) * self.a.noise[m] * self.b.noise[r]


class Pieces(NamedTuple):
    """What the theorem asks of one donor pool: phi on released records, h, at, and the margin of w."""

    phi: Polynomial
    h: Polynomial
    at: Polynomial
    margin: Polynomial


class Weights(NamedTuple):
    """The derivatives of a function of the covariance and of both variances."""

    covariance: float
    first: float = 0.0
    second: float = 0.0


def pieces(own: Moments, means: tuple[float, float], factor: float, by: Weights) -> Pieces:
    """Of a donor pool.

    Parameters
    ----------
    own : Moments
        Of the pool.
    means : (float, float)
        Of the originals of all pools.
    factor : float
        f, what is left of a covariance with a plain column.
    by : Weights
    """
    a, b, p, (m, n) = own.a, own.b, own.p, means
    h = {
        XW: by.covariance, XX: by.first, WW: by.second,
        X: -n * by.covariance - 2.0 * m * by.first, W: -m * by.covariance - 2.0 * n * by.second,
    }  # fmt: skip
    lone, other = _square(a, m, p, by.first, XX, X), _square(b, n, p, by.second, WW, W)
    if b.masked:
        pair = {XW: 1.0, X: -n, W: -m}
        psi = _sum((by.covariance, pair), (1.0, lone), (1.0, other))
        return Pieces(psi, h, psi, {})
    mu, nu = float(a.values.mean()), float(b.values.mean())
    pair = {XW: 1.0 / factor, X: nu - n - nu / factor, W: mu - m - mu / factor}
    phi = _sum((by.covariance, pair), (1.0, lone), (1.0, other))
    at = _sum((by.covariance, {X: nu - n}), (1.0, lone))
    margin = _sum((by.covariance, {W: mu - m}), (1.0, other))
    return Pieces(phi, h, at, margin)


def _square(own: Column, mean: float, p: float, by: float, square: Term, first: Term) -> Polynomial:
    """What the variance of a column adds to phi: without bias, and about its mean."""
    return {square: by, first: -2.0 * by * mean, ONE: -by * (1.0 - p) * own.noise[2]}


def _sum(*parts: tuple[float, Polynomial]) -> Polynomial:
    found: Polynomial = {}
    for times, polynomial in parts:
        for term, factor in polynomial.items():
            found[term] = found.get(term, 0.0) + times * factor
    return found


def spreads(
    a: Column,
    b: Column,
    pool: np.ndarray,
    factor: np.ndarray,
    by: Sequence[Weights],
    p: float,
    *,
    shared_donors: bool,
) -> np.ndarray:
    """The variances about the file and about the population, of one record; of shape (2, functions).

    Parameters
    ----------
    a, b : Column
        The pairs.
    pool : ndarray of shape (n,)
        The number of each pair's donor pool.
    factor : ndarray
        f of each pool.
    by : sequence of Weights
        Of each function.
    p : float
    shared_donors : bool
    """
    means = float(a.values.mean()), float(b.values.mean())
    total, h, hh = np.zeros((4, len(by))), np.zeros(len(by)), np.zeros(len(by))
    for s, rows in rows_of(pool).items():
        own = Moments(a.part(rows), b.part(rows), p)
        share = rows.size / pool.size
        for k, weights in enumerate(by):
            phi, target, at, margin = pieces(own, means, float(factor[s]), weights)
            given_file = _sum((1.0, target), (-p, at))
            v = float(own.released(phi).var(ddof=1)) if rows.size > 1 else 0.0
            parts = own.covariance(given_file, given_file), own.covariance(target, target)
            total[:, k] += share * np.array([v, *parts, own.covariance(margin, at)])
            h[k] += share * own.mean(target)
            hh[k] += share * own.mean(product(target, target))
    file = variance_given_file(*total, shared_donors=shared_donors, p=p)
    return np.array([file, file + np.maximum(hh - h * h, 0.0)])


def product(one: Polynomial, two: Polynomial) -> Polynomial:
    """Of two polynomials."""
    found: Polynomial = {}
    for a, x in one.items():
        for b, y in two.items():
            term = a[0] + b[0], a[1] + b[1]
            found[term] = found.get(term, 0.0) + x * y
    return found
