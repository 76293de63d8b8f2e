"""Write masked parts into files: one, or as many as the source has, under the same names."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._blocks import ahead
from condmask.errors import ArgumentError, FileError, ReleaseWarning, optional, warn
from condmask.files import about, csv_text, stat, tables
from condmask.files.about import Published
from condmask.files.arrow import ArrowArray, ArrowSchema, ArrowTable, ArrowType, pa, pc
from condmask.files.csv_text import Layout
from condmask.files.names import padded
from condmask.files.parts import MANIFEST, Source
from condmask.files.publish import publishing
from condmask.files.stat import StatFile
from condmask.frames import DataFrame
from condmask.labels import coded
from condmask.marks import with_mark
from condmask.masking.scheme import Scheme
from condmask.strata import names_of

Progress = Callable[[int, int | None], None] | None
OF_TYPES = {b"ARROW:extension:name", b"ARROW:extension:metadata"}
OF_PANDAS = "index_columns", "column_indexes", "columns", "pandas_version"
SINGLE_FILE = "."  # the name of a file that is in no folder of a release
MaskedPart = tuple[ArrowTable, Mapping[str, ArrowArray]]  # a part, and its masked columns


class Shape(NamedTuple):
    """The names and formats of the files of a release.

    Attributes
    ----------
    names : list of str
        Of the files in a folder; "." for one file.
    schema : Schema
        Of the source.
    layout : Layout or None
        How text is written.
    codecs : str or dict of str to str
        How Parquet is compressed.
    keep : tuple of str
        Notes on the source to keep.
    form : str
        The format of the released files.
    stat : StatFile or None
        The source, if it is a file of SPSS or Stata.
    """

    names: list[str]
    schema: ArrowSchema
    layout: Layout | None = None
    codecs: str | dict[str, str] = "snappy"
    keep: Sequence[str] = ()
    form: str = ""
    stat: StatFile | None = None


def shape_of(origin: Source, target: Path, keep: Sequence[str]) -> Shape:
    """Return the shape of the release of a source: that of the source, except that a single file
    may get another format."""
    whole = origin.schema
    # of the table and of its columns
    there = sorted(
        {key.decode("utf-8", "replace") for one in (whole, *whole) for key in one.metadata or {}}
    )
    for name in keep:
        rule = f"keep_metadata must name entries in the metadata of {origin.path}"
        _checks.require(name in there, rule, name, hint=f"; it has {there}")
    schema = pa.schema([field for field in whole if field.name not in origin.keys], whole.metadata)
    now = origin.format if origin.is_folder else tables.format_of(target)
    if origin.layout is not None and now != "CSV":
        raise ArgumentError(
            f"{target} must be text, as {origin.path} is; docs/files.rst has a way around"
        )
    layout = origin.layout and csv_text.without(origin.layout, origin.left_out)
    layout = layout or (csv_text.new_layout(target, schema.names) if now == "CSV" else None)
    codecs = tables.codecs_of(origin.files[0]) if origin.format == now == "Parquet" else "snappy"
    return Shape(padded(origin.file_names), schema, layout, codecs, keep, now, origin.stat)


def write_parts(
    place: Path,
    shape: Shape,
    published: Published,
    parts: Iterable[MaskedPart],
    rows: Sequence[int],
    progress: Progress = None,
    workers: int = 1,
) -> None:
    """Write masked parts into files with these numbers of rows at a hidden place, with the
    metadata of the release."""
    sums: dict[str, list[float]] = {name: [] for name in published.schemes if published.parts[1:]}
    written = released_parts(shape, published, parts, sums, progress)
    written = written if workers == 1 else ahead(written)
    held = [next(written)]
    schema = held[0].schema

    def notes() -> dict[str, str]:
        return {about.SUMS_KEY: json.dumps(sums)} if sums else {}

    for name, count in zip(shape.names, rows, strict=True):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows_of_file = _next_rows(count, held, written)
        if stat.form_of(path) is None:
            tables.write(path, rows_of_file, schema, shape.layout, shape.codecs, notes)
        else:
            _write_stat(path, pa.concat_tables(rows_of_file), shape, published)
    if next(written, None) is not None:  # which refuses a source that was changed meanwhile
        raise FileError(
            f"{place.name}: its source has other rows than before; nothing was published"
        )
    metadata = published._replace(csv=shape.layout and shape.layout.form, sums=sums).to_dict()
    if shape.names != [SINGLE_FILE]:
        (place / MANIFEST).write_text(json.dumps(metadata))
    elif shape.layout is not None or stat.form_of(place) is not None:
        metadata |= {"sha256": about.digest_of(place)}
        about.sidecar(place).write_text(json.dumps(metadata))


def _write_stat(path: Path, table: ArrowTable, shape: Shape, published: Published) -> None:
    """Write a file of SPSS or Stata; warn of what could not be kept."""
    schemes = published.schemes.items()
    undeclared = [name for name, scheme in schemes if scheme.missing_as == "null"]
    for text in stat.write(path, table, shape.stat, undeclared):
        warn(text, ReleaseWarning, about=text)


def _next_rows(
    count: int, held: list[ArrowTable], written: Iterator[ArrowTable]
) -> Iterator[ArrowTable]:
    """Yield the next `count` rows; the rest of a part is put back into `held`."""
    while count:
        table = held.pop() if held else next(written)
        if table.num_rows > count:
            held.append(table.slice(count))
        some = table.slice(0, count)
        count -= some.num_rows
        del table
        yield some
        del some  # before the next part is made


def released_parts(
    shape: Shape,
    published: Published,
    parts: Iterable[MaskedPart],
    sums: dict[str, list[float]],
    progress: Progress = None,
) -> Iterator[ArrowTable]:
    """Yield the parts as tables to be written; append the sums of their columns to `sums`."""
    schema = None
    done = 0
    for part, masked in parts:
        if shape.stat is not None and shape.stat.form == "Stata" != shape.form:
            part = stat.table_without_letters(part)
            masked = {name: stat.without_letters(column) for name, column in masked.items()}
        schema = _schema_of(shape, published, masked) if schema is None else schema
        for name, found in sums.items():
            found.append(float(np.nansum(_numbers(masked, name, shape.layout))))
        done += part.num_rows
        if shape.layout is None:
            columns = [
                masked[name] if name in masked else _used_labels(part[name])
                for name in schema.names
            ]
            yield pa.table(columns, names=schema.names).cast(schema)
            del columns
        else:
            yield _as_text(part, masked, published.schemes, shape.layout)
        del part, masked  # before the next part is made
        if progress is not None:
            progress(done, published.records)


def _schema_of(
    shape: Shape, published: Published, masked: Mapping[str, ArrowArray]
) -> ArrowSchema:
    """Return the schema of the release.

    Masked columns of integers stay integers in spite of gaps. Of the metadata of the source, only
    pandas' index and columns are kept, and entries to be kept by name.
    """
    types = {name: column.type for name, column in masked.items()}
    for name in types:
        scheme = published.schemes[name]
        was_integer = pa.types.is_integer(shape.schema.field(name).type)
        if scheme.releases_whole_numbers and was_integer and pa.types.is_floating(types[name]):
            types[name] = pa.int64()
    wanted = {name.encode() for name in shape.keep}
    before = shape.schema.metadata or {}

    def kept(
        notes: Mapping[bytes, bytes] | None, more: Collection[bytes] = ()
    ) -> dict[bytes, bytes]:
        return {key: value for key, value in (notes or {}).items() if key in wanted or key in more}

    fields = [
        pa.field(field.name, types[field.name])
        if field.name in types
        else field.with_metadata(kept(field.metadata, OF_TYPES) or None)
        for field in shape.schema
    ]
    pandas = {}
    if b"pandas" in before:
        pandas[b"pandas"] = _pandas(json.loads(before[b"pandas"]), types, shape.schema.names)
    described = published.to_dict() | {"in_folder": shape.names != [SINGLE_FILE]}
    noted = {**kept(before), **pandas, about.SCHEMA_KEY: json.dumps(described).encode()}
    return pa.schema(fields, with_mark(noted, [*published.schemes], published.records))


def _pandas(note: dict[str, Any], types: Mapping[str, ArrowType], names: Collection[str]) -> bytes:
    """Return pandas' note on the released columns, without the attributes of the frame, and with
    the types that masked columns have now."""
    kept = {name: note[name] for name in OF_PANDAS if name in note}
    kept["index_columns"] = [
        index
        for index in note.get("index_columns", ())
        if index in names or not isinstance(index, str)
    ]
    kept["columns"] = [
        column
        for column in note.get("columns", ())
        if column.get("field_name", column.get("name")) in names
    ]
    for column in kept.get("columns", ()):
        if column.get("field_name") in types:
            kind = str(np.dtype(types[column["field_name"]].to_pandas_dtype()))
            # Int64
            kind = kind.capitalize() if str(column.get("numpy_type"))[:1].isupper() else kind
            column |= {"pandas_type": kind.lower(), "numpy_type": kind, "metadata": None}
    return json.dumps(kept).encode()


def _used_labels(column: ArrowArray) -> ArrowArray:
    """Return a column without labels that no record has: they may name records left out."""
    if not pa.types.is_dictionary(column.type):
        return column
    whole = column.unify_dictionaries().combine_chunks()
    used = pc.unique(whole.indices).drop_null().sort()
    code = pc.index_in(whole.indices, value_set=used).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(
        code, whole.dictionary.take(used), ordered=column.type.ordered
    )


def _as_text(
    part: ArrowTable,
    masked: Mapping[str, ArrowArray],
    schemes: Mapping[str, Scheme],
    layout: Layout,
) -> ArrowTable:
    """Return a part as text, with empty cells for missing values that had no word."""
    texts = {}
    strata = names_of(next(iter(schemes.values())).strata)
    for name in layout.names:
        try:
            texts[name] = part[name].cast(pa.large_string()).fill_null("")
        except pa.ArrowException:
            given = f"got {part[name].type}: leave it out"
            raise FileError(f"{name} cannot be written as text, {given}") from None
        if name in strata and len(coded(part, name).distinct) != len(coded(texts, name).distinct):
            raise FileError(
                f"{name} has strata that are others in text, as an empty label and none are"
            )
        if name in masked and pa.types.is_large_string(masked[name].type):
            texts[name] = masked[name]  # cells as they are written
        elif name in masked:
            places = schemes[name].decimals_in_text(_numbers(masked, name, layout))
            texts[name] = csv_text.as_written(masked[name], texts[name], layout, places)
    return pa.table(texts)


def _numbers(masked: Mapping[str, Any], name: str, layout: Layout | None) -> np.ndarray:
    """Return a masked column as numbers, of which cells of text are some."""
    if layout is not None and pa.types.is_large_string(masked[name].type):
        return csv_text.numbers(masked[name], layout, name)
    return np.asarray(frames.column_of(masked, name, least=0).array)


def write_table(frame: DataFrame, target: Path, published: Published) -> None:
    """Write a masked data frame."""
    with optional("write", "files"):
        table = frames.arrow_table(frame)
    layout = (
        csv_text.new_layout(target, table.schema.names)
        if tables.format_of(target) == "CSV"
        else None
    )
    shape = Shape([SINGLE_FILE], table.schema, layout)
    masked = {name: table[name] for name in published.schemes}
    with publishing(target) as place:
        write_parts(place, shape, published, [(table, masked)], [table.num_rows])
