r"""What who sees a masked value makes of it: the posterior of its original, and the best interval for it.

Who knows p, the noise, the grid and the law F of the data holds, given Z = z,

    the record swapped, and its original anywhere, F,   with weight      p f(z)
    it kept, and its original x, F(x) phi(z - x),       with weight      (1 - p) (f * phi)(z)

and guesses the middle of the interval of width 2 d with the greatest posterior mass. The weights are those of
the attack on coins (`disclosure.coins`): f is learned from other records, with all that digits tell, so
nothing is known of a value because it is the record's own. So are the originals near z. How many
records an interval holds in all is known from the file, as to the attacker who always says the same.

One outlook is for intervals of widths that suit cells of one size.
"""

from math import ceil, floor, log2

import numpy as np

from condmask.disclosure import swap_posterior
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import Task
from condmask.kernels import windows

NEAR = {"normal": 5.5, "laplace": 11.0}  # sigma; beyond lies less than 3e-7 of the noise
CELLS_PER_WIDTH = 8
MOST_CELLS = 1 << 18
MOST_OF_NOISE = 1 << 16  # cells within reach of the noise, however narrow the intervals are
BETWEEN = 16  # places at which intervals begin that hold all of the noise


def bits_for(task: swap_posterior.Problem, wide: np.ndarray) -> np.ndarray:
    """The size of cells that suits each width: some to a sigma, and some to a width, as a power of two."""
    most = swap_posterior.bits_of(task) + 1  # half as many to a sigma as tell coins
    reach = swap_posterior.REACH[task.law.noise] * task.sigma
    least = min(most, max(0, ceil(log2(2.0 * reach / MOST_OF_NOISE))))
    return np.array([max(least, min(most, floor(log2(max(1.0, each / CELLS_PER_WIDTH))))) for each in wide])


