"""A file of one format on its way into one of another."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from condmask.files.arrow import ArrowFile
from condmask.files.atomic import Output
from condmask.files.batches import write_batches
from condmask.files.csv import CsvFile
from condmask.files.table import Rows, Table

# what a column of text is taken for, if all of it is: 007 is no number, and 1e999 none that can be held
WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"


class Converted:
    """A table whose copy has another format than its file."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.path: Path = table.path
        self.names = table.names

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left with the file."""
        return self._table.metadata()

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers and their kind, as the file has them."""
        return self._table.chunks(names)

    def labels(self, name: str) -> Iterator[tuple[np.ndarray, list[Any]]]:
        """A column in codes and labels, as the file has them."""
        return self._table.labels(name)

    @property
    def description(self) -> dict[str, Any]:
        """A copy is written as files mostly are."""
        return {}

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Write all columns in the format of the target."""
        schema: Any
        batches: Iterable[Any]
        if isinstance(self._table, ArrowFile):
            schema, batches = self._table.schema, self._table.batches()
        else:
            assert isinstance(self._table, CsvFile)
            schema, masked = typed(self._table, set(rows.columns)), set(rows.columns)
            batches = (_typed(batch, schema, self._table, masked) for batch in _texts(self._table))
        write_batches(schema, batches, target, rows, metadata)


def typed(table: CsvFile, masked: set[str]) -> Any:
    """The types of the columns of a file of text, by all of their fields: text unless all are numbers."""
    types = {name: pa.float64() if name in masked else pa.int64() for name in table.names}
    for batch in _texts(table):
        for name, column in zip(table.names, batch.columns, strict=True):
            if name in masked:
                continue
            there = pc.drop_null(_plain(column, table))
            for dtype, pattern in ((pa.int64(), WHOLE), (pa.float64(), NUMBER)):
                if types[name] == dtype and not _all(there, pattern):
                    types[name] = pa.float64() if dtype == pa.int64() else pa.string()
    return pa.schema(list(types.items()))


def _all(column: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _typed(batch: Any, schema: Any, table: CsvFile, masked: set[str]) -> Any:
    """A batch of text in these types; of masked columns, which the table itself reads, codes alone."""
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if not pa.types.is_string(field.type):
            column = _plain(column, table)
            if field.name in masked:
                plain = pc.match_substring_regex(column, NUMBER)
                column = pc.if_else(plain, column, pa.scalar(None, pa.string()))
            column = column.cast(field.type)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _plain(column: Any, table: CsvFile) -> Any:
    """Text with nulls for the words that mean a missing value, and points for decimal commas."""
    trimmed = pc.utf8_trim_whitespace(column)
    found = pc.if_else(pc.is_in(trimmed, pa.array(table.words)), pa.scalar(None, pa.string()), trimmed)
    return pc.replace_substring(found, ",", ".", max_replacements=1) if table.decimal == "," else found


def _texts(table: CsvFile) -> Iterator[Any]:
    """All columns as text."""
    for columns in table.texts():
        yield pa.RecordBatch.from_arrays([pa.array(each, pa.string()) for each in columns], names=table.names)
