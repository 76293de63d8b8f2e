"""Fit the best attacker to simulated releases.

Anyone who knows the values of a file, and how it is masked, can mask it again and again, and see
which originals belong to released values like a given one. Here `MIN_RELEASED_VALUES` or more are
divided into cells of about `CELL_VALUES`; frequent values have a cell of their own. In each cell
the attacker names the interval of width 2 d that contains most originals, and is scored on other
maskings. This needs no law of a scheme.

Approximation: never better than the best attacker. It falls short because the released values of a
cell differ and few records determine an interval: by some 1% of the risk for additive noise and
reverse mapping, where the best is known, and by up to 8% where an interval contains only 5% of the
file. The attacker knows the values of the file but not who has them, sees one released value at a
time, and does not use digits, which are left to the audit.
"""

import numpy as np

from condmask.kernels import windows
from condmask.masking.scheme import Scheme

MIN_RELEASED_VALUES = 200_000  # to learn from, and as many to be scored on
CELL_VALUES = 1_000


class FittedAttacker:
    """The best attacker on one file, fitted to releases of it.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Originals.
    others : sequence of ndarray of shape (n,)
        Columns that are not masked, which some schemes use.
    d : float
        A guess closer than d to the original is a hit.
    """

    def __init__(self, x: np.ndarray, others: list[np.ndarray], d: float) -> None:
        order = np.argsort(x, kind="stable")
        rows = -(-MIN_RELEASED_VALUES // x.size)
        self.x: np.ndarray = np.tile(x[order], (rows, 1))
        self.others: list[np.ndarray] = [np.tile(column[order], (rows, 1)) for column in others]
        self.width: float = 2.0 * d
        # of each record in as many maskings, from the smallest original up
        self.originals: np.ndarray = np.repeat(self.x[0], rows)

    def constant(self) -> float:
        """Return the share of records closer than d to the best constant guess."""
        values = self.x[0]
        last = np.searchsorted(values, values + self.width)
        return float((last - np.arange(values.size)).max() / values.size)

    def risk(self, scheme: Scheme, stream: np.random.Generator) -> float:
        """Return the share of records that the attacker guesses closer than d, at least that of
        simple attackers."""
        one, two = (
            scheme.mask_rows(self.x, stream, tuple(self.others)).T.ravel() for _ in range(2)
        )
        best = 0.5 * (self._hit(one, two) + self._hit(two, one))
        near = float(np.mean(np.abs(two - self.originals) < 0.5 * self.width))
        return max(best, near, self.constant())

    def _hit(self, learned: np.ndarray, scored: np.ndarray) -> float:
        edges = _cell_edges(learned)
        cell = np.searchsorted(edges, learned, side="right") - 1
        ends = np.append(0, np.cumsum(np.bincount(cell, minlength=edges.size)))
        order = np.argsort(cell.astype(np.uint16), kind="stable")
        first = np.empty(edges.size)
        windows.fullest(ends, self.originals[order], self.width, first)
        begins = first[np.maximum(np.searchsorted(edges, scored, side="right") - 1, 0)]
        return float(np.mean((begins <= self.originals) & (self.originals < begins + self.width)))


def _cell_edges(z: np.ndarray) -> np.ndarray:
    """Return the released values at which cells begin, ascending."""
    values, counts = np.unique(z, return_counts=True)
    cell = (np.cumsum(counts) - 0.5 * counts) // CELL_VALUES
    often = counts >= CELL_VALUES // 2
    begins = np.diff(cell, prepend=-1.0) > 0.0
    begins |= often
    begins[1:] |= often[:-1]
    return np.asarray(values[begins])
