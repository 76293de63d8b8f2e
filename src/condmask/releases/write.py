"""Masked parts on their way into files: one, or as many as the source has, of the same names."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError, FileError, optional
from condmask.files import about, csv_text, tables
from condmask.files.about import MANIFEST, Published
from condmask.files.csv_text import CsvFormat, Layout
from condmask.files.parts import Source
from condmask.files.publish import publishing, refuse_target, sync, write_whole
from condmask.files.tables import Writer
from condmask.schemes.prepare import decimals_in_text
from condmask.strata import names_of

Progress = Callable[[int, int | None], None] | None


class Shape(NamedTuple):
    """What the files of a release look like.

    Attributes
    ----------
    target : Path
    names : list of str
        Of the files in a folder; "" for one file.
    schema : Schema
        Of the source.
    layouts : list of Layout or None
        How each file is written, where it is text.
    codecs : str or dict of str to str
        How Parquet is compressed.
    keep : tuple of str
        Notes on the source to keep.
    """

    target: Path
    names: list[str]
    schema: Any
    layouts: list[Layout | None]
    codecs: Any = "snappy"
    keep: Sequence[str] = ()

    @property
    def csv(self) -> dict[str, Any]:
        """How text is written, for readers."""
        layout = self.layouts[0]
        return {} if layout is None else {name: value for name, value in vars(layout.form).items() if value}


def shape_of(origin: Source, target: Path, keep: Sequence[str]) -> Shape:
    """The shape of the release of a source: that of the source, but for another format of a single file."""
    about.check_kept(origin.schema, keep, origin.path)
    names = origin.file_names if origin.is_folder else [""]
    schema = origin.schema
    for key in origin.keys:
        schema = schema.remove(schema.get_field_index(key))
    now = origin.format if origin.is_folder else tables.format_of(target)
    if origin.format == "CSV" and now != "CSV":
        raise ArgumentError(
            tables.FROM_CSV.format(source=str(origin.path), target=f"{origin.path.stem}.parquet")
        )
    layouts = origin.layouts if origin.format == now else [_new_layout(target, schema.names)]
    codecs = tables.codecs_of(origin.files[0]) if origin.format == now == "Parquet" else "snappy"
    return Shape(target, names, schema, layouts, codecs, keep)


def write(
    hidden: Path, shape: Shape, published: Published, places: Mapping[str, int | None],
    parts: Iterable[tuple[Any, Mapping[str, Any]]], rows: Sequence[int], progress: Progress = None,
) -> None:  # fmt: skip
    """Write masked parts into files of so many rows under a hidden name, and what is published with them."""
    sums = {name: [*published.sums.get(name, ())] for name in [*published.sums, *places]}
    sizes, ends, schema = [0], np.cumsum(rows), None
    writers: list[Writer] = []

    def begin(number: int) -> None:
        """Open a file, and those before it that have no rows; end what was open."""
        for k in range(len(writers), number + 1):
            if writers:
                writers[-1].close(b"{}")
            path, ending = hidden / shape.names[k], Path(shape.names[k] or shape.target)
            path.parent.mkdir(parents=True, exist_ok=True)
            writers.append(Writer(path, ending, schema, shape.layouts[k], shape.codecs))

    for part, masked in parts:
        schema = schema_of(shape, published, masked) if schema is None else schema
        table = released(part, masked, schema, shape.layouts[0], places)
        cuts = [0, *np.clip(ends - sum(sizes), 0, part.num_rows).tolist()]
        for number, (start, stop) in enumerate(pairwise(cuts)):
            if stop > start:
                begin(number)
                writers[-1].write(table.slice(start, stop - start))
        sizes.append(part.num_rows)
        for name, column in masked.items():
            sums[name].append(float(_numbers(column).sum()))
        if progress is not None:
            progress(sum(sizes), published.records)
        del part, masked, table  # before the next part is made
    if tuple(sizes[1:]) != published.parts:
        raise FileError(f"{shape.target}: its source has other rows than before; nothing was published")
    told = published._replace(sums={name: tuple(one) for name, one in sums.items()} if sizes[2:] else {})
    begin(len(shape.names) - 1)
    writers[-1].close(json.dumps(told.sums).encode())
    if shape.names != [""]:
        (hidden / MANIFEST).write_text(json.dumps(told.to_dict(), indent=1), encoding="utf-8")
    elif shape.layouts[0] is not None:  # before the data have their name: alone it fits nothing
        sync(hidden)
        write_whole(about.sidecar(shape.target), about.with_digest(told, hidden))


def schema_of(shape: Shape, published: Published, masked: Mapping[str, Any]) -> Any:
    """The schema of the release: masked columns of whole numbers stay such in spite of gaps."""
    import pyarrow as pa

    types = {name: column.type for name, column in masked.items()}
    for name in types:
        scheme = published.schemes[name]
        whole = scheme.reverse_mapping or (scheme.grid is not None and scheme.grid.whole)
        if whole and pa.types.is_integer(shape.schema.field(name).type):
            types[name] = pa.int64()
    told = published.to_dict() | {"in_folder": shape.names != [""]}
    return about.released_schema(shape.schema, types, told, shape.keep)


def released(
    part: Any, masked: Mapping[str, Any], schema: Any, layout: Layout | None, places: Mapping[str, int | None]
) -> Any:
    """A part as it is written: of the types of the schema, or text with nothing for a missing value that had
    no word."""
    import pyarrow as pa

    if layout is None:
        return pa.table({name: masked.get(name, part[name]) for name in schema.names}).cast(schema)
    texts = {}
    for name in schema.names:
        try:
            texts[name] = part[name].cast(pa.large_string()).fill_null("")
        except pa.ArrowException:
            given = f"got {part[name].type}: leave it out"
            raise FileError(f"{name} cannot be written as text, {given}") from None
        if name in masked:
            texts[name] = csv_text.as_written(masked[name], texts[name], layout, places[name])
    return pa.table(texts)


def write_table(
    frame: Any, target: Path, published: Published, columns: Sequence[str] | None, *, force: bool
) -> None:
    """Write a masked data frame."""
    with optional("write", "files"):
        table = frames.arrow_table(frame)
    names = table.schema.names if columns is None else list(_checks.names(columns, "columns"))
    for name in names:
        _checks.require(name in table.schema.names, "columns must be of the release", name)
    kept = {name: scheme for name, scheme in published.schemes.items() if name in names}
    origins = {name: published.origins[name] for name in kept}
    needed = [(*names_of(scheme.strata), *origins[name].patterns) for name, scheme in kept.items()]
    for name in {name for some in needed for name in some} - {*names}:
        raise ArgumentError(
            f"columns must contain {name!r}, whose values or gaps say who could give a value to whom"
        )
    refuse_target(target, None, force=force)
    table = table.select(names)
    masked = {name: table[name] for name in kept}
    places = {name: decimals_in_text(scheme, _numbers(masked[name])) for name, scheme in kept.items()}
    shape = Shape(target, [""], table.schema, [_new_layout(target, names)])
    told = Published(published.parts, kept, origins, shape.csv)
    with publishing(target) as hidden:
        write(hidden, shape, told, places, [(table, masked)], [table.num_rows])


def _new_layout(target: Path, names: Sequence[str]) -> Layout | None:
    """How a file is written that was no text before; None where it is none now."""
    if tables.format_of(target) != "CSV":
        return None
    delimiter = "\t" if ".tsv" in target.suffixes[-2:] else ","
    form = CsvFormat(delimiter, ".", "utf-8")
    return Layout(form, b"", csv_text.header(names, delimiter), list(names))


def _numbers(column: Any) -> np.ndarray:
    """The values that are not missing."""
    numbers: np.ndarray = column.drop_null().cast("float64", safe=False).to_numpy()
    return np.asarray(numbers[~np.isnan(numbers)])
