r"""Functions whose means over groups of records survive masking: the basis of a donor pool.

Given the file, the mean of psi(Z_i) is that of an operator A on psi at the original X_i, up to a
constant that is the same for all records of a donor pool. After Theorem 2.1 it is
``A = (1-p) N - p/(n-1)`` under noise, N psi(x) = E psi(x + Y); after reverse mapping
``A = q M + (q - q^n)/(n-1)`` with q = 1 - p and M the law by which values move. So a weighted mean
of psi(Z), less that of all records, is unbiased for the same of b = A psi over the originals.

The functions psi_k are chosen with Var psi_k(Z) = 1, E b_j b_k = 0 and E b_k^2 = lam_k: they are
generalised eigenvectors of the covariances of b and of psi. A direction is kept where lam_k is
above 20 / n, so that the correlation of a label with b_k is known to within 1 / sqrt(20). Labels
take no part in this choice.

See docs/theory.rst, "Groups of records".
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]
MIN_INFORMATION = 20.0  # n lam of a direction that is kept
RIDGE = 1e-9  # in units of the variance of a candidate
MIN_DIRECTIONS = 2


class Tables(NamedTuple):
    """Functions f of the original, tabulated where they are needed, one a column.

    Attributes
    ----------
    released : ndarray of shape (cells, functions)
        At the released values, the function whose mean is that of f over the originals.
    undone : ndarray of shape (points, functions)
        The same function at the points of the original distribution.
    original : ndarray of shape (points, functions)
        f itself at these points.
    mean : ndarray of shape (functions,)
        The estimated mean of f over all records of the pool.
    """

    released: np.ndarray
    undone: np.ndarray
    original: np.ndarray
    mean: np.ndarray


class Directions(NamedTuple):
    """The directions that are kept, largest lam first.

    Attributes
    ----------
    psi : ndarray of shape (cells, directions)
        At the released values; with mean 0 and variance 1 over the records.
    b : ndarray of shape (points, directions)
        A psi at the points of the original distribution, with mean 0.
    lam : ndarray of shape (directions,)
        The variances of b.
    """

    psi: np.ndarray
    b: np.ndarray
    lam: np.ndarray


class Basis(Protocol):
    """The basis of one donor pool, and its estimated distribution of originals.

    Attributes
    ----------
    n : int
        The number of records.
    p : float
        The share of swapped records.
    exact : bool
        Whether released values are originals in another order.
    cell : ndarray of shape (n,)
        The number of the cell of each released value.
    counts : ndarray of shape (cells,)
        The records by cell.
    x, mass : ndarray of shape (points,)
        Ascending points and the estimated share of originals at each.
    spread : float
        The width over which the mass of a point is spread evenly, in the units of the data.
    directions : Directions
    """

    n: int
    p: float
    exact: bool
    cell: np.ndarray
    counts: np.ndarray
    x: np.ndarray
    mass: np.ndarray
    spread: float

    @property
    def directions(self) -> Directions:
        """The directions of the pool."""
        ...

    def indicators(self, t: np.ndarray) -> Tables:
        """Return the functions 1{x <= t}, one for each t."""
        ...

    def tables(self, functions: list[Function]) -> Tables:
        """Return any functions of values in the units of the data."""
        ...


def directions_of(
    psi: np.ndarray,
    counts: np.ndarray,
    b: np.ndarray,
    mass: np.ndarray,
    law: tuple[np.ndarray, np.ndarray],
) -> Directions:
    """Return the directions among candidates.

    Parameters
    ----------
    psi : ndarray of shape (cells, candidates)
        At the released values, of which `counts` records have each.
    b : ndarray of shape (points, candidates)
        A psi, at points that have the shares `mass` of the originals.
    law : (ndarray of shape (places, candidates), ndarray of shape (places,))
        psi at places, and the shares that masking makes of `mass` there. The variance of psi is
        the mean of that over these and of that over the records: a function that nearly vanishes
        at all records, and not between them, would seem to survive masking better than can be.
    """
    from scipy.linalg import eigh  # takes .1 s to import

    n = counts.sum()
    share = counts / n
    psi = psi - share @ psi
    b = b - mass @ b
    at, of_places = law
    at = at - of_places @ at
    of_law = (at * of_places[:, None]).T @ at
    of_psi = 0.5 * ((psi * share[:, None]).T @ psi + of_law)
    of_b = (b * mass[:, None]).T @ b
    varies = np.diag(of_psi) > 0.0
    unit = np.where(varies, 1.0 / np.sqrt(np.where(varies, np.diag(of_psi), 1.0)), 0.0)
    scales = np.outer(unit, unit)
    lam, vectors = eigh(of_b * scales, of_psi * scales + RIDGE * np.eye(unit.size))
    kept = max(1, int(np.count_nonzero(lam * n > MIN_INFORMATION)))
    vectors = (unit[:, None] * vectors)[:, ::-1][:, :kept]
    found = np.maximum(lam[::-1][:kept], np.finfo(float).tiny)
    return Directions(psi @ vectors, b @ vectors, found)


def count_of_directions(directions: Directions, n: int) -> int:
    """Return in how many directions groups of n records can be told apart."""
    return int(np.count_nonzero(directions.lam * n > MIN_INFORMATION))


def cosines(count: int, place: np.ndarray) -> np.ndarray:
    """Return cos(pi k u), k = 1 .. count, at places u, of shape (places, count)."""
    return np.asarray(np.cos(np.pi * np.outer(place, np.arange(1, count + 1))))
