"""The basis of a donor pool under conditional masking: cosines and sines, which noise shrinks.

Noise turns cos(w z) into phi(w) cos(w x), so A is diagonal on waves, for normal, Laplace and
rounded noise alike. Means over the originals are those of T_1 (Theorem 2.2), rearranged between
heaps; a function of the original is undone on masked values by one convolution (docs/theory.rst,
"Groups of records").
"""

from functools import cached_property
from math import ceil, pi
from typing import NamedTuple

import numpy as np

from condmask.distribution.convolution import convolve, fast_length
from condmask.distribution.counting import by_value
from condmask.distribution.symbol import Masking, reach, symbol
from condmask.distribution.t_1 import T_1
from condmask.domains.basis import Directions, Function, Tables, directions_of
from condmask.errors import ArgumentError
from condmask.grid import Grid

CELLS_PER_SIGMA = 64
MIN_CELLS_PER_SIGMA = 8
MAX_CELLS = 1 << 17
SETTLED = 1e-9  # distance of K from its limit that counts as none
MAX_WAVES = 40
MAX_FREQUENCY = 3.0  # per sigma
INNER = np.array([0.002, 0.998])  # the share of the originals over which waves have half a period
PARTS_OF_CELL = 4  # points at which a function is averaged over a cell
AROUND = 4  # cells to either side of a step, with whose records its own are compared
MIN_HEAP = 5.0  # standard errors by which a step has more records than those beside it
NEGLIGIBLE_SHARE = 1e-12  # of the masked values in a cell
NEGLIGIBLE_MASS = 1e-10  # where a function need not be finite


class Heaps(NamedTuple):
    """By cell the step at which many originals lie, and the share of the cell's that do."""

    step: np.ndarray
    share: np.ndarray


