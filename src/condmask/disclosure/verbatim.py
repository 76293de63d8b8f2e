r"""What of the originals a release prints as it is, and what equal values tell.

At a point of the grid where c originals lie, and m masked values of kept records are expected, the values of
swapped records are :math:`p c` in expectation, and their number is about a Poisson one (binomial for a
permutation, which takes no value twice). Of a file without equal values on a fine grid, donors drawn anew
print the share 1 - e^-p of all originals; p (1 - e^-p) of all records agree with another one, and all of
these were swapped.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure import swap_posterior
from condmask.disclosure.credible_window import MOST_CELLS, room
from condmask.disclosure.original import Original


class Printed(NamedTuple):
    """Shares, from 0 to 1; NaN where there are none of those of which it is the share.

    Attributes
    ----------
    verbatim : float
        Of the originals, as rounded to the grid: those whose value stands somewhere in the release.
    tied : float
        Of the masked values: those that another record shows, too.
    swapped_if_tied, swapped_if_untied : float
        Of those that do and of the others: the swapped ones. Without a look it is p of either.
    """

    verbatim: float
    tied: float
    swapped_if_tied: float
    swapped_if_untied: float

    def lines(self) -> list[str]:
        """For a reader."""
        tied, untied = self.swapped_if_tied, self.swapped_if_untied
        return [
            f"originals whose value is printed {self.verbatim:.1%}",
            f"masked values that recur {self.tied:.1%}; swapped are "
            f"{'none' if np.isnan(tied) else f'{tied:.1%}'} of these and "
            f"{'none' if np.isnan(untied) else f'{untied:.1%}'} of the others",
        ]


def expected(file: Original, *, shared_donors: bool) -> Printed:
    """In a release of the file."""
    p, n, (places, below) = file.law.p, file.n, file.counted
    counts = np.diff(below)
    problem = swap_posterior.Problem(places.astype(np.int64), counts[None], file.law)
    noised, alike = _kept(problem, counts, 1.0 - p)
    none = np.exp(-noised) * (np.exp(-p * counts) if shared_donors else (1.0 - p) ** counts)
    others = none if shared_donors else none / (1.0 - p)
    swapped_tied = float(p * counts @ (1.0 - others))
    tied = swapped_tied + alike + float(noised @ (np.exp(-noised) - none))
    return _shares(float(counts @ (1.0 - none)) / n, tied / n, swapped_tied / n, p)


def found(file: Original, z: np.ndarray, *, shared_donors: bool) -> Printed:
    """In a release, z in units of the law; which of its records were swapped is as expected."""
    _, place, counts = np.unique(z, return_inverse=True, return_counts=True)
    share, tied = float(np.isin(file.units, z).mean()), float((counts[place] > 1).mean())
    return expected(file, shared_donors=shared_donors)._replace(verbatim=share, tied=tied)


def _shares(printed: float, tied: float, swapped_tied: float, p: float) -> Printed:
    rest = 1.0 - tied
    return Printed(
        float(printed), float(tied), swapped_tied / tied if tied > 1e-9 else float("nan"),
        (p - swapped_tied) / rest if rest > 1e-9 else float("nan"),
    )  # fmt: skip


def _kept(problem: swap_posterior.Problem, counts: np.ndarray, share: float) -> tuple[np.ndarray, float]:
    """How many kept records are expected at each original, and how many of all agree with another one."""
    steps, pieces = problem.values, swap_posterior.pieces_around(problem.values, problem)
    if pieces.cells <= MOST_CELLS:
        cells = swap_posterior.cells_around(steps, problem)
        width = 1 << cells.bits
        noised = share * cells.noised(cells.counted(steps, counts.astype(np.float64)))
        each = noised / width
        return cells.around(noised, steps, cells.at(steps)[0]) / width, float(noised @ -np.expm1(-each))
    found, lot = np.empty(steps.size), room(pieces)
    for start in range(0, steps.size, lot):
        own = steps[start : start + lot]
        cells = swap_posterior.cells_around(own, problem)
        reach = cells.reach << cells.bits
        first, last = np.searchsorted(steps, (own[0] - reach, own[-1] + reach + 1))
        inside = first + np.flatnonzero(cells.at(steps[first:last])[1])
        noised = cells.noised(cells.counted(steps[inside], counts[inside].astype(np.float64)))
        found[start : start + lot] = share * cells.around(noised, own, cells.at(own)[0]) / (1 << cells.bits)
    return found, float(share * counts @ -np.expm1(-found))  # kept ones lie about where originals do
