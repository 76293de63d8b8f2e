"""The distribution function and the quantiles of many small samples under one law, and their intervals.

All rows of a block are counted on lattices of one width, a 64th of sigma or the grid where that is coarser,
and one Fourier transform of all of them gives T and the sums of its variance at the nodes. What T needs
exactly is spread to the four nodes about a record with the weights of the cubic through them, and read
between nodes in the same way, so T is off by 3/64 h^4 of the fourth derivative of its smooth part, some
1e-9 / p; what the variances need is counted by cell, as `cdf_variance` does for a single sample. On a coarse
grid T is exact at its points.

Bandwidths and strata are left to single samples.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import Masking
from condmask.inference import cdf_score, cdf_variance, rearranged_variance
from condmask.inference.cdf_variance import Positions, Sums
from condmask.inference.intervals import multiplier
from condmask.inference.theorem import AsymptoticVariance
from condmask.kernels import quantile_ends as kernels
from condmask.kernels.quantile_ends import Lattice, Question, Row
from condmask.law import Law
from condmask.samples.bandwidth import masking

TOL = 1e-10
MARGIN = 8.0  # sigma on either side of the records; farther T, 1e-9 / p from 0 or 1, counts as there
MOST_NODES = 1 << 14  # of a row: two hundred sigma and more
MOST_STEPS = 4  # of a cell, up to which T is worked out at every point of the grid


class Ends(NamedTuple):
    """The ends of intervals of many rows.

    Attributes
    ----------
    quantiles, cdf : ndarray of shape (2, levels, targets, statistics, rows)
        The lower and the upper ends.
    served : ndarray of bool of shape (rows,)
        Whether they are known; rows that are spread too widely are left to single samples.
    """

    quantiles: np.ndarray
    cdf: np.ndarray
    served: np.ndarray


class CdfRows:
    """Rows of masked values on their lattices.

    Parameters
    ----------
    z : ndarray of shape (rows, n)
        Masked values, on the grid of the law.
    law : Law
        With a grid.
    shared_donors : bool
        Whether several records may share a donor.
    """

    def __init__(self, z: np.ndarray, law: Law, *, shared_donors: bool) -> None:
        assert law.grid is not None
        self.law, self.grid, self.n = law, law.grid, z.shape[1]
        self._steps = np.sort(law.grid.units(z), axis=1)
        self._masking = masking(law, None)
        self._at = Positions(self._masking)
        width, (_, _, limits, jumps) = self._at.width, self._at.kernels
        self.lattice = Lattice(width, width > MOST_STEPS, law.p, limits, jumps, shared_donors)

    def rows(self) -> Iterator[Row | None]:
        """Row by row; None of one that is spread too widely."""
        width, reach = self._at.width, self._at.kernels.reach
        margin = ceil(min(MARGIN / self._at.in_sigma, reach)) + 4
        first = np.floor(self._steps[:, 0] / width) - margin
        nodes = np.floor(self._steps[:, -1] / width) - first + 1 + margin
        served = nodes <= MOST_NODES
        if not served.any():
            yield from [None] * len(self._steps)
            return
        many = int(nodes[served].max())
        size = fast_length(many + max(reach - margin, 0))
        steps, first = self._steps[served], first[served]
        sums = np.empty((5, len(steps), many))
        counts = np.zeros((len(steps), size))
        kernels.count(steps, first, width, counts)
        spectrum = np.fft.rfft(counts)
        for k, transform in enumerate(cdf_variance.transforms(self._at.noise, self._at.in_sigma, size)):
            sums[k] = np.fft.irfft(spectrum * transform, size)[:, :many]
        below = np.cumsum(counts[:, :many], axis=1)
        if self.lattice.fine:
            t = self._smooth_part(steps, first, many, size)
        else:
            t = self._on_the_grid(steps, first * width, many * int(width))
        own = iter(range(len(steps)))
        for fits, length in zip(served.tolist(), nodes.tolist(), strict=True):
            if not fits:
                yield None
                continue
            k, last = next(own), int(length)
            points = last if self.lattice.fine else last * int(width)
            yield Row(steps[k], float(first[k]), t[k, :points], sums[:, k, :last], below[k, :last])

    def _smooth_part(self, steps: np.ndarray, first: np.ndarray, nodes: int, size: int) -> np.ndarray:
        """T without its steps at the records, at so many nodes from the first of each row on."""
        weights = np.zeros((len(steps), size))
        kernels.spread(steps, first, self.lattice.width, weights)
        transform = smooth_transform(self._masking, self._at.in_sigma, self._at.kernels.reach, size)
        near = np.fft.irfft(np.fft.rfft(weights) * transform, size)[:, :nodes]
        weights = weights[:, :nodes]
        before = 2.0 * np.cumsum(weights, axis=1) - weights
        return np.asarray((near + smooth_limit(self.law.p) * before) / self.n)

    def _on_the_grid(self, steps: np.ndarray, first: np.ndarray, points: int) -> np.ndarray:
        """T at so many points of the grid, from the first of each row on."""
        whole, step = self._masking, self._masking.delta
        reach, _, limits, _ = cdf_variance.kernels(whole, step)
        size = fast_length(points + reach)
        counts = np.zeros((len(steps), size))
        kernels.count(steps, first, 1.0, counts)
        transform = cdf_variance.transforms(whole, step, size)[0]
        t = np.fft.irfft(np.fft.rfft(counts) * transform, size)[:, :points]
        return np.asarray((t + limits[0] * np.cumsum(counts[:, :points], axis=1)) / self.n)

    def ends(self, q: np.ndarray, x: np.ndarray, levels: Sequence[float], targets: Sequence[str]) -> Ends:
        """Intervals of quantiles q and of the distribution function at points x, in the units of the data."""
        found = _no_ends(len(self._steps), q.size, x.size, levels, targets)
        c = np.array([multiplier(level)[1] ** 2 / self.n for level in levels])
        whole = np.array([target == "population" for target in targets])
        crossing = rearranged_variance.crossing_of(self.law.p, self.n)
        question = Question(
            q, c, whole, crossing == "rearranged", TOL, rearranged_variance.GAIN, rearranged_variance.ROOM
        )
        points, value = self.grid.below(x), np.empty(q.size)
        t, file = np.zeros((2, x.size, len(self._steps)))
        for k, row in enumerate(self.rows()):
            if row is None:
                continue
            low, high = np.empty((2, len(levels), len(targets), q.size))
            found.served[k] = kernels.quantile_ends(row, self.lattice, question, value, low, high)
            found.quantiles[0, ..., k], found.quantiles[1, ..., k] = low, high
            t[:, k] = kernels.value_at(points, row, self.lattice)
            file[:, k] = kernels.variance_at(points, row, self.lattice)
        found.quantiles[:] = self.grid.values(found.quantiles)
        found.cdf[:] = cdf_ends(t, file, c, targets)
        return found


def smooth_limit(p: float) -> float:
    """Half of what a record far to the left adds to n times the smooth part of T."""
    return 0.5 - 0.5 / p


@lru_cache(maxsize=16)
def smooth_transform(masking: Masking, width: float, reach: int, size: int) -> np.ndarray:
    """The transform of the smooth part of K at cells of `width` sigma, less what records add from afar."""
    right = weight.smooth_weight(masking, width * np.arange(1.0, reach + 1.0)) - smooth_limit(masking.p)
    both = np.concatenate((-right[::-1], [0.0], right))
    return np.asarray(cdf_variance.on_a_circle(both[None], size)[0])


def _no_ends(rows: int, quantiles: int, points: int, levels: Sequence[float], targets: Sequence[str]) -> Ends:
    """Ends that are not known as yet."""
    shape = 2, len(levels), len(targets)
    of_quantiles, of_points = (np.full((*shape, size, rows), np.nan) for size in (quantiles, points))
    return Ends(of_quantiles, of_points, np.zeros(rows, dtype=np.bool_))


def cdf_ends(t: np.ndarray, file: np.ndarray, c: np.ndarray, targets: Sequence[str]) -> np.ndarray:
    """The ends for values of T of these variances about the file, by side, level and target."""
    nothing = np.zeros(t.shape)
    variance = AsymptoticVariance(file, nothing, Sums(t, nothing, nothing, nothing, t))
    ends = [[cdf_score.ends(t, variance, each, target) for target in targets] for each in c.tolist()]
    return np.moveaxis(np.array(ends), 2, 0)


def exact_ends(
    z: np.ndarray, q: np.ndarray, x: np.ndarray, levels: Sequence[float], targets: Sequence[str]
) -> Ends:
    """Intervals from rows of the values of the originals in another order, as `CdfRows.ends` has them.

    Only the sample of the population is uncertain; quantiles of the file are known.
    """
    ordered, n = np.sort(z, axis=1), z.shape[1]
    found = _no_ends(len(z), q.size, x.size, levels, targets)
    c = np.array([multiplier(level)[1] ** 2 / n for level in levels])
    for i, each in enumerate(c.tolist()):
        for j, target in enumerate(targets):
            whole = target == "population"
            radius = (
                np.sqrt(each / (1.0 - each) * q * (1.0 - q)) if whole and each < 1.0 else np.zeros(q.size)
            )
            first = np.ceil(n * (q - radius - TOL)).astype(np.int64) - 1
            last = np.floor(n * (q + radius)).astype(np.int64) if whole else first
            low, high = (ordered[:, np.clip(place, 0, n - 1)].T for place in (first, last))
            if whole:
                low[q <= each], high[1.0 - q <= each] = -np.inf, np.inf
            found.quantiles[0, i, j], found.quantiles[1, i, j] = low, high
    t = np.array([np.searchsorted(row, x, side="right") for row in ordered]).T / n
    found.cdf[:] = cdf_ends(t, np.zeros(t.shape), c, targets)
    found.served[:] = True
    return found
