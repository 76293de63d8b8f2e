"""Records released by reverse mapping, undone one by one: pseudo-values, and how they vary given the file.

By donor pool, h with E[h(Z) | X] = X - mean is found from the released values alone (`mapping_law`), so
the pseudo-values ``mean + h(Z)`` have the originals as their means. Released values are the originals in
another order, so their sum over a pool is fixed, and weights count about their mean over it. Beyond that the
variance given the file is taken to be that of independent draws, ``h^2 - g`` on average, where g is to the
squares of deviations what h is to these; it is too large by up to a tenth (docs/inference_linear.rst,
"Reverse mapping").

The law of the map is that of a large pool. In pools of 50 it shifts sums by less than .05 standard errors.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask.engines import mapping_law
from condmask.engines.mapping_law import MappingLaw, TooManyCellsError
from condmask.inference.covariance import Donors, standardised
from condmask.inference.intervals import UndefinedError
from condmask.inference.pseudo_values import Undone
from condmask.law import Law
from condmask.strata import rows_of

FEWEST = 50  # records of a pool
LARGE, LARGEST = 1.5, 5.0  # N, above which is warned and refused


class Pool(NamedTuple):
    """What undoes the masking in one donor pool.

    Attributes
    ----------
    rows : ndarray of int or slice
        The records of the pool, among those with a value.
    kernel : MappingLaw
        M, by cells of sigma/64.
    """

    rows: Any
    kernel: MappingLaw


class Spread(NamedTuple):
    """By how much undoing makes the values of a donor pool vary, and what it is known from.

    Attributes
    ----------
    values, shares : ndarray of shape (cells,)
        The mean of the released values in each cell of sigma/64, ascending, and the share of the records.
    h : ndarray of shape (cells,)
        What a released value adds to the mean of the pool in a pseudo-value.
    matrix : callable
        Gives M, of shape (cells, cells): the chances of a kept record of the one cell to get a value of
        the other.
    n : int
        Records of the pool.
    N : float
        (1 - p) times the standard deviation of h, over that of the values. 1 is the least there can be. A
        covariance with a column in clear has a standard error of about sqrt(N^2 / (1-p)^2 - 1) times that of
        unmasked data.
    """

    values: np.ndarray
    shares: np.ndarray
    h: np.ndarray
    matrix: Callable[[], np.ndarray]
    n: int
    N: float


class Reversed:
    """The donor pools of a released column, and functions of the original undone in them.

    Parameters
    ----------
    z : ndarray of shape (n,)
        NaN where a value is missing.
    scheme : scheme
        p, noise, sigma and scale are used.
    pool : ndarray of shape (n,), optional
        The number of each record's donor pool; None where all are one.

    Attributes
    ----------
    there : ndarray of bool or slice
        The records with a value, of which all else is.
    pools : dict of Pool
        By number.
    """

    def __init__(self, z: np.ndarray, scheme: Any, pool: np.ndarray | None) -> None:
        known = ~np.isnan(z)
        self.there: Any = slice(None) if known.all() else known
        self.z, self.p = z[self.there], float(scheme.p)
        self.law = Law(scheme.p, scheme.noise, scheme.sigma)
        self.pool = np.zeros(self.z.size, dtype=np.int64) if pool is None else pool[self.there]
        self.size = np.bincount(self.pool)
        rows_of_pools = {0: slice(None)} if self.size.size == 1 else rows_of(self.pool)
        self.pools = {k: Pool(rows, _kernel(self.z[rows], scheme)) for k, rows in rows_of_pools.items()}

    def of(self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
        """By record, what has the mean of a function of the original, given the file.

        `values` are the records', in any units.
        """
        found = np.empty(values.size)
        for rows, own in self.pools.values():
            found[rows] = self._solved(own, function(own.means(values[rows])))[own.cell]
        return found

    def spreads(self) -> dict[int, Spread]:
        """By the number of the pool."""
        found = {}
        for number, (rows, own) in self.pools.items():
            x = own.means(self.z[rows])
            h = self._solved(own, x) - own.share @ x
            found[number] = Spread(x, own.share, h, own.matrix, own.cell.size, ratio(own, x, h, self.p))
        return found

    def undone(self) -> tuple[Undone, float]:
        """The records undone, and the largest N of their pools."""
        a, unit = standardised(self.z)
        middle = np.bincount(self.pool, a) / np.maximum(self.size, 1)
        centered = a - (middle if middle.size == 1 else middle[self.pool])
        h = self.of(lambda x: x, centered)
        largest = max(
            ratio(own, own.means(centered[rows]), own.means(h[rows]), self.p)
            for rows, own in self.pools.values()
        )
        if largest > LARGEST:
            raise UndefinedError(_refusal(f"{largest:.1f} times as much as without noise"))
        variances, ones = h * h - self.of(np.square, centered), np.ones(self.size.size)
        return Undone(
            float(self.z[0]), unit, self.there, h + (a - centered), variances, np.broadcast_to(0.0, h.shape),
            Donors(self.pool, self.size, middle, ones), 0.0 * ones, ones, self.law, False,
        ), largest  # fmt: skip

    def _solved(self, own: MappingLaw, target: np.ndarray) -> np.ndarray:
        try:
            return mapping_law.inverse(own, self.p, target)
        except FloatingPointError:
            raise UndefinedError(_refusal("without bound")) from None


def _kernel(z: np.ndarray, scheme: Any) -> MappingLaw:
    if z.size < FEWEST:
        raise UndefinedError(
            f"z must have at least {FEWEST} records (in each stratum) for statistics with other columns "
            f"after reverse mapping, got {z.size}: in fewer they are biased"
        )
    try:
        return mapping_law.of_values(z, scheme.noise, scheme.sigma, scheme.scale)
    except TooManyCellsError as error:
        raise UndefinedError(
            f"z must have been masked with a larger sigma for statistics with other columns: its "
            f"values spread over {error.args[0] // mapping_law.CELLS_PER_SIGMA:,} sigmas, gaps left out"
        ) from None


def ratio(own: MappingLaw, x: np.ndarray, h: np.ndarray, p: float) -> float:
    """N, of values and what undoes them, by cell."""
    deviations = [np.sqrt(own.share @ (each - own.share @ each) ** 2) for each in (h, x)]
    return float((1.0 - p) * deviations[0] / deviations[1]) if deviations[1] > 0.0 else 1.0


def _refusal(how: str) -> str:
    return (
        "z must have more records (in each stratum), or have been masked with a smaller sigma, for "
        f"statistics with other columns: undone record by record, its values vary {how}, and {LARGEST:g} "
        "times is the most"
    )
