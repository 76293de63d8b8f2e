"""Files that appear whole or not at all, and temporary ones that nobody else can read."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO


class FileError(OSError):
    """A file cannot be read or written; the message is one sentence that names it."""


def reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such file or directory"
    if error.errno == errno.ENOSPC:
        return "no space left on the device; nothing was published"
    return (error.strerror or str(error)).lower()


@contextmanager
def spool() -> Iterator[Callable[[str], IO[bytes]]]:
    """Temporary files that only their owner can read, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="condmask-") as folder:  # mode 0700
        opened: list[IO[bytes]] = []

        def create(name: str) -> IO[bytes]:
            descriptor = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            opened.append(os.fdopen(descriptor, "w+b"))
            return opened[-1]

        try:
            yield create
        except OSError as error:
            if error.errno != errno.ENOSPC or isinstance(error, FileError):
                raise
            raise FileError(f"{folder}: {reason(error)}; TMPDIR may name another place") from error
        finally:
            for file in opened:
                file.close()


@contextmanager
def publishing(targets: list[Path], overwrite: bool) -> Iterator[list[IO[bytes]]]:
    """Files that take their names only when all are complete, the first one last."""
    temporary: list[tuple[Path, Path]] = []

    def create(final: Path) -> IO[bytes]:
        try:
            descriptor, name = tempfile.mkstemp(dir=final.parent, prefix=f".{final.name}.")  # mode 0600
        except OSError as error:
            raise FileError(f"cannot write to {final.parent}: {reason(error)}") from error
        temporary.append((Path(name), final))
        return os.fdopen(descriptor, "wb")

    try:
        with ExitStack() as opened:
            yield [opened.enter_context(create(target)) for target in targets]
        mask = os.umask(0)
        os.umask(mask)
        for name, _ in temporary:
            with name.open("rb+") as file:
                os.fsync(file.fileno())
            name.chmod(0o666 & ~mask)
        if targets[0].exists() and not overwrite:
            raise FileError(
                f"{targets[0]} has appeared meanwhile; it is replaced only with --force (overwrite=True)"
            )
        while temporary:
            name, final = temporary[-1]
            os.replace(name, final)
            temporary.pop()
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot write {targets[0]}: {reason(error)}") from error
    finally:
        for name, _ in temporary:
            name.unlink(missing_ok=True)
