"""The files of a folder, or of a glob, that are one table: which ones, in which order, and what their folders
are called.

Names that begin with ``.`` or ``_`` are left out, as other readers of such folders do, and so are notes and
metadata of releases. Folders called ``key=value`` are columns, as Hive has them: a partition.
"""

import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.files.atomic import FileError, Fingerprint, fingerprint
from condmask.files.formats import FORMATS, ROOMY, reading, suffix_of
from condmask.files.streams import OPENED

SIDECAR, NOTE = ".condmask.json", ".README.md"  # of a release that is one file
MAGIC = re.compile(r"[*?\[]")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,14}")  # 007 is no number
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")


class PartFiles(NamedTuple):
    """The files of a table.

    Attributes
    ----------
    base : Path
        The folder; of a glob the one below which it looks.
    names : list of str
        The files by their paths from there, with ``/``, in the order of these.
    """

    base: Path
    names: list[str]

    @property
    def paths(self) -> list[Path]:
        return [self.base / name for name in self.names]


def is_folder(path: Path) -> bool:
    """Whether a path means many files: a folder, or a glob that is not itself a file."""
    return path not in OPENED and (path.is_dir() or (is_glob(path) and not path.exists()))


def fingerprints_of(path: Path) -> dict[Path, Fingerprint]:
    """The files of a path, with fingerprints that change when somebody writes to one."""
    paths = part_files(path).paths if is_folder(path) else [path]
    return {file: fingerprint(file) for file in paths}


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse what was read within, maybe half old and half new, if somebody wrote to the files meanwhile."""
    before = fingerprints_of(path)
    yield
    if fingerprints_of(path) != before:
        raise FileError(f"{path} changed while it was read; read it again")


def is_glob(path: Path) -> bool:
    """Whether a path that does not exist is a pattern of files."""
    return MAGIC.search(str(path)) is not None


def base_of(path: Path) -> Path:
    """The folder, or the one in which a pattern searches."""
    if path.is_dir():
        return path
    first = next(k for k, part in enumerate(path.parts) if MAGIC.search(part))
    return Path(*path.parts[:first])


def part_files(path: Path) -> PartFiles:
    """The files of a folder or a glob; refused if there are none, or if they are not one table."""
    base = base_of(path)
    if path.is_dir():
        names = _below(path)
    else:
        matches = glob.iglob(str(path), recursive=True)
        names = [Path(match).relative_to(base).as_posix() for match in matches if not os.path.isdir(match)]
    names = sorted(name for name in set(names) if _is_data(name))
    if not names:
        what = "no file of data in it" if path.is_dir() else "no file that it matches"
        raise FileError(f"{path}: {what}")
    _one_format(path, base, names)
    _once(path, base, names)
    return PartFiles(base, names)


def _one_format(path: Path, base: Path, names: list[str]) -> None:
    """Refuse files of another format than most, or of no known format."""
    endings = [_ending(name) for name in names]
    counts = Counter(ending for ending in endings if ending)
    usual = max(counts, key=lambda ending: counts[ending], default=None)
    for name, ending in zip(names, endings, strict=True):
        if ending is None or ending != usual:
            what = f"that end in one of {', '.join(FORMATS)}" if usual is None else "of one format"
            others = "" if ending is None else f" beside {names[endings.index(usual)]}"
            raise ArgumentError(
                f"{path} must contain files {what}, got {name}{others}: select files by a pattern in quotes "
                f"({_pattern(base, usual or '.parquet')}), or begin its name with _"
            )


def _pattern(base: Path, suffix: str) -> str:
    """A glob of all files below a folder with this suffix."""
    return f"'{glob.escape(str(base))}/**/*{suffix}'"


def _once(path: Path, base: Path, names: list[str]) -> None:
    """Refuse links to a file among the others: its records would be released twice, masked differently."""
    names_of: dict[tuple[int, int], str] = {}
    for name in names:
        _checks.utf8(base / name)
        with reading(base / name):
            status = (base / name).stat()
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{base / name} is no ordinary file")
        before = names_of.setdefault((status.st_dev, status.st_ino), name)
        if before != name:
            raise ArgumentError(
                f"{path} must contain each file once, got {before} and {name}, which are the same file: "
                "begin the name of one with _"
            )


def _ending(name: str) -> str | None:
    """What files of one table have in common; None for files that are not data.

    For text this is the suffix, since notes in .txt may be beside data in .csv."""
    suffix = suffix_of(Path(name))
    kind = FORMATS.get(suffix)
    if kind in ROOMY:
        return next(first for first in FORMATS if FORMATS[first] == kind)
    return suffix if kind else None


def partitions(names: Sequence[str], path: Path) -> dict[str, list[Any]]:
    """The values in the names of folders, by key and file: numbers if all are, each written in one way; None
    for a missing value."""
    rows = [_keys(name) for name in names]
    for name, keys in zip(names, rows, strict=True):
        if [key for key, _ in keys] != [key for key, _ in rows[0]]:
            raise ArgumentError(
                f"{path} must have folders of the same keys above all its files, got {_told(rows[0])} for "
                f"{names[0]} and {_told(keys)} for {name}"
            )
    columns = {key: [keys[k][1] for keys in rows] for k, (key, _) in enumerate(rows[0])}
    if len(columns) < len(rows[0]):
        raise ArgumentError(
            f"{path} must have folders of different keys, one below the other, got {names[0]}"
        )
    return {key: _typed(values) for key, values in columns.items()}


def _told(keys: list[tuple[str, str | None]]) -> str:
    return _checks.listed([key for key, _ in keys]) if keys else "none"


def _keys(name: str) -> list[tuple[str, str | None]]:
    """Keys and values in the names of the folders above a file."""
    pairs = [folder.split("=", 1) for folder in name.split("/")[:-1] if "=" in folder]
    return [(unquote(key), None if value == NO_VALUE else unquote(value)) for key, value in pairs]


def _typed(values: list[str | None]) -> list[Any]:
    present = [value for value in values if value is not None]
    for pattern, kind in ((WHOLE, int), (NUMBER, float)):
        if present and all(pattern.fullmatch(value) for value in present):
            numbers = [None if value is None else kind(value) for value in values]
            if len(set(numbers)) == len(set(values)):  # 1.1 and 1.10 may be two versions
                return numbers
    return list(values)


def _below(folder: Path) -> list[str]:
    """All files below a folder, except those in folders that are left out."""

    def stop(error: OSError) -> None:
        raise error

    names = []
    for place, folders, files in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                raise FileError(f"{os.path.join(place, name)} is a link to a folder, which is not followed")
        names += [Path(place, name).relative_to(folder).as_posix() for name in files]
    return names


def _is_data(name: str) -> bool:
    parts = name.split("/")
    hidden = any(part.startswith((".", "_")) for part in parts)
    return not hidden and not parts[-1].endswith((SIDECAR, NOTE))
