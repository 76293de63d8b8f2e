"""The log of releases to files, by which the same values are not released twice unnoticed.

A line of JSON for each release: when, where from, where to, and a mark of each masked column. It
is a hash, keyed by a secret of the user's own, of two sums over the values that add over parts and
do not depend on the order of records. It tells whether the same values were released before, and
nothing else. What the log does not see, docs/promises.rst says.
"""

import errno
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.errors import ArgumentTypeError, FileError, ReleaseError, ReleaseWarning, warn
from condmask.files.parts import Source
from condmask.files.tables import reading

NAME = "log.jsonl"
KEY = "log.key"
Where = bool | str | os.PathLike[str]  # the user's own, none, or the one in this file


def mark_of(values: np.ndarray) -> np.ndarray:
    """Two sums over the values of a column, modulo 2^64, which add over its parts."""
    sums = np.zeros(2, np.uint64)
    for start, stop in blocks(values.size):
        part = values[start:stop] + 0.0
        np.copyto(part, np.nan, where=np.isnan(part))  # which may have other bits
        once = _mixed(part.view(np.uint64))
        sums += np.array([once.sum(), _mixed(once).sum()])
    return sums


def keyed(marks: Mapping[str, Any]) -> dict[str, str]:
    """Marks as the log has them, from which nobody without the user's secret learns anything."""

    def hashed(mark: Any) -> str:
        return blake2b(mark.tobytes(), key=_key(), digest_size=16).hexdigest()

    return {name: mark if isinstance(mark, str) else hashed(mark) for name, mark in marks.items()}


def _mixed(words: np.ndarray) -> np.ndarray:
    """Words of 64 bits, each of which depends on all bits of one (the finalizer of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(words ^ (words >> np.uint64(31)))


class Entry(NamedTuple):
    """A release in the log: its target and date in words, its source, and the marks of its masked
    columns."""

    when: str
    source: str | None
    columns: dict[str, str]


class Log:
    """The log in a file, which need not exist; None is none."""

    def __init__(self, where: Where) -> None:
        known = isinstance(where, bool | str | os.PathLike)
        _checks.require(known, "log must be True, False or a path", where, ArgumentTypeError)
        self.path = None if where is False else folder() / NAME if where is True else Path(where)

    def refuse_unwritable(self) -> None:
        """Refuse a place where no line could be written, or no secret kept; nothing is written
        there."""
        if self.path is None:
            return
        for path in (self.path, folder() / KEY):
            nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
            if nearest != path and not nearest.is_dir():
                raise unwritable(path, f"{nearest} is no folder")
            needed = os.R_OK if nearest.name == KEY else os.W_OK
            if path.is_dir() or not os.access(
                nearest, needed | (os.X_OK if nearest.is_dir() else 0)
            ):
                raise unwritable(
                    path, os.strerror(errno.EISDIR if path.is_dir() else errno.EACCES).lower()
                )

    def refuse(
        self, marks: Mapping[str, Any], source: Source | None, *, again: bool, keeps: bool = True
    ) -> dict[str, Any]:
        """Check columns against the log, and return the entry for `enter`.

        Refuses columns whose values were released before, and columns in clear that a release of
        the same source masked; warns where that was with other values. Only where the entry is to
        be kept, anything is written: an empty log and the user's secret, where there are none.
        """
        if self.path is None or not marks:
            return {}
        if keeps:
            _make_log(self.path)
        elif not (self.path.exists() and (folder() / KEY).exists()):
            return {}
        with reading(self.path):
            lines = self.path.read_text().splitlines()
        found = keyed(marks)
        origin = None if source is None else str(source.path.resolve())
        for line in filter(str.strip, lines):
            entry = self._entry(line)
            self._compare(entry, found, origin, source, again=again)
        return {"source": origin, "columns": found}

    def _entry(self, line: str) -> Entry:
        """Read a line of the log."""
        try:
            entry = json.loads(line)
            when = f"{entry['target']}, released on {entry['date'][:10]}"
            return Entry(when, entry["source"], dict(entry["columns"]))
        except (ValueError, TypeError, KeyError):
            raise FileError(
                f"{self.path} is damaged: delete the lines that are no release"
            ) from None

    def _compare(
        self,
        entry: Entry,
        found: Mapping[str, str],
        origin: str | None,
        source: Source | None,
        *,
        again: bool,
    ) -> None:
        """Refuse columns, or warn of them, for one earlier release."""
        when = entry.when
        columns = entry.columns
        same = [name for name, mark in found.items() if mark in columns.values()]
        if same and not again:
            raise ReleaseError(
                f"{_checks.listed(same)}: the same values are in {when}; both show more than either. "
                "Publish that one alone, or, if it was given to nobody, destroy it and pass "
                f"again=True. {self.path} lists it"
            )
        related = source.names if source is not None and origin == entry.source else ()
        clear = [name for name in columns if name in related and name not in found]
        if clear and not again:
            raise ReleaseError(
                f"{_checks.listed(clear)}: masked in {when}, of the same source, and in clear now. Drop "
                "what was masked there, or, if that release was given to nobody or the source has become "
                f"another one, pass again=True. {self.path} lists it"
            )
        if related and not same and found.keys() & columns.keys():
            said = (
                f"{origin} is the source of {when}, with other values, or with the same ones if "
                "another user masked them: never publish both"
            )
            warn(said, ReleaseWarning)

    def enter(self, target: Path, release: Mapping[str, Any]) -> None:
        """Add a release, of which `refuse` told this."""
        if self.path is None or not release:
            return
        date = datetime.now().astimezone().isoformat()
        entry = {"date": date, "target": str(target.resolve()), **release}
        with reading(self.path), self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def folder() -> Path:
    """The folder where this operating system keeps a user's data."""
    local = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    places = {"win32": local, "darwin": "~/Library/Application Support"}
    elsewhere = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    place = Path(places.get(sys.platform, elsewhere))
    try:
        return place.expanduser() / "condmask"
    except RuntimeError:  # the user has no home
        raise unwritable(place / "condmask" / NAME, "there is no home folder") from None


def unwritable(path: Path, reason: str) -> FileError:
    """Return the error of a log that cannot be kept, with its place and what helps."""
    kind = "key of the log" if path.name == KEY else "log of releases"
    elsewhere = (
        ""
        if sys.platform in ("win32", "darwin")
        else "set XDG_DATA_HOME to a folder of yours, or "
    )
    helps = f"{elsewhere}pass log=False, which looks up and enters nothing"
    return FileError(f"{path}, the {kind}, cannot be written ({reason}): {helps}")


@contextmanager
def _keeping(path: Path) -> Iterator[None]:
    """Errors of the system where the log is written, with what helps."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unwritable(path, os.strerror(error.errno or errno.EIO).lower()) from error


def _make_log(path: Path) -> None:
    """Make an empty log where there is none; refused now where no line could be written later."""
    with _keeping(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.open("a").close()


def _key() -> bytes:
    """The user's secret, made on first use; only the user may read it."""
    path = folder() / KEY
    with _keeping(path):
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(16))
        return path.read_bytes()
