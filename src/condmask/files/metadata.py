"""What is published with the data: in the file where its format has room, else in one beside it.

The file beside holds the digest of its data, so that the two cannot part unnoticed.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from condmask.files.atomic import FileError, state
from condmask.files.formats import ROOMY, Table, format_of
from condmask.scheme import Scheme

VERSION = 1
SIDECAR, NOTE = ".condmask.json", ".README.md"


def sidecar(path: Path) -> Path | None:
    """The file beside a file of this format; None where what is published stands in the data."""
    return None if format_of(path) in ROOMY else path.with_name(path.name + SIDECAR)


def standing(target: Path) -> dict[Path, tuple[int, ...] | None]:
    """The files of a release, the data first and the note for analysts last, in the state they are in."""
    beside = sidecar(target)
    files = [target, *([] if beside is None else [beside]), target.with_name(target.name + NOTE)]
    return {path: state(path) for path in files}


def described(rows: int, schemes: dict[str, Scheme]) -> dict[str, Any]:
    """What is published with so many rows."""
    return {"version": VERSION, "rows": rows, "columns": {n: s.to_dict() for n, s in schemes.items()}}


def beside_data(metadata: dict[str, Any], sha256: str) -> bytes:
    """The file beside data of this digest."""
    return json.dumps({**metadata, "sha256": sha256}, indent=1).encode()


def read_beside(path: Path) -> dict[str, Any] | None:
    """What stands beside a file, if it is that file's; older releases have no digest."""
    beside = sidecar(path)
    if beside is None or not beside.exists():
        return None
    metadata: dict[str, Any] = json.loads(beside.read_text())
    digest = metadata.get("sha256")
    if digest is not None and digest != digest_of(path):
        raise FileError(
            f"{path} is not the file that {beside.name} was published with: its SHA-256 is not {digest}, "
            "so one of the two was changed, renamed or replaced"
        )
    return metadata


def published(table: Table) -> dict[str, Any]:
    """What was published with a file; empty where nothing was."""
    metadata = table.metadata()
    if metadata is not None and metadata.get("version") != VERSION:
        raise ValueError(
            f"{table.path} was masked by a newer condmask, got version {metadata.get('version')!r}"
        )
    return metadata or {}


def published_schemes(table: Table) -> dict[str, Scheme]:
    """The schemes that a file carries, in its metadata or in the file beside it."""
    entries = published(table).get("columns", {})
    return {name: Scheme.from_dict(entry) for name, entry in entries.items()}


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, computed once while it stays as it is."""
    return _digest(path, state(path))


@lru_cache(maxsize=32)
def _digest(path: Path, _: tuple[int, ...] | None) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
