"""The list of the files of a release, by which missing, added and changed ones are found and named."""

import hashlib
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.files.atomic import FileError
from condmask.files.formats import ROOMY, format_of
from condmask.files.metadata import FOLDER_METADATA, digest_of, part_of
from condmask.files.part_files import PartFiles
from condmask.files.source_file import SourceFile

# bytes at the end, and where in them the footer's length stands
TAILS = {"Parquet": (8, 0), "Arrow": (10, 0)}
LONGEST = 1 << 28  # bytes of a footer


def part_digest(path: Path) -> str:
    """A digest of a file by which most changes are noticed.

    For text it is the SHA-256 of the file. For Parquet and Arrow it is that of the size and the footer, which
    has the place and length of everything, and the extremes of columns: bytes that were exchanged within the
    data without changing these are not noticed.
    """
    kind = format_of(path)
    if kind not in ROOMY:
        return digest_of(path)
    tail, at = TAILS[kind]
    with SourceFile(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - tail))
        length = int.from_bytes(file.read(tail)[at : at + 4], "little")
        file.seek(max(0, size - tail - min(length, LONGEST)))
        return hashlib.sha256(size.to_bytes(8, "little") + file.read()).hexdigest()


def check_parts(files: PartFiles, listed: dict[str, Any]) -> None:
    """Refuse a folder whose files are not those that were published together under these names."""
    base, digests = files.base, {part["name"]: part["digest"] for part in listed["parts"]}
    missing = [name for name in digests if name not in files.names]
    added = [name for name in files.names if name not in digests]
    changed = [name for name in files.names if name in digests and part_digest(base / name) != digests[name]]
    known = {digest: name for name, digest in digests.items()}
    for name in (*added, *changed):
        before = known.get(part_digest(base / name))
        if before in missing or before in changed:
            raise FileError(f"{base} is not the folder that was released: {name} was {before} there")
    for names, what in ((missing, "it lacks {}"), (added, "{} was added"), (changed, "{} changed")):
        if names:
            raise FileError(
                f"{base} is not the folder that was released: {what.format(_checks.listed(names))}, by its "
                f"{FOLDER_METADATA}"
            )
    if files.names != list(digests):
        raise FileError(f"{base} is not the folder that was released: {FOLDER_METADATA} has another order")


def refuse_release(path: Path, metadata: dict[str, Any] | None) -> None:
    """Refuse a file that is a release, or part of one, among originals."""
    if metadata is None:
        return
    if isinstance(metadata, dict) and "part" in metadata:
        raise ArgumentError(part_of(path, metadata))
    raise ArgumentError(f"{path} is a release by itself: read it alone, or mask its original instead")
