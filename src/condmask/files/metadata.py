"""What is published with the data: in the file where its format has room, else in one beside it.

The file beside holds the digest of its data, so that the two cannot part unnoticed.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from condmask.estimates.origin import NOWHERE, Origin
from condmask.files.atomic import FileError, Fingerprint, fingerprint
from condmask.files.formats import ROOMY, Table, format_of
from condmask.files.recoding import is_packed, open_bytes, read_bytes
from condmask.files.streams import OPENED, SCHEMES
from condmask.scheme import Scheme

VERSION = 1
SIDECAR, NOTE = ".condmask.json", ".README.md"


def sidecar(path: Path) -> Path | None:
    """The file beside a file of this format; None where what is published stands in the data, or nobody has
    said where that of a stream stands."""
    if path in SCHEMES or path in OPENED:
        return SCHEMES.get(path)
    return None if format_of(path) in ROOMY else path.with_name(path.name + SIDECAR)


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
    """What stands beside a file, if it is that file's."""
    beside = sidecar(path)
    if beside is None or not (beside.exists() or path in SCHEMES):
        return None
    try:
        metadata: dict[str, Any] = json.loads(beside.read_text())
        digest = metadata["sha256"]
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{beside} is not what condmask published with a file of text") from None
    # what was published as text may have been packed since
    if digest != digest_of(path) and not (is_packed(path) and digest == _digest_of_text(path)):
        raise FileError(
            f"{path} is not the file that {beside.name} was published with: its SHA-256 is not {digest}, "
            "so one of the two was changed, renamed or replaced"
        )
    return metadata


def published(table: Table) -> Published | None:
    """What was published with a file, in its metadata or in the file beside it; None where nothing was."""
    metadata = table.metadata()
    if metadata is None:
        return None
    if metadata.get("version") != VERSION:
        raise ValueError(
            f"{table.path} was masked by a newer condmask, got version {metadata.get('version')!r}"
        )
    schemes = {name: Scheme.from_dict(entries) for name, entries in metadata["columns"].items()}
    origins = dict.fromkeys(schemes, NOWHERE)
    for name, entries in metadata["origins"].items():
        group, patterns, shift = (entries[field] for field in Origin._fields)
        origins[name] = Origin(group, tuple(patterns), tuple(shift))
    return Published(metadata["records"], schemes, origins)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, computed once while it stays as it is."""
    return _digest(path, fingerprint(path))


@lru_cache(maxsize=32)
def _digest(path: Path, _: tuple[int, ...] | None) -> str:
    with OPENED[path].open() if path in OPENED else path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of_text(path: Path) -> str:
    """The SHA-256 of what a packed file holds."""
    digest = hashlib.sha256()
    with open_bytes(path) as file:
        while data := read_bytes(path, file, 1 << 20):
            digest.update(data)
    return digest.hexdigest()
