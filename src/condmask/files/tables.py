"""Read and write tables with pyarrow, in batches: Parquet, Arrow and CSV; and read TOML."""

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from condmask.errors import ArgumentError, FileError
from condmask.files import csv_text, stat
from condmask.files.arrow import pa, pq
from condmask.files.csv_text import Layout

TEXT = ".csv", ".txt", ".tsv"
FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "Arrow"),
    **dict.fromkeys((*TEXT, *(f"{suffix}.gz" for suffix in TEXT)), "CSV"),
    **stat.SUFFIXES,
}
CONVERTED = {  # the line that reads a format that is not read here, and what it loses
    ".xlsx": ("pd.read_excel({0!r})", "formats and formulas"),
    ".xls": ("pd.read_excel({0!r})", "formats and formulas"),
    ".sas7bdat": ("pyreadstat.read_sas7bdat({0!r})[0]", "labels and formats"),
    ".xpt": ("pyreadstat.read_xport({0!r})[0]", "labels, formats and declared missing codes"),
    ".por": ("pyreadstat.read_por({0!r})[0]", "labels, formats and declared missing codes"),
}
BUFFER = 1 << 22  # bytes of a column that are read at once
Notes = Callable[[], dict[str, str]]  # metadata that is known once all tables are written


def format_of(path: Path) -> str:
    """Return the format of a file, by its suffix."""
    found = next((form for end, form in FORMATS.items() if path.name.lower().endswith(end)), None)
    if found is None:
        hint = ""
        if path.suffix.lower() in CONVERTED:
            call, lost = CONVERTED[path.suffix.lower()]
            module = call.partition(".")[0]
            module = "import pandas as pd" if module == "pd" else f"import {module}"
            target = path.with_suffix(".parquet").name
            hint = (
                f"; convert it, which loses {lost}: {module}; "
                f"{call.format(str(path))}.to_parquet({target!r})"
            )
        raise ArgumentError(f"{path} must end in one of {', '.join(FORMATS)}{hint}")
    return found


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors of the system and of pyarrow into one sentence: pyarrow's own shows values."""
    try:
        yield
    except FileError:
        raise
    except (OSError, pa.ArrowException, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(
                f"{error.filename or path}: {os.strerror(error.errno).lower()}"
            ) from error
        raise FileError(
            f"{path} cannot be read: it is damaged, or of another format, encoding or "
            "delimiter; pass csv=CsvFormat(encoding=..., delimiter=...) to say how text is written"
        ) from None


class Binary(NamedTuple):
    """How files of a format are read and written that hold their schema and metadata themselves.

    Attributes
    ----------
    described : callable (path)
        Returns the schema of a file, and its metadata.
    batches : callable (path, names, rows)
        Yields columns in record batches.
    write : callable (sink, tables, schema, codecs, notes)
        Writes tables; `notes` gives metadata, once all tables are written.
    """

    described: Callable[[Path], tuple[Any, Mapping[bytes, bytes]]]
    batches: Callable[[Path, Sequence[str], int], Iterator[Any]]
    write: Callable[[Any, Iterable[Any], Any, Any, Notes], None]


def _describe_parquet(path: Path) -> tuple[Any, Mapping[bytes, bytes]]:
    with pq.ParquetFile(str(path)) as file:
        return file.schema_arrow, file.metadata.metadata or {}


def _parquet_batches(path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
    # with a buffer, since what is read ahead is kept until the end of the file
    with pq.ParquetFile(str(path), buffer_size=BUFFER, pre_buffer=False) as file:
        yield from file.iter_batches(batch_size=rows, columns=names)


def _write_parquet(
    sink: Any, tables: Iterable[Any], schema: Any, codecs: Any, notes: Notes
) -> None:
    with pq.ParquetWriter(sink, schema, compression=codecs) as writer:
        for table in tables:
            writer.write_table(table)
            del table  # before the next one is made
        writer.add_key_value_metadata(notes())


def _describe_arrow(path: Path) -> tuple[Any, Mapping[bytes, bytes]]:
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        return reader.schema, reader.schema.metadata or {}


def _arrow_batches(path: Path, names: Sequence[str], rows: int) -> Iterator[Any]:
    """Yield the batches of the file, however many rows they have."""
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        for k in range(reader.num_record_batches):
            yield reader.get_batch(k).select(names)


def _write_arrow(sink: Any, tables: Iterable[Any], schema: Any, codecs: Any, notes: Notes) -> None:
    """Write all tables at once: the metadata, and all labels, stand at the beginning of a file."""
    whole = pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries()
    schema = schema.with_metadata({**schema.metadata, **notes()})
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(whole.replace_schema_metadata(schema.metadata))


# All formats except CSV. A further one needs its suffixes in `FORMATS`, which the docstring of
# `mask_file` and docs/files.rst name, and an entry here. It must keep metadata within the file,
# for the scheme; one that cannot, such as ORC in pyarrow, needs a file beside it
# (`about.sidecar`).
BINARY: dict[str, Binary] = {
    "Parquet": Binary(_describe_parquet, _parquet_batches, _write_parquet),
    "Arrow": Binary(_describe_arrow, _arrow_batches, _write_arrow),
}


def described(path: Path) -> tuple[Any, Mapping[bytes, bytes]]:
    """Return the schema of a file that is not text, and its metadata, to which `write` adds."""
    return BINARY[format_of(path)].described(path)


def batches(path: Path, layout: Layout | None, names: Sequence[str], rows: int) -> Iterator[Any]:
    """Yield some columns of a file in record batches; those of Parquet have `rows` rows."""
    if layout is None:
        yield from BINARY[format_of(path)].batches(path, names, rows)
        return
    with csv_text.batches(path, layout, names) as reader:
        yield from reader


def write(
    path: Path,
    tables: Iterable[Any],
    schema: Any,
    layout: Layout | None,
    codecs: Any,
    notes: Notes,
) -> None:
    """Write tables into one file, in the format of its suffix; `notes` is called once all tables
    are written."""
    with pa.output_stream(str(path)) as sink:  # which compresses by its ending
        if layout is None:
            BINARY[format_of(path)].write(sink, tables, schema, codecs, notes)
            return
        sink.write(layout.mark + layout.head.encode(layout.encoding))
        for table in tables:
            sink.writelines(csv_text.lines(table, layout))
            del table  # before the next one is made


def codecs_of(path: Path) -> dict[str, str]:
    """Return by column how a Parquet file is compressed."""
    metadata = pq.read_metadata(str(path))
    count = metadata.num_columns if metadata.num_row_groups else 0
    columns = [metadata.row_group(0).column(k) for k in range(count)]
    return {
        one.path_in_schema: one.compression.lower().replace("uncompressed", "none")
        for one in columns
    }


def read_toml(path: Path) -> dict[str, Any]:
    """Return the entries of a TOML file, in which studies and options are written."""
    with reading(path):
        content = path.read_bytes()
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise ArgumentError(f"{path} is not TOML: {error}") from None
