"""Columns on their way through a release: kept in temporary files, handed out masked, row by row."""

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.files.atomic import FileError
from condmask.files.formats import Table
from condmask.frames import codes
from condmask.missing_codes import not_hit
from condmask.scheme import Scheme
from condmask.strata import Labels

Progress = Callable[[int, int | None], None] | None
CODE = np.int32  # which holds the numbers of more labels than memory holds


class ReleasedRows:
    """Masked rows as they are released, handed out in any number of rows at a time.

    `places` are the decimals of columns that are released with the values of the original.
    """

    workers: int = 1

    def __init__(
        self,
        parts: Iterator[list[np.ndarray]],
        schemes: dict[str, Scheme],
        kinds: dict[str, str],
        total: int,
        progress: Progress,
        places: dict[str, int | None],
    ) -> None:
        self._places = places
        self._parts, self._schemes, self._kinds, self._progress = parts, schemes, kinds, progress
        self._rest: list[np.ndarray] = []
        self.done, self.total = 0, total

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """Kind and decimals of each column as it is released."""
        return {
            name: written_as(scheme, self._kinds[name], self._places.get(name))
            for name, scheme in self._schemes.items()
        }

    @property
    def nulls(self) -> set[str]:
        """The columns whose missing codes become nulls."""
        return {name for name, scheme in self._schemes.items() if scheme.missing_as == "null"}

    def take(self, count: int) -> dict[str, np.ndarray]:
        """The next rows of every column."""
        self.done += count
        if self._progress is not None:
            self._progress(self.done, self.total)
        held = [self._rest] if self._rest else []
        while sum(part[0].size for part in held) < count:
            part = next(self._parts, None)
            if part is None:
                raise FileError("the source grew while it was masked; nothing was published")
            held.append(part)
        columns = [np.concatenate(column) for column in zip(*held, strict=True)]
        self._rest = [column[count:] for column in columns]
        taken = {}
        for (name, scheme), column in zip(self._schemes.items(), columns, strict=True):
            with np.errstate(over="ignore"):
                taken[name] = scheme.publish(column[:count], self._kinds[name])
            if np.isinf(taken[name]).any():
                raise ValueError(f"{name} must stay finite when it is masked: its noise is too large")
            not_hit(scheme, taken[name], self._kinds[name], name)
        return taken


def written_as(scheme: Scheme, kind: str, places: int | None) -> tuple[str, int | None]:
    """Kind and decimals of a masked column; `places` are those of the original, whose values stay."""
    if scheme.reverse_mapping:
        return kind, places
    whole = scheme.grid is not None and scheme.grid.whole
    return "float64" if kind == "int" and not whole else kind, 0 if whole else scheme.decimals


def spool_columns(
    table: Table, names: list[str], create: Callable[[], IO[bytes]], progress: Progress = None
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The columns to be masked, in memory-mapped files, and what they hold."""
    outputs = {name: create() for name in names}
    kinds: dict[str, str] = {}
    row = 0
    for chunk in table.chunks(names):
        for name, output in outputs.items():
            values, kinds[name] = chunk[name]
            _checks.no_infinities(values, name, row)
            output.write(values.tobytes())
        row += values.size
        if progress is not None:
            progress(row, None)
    _checks.at_least_two(row, names[0])
    for output in outputs.values():
        output.flush()
    mapped = {name: np.memmap(output, dtype=np.float64, mode="r+") for name, output in outputs.items()}
    return {name: np.asarray(column) for name, column in mapped.items()}, kinds


def spool_strata(table: Table, name: str, create: Callable[[], IO[bytes]]) -> Labels:
    """The strata as codes in a memory-mapped file, numbered in the order of their labels."""
    output = create()
    known: dict[Any, int] = {}
    for part in coded(table, name, known):
        output.write(part.astype(CODE).tobytes())
    output.flush()
    rank, distinct = codes(list(known))
    code = np.asarray(np.memmap(output, dtype=CODE, mode="r+"))
    rank = rank.astype(CODE)
    for start, stop in blocks(code.size):
        code[start:stop] = rank[code[start:stop]]
    return Labels(code, distinct)


def coded(table: Table, name: str, known: dict[Any, int]) -> Iterator[np.ndarray]:
    """A column of labels as numbers, part by part; ``known`` collects which number is which label."""
    for code, values in table.labels(name):
        # NaN differs from itself: as a label it would be a new one each time
        labels = [None if value != value else value for value in values]
        yield np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)[code]
