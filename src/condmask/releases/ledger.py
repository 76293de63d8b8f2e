"""The ledger lists releases to files, so that no record is released twice unnoticed.

It is a file of lines of JSON in the user's state folder. The first line has the ledger's key. Each other line
has a release (its target, time, schemes and `sketch`, hashed under the key) or the number of one to forget.
Lines are only ever added. Anyone who can read the file can test guesses of originals, so only the user may.
"""

import base64
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._warn import warn
from condmask.disclosure.release_check import ReleaseWarning
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.files.atomic import FileError
from condmask.releases.sketch import Sample, Sketch, keyed

VERSION = 1
LEVEL, COUNT = np.uint64(0x3F), np.uint64(0x3)  # in the last byte of a record's word
COUNT_AT, TOKEN_AT = np.uint64(6), np.uint64(8)
KEY = 16  # bytes
NOT_ENTERED = "this release is not entered"

Where = bool | str | os.PathLike[str]  # the user's own, none, or the one in a file


class Entry(NamedTuple):
    """A release: where it went, when, how its columns were masked, and its records."""

    target: str
    time: str
    schemes: dict[str, dict[str, Any]]
    sketch: Sketch

    @property
    def named(self) -> str:
        """The release by its file and local time."""
        time = datetime.fromisoformat(self.time).astimezone()
        return f"{self.target}, released on {time:%Y-%m-%d at %H:%M}"


class Content(NamedTuple):
    """What a ledger holds: its key, releases by number, and its size in bytes."""

    key: bytes
    entries: dict[int, Entry]
    size: int


def default_path() -> Path:
    """The user's ledger, where programs of the system keep their state."""
    return _state_folder() / "condmask" / "ledger.jsonl"


def _state_folder() -> Path:
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    if given.is_absolute():
        return given
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"


def ledger_of(where: Where) -> "Ledger | None":
    """The ledger that an argument names."""
    if not isinstance(where, bool | str | os.PathLike):
        raise ArgumentTypeError(f"ledger must be True, False or a path, got {_checks.shown(where)}")
    if isinstance(where, bool) and not where:
        return None
    path = default_path() if where is True else _checks.path(where, "ledger")
    if path.is_dir():
        raise FileError(f"ledger must be a file, got the directory {path}")
    return Ledger(path)


class Ledger:
    """The ledger in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def content(self) -> Content | None:
        """The content of the file; None if it is missing or empty, or, with a warning, unreadable."""
        content = None
        with self._reported("earlier releases are not looked up"):
            content = self._content()
        return content

    @contextlib.contextmanager
    def opened(self) -> Iterator[IO[bytes] | None]:
        """The file, locked against other jobs; None, with a warning, if it cannot be written to."""
        with contextlib.ExitStack() as stack:
            file = None
            with self._reported(NOT_ENTERED):
                file = stack.enter_context(self._locked())
            yield file

    def add(self, file: IO[bytes], entry: Entry, content: Content | None) -> None:
        """Add a release, whose sketch is not keyed yet, to the open file, which has this content."""
        key = os.urandom(KEY) if content is None else content.key
        head = [{"ledger": VERSION, "key": key.hex()}] if content is None else []
        with self._reported(NOT_ENTERED):
            _append(file, [*head, _to_json(entry._replace(sketch=keyed(entry.sketch, key)))])

    def forget(self, number: int) -> Entry:
        """Ignore a release from now on."""
        with self._locked() as file:
            content = self.parsed(file.read())
            entries = {} if content is None else content.entries
            if number not in entries:
                known = ", ".join(map(str, entries)) or "none"
                raise ArgumentError(
                    f"forget must be the number of a release in {self.path} ({known}), got {number}"
                )
            _append(file, [{"forgotten": number}])
        return entries[number]

    def parsed(self, text: bytes) -> Content | None:
        """The content of a text; None if it is empty."""
        if not text:
            return None
        line = 1
        entries: dict[int, Entry] = {}
        try:
            head, *lines = text.decode().split("\n")
            first = json.loads(head)
            if first["ledger"] != VERSION:
                raise FileError(f"{self.path} was written by a newer condmask; --ledger names another ledger")
            key = bytes.fromhex(first["key"])
            if len(key) != KEY:
                raise ArgumentError("no key")
            if lines.pop():
                line = len(lines) + 2
                raise ArgumentError("no end of line")
            for line, content in enumerate(lines, 2):
                fields = json.loads(content)
                if "forgotten" in fields:
                    del entries[fields["forgotten"]]
                else:
                    entries[line - 1] = _from_json(fields)
        except (
            ValueError,
            KeyError,
            TypeError,
            IndexError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise FileError(
                f"{self.path} is damaged in line {line}: restore it from a copy, or name another ledger with "
                "--ledger, which then lacks the earlier releases; --no-ledger (ledger=False) goes on without"
            ) from error
        return Content(key, entries, len(text))

    def _content(self) -> Content | None:
        try:
            return self.parsed(self.path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The file, locked; made if it does not exist."""
        self.path.parent.parent.mkdir(parents=True, exist_ok=True)
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            with contextlib.suppress(ImportError, OSError):  # systems and file systems without locks
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    @contextlib.contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Turn errors of the system into warnings; a damaged ledger stays an error."""
        try:
            yield
        except FileError:
            raise
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            warn(f"the ledger {self.path} cannot be used ({why}): {what}", ReleaseWarning)


def _append(file: IO[bytes], lines: list[dict[str, Any]]) -> None:
    """Append lines to the file: all of them, or none."""
    end = file.seek(0, os.SEEK_END)
    rest = memoryview("".join(json.dumps(line) + "\n" for line in lines).encode())
    try:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except BaseException:
        file.truncate(end)
        raise


def _to_json(entry: Entry) -> dict[str, Any]:
    samples = [
        {"level": sample.level, "whole": sample.whole, "records": base64.b64encode(_packed(sample)).decode()}
        for sample in entry.sketch.samples
    ]
    return {
        "target": entry.target, "time": entry.time, "schemes": entry.schemes,
        "records": entry.sketch.records, "samples": samples,
    }  # fmt: skip


def _packed(sample: Sample) -> bytes:
    counts, levels = sample.counts.astype(np.uint64), sample.levels.astype(np.uint64)
    words: np.ndarray = (sample.tokens << TOKEN_AT) | (counts << COUNT_AT) | levels & LEVEL
    return words.astype("<u8").tobytes()


def _from_json(fields: dict[str, Any]) -> Entry:
    datetime.fromisoformat(fields["time"]).astimezone()
    schemes, target = fields["schemes"], fields["target"]
    if not (isinstance(target, str) and all(isinstance(scheme, dict) for scheme in schemes.values())):
        raise ArgumentError("no release")
    samples = []
    for sample in fields["samples"]:
        words = np.frombuffer(base64.b64decode(sample["records"], validate=True), "<u8").astype(np.uint64)
        counts, levels = (words >> COUNT_AT) & COUNT, words & LEVEL
        samples.append(
            Sample(
                _checks.whole(sample["level"], "level", least=0),
                int(np.uint64(_checks.integer(sample["whole"], "whole", "a whole number"))),
                words >> TOKEN_AT, levels.astype(np.int64), counts.astype(np.int64),
            )
        )  # fmt: skip
    records = _checks.whole(fields["records"], "records", least=0)
    return Entry(target, fields["time"], schemes, Sketch(records, samples))
