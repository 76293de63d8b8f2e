"""Publish files at once and whole, or not at all.

A release is written in a hidden folder, ``.name.condmask``, which only one job may have, and then
renamed. A kill leaves the old file, or none, under the target's name; what then lies in the hidden
folder is a second masking of the same records, and the next job says so.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from condmask.errors import FileError
from condmask.files.tables import reading


def refuse_target(target: Path, source: Path | None, *, force: bool) -> None:
    """Refuse a target that must not be replaced."""
    if source is not None and target.exists() and source.exists() and target.samefile(source):
        raise FileError(f"{target} is the source, and would be lost")
    if target.is_dir():
        raise FileError(f"{target} is a folder, which is never replaced: remove it yourself")
    if target.exists() and not force:
        raise FileError(f"{target} exists; it is replaced only with force=True")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such directory")
    hidden = _hidden(target)
    if hidden.exists():
        raise FileError(
            f"another job writes {target}, or one was killed: what lies in {hidden} is another "
            "masking of the same records; remove it"
        )


@contextmanager
def publishing(target: Path) -> Iterator[Path]:
    """Yield a path in a hidden folder at which to write; then move all of that folder next to the
    target, the target last."""
    hidden = _hidden(target)
    with reading(target):
        hidden.mkdir()
        try:
            yield hidden / target.name
            for path in hidden.rglob("*"):
                if path.is_file():
                    with path.open("r+b") as file:
                        os.fsync(file.fileno())
            for path in sorted(hidden.iterdir(), key=lambda path: path.name == target.name):
                os.replace(path, target.with_name(path.name))
        finally:
            shutil.rmtree(hidden, ignore_errors=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file, whole or not at all."""
    with publishing(path) as hidden:
        hidden.write_bytes(data)


def _hidden(target: Path) -> Path:
    return target.with_name(f".{target.name}.condmask")
