"""Inequalities that always hold: one column, or a sum of several, never exceeds another.

Kept records, whose columns have noise of their own, break them. One that holds as often with its columns
shuffled says nothing, and neither does one whose sides are mostly equal: that is an identity
(relations.py).
"""

from typing import NamedTuple

import numpy as np

from condmask.disclosure.identity import SLACK, Steps, Table
from condmask.disclosure.long_columns import random_rows

SCREENED, LOOKED_AT = 256, 1 << 12  # rows
ALWAYS = 0.999  # of the records
BROKEN = 0.05  # of the records with columns shuffled: else it says nothing
UNEQUAL = 0.1  # of the records, at least
MOST = 16  # inequalities, those first that would be broken most


class Inequality(NamedTuple):
    """The sum of some columns is at most another one."""

    parts: tuple[str, ...]
    whole: str

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.parts, self.whole)

    def residual(self, table: Table) -> np.ndarray:
        """The whole less the parts."""
        return np.asarray(table[self.whole] - sum(table[name] for name in self.parts))

    def holds(self, table: Table, steps: Steps) -> np.ndarray:
        """In which records it holds, for all that the steps to which values are rounded can tell."""
        size = sum(np.abs(table[name]) for name in self.names)
        slack = 0.5 * sum(steps.get(name, 0.0) for name in self.names)
        return np.asarray(self.residual(table) >= -(slack + SLACK * size))

    def __str__(self) -> str:
        return f"{' + '.join(map(repr, self.parts))} <= {self.whole!r}"


def inequalities(table: Table, masked: set[str]) -> list[Inequality]:
    """Those that concern a masked column, sums in place of their parts."""
    n = next(iter(table.values())).size
    order = np.concatenate(random_rows(n, LOOKED_AT, max(0, LOOKED_AT - (n + 1) // 2)))
    table = {name: x[order] for name, x in table.items() if np.isfinite(x[order]).any()}
    few = {name: x[:SCREENED] for name, x in table.items()}
    chosen: dict[Inequality, float] = {}
    for whole in table:
        parts = [part for part in _below(few, whole) if _always(table, Inequality((part,), whole))]
        for inequality in _longest(table, parts, whole):
            broken = _broken(table, inequality)
            if masked & set(inequality.names) and broken > BROKEN:
                chosen[inequality] = broken
    return sorted(chosen, key=lambda inequality: -chosen[inequality])[:MOST]


def _below(table: Table, whole: str) -> list[str]:
    """Columns that never exceed another in some records."""
    return [name for name, x in table.items() if name != whole and not np.any(x > table[whole])]


def _always(table: Table, inequality: Inequality) -> bool:
    """Whether it always holds, and is mostly none between equals."""
    residual = inequality.residual(table)
    residual = residual[~np.isnan(residual)]
    return bool(
        residual.size >= SCREENED // 2
        and np.mean(residual >= 0.0) >= ALWAYS
        and np.mean(residual > 0.0) >= UNEQUAL
    )


def _broken(table: Table, inequality: Inequality) -> float:
    """The share of records in which shuffling breaks it."""
    residual = inequality.residual(table)
    present = ~np.isnan(residual)
    whole = table[inequality.whole][present]
    shuffled = np.random.default_rng(1).permutation(whole)
    return float(np.mean(residual[present] - whole + shuffled < 0.0))


def _longest(table: Table, parts: list[str], whole: str) -> list[Inequality]:
    """The sum of as many parts as never exceed the whole, the largest first, and the parts that are left."""
    together: list[str] = []
    for part in sorted(parts, key=lambda name: -float(np.nansum(table[name]))):
        if np.nanmin(table[part]) >= 0.0 and _always(table, Inequality((*together, part), whole)):
            together.append(part)
    rest = [Inequality((part,), whole) for part in parts if part not in together]
    return rest if not together else [Inequality(tuple(together), whole), *rest]
