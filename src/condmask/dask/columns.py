"""Columns of a Dask frame as handles, and passes over their records on the workers.

Estimates on one machine gather what they need in folds over parts of columns (`inference.parts`). Here the
columns are handles, and a fold is a task for each partition: it gets the step, the start and all that these
refer to (the figures by pool, computed before), works out the columns of its partition and takes the step for
one part of it after the other. What the tasks found is put together by a tree.
"""

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import cloudpickle
import numpy as np

from condmask import frames
from condmask._once import alone, once
from condmask.dask.tree import reduced
from condmask.frames import Labels, RemoteColumn
from condmask.inference.parts import Combine, CompleteRows, Rows, Step, summed
from condmask.missing_codes import without_codes
from condmask.releases.release import FrameColumns

LONGEST_TABLE = 1 << 16  # entries that are sent to all workers
_numbers_of_columns = count()


class Partition:
    """The columns of one partition, computed on first use."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._arrays: dict[int, np.ndarray] = {}

    def array(self, column: "DaskColumn") -> np.ndarray:
        """The values of a column."""
        if column.key not in self._arrays:
            self._arrays[column.key] = column.made(self)
        return self._arrays[column.key]

    def rows(self, columns: "Sequence[DaskColumn]") -> "Iterator[PartitionRows]":
        """The rows complete in these columns, part by part."""
        if len(self.frame):
            for rows in CompleteRows(*map(self.array, columns)):
                yield PartitionRows.of_partition(self, rows)


class PartitionRows(Rows):
    """Rows of a partition, in which columns are looked up by their handles."""

    partition: Partition

    @classmethod
    def of_partition(cls, partition: Partition, rows: Rows) -> "PartitionRows":
        """The same rows of a partition."""
        found = cls(*rows)
        found.partition = partition
        return found

    def of(self, column: Any) -> np.ndarray:
        """A column in these rows."""
        return super().of(self.partition.array(column))


class DaskColumn(RemoteColumn):
    """A column of a Dask frame, or one made from such columns partition by partition.

    It travels without its table.

    Parameters
    ----------
    table : DaskTable
    names : sequence of str
        The columns of the frame that it is made of.
    made : callable (partition)
        Gives its values in a `Partition`.
    """

    def __init__(
        self, table: "DaskTable", names: Sequence[str], made: Callable[[Partition], np.ndarray]
    ) -> None:
        self.table: DaskTable | None = table
        self.names, self.made, self.key = tuple(names), made, next(_numbers_of_columns)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "table": None}

    @property
    def here(self) -> "DaskTable":
        """Its table, which exists only in the client."""
        assert self.table is not None, "figures of all records are worked out before they are sent"
        return self.table

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of records."""
        return self.here.records

    def numbers(self, name: str) -> "DaskColumn":
        """The column as numbers."""
        return self.here.column(self.names, partial(numbers, self.names[0], name, ()))

    def in_design(self, key: str, name: str) -> "DaskColumn":
        """The column as numbers, yes and no too."""
        return self.here.column(self.names, partial(_in_design, key, name))

    def groups(self, name: str) -> tuple["DaskColumn", list[Any]]:
        """The column as numbers of labels, and these in their order."""
        found = self.here.found(self.names, partial(_labels, self.names[0], name), _both_labels)
        code, distinct = frames.ranked(Labels(np.arange(len(found)), list(found)))
        number = dict(zip(found, code.tolist(), strict=True))
        return self.here.column(self.names, partial(_codes, self.names[0], name, number)), distinct

    def derived(self, function: Callable[..., np.ndarray], *columns: Any) -> "DaskColumn":
        """The column that a function makes from the values of others."""
        names = dict.fromkeys(name for column in columns for name in column.names)
        return self.here.column(tuple(names), partial(_derived, function, columns))

    def complete(self, columns: Sequence[Any]) -> "DaskRows":
        """The rows complete in these columns."""
        return DaskRows(self.here, columns)


