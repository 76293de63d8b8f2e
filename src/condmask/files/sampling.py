"""Rows from all over a file, where reading all of it would cost too much."""

from collections.abc import Sequence

import numpy as np

from condmask._blocks import evenly_spaced, in_stretches
from condmask.clear_columns import Clear, Coded, clear_columns
from condmask.files.formats import Table

MOST_VALUES = 1 << 22  # that are decoded for a sample
MOST_PIECES = 64  # row groups or batches that are read where all of them hold more


def cheap_rows(rows: np.ndarray, sizes: np.ndarray, columns: int) -> np.ndarray:
    """These rows of a file in pieces of such sizes, if so many columns of it are few values; else about as
    many, from the first rows of evenly spaced pieces."""
    most = MOST_VALUES // columns
    if sizes.sum() <= most:
        return rows
    first, pieces = np.cumsum(sizes) - sizes, evenly_spaced(sizes.size, MOST_PIECES)
    beginnings = np.concatenate(
        [first[k] + np.arange(min(sizes[k], most // pieces.size)) for k in pieces.tolist()]
    )
    return np.asarray(beginnings[in_stretches(beginnings.size, rows.size)])


def by_piece(rows: np.ndarray, sizes: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Ascending rows by the number of the piece that they are in, counted from its first."""
    ends = np.cumsum(sizes)
    numbers = np.searchsorted(ends, rows, side="right")
    return [(k, rows[numbers == k] - (ends[k] - sizes[k])) for k in np.unique(numbers).tolist()]


def clear_of_table(table: Table, names: Sequence[str], masked: Sequence[np.ndarray]) -> Clear:
    """Columns in clear of a file whose masked columns were read."""

    def coded(name: str) -> Coded:
        return (part.labels[name] for part in table.parts([], [name]))

    return clear_columns(masked[0].size, masked, lambda rows: table.sample(names, rows), coded)
