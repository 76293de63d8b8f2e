r"""Which originals a release shows unchanged, and what equal values give away.

At a point of the grid where c originals lie, and m masked values of kept records are expected, the values of
swapped records are :math:`p c` in expectation, and their number is about a Poisson one (binomial for a
permutation, which takes no value twice). Of a file without equal values on a fine grid, donors drawn anew
print the share 1 - e^-p of all originals; p (1 - e^-p) of all records agree with another one, and all of
these were swapped.
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure.convolution import pieces_around
from condmask.disclosure.credible_window import MOST_CELLS
from condmask.disclosure.folds import FoldCounts
from condmask.disclosure.original import ONES, Original
from condmask.distribution.counting import count


class Verbatim(NamedTuple):
    """Shares, from 0 to 1; NaN for a share of nothing.

    Attributes
    ----------
    share : float
        The share of the originals, as rounded to the grid, whose value occurs somewhere in the release.
    tied : float
        The share of the masked values that another record shows, too.
    swapped_if_tied, swapped_if_untied : float
        The share of swapped records among those with such a value, and among the others. If ties show
        nothing, both are p.
    """

    share: float
    tied: float
    swapped_if_tied: float
    swapped_if_untied: float

    def lines(self) -> list[str]:
        """The shares as lines of a text."""
        tied, untied = self.swapped_if_tied, self.swapped_if_untied
        return [
            f"{self.share:.1%} of the original values occur somewhere in the release",
            f"{self.tied:.1%} of the released values occur more than once; of these "
            f"{'none' if np.isnan(tied) else f'{tied:.1%}'} were swapped, of the others "
            f"{'none' if np.isnan(untied) else f'{untied:.1%}'}",
        ]


def expected(file: Original, *, shared_donors: bool) -> Verbatim:
    """The shares expected in a release of the file."""
    p, n, (places, below) = file.law.p, file.n, file.counted
    counts = np.diff(below)
    folded = FoldCounts(places.astype(np.int64), counts[None], file.law)
    noised, alike = _kept(folded, counts, 1.0 - p)
    none = np.exp(-noised) * (np.exp(-p * counts) if shared_donors else (1.0 - p) ** counts)
    others = none if shared_donors else none / (1.0 - p)
    swapped_tied = float(p * counts @ (1.0 - others))
    tied = swapped_tied + alike + float(noised @ (np.exp(-noised) - none))
    return _shares(float(counts @ (1.0 - none)) / n, tied / n, swapped_tied / n, p)


def in_release(file: Original, z: np.ndarray, *, shared_donors: bool) -> Verbatim:
    """The shares in a release, z in units of the law; which of its records were swapped is as expected."""
    shown = count(z, ONES)[0]
    tied = float(shown.counts[shown.counts > 1].sum() / z.size)
    return expected(file, shared_donors=shared_donors)._replace(share=file.occurring(shown.values), tied=tied)


def _shares(verbatim: float, tied: float, swapped_tied: float, p: float) -> Verbatim:
    rest = 1.0 - tied
    return Verbatim(
        float(verbatim), float(tied), swapped_tied / tied if tied > 1e-9 else float("nan"),
        (p - swapped_tied) / rest if rest > 1e-9 else float("nan"),
    )  # fmt: skip


def _kept(folded: FoldCounts, counts: np.ndarray, share: float) -> tuple[np.ndarray, float]:
    """How many kept records are expected at each original, and how many of all agree with another one."""
    steps, pieces = folded.values, pieces_around(folded.values, folded)
    if pieces.size <= MOST_CELLS:
        cells = pieces.cells()
        noised = share * cells.convolved(cells.histogram(steps, counts.astype(np.float64)))
        per_step = noised / cells.width
        at_steps = cells.interpolated(noised, steps, cells.at(steps)[0]) / cells.width
        return at_steps, float(noised @ -np.expm1(-per_step))
    at_steps, lot = np.empty(steps.size), pieces.values_within(MOST_CELLS)
    for start in range(0, steps.size, lot):
        some = steps[start : start + lot]
        cells = pieces_around(some, folded).cells()
        reach = cells.reach * cells.width
        first, last = np.searchsorted(steps, (some[0] - reach, some[-1] + reach + 1))
        inside = first + np.flatnonzero(cells.at(steps[first:last])[1])
        noised = cells.convolved(cells.histogram(steps[inside], counts[inside].astype(np.float64)))
        at_some = cells.interpolated(noised, some, cells.at(some)[0])
        at_steps[start : start + lot] = share * at_some / cells.width
    return at_steps, float(share * counts @ -np.expm1(-at_steps))  # kept ones lie about where originals do
