"""Derive columns from columns in clear: pairs of them, and what a unit or an order adds.

Sums, differences, products and quotients of two columns; values of the record before and after in
a unit, rises, running sums, means and sizes of units. Those that tell most of a masked column,
beyond what the columns themselves tell, are added to them one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.encode import Columns, Encoded, column_of
from condmask.disclosure.table.neighbours import Group, standard
from condmask.disclosure.table.order import MAX_DERIVING, Within

SIGNS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
MAX_PAIRED_COLUMNS = 60
MAX_PAIRED_ANYWAY = 6  # columns of which each pair is formed, whether it holds in some rows or not
TRIED_ROWS = 250
MIN_TRIED_SHARE = 0.05  # of the tried rows, in which a pair must be the masked value
MIN_PRESENT = 0.3  # of the records
SCREENED_ROWS = 1_500
MIN_EQUAL_SHARE = 0.02  # of the screened rows, to be looked at as an exact relation
SCREEN = 3.0  # standard errors of a correlation, to be looked at in all rows
CERTAINTY = 4.5  # standard errors of a correlation, to be used
MAX_ADDED = 10
MAX_COMPARED = 48  # derived columns, the most alike ones
SINGULAR = 1e-10  # of the largest eigenvalue


class Derived(NamedTuple):
    """A column that follows from others.

    Attributes
    ----------
    text : str
        How, in words that messages use.
    values : ndarray of shape (m,)
        NaN where it is not defined.
    """

    text: str
    values: np.ndarray


def pairs(encoded: Encoded, x: np.ndarray, tolerance: float) -> Iterator[Derived]:
    """Yield two columns put together: of the first ones, and wherever the result is the masked
    column in some records."""
    names = list(encoded.numbers)[:MAX_PAIRED_COLUMNS]
    rows = np.arange(0, x.size, max(1, x.size // TRIED_ROWS))
    part = np.array([encoded.numbers[name][rows] for name in names]).reshape(-1, rows.size)
    with np.errstate(all="ignore"):
        for sign, combine in SIGNS.items():
            for i, one in enumerate(names):
                off = np.abs(combine(part[i], part) - x[rows])
                shares = np.mean(off <= tolerance, axis=1)
                for j, other in enumerate(names):
                    once = i < j or (i > j and sign in "-/")
                    if once and (shares[j] > MIN_TRIED_SHARE or max(i, j) < MAX_PAIRED_ANYWAY):
                        both = combine(encoded.numbers[one], encoded.numbers[other])
                        values = np.where(np.isfinite(both), both, np.nan)
                        yield Derived(f"{one} {sign} {other}", values)


def of_units(
    encoded: Encoded, units: Sequence[Group], orders: Columns, of_unit: Mapping[str, Within]
) -> Iterator[Derived]:
    """Yield what units and orders, among all and within each unit, add to some columns."""
    for unit in units:
        by_name, numbers = of_unit[unit.name]
        size = np.bincount(unit.codes)[unit.codes].astype(np.float64)
        yield Derived(f"size of {unit.name}", size)
        for name, x in numbers.items():
            known = ~np.isnan(x)
            total = np.bincount(unit.codes, np.where(known, x, 0.0))
            count = np.maximum(np.bincount(unit.codes, known), 1)
            mean = (total / count)[unit.codes]
            yield Derived(f"mean of {name} in {unit.name}", mean)
            # where a column is the mean of the others, this is the value itself
            yield Derived(f"others of {name} in {unit.name}", mean - (size - 1.0) * (x - mean))
        for by, values in by_name.items():
            yield from _in_order(numbers, np.lexsort((values, unit.codes)), unit, by)
    names = sorted(encoded.numbers, key=lambda name: column_of(name) != name)[:MAX_DERIVING]
    numbers = {name: encoded.numbers[name] for name in names}
    whole = Group("", np.zeros(encoded.n, dtype=np.int64))
    for by, values in orders.items():
        yield from _in_order(numbers, np.lexsort((values, whole.codes)), whole, by)


def _in_order(numbers: Columns, order: np.ndarray, unit: Group, by: str) -> Iterator[Derived]:
    """Yield values before and after, rises and running sums in an order of a unit's records."""
    codes = unit.codes[order]
    starts = np.concatenate(([True], codes[1:] != codes[:-1]))
    ends = np.append(starts[1:], True)
    first = np.maximum.accumulate(np.where(starts, np.arange(codes.size), 0))
    where = f" by {by}" + (f" in {unit.name}" if unit.name else "")
    for name, x in numbers.items():
        here = x[order]
        before = np.where(starts, np.nan, np.roll(here, 1))
        after = np.where(ends, np.nan, np.roll(here, -1))
        running = np.cumsum(np.nan_to_num(here))
        total = running - running[first] + np.nan_to_num(here[first])
        kinds = {
            f"{name} of the record before": before,
            f"{name} of the record after": after,
            f"the rise of {name} from the record before": here - before,
            f"the fall of {name} from the record after": here - after,
            f"the running sum of {name}": total,
        }
        for text, values in kinds.items():
            column = np.empty(values.size)
            column[order] = values
            yield Derived(text + where, column)


