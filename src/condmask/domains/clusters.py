"""What sampled clusters add to variances about the population.

Records of a cluster are alike, so the sums of their influences vary by more than the influences
do. The products of different records of a cluster are added; what they come to is at least their
own standard error (docs/theory.rst, "Groups of records").
"""

from collections.abc import Sequence

import numpy as np

from condmask.domains.pool import PoolAtoms
from condmask.domains.variance import Side


class Clusters:
    """Clusters of the records of several donor pools.

    Parameters
    ----------
    codes : list of ndarray
        By pool, the number of each record's cluster.
    pools : list of PoolAtoms
    """

    def __init__(self, codes: Sequence[np.ndarray], pools: Sequence[PoolAtoms]) -> None:
        self.codes = codes
        self.pools = pools
        self.count: int = 1 + max(int(code.max(initial=-1)) for code in codes)

    def number(self, coefficients: np.ndarray) -> int:
        """Return in how many clusters a group has records."""
        some = np.zeros(self.count, dtype=bool)
        for code, pool in zip(self.codes, self.pools, strict=True):
            some[code[coefficients[pool.atom] > 0.0]] = True
        return int(some.sum())

    def more(
        self,
        pairs: list[tuple[Side, Side]],
        above: list[tuple[np.ndarray, np.ndarray]],
        *,
        same: bool,
    ) -> np.ndarray:
        """Return what clusters add to covariances; of a variance, at least its own error."""
        functions = pairs[0][0].shift.size
        added = np.zeros(functions)
        for k in range(functions):
            influences = [
                (influence(one, of_one[k], k), influence(two, of_two[k], k))
                for (one, two), (of_one, of_two) in zip(pairs, above, strict=True)
            ]
            sums = [self._sums([pair[j] for pair in influences]) for j in (0, 1)]
            products = [one * two for one, two in influences]
            added[k] = sums[0] @ sums[1] - sum(each.sum() for each in products)
            if same:
                squares = self._sums(products)
                single = sum(float((each**2).sum()) for each in products)
                added[k] = max(added[k], np.sqrt(2.0 * max(squares @ squares - single, 0.0)))
        return added

    def _sums(self, values: list[np.ndarray]) -> np.ndarray:
        pairs = zip(self.codes, values, strict=True)
        return np.asarray(
            np.sum([np.bincount(code, each, self.count) for code, each in pairs], axis=0)
        )


def influence(side: Side, above: float, k: int) -> np.ndarray:
    """Return by record of a pool what it adds to the mean of function k over a group."""
    functions = side.functions
    pool = functions.pool
    cell = pool.basis.cell
    weight = side.coefficients[pool.atom] * pool.weights
    own = weight * (functions.psi[cell, k] - side.shift[k] + above)
    if pool.basis.exact:
        return np.asarray(own)
    return np.asarray(own + side.share / pool.n * functions.rest[cell, k])
