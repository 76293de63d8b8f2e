"""The records on which an attacker is tried, and maskings of them whose coins are known."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import in_stretches
from condmask._randomness import seeded_key
from condmask.disclosure.units import TURNS
from condmask.disclosure.unmasked import MAX_EXAMINED_ROWS, ORDER, Clear, Table
from condmask.masking.draws import toss
from condmask.strata import make_pools

USE = b"attack"  # of the keys: no release has one of them
STRETCH_ROWS = 8  # rows of one half, where there are no units
# of the order of the rows, which tells values where rows are sorted by them and others
STRETCHES = 64
MIN_UNITS = 100  # units: fewer are categories, of which anybody knows what is usual
LARGE_UNIT_RECORDS = 20  # of such records no unit is halved whole
NORMAL_DECILE_RANGE = 2.563  # standard deviations of the normal law between its deciles


class Sample(NamedTuple):
    """Some records of a table, halved by unit.

    Attributes
    ----------
    table : Table
        In these records alone.
    clear : Clear
    block : ndarray of shape (m,)
        The unit of each record, or its stretch of rows; whole ones are in one half.
    half : ndarray of shape (m,)
        0 or 1.
    """

    table: Table
    clear: Clear
    block: np.ndarray
    half: np.ndarray

    @property
    def alone(self) -> bool:
        """Whether a single masked column has nothing beside it."""
        return len(self.table.values) == 1 and not (self.clear.numbers or self.clear.labels)


def sample_of(table: Table, *, shuffled: bool = False) -> Sample:
    """The records in which columns in clear were looked at, or some from all over; or in a new
    order."""
    clear = table.clear or Clear(in_stretches(table.n, MAX_EXAMINED_ROWS))
    rows = clear.rows
    order = np.random.default_rng(0).permutation(rows.size) if shuffled else np.arange(rows.size)
    values = {name: x[rows][order] for name, x in table.values.items()}
    if shuffled:
        clear = clear.without((), values, order)
    elif clear.numbers or clear.labels:
        clear = clear._replace(labels={**clear.labels, ORDER: order * STRETCHES // rows.size})
    pool = None if table.pool is None else table.pool[rows][order].astype(np.int64)
    some = table._replace(values=values, pool=pool, clear=clear)
    units = (
        unit for name, unit in clear.units.items() if TURNS not in name and unit.max() >= MIN_UNITS
    )
    unit = next(units, np.full(rows.size, -1))
    # none fills a half
    unit = np.where(np.bincount(unit + 1)[unit + 1] * LARGE_UNIT_RECORDS > rows.size, -1, unit)
    block = np.where(unit >= 0, unit, np.arange(rows.size) // STRETCH_ROWS + unit.max() + 1)
    block = np.unique(block, return_inverse=True)[1]
    half = np.random.default_rng(0).permutation(np.arange(block.max() + 1) % 2)[block]
    return Sample(some, clear, block, half)


def line_of(x: np.ndarray, scheme: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The line on which noise is added, in spreads of a column; on the log scale zero lies below
    others."""
    line = _unscaled(x, scheme)
    unit = spread_of(x, scheme)
    return lambda values: line(values) / unit


def spread_of(x: np.ndarray, scheme: Any) -> float:
    """How far a column spreads on the line on which noise is added."""
    return spread(_unscaled(x, scheme)(x[~np.isnan(x)]))


def spread(places: np.ndarray) -> float:
    """A standard deviation by the deciles: of numbers, or where most are 0 of the others."""
    for some in (places, places[places != 0.0]):
        low, high = np.quantile(some, (0.1, 0.9)) if some.size else (0.0, 0.0)
        if high > low:
            return float(high - low) / NORMAL_DECILE_RANGE
    return 1.0


def _unscaled(x: np.ndarray, scheme: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The line on which noise is added, in its own units."""
    if not is_log(scheme):
        return np.asarray
    least = 0.5 * np.abs(x).min(initial=np.inf, where=(x < 0.0) | (x > 0.0))
    return lambda values: np.sign(values) * np.log(np.maximum(np.abs(values) / least, 1.0))


def two_digits(value: float) -> float:
    """A number in two digits."""
    return float(f"{value:.2g}")


def is_log(scheme: Any) -> bool:
    """Whether noise is added to logarithms."""
    return bool(scheme.reverse_mapping and scheme.scale == "log")


def draw(
    sample: Sample, schemes: dict[str, Any], number: int
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Released values by column, and who was swapped, in the masking of that number, always the
    same.

    Each half is masked by itself.
    """
    table = sample.table
    first = next(iter(schemes.values()))
    key = seeded_key(number, USE)
    present = table.code >= 0
    pool = np.maximum(table.code, 0)
    size = np.bincount(
        2 * pool[present] + sample.half[present], minlength=2 * (int(pool.max()) + 1)
    )
    halved = size.reshape(-1, 2).min(axis=1) > 1
    pools = make_pools(2 * pool + np.where(halved[pool], sample.half, 0), present)
    x = table.values
    units = [
        of.law.to_units(x[name]) if of.law else x[name].copy() for name, of in schemes.items()
    ]
    masked = first.masked_columns([*schemes.values()], units, key, pools, 1)
    swapped = np.zeros(table.n, dtype=bool)
    swapped[toss(key, first.p, table.n, 1).swapped] = True
    return dict(zip(schemes, masked, strict=True)), swapped
