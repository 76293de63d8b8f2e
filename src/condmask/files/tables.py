"""Tables in files: Parquet, Arrow and CSV, read in batches by pyarrow and written by it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from condmask.errors import ArgumentError, FileError
from condmask.files import csv_text
from condmask.files.csv_text import Layout

TEXT = ".csv", ".txt", ".tsv"
FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
    **dict.fromkeys((*TEXT, *(f"{suffix}.gz" for suffix in TEXT)), "CSV"),
}
BUFFER = 1 << 22  # bytes of a column that are read at once
SUMS = "condmask.sums"  # of the masked columns by part, which are known when all is written


def format_of(path: Path) -> str:
    """The format of a file, by its suffix."""
    found = next((form for end, form in FORMATS.items() if path.name.lower().endswith(end)), None)
    if found is None:
        raise ArgumentError(f"{path} must end in one of {', '.join(FORMATS)}")
    return found


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Errors of the system and of pyarrow as one sentence; pyarrow's own holds rows and values."""
    import pyarrow as pa

    try:
        yield
    except FileError:
        raise
    except (OSError, pa.ArrowException, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{error.filename or path}: {os.strerror(error.errno).lower()}") from error
        raise FileError(
            f"{path} cannot be read: it is damaged, or of another format, encoding or delimiter; --encoding "
            "and --delimiter (CsvFormat) say how text is written"
        ) from None


def described(path: Path) -> tuple[Any, bytes]:
    """The schema of a file of Parquet or Arrow, and what `Writer.close` was given."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if format_of(path) == "Parquet":
        with pq.ParquetFile(str(path)) as file:
            return file.schema_arrow, (file.metadata.metadata or {}).get(SUMS.encode(), b"{}")
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        last = reader.num_record_batches - 1
        notes = reader.get_batch_with_custom_metadata(last).custom_metadata if last >= 0 else None
        return reader.schema, dict(notes or {}).get(SUMS.encode(), b"{}")


def batches(
    path: Path, layout: Layout | None, names: Sequence[str] | None = None, rows: int = 1 << 17
) -> Iterator[Any]:
    """The rows of a file in record batches, of some columns; those of Parquet have so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if layout is not None:
        with csv_text.batches(path, layout, names) as reader:
            yield from reader
    elif format_of(path) == "Parquet":
        # with a buffer, since what is read ahead is kept until the end of the file
        with pq.ParquetFile(str(path), buffer_size=BUFFER, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=rows, columns=names)
    else:
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
            for k in range(reader.num_record_batches):
                batch = reader.get_batch(k)
                yield batch if names is None else batch.select(names)


class Writer:
    """Rows on their way into one file of any format, which its ending tells."""

    def __init__(self, path: Path, schema: Any, layout: Layout | None, codecs: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._sink = pa.output_stream(str(path), compression="detect")  # by its ending
        self._layout: Any = layout
        self._writer: Any = None
        self._last: Any = None
        if layout is not None:
            self._sink.write(layout.mark + layout.head.encode(layout.form.encoding))
        elif format_of(path) == "Parquet":
            self._writer = pq.ParquetWriter(self._sink, schema, compression=codecs)
        else:
            options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
            self._writer = pa.ipc.new_file(self._sink, schema, options=options)
            self._last = schema.empty_table()

    def write(self, table: Any) -> None:
        """Add rows."""
        import pyarrow as pa

        if self._last is not None:  # dictionaries begin with those before: a file of Arrow can but add to one
            table = pa.concat_tables([self._last, table]).unify_dictionaries()
            self._last = table.slice(0, 0).combine_chunks()
        if self._writer is None:
            self._sink.write(csv_text.lines(table, self._layout))
        else:
            self._writer.write_table(table)

    def close(self, sums: bytes) -> None:
        """End the file, with what is known only then."""
        import pyarrow as pa

        if self._last is not None:
            columns = [column.chunk(0) for column in self._last.columns]
            empty = pa.record_batch(columns, schema=self._last.schema)
            self._writer.write_batch(empty, custom_metadata={SUMS: sums})
        elif self._writer is not None:
            self._writer.add_key_value_metadata({SUMS: sums})
        if self._writer is not None:
            self._writer.close()
        self._sink.close()


def codecs_of(path: Path) -> dict[str, str]:
    """How the columns of a Parquet file are compressed."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(str(path))
    count = metadata.num_columns if metadata.num_row_groups else 0
    columns = [metadata.row_group(0).column(k) for k in range(count)]
    return {one.path_in_schema: one.compression.lower().replace("uncompressed", "none") for one in columns}
