"""A file as the publisher has it, counted where its values lie: what every attacker is measured on.

On a grid values are counted in whole steps, where no difference is rounded.
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._grid import Grid, default_step, grid_of
from condmask.disclosure.attack import Rows
from condmask.disclosure.coins import fold_of, folds_for
from condmask.engines.counting import count
from condmask.grids import check_fits
from condmask.law import Law
from condmask.levels import class_units, classes
from condmask.missing import without_codes

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
        p and the noise; with a grid.
    """

    def __init__(self, units: np.ndarray, kind: str, law: Law) -> None:
        self.units, self.kind, self.law = units, kind, law
        self.n = units.size

    @cached_property
    def values(self) -> np.ndarray:
        """As they are masked, in the units of the data."""
        return self.law.from_units(self.units)

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct positions, ascending, and the number of records before each and in all."""
        if self.steps is not None:
            found = count(self.units, ONES)[0]
            return found.values, found.below
        places, counts = [], []
        for code, at, held in self.by_class:  # negative amounts ascend as their logarithms descend
            values = self.law.from_units(class_units(code, at.astype(np.float64), self.law))
            turned = slice(None, None, -1 if code == 0 else 1)
            places.append(values[turned])
            counts.append(held[turned])
        first = np.concatenate(places)
        shown = np.flatnonzero(np.diff(first, prepend=np.nan) != 0.0)  # decimals may show several alike
        return first[shown], np.append(0, np.cumsum(np.add.reduceat(np.concatenate(counts), shown)))

    @cached_property
    def by_class(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """The classes of the values, the steps at which they lie, ascending, and how many lie at each."""
        if self.law.is_plain:
            places, below = self.counted
            return [(0, places.astype(np.int64), np.diff(below))]
        code, at = classes(self.units, self.law)
        found = []
        for each in np.flatnonzero(np.bincount(code)).tolist():
            counted = count(at[code == each], ONES)[0]
            found.append((each, counted.values.astype(np.int64), counted.counts))
        return found

    @property
    def steps(self) -> Grid | None:
        """The grid whose steps positions are; None where they are amounts, on the log scale."""
        return self.law.grid if isinstance(self.law.grid, Grid) else None

    @property
    def positions(self) -> np.ndarray:
        """Of each record: whole steps of the grid, or amounts on the log scale."""
        return self.values if self.steps is None else self.units

    def at(self, x: np.ndarray) -> np.ndarray:
        """The positions of any numbers."""
        return x if self.steps is None else np.asarray(x / self.steps.step)

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """The numbers at positions."""
        return positions if self.steps is None else np.asarray(positions * self.steps.step)

    def near(self, d: np.ndarray) -> np.ndarray:
        """How far apart two positions must not be, for less than d."""
        return d if self.steps is None else self.steps.above(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        """The half-open width of an interval of less than d to either side."""
        return 2.0 * d if self.steps is None else self.steps.above(2.0 * d)

    def share(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The share of records at positions from first on and before last."""
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
    """A column in units of the law of a scheme, where it is present, its kind, and the law with a grid."""
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
        units = scheme.canonical(known, name, column.kind)
    return units, there, column.kind, law
