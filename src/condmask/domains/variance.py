r"""Variances and covariances of means of functions over groups, in one donor pool.

With lambda the share of a group's weight in the pool, w its weights times the pool's records n, f~
the function whose mean over released values is that of f over the originals, psi the part of f
that the basis holds (b = A psi), d the mean of psi over the group, and res = f - E f - b:

    phi = lambda (f~(Z) - psi) + w (psi - d)        the influence of a released record
    h   = lambda res + w (b - d)                    that of an original

| scheme | n Var about the population | about the file |
|---|---|---|
| noise, permutation | V = mean phi^2 | V - Var h |
| noise, donors drawn anew | V + 2p E h f~(X) - p^2 Var f~(X) | less Var h |
| reverse mapping | file + Var h | mean (w - lambda)^2 psi^2 - E (w - lambda)^2 b^2 |

About the file the part of f that the basis misses adds E (w - lambda)^2 res^2. Covariances have
products in the place of squares; the weights of disjoint groups have the product 0
(docs/theory.rst, "Groups of records").
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from condmask.domains.basis import Tables
from condmask.domains.pool import PoolAtoms


class Variances(NamedTuple):
    """Variances of means over groups, or covariances, in one pool or in all.

    Attributes
    ----------
    file, population : ndarray of shape (functions,)
        About each target, as far as the basis holds the functions.
    missed : ndarray
        What the rest of the functions adds about the file.
    bias : ndarray
        The allowance for the bias that this rest leaves, to be added to a variance.
    """

    file: np.ndarray
    population: np.ndarray
    missed: np.ndarray
    bias: np.ndarray


class PoolFunctions:
    """Functions in a pool, split into the part that the basis holds and the rest.

    Attributes
    ----------
    beta : ndarray of shape (directions, functions)
    mean : ndarray of shape (functions,)
        Over all records of the pool.
    psi, rest : ndarray of shape (cells, functions)
        The function that undoes masking, about its mean: what the basis holds of it, and the rest.
    b, res : ndarray of shape (points, functions)
        The same of the function itself.
    undone : ndarray of shape (points, functions)
        As of `Tables`, about its mean.
    """

    def __init__(self, pool: PoolAtoms, tables: Tables, shared_donors: bool) -> None:
        basis = pool.basis
        mass = basis.mass
        of = basis.directions
        self.pool = pool
        self.shared_donors = shared_donors
        self.mean: np.ndarray = tables.mean
        self.beta: np.ndarray = (of.b * mass[:, None]).T @ tables.original / of.lam[:, None]
        self.psi: np.ndarray = of.psi @ self.beta
        self.b: np.ndarray = of.b @ self.beta
        released = tables.released - basis.counts @ tables.released / basis.n
        self.rest: np.ndarray = released - self.psi
        self.undone: np.ndarray = tables.undone - mass @ tables.undone
        self.res: np.ndarray = tables.original - mass @ tables.original - self.b

    def chosen(self, columns: list[int]) -> "PoolFunctions":
        """Return some of the functions."""
        some = copy(self)
        some.mean = self.mean[columns]
        for name in ("beta", "psi", "b", "rest", "undone", "res"):
            setattr(some, name, getattr(self, name)[:, columns])
        return some


class Side:
    """A group and functions: one of the two sides of a covariance.

    Attributes
    ----------
    coefficients : ndarray of shape (atoms,)
    functions : PoolFunctions
    share : float
        The share of the group's weight that lies in the pool.
    shift : ndarray of shape (functions,)
        d, the means of psi over the group.
    """

    def __init__(self, coefficients: np.ndarray, functions: PoolFunctions) -> None:
        pool = functions.pool
        self.coefficients = coefficients
        self.functions = functions
        self.share: float = float(coefficients @ pool.total)
        sums = (coefficients @ pool.means) @ functions.beta
        self.shift: np.ndarray = np.asarray(sums / self.share if self.share > 0.0 else 0.0 * sums)

    @property
    def values(self) -> np.ndarray:
        """The means over the part of the group in the pool."""
        return np.asarray(self.functions.mean + self.shift)


def covariances(one: Side, two: Side) -> Variances:
    """Return the covariances of two sides, function by function, of the means times shares.

    The functions of both are as many, and belong together column by column.
    """
    pool = one.functions.pool
    originals = Originals(one, two)
    of_h = originals.of_h()
    if pool.basis.exact:
        file = _of_mapping(one, two) - originals.deviation([one.functions.b, two.functions.b])
        population = file + of_h
    else:
        population = _of_noise(one, two)
        if one.functions.shared_donors:
            population = population + originals.drawn_anew()
        file = population - of_h
    missed = originals.deviation([one.functions.res, two.functions.res])
    product = pool.basis.mass @ (one.functions.res * two.functions.res)
    bias = product * pool.missed_energy(one.coefficients, two.coefficients)
    return Variances(file / pool.n, population / pool.n, missed / pool.n, bias)


class Originals:
    """Means of products of two sides over the originals, of which the basis gives densities."""

    def __init__(self, one: Side, two: Side) -> None:
        pool = one.functions.pool
        mass = pool.basis.mass
        self.mass = mass
        self.p: float = pool.basis.p
        self.shares: list[float] = [one.share, two.share]
        self.ratios: list[np.ndarray] = [
            mass * pool.ratio(side.coefficients) for side in (one, two)
        ]
        squares = one.coefficients * two.coefficients
        self.square_ratio: np.ndarray = pool.n * mass * pool.square_ratio(squares)
        self.b: list[np.ndarray] = [one.functions.b - one.shift, two.functions.b - two.shift]
        self.res: list[np.ndarray] = [one.share * one.functions.res, two.share * two.functions.res]
        self.undone: list[np.ndarray] = [
            one.share * one.functions.undone,
            two.share * two.functions.undone,
        ]

    def of_h(self) -> np.ndarray:
        """Return the mean of h of one side times that of the other."""
        own = self.mass @ (self.res[0] * self.res[1])
        return np.asarray(own + self._crossed(self.res, self.b) + self._both(self.b))

    def deviation(self, x: list[np.ndarray]) -> np.ndarray:
        """Return the mean of (w - lambda) x of one side times that of the other."""
        scaled = [share * each for share, each in zip(self.shares, x, strict=True)]
        own = self.mass @ (scaled[0] * scaled[1])
        return np.asarray(self._both(x) - self._crossed(scaled, x) + own)

    def drawn_anew(self) -> np.ndarray:
        """Return by how much donors that are drawn anew make covariances larger."""
        own = self.mass @ (self.res[0] * self.undone[1] + self.res[1] * self.undone[0])
        with_h = own + self._crossed(self.undone, self.b)
        of_undone = self.mass @ (self.undone[0] * self.undone[1])
        return np.asarray(self.p * with_h - self.p**2 * of_undone)

    def _crossed(self, x: list[np.ndarray], y: list[np.ndarray]) -> np.ndarray:
        """Return the means of x of either side times w y of the other."""
        return np.asarray(self.ratios[1] @ (x[0] * y[1]) + self.ratios[0] @ (x[1] * y[0]))

    def _both(self, x: list[np.ndarray]) -> np.ndarray:
        """Return the mean of w x of one side times that of the other."""
        return np.asarray(self.square_ratio @ (x[0] * x[1]))


def _of_mapping(one: Side, two: Side) -> np.ndarray:
    """Return the mean of (w - lambda) psi of both sides over the released values."""
    pool = one.functions.pool
    of_one, of_two, both = _weights(one, two)
    counts = pool.basis.counts / pool.n
    weight = both - one.share * of_two - two.share * of_one + one.share * two.share * counts
    return np.asarray(weight @ (one.functions.psi * two.functions.psi))


def _of_noise(one: Side, two: Side) -> np.ndarray:
    """Return the mean of phi of both sides over the released values."""
    pool = one.functions.pool
    of_one, of_two, both = _weights(one, two)
    u = [one.share * one.functions.rest, two.share * two.functions.rest]
    v = [one.functions.psi - one.shift, two.functions.psi - two.shift]
    total = pool.basis.counts / pool.n @ (u[0] * u[1]) + both @ (v[0] * v[1])
    return np.asarray(total + of_two @ (u[0] * v[1]) + of_one @ (u[1] * v[0]))


def _weights(one: Side, two: Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return by cell the sums of the weights of each side, and of the product of both times n."""
    pool = one.functions.pool
    squares = one.coefficients * two.coefficients
    both = pool.n * pool.squared_weights_by_cell(squares)
    of_one, of_two = (pool.weights_by_cell(side.coefficients) for side in (one, two))
    return of_one, of_two, both
