r"""What an attacker concludes from a masked value: the posterior of its original, and the best interval.

An attacker who knows p, the noise, the grid and the law F of the data believes, given Z = z, that

    the record was swapped, its original anywhere, F,    with weight      p f(z)
    it was kept, its original being x, F(x) phi(z - x),  with weight      (1 - p) (f * phi)(z)

and guesses the middle of the interval of width 2 d with the greatest posterior mass. The weights are those of
the attack on coins (swap_posterior.py): f is learned from other records, with all that digits show, so that
no value is known because it is the record's own. The same holds for the originals near z. How many records an
interval holds in all is known from the file, as it is to the attacker who always guesses the same.

`CredibleWindows` are for intervals of widths that suit cells of one size.
"""

from math import ceil, log2

import numpy as np

from condmask.disclosure import convolution, swap_posterior
from condmask.disclosure.baselines import FullestWindows
from condmask.disclosure.convolution import pieces_around
from condmask.disclosure.folds import FoldCounts, systematic_sample
from condmask.disclosure.learned_density import learn
from condmask.disclosure.original import Original
from condmask.disclosure.swap_attack import StrataAttack
from condmask.kernels import windows

NEAR = {"normal": 5.5, "laplace": 11.0}  # sigma; beyond lies less than 3e-7 of the noise
CELLS_PER_WIDTH = 8
MOST_CELLS = 1 << 18
MOST_OF_NOISE = 1 << 16  # cells within reach of the noise, however narrow the intervals are
BETWEEN = 16  # places at which intervals begin that hold all of the noise


def bits_for(folded: FoldCounts, wide: np.ndarray) -> np.ndarray:
    """The size of cells that suits each width: some to a sigma, and some to a width, as a power of two."""
    most = convolution.bits_of(folded) + 1  # half as many to a sigma as tell coins
    reach = convolution.REACH[folded.law.noise] * folded.sigma
    least = min(most, max(0, ceil(log2(2.0 * reach / MOST_OF_NOISE))))
    fitting = np.floor(np.log2(np.maximum(1.0, wide / CELLS_PER_WIDTH)))
    return np.clip(fitting, least, most).astype(np.int64)