class NoiseBasis:
    """The basis of conditionally masked values: see `Basis`.

    Parameters
    ----------
    steps : ndarray of shape (n,)
        The masked values in whole steps of the grid.
    grid : Grid
    masking : Masking
        Without bandwidth.
    """

    exact = False

    def __init__(self, steps: np.ndarray, grid: Grid, masking: Masking) -> None:
        self.n: int = steps.size
        self.p: float = masking.p
        self.grid = grid
        self.masking = masking
        counted = by_value(steps)._replace(unit=1.0 / masking.delta)
        self.t: T_1 = T_1(counted, masking)
        self.width: int = _steps_of_cell(counted.values, masking)
        self.spread: float = grid.step * self.width if self.width > 1 else 0.0
        far = ceil(reach(masking, SETTLED / masking.p) / (self.width * masking.delta)) + 1
        cell = np.floor(steps / self.width)
        self.first: float = float(cell.min()) - far
        places, self.cell, self.counts = np.unique(
            (cell - self.first).astype(np.int64), return_inverse=True, return_counts=True
        )
        self.occupied = places
        self.size: int = int(places[-1]) + far + 1
        self.far = far
        self.points: np.ndarray = self._places(0.5 * (self.width - 1.0))
        step, at_heaps = self._heaps()
        mass = self._rearranged(at_heaps) + at_heaps
        share = np.divide(at_heaps, mass, out=np.zeros(self.size), where=mass > 0.0)
        self.heaps: Heaps = Heaps(step, share)
        self.kept: np.ndarray = np.flatnonzero(mass > 0.0)
        self.x: np.ndarray = self.points[self.kept]
        self.mass: np.ndarray = mass[self.kept] / mass[self.kept].sum()
        self._multipliers = self._smooth()
        self._weight = self._signed_mass()
        self.directions: Directions = self._directions()

    def indicators(self, t: np.ndarray) -> Tables:
        """Return the functions 1{x <= t}, one for each t."""
        ends = (self.first - 1.0) * self.width, (self.first + self.size) * self.width
        at = np.clip(self.grid.below(t), *ends)
        last = np.floor(at / self.width)
        place = (last - self.first).astype(np.int64)
        of_originals, of_records = self._shares_of_cells(at, last)
        # of a step the smooth part is that of one step, moved; the cell of t has both shares of it
        smooth = self._response(self.occupied, place, of_originals)
        own = _steps(self.occupied, place, of_records)
        f = _steps(self.kept, place, of_originals)
        undone = f / self.p + self._response(self.kept, place, of_originals)
        return Tables(own / self.p + smooth, undone, f, self.t.at(at))

    def _response(self, cells: np.ndarray, place: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return the smooth part of what undoes steps that are 1 before a place, and a share at
        it."""
        reach = self._step_response.size // 2
        apart = np.clip(cells[:, None] - place, -reach, reach - 1) + reach
        at = self._step_response[apart]
        before = self._step_response[np.minimum(apart + 1, 2 * reach - 1)]
        return np.asarray(before + share * (at - before))

    @cached_property
    def _step_response(self) -> np.ndarray:
        """The smooth part of what undoes a step from 1 to 0 after cell 0, at cells on both sides
        as far as it changes."""
        kernel = np.fft.irfft(self._multipliers)
        reach = self.far + 1
        near = kernel[np.arange(-reach, reach)]
        return np.asarray(np.cumsum(near[::-1])[::-1])

    def tables(self, functions: list[Function]) -> Tables:
        """Return any functions of values in the units of the data."""
        pairs = [self._on_cells(each) for each in functions]
        return self._tabulated(*(np.column_stack(each) for each in zip(*pairs, strict=True)))

    def _tabulated(self, f: np.ndarray, own: np.ndarray) -> Tables:
        """Return functions from their means over the originals of all cells, and over the records
        of those that have any."""
        ends = ((self.far, self.far), (0, 0))
        wide = np.pad(f, ends, mode="reflect", reflect_type="odd")
        length = 2 * (self._multipliers.size - 1)
        wide = np.pad(wide, ((0, length - len(wide)), (0, 0)))
        smooth = convolve(wide.T, self._multipliers).T[self.far : self.far + self.size]
        undone = f / self.p + smooth
        released = own / self.p + smooth[self.occupied]
        mean = self.counts @ released / self.n
        return Tables(released, undone[self.kept], f[self.kept], mean)

    def _shares_of_cells(self, at: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of a cell that lies at or below a step in it: of its originals, and of
        its records, where it has any."""
        counted = self.t.counted
        ends = np.array([cell * self.width - 1.0, at, (cell + 1.0) * self.width - 1.0])
        before, below, up_to = counted.below[counted.values.searchsorted(ends, side="right")]
        of_width = (at - ends[0]) / self.width
        records = up_to - before
        of_records = np.where(records > 0, (below - before) / np.maximum(records, 1), of_width)
        place = np.clip(cell - self.first, 0, self.size - 1).astype(np.int64)
        heap = self.heaps.share[place]
        of_originals = heap * (self.heaps.step[place] <= at) + (1.0 - heap) * of_width
        return of_originals, of_records

    def _on_cells(self, function: Function) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of a function over the originals of cells, and over their records; 0
        where it is not finite without mass."""
        with np.errstate(all="ignore"):
            values, own = self._means_over_cells(function)
        bad = np.flatnonzero(~np.isfinite(values))
        if self._weight[bad].sum() > NEGLIGIBLE_MASS or not np.isfinite(own).all():
            worst = bad[np.argmax(self._weight[bad])] if bad.size else 0
            raise ArgumentError(
                "g must be finite wherever the estimated distribution has mass, beyond the "
                "data too, got "
                f"{values[worst]} at {self.points[worst]:g}; let g begin with np.maximum or "
                "np.minimum"
            )
        values[bad] = 0.0
        return values, own

    def _means_over_cells(self, function: Function) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of a function over the originals of cells, and over their records."""
        parts = min(self.width, PARTS_OF_CELL)
        within = np.floor((np.arange(parts) + 0.5) * (self.width / parts))
        values = np.mean([function(self._places(each)) for each in within.tolist()], axis=0)
        heaped = np.flatnonzero(self.heaps.share)
        at_heaps = function(self.grid.values(self.heaps.step[heaped]))
        share = self.heaps.share[heaped]
        values[heaped] = share * at_heaps + (1.0 - share) * values[heaped]
        return values, self._mean_over_records(function)

    def _mean_over_records(self, function: Function) -> np.ndarray:
        """Return the mean of a function over the records of each occupied cell."""
        counted = self.t.counted
        cell = np.floor(counted.values / self.width) - self.first
        first = np.flatnonzero(np.diff(cell, prepend=-1.0))
        products = function(self.grid.values(counted.values)) * counted.counts
        return np.asarray(np.add.reduceat(products, first) / self.counts)

    def _directions(self) -> Directions:
        """Return the directions among waves of at most three radians a sigma."""
        low, high = np.interp(INNER, np.cumsum(self.mass), self.x)
        sigma = self.grid.step / self.masking.delta
        length = high - low + 2.0 * sigma
        count = min(MAX_WAVES, int(MAX_FREQUENCY * length / sigma / pi))
        w = pi / length * np.arange(1, 1 + max(1, count))
        shrunk = (1.0 - self.p) * symbol(self.masking, w * sigma) - self.p / (self.n - 1.0)
        middle = 0.5 * (low + high)
        psi = _waves(np.outer(self.points[self.occupied] - middle, w))
        b = _waves(np.outer(self.x - middle, w)) * np.append(shrunk, shrunk)
        places, shares = self._law_of_masked()
        at = _waves(np.outer(self.points[places] - middle, w))
        return directions_of(psi, self.counts, b, self.mass, (at, shares))

    def _law_of_masked(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of cells, and the shares of masked values that the originals'
        distribution gives them."""
        size = 2 * (self._multipliers.size - 1)
        mass = np.zeros(size)
        mass[self.far + self.kept] = self.mass
        w = 2.0 * pi / (size * self.width * self.masking.delta) * np.arange(size // 2 + 1)
        noisy = convolve(mass, np.asarray(symbol(self.masking, w)))
        shares = np.maximum(self.p * mass + (1.0 - self.p) * noisy, 0.0)
        shares = shares[self.far : self.far + self.size]
        places = np.flatnonzero(shares > NEGLIGIBLE_SHARE)
        return places, shares[places] / shares[places].sum()

    def _smooth(self) -> np.ndarray:
        """Return the transform by which a function is undone, without its part 1/p."""
        size = fast_length(self.size + 4 * self.far)
        w = 2.0 * pi / (size * self.width * self.masking.delta) * np.arange(size // 2 + 1)
        p = self.p
        return np.asarray(1.0 / (p + (1.0 - p) * symbol(self.masking, w)) - 1.0 / p)

    def _signed_mass(self) -> np.ndarray:
        """Return the size of the mass that T_1 gives to each cell before it is rearranged."""
        held = np.zeros(2 * (self._multipliers.size - 1))
        held[self.occupied] = self.counts / self.n
        return np.abs(convolve(held, self._multipliers) + held / self.p)[: self.size]

    def _heaps(self) -> tuple[np.ndarray, np.ndarray]:
        """Return by cell the step with most records, and the mass of the originals heaped there.

        It is what the step has more than those around, where that is no accident.
        """
        counted = self.t.counted
        place = (np.floor(counted.values / self.width) - self.first).astype(np.int64)
        order = np.lexsort((counted.counts, place))
        highest = order[np.append(np.flatnonzero(np.diff(place[order])), order.size - 1)]
        at = counted.values[highest]
        reach = AROUND * self.width
        ends = counted.values.searchsorted([at - reach, at + reach + 1.0])
        around = np.diff(counted.below[ends], axis=0)[0] - counted.counts[highest]
        usual = around / (2.0 * reach)
        more = counted.counts[highest] - usual
        heaped = more > MIN_HEAP * np.sqrt(usual + 1.0)
        step = np.zeros(self.size)
        mass = np.zeros(self.size)
        step[self.occupied] = at
        mass[self.occupied] = heaped * more / (self.p * self.n)
        return step, mass

    def _rearranged(self, at_heaps: np.ndarray) -> np.ndarray:
        """Return the mass of cells besides heaps: increments of T_1 without its steps there, in
        ascending order of T_1, so that none is negative and heaps stay in place."""
        below = self.t.at(self._steps(self.width - 1.0)) - np.cumsum(at_heaps)
        rest = max(1.0 - float(at_heaps.sum()), 0.0)
        below = np.sort(np.clip(below, 0.0, rest))
        # swapped records show originals, so next to none lie beyond the masked values
        below[: self.occupied[0]] = 0.0
        below[self.occupied[-1] :] = rest
        return np.diff(below, prepend=0.0)

    def _steps(self, within: float) -> np.ndarray:
        return (self.first + np.arange(self.size)) * self.width + within

    def _places(self, within: float) -> np.ndarray:
        return self.grid.values(self._steps(within))


def _steps(cells: np.ndarray, place: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return by cell functions that are 1 before a place, a share at it, and 0 after it."""
    apart = cells[:, None] - place
    return np.asarray((apart < 0) + share * (apart == 0))


def _waves(phase: np.ndarray) -> np.ndarray:
    return np.hstack([np.cos(phase), np.sin(phase)])


def _steps_of_cell(values: np.ndarray, masking: Masking) -> int:
    """Return how many steps of the grid make a cell: a 64th of sigma, or more for wide data."""
    width = max(1, int(1.0 / (CELLS_PER_SIGMA * masking.delta)))
    wide = (values[-1] - values[0]) / MAX_CELLS
    width = max(width, ceil(float(wide)))
    if width > 1 and width * masking.delta > 1.0 / MIN_CELLS_PER_SIGMA:
        raise ArgumentError(
            f"z must reach over at most {MAX_CELLS // MIN_CELLS_PER_SIGMA} sigma for "
            f"distributions of groups, got {(values[-1] - values[0]) * masking.delta:.4g}"
        )
    return width
