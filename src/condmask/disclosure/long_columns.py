"""Questions to whole columns, answered block by block: files may be larger than memory."""

from typing import Any

import numpy as np

from condmask._blocks import blocks
from condmask.disclosure.identity import Identity, Steps, Table

SHUFFLED = 1 << 24  # rows, up to which all are shuffled to draw some


def count_present(x: np.ndarray) -> int:
    """How many values are not missing."""
    return sum(int(np.count_nonzero(~np.isnan(x[start:stop]))) for start, stop in blocks(x.size))


def has_finite(x: np.ndarray) -> bool:
    """Whether any value is finite."""
    return any(bool(np.isfinite(x[start:stop]).any()) for start, stop in blocks(x.size))


def random_rows(n: int, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """So many rows of each half of n in random order, the same in every run.

    Of more than `SHUFFLED` rows as many are drawn without replacement: samples of one law, and others.
    """
    rng = np.random.default_rng(0)
    if n <= SHUFFLED:
        order, half = rng.permutation(n), (n + 1) // 2
        return order[:half][:first], order[half:][:last]
    drawn = rng.choice(n, first + last, replace=False)
    return drawn[:first], drawn[first:]


def share_holding(relation: Identity | Any, table: Table, steps: Steps) -> float:
    """In which share of the records a relation holds."""
    n = table[relation.names[0]].size
    parts = ({name: table[name][start:stop] for name in relation.names} for start, stop in blocks(n))
    return sum(int(np.count_nonzero(relation.holds(part, steps))) for part in parts) / n
