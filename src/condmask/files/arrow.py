"""Arrow IPC files, batch by batch: read some columns as numbers, and replace them."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from condmask._blocks import BLOCK
from condmask.arrow_memory import validated
from condmask.errors import ArgumentError
from condmask.files.arrow_schema import released_schema
from condmask.files.arrow_source import ArrowSource, BatchSource
from condmask.files.arrow_types import parts_of, plain, released_columns, released_type, taken
from condmask.files.atomic import FileError, Fingerprint, Output, fingerprint
from condmask.files.formats import Part, Rows, Sample
from condmask.files.metadata import from_json
from condmask.files.sampling import by_piece, cheap_rows
from condmask.files.source_metadata import METADATA, check_kept, notes_of


class ArrowFile:
    """The columns of an Arrow IPC file; the base for other files that Arrow reads."""

    kind = "Arrow"
    _opens: type[ArrowSource] = BatchSource

    def __init__(self, path: Path) -> None:
        self.path, self._before = path, fingerprint(path)
        self.kept: tuple[str, ...] = ()  # of the notes on it
        try:
            self.schema = self._schema()
        except FileError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise ArgumentError(f"{path} is no readable {self.kind} file: {line(error)}") from None
        self.names = self.schema.names

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking published in the schema's metadata."""
        text = (self.schema.metadata or {}).get(METADATA)
        return None if text is None else from_json(text)

    def fingerprints(self) -> dict[Path, Fingerprint]:
        """That of the file."""
        return {self.path: fingerprint(self.path)}

    def notes(self) -> list[str]:
        """The names of notes on the file and its columns that a copy leaves out."""
        return notes_of(self.schema)

    def keep(self, notes: Collection[str]) -> None:
        """Keep notes of these names in a copy."""
        self.kept = check_kept(self.notes(), notes, self.path)

    @property
    def description(self) -> dict[str, Any]:
        """Nothing more: everything is in the file."""
        return {}

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._sizes(self.names[0]).sum()) if self.names else 0

    def batches(self, names: list[str] | None = None, labels: Sequence[str] = ()) -> Iterator[Any]:
        """Record batches of at most 65,536 rows, with text labels in dictionaries if stored so."""
        with self.errors():
            yield from self._batches(names, labels)
        pa.default_memory_pool().release_unused()

    def parts(self, names: Sequence[str], labels: Sequence[str] = ()) -> Iterator[Part]:
        """Numbers and labels, batch by batch."""
        return parts_of(self.batches([*names, *labels], labels), names, labels)

    def sample(self, names: Sequence[str], rows: np.ndarray) -> Sample:
        """Rows from all over the file; columns that cannot be decoded are left out."""
        if not names:
            return Sample(rows, {})
        sizes = self._sizes(names[0])
        rows = cheap_rows(rows, sizes, len(names))
        return Sample(rows, self.columns_in(names, by_piece(rows, sizes)))

    def columns_in(self, names: Sequence[str], pieces: list[tuple[int, np.ndarray]]) -> dict[str, np.ndarray]:
        """Columns in some rows of some pieces; those that cannot be decoded are left out."""
        columns = {}
        for name in names:  # one by one, which is faster in Parquet
            with suppress(TypeError, ValueError), self.errors():  # lists, or not decoded
                columns[name] = np.concatenate([plain(part, name) for part in self._column_in(name, pieces)])
        return columns

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their columns, batch by batch as they were."""
        columns = rows.columns
        types = {name: released_type(self.schema.field(name).type, *columns[name]) for name in columns}
        schema = released_schema(self.schema, types, metadata, nulls=rows.nulls, keep=self.kept)
        with self._open(None) as file:
            first = [self._batch(file, 0)] if file.num_record_batches else []
            options = pa.ipc.IpcWriteOptions(compression=_compression(first))
            with pa.ipc.new_file(target, schema, options=options) as writer:
                for number in range(file.num_record_batches):
                    batch = first.pop() if first else self._batch(file, number)
                    arrays = released_columns(batch, rows, types)
                    writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                    del batch, arrays  # two at a time may be too many

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Errors while a part of the file is read, as one sentence that names it."""
        try:
            yield
        except FileError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise ArgumentError(f"{self.path} cannot be read: {line(error)}") from error

    @contextmanager
    def source(self) -> Iterator[Any]:
        """The file, opened again; refused if it is not the one whose schema was read."""
        with self._opens(self.path, self._before) as source, pa.PythonFile(source, mode="r") as file:
            yield file

    def _schema(self) -> Any:
        with self.source() as source:
            return pa.ipc.open_file(source).schema

    def _batches(self, names: list[str] | None, labels: Sequence[str]) -> Iterator[Any]:
        with self._open(names) as file:
            for number in range(file.num_record_batches):
                batch = self._batch(file, number)
                for start in range(0, batch.num_rows, BLOCK):
                    yield batch.slice(start, BLOCK)

    def _batch(self, file: Any, number: int) -> Any:
        """A record batch."""
        with self.errors():
            batch = file.get_batch(number)
            batch.validate()  # whether its columns have its length
        return self._sound(batch)

    def _sound(self, batch: Any) -> Any:
        """A record batch; refused where the memory of a column is not what its type says."""
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                validated(column)
            except pa.ArrowException:  # which may show a value
                raise FileError(f"{self.path} cannot be read: its column {name!r} is damaged") from None
        return batch

    def _sizes(self, name: str) -> np.ndarray:
        """The rows of each record batch, for which one column has to be read."""
        with self.errors(), self._open([name]) as file:
            return np.array([file.get_batch(number).num_rows for number in range(file.num_record_batches)])

    def _column_in(self, name: str, pieces: list[tuple[int, np.ndarray]]) -> Iterator[Any]:
        """A column in some rows of some record batches."""
        with self._open([name]) as file:
            for number, rows in pieces:
                yield taken(self._batch(file, number).column(0), rows)

    @contextmanager
    def _open(self, names: list[str] | None) -> Iterator[Any]:
        """The file with some of its columns."""
        positions = None if names is None else [self.names.index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=positions)
        with self.source() as source:
            with self.errors():
                file = pa.ipc.open_file(source, options=options)
            with file:
                yield file


def _compression(batches: Sequence[Any]) -> str | None:
    """Zstandard where batches are compressed. With what, Arrow does not tell; that they are shows in their
    buffers, which are memory of their own then, and not the bytes of the file, which nobody may write to."""
    columns = [column for batch in batches for column in batch.columns]
    buffers = [buffer for column in columns for buffer in column.buffers() if buffer is not None]
    return "zstd" if any(buffer.is_mutable for buffer in buffers) else None


def line(error: Exception) -> str:
    """The first line of a message."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
