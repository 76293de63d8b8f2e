"""What is published with the data: in the file where its format has room, else in one beside it; once in a
folder of many files.

The file beside holds the digest of its data, so that the two cannot part unnoticed; in a folder it
holds the list of all files.
"""

import hashlib
import json
import os
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.estimates.origin import NOWHERE, Origin
from condmask.files.atomic import FileError, Fingerprint, fingerprint
from condmask.files.formats import ROOMY, Table, format_of
from condmask.files.part_files import NOTE, SIDECAR, is_folder, part_files
from condmask.files.recoding import is_packed, open_bytes, read_bytes
from condmask.files.source_file import SourceFile
from condmask.files.streams import OPENED, SCHEMES
from condmask.scheme import Scheme

VERSION = 1
FOLDER_METADATA, FOLDER_NOTE = "_condmask.json", "_README.md"


def sidecar(path: Path) -> Path | None:
    """The file beside a file of this format; None where what is published stands in the data, or nobody has
    said where that of a stream stands."""
    if path in SCHEMES or path in OPENED:
        return SCHEMES.get(path)
    return None if format_of(path) in ROOMY else path.with_name(path.name + SIDECAR)


def place_of_metadata(path: Path) -> str:
    """The place of what is published, for messages."""
    if is_folder(path):
        return f"in {FOLDER_METADATA} in the folder"
    beside = sidecar(path)
    return "in the metadata of its schema" if beside is None else f"in {beside.name} beside it"


def target_fingerprints(target: Path) -> dict[Path, Fingerprint]:
    """The fingerprints of the files of a release, the data first and the note for analysts last."""
    beside = sidecar(target)
    notes = [] if target in OPENED else [target.with_name(target.name + NOTE)]
    files = [target, *([] if beside is None else [beside]), *notes]
    return {path: fingerprint(path) for path in files}


class Published(NamedTuple):
    """What is published with a file: the number of its records and, by masked column, scheme and origin."""

    records: int
    schemes: dict[str, Any]
    origins: dict[str, Origin]

    def to_dict(self) -> dict[str, Any]:
        """All of it in terms of JSON."""
        return {
            "version": VERSION,
            "records": self.records,
            "columns": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
            "origins": {name: origin._asdict() for name, origin in self.origins.items() if any(origin)},
        }


def beside_data(metadata: dict[str, Any], sha256: str) -> bytes:
    """The file beside data of this digest."""
    return json.dumps({**metadata, "sha256": sha256}, indent=1).encode()


