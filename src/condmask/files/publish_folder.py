"""A folder that appears whole or not at all.

Its files are written within a hidden folder beside it, which only its owner can enter. When all of them are
complete and on the disk, they take the name in one step. The hidden folder is locked while the job lives: one
without a lock is what a killed job left, and is removed by the next job for that target.
"""

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask._randomness import group_name
from condmask.errors import ArgumentError
from condmask.files.atomic import (
    Entering,
    FileError,
    Output,
    alone,
    fingerprint,
    hidden_name,
    leftovers,
    locked,
    reason,
    synced,
)
from condmask.files.folder import FolderTable
from condmask.files.formats import FORMATS, Rows, reading
from condmask.files.metadata import FOLDER_METADATA, FOLDER_NOTE, Published, read_list
from condmask.files.note import written_note
from condmask.files.part_files import base_of, is_glob
from condmask.files.part_list import part_digest
from condmask.files.streams import OPENED

HERE, EXCHANGE = -100, 2  # arguments of renameat2: paths from the working folder, and both keep a name
State = tuple[Any, ...] | None  # of a target; None where it is free


def folder_state(target: Path) -> State:
    """A value that changes when somebody writes to a folder; None if it is empty or does not exist."""
    entries = _entries(target)
    return tuple((name, fingerprint(target / name)) for name in entries) if entries else None


def writable_folder(target: Path, state: State, source: Path, *, overwrite: bool) -> None:
    """Refuse a target folder that may not be written."""
    must = "target must be a folder if the source is one"
    if target in OPENED:
        raise FileError(f"{must}, got {target}: name one")
    suffix = target.suffix.lower()
    alike = source.suffix.lower() == suffix and not is_glob(source)
    if suffix in FORMATS and not alike:
        raise ArgumentError(
            f"{must}, got {target}, which has the name of a file: files keep their names and format"
        )
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        what = "a link" if target.is_symlink() else "a file"
        raise FileError(f"{must}, got {target}, which is {what}")
    if Path.cwd().is_relative_to(target.resolve()):
        raise FileError(
            f"target must not be the current folder or one above it, got {target}: name a new one"
        )
    _apart(target, source)
    if state is not None:
        if not overwrite:
            raise FileError(f"{target} exists; it is replaced only with --force (overwrite=True)")
        _only_a_release(target)


def publish_folder(
    table: FolderTable,
    target: Path,
    state: State,
    rows: Rows,
    published: Published,
    original: Any,
    entering: Entering | None = None,
) -> None:
    """Write a folder with the masked rows of many files; nothing if these changed since they were read."""
    files: list[dict[str, Any]] = [{"name": name} for name in table.files.names]
    metadata = {**published.to_dict(), "release": group_name(), "parts": files}
    with publishing_folder(target, state, entering) as folder:
        table.rewrite(folder, rows, metadata)
        with reading(table.path):
            unchanged = [*original] == table.files.paths and table.fingerprints() == original
        if rows.done != published.records or not unchanged:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")
        for file in files:
            name = file["name"]
            file.update(records=folder.records[name], digest=part_digest(folder.path / name))
        with folder.part(FOLDER_METADATA) as output:
            output.write(json.dumps({**metadata, **table.description}, indent=1).encode())
        with folder.part(FOLDER_NOTE) as output:
            output.write(written_note(target.name, published, len(files)).encode())


