"""Releases that appear whole or not at all, and temporary files that nobody else can read.

A release may be several files (a CSV file, what is published with it, the note for analysts). They are
written under temporary names and get their own names together, under a lock on their folder, so that of two
jobs with one target one is refused. Each is locked while its job lives: a file under a temporary name that is
not locked is what a killed job left, and is removed by the next job for that target. Temporary files of
originals have no name at all: they disappear with the job, whatever ends it.
"""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

from condmask.errors import CondmaskError
from condmask.files.streams import OPENED, nameless

Fingerprint = tuple[int, ...] | None  # of a file; None where there is none
# within which a release takes its name, given the one it has meanwhile
Entering = Callable[[Path], AbstractContextManager[None]]


class FileError(CondmaskError, OSError):
    """A file cannot be read or written; the message is one sentence that names it."""


def reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such file or directory"
    if error.errno == errno.ENOSPC:
        return "no space left on the device; nothing was published"
    return (error.strerror or str(error)).lower()


def hidden_name(path: Path, suffix: str) -> Path:
    """The temporary name, beside a path, of something that will get that path; a long name is hashed."""
    name = os.fsencode(path.name)
    return path.with_name(f".{path.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()}.{suffix}")


@contextmanager
def spool(takes: str = "") -> Iterator[Callable[[], IO[bytes]]]:
    """Temporary files without a name, which disappear with the process, however it ends.

    ``takes`` is what errors say of the room that is needed.
    """
    with ExitStack() as opened:

        def create() -> IO[bytes]:
            file = temporary(takes)
            opened.callback(file.close)
            return file

        yield create


def temporary(takes: str = "") -> IO[bytes]:
    """A temporary file without a name."""
    return cast("IO[bytes]", _Temporary(takes))


class _Temporary:
    """A file whose errors name its place, and not a file that is read or written meanwhile."""

    def __init__(self, takes: str) -> None:
        self._takes = takes
        with in_temporary_place(takes):
            self._file = nameless(buffering=0)

    def write(self, data: bytes) -> int:
        with in_temporary_place(self._takes):
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def in_temporary_place(takes: str = "") -> Iterator[None]:
    """What fails in the folder for temporary files, as one sentence that names it."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        try:
            place = f"{tempfile.gettempdir()}: {reason(error)}"
        except FileNotFoundError as nowhere:
            place = str(nowhere.strerror)
        raise FileError(f"{place}{takes}; set TMPDIR to another folder") from error


class Output:
    """A file that gets its name only when it is complete; if it is `hashed`, it knows its digest."""

    def __init__(self, final: Path, *, hashed: bool = False) -> None:
        self.final = final
        self._digest = hashlib.sha256() if hashed else None
        self._hidden: Path | None = None  # the name it has meanwhile; none where the system can do without
        try:
            descriptor = self._nameless()
        except OSError as error:
            raise FileError(f"cannot write to {final.parent}: {reason(error)}") from error
        # what the process's umask leaves; while the file grows, only its owner may read it
        self._mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        _permit(descriptor, 0o600)
        self._file: IO[bytes] = os.fdopen(descriptor, "wb")
        self.closed = False  # writers of other libraries ask

    def _nameless(self) -> int:
        if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # not every file system has files without names
                return os.open(self.final.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
        self._hidden = self._free()
        return os.open(self._hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def _free(self) -> Path:
        return hidden_name(self.final, f"condmask-{secrets.token_hex(8)}")

    def write(self, data: Any) -> int:
        if self._digest is not None:
            self._digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def tell(self) -> int:
        return self._file.tell()

    def read_back(self) -> IO[bytes]:
        """What was written so far, opened again."""
        self._file.flush()
        return open(self._hidden or f"/proc/self/fd/{self._file.fileno()}", "rb")

    def cut(self, size: int) -> None:
        """Discard what was written after so many bytes."""
        assert self._digest is None
        self._file.seek(size)
        self._file.truncate()

    @property
    def sha256(self) -> str:
        assert self._digest is not None
        return self._digest.hexdigest()

    def finish(self) -> None:
        """Put everything on the disk under a name, readable by those who may read the file it replaces."""
        self._file.flush()
        os.fsync(self._file.fileno())
        mode = self._mode
        with contextlib.suppress(FileNotFoundError):
            mode &= stat.S_IMODE(self.final.stat().st_mode)
        if self._hidden is None:
            self._name()
        _permit(self._file.fileno(), mode)

    def _name(self) -> None:
        """Give a file without a name a temporary one; where the file system has no links, its copy."""
        descriptor = self._file.fileno()
        self._hidden = self._free()  # before there is one: a signal may come between
        try:
            # given a descriptor, which an absolute path has no need of, Python follows the link in /proc
            os.link(f"/proc/self/fd/{descriptor}", self._hidden, src_dir_fd=descriptor, follow_symlinks=True)
        except OSError:
            with open(f"/proc/self/fd/{descriptor}", "rb") as whole, self._file:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                self._file = os.fdopen(os.open(self._hidden, flags, 0o600), "wb")
                self.lock()
                shutil.copyfileobj(whole, self._file)
                self._file.flush()
                os.fsync(self._file.fileno())

    def lock(self) -> None:
        """Show others that this job lives, for as long as the file is open."""
        alone(self._file.fileno())

    @property
    def hidden(self) -> Path | None:
        """The name that a complete file has before it gets its own."""
        return None if self._hidden is None else self._hidden.absolute()

    def publish(self) -> None:
        assert self._hidden is not None
        self._file.close()
        os.replace(self._hidden, self.final)
        self._hidden = None

    def discard(self) -> None:
        with contextlib.suppress(OSError):  # a full disk, once more
            self._file.close()
        if self._hidden is not None:
            self._hidden.unlink(missing_ok=True)
            self._hidden = None


class StreamOutput(Output):
    """Data for a stream, kept without a name, and in place once all files of the release are."""

    def __init__(self, final: Path, *, hashed: bool = False) -> None:
        self.final, self._hidden, self.closed = final, None, False
        self._digest = hashlib.sha256() if hashed else None
        self._file = temporary()

    def finish(self) -> None:
        """Everything is in the file."""

    def lock(self) -> None:
        """Nothing: nobody else sees the file."""

    def publish(self) -> None:
        OPENED[self.final].kept = self._file

    def discard(self) -> None:
        if OPENED[self.final].kept is not self._file:
            super().discard()


def _permit(descriptor: int, mode: int) -> None:
    """Set who may read an open file, on systems whose open files have such a mode."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def fingerprint(path: Path) -> Fingerprint:
    """A value that changes when somebody writes to a file; None if there is no file."""
    try:
        status = OPENED[path].status() if path in OPENED else path.stat()
    except FileNotFoundError:
        return None
    return None if status is None else fingerprint_of(status)


