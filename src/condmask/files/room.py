"""The disk space that masking takes, computed and checked before anything is read.

Temporary files hold the columns to be masked (8 bytes a value), strata (4 bytes a row and column), donor
pools (two numbers of a row, and a byte for each column and one more), and what orders records: for a
permutation a word and two numbers of a row, for reverse mapping 24 bytes and four such numbers. A number of
a row takes 4 bytes, 8 from 2^31 rows on. A release takes as much as its source, and 8 bytes a masked value.
"""

import os
import shutil
import tempfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask.files.atomic import FileError, fingerprint
from condmask.files.formats import Table
from condmask.files.recoding import is_packed
from condmask.files.source_file import SourceFile
from condmask.files.streams import OPENED
from condmask.strata import index_type

LOOKED_AT = 1 << 20  # bytes of a text, which tell how long its lines are
MUCH = 10**9  # bytes that are worth a word


class Room(NamedTuple):
    """How many rows are masked, whether that is estimated, and the bytes that temporary files and the release
    take."""

    rows: int
    estimated: bool
    temporary: int
    release: int

    @property
    def taken(self) -> str:
        """What errors say of it once it is gone."""
        return f"; masking {self.rows:,} rows takes up to {_size(self.temporary)} there"

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows{' (estimated from the size)' if self.estimated else ''} take up to "
            f"{_size(self.temporary)} of temporary files in {_temporary_folder()} and about "
            f"{_size(self.release)} for the release"
        )


def room_for(table: Table, schemes: Mapping[str, Any], groups: Collection[str], *, gaps: bool) -> Room:
    """The room that masking columns of a table takes; `groups` are the strata, and values may have gaps."""
    files, n = table.fingerprints(), table.rows
    estimated = n is None
    if n is None:
        n = sum(map(estimated_rows, files))
    whole = sum(size for _, _, size, *_ in filter(None, files.values()))
    temporary = n * bytes_of_row(n, schemes, groups, gaps=gaps)
    return Room(n, estimated, temporary, whole + 8 * n * len(schemes))


def bytes_of_row(n: int, schemes: Mapping[str, Any], groups: Collection[str], *, gaps: bool) -> int:
    """The most bytes of temporary files that a row of n takes at once."""
    number, scheme = np.dtype(index_type(n)).itemsize, next(iter(schemes.values()))
    size = 8 * len(schemes) + 4 * len(groups)
    if groups or gaps or any(one.codes for one in schemes.values()):
        size += 2 * number + len(schemes) + 1
    if scheme.reverse_mapping:
        return size + 24 + 4 * number
    return size + 8 + 2 * number if getattr(scheme, "donors", None) == "permutation" else size


def estimated_rows(path: Path) -> int:
    """About how many rows a text has, from the length of its first lines."""
    size, text, read = _beginning(path)
    lines = max(1, text.count(b"\n"))
    return max(0, lines - 1, int(size / max(read, 1) * lines) - 1)


def _beginning(path: Path) -> tuple[int, bytes, int]:
    """The bytes of a text, what it begins with, unpacked, and how many bytes that takes."""
    size = (fingerprint(path) or (0, 0, 0))[2]
    with OPENED[path].open() if path in OPENED else SourceFile(path) as file:
        text = file.read(LOOKED_AT)
    read = len(text)
    if is_packed(path):
        unpacking = zlib.decompressobj(31)
        try:
            text = unpacking.decompress(text, LOOKED_AT)
        except zlib.error:  # said where it is read
            text = b""
        read -= len(unpacking.unconsumed_tail)
    return size, text, read


def check_room(room: Room, target: Path | None) -> None:
    """Refuse a job for which there is no room, where the disks tell; no target is written if it is None."""
    rows = f"{room.rows:,} rows{', estimated from the size of the file,' if room.estimated else ''}"
    temporary, free = _temporary_folder(), _free(_temporary_folder())
    if free is not None and room.temporary > free:
        raise FileError(
            f"{temporary} has no room for temporary files: masking {rows} takes up to "
            f"{_size(room.temporary)}, and {_size(free)} are free; set TMPDIR to another folder"
        )
    folder = None if target is None else temporary if target in OPENED else target.absolute().parent
    left = None if folder is None else _free(folder)
    if folder is None or left is None:
        return
    beside = room.temporary if _one_disk(temporary, folder) else 0
    if room.release + beside > left:
        more = f" besides {_size(beside)} of temporary files" if beside else ""
        elsewhere = ", and TMPDIR for temporary files" if beside else ""
        raise FileError(
            f"{folder} has no room for the release: {rows} take about {_size(room.release)}{more}, and "
            f"{_size(left)} are free; name a target on another disk{elsewhere}"
        )


def _temporary_folder() -> Path:
    return Path(tempfile.gettempdir())


def _free(folder: Path) -> int | None:
    """The free bytes of a disk; None where it does not tell."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return usage.free if usage.total > 0 else None


def _one_disk(*folders: Path) -> bool:
    return len({os.stat(folder).st_dev for folder in folders}) == 1


def _size(count: int) -> str:
    """Bytes in words."""
    for unit, power in (("GB", 9), ("MB", 6)):
        if count >= 10**power:
            return f"{count / 10**power:.1f} {unit}"
    return f"{count / 1000:.1f} kB"
