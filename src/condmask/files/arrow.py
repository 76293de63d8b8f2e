"""Parquet and Arrow files, batch by batch: some columns out as numbers, other numbers into their place."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from condmask import _checks
from condmask._blocks import BLOCK
from condmask.files.atomic import Output
from condmask.files.table import Rows

METADATA = b"condmask"
LARGEST_GROUP = 1 << 27  # bytes held back, at most, to write a row group as large as it was


class ArrowFile:
    """The columns of a Parquet file or an Arrow IPC file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parquet = path.suffix.lower() in (".parquet", ".pq")
        try:
            self.schema = (pq.read_schema if self._parquet else _ipc_schema)(path)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            kind = "Parquet" if self._parquet else "Arrow"
            raise ValueError(f"{path} is no readable {kind} file: {_line(error)}") from None
        self.names = self.schema.names

    def metadata(self) -> dict[str, Any] | None:
        """What an earlier masking left in the schema's metadata."""
        text = (self.schema.metadata or {}).get(METADATA)
        return None if text is None else json.loads(text)

    def batches(self, names: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Record batches of at most 65,536 rows."""
        try:
            if self._parquet:
                with pq.ParquetFile(self.path, pre_buffer=False) as file:
                    yield from file.iter_batches(batch_size=BLOCK, columns=names)
                return
            with pa.memory_map(str(self.path)) as source, pa.ipc.open_file(source) as file:
                for i in range(file.num_record_batches):
                    batch = file.get_batch(i)
                    batch = batch if names is None else batch.select(names)
                    for start in range(0, batch.num_rows, BLOCK):
                        yield batch.slice(start, BLOCK)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{self.path} cannot be read: {_line(error)}") from error

    def chunks(self, names: list[str]) -> Iterator[dict[str, tuple[np.ndarray, str]]]:
        """Numbers and their kind, batch by batch."""
        row = 0
        for batch in self.batches(names):
            yield {name: numbers(batch.column(name), name, row) for name in names}
            row += batch.num_rows

    def labels(self, name: str) -> Iterator[tuple[np.ndarray, list[Any]]]:
        """A column of any plain type, in codes and the distinct values they stand for."""
        for batch in self.batches([name]):
            try:
                column = batch.column(name).dictionary_encode()
            except pa.ArrowNotImplementedError:
                raise TypeError(f"{name} must hold labels, got {batch.column(name).type}") from None
            missing = len(column.dictionary)
            code = _values(column.indices.cast(pa.int64()), np.int64)
            yield np.where(_null(column), missing, code), [*column.dictionary.to_pylist(), None]

    def rewrite(self, target: Output, rows: Rows, metadata: dict[str, Any]) -> None:
        """Copy the file with the masked rows in their columns."""
        schema, columns = self.schema, rows.columns
        for name, (kind, _) in columns.items():
            field = schema.field(name)
            width: Any = {"int": pa.int64(), "float32": pa.float32(), "float64": pa.float64()}[kind]
            schema = schema.set(schema.get_field_index(name), field.with_type(width))
        schema = schema.with_metadata({**(schema.metadata or {}), METADATA: json.dumps(metadata).encode()})
        group = self._largest_group()
        held: list[pa.RecordBatch] = []
        with self._writer(target, schema) as writer:
            for batch in self.batches():
                masked = rows.take(batch.num_rows)
                arrays = [
                    _array(masked[name], column, schema.field(name).type, name) if name in columns else column
                    for name, column in zip(self.names, batch.columns, strict=True)
                ]
                held.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
                large = sum(part.nbytes for part in held) >= LARGEST_GROUP
                if large or sum(part.num_rows for part in held) >= group:
                    _write(writer, held, group, everything=large)
            _write(writer, held, group, everything=True)

    def _largest_group(self) -> int:
        """Rows of the largest row group; the batches of an Arrow file are written as they are read."""
        if not self._parquet:
            return 1
        groups = pq.read_metadata(self.path)
        return max((groups.row_group(g).num_rows for g in range(groups.num_row_groups)), default=1)

    def _writer(self, target: Any, schema: pa.Schema) -> Any:
        if not self._parquet:
            return pa.ipc.new_file(target, schema)
        compression: Any = "snappy"
        with pq.ParquetFile(self.path) as file:
            if file.metadata.num_row_groups:
                group = file.metadata.row_group(0)
                columns = (group.column(i) for i in range(group.num_columns))
                names = {"UNCOMPRESSED": "none"}
                compression = {
                    c.path_in_schema: names.get(c.compression, c.compression.lower()) for c in columns
                }
        return pq.ParquetWriter(target, schema, compression=compression)


def numbers(column: Any, name: str, row: int) -> tuple[np.ndarray, str]:
    """An Arrow array as float64 with NaN where null, and its kind; it begins at this row of the file."""
    dtype = column.type
    if pa.types.is_boolean(dtype):
        raise TypeError(f"{name} must be numeric, got booleans")
    if not (pa.types.is_integer(dtype) or pa.types.is_float32(dtype) or pa.types.is_float64(dtype)):
        raise TypeError(f"{name} must be numeric (integer, float32 or float64), got {dtype}")
    if pa.types.is_integer(dtype):
        there = _values(pc.drop_null(column), np.dtype(str(dtype)))
        _checks.exact_integers(there, name, row + np.flatnonzero(~_null(column)))
    kind = "int" if pa.types.is_integer(dtype) else "float32" if pa.types.is_float32(dtype) else "float64"
    values = _values(column.cast(pa.float64(), safe=False), np.float64)
    return np.where(_null(column), np.nan, values) if column.null_count else values, kind


def _write(writer: Any, held: list[pa.RecordBatch], rows: int, *, everything: bool) -> None:
    """Write what is held, in groups of ``rows``; without ``everything`` only groups that are full."""
    if not held:
        return
    table = pa.Table.from_batches(held)
    full = table.num_rows if everything else table.num_rows // rows * rows
    options = {"row_group_size": rows} if isinstance(writer, pq.ParquetWriter) else {}
    writer.write_table(table.slice(0, full), **options)
    held[:] = table.slice(full).to_batches()


def _array(z: np.ndarray, original: Any, dtype: Any, name: str) -> Any:
    present = pa.py_buffer(np.packbits(~_null(original), bitorder="little")) if original.null_count else None
    if pa.types.is_integer(dtype):
        z = np.where(np.isnan(z), 0.0, z)
        if (np.abs(z) > _checks.LARGEST_EXACT_INTEGER).any():
            raise ValueError(f"{name} must stay below 2^53 when it is masked: sigma is too large")
        z = z.astype(np.int64)
    width = pa.from_numpy_dtype(z.dtype)
    return pa.Array.from_buffers(width, z.size, [present, pa.py_buffer(np.ascontiguousarray(z))]).cast(dtype)


def _values(array: Any, dtype: Any) -> np.ndarray:
    """A plain Arrow array's memory, which means nothing where it is null; Arrow's to_numpy imports pandas."""
    if len(array) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset : array.offset + len(array)]


def _null(array: Any) -> np.ndarray:
    return _values(array.is_null().cast(pa.uint8()), np.bool_)


def _ipc_schema(path: Path) -> Any:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).schema


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