class OutputFolder:
    """A folder that does not have its name yet.

    Attributes
    ----------
    path : Path
        Where it is meanwhile.
    records : dict of str to int
        The records of each part that was written.
    mode : int
        What a folder that it replaces leaves to the modes of its files.
    """

    def __init__(self, path: Path, allowed: tuple[int, int]) -> None:
        self.path = path
        self.records: dict[str, int] = {}
        self._of_folders, self.mode = allowed
        path.mkdir()

    @contextmanager
    def part(self, name: str) -> Iterator[Output]:
        """A file that gets its name, on the disk, when it is complete."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_part(path, self.mode) as output:
            yield output

    def wrote(self, name: str, records: int) -> None:
        """Note the records of a part."""
        self.records[name] = records

    def finish(self) -> None:
        """Put all names on the disk, readable by those who may read the folder it replaces."""
        for place, _, _ in os.walk(self.path):
            os.chmod(place, stat.S_IMODE(os.stat(place).st_mode) & self._of_folders)
            synced(Path(place))


@contextmanager
def written_part(path: Path, mode: int) -> Iterator[Output]:
    """A file that gets its name, on the disk and with this mode, when it is complete."""
    output = Output(path)
    try:
        yield output
        output.finish()
        output.publish()
    finally:
        output.discard()
    path.chmod(stat.S_IMODE(path.stat().st_mode) & mode)


@contextmanager
def publishing_folder(target: Path, state: State, entering: Entering | None = None) -> Iterator[OutputFolder]:
    """A folder that gets its name when it is complete, within ``entering``; ``state`` is the target's when
    the job began."""
    target = Path(os.path.abspath(target))
    try:
        with ExitStack() as stack:
            hidden = _claimed(target, stack)
            folder = OutputFolder(hidden / "new", _allowed(target))
            yield folder
            folder.finish()
            with locked(target.parent):
                if folder_state(target) != state:
                    was = "has appeared" if state is None else "was changed"
                    raise FileError(f"{target} {was} meanwhile, by another job; nothing was published")
                if entering is not None:
                    stack.enter_context(entering(folder.path))
                _take_name(folder.path, target, hidden)
            synced(target.parent)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot write {target}: {reason(error)}") from error


def _claimed(target: Path, stack: ExitStack) -> Path:
    """A new hidden folder, locked, and removed with the stack; leftovers of killed jobs are removed."""
    with locked(target.parent):
        for left in leftovers(target):
            if left.is_dir(follow_symlinks=False):
                with ExitStack() as trying:
                    if not _lock(Path(left.path), trying):
                        raise FileError(f"{target} is being written by another job; nothing was published")
                    _remove(Path(left.path), target)
        hidden = hidden_name(target, f"condmask-{secrets.token_hex(8)}")
        hidden.mkdir(0o700)
        _lock(hidden, stack)
        stack.callback(_remove, hidden, target)
    return hidden


def _lock(folder: Path, stack: ExitStack) -> bool:
    """Lock a folder until the stack closes; False if another process has it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # systems that open no folder
        return True
    stack.callback(os.close, descriptor)
    return alone(descriptor) is not False


def _remove(hidden: Path, target: Path) -> None:
    """Remove a hidden folder; a release that a killed job had moved aside gets its name again."""
    old = hidden / "old"
    if old.exists() and not target.exists():
        os.rename(old, target)
    with contextlib.suppress(OSError):  # another machine may still write a part: its name is gone then
        os.rename(hidden / "new", hidden / "gone")
    shutil.rmtree(hidden, ignore_errors=True)


def _take_name(new: Path, target: Path, hidden: Path) -> None:
    """Give a folder the name of the target; what was there moves into the hidden folder."""
    if not _entries(target):
        if target.is_dir():
            target.rmdir()
        os.rename(new, target)
        return
    old = hidden / "old"
    exchanged = _exchanged(new, target)
    if exchanged:
        os.rename(new, old)
    else:
        os.rename(target, old)
    try:
        _only_a_release(old)  # somebody may have put a file there
        if not exchanged:
            os.rename(new, target)
    except OSError as error:
        if exchanged:
            os.rename(target, new)
        os.rename(old, target)
        if isinstance(error, FileError):
            raise FileError(f"{error}; nothing was published".replace(str(old), str(target))) from None
        raise


def _exchanged(a: Path, b: Path) -> bool:
    """Whether two folders could exchange their names in one step."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(HERE, os.fsencode(a), HERE, os.fsencode(b), EXCHANGE) == 0)


def _only_a_release(folder: Path) -> None:
    """Refuse to replace a folder that contains anything but one of our releases."""
    listed = read_list(folder)
    if listed is None:
        raise FileError(
            f"{folder} is not a release of several files, and is not replaced: name another target"
        )
    known = {FOLDER_METADATA, FOLDER_NOTE, *(part["name"] for part in listed["parts"])}
    above = {parent.as_posix() for name in known for parent in Path(name).parents}
    others = [name for name in _entries(folder) if name not in known | above]
    if others:
        raise FileError(
            f"{folder} contains more than the release in it, and is not replaced: "
            f"{_checks.listed(others[:5])}"
        )


def _apart(target: Path, source: Path) -> None:
    """Refuse a target within the source, or around it; other files beside those of a glob are allowed."""
    base, place = base_of(source).resolve(), target.resolve()
    within = base in place.parents and (not is_glob(source) or source.is_dir() or "**" in source.parts)
    if within or base == place or place in base.parents:
        where = "is within it" if within else "is that folder" if base == place else "contains it"
        raise FileError(f"target must be outside the source, {source}, got {target}, which {where}")


def _entries(folder: Path) -> list[str]:
    """All files and folders below a folder, by relative path; none if it does not exist."""
    return sorted(
        Path(place, name).relative_to(folder).as_posix()
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    )


def _allowed(target: Path) -> tuple[int, int]:
    """The modes that folders and files may have, from those of the folder to be replaced."""
    of_folders = of_files = 0o7777
    if target.is_dir():
        of_folders &= stat.S_IMODE(target.stat().st_mode)
    for name in _entries(target):
        mode = stat.S_IMODE((target / name).stat().st_mode)
        if (target / name).is_dir():
            of_folders &= mode
        else:
            of_files &= mode
    return of_folders, of_files
