"""Masked values counted on the grid of their scheme; others are refused."""

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from condmask._blocks import Workers, joined, ordered_map
from condmask.engines.counting import EMPTY, Tally, ValueCounts, by_value, count, merged
from condmask.errors import ArgumentError
from condmask.grid import Grid

TASK = 1 << 18  # records at a time of several threads, which wait less; of one, what was just read is near


def counted_parts(parts: Iterable[tuple[np.ndarray, str]], grid: Grid, workers: Workers = 1) -> ValueCounts:
    """The counts of masked values that come part by part, each with its kind; missing ones are left out.

    The next part is read while others are counted.

    Raises
    ------
    TooManyPointsError
        If values lie on more points than can be counted in memory.
    """
    threads = workers if isinstance(workers, int) else 1
    tallies: list[Tally] = []
    idle: deque[Tally] = deque()

    def add(task: list[tuple[int, np.ndarray, str]]) -> None:
        try:
            tally = idle.pop()
        except IndexError:
            tally = Tally(grid)
            tallies.append(tally)
        for row, z, kind in task:
            rest = tally.add(z)
            rest = rest[~np.isnan(rest)]
            if rest.size:
                counts, off = _counted(rest, grid, kind)
                _refuse(off, z, grid, row)
                tally.add_counts(counts)
        idle.append(tally)

    for _ in ordered_map(add, _tasks(parts, TASK if threads > 1 else 1), threads):
        pass
    return merged([tally.counts() for tally in tallies] or [EMPTY])


def counted_in_order(parts: Iterable[tuple[np.ndarray, str]], grid: Grid) -> ValueCounts:
    """As `counted_parts`, of values on any number of points, which are sorted."""

    def units() -> Iterator[np.ndarray]:
        for [(row, z, kind)] in _tasks(parts, 1):
            counts, off = _counted(z, grid, kind)
            _refuse(off, z, grid, row)
            yield counts.records()

    values = joined(units())
    values.sort()
    return by_value(values)


def counted_column(z: np.ndarray, grid: Grid, kind: str, workers: Workers = 1) -> ValueCounts:
    """The counts of masked values by units of their grid, missing ones left out."""
    counts, off = _counted(z, grid, kind, workers)
    _refuse(off, z, grid, 0)
    return counts


def _tasks(
    parts: Iterable[tuple[np.ndarray, str]], least: int
) -> Iterator[list[tuple[int, np.ndarray, str]]]:
    """Parts with the rows at which they begin, at least so many records at a time."""
    row, task = 0, []
    for z, kind in parts:
        task.append((row, z, kind))
        row += z.size
        if row - task[0][0] >= least:
            yield task
            task = []
    if task:
        yield task


def _counted(z: np.ndarray, grid: Grid, kind: str, workers: Workers = 1) -> tuple[ValueCounts, np.ndarray]:
    """The counts of values that lie on the grid, and the others that are not missing."""
    counts, off = count(z, grid, workers)
    off = off[~np.isnan(off)]
    if off.size and kind == "float32":  # decimals miss their grid by more in single precision
        near = grid.values(grid.units(off))
        on = np.abs(off - near) <= 4.0 * np.spacing(np.abs(near).astype(np.float32))
        more, _ = count(near[on], grid)
        counts, off = merged([counts, more]), off[~on]
    return counts, off


def _refuse(off: np.ndarray, z: np.ndarray, grid: Grid, row: int) -> None:
    """Refuse values off the grid, of a part that begins at this row."""
    if off.size:
        first = row + int(np.flatnonzero(z == off[0])[0])
        raise ArgumentError(
            f"z must lie on the grid of its scheme, multiples of {grid.step:g}, got {float(off[0])!r} at "
            f"position {first} ({off.size} such values); data without a grid have a scheme of step=0"
        )
