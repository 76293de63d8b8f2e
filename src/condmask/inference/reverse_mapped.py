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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask._warn import warn
from condmask.engines import mapping_law
from condmask.engines.mapping_law import MappingLaw, TooManyCellsError
from condmask.inference.intervals import EstimateWarning, UndefinedError
from condmask.inference.pseudo_values import PseudoValues
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
    law : MappingLaw
        M, by cells of sigma/64.
    """

    rows: Any
    law: MappingLaw


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


class ReverseMapped(PseudoValues):
    """The records of a released column with their pseudo-values, and functions of the original undone.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Released values; NaN where one is missing.
    scheme : ConditionalMasking
        p, noise, sigma and scale are used.
    pool : ndarray of shape (n,), optional
        The number of each record's donor pool; None where all are one.

    Attributes
    ----------
    pools : dict of Pool
        By number.
    """

    def __init__(self, z: np.ndarray, scheme: Any, pool: np.ndarray | None) -> None:
        super().__init__(z, Law(scheme.p, scheme.noise, scheme.sigma), pool, cycle=False)
        self._released = z[self.rows]
        single = self.pool_size.size == 1
        rows_of_pools = {0: slice(None)} if single else rows_of(self.pool)
        self.pools = {
            k: Pool(rows, _mapping_law(self._released[rows], scheme)) for k, rows in rows_of_pools.items()
        }

    @cached_property
    def factor(self) -> np.ndarray:
        """1 by pool: h undoes the masking whole."""
        return np.ones(self.pool_size.size)

    @property
    def donor_share(self) -> np.ndarray:
        """1 by pool: the sum of the released values is fixed, and weights count about their mean."""
        return np.ones(self.pool_size.size)

    @property
    def noise_variance(self) -> float:
        """0: released values are the originals in another order."""
        return 0.0

    @cached_property
    def values(self) -> np.ndarray:
        """The pseudo-values."""
        return np.asarray(self._undone[0] + self.of_pool(self.pool_mean))

    @property
    def masked_variances(self) -> np.ndarray:
        """The variance of each released value's h given the file, right on average."""
        return self._undone[1]

    @property
    def variation(self) -> float:
        """The largest N of the pools: how much h varies."""
        return self._undone[2]

    def warn_of_variation(self) -> None:
        """Warn where pseudo-values vary so much more than without noise that statistics are less certain."""
        if self.variation > LARGE:
            warn(
                f"undone record by record, released values vary {self.variation:.2f} times as much as "
                "without noise: statistics with other columns are less certain for it",
                EstimateWarning,
            )

    def inverse(self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
        """By record, what has the mean of a function of the original, given the file.

        `values` are the records', in any units.
        """
        inverse = np.empty(values.size)
        for rows, law in self.pools.values():
            inverse[rows] = self._solved(law, function(law.means(values[rows])))[law.cell]
        return inverse

    def spreads(self) -> dict[int, Spread]:
        """How much the undone values of each pool vary, by its number."""
        spreads = {}
        for number, (rows, law) in self.pools.items():
            x = law.means(self._released[rows])
            h = self._solved(law, x) - law.share @ x
            spreads[number] = Spread(
                x, law.share, h, law.matrix, law.cell.size, variation(law, x, h, self.law.p)
            )
        return spreads

    @cached_property
    def _undone(self) -> tuple[np.ndarray, np.ndarray, float]:
        """By record h and its variance given the file, and the largest N."""
        centred = self.masked - self.of_pool(self.pool_mean)
        h = self.inverse(lambda x: x, centred)
        largest = max(
            variation(law, law.means(centred[rows]), law.means(h[rows]), self.law.p)
            for rows, law in self.pools.values()
        )
        if largest > LARGEST:
            raise UndefinedError(_refusal(f"{largest:.1f} times as much as without noise"))
        return h, h * h - self.inverse(np.square, centred), largest

    def _solved(self, law: MappingLaw, target: np.ndarray) -> np.ndarray:
        try:
            return mapping_law.inverse(law, self.law.p, target)
        except FloatingPointError:
            raise UndefinedError(_refusal("without bound")) from None


def _mapping_law(z: np.ndarray, scheme: Any) -> MappingLaw:
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


def variation(law: MappingLaw, x: np.ndarray, h: np.ndarray, p: float) -> float:
    """N: how much h varies, in standard deviations of the values x that it undoes; both by cell."""
    deviations = [np.sqrt(law.share @ (values - law.share @ values) ** 2) for values in (h, x)]
    return float((1.0 - p) * deviations[0] / deviations[1]) if deviations[1] > 0.0 else 1.0


def _refusal(how: str) -> str:
    return (
        "z must have more records (in each stratum), or have been masked with a smaller sigma, for "
        f"statistics with other columns: undone record by record, its values vary {how}, and {LARGEST:g} "
        "times is the most"
    )