def room(pieces: swap_posterior.Pieces) -> int:
    """Around how many values cells surely fit."""
    return max(2, MOST_CELLS // pieces.each)


class Outlook:
    """On the values of a file, for some widths.

    Parameters
    ----------
    task : Task
        The values, counted by fold, and how digits are looked at.
    file : Original
    wide : ndarray of shape (widths,)
        In units.
    steady : (ndarray, ndarray)
        The share of the best window of each width, and where it begins.
    bits : int
        A cell has 2^bits steps.
    around : ndarray, optional
        Ascending steps around which there are to be cells; None is around the values, or some of them
        where these are spread too far.
    """

    def __init__(
        self,
        task: Task,
        file: Original,
        wide: np.ndarray,
        steady: tuple[np.ndarray, np.ndarray],
        bits: int,
        around: np.ndarray | None = None,
    ) -> None:
        self.problem, self.look, _ = task
        self.wide = wide
        total = self.problem.counts
        self.table = self.problem.table.astype(np.float64)
        if around is None:
            around, pieces = (
                self.problem.values,
                swap_posterior.pieces_around(self.problem.values, self.problem, bits),
            )
            if pieces.cells > MOST_CELLS:
                chosen = swap_posterior.evenly(np.cumsum(total), room(pieces))[0]
                self.table *= np.bincount(chosen, minlength=total.size) / total
                around = self.problem.values[np.unique(chosen)]
        self.cells = cells = swap_posterior.cells_around(around, self.problem, bits)
        self.noise = self._noise()
        edges = cells.first.astype(np.float64)
        size = wide.size, edges.size
        self.after, self.before, self.ends, self.begins = np.empty((4, *size))
        for k, width in enumerate(wide):
            self.after[k] = file.share(edges, edges + width)
            self.before[k] = file.share(edges - width, edges)
            self.ends[k] = self._place(edges + width)
            self.begins[k] = self._place(edges - width)
        share, first = steady
        self.steady = np.column_stack([share, self._place(first), self._place(first + wide)])
        self.edges, self.starts = edges, first

    def attacker(self, fold: int) -> swap_posterior.Attacker | None:
        """Who has seen all folds but one; None where there are no others."""
        others = self.problem.counts - self.problem.table[fold]
        if not others.any():
            return None
        known = swap_posterior.learned(self.problem, others, self.look)
        return swap_posterior.attacker(known, self.cells)

    def at(self, points: np.ndarray) -> np.ndarray:
        """The cells of what masked values show."""
        return self.cells.at(points)[0]

    def best(
        self, who: swap_posterior.Attacker, cells: np.ndarray, chances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best windows for masked values in cells, and their posterior mass."""
        lows, highs = self._near(cells)
        choice = np.empty((cells.size, self.wide.size), dtype=np.int64)
        mass = np.empty(choice.shape)
        windows.best_windows(
            cells, chances, lows, highs, who.masses, self.noise, self.after, self.before, self.ends,
            self.begins, self.steady, self._between(cells), choice, mass,
        )  # fmt: skip
        return choice, mass

    def shares(self, choice: np.ndarray) -> np.ndarray:
        """The share of all records in the chosen windows."""
        edge, k = np.maximum(choice // 2, 0), np.arange(self.wide.size)
        found = np.where(choice % 2 == 0, self.after[k, edge], self.before[k, edge])
        return np.where(choice == windows.STEADY, self.steady[:, 0], found)

    def first(self, choice: np.ndarray) -> np.ndarray:
        """Where the chosen windows begin, in units."""
        begin = self.edges[np.maximum(choice // 2, 0)] - np.where(choice % 2 == 0, 0.0, self.wide)
        return np.where(choice == windows.STEADY, self.starts, begin)

    def held(self, choice: np.ndarray, cells: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """The share of masses * noise around masked values that the chosen windows hold."""
        found = np.empty(choice.shape)
        windows.held(
            cells, *self._near(cells), masses, self.noise, self.ends, self.begins, self.steady, choice, found
        )
        return found

    def risk(self, most: int, folds: int) -> np.ndarray:
        """The share of records within d of the guess, for each width, over the first folds."""
        p, total = self.problem.law.p, np.zeros(self.wide.size)
        weight = 0.0
        for k in [k for k in range(len(self.table)) if self.table[k].any()][:folds]:
            who = self.attacker(k)
            if who is None:
                continue
            found = swap_posterior.outcomes(who, self.problem, self.table[k], most, False)
            cells = self.at(found.points)
            choice, _ = self.best(
                who, cells, swap_posterior.posterior(p, found.law, found.noised) if p else 0.0 * found.law
            )
            there = np.flatnonzero(self.table[k])
            own = self.cells.counted(self.problem.values[there], self.table[k][there])
            share = self.table[k].sum()
            total += share * (
                found.swapped @ self.shares(choice) + found.kept @ self.held(choice, cells, own)
            )
            weight += share
        return total / weight if weight else np.full(self.wide.size, np.nan)

    # --- private ---

    def _noise(self) -> np.ndarray:
        noise = swap_posterior.noise_shares(self.problem.law.noise, self.cells.sigma)
        middle = noise.size // 2
        reach = min(middle, ceil(NEAR[self.problem.law.noise] * self.cells.sigma) + 1)
        return noise[middle - reach : middle + reach + 1]

    def _near(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells within reach of the noise, of the same piece."""
        offsets, reach = self.cells.offsets, self.noise.size // 2
        piece = np.searchsorted(offsets, cells, side="right") - 1
        return np.maximum(cells - reach, offsets[piece]), np.minimum(cells + reach + 1, offsets[piece + 1])

    def _place(self, units: np.ndarray) -> np.ndarray:
        """Where units lie in cells, at the end of a piece where they lie between two."""
        starts, offsets = self.cells.starts, self.cells.offsets
        where = np.ceil(units) / (1 << self.cells.bits)
        piece = np.maximum(np.searchsorted(starts, np.floor(where), side="right") - 1, 0)
        return np.asarray(np.clip(where - starts[piece] + offsets[piece], offsets[piece], offsets[piece + 1]))

    def _between(self, cells: np.ndarray) -> np.ndarray:
        """Edges where wide windows around masked values may begin as well."""
        reach = self.edges[np.minimum(cells + self.noise.size // 2, self.edges.size - 1)]
        far = self.wide > float(np.median(reach - self.edges[cells]))
        if not far.any():
            return np.empty((cells.size, self.wide.size, 0), dtype=np.int64)
        back = np.arange(1, BETWEEN) / BETWEEN * self.wide[:, None]
        found = self._place(self.edges[cells][:, None, None] - back)
        return np.minimum(found.astype(np.int64), self.edges.size - 1)
