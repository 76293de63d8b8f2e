"""Records released by reverse mapping, undone one by one: pseudo-values, and how they vary given the file.

By donor pool, h with E[h(Z) | X] = X - mean is found from the released values alone (`reverse_kernel`), so the
pseudo-values ``mean + h(Z)`` have the originals as their means. Their variance given the file, about which
``h^2 - g`` is right on average, g being h's counterpart for the squares of deviations, is that of independent
draws; since released values are an arrangement of the originals, their sum over a pool is fixed, and weights
count about their mean. What records have in common beyond that lowers the variance by up to a tenth
(docs/inference_linear.rst, "Reverse mapping").

The law of the map is that of a large pool. In pools of 50 it shifts sums by less than .05 standard errors.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask.engines import reverse_kernel
from condmask.engines.reverse_kernel import Kernel, TooManyCellsError
from condmask.estimates.covariance import Donors, standardised
from condmask.estimates.interval import UndefinedError
from condmask.estimates.linear_forms import Undone
from condmask.law import Law

FEWEST = 50  # records of a pool
LARGE, LARGEST = 1.5, 5.0  # N, above which is warned and refused


class Pool(NamedTuple):
    """What undoes the masking in one donor pool.

    Attributes
    ----------
    rows : ndarray of int
        The records of the pool, among those with a value.
    kernel : Kernel
        M, by cells of sigma/64.
    """

    rows: np.ndarray
    kernel: Kernel


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
    """The pools of a released column, values without gaps, and functions of the original undone in them.

    Parameters
    ----------
    z : ndarray of shape (n,)
    scheme : scheme
        p, noise, sigma and scale are used.
    pool : ndarray of shape (n,), optional
        The number of each record's donor pool; None where all are one.
    """

    def __init__(self, z: np.ndarray, scheme: Any, pool: np.ndarray | None) -> None:
        self.z, self.p = z, float(scheme.p)
        self.pool = np.zeros(z.size, dtype=np.int64) if pool is None else pool
        self.size = np.bincount(self.pool)
        ends = np.cumsum(self.size)
        order = np.arange(z.size) if self.size.size == 1 else np.argsort(self.pool, kind="stable")
        self.pools = []
        for last, count in zip(ends.tolist(), self.size.tolist(), strict=True):
            if count:
                rows = order[last - count : last]
                self.pools.append(Pool(rows, _kernel(z if count == z.size else z[rows], scheme)))

    def of(self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
        """By record, what has the mean of a function of the original, given the file.

        `values` are the records', in any units.
        """
        found = np.empty(values.size)
        for rows, own in self.pools:
            found[rows] = self._solved(own, function(own.means(values[rows])))[own.cell]
        return found

    def spreads(self) -> list[Spread]:
        """By pool."""
        found = []
        for rows, own in self.pools:
            x = own.means(self.z[rows])
            h = self._solved(own, x) - own.share @ x
            found.append(Spread(x, own.share, h, own.matrix, rows.size, _ratio(own, x, h, self.p)))
        return found

    def largest(self, values: np.ndarray, undone: np.ndarray) -> float:
        """The largest N of the pools, from values and pseudo-values."""
        return max(
            _ratio(own, own.means(values[rows]), own.means(undone[rows]), self.p) for rows, own in self.pools
        )

    def _solved(self, own: Kernel, target: np.ndarray) -> np.ndarray:
        try:
            return reverse_kernel.undone(own, self.p, target)
        except FloatingPointError:
            raise UndefinedError(_refusal("without bound")) from None


def undo(z: np.ndarray, scheme: Any, pool: np.ndarray | None) -> tuple[Undone, Reversed, float]:
    """The records of a file undone, what it was done with, and the largest N of their pools."""
    there = ~np.isnan(z)
    rows: Any = slice(None) if there.all() else there
    known = z[rows]
    law = Law(scheme.p, scheme.noise, scheme.sigma)
    a, unit = standardised(known)
    own = Reversed(known, scheme, None if pool is None else pool[rows])
    middle = np.bincount(own.pool, a) / np.maximum(own.size, 1)
    centered = a - (middle if middle.size == 1 else middle[own.pool])
    h = own.of(lambda x: x, centered)
    ratio = own.largest(centered, h)
    if ratio > LARGEST:
        raise UndefinedError(_refusal(f"{ratio:.1f} times as much as without noise"))
    ones = np.ones(own.size.size)
    donors = Donors(own.pool, own.size, middle, ones)
    variances = h * h - own.of(np.square, centered)
    file = Undone(
        float(known[0]), unit, rows, h + (a - centered), variances, np.zeros(1), donors, 0.0 * ones, ones,
        law, False,
    )  # fmt: skip
    return file, own, ratio


def _kernel(z: np.ndarray, scheme: Any) -> Kernel:
    if z.size < FEWEST:
        raise UndefinedError(
            f"z must have at least {FEWEST} records (in each stratum) for statistics with other columns after "
            f"reverse mapping, got {z.size}: in fewer they are biased"
        )
    try:
        return reverse_kernel.kernel(z, scheme.noise, scheme.sigma, scheme.scale)
    except TooManyCellsError as error:
        raise UndefinedError(
            f"z must not be spread over more than {reverse_kernel.MOST_CELLS // reverse_kernel.CELLS_PER_SIGMA}"
            f" sigmas for statistics with other columns, got {error.args[0] // 64}"
        ) from None


def _ratio(own: Kernel, x: np.ndarray, h: np.ndarray, p: float) -> float:
    deviations = [np.sqrt(own.share @ (each - own.share @ each) ** 2) for each in (h, x)]
    return float((1.0 - p) * deviations[0] / deviations[1]) if deviations[1] > 0.0 else 1.0


def _refusal(how: str) -> str:
    return (
        f"z must have more records (in each stratum), or have been masked with a smaller sigma, for statistics "
        f"with other columns: undone record by record, its values vary {how}, and {LARGEST:g} times is the most"
    )