def fingerprint_of(status: os.stat_result) -> tuple[int, ...]:
    """The fingerprint of a file of this status.

    The time of writing can be set back, that of the last change of the status cannot.
    """
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextmanager
def publishing(
    fingerprints: dict[Path, Fingerprint], *, hashed: bool = False, entering: Entering | None = None
) -> Iterator[list[Output]]:
    """Files that take their names only when all are complete, the first one last and, if asked for, hashed.

    ``fingerprints`` are those of the targets when the job began: another job may write meanwhile. They take
    their names within ``entering``, which may still refuse them.
    """
    first, *_, last = [*fingerprints, *fingerprints]  # all in one folder, but for a stream
    with ExitStack() as stack:
        outputs = []
        try:
            with locked(last.parent):  # a job is not taken for dead between making a file and locking it
                for path in fingerprints:
                    _clear(path)
                    kind = StreamOutput if path in OPENED else Output
                    outputs.append(kind(path, hashed=hashed and path == first))
                    stack.callback(outputs[-1].discard)
                    outputs[-1].lock()
            yield outputs
            for output in outputs:
                output.finish()
            with locked(last.parent):
                for path, before in fingerprints.items():
                    if fingerprint(path) != before:
                        was = "has appeared" if before is None else "was changed"
                        raise FileError(f"{path} {was} meanwhile, by another job; nothing was published")
                if entering is not None:
                    # of a stream, the name of what is published with it
                    stack.enter_context(entering(next(filter(None, (one.hidden for one in outputs)))))
                for output in reversed(outputs):
                    output.publish()
                    if fingerprints[output.final] is None:
                        stack.callback(_take_back, output.final, outputs[0])
            synced(last.parent)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            named = last if first in OPENED else first
            raise FileError(f"cannot write {named}: {reason(error)}") from error


def replaceable(path: Path, before: Fingerprint, *, overwrite: bool) -> None:
    """Refuse a target that is no file, or that is there and may not be replaced."""
    if path.is_dir():
        raise FileError(f"{path} is a directory")
    if path not in OPENED and path.is_symlink():
        raise FileError(f"{path} is a link, which is not replaced: name the file that it leads to")
    if before is not None and path not in OPENED and not path.is_file():
        raise FileError(f"{path} is no ordinary file, and is not replaced: name another one")
    if before is not None and not overwrite:
        raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, in place of one that is there."""
    with publishing({path: fingerprint(path)}) as (output,):
        output.write(data)


def _take_back(path: Path, first: Output) -> None:
    """Remove what is published with data that did not get their name."""
    if first.hidden is not None and first.hidden.exists():
        path.unlink(missing_ok=True)


def leftovers(target: Path) -> list[os.DirEntry[str]]:
    """What this user's jobs for a target call by a hidden name, on systems that know whether these still
    run."""
    if not hasattr(os, "getuid"):
        return []
    name = re.compile(re.escape(hidden_name(target, "condmask-").name) + "[0-9a-f]{16}")
    return [
        entry
        for entry in os.scandir(target.parent)
        if name.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
    ]


def _clear(target: Path) -> None:
    """Remove what killed jobs for this target left, whose files nobody has locked."""
    with contextlib.suppress(OSError):  # it stays
        for entry in leftovers(target):
            if entry.is_file(follow_symlinks=False):
                with open(entry.path, "ab") as file:
                    if alone(file.fileno()):
                        os.unlink(entry.path)


def alone(descriptor: int) -> bool | None:
    """Lock an open file or folder until it is closed; False if another process has it, None on systems and
    file systems without locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


class locked:  # noqa: N801
    """Let one job at a time give names in a folder; the lock ends with the process and leaves nothing.

    No generator: Ctrl-C just after one has begun leaves it, and its lock, to the collector, and the next job
    of this process would wait for itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        try:
            with contextlib.suppress(ImportError, OSError):  # systems and file systems without locks
                import fcntl

                self._descriptor = os.open(self._folder, os.O_RDONLY)
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def synced(folder: Path) -> None:
    """Put the names in a folder on the disk, on systems that can."""
    with contextlib.suppress(OSError), ExitStack() as stack:
        descriptor = os.open(folder, os.O_RDONLY)
        stack.callback(os.close, descriptor)
        os.fsync(descriptor)
