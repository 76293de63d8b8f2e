"""Masked rows on their way into files: one, or as many as the source has, of the same names."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._optional import optional
from condmask.errors import ArgumentError, FileError
from condmask.files import about, csv_text, tables
from condmask.files.about import MANIFEST, Published
from condmask.files.csv_text import Layout
from condmask.files.parts import Pieces, joined
from condmask.files.publish import publishing, refuse_target, write_whole
from condmask.files.tables import Writer
from condmask.schemes.prepare import decimals_in_text
from condmask.strata import names_of


class Output:
    """A release that is being written.

    Parameters
    ----------
    hidden, target : Path
        The name under which it is written, and the one that it will get.
    published : Published
    schema : Schema
        Of the release, without notes.
    layouts : list of Layout or None
        How each file is written, where it is text.
    places : dict of str to int or None
        The decimals of masked columns in text.
    """

    def __init__(
        self, hidden: Path, target: Path, published: Published, schema: Any, layouts: Sequence[Layout | None],
        places: Mapping[str, int | None], names: Sequence[str] = (), codecs: Any = "snappy",
    ) -> None:  # fmt: skip
        self._hidden, self._target, self._published, self._schema = hidden, target, published, schema
        self._layouts, self._places, self._names, self._codecs = layouts, places, names, codecs
        self._writer: Writer | None = None
        self._opened = 0
        self.sizes: list[int] = []
        self.sums: dict[str, list[float]] = {name: [] for name in places}

    def add(self, part: Pieces, masked: Mapping[str, Any]) -> None:
        """Write a part, given in the pieces of its files, with its masked columns."""
        start = 0
        for number, pieces in groupby(part, itemgetter(0)):
            table = joined(list(pieces))
            own = {name: column.slice(start, table.num_rows) for name, column in masked.items()}
            self._of_file(number).write(self._in_place(table, own, self._layouts[number]))
            start += table.num_rows
        self.sizes.append(start)
        for name, column in masked.items():
            self.sums[name].append(float(_numbers(column).sum()))

    def close(self) -> None:
        """End the files, and write what is published beside them."""
        self._of_file(len(self._layouts) - 1)
        self._end()
        many = {name: tuple(sums) for name, sums in self.sums.items()} if len(self.sizes) > 1 else {}
        published = self._published._replace(sums={**self._published.sums, **many})
        if self._names:
            text = json.dumps(published.to_dict(), indent=1)
            (self._hidden / MANIFEST).write_text(text, encoding="utf-8")
        elif self._layouts[0] is not None:  # before the data: alone it fits nothing
            write_whole(about.sidecar(self._target), about.with_digest(published, self._hidden))

    def _of_file(self, number: int) -> Writer:
        """The writer of a file; those before it are ended, and made where they have no rows."""
        while self._opened <= number:
            self._end()
            name = self._names[self._opened] if self._names else ""
            path = self._hidden / name
            path.parent.mkdir(parents=True, exist_ok=True)
            ending = Path(name) if name else self._target
            self._writer = Writer(
                path, tables.format_of(ending), self._schema, layout=self._layouts[self._opened],
                packed=ending.suffix.lower() == ".gz", codecs=self._codecs,
            )  # fmt: skip
            self._opened += 1
        assert self._writer is not None
        return self._writer

    def _end(self) -> None:
        if self._writer is not None:
            self._writer.close(json.dumps(self.sums).encode())

    def _in_place(self, table: Any, masked: Mapping[str, Any], layout: Layout | None) -> Any:
        """The rows as they are released: as text where the file is text."""
        import pyarrow as pa

        columns = []
        for name in self._schema.names:
            column = masked.get(name, table[name])
            if layout is None:
                columns.append(column.cast(self._schema.field(name).type))
            elif name in masked:
                text = pa.types.is_large_string(table[name].type)
                cells = table[name] if text else pa.nulls(table.num_rows, pa.large_string())
                columns.append(csv_text.as_written(column, cells, layout, self._places[name]))
            else:
                columns.append(_as_text(column, name))
        names = self._schema.names
        return (
            pa.table(columns, names=names) if layout is not None else pa.table(columns, schema=self._schema)
        )


def released_type(dtype: Any, scheme: Any) -> Any:
    """The Arrow type of masked values of a column of this type: integers become int64 where the released
    values are whole, decimals keep their places where these suffice, float32 stays, and all else becomes
    float64."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_integer(dtype):
        whole = scheme.reverse_mapping or (scheme.grid is not None and scheme.grid.whole)
        return pa.int64() if whole else pa.float64()
    if kinds.is_decimal(dtype):
        enough = scheme.reverse_mapping or (scheme.decimals is not None and scheme.decimals <= dtype.scale)
        return pa.decimal128(38, dtype.scale) if enough else pa.float64()
    return pa.float32() if kinds.is_float32(dtype) else pa.float64()


def new_layout(target: Path, names: Sequence[str]) -> Layout | None:
    """How a file is written that was no text before; None where it is none now."""
    if tables.format_of(target) != "CSV":
        return None
    delimiter = "\t" if ".tsv" in target.suffixes[-2:] else ","
    head = delimiter.join(
        f'"{name.replace(chr(34), chr(34) * 2)}"' if _is_special(name) else name for name in names
    )
    return Layout(delimiter, ".", "utf-8", (), b"", head + "\n", list(names))


def write_table(
    frame: Any, target: Path, published: Published, columns: Sequence[str] | None, *, force: bool
) -> None:
    """Write a masked data frame."""
    with optional("write", "files"):
        table = frames.arrow_table(frame)
    names = table.schema.names if columns is None else list(_checks.names(columns, "columns"))
    for name in names:
        if name not in table.schema.names:
            raise ArgumentError(f"columns must be of the release, got {name!r}")
    kept = {name: scheme for name, scheme in published.schemes.items() if name in names}
    for name in (group for scheme in kept.values() for group in names_of(scheme.strata)):
        if name not in names:
            raise ArgumentError(f"columns must contain the strata, got none of {name!r}")
    refuse_target(target, None, force=force)
    layout = new_layout(target, names)
    form = {} if layout is None else {"delimiter": layout.delimiter, "decimal": layout.decimal}
    origins = {name: published.origins[name] for name in kept}
    told = Published(published.parts, kept, origins, form)
    types = {name: table.schema.field(name).type for name in kept}
    places = {name: decimals_in_text(scheme, _numbers(table[name])) for name, scheme in kept.items()}
    table = table.select(names)
    with publishing(target) as hidden:
        schema = about.released_schema(table.schema, table.schema.metadata, types, told, ())
        output = Output(hidden, target, told, schema, [layout], places)
        output.add([(0, table)], {name: table[name] for name in kept})
        output.close()


def _numbers(column: Any) -> np.ndarray:
    """The values that are not missing."""
    numbers: np.ndarray = column.drop_null().cast("float64", safe=False).to_numpy()
    return np.asarray(numbers[~np.isnan(numbers)])


def _as_text(column: Any, name: str) -> Any:
    """A column in clear as text, with nothing for a missing value."""
    import pyarrow as pa

    try:
        return column.cast(pa.large_string()).fill_null("")
    except pa.ArrowException:
        raise FileError(f"{name} cannot be written as text, got {column.type}: leave it out") from None


def _is_special(name: str) -> bool:
    return any(mark in name for mark in ',;\t"\r\n')
