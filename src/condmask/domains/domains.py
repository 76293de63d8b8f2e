"""Means of functions over groups of records that need not be strata, with their covariances.

A group that lies in several donor pools has the mean of its parts, by their shares of its weight.
Maskings of pools are independent. About the population the shares vary, too, as those of a sample:
a record adds its weight times what the part's mean lies above the group's (docs/theory.rst,
"Groups of records").
"""

from collections.abc import Sequence

import numpy as np

from condmask.domains.basis import (
    MIN_DIRECTIONS,
    Basis,
    Function,
    count_of_directions,
)
from condmask.domains.clusters import Clusters
from condmask.domains.pool import PoolAtoms
from condmask.domains.variance import PoolFunctions, Side, Variances, covariances

Functions = Sequence[PoolFunctions]  # by pool


class Group:
    """A group of records: its coefficients by atom, and how much it holds.

    Attributes
    ----------
    coefficients : ndarray of shape (atoms,)
        By which the weights of its records are multiplied, so that they sum to 1.
    records : float
        Effective ones: 1 over the sum of the squared weights.
    """

    def __init__(self, coefficients: np.ndarray, pools: Sequence[PoolAtoms]) -> None:
        total = sum(coefficients @ pool.total for pool in pools)
        self.coefficients: np.ndarray = coefficients / total
        squares = sum(self.coefficients**2 @ pool.square for pool in pools)
        self.records: float = float(1.0 / squares)


class Domains:
    """Groups of the records of one masked column.

    Parameters
    ----------
    pools : list of (Basis, ndarray)
        The basis of each donor pool, and the rows of its records.
    atom : ndarray of shape (rows,)
        The number of each record's atom.
    count : int
        Of atoms.
    weights : ndarray of shape (rows,) or None
    shared_donors : bool
        Whether donors are drawn anew for each record.
    clusters : ndarray of shape (rows,) or None
        The number of each record's cluster.
    """

    def __init__(
        self,
        pools: Sequence[tuple[Basis, np.ndarray]],
        atom: np.ndarray,
        count: int,
        weights: np.ndarray | None,
        *,
        shared_donors: bool,
        clusters: np.ndarray | None = None,
    ) -> None:
        self.shared_donors = shared_donors
        self.pools: list[PoolAtoms] = [
            PoolAtoms(basis, atom[rows], None if weights is None else weights[rows], count)
            for basis, rows in pools
        ]
        self.count = count
        self.n: int = sum(pool.n for pool in self.pools)
        self.width: float = max(pool.basis.spread for pool in self.pools)
        self.clusters: Clusters | None = None
        if clusters is not None:
            self.clusters = Clusters([clusters[rows] for _, rows in pools], self.pools)

    def group(self, atoms: int | np.ndarray) -> Group:
        """Return the group of the records of some atoms."""
        coefficients = np.zeros(self.count)
        coefficients[atoms] = 1.0
        return Group(coefficients, self.pools)

    def indicators(self, t: np.ndarray) -> Functions:
        """Return the functions 1{x <= t}, one for each t."""
        return [
            PoolFunctions(pool, pool.basis.indicators(t), self.shared_donors)
            for pool in self.pools
        ]

    def functions(self, given: list[Function]) -> Functions:
        """Return functions of values in the units of the data."""
        return [
            PoolFunctions(pool, pool.basis.tables(given), self.shared_donors)
            for pool in self.pools
        ]

    def values(self, group: Group, functions: Functions) -> np.ndarray:
        """Return the estimated means of functions over a group."""
        sides = [Side(group.coefficients, each) for each in functions]
        return np.asarray(np.sum([side.share * side.values for side in sides], axis=0))

    def covariances(
        self, one: Group, of_one: Functions, two: Group, of_two: Functions
    ) -> Variances:
        """Return the covariances of the means of functions over two groups, column by column."""
        pairs = [
            (Side(one.coefficients, own), Side(two.coefficients, other))
            for own, other in zip(of_one, of_two, strict=True)
        ]
        parts = [covariances(*pair) for pair in pairs if pair[0].share * pair[1].share > 0.0]
        zero = np.zeros(of_one[0].mean.size)
        found = Variances(*(np.sum([zero, *each], axis=0) for each in zip(*parts, strict=True)))
        if not parts:
            found = Variances(zero, zero, zero, zero)
        above = deviations(pairs)
        more = _between(pairs, above)
        if self.clusters is not None:
            same = one is two and of_one is of_two
            more = more + self.clusters.more(pairs, above, same=same)
        return found._replace(population=found.population + more)

    def masses(self, group: Group) -> tuple[np.ndarray, np.ndarray]:
        """Return ascending points, and the group's distribution function there, rearranged."""
        points = []
        parts = []
        for pool in self.pools:
            of = pool.directions
            share = group.coefficients @ pool.total
            means = group.coefficients @ pool.means
            points.append(pool.basis.x)
            parts.append(pool.basis.mass * (share + of.b @ (means / of.lam)))
        x = np.concatenate(points)
        order = np.argsort(x, kind="stable")
        below = np.sort(np.clip(np.cumsum(np.concatenate(parts)[order]), 0.0, 1.0))
        return x[order], below

    def explained(self, group: Group) -> float:
        """Return R^2 of membership on the values: how much of it a value would tell."""
        of_values = 0.0
        of_all = 0.0
        for pool in self.pools:
            # from shares of the group's weight to shares of the pool's
            whole = 1.0 / float(group.coefficients.max() * pool.total.sum())
            share = float(group.coefficients @ pool.total) * whole
            of_all += pool.n * share * (1.0 - share)
            of_values += pool.n * whole**2 * pool.explained_by_values(group.coefficients)
        return float(np.clip(of_values / of_all, 0.0, 1.0)) if of_all > 0.0 else 0.0

    def too_few_directions(self, group: Group) -> bool:
        """Return whether masking leaves too little to tell the group from the rest of a pool."""
        for pool in self.pools:
            share = group.coefficients @ pool.total
            whole = float(group.coefficients.max() * pool.total.sum())
            partial = 0.0 < share < whole * (1.0 - 1e-12)
            if partial and count_of_directions(pool.directions, pool.n) < MIN_DIRECTIONS:
                return True
        return False


def deviations(pairs: list[tuple[Side, Side]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return by pool how far the means of the parts of both groups lie above those of the
    groups."""
    means = [sum(pair[k].share * pair[k].values for pair in pairs) for k in (0, 1)]
    return [(one.values - means[0], two.values - means[1]) for one, two in pairs]


def _between(
    pairs: list[tuple[Side, Side]], above: list[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Return what the varying shares of pools add about the population."""
    total = np.zeros(above[0][0].size)
    for (one, two), (of_one, of_two) in zip(pairs, above, strict=True):
        pool = one.functions.pool
        squares = one.coefficients * two.coefficients
        means = squares @ pool.square_means
        size = float(squares @ pool.square)
        of_psi = [means @ side.functions.beta - size * side.shift for side in (one, two)]
        total += size * of_one * of_two + of_one * of_psi[1] + of_two * of_psi[0]
    return total
