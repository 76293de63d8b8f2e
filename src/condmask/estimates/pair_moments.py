"""How a function of the covariance and the variances of two columns varies: the theorem, by moments.

Linearised, an estimate from pairs is a mean of phi(Z, W). Its variance about the file and about the
population follows from phi on the released records and, on the originals, from h, the influence function of
the target, and from at(x), the mean of phi(x, W') over independent W' (docs/inference.rst, "The theorem").
For covariances and variances these are polynomials in the values, in the variance of the noise of their
level, and in the means; their moments under the original law come from those of the released records, by the
recursion of Theorem 2.1 in two variables.
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from condmask.estimates.covariance import kept_mean
from condmask.estimates.interval import over_file
from condmask.law import Law
from condmask.levels import level_laws, level_of

# powers of x and of w, and how often the second and the fourth moment of either's noise are factors
Term = tuple[int, ...]
Polynomial = dict[Term, float]
DEGREE = 4  # of the squares of polynomials of degree 2
X: Term = (1, 0, 0, 0, 0, 0)
W: Term = (0, 1, 0, 0, 0, 0)
XX: Term = (2, 0, 0, 0, 0, 0)
XW: Term = (1, 1, 0, 0, 0, 0)
WW: Term = (0, 2, 0, 0, 0, 0)
NOISE: Term = (0, 0, 1, 0, 0, 0)
NOISE_W: Term = (0, 0, 0, 0, 1, 0)


class Column(NamedTuple):
    """One of two columns: its values in safe units, and the moments 0 to 4 of their noise.

    `noise` has E Y^k of the level of each value, or of all; on the log scale, where nothing is added, 0.
    `growth` is E e^(kY), or 1.
    """

    values: np.ndarray
    noise: list[np.ndarray]
    growth: list[float]
    law: Law | None

    def kept(self, order: int) -> float:
        """By what masking multiplies the mean of a power."""
        return 1.0 if self.law is None else kept_mean(self.law, order)

    def part(self, own: np.ndarray) -> "Column":
        """Some of the records."""
        noise = [each[own] if each.ndim else each for each in self.noise]
        return self._replace(values=self.values[own], noise=noise)


def column(raw: np.ndarray, values: np.ndarray, law: Law | None, unit: float) -> Column:
    """A column from its values, as they are and in safe units; None is the law of what was not masked."""
    none = [np.ones(()), *(np.zeros(()) for _ in range(DEGREE))]
    if law is None:
        return Column(values, none, [1.0] * (DEGREE + 1), None)
    if law.scale == "log":
        return Column(values, none, [law.growth(k) for k in range(DEGREE + 1)], law)
    if law.heaps == 1:
        noise = list(law.noise_moments(DEGREE, unit))
    else:
        moments = np.array([own.noise_moments(DEGREE, unit) for own in level_laws(law)])
        noise = list(moments[level_of(law.to_units(raw), law.heaps)].T)
    return Column(values, [np.asarray(each) for each in noise], [1.0] * (DEGREE + 1), law)


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
        for term, factor in polynomial.items():
            one, two, scale = self._factors(term)
            found += factor * scale * (one * two)
        return found

    def _factors(self, term: Term) -> tuple[np.ndarray, np.ndarray, float]:
        """A term of the released records as a product of two columns and a number."""
        i, j, *times = term
        one, two, scale = self._powers[0][i], self._powers[1][j], 1.0
        for level, power in zip((*self.a.noise[2::2], *self.b.noise[2::2]), times, strict=True):
            if power and level.ndim:
                one = one * level**power
            elif power:
                scale *= float(level) ** power
        return one, two, scale

    def _moment(self, term: Term) -> float:
        if term not in self._known:
            self._known[term] = self._worked_out(term)
        return self._known[term]

    def _worked_out(self, term: Term) -> float:
        p, growth = self.p, self.a.growth[term[0]] * self.b.growth[term[1]]
        one, two, scale = self._factors(term)
        seen = scale * float(one @ two) / one.size
        added = sum(factor * self._moment(each) for each, factor in _added(term))
        if self.b.law is not None or term[1] == 0:
            return (seen - (1.0 - p) * growth * added) / (p + (1.0 - p) * growth)
        alone = self._moment((term[0], 0, *term[2:])) * float(np.mean(self._powers[1][term[1]]))
        return (seen - p * alone) / ((1.0 - p) * growth) - added


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
    lone = _square(a, m, p, by.first, (XX, X, NOISE))
    other = _square(b, n, p, by.second, (WW, W, NOISE_W))
    if b.law is not None:
        kept = p + (1.0 - p) * a.growth[1] * b.growth[1]
        pair = {XW: 1.0 / kept, X: -n / a.kept(1), W: -m / b.kept(1)}
        psi = _sum((by.covariance, pair), (1.0, lone), (1.0, other))
        return Pieces(psi, h, psi, {})
    z, nu = float(a.values.mean()), float(b.values.mean())
    mu = z / a.kept(1)
    pair = {XW: 1.0 / factor, X: (nu - n) / a.kept(1) - nu / factor, W: mu - m - z / factor}
    phi = _sum((by.covariance, pair), (1.0, lone), (1.0, other))
    at = _sum((by.covariance, {X: (nu - n) / a.kept(1)}), (1.0, lone))
    margin = _sum((by.covariance, {W: mu - m + (mu - z) / factor}), (1.0, other))
    return Pieces(phi, h, at, margin)


def _square(own: Column, mean: float, p: float, by: float, terms: tuple[Term, Term, Term]) -> Polynomial:
    """What the variance of a column adds to phi: without bias, and about its mean."""
    square, first, noise = terms
    return {
        square: by / own.kept(2), first: -2.0 * by * mean / own.kept(1), noise: -by * (1.0 - p),
    }  # fmt: skip


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
    means = float(a.values.mean()) / a.kept(1), float(b.values.mean()) / b.kept(1)
    total, h, hh = np.zeros((4, len(by))), np.zeros(len(by)), np.zeros(len(by))
    order, first = np.argsort(pool, kind="stable"), 0
    for s, count in enumerate(np.bincount(pool).tolist()):
        if count == 0:
            continue
        rows = order[first : first + count]
        first += count
        own = Moments(a, b, p) if count == pool.size else Moments(a.part(rows), b.part(rows), p)
        share = count / pool.size
        for k, weights in enumerate(by):
            phi, target, at, margin = pieces(own, means, float(factor[s]), weights)
            given_file = _sum((1.0, target), (-p, at))
            v = float(own.released(phi).var(ddof=1)) if count > 1 else 0.0
            parts = own.covariance(given_file, given_file), own.covariance(target, target)
            total[:, k] += share * np.array([v, *parts, own.covariance(margin, at)])
            h[k] += share * own.mean(target)
            hh[k] += share * own.mean(product(target, target))
    file = over_file(*total, shared_donors=shared_donors, p=p)
    return np.array([file, file + np.maximum(hh - h * h, 0.0)])


def _added(term: Term) -> Iterator[tuple[Term, float]]:
    """What noise adds to a moment where it is added: binomial terms with its second and fourth moments."""
    i, j, *times = term
    for m in range(0, i + 1, 2):
        for r in range(0, j + 1, 2):
            if m or r:
                raised = list(times)
                for power, first in ((m, 0), (r, 2)):
                    if power:
                        raised[first + power // 2 - 1] += 1
                yield (i - m, j - r, *raised), float(comb(i, m) * comb(j, r))


def product(one: Polynomial, two: Polynomial) -> Polynomial:
    """Of two polynomials."""
    found: Polynomial = {}
    for a, x in one.items():
        for b, y in two.items():
            term = tuple(m + n for m, n in zip(a, b, strict=True))
            found[term] = found.get(term, 0.0) + x * y
    return found
