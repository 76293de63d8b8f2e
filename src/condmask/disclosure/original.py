"""A file as the publisher has it, counted where its values lie: what every attacker is measured on.

Values are counted in whole steps of a grid, where no difference is rounded.
"""

from functools import cached_property
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import blocks
from condmask.distribution.counting import by_value, count
from condmask.grid import Grid, check_fits, default_step, grid_of, nearest
from condmask.law import Law
from condmask.missing_codes import without_codes

ONES = Grid(1.0, 1.0)


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
        """The originals as they are masked, in the units of the data."""
        return self.law.from_units(self.units)

    @cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct units, ascending, and the number of records before each and in all."""
        counts = count(self.units, ONES)[0]
        return counts.values, counts.below

    def near(self, d: np.ndarray) -> np.ndarray:
        """How far apart two units must not be, for less than d."""
        return self.grid.above(d)

    def wide(self, d: np.ndarray) -> np.ndarray:
        """The half-open width, in units, of an interval of less than d to either side."""
        return self.grid.above(2.0 * d)

    def share(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The share of records at units from first on and before last."""
        places, below = self.counted
        records = below[np.searchsorted(places, last)] - below[np.searchsorted(places, first)]
        return np.asarray(records / self.n)

    def occurring(self, values: np.ndarray) -> float:
        """The share of records whose value is one of these distinct ascending ones."""
        (places, below), records = self.counted, 0
        for start, stop in blocks(places.size):
            some, counts = places[start:stop], np.diff(below[start : stop + 1])
            at = np.minimum(np.searchsorted(values, some), values.size - 1)
            records += int(counts[values[at] == some].sum())
        return records / self.n

    # the line on which noise is added: whole steps, where nothing else is said

    @property
    def noise_width(self) -> float:
        """The s.d. of the noise on its line."""
        return self.law.sigma / self.grid.step

    def positions(self, rows: np.ndarray) -> np.ndarray:
        """Where the originals of some records lie on the line on which noise is added."""
        return np.asarray(self.units[rows])

    def released_positions(self, z: np.ndarray) -> np.ndarray:
        """Where released values lie on that line."""
        return z

    def units_at(self, positions: np.ndarray) -> np.ndarray:
        """The units at positions on that line."""
        return positions

    def some(self, rows: np.ndarray) -> "Original":
        """The originals of some records."""
        return Original(self.units[rows], self.kind, self.law)


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, ascending, and the number of records before each and in all."""
    ascending = np.empty(values.size)
    ascending[:] = values
    ascending.sort()
    counts = by_value(ascending)
    return counts.values, counts.below


def units_of(x: Any, scheme: Any, name: str = "x") -> tuple[np.ndarray, np.ndarray, str, Law]:
    """A column in units of the law of a scheme, where it is present, its kind, and the law with a grid.

    Data off the grid are those of a release for which they are rounded.
    """
    column = frames.column(x, name)
    values = without_codes(column.array, scheme.codes, column.kind)
    _checks.has_gaps(values, name, "omit")
    present = ~np.isnan(values)
    values = values[present]
    if scheme.reverse_mapping:
        return values, present, column.kind, Law(scheme.p, scheme.noise, scheme.sigma)
    law = scheme.law
    if law.grid is None:  # digits are not looked at then
        law = law._replace(grid=grid_of(default_step(law.sigma)))
        check_fits(values, law, name, column.kind)
        units = law.to_units(values)
    else:
        values = nearest(values, law.grid, column.kind)
        units = scheme.canonical(values, name, column.kind)
    return units, present, column.kind, law
