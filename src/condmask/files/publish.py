"""A release gets its name at once and whole, or not at all.

It is written under a hidden name of its own, ``.name.condmask``, that nobody else may have, and renamed. A
kill leaves the old file, or none, under the target's name; what then lies under the hidden name is a second
masking of the same records, and the next job says so.
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
        raise FileError(f"{target} exists; it is replaced only with --force (force=True)")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such directory")
    hidden = _hidden(target)
    if hidden.exists():
        raise FileError(
            f"another job writes {target}, or one was killed: what lies in {hidden} is another masking of "
            "the same records; remove it"
        )


@contextmanager
def publishing(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """The hidden name, under which a file or a folder is written that then gets its name."""
    hidden = _hidden(target)
    with reading(target):
        if folder:
            hidden.mkdir()
        else:
            hidden.open("xb").close()
        try:
            yield hidden
            for path in [*hidden.rglob("*"), hidden] if folder else [hidden]:
                if path.is_file():
                    sync(path)
            os.replace(hidden, target)
        except BaseException:
            if folder:
                shutil.rmtree(hidden, ignore_errors=True)
            else:
                hidden.unlink(missing_ok=True)
            raise


def write_whole(path: Path, data: bytes, *, force: bool = True) -> None:
    """A small file, whole or not at all."""
    refuse_target(path, None, force=force)
    with publishing(path) as hidden:
        hidden.write_bytes(data)


def _hidden(target: Path) -> Path:
    return target.with_name(f".{target.name}.condmask")


def sync(path: Path) -> None:
    """Have the system write a file before it gets its name."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())
