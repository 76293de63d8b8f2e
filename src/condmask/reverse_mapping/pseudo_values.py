"""Computes pseudo-values of records released by reverse mapping, and how they vary given the file.

By donor pool, h with E[h(Z) | X] = X - mean is solved from the released values alone (`undone`),
so the pseudo-values ``mean + h(Z)`` have the originals as their means. Released values are the
originals in another order, so their sum over a pool is fixed, and weights count about their mean
over it. Beyond that the variance given the file is taken to be that of independent draws,
``h^2 - g`` on average, where g is to the squares of deviations what h is to these; it is too large
by up to a tenth (docs/inference.rst, "Reverse mapping").

M is the law of a large pool. In pools of 50 it shifts sums by less than .05 standard errors.
"""

from functools import cached_property

import numpy as np

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning, UndefinedError
from condmask.linear.chunks import Chunk
from condmask.linear.records import Records
from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.moments.theorem_2_1 import shift
from condmask.reverse_mapping.mapping import Mapping, on_line, places
from condmask.strata import values_by_pool

MIN_MAPPED_RECORDS = 50
MAX_VARIATION = 5.0  # N, above which pseudo-values are refused
MAX_VARIATION_UNWARNED = 1.5
MAX_UNBINNED_RECORDS = 1 << 14  # of a pool; with more, all values in a cell count as one
MAX_CELLS_PER_SIGMA = 64.0
MAX_CELLS_PER_RECORD = 4
MAX_RESIDUAL = 0.01  # of the target, at a step that is accepted
# of the variance about the file, the part that the residual adds: at a step that is accepted, and
# at which steps end
MAX_ADDED_VARIANCE = 0.01
NEGLIGIBLE_ADDED_VARIANCE = 1e-3
MAX_GRADIENT_STEPS = 500
REFUSAL = (
    "z must have more records (in each stratum), or have been masked with a smaller sigma, for "
    "statistics with other columns: its pseudo-values vary {}, and at most "
    f"{MAX_VARIATION:g} times is allowed"
)