class DaskTable:
    """A Dask frame, of which only the results of tasks come to the client.

    Parameters
    ----------
    frame : DataFrame of Dask
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._parts: dict[tuple[str, ...], list[Any]] = {}  # made once for all passes over the same columns

    @once
    def records(self) -> int:
        """The number of rows."""
        return len(self.frame)

    def column(self, names: Sequence[str], made: Callable[[Partition], np.ndarray]) -> DaskColumn:
        """A handle; columns that the frame does not have are refused."""
        for name in names:
            frames.table_column(self.frame._meta, name, "ddf")
        return DaskColumn(self, names, made)

    def named(self, name: str) -> DaskColumn:
        """The column of a name, not yet read as numbers or labels."""
        return self.column([name], partial(_raw, name))

    def found(self, names: Sequence[str], function: Callable[[Partition], Any], combine: Combine) -> Any:
        """The combined result of a function for all partitions that have rows."""
        return self._reduced(names, partial(_in_partition, function), partial(_of_either, combine), b"")

    def fold(self, columns: Sequence[DaskColumn], step: Step, start: Any, combine: Combine) -> Any:
        """A fold over the rows complete in columns; see `CompleteRows.fold`."""
        content, names = travelling((tuple(columns), step, start))
        return self._reduced(names, _folded, combine, content)

    def filled(self, columns: Sequence[DaskColumn], values: Callable[[Any], np.ndarray], name: str) -> Any:
        """A Dask series with values in the rows complete in columns, and NaN in others."""
        content, names = travelling((tuple(columns), values))
        return self.frame[names].map_partitions(_filled, content, name, meta=(name, np.float64))

    def _reduced(self, names: Sequence[str], function: Any, combine: Combine, content: bytes) -> Any:
        key = tuple(names)
        with alone(self, key):
            if key not in self._parts:
                self._parts[key] = self.frame[list(key)].to_delayed()
        return reduced(self._parts[key], function, combine, content)


class DaskRows:
    """The rows of a Dask frame that are complete in columns, in partitions.

    Takes the place of `CompleteRows`; it does not travel, since partitions have rows of their own.
    """

    single = False
    longest_table = LONGEST_TABLE

    def __init__(self, table: DaskTable, columns: Sequence[DaskColumn]) -> None:
        self._table, self._columns = table, columns

    def __reduce__(self) -> Any:
        return type(None), ()

    def fold(self, step: Step, start: Any, combine: Combine = summed) -> Any:
        """The result gathered from all parts of all partitions, in a fixed order."""
        return combine(start, self._table.fold(self._columns, step, start, combine))

    def filled(self, values: Callable[[Any], np.ndarray]) -> Any:
        """A Dask series with values in these rows, and NaN in others."""
        return self._table.filled(self._columns, values, self._columns[0].names[0])


def travelling(content: Any) -> tuple[bytes, list[str]]:
    """What is sent with tasks, and the names of the columns that its handles need."""
    output = io.BytesIO()
    pickler = _Pickler(output)
    pickler.dump(content)
    return output.getvalue(), list(pickler.names)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Collects the columns of the frame from which the handles that it meets are made."""

    def __init__(self, output: io.BytesIO) -> None:
        super().__init__(output)
        self.names: dict[str, None] = {}

    def persistent_id(self, content: Any) -> None:
        """None: all content is pickled."""
        if isinstance(content, DaskColumn):
            self.names |= dict.fromkeys(content.names)


# --- in a partition -----------------------------------------------------------------------------------


def _folded(frame: Any, content: bytes) -> Any:
    columns, step, gathered = pickle.loads(content)
    for rows in Partition(frame).rows(columns):
        gathered = step(gathered, rows)
    return gathered


def _filled(frame: Any, content: bytes, name: str) -> Any:
    columns, values = pickle.loads(content)
    filled = np.full(len(frame), np.nan)
    for rows in Partition(frame).rows(columns):
        filled[rows.range][slice(None) if rows.used is None else rows.used] = values(rows)
    return type(frame.iloc[:, 0])(filled, index=frame.index, name=name)


def _in_partition(function: Callable[[Partition], Any], frame: Any, _: bytes) -> Any:
    return function(Partition(frame)) if len(frame) else None


def _of_either(combine: Combine, one: Any, other: Any) -> Any:
    """The combined result of both, if both have rows."""
    if one is None or other is None:
        return other if one is None else one
    return combine(one, other)


def _raw(name: str, partition: Partition) -> Any:
    return frames.table_column(partition.frame, name)


def numbers(name: str, argument: str, codes: tuple[float, ...], partition: Partition) -> np.ndarray:
    """A column of a partition as numbers, NaN for a code; `argument` is its name in errors."""
    column = frames.column(FrameColumns(partition.frame).numbers(name), argument, least=0)
    return without_codes(column.array, codes, column.kind)


def _in_design(name: str, argument: str, partition: Partition) -> np.ndarray:
    values = FrameColumns(partition.frame).numbers(name)
    (column,) = frames.design({name: values}, argument, least=0).values()
    return np.asarray(column)


def _labels(name: str, argument: str, partition: Partition) -> dict[Any, None]:
    _, distinct = frames.groups(_raw(name, partition), argument, len(partition.frame))
    return dict.fromkeys(distinct)


def _both_labels(one: dict[Any, None], other: dict[Any, None]) -> dict[Any, None]:
    return one | other


def _codes(name: str, argument: str, number: dict[Any, int], partition: Partition) -> np.ndarray:
    code, distinct = frames.groups(_raw(name, partition), argument, len(partition.frame))
    return np.asarray(np.array([*(number[label] for label in distinct), -1], dtype=np.int64)[code])


def _derived(
    function: Callable[..., np.ndarray], columns: Sequence[DaskColumn], partition: Partition
) -> np.ndarray:
    return np.asarray(function(*map(partition.array, columns)))