class CredibleWindows:
    """The best windows for masked values of a file, of some widths.

    Parameters
    ----------
    attack : StrataAttack
        The values, counted by fold, and the classes of their digits.
    file : Original
    wide : ndarray of shape (widths,)
        In units.
    constant : FullestWindows
        Of each width.
    bits : int
        A cell has 2^bits steps.
    around : ndarray, optional
        Ascending steps around which there are to be cells; None is around the values, or some of them
        where these are spread too far.
    """

    def __init__(
        self, attack: StrataAttack, file: Original, wide: np.ndarray, constant: FullestWindows, bits: int,
        around: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.folded, self.classes, _ = attack
        self.wide = wide
        total = self.folded.counts
        self.table = self.folded.table.astype(np.float64)
        pieces = pieces_around(self.folded.values if around is None else around, self.folded, bits)
        if around is None and pieces.size > MOST_CELLS:
            chosen = systematic_sample(np.cumsum(total), pieces.values_within(MOST_CELLS))[0]
            self.table *= np.bincount(chosen, minlength=total.size) / total
            pieces = pieces_around(self.folded.values[np.unique(chosen)], self.folded, bits)
        self.cells = cells = pieces.cells()
        self.noise = self._noise()
        edges = cells.first.astype(np.float64)
        self.after, self.before, self.ends, self.begins = np.empty((4, wide.size, edges.size))
        for k, width in enumerate(wide):
            self.after[k] = file.share(edges, edges + width)
            self.before[k] = file.share(edges - width, edges)
            self.ends[k] = self._place(edges + width)
            self.begins[k] = self._place(edges - width)
        share, first = constant
        self.constant = np.column_stack([share, self._place(first), self._place(first + wide)])
        self.edges, self.starts = edges, first

    def attacker(self, fold: int) -> swap_posterior.Attacker | None:
        """The attacker who has seen all folds but one; None if there are no others."""
        others = self.folded.counts - self.folded.table[fold]
        if not others.any():
            return None
        return swap_posterior.attacker(learn(self.folded, others, self.classes), self.cells)

    def at(self, points: np.ndarray) -> np.ndarray:
        """The cells of masked values."""
        return self.cells.at(points)[0]

    def best(
        self, attacker: swap_posterior.Attacker, cells: np.ndarray, chances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best windows for masked values in cells, and their posterior mass."""
        lows, highs = self._near(cells)
        choice = np.empty((cells.size, self.wide.size), dtype=np.int64)
        mass = np.empty(choice.shape)
        windows.best_windows(
            cells, chances, lows, highs, attacker.masses, self.noise, self.after, self.before, self.ends,
            self.begins, self.constant, self._between(cells), choice, mass,
        )  # fmt: skip
        return choice, mass

    def shares(self, choice: np.ndarray) -> np.ndarray:
        """The share of all records in the chosen windows."""
        edge, k = np.maximum(choice // 2, 0), np.arange(self.wide.size)
        share = np.where(choice % 2 == 0, self.after[k, edge], self.before[k, edge])
        return np.where(choice == windows.CONSTANT, self.constant[:, 0], share)

    def first(self, choice: np.ndarray) -> np.ndarray:
        """Where the chosen windows begin, in units."""
        begin = self.edges[np.maximum(choice // 2, 0)] - np.where(choice % 2 == 0, 0.0, self.wide)
        return np.where(choice == windows.CONSTANT, self.starts, begin)

    def held(self, choice: np.ndarray, cells: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """The share of masses * noise around masked values that the chosen windows hold."""
        share = np.empty(choice.shape)
        windows.held(
            cells, *self._near(cells), masses, self.noise, self.ends, self.begins, self.constant, choice,
            share
        )  # fmt: skip
        return share

    def risk(self, most: int, folds: int) -> np.ndarray:
        """The share of records closer than d to the guess, for each width, over the first folds."""
        p, total = self.folded.law.p, np.zeros(self.wide.size)
        weight = 0.0
        for k in [k for k in range(len(self.table)) if self.table[k].any()][:folds]:
            attacker = self.attacker(k)
            if attacker is None:
                continue
            points = swap_posterior.outcomes(attacker, self.folded, self.table[k], most, False)
            cells = self.at(points.points)
            chance = swap_posterior.posterior(p, points.law, points.noised) if p else 0.0 * points.law
            choice, _ = self.best(attacker, cells, chance)
            occupied = np.flatnonzero(self.table[k])
            masses = self.cells.histogram(self.folded.values[occupied], self.table[k][occupied])
            share = self.table[k].sum()
            total += share * (
                points.swapped @ self.shares(choice) + points.kept @ self.held(choice, cells, masses)
            )
            weight += share
        return total / weight if weight else np.full(self.wide.size, np.nan)

    # --- private ---

    def _noise(self) -> np.ndarray:
        noise, sigma = self.cells.pieces.noise, self.cells.pieces.sigma
        middle = noise.size // 2
        reach = min(middle, ceil(NEAR[self.folded.law.noise] * sigma) + 1)
        return noise[middle - reach : middle + reach + 1]

    def _near(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells within reach of the noise, of the same piece."""
        offsets, reach = self.cells.offsets, self.noise.size // 2
        piece = np.searchsorted(offsets, cells, side="right") - 1
        return np.maximum(cells - reach, offsets[piece]), np.minimum(cells + reach + 1, offsets[piece + 1])

    def _place(self, units: np.ndarray) -> np.ndarray:
        """Where units lie in cells, at the end of a piece where they lie between two."""
        starts, offsets = self.cells.pieces.starts, self.cells.offsets
        where = np.ceil(units) / self.cells.width
        piece = np.maximum(np.searchsorted(starts, np.floor(where), side="right") - 1, 0)
        return np.asarray(np.clip(where - starts[piece] + offsets[piece], offsets[piece], offsets[piece + 1]))

    def _between(self, cells: np.ndarray) -> np.ndarray:
        """Edges where wide windows around masked values may begin as well."""
        reach = self.edges[np.minimum(cells + self.noise.size // 2, self.edges.size - 1)]
        far = self.wide > float(np.median(reach - self.edges[cells]))
        if not far.any():
            return np.empty((cells.size, self.wide.size, 0), dtype=np.int64)
        back = np.arange(1, BETWEEN) / BETWEEN * self.wide[:, None]
        places = self._place(self.edges[cells][:, None, None] - back)
        return np.minimum(places.astype(np.int64), self.edges.size - 1)