def cells_of_values(
    x: np.ndarray, scheme: ReverseMappingScheme
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of each value's cell, the means of cells, and their numbers of records.

    Cells are distinct values, or where there are many records, all values in a 64th of a sigma.
    """
    if x.size <= MAX_UNBINNED_RECORDS:
        value, cell, size = np.unique(x, return_inverse=True, return_counts=True)
    else:
        line = on_line(x, scheme.sigma, scheme.scale)
        line = (line - line.min()) / scheme.sigma
        per_sigma = MAX_CELLS_PER_RECORD * x.size / max(line.max(), 1.0)
        whole = (line * min(MAX_CELLS_PER_SIGMA, per_sigma)).astype(np.int64)
        sizes = np.bincount(whole)
        cell = (np.cumsum(sizes > 0) - 1)[whole]
        size = sizes[sizes > 0]
        value = x.min() + np.bincount(cell, x - x.min()) / size
    return cell, value, size


class ReverseMapped:
    """Computes the pseudo-values of a released column, and functions of the original undone.

    It is a `linear.pseudo_values.PseudoValues` with f = 1, p' = 1, and donors as if drawn
    independently.

    Parameters
    ----------
    records : Records
        Released values and donor pools.
    scheme : ReverseMappingScheme
        p, noise, sigma and scale are used.

    Attributes
    ----------
    n, origin, unit, size, factor, share
        As of `PseudoValues`.
    pools : list of (Mapping, slice, int)
        M between the cells of a pool, where these stand among those of all, and its records.
    cell : ndarray of shape (n,)
        The number of each record's cell, numbered through all pools; -1 where the value is
        missing.
    number, counts : ndarray of shape (cells,)
        The pool of each cell, and its number of records.
    means, middle : ndarray of shape (cells,)
        The mean in each cell of the released values, or of the function of these that the records
        hold; and the mean of its pool.
    """

    n: int
    p: float
    origin: float
    unit: float
    size: np.ndarray
    factor: np.ndarray
    share: np.ndarray
    pools: list[tuple[Mapping, slice, int]]
    cell: np.ndarray
    number: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    middle: np.ndarray

    def __init__(self, records: Records, scheme: ReverseMappingScheme) -> None:
        z = records.released
        pool = records.pools()
        self.p = float(scheme.p)
        self.records = records
        self.cell = np.full(z.size, -1, np.int32)
        self.pools = []
        start = 0
        cells_by_pool = []
        for rows, x in values_by_pool(z, pool):
            if x.size < MIN_MAPPED_RECORDS:
                raise UndefinedError(
                    f"z must have at least {MIN_MAPPED_RECORDS} records (in each stratum) for "
                    f"statistics with other columns after reverse mapping, got {x.size}: in fewer "
                    "they are biased"
                )
            cell, value, counts = cells_of_values(x, scheme)
            at = places(value, scheme.sigma, scheme.scale)
            cells = slice(start, start + value.size)
            self.cell[rows] = cell + start
            start = cells.stop
            self.pools.append((Mapping(at, counts / x.size, scheme.noise), cells, x.size))
            if z is not records.z:  # the order came from z, and a function of z is estimated
                value = np.bincount(cell, records.z[rows]) / counts
            cells_by_pool.append(
                (value, counts, np.full(value.size, 0 if pool is None else pool[rows[0]]))
            )
        released, self.counts, self.number = map(np.concatenate, zip(*cells_by_pool, strict=True))
        self.origin = float(released[0])
        deviation = released - self.origin
        self.unit = float(np.abs(deviation).max()) or 1.0
        self.means = deviation / self.unit
        self.size = self._by_pool(np.ones(()))
        self.n = int(self.size.sum())
        self.middle = (self._by_pool(self.means) / np.maximum(self.size, 1.0))[self.number]
        self.factor = np.ones(self.size.size)
        self.share = self.factor

    def values(self, chunk: Chunk) -> np.ndarray:
        """Return the pseudo-values of a chunk."""
        return np.asarray(self.undone[0][self.cell[chunk.rows]])

    def spread(self, chunk: Chunk) -> tuple[np.ndarray, float]:
        """Return the variance of each released value's h given the file, right on average; and q,
        which is 0."""
        return np.asarray(self.undone[1][self.cell[chunk.rows]]), 0.0

    def in_common(
        self, total: np.ndarray, others: np.ndarray, q: np.ndarray, pools: np.ndarray | slice
    ) -> float:
        """Return 0: variances are taken to be those of independent draws."""
        return 0.0

    @property
    def v(self) -> np.ndarray:
        """Return the sums of these variances by pool."""
        return self._by_pool(self.undone[1])

    @cached_property
    def h(self) -> np.ndarray:
        """Return, by cell, the pseudo-value of a released value less the mean of its pool."""
        return self._solved(self.means - self.middle)

    @cached_property
    def variation(self) -> float:
        """Return N, the factor by which h varies more than values without noise, in the worst
        pool."""
        of_h, of_x = (self._by_pool(each**2) for each in (self.h, self.means - self.middle))
        more = np.divide(of_h, of_x, out=np.zeros(of_x.size), where=of_x > 0.0)
        return max(1.0, (1.0 - self.p) * float(np.sqrt(more.max())))

    @cached_property
    def undone(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cell, the pseudo-values and their variances given the file."""
        if self.variation > MAX_VARIATION:
            raise UndefinedError(
                REFUSAL.format(f"{self.variation:.1f} times as much as without noise")
            )
        return self.middle + self.h, self.h**2 - self._solved((self.means - self.middle) ** 2)

    def warn_of_variation(self) -> None:
        """Warn if pseudo-values vary much more than without noise."""
        if MAX_VARIATION_UNWARNED < self.variation <= MAX_VARIATION:
            warn(
                f"pseudo-values vary {self.variation:.2f} times as much as without noise, which "
                "makes statistics with other columns less certain",
                EstimateWarning,
            )

    def powers(self, middle: float | np.ndarray) -> np.ndarray:
        """Return the functions of released values with means (original - `middle`)^k, k up to 3.

        Those of the first two orders follow from `undone`.

        Returns
        -------
        ndarray of shape (4, cells)
        """
        third = self._solved((self.means - self.middle) ** 3)
        orders = [np.ones(third.size), self.h, self.h**2 - self.undone[1], third]
        return shift(np.array(orders), self.middle - middle)

    def _solved(self, target: np.ndarray) -> np.ndarray:
        """Return, by cell, the function of the released value whose mean given the original is
        `target`."""
        return np.concatenate(
            [undone(each, self.p, n, target[cells]) for each, cells, n in self.pools]
        )

    def _by_pool(self, figures: np.ndarray) -> np.ndarray:
        """Return the sums of figures by cell over the records of each pool."""
        return np.bincount(self.number, self.counts * figures)


def undone(mapping: Mapping, p: float, n: int, target: np.ndarray) -> np.ndarray:
    """Return h by value, with the mean of `target` and E[h(Z) | X] close to the target at X.

    In a pool of n, a swapped record gets the value of each other one with the same probability,
    and its own with the rest. So with q = 1 - p the equation is ``{q M + (q - q^n)/(n-1)} h =
    target`` about the means. Noise makes it ill-posed: conjugate gradients on its normal
    equations first bring the residual down and then blow up h. A sum over the n records with
    weights of unit length varies by |h|^2 at most, by |target|^2 less about the file, and what
    is left of the target adds at most n |residual|^2 to its mean squared error: the step is
    taken where their sum is least.

    Raises
    ------
    UndefinedError
        If the residual does not come down to a hundredth of the target, or to what adds at most a
        tenth to standard errors.
    """
    q = 1.0 - p
    w = mapping.share
    remaining = (q - q**n) / (n - 1)
    middle = float(w @ target)
    residual = target - middle
    total = float(w @ residual**2)
    h = np.zeros(w.size)
    best = h
    if total == 0.0:
        return h + middle
    direction = np.zeros(w.size)
    before = np.inf
    least = np.inf
    for _ in range(MAX_GRADIENT_STEPS):
        slope = q * mapping.adjoint(residual) + remaining * residual
        norm = float(w @ slope**2)
        direction = slope + norm / before * direction
        before = norm
        image = q * mapping.apply(direction) + remaining * direction
        step = norm / float(w @ image**2)
        h = h + step * direction
        residual = residual - step * image
        variance = float(w @ h**2)
        error = float(w @ residual**2)
        masking = (variance - total) / n
        close = error <= max(MAX_RESIDUAL**2 * total, MAX_ADDED_VARIANCE * masking)
        if close and variance + n * error < least:
            best = h
            least = variance + n * error
        if variance >= least or error <= NEGLIGIBLE_ADDED_VARIANCE * masking:
            break
    if least == np.inf:
        raise UndefinedError(REFUSAL.format("without bound"))
    return np.asarray(best + (middle - w @ best))
