"""A file as the publisher has it, counted where its values lie: what every attacker is measured on.

Values are counted in whole steps of a grid, where no difference is rounded.
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._grid import Grid, default_step, grid_of, nearest
from condmask.disclosure.swap_attack import Rows
from condmask.disclosure.swap_posterior import fold_of, folds_for
from condmask.engines.counting import count
from condmask.grids import check_fits
from condmask.law import Law
from condmask.missing_codes import without_codes

ONES = Grid(1.0, 1.0)
MOST = 1 << 17  # records that the best attacker is tried on; evenly spaced ones where there are more


class Original:
    """The values of one donor pool, none missing.

    Parameters
    ----------
    units : ndarray of shape (n,)
        In units of the law.
    kind : str
        What the container held.
    law : Law
        p and the noise; with a grid, but under reverse mapping.
    """

    def __init__(self, units: np.ndarray, kind: str, law: Law) -> None:
        self.units, self.kind, self.law = units, kind, law
        self.n, self.grid = units.size, law.grid or ONES

    @cached_property
    def values(self) -> np.ndarray:
        """As they are masked, in the units of the data."""
        return self.law.from_units(self.units)

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct units, ascending, and the number of records before each and in all."""
        found = count(self.units, ONES)[0]
        return found.values, found.below

    def near(self, d: np.ndarray) -> np.ndarray:
        """How far apart two units must not be, for less than d."""
        return self.grid.above(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        """The half-open width, in units, of an interval of less than d to either side."""
        return self.grid.above(2.0 * d)

    def share(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The share of records at units from first on and before last."""
        places, below = self.counted
        found = below[np.searchsorted(places, last)] - below[np.searchsorted(places, first)]
        return np.asarray(found / self.n)

    def rows(self, most: int = MOST) -> Rows:
        """The records that are looked at, and the folds they are in."""
        chosen = evenly_spaced(self.n, most)
        folds = folds_for(chosen.size)
        return Rows(chosen, fold_of(chosen.size, folds), folds)

    def some(self, rows: np.ndarray) -> "Original":
        """Some records."""
        return Original(self.units[rows], self.kind, self.law)


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Rows, all where there are no more than so many."""
    if n <= most:
        return np.arange(n)
    return (np.arange(most) * (n / most)).astype(np.int64)


def taken(x: Any, scheme: Any, name: str = "x") -> tuple[np.ndarray, np.ndarray, str, Law]:
    """A column in units of the law of a scheme, where it is present, its kind, and the law with a grid.

    Data off the grid are those of a release for which they are rounded.
    """
    column = frames.column(x, name)
    values = without_codes(column.array, scheme.missing, column.kind)
    there = _checks.present(values, name, "omit")
    there = np.ones(values.size, dtype=bool) if there is None else there
    known = np.ascontiguousarray(values[there])
    if scheme.reverse_mapping:
        return known, there, column.kind, Law(scheme.p, scheme.noise, scheme.sigma)
    law = scheme.law
    if law.grid is None:  # digits are not looked at then
        law = law._replace(grid=grid_of(default_step(law.sigma)))
        check_fits(known, law, name, column.kind)
        units = law.to_units(known)
    else:
        units = scheme.canonical(nearest(known, law.grid, column.kind), name, column.kind)
    return units, there, column.kind, law
