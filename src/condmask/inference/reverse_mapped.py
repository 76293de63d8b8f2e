"""Records released by reverse mapping, undone one by one: pseudo-values, and how they vary given the file.

By donor pool, h with E[h(Z) | X] = X - mean is found from the released values alone (`mapping_law`), so
the pseudo-values ``mean + h(Z)`` have the originals as their means. Released values are the originals in
another order, so their sum over a pool is fixed, and weights count about their mean over it. Beyond that the
variance given the file is taken to be that of independent draws, ``h^2 - g`` on average, where g is to the
squares of deviations what h is to these; it is too large by up to a tenth (docs/inference_linear.rst,
"Reverse mapping").

The law of the map is that of a large pool. In pools of 50 it shifts sums by less than .05 standard errors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.engines import mapping_law
from condmask.engines.mapping_law import MappingLaw, TooManyCellsError
from condmask.errors import warn
from condmask.inference.intervals import EstimateWarning, UndefinedError
from condmask.inference.parts import add
from condmask.inference.pseudo_values import Part, PseudoValues
from condmask.law import Law
from condmask.strata import index_type, rows_of

FEWEST = 50  # records of a pool
LARGE, LARGEST = 1.5, 5.0  # N, above which is warned and refused


class Pool(NamedTuple):
    """What undoes the masking in one donor pool.

    Attributes
    ----------
    cells : slice
        Its cells among those of all pools.
    law : MappingLaw
        M, by cells of sigma/64.
    """

    cells: slice
    law: MappingLaw


class MappedPart(Part):
    """Some records that have a value, with what undoes it by the cell of the value."""

    file: "ReverseMapped"

    @cached_property
    def cell(self) -> np.ndarray:
        """The number of each record's cell, among those of all pools."""
        return self.of(self.file.cell)

    @cached_property
    def values(self) -> np.ndarray:
        """The pseudo-values."""
        return np.asarray(self.file.undone.values[self.cell])

    @cached_property
    def masked_variances(self) -> np.ndarray:
        """The variance of each released value's h given the file, right on average."""
        return np.asarray(self.file.undone.variances[self.cell])


class Undone(NamedTuple):
    """By cell the pseudo-values and their variances given the file, and the largest N of the pools."""

    values: np.ndarray
    variances: np.ndarray
    variation: float


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
    cell : ndarray of shape (n,)
        The number of each record's cell, those of all pools counted one after the other; -1 where the value
        is missing.
    """

    part = MappedPart

    def __init__(self, z: Any, scheme: Any, pool: Any) -> None:
        super().__init__(z, Law(scheme.p, scheme.noise, scheme.sigma), pool, cycle=False)
        self.pools: dict[int, Pool] = {}
        cells = 0
        if pool is None and self.n == z.size:
            law = _mapping_law(z, scheme)
            self.pools[0], self.cell = Pool(slice(0, law.share.size), law), law.cell
            return
        self.cell = np.empty(z.size, np.int32)
        self.cell.fill(-1)
        for number, rows in rows_of(self._codes()).items():
            values = np.empty(rows.size)
            parts = blocks(rows.size)
            for start, stop in parts:
                values[start:stop] = z[rows[start:stop]]
            law = _mapping_law(values, scheme)
            for start, stop in parts:
                self.cell[rows[start:stop]] = law.cell[start:stop] + cells
            self.pools[number] = Pool(slice(cells, cells + law.share.size), law)
            cells += law.share.size

    @cached_property
    def factor(self) -> np.ndarray:
        """1 by pool: h undoes the masking whole."""
        return np.ones(self.pool_count)

    @property
    def donor_share(self) -> np.ndarray:
        """1 by pool: the sum of the released values is fixed, and weights count about their mean over it."""
        return np.ones(self.pool_count)

    @property
    def noise_variance(self) -> float:
        """0: released values are the originals in another order."""
        return 0.0

    @property
    def pool_variances(self) -> np.ndarray:
        """The sums of the variances of h given the file, by pool."""
        sums = self.sums()
        for number, (cells, law) in self.pools.items():
            sums[number] = law.n * (law.share @ self.undone.variances[cells])
        return sums

    def warn_of_variation(self) -> None:
        """Warn where pseudo-values vary so much more than without noise that statistics are less certain."""
        if self.undone.variation > LARGE:
            warn(
                f"pseudo-values vary {self.undone.variation:.2f} times as much as without noise, which makes "
                "statistics with other columns less certain",
                EstimateWarning,
            )

    def powers(self, middle: float) -> np.ndarray:
        """By order, to 3, and cell: what has as its mean a power of the original less `middle`.

        Of the first two the undone values and their variances are made.
        """
        powers = np.ones((4, self.means.size))
        for number, (cells, law) in self.pools.items():
            mean = self.pool_mean[number]
            first = self.undone.values[cells] - mean
            second, d = first * first - self.undone.variances[cells], mean - middle
            third = self._solved(law, (self.means[cells] - mean) ** 3)
            powers[1, cells] = first + d
            powers[2, cells] = second + d * (2.0 * first + d)
            powers[3, cells] = third + d * (3.0 * second + d * (3.0 * first + d))
        return powers

    @property
    def variation(self) -> float:
        """The largest N of the pools, however large."""
        found = []
        for cells, law in self.pools.values():
            x = self.origin + self.unit * self.means[cells]
            found.append(variation(law, x, self._solved(law, x), self.law.p))
        return max(found)

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of the released values by cell."""
        counts = np.concatenate([law.share * law.n for _, law in self.pools.values()])
        sums = np.zeros(counts.size)
        for part in self.parts():
            add(sums, part.cell, part.masked)
        return np.asarray(sums / counts)

    @cached_property
    def undone(self) -> Undone:
        """What undoes the masking."""
        values, variances, largest = *np.empty((2, self.means.size)), 0.0
        for number, (cells, law) in self.pools.items():
            x = self.means[cells] - self.pool_mean[number]
            h = self._solved(law, x)
            values[cells] = h + self.pool_mean[number]
            variances[cells] = h * h - self._solved(law, x**2)
            largest = max(largest, variation(law, x, h, self.law.p))
        if largest > LARGEST:
            raise UndefinedError(_refusal(f"{largest:.1f} times as much as without noise"))
        return Undone(values, variances, largest)

    def _codes(self) -> np.ndarray:
        """The pool of each record, -1 of those without a value."""
        kind = index_type(self.z.size)
        codes = np.empty(self.z.size, kind)
        for start, stop in blocks(self.z.size):
            own = kind(0) if self.pool is None else self.pool[start:stop]
            codes[start:stop] = np.where(np.isnan(self.z[start:stop]), kind(-1), own)
        return codes

    def _solved(self, law: MappingLaw, target: np.ndarray) -> np.ndarray:
        try:
            return mapping_law.inverse(law, self.law.p, target)
        except FloatingPointError:
            raise UndefinedError(_refusal("without bound")) from None


def _mapping_law(z: np.ndarray, scheme: Any) -> MappingLaw:
    _refuse_few(z.size)
    with _refusing_many():
        return mapping_law.of_values(z, scheme.noise, scheme.sigma, scheme.scale)


def _refuse_few(n: int) -> None:
    if n < FEWEST:
        raise UndefinedError(
            f"z must have at least {FEWEST} records (in each stratum) for statistics with other columns "
            f"after reverse mapping, got {n}: in fewer they are biased"
        )


@contextmanager
def _refusing_many() -> Iterator[None]:
    try:
        yield
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
        f"statistics with other columns: its pseudo-values vary {how}, and at most "
        f"{LARGEST:g} times is allowed"
    )
