"""What is published with the data: in the schema of Parquet and Arrow, beside CSV, once in a folder.

A release of several parts also says what the masked columns of each add up to. Where that differs on reading,
somebody moved rows: relations with other columns are refused then.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask.errors import ArgumentError, FileError
from condmask.estimates.origin import NOWHERE, Origin
from condmask.files import tables
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import SIDECAR
from condmask.scheme import Scheme

VERSION = 2
MANIFEST = "_condmask.json"
KEY = b"condmask"
TEXT = (
    "Columns of this table were masked by condmask: a masked value need not be its record's own. "
    "condmask.read_release and `condmask estimate` compute from it what the originals were."
)
OF_TYPES = {b"ARROW:extension:name", b"ARROW:extension:metadata"}
OF_PANDAS = "index_columns", "column_indexes", "columns", "pandas_version"


class Published(NamedTuple):
    """What is published with a table.

    Attributes
    ----------
    parts : tuple of int
        The records of each part, in the order of the rows.
    schemes, origins : dict
        By masked column.
    csv : dict
        How text is written, as of `CsvFormat`.
    sums : dict of str to tuple of float
        What each masked column adds up to in each part; empty for one part.
    """

    parts: tuple[int, ...]
    schemes: dict[str, Any]
    origins: dict[str, Origin]
    csv: dict[str, Any] = {}  # noqa: RUF012
    sums: dict[str, tuple[float, ...]] = {}  # noqa: RUF012

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(self.parts)

    @property
    def form(self) -> CsvFormat | None:
        """How text is written; None where the data are no text."""
        return CsvFormat(**self.csv) if self.csv else None

    def to_dict(self) -> dict[str, Any]:
        """All of it in terms of JSON."""
        return {
            "about": TEXT,
            "version": VERSION,
            "records": self.records,
            "parts": list(self.parts),
            "columns": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
            "origins": {name: origin._asdict() for name, origin in self.origins.items() if any(origin)},
            **({"csv": self.csv} if self.csv else {}),
            **({"sums": {name: list(sums) for name, sums in self.sums.items()}} if self.sums else {}),
        }

    @classmethod
    def from_dict(cls, entries: dict[str, Any], place: Any) -> "Published":
        """What `to_dict` described, and what version 1 wrote, in which all records are one part."""
        version = entries.get("version") if isinstance(entries, dict) else None
        if type(version) is int and version > VERSION:
            raise ArgumentError(f"{place} was masked by a newer condmask, got version {version}")
        if isinstance(entries, dict) and entries.get("in_folder") is True:
            raise ArgumentError(f"{place} is one file of a released folder, which is read as a whole")
        try:
            schemes = {name: Scheme.from_dict(one) for name, one in entries["columns"].items()}
            origins = dict.fromkeys(schemes, NOWHERE)
            for name, one in entries["origins"].items():
                origins[name] = Origin(one["group"], tuple(one["patterns"]), tuple(one["shift"]))
            layouts: dict[Any, Any] = {1: [entries.get("records")], VERSION: entries.get("parts")}
            sums = {name: tuple(map(float, one)) for name, one in entries.get("sums", {}).items()}
            form = dict(entries.get("csv", {}))
            CsvFormat(**form)
            return cls(tuple(map(int, layouts[version])), schemes, origins, form, sums)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise FileError(f"{place} is damaged: it holds no release") from error


def sidecar(path: Path) -> Path:
    """The file beside CSV."""
    return path.with_name(path.name + SIDECAR)


def with_digest(published: Published, path: Path) -> bytes:
    """The content of a sidecar, with the digest of the data that it belongs to."""
    return json.dumps({**published.to_dict(), "sha256": digest_of(path)}, indent=1).encode()


def digest_of(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of the list of those of its files."""
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file() and one.name[0] not in "._")
        lines = (f"{digest_of(one)}  {one.relative_to(path).as_posix()}\n" for one in files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def published(path: Path) -> Published | None:
    """What was published with a file or a folder; None if nothing was."""
    with tables.reading(path):
        if path.is_dir():
            return _read(path / MANIFEST)
        tables.check_regular(path)
        if tables.format_of(path) == "CSV":
            return _beside(path)
        schema = tables.schema_of(path, None)
        if KEY not in (schema.metadata or {}):
            return None
        found = Published.from_dict(_json(schema.metadata[KEY]), path)
        last = tables.last_of(path)
        if last is None or len(found.parts) == 1:
            return found
        return found._replace(sums={name: tuple(one) for name, one in _json(last).items()})


def _beside(path: Path) -> Published | None:
    beside = sidecar(path)
    found = _read(beside)
    if found is not None and _json(beside.read_bytes()).get("sha256") != digest_of(path):
        raise FileError(
            f"{path} is not the file that {beside.name} was published with: one of the two was changed, "
            "renamed or replaced"
        )
    return found


def _read(path: Path) -> Published | None:
    return Published.from_dict(_json(path.read_bytes()), path) if path.exists() else None


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def released_schema(
    schema: Any, types: Mapping[str, Any], about: dict[str, Any], keep: Collection[str]
) -> Any:
    """The schema of a release: masked columns of these types, what is published, and of the notes on the
    source only the index and columns of pandas, and those to be kept by name."""
    import pyarrow as pa

    kept, before = {name.encode() for name in keep}, schema.metadata or {}
    fields = []
    for field in schema:
        if field.name in types:
            fields.append(pa.field(field.name, types[field.name]))
            continue
        notes = {key: value for key, value in (field.metadata or {}).items() if key in OF_TYPES | kept}
        fields.append(pa.field(field.name, field.type, field.nullable, notes or None))
    notes = {key: value for key, value in before.items() if key in kept}
    if b"pandas" in before:
        notes[b"pandas"] = _pandas(_json(before[b"pandas"]), types)
    return pa.schema(fields, {**notes, KEY: json.dumps(about).encode()})


def check_kept(schema: Any, keep: Collection[str], path: Path) -> None:
    """Refuse names of notes that there are not."""
    there = {*(schema.metadata or {}), *(key for field in schema for key in field.metadata or {})}
    hint = f"; it has {sorted(key.decode('utf-8', 'replace') for key in there)}"
    for name in keep:
        rule = f"keep_metadata must name entries in the metadata of {path}"
        _checks.require(name.encode() in there, rule, name, hint=hint)


def _pandas(note: dict[str, Any], types: Mapping[str, Any]) -> bytes:
    """Pandas' note without attributes of the frame; masked columns are of the types that they now have."""
    kept = {name: note[name] for name in OF_PANDAS if name in note}
    kept["columns"] = [dict(column) for column in note.get("columns", [])]
    for column in kept["columns"]:
        dtype = types.get(column.get("field_name"))
        if dtype is not None:
            nullable = str(column.get("numpy_type"))[:1].isupper()
            name = "object" if str(dtype).startswith("decimal") else dtype.to_pandas_dtype().__name__
            column |= {
                "pandas_type": "decimal" if name == "object" else name,
                "numpy_type": name.capitalize() if nullable and name != "object" else name,
                "metadata": None,
            }
    return json.dumps(kept).encode()