def read_beside(path: Path) -> dict[str, Any] | None:
    """What was published beside a file, checked to belong to it."""
    beside = sidecar(path)
    if beside is None or not (os.path.exists(beside) or path in SCHEMES):  # a name may be too long for one
        return _listed_above(path)
    try:
        metadata: dict[str, Any] = json.loads(beside.read_text(encoding="utf-8"))
        digest = metadata["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(f"{beside} is not what condmask published with a text file") from None
    # what was published as text may have been packed since
    if digest != digest_of(path) and not (is_packed(path) and digest == _digest_of_text(path)):
        raise FileError(
            f"{path} is not the file that {beside.name} was published with: its SHA-256 is not {digest}, "
            "so one of the two was changed, renamed or replaced"
        )
    return metadata


def read_list(folder: Path) -> dict[str, Any] | None:
    """What was published with the files in a folder, with the list of them."""
    try:
        text = (folder / FOLDER_METADATA).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    metadata: dict[str, Any] = from_json(text)
    _of_this_version(metadata, folder)
    if not (is_sound(metadata) and _is_list(metadata.get("parts"), metadata["records"])):
        raise _damaged(folder / FOLDER_METADATA)
    return metadata


def from_json(text: str | bytes) -> Any:
    """The content of a text; an empty dict if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def is_sound(metadata: Any) -> bool:
    """Whether what is published has the required fields, of the right types."""
    if not (isinstance(metadata, dict) and metadata.get("version") == VERSION):
        return False
    columns, origins = metadata.get("columns"), metadata.get("origins")
    return (
        _is_count(metadata.get("records"))
        and isinstance(columns, dict)
        and len(columns) > 0
        and all(isinstance(entries, dict) for entries in columns.values())
        and isinstance(origins, dict)
        and all(name in columns and _is_origin(entries, columns) for name, entries in origins.items())
        and isinstance(metadata.get("csv", {}), dict)
    )


def _is_origin(entries: Any, columns: Collection[str]) -> bool:
    if not (isinstance(entries, dict) and set(entries) >= set(Origin._fields)):
        return False
    group, patterns, shift = (entries[field] for field in Origin._fields)
    return (
        (group is None or isinstance(group, str))
        and (
            isinstance(patterns, list) and all(isinstance(name, str) and name in columns for name in patterns)
        )
        and (isinstance(shift, list) and len(shift) in (0, 2) and all(map(_is_finite, shift)))
    )


def _is_list(parts: Any, records: int) -> bool:
    """Whether parts have names of their own and, together, as many records."""
    if not (isinstance(parts, list) and parts and all(isinstance(part, dict) for part in parts)):
        return False
    names, counts, digests = ([part.get(key) for part in parts] for key in ("name", "records", "digest"))
    return (
        all(isinstance(text, str) for text in (*names, *digests))
        and len(set(names)) == len(names)
        and all(map(_is_count, counts))
        and sum(counts) == records
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _checks.LARGEST_EXACT_INTEGER


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and -_checks.LARGEST <= value <= _checks.LARGEST


def _damaged(place: Any) -> FileError:
    return FileError(f"{place} is damaged: it holds no release")


def _of_this_version(metadata: Any, path: Path) -> None:
    version = metadata.get("version") if isinstance(metadata, dict) else None
    if type(version) is int and version > VERSION:
        raise ArgumentError(f"{path} was masked by a newer condmask, got version {version}")


def part_entry(metadata: dict[str, Any], part: int) -> dict[str, Any]:
    """The metadata of a file that is one of many."""
    return {
        "version": VERSION,
        "part": part,
        "parts": len(metadata["parts"]),
        "release": metadata["release"],
    }


def part_of(path: Path, metadata: dict[str, Any]) -> str:
    """The sentence on a file that is one of many."""
    part, parts, name = (metadata.get(key) for key in ("part", "parts", "release"))
    return (
        f"{path} is part {part} of {parts} of release {name}, and cannot be used alone: read the folder "
        f"with {FOLDER_METADATA} in it"
    )


def _listed_above(path: Path) -> dict[str, Any] | None:
    """The metadata of a file that is listed in a folder above."""
    path = path.absolute()
    for folder in path.parents:
        listed = None
        with suppress(OSError, ValueError):  # of other files
            listed = read_list(folder)
        if listed is not None and listed["version"] == VERSION:
            names = [part["name"] for part in listed["parts"]]
            name = path.relative_to(folder).as_posix()
            return part_entry(listed, names.index(name) + 1) if name in names else None
    return None


def published(table: Table) -> Published | None:
    """What was published with a file, in its metadata or beside it; None if nothing was."""
    metadata = table.metadata()
    if metadata is None:
        return None
    _of_this_version(metadata, table.path)
    if isinstance(metadata, dict) and "part" in metadata:
        raise ArgumentError(part_of(table.path, metadata))
    if not is_sound(metadata):
        raise _damaged(f"what was published with {table.path}, {place_of_metadata(table.path)},")
    schemes = {name: Scheme.from_dict(entries) for name, entries in metadata["columns"].items()}
    origins = dict.fromkeys(schemes, NOWHERE)
    for name, entries in metadata["origins"].items():
        group, patterns, shift = (entries[field] for field in Origin._fields)
        origins[name] = Origin(group, tuple(patterns), tuple(shift))
    return Published(metadata["records"], schemes, origins)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, computed once unless it changes; of many files, that of the list of their
    digests and names."""
    if is_folder(path):
        files = part_files(path)
        lines = (f"{digest_of(file)}  {name}\n" for file, name in zip(files.paths, files.names, strict=True))
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return _digest(path, fingerprint(path))


@lru_cache(maxsize=1 << 14)  # many files may be one release
def _digest(path: Path, _: tuple[int, ...] | None) -> str:
    with OPENED[path].open() if path in OPENED else SourceFile(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of_text(path: Path) -> str:
    """The SHA-256 of what a packed file holds."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while data := read_bytes(path, file, 1 << 20):
            digest.update(data)
    return digest.hexdigest()
