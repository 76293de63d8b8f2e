"""Weighted sums of the basis over the groups of one donor pool, and the density ratios they give.

Records enter only by sums over the cells of released values, so any number of statistics of any
number of groups costs no further pass over them. Groups are made of atoms, disjoint sets of
records: an atom for each label, and one for records without a label. A group has a coefficient for
each atom, by which the weights of its records are multiplied so that they sum to 1
(docs/theory.rst, "Groups of records").
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask.domains.basis import Basis, Directions


class PoolAtoms:
    """Sums over the atoms of a donor pool.

    Parameters
    ----------
    basis : Basis
    atom : ndarray of shape (n,)
        The number of each record's atom.
    weights : ndarray of shape (n,) or None
        None is 1 for each.
    count : int
        Of atoms.

    Attributes
    ----------
    total, square : ndarray of shape (atoms,)
        Sums of weights, and of their squares.
    """

    def __init__(
        self, basis: Basis, atom: np.ndarray, weights: np.ndarray | None, count: int
    ) -> None:
        self.basis = basis
        self.n: int = basis.n
        self.atom = atom
        self.weights: np.ndarray = np.ones(basis.n) if weights is None else weights
        self.equal: bool = weights is None
        self.total: np.ndarray = np.bincount(atom, weights, count)
        self.square: np.ndarray = (
            self.total if weights is None else np.bincount(atom, self.weights**2, count)
        )

    @property
    def directions(self) -> Directions:
        """The directions of the basis."""
        return self.basis.directions

    @cached_property
    def by_cell(self) -> Any:
        """The sums of weights by atom and cell, sparse, of shape (atoms, cells)."""
        return self._table(self.weights)

    @cached_property
    def squares_by_cell(self) -> Any:
        """The sums of squared weights by atom and cell, sparse."""
        return self.by_cell if self.equal else self._table(self.weights**2)

    @cached_property
    def means(self) -> np.ndarray:
        """The sums of weights times psi, of shape (atoms, directions)."""
        return np.asarray(self.by_cell @ self.directions.psi)

    @cached_property
    def square_means(self) -> np.ndarray:
        """The sums of squared weights times psi."""
        return np.asarray(self.squares_by_cell @ self.directions.psi)

    def ratio(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the density ratio of a group to the pool at the points, times its share."""
        share = float(coefficients @ self.total)
        return self._ratio(share, coefficients @ self.means)

    def square_ratio(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the same for the squares of weights: coefficients are those of squares."""
        share = float(coefficients @ self.square)
        return self._ratio(share, coefficients @ self.square_means)

    def weights_by_cell(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the sums by cell of the weights of a group."""
        return np.asarray(self.by_cell.T @ coefficients)

    def squared_weights_by_cell(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the sums by cell of squared weights, times the coefficients of squares."""
        return np.asarray(self.squares_by_cell.T @ coefficients)

    def missed_energy(self, one: np.ndarray, two: np.ndarray) -> float:
        """Return the energy, a direction, of two groups' density ratios that the basis misses,
        times both shares: never negative for one group, nor beyond what its share allows."""
        own, other = (self._bounded_energy(each) for each in (one, two))
        if one is two:
            return own
        most = float(np.sqrt(own * other))
        return float(np.clip(self._last_energy(one, two), -most, most))

    def _bounded_energy(self, coefficients: np.ndarray) -> float:
        share = float(coefficients @ self.total)
        whole = float(coefficients.max() * self.total.sum())
        most = max(share * (whole - share), 0.0)
        return float(np.clip(self._last_energy(coefficients, coefficients), 0.0, most))

    def _last_energy(self, one: np.ndarray, two: np.ndarray) -> float:
        """Return the mean product of coefficients over the last third of the directions, less what
        noise gives."""
        of = self.directions
        last = slice(of.lam.size - (of.lam.size + 2) // 3, of.lam.size)
        noise = float((one * two) @ self.square - (one @ self.total) * (two @ self.total) / self.n)
        products = (one @ self.means)[last] * (two @ self.means)[last] / of.lam[last]
        return float(products.mean() - noise * (1.0 / of.lam[last]).mean())

    def explained_by_values(self, coefficients: np.ndarray) -> float:
        """Return the share of the variance of membership that the values explain, times the
        squared share over that of the rest."""
        noise = float((coefficients**2) @ self.square) - (coefficients @ self.total) ** 2 / self.n
        lam = self.directions.lam
        return float((((coefficients @ self.means) ** 2 - noise) / lam).sum())

    def _ratio(self, share: float, means: np.ndarray) -> np.ndarray:
        ratio = np.maximum(share + self.directions.b @ (means / self.directions.lam), 0.0)
        whole = float(self.basis.mass @ ratio)
        return ratio * (share / whole) if whole > 0.0 else np.full(ratio.size, share)

    def _table(self, values: np.ndarray) -> Any:
        from scipy.sparse import csr_matrix  # takes .1 s to import

        shape = self.total.size, self.basis.counts.size
        return csr_matrix((values, (self.atom, self.basis.cell)), shape=shape)