class Gathering:
    """Gathers the derived columns that may tell something of one masked column.

    Parameters
    ----------
    x, z : ndarray of shape (m,)
        The masked column in units of the data, and standardized.
    base : ndarray of shape (m, k)
        The columns in clear, standardized, and what they tell on other scales.
    slack : float
        How far off an exact relation may be.
    """

    def __init__(self, x: np.ndarray, z: np.ndarray, base: np.ndarray, slack: float) -> None:
        self.equal: list[Derived] = []
        self._x = x
        self._slack = slack
        self._basis = orthogonal(base) if base.size else np.empty((z.size, 0))
        self._left = z - self._basis @ (self._basis.T @ z)
        self._rows = np.arange(0, z.size, max(1, z.size // SCREENED_ROWS))
        self._kept: list[tuple[float, Derived]] = []

    def offer(self, column: Derived) -> None:
        """Take a column if it is alike, or equal in some records, in some of the rows."""
        rows = self._rows
        values = column.values[rows]
        present = ~np.isnan(values)
        if np.mean(np.abs(values - self._x[rows]) <= self._slack) > MIN_EQUAL_SHARE:
            self.equal.append(column)
        if np.mean(present) >= MIN_PRESENT:
            alike = abs(_likeness(standard(values), self._left[rows]))
            if alike > SCREEN / np.sqrt(rows.size):
                self._kept.append((-alike, column))

    def selected(self) -> list[Derived]:
        """Return the columns that tell what the columns in clear do not, one after the other."""
        kept = [each for _, each in sorted(self._kept, key=lambda one: one[0])[:MAX_COMPARED]]
        m = self._left.size
        vectors = np.array([standard(each.values) for each in kept]).reshape(-1, m)
        vectors -= (vectors @ self._basis) @ self._basis.T
        return _forward(kept, vectors, self._left)


def orthogonal(base: np.ndarray) -> np.ndarray:
    """Return orthogonal columns of length 1 that span those of a matrix."""
    sizes, directions = np.linalg.eigh(base.T @ base)
    large = sizes > SINGULAR * sizes[-1]
    return np.asarray(base @ (directions[:, large] / np.sqrt(sizes[large])))


def _likeness(one: np.ndarray, other: np.ndarray) -> float:
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size > 0.0 else 0.0


def _forward(columns: Sequence[Derived], vectors: np.ndarray, left: np.ndarray) -> list[Derived]:
    """Return the columns that a forward selection takes, orthogonal to those before."""
    chosen: list[Derived] = []
    least = CERTAINTY / np.sqrt(left.size)
    floor = 1e-4 * np.sqrt(left.size)
    for _ in range(MAX_ADDED):
        if not columns:
            break
        norms = np.sqrt(np.sum(vectors * vectors, axis=1))
        size = max(float(np.sqrt(left @ left)), 1e-9)
        alike = np.abs(vectors @ left) / np.maximum(norms, floor) / size
        best = int(np.argmax(alike))
        if alike[best] < least:
            break
        chosen.append(columns[best])
        direction = vectors[best] / norms[best]
        left = left - direction * float(direction @ left)
        vectors = vectors - np.outer(vectors @ direction, direction)
    return chosen
