"""Rows of a table as they are where all of them are swapped, and where all are kept.

Masked values of a swapped record are those of another one of its donor pool, all of them of one donor; a kept
one has noise of its own in each column, or under reverse mapping the values at its places in the order of the
values with noise. Columns in clear stay where they are.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure import simulated_maps
from condmask.disclosure.identity import Table
from condmask.disclosure.swap_attack import ColumnAttack
from condmask.strata import crossed


class Redrawn(NamedTuple):
    """Masked columns in both ways, and by column what it tells by itself: logarithms of likelihood ratios.

    Arrays of shape (2, n): of swapped, and of kept records.
    """

    values: Table
    ratios: Table

    def released(self, swapped: np.ndarray) -> "Redrawn":
        """What records of these coins show, of shape (n,)."""
        values, ratios = (
            {name: np.where(swapped, both[0], both[1]) for name, both in table.items()}
            for table in (self.values, self.ratios)
        )
        return Redrawn(values, ratios)


def redrawn(
    values: Table, schemes: dict[str, Any], strata: np.ndarray | None, columns: dict[str, ColumnAttack],
    fold: np.ndarray, stream: np.random.Generator,
) -> Redrawn:  # fmt: skip
    """Rows drawn anew in both ways.

    `columns` are the attacks on single columns, none under reverse mapping; `fold` is that of each row.
    """
    present = {name: ~np.isnan(x) for name, x in values.items()}
    pools = _pools(list(present.values()), strata)
    donor = _donors(pools, stream)
    both: Table = {}
    ratios: Table = {}
    for name, scheme in schemes.items():
        x, rows = values[name], np.flatnonzero(present[name])
        if scheme.reverse_mapping:
            both[name] = np.stack((x[donor], _rearranged(x, rows, pools, scheme, stream)))
            ratios[name] = np.zeros((2, x.size))
            continue
        law, column = scheme.law, columns[name]
        original = law.to_units(x[rows])
        both[name], ratios[name] = np.full((2, x.size), np.nan), np.zeros((2, x.size))
        units = np.full(x.size, np.nan)
        units[rows] = original
        code = np.zeros(x.size, dtype=np.int64) if strata is None else strata
        for way, (shown, of) in enumerate(
            ((units[donor[rows]], donor[rows]), (original + law.draw(stream, rows.size), rows))
        ):
            both[name][way, rows] = law.from_units(shown)
            ratios[name][way, rows] = column.log_ratios(shown, code[of], fold[of])
    return Redrawn(both, ratios)


def _pools(present: list[np.ndarray], strata: np.ndarray | None) -> np.ndarray:
    parts = [*present, *([] if strata is None else [strata + 1])]
    return crossed(parts, present[0].size)


def _donors(pools: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """The next one of each pool in random order."""
    order = np.lexsort((stream.random(pools.size), pools))
    first = np.flatnonzero(np.diff(pools[order], prepend=-1))
    following = np.roll(order, -1)
    following[np.append(first[1:], order.size) - 1] = order[first]
    donor = np.empty_like(order)
    donor[order] = following
    return donor


def _rearranged(
    x: np.ndarray, rows: np.ndarray, pools: np.ndarray, scheme: Any, stream: np.random.Generator
) -> np.ndarray:
    """The values at the places of the values with noise, all records being kept."""
    keys = simulated_maps.with_noise(x[rows], scheme, stream)
    pool = pools[rows]
    shown = np.full(x.size, np.nan)
    shown[rows[np.lexsort((stream.random(rows.size), keys, pool))]] = x[rows][np.lexsort((x[rows], pool))]
    return shown
