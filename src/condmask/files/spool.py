"""Columns on their way through a release: kept in temporary files, handed out masked, row by row."""

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.files.atomic import FileError, in_temporary_place
from condmask.files.formats import Table
from condmask.frames import Labels, codes
from condmask.missing_codes import finite_release, not_hit
from condmask.scheme import Scheme

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
        held = [self._rest] if self._rest else []
        while not held or sum(part[0].size for part in held) < count:
            part = next(self._parts, None)
            if part is None:
                raise FileError("the source grew while it was masked; nothing was published")
            held.append(part)
        columns = [np.concatenate(column) for column in zip(*held, strict=True)]
        self._rest = [column[count:] for column in columns]
        published = {}
        for (name, scheme), column in zip(self._schemes.items(), columns, strict=True):
            published[name] = finite_release(scheme, column[:count], self._kinds[name], name)
            not_hit(scheme, published[name], self._kinds[name], name)
        if self._progress is not None:
            self._progress(self.done, self.total)
        return published


def written_as(scheme: Scheme, kind: str, places: int | None) -> tuple[str, int | None]:
    """Kind and decimals of a masked column; `places` are those of the original, whose values stay."""
    if scheme.reverse_mapping:
        return kind, places
    whole = scheme.grid is not None and scheme.grid.whole
    return "float64" if kind == "int" and not whole else kind, 0 if whole else scheme.decimals


def spool_columns(
    table: Table,
    names: list[str],
    groups: Sequence[str],
    create: Callable[[], IO[bytes]],
    progress: Progress = None,
) -> tuple[dict[str, np.ndarray], dict[str, str], list[Labels]]:
    """The columns to be masked, in memory-mapped files, and their kinds; the strata as codes in such files,
    numbered in the order of their labels. The table is read once."""
    values = {name: create() for name in names}
    strata = {name: create() for name in groups}
    kinds: dict[str, str] = {}
    numbers: dict[str, dict[Any, int]] = {name: {} for name in groups}
    row = 0
    for part in table.parts(names, groups):
        for name, output in values.items():
            column, kinds[name] = part.numbers[name]
            _checks.no_infinities(column, name, row)
            output.write(column.tobytes())
        for name, output in strata.items():
            output.write(numbered(*part.labels[name], numbers[name]).astype(CODE).tobytes())
        row += column.size
        if progress is not None:
            progress(row, None)
    _checks.at_least_two(row, names[0])
    mapped = {name: _mapped(output, np.float64) for name, output in values.items()}
    return mapped, kinds, [in_order(_mapped(strata[name], CODE), list(numbers[name])) for name in groups]


def coded(table: Table, name: str, numbers: dict[Any, int]) -> Iterator[np.ndarray]:
    """A column of labels as numbers, part by part; ``numbers`` collects which number is which label."""
    for part in table.parts([], [name]):
        yield numbered(*part.labels[name], numbers)


def numbered(code: np.ndarray, distinct: list[Any], numbers: dict[Any, int]) -> np.ndarray:
    """Labels of a part by their numbers in the whole file; ``numbers`` gets those that are new."""
    # NaN differs from itself: as a label it would be a new one each time
    labels = [None if label != label else label for label in distinct]
    table = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    return np.asarray(table[code])


def _mapped(output: IO[bytes], dtype: type) -> np.ndarray:
    """A file in memory, as far as it is looked at."""
    with in_temporary_place():
        return np.asarray(np.memmap(output, dtype=dtype, mode="r+"))


def in_order(code: np.ndarray, labels: Sequence[Any]) -> Labels:
    """Codes in the order of their labels, changed in place."""
    rank, distinct = codes(np.asarray(labels), "labels")
    rank = rank.astype(CODE)
    for start, stop in blocks(code.size):
        code[start:stop] = rank[code[start:stop]]
    return Labels(code, distinct)
