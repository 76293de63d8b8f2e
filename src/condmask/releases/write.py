"""Masked parts on their way into files: one, or as many as the source has, of the same names."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError, FileError, optional
from condmask.files import about, csv_text, tables
from condmask.files.about import MANIFEST, Published
from condmask.files.csv_text import Layout
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
    files = _Files(hidden, shape, published, places)
    sizes: list[int] = []
    sums = {name: [*published.sums.get(name, ())] for name in [*published.sums, *places]}
    for part, masked in parts:
        first, ends = sum(sizes), np.cumsum(rows)
        sizes.append(part.num_rows)
        cuts = np.clip(ends - first, 0, part.num_rows)
        for number in np.flatnonzero(np.diff(cuts, prepend=0)).tolist():
            start, stop = ([0, *cuts.tolist()][k] for k in (number, number + 1))
            own = {name: column.slice(start, stop - start) for name, column in masked.items()}
            files.write(number, part.slice(start, stop - start), own)
        for name, column in masked.items():
            sums[name].append(float(_numbers(column).sum()))
        if progress is not None:
            progress(sum(sizes), published.records)
        del part, masked, own  # before the next part is made
    if tuple(sizes) != published.parts:
        raise FileError(f"{shape.target}: its source has other rows than before; nothing was published")
    told = published._replace(sums={name: tuple(one) for name, one in sums.items()} if len(sizes) > 1 else {})
    files.end(told)
    if shape.names != [""]:
        (hidden / MANIFEST).write_text(json.dumps(told.to_dict(), indent=1), encoding="utf-8")
    elif shape.layouts[0] is not None:  # before the data have their name: alone it fits nothing
        sync(hidden)
        write_whole(about.sidecar(shape.target), about.with_digest(told, hidden))


class _Files:
    """The files of a release, written one after the other."""

    def __init__(
        self, hidden: Path, shape: Shape, published: Published, places: Mapping[str, int | None]
    ) -> None:
        self._hidden, self._shape, self._published, self._places = hidden, shape, published, places
        self._schema: Any = None
        self._writers: list[Writer] = []

    def write(self, number: int, table: Any, masked: Mapping[str, Any]) -> None:
        """Add rows to a file."""
        import pyarrow as pa

        if self._schema is None:
            types = {name: self._type(name, column.type) for name, column in masked.items()}
            told = self._published.to_dict() | {"in_folder": self._shape.names != [""]}
            self._schema = about.released_schema(self._shape.schema, types, told, self._shape.keep)
        self._begin(number)
        layout = self._shape.layouts[number]
        names = self._schema.names
        if layout is None:
            rows = pa.table({name: masked.get(name, table[name]) for name in names}).cast(self._schema)
        else:
            rows = pa.table({name: self._text(table[name], masked.get(name), name, layout) for name in names})
        self._writers[-1].write(rows)

    def _type(self, name: str, dtype: Any) -> Any:
        """The type of a masked column: whole numbers stay such in spite of gaps."""
        import pyarrow as pa

        scheme, before = self._published.schemes[name], self._shape.schema.field(name).type
        whole = scheme.reverse_mapping or (scheme.grid is not None and scheme.grid.whole)
        return pa.int64() if whole and pa.types.is_integer(before) else dtype

    def end(self, told: Published) -> None:
        """End all files, those without rows, too."""
        self._begin(len(self._shape.names) - 1)
        self._writers[-1].close(json.dumps(told.sums).encode())

    def _begin(self, number: int) -> None:
        """Open a file, and those before it that have no rows; end what was open."""
        while len(self._writers) <= number:
            if self._writers:
                self._writers[-1].close(b"{}")
            name = self._shape.names[len(self._writers)]
            path, ending = self._hidden / name, Path(name) if name else self._shape.target
            path.parent.mkdir(parents=True, exist_ok=True)
            layout = self._shape.layouts[len(self._writers)]
            self._writers.append(Writer(path, ending, self._schema, layout, self._shape.codecs))

    def _text(self, column: Any, masked: Any, name: str, layout: Layout) -> Any:
        """A column as text, with nothing for a missing value that had no word."""
        import pyarrow as pa

        try:
            cells = column.cast(pa.large_string()).fill_null("")
        except pa.ArrowException:
            raise FileError(f"{name} cannot be written as text, got {column.type}: leave it out") from None
        return cells if masked is None else csv_text.as_written(masked, cells, layout, self._places[name])


def write_table(
    frame: Any, target: Path, published: Published, columns: Sequence[str] | None, *, force: bool
) -> None:
    """Write a masked data frame."""
    with optional("write", "files"):
        table = frames.arrow_table(frame)
    names = table.schema.names if columns is None else list(_checks.names(columns, "columns"))
    kept = {name: scheme for name, scheme in published.schemes.items() if name in names}
    for name in names:
        if name not in table.schema.names:
            raise ArgumentError(f"columns must be of the release, got {name!r}")
    needed = [(*names_of(scheme.strata), *published.origins[name].patterns) for name, scheme in kept.items()]
    for name in {name for some in needed for name in some} - {*names}:
        raise ArgumentError(
            f"columns must contain {name!r}, whose values or gaps say who could give a value to whom"
        )
    refuse_target(target, None, force=force)
    table = table.select(names)
    masked = {name: table[name] for name in kept}
    shape = Shape(target, [""], table.schema, [_new_layout(target, names)])
    told = Published(published.parts, kept, {name: published.origins[name] for name in kept}, shape.csv)
    places = {name: decimals_in_text(scheme, _numbers(masked[name])) for name, scheme in kept.items()}
    with publishing(target) as hidden:
        write(hidden, shape, told, places, [(table, masked)], [table.num_rows])


def _new_layout(target: Path, names: Sequence[str]) -> Layout | None:
    """How a file is written that was no text before; None where it is none now."""
    if tables.format_of(target) != "CSV":
        return None
    delimiter = "\t" if ".tsv" in target.suffixes[-2:] else ","
    return Layout(delimiter, ".", "utf-8", (), b"", csv_text.header(names, delimiter), list(names))


def _numbers(column: Any) -> np.ndarray:
    """The values that are not missing."""
    numbers: np.ndarray = column.drop_null().cast("float64", safe=False).to_numpy()
    return np.asarray(numbers[~np.isnan(numbers)])
