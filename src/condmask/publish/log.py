"""Keep a log of releases to files, so that the same values are not released twice unnoticed.

The log has a line of JSON for each release: its date, source and target, and a mark of each masked
column. A mark is a hash, under a secret key of the user, of two sums over the values; the sums of
parts add up and do not depend on the order of records. A mark shows whether the same values were
released before, and nothing else. docs/promises.rst lists what the log does not notice.
"""

import errno
import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
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

LOG_FILE = "log.jsonl"
KEY_FILE = "log.key"
# True for the user's log, False for none, or the path of another log
Where = bool | str | os.PathLike[str]
Marks = Mapping[str, np.ndarray | str]  # by column, fingerprints or their hashes


def fingerprint(values: np.ndarray) -> np.ndarray:
    """Return the fingerprint of a column: two sums over its values, modulo 2^64.

    The fingerprint of a column is the sum of those of its parts.
    """
    sums = np.zeros(2, np.uint64)
    for start, stop in blocks(values.size):
        part = values[start:stop] + 0.0
        np.copyto(part, np.nan, where=np.isnan(part))  # which may have other bits
        once = _mixed(part.view(np.uint64))
        sums += np.array([once.sum(), _mixed(once).sum()])
    return sums


def keyed(marks: Marks) -> dict[str, str]:
    """Return fingerprints as logged: hashes that reveal nothing without the user's key."""

    def hashed(mark: np.ndarray) -> str:
        return blake2b(mark.tobytes(), key=_user_key(), digest_size=16).hexdigest()

    return {name: mark if isinstance(mark, str) else hashed(mark) for name, mark in marks.items()}


def _mixed(words: np.ndarray) -> np.ndarray:
    """Mix the bits of 64-bit words: every bit of a result depends on all bits of its word.

    The finalizer of SplitMix64.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(words ^ (words >> np.uint64(31)))


class Entry(NamedTuple):
    """A release in the log.

    Attributes
    ----------
    when : str
        Its target and date in words.
    source : str or None
        The path of its source; None for a table in memory.
    columns : dict of str to str
        The marks of its masked columns.
    """

    when: str
    source: str | None
    columns: dict[str, str]


class Log:
    """Reads and extends the log in a file, which need not exist.

    Parameters
    ----------
    where : bool or path
        True for the user's log, False for none.
    """

    def __init__(self, where: Where) -> None:
        known = isinstance(where, bool | str | os.PathLike)
        _checks.require(known, "log must be True, False or a path", where, ArgumentTypeError)
        self.path: Path | None = None
        if where is True:
            self.path = folder() / LOG_FILE
        elif where is not False:
            self.path = Path(where)

    def refuse_unwritable(self) -> None:
        """Refuse a place where no line or no key could be written; nothing is written there."""
        if self.path is None:
            return
        for path in (self.path, folder() / KEY_FILE):
            nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
            if nearest != path and not nearest.is_dir():
                raise unwritable(path, f"{nearest} is no folder")
            needed = os.R_OK if nearest.name == KEY_FILE else os.W_OK
            if nearest.is_dir():
                needed |= os.X_OK
            if path.is_dir() or not os.access(nearest, needed):
                reason = errno.EISDIR if path.is_dir() else errno.EACCES
                raise unwritable(path, os.strerror(reason).lower())

    def refuse(
        self, marks: Marks, source: Source | None, *, again: bool, keeps: bool = True
    ) -> dict[str, Any]:
        """Check a release against the log, and return the entry for `enter`.

        Parameters
        ----------
        marks : dict of str to ndarray or str
            By masked column.
        source : Source or None
            None for a table in memory.
        again : bool
            Whether values may be released that were released before.
        keeps : bool
            Whether the entry will be kept. Otherwise nothing is written: neither an empty log nor
            the user's key.

        Raises
        ------
        ReleaseError
            If the same values were released before, or a column in clear was masked in a release
            of the same source.

        Warns
        -----
        ReleaseWarning
            If a column of the same source was masked before with other values.
        """
        if self.path is None or not marks:
            return {}
        if keeps:
            _make_log(self.path)
        elif not (self.path.exists() and (folder() / KEY_FILE).exists()):
            return {}
        with reading(self.path):
            lines = self.path.read_text().splitlines()
        hashes = keyed(marks)
        place = None if source is None else str(source.path.resolve())
        for line in filter(str.strip, lines):
            self._compare(self._entry(line), hashes, place, source, again=again)
        return {"source": place, "columns": hashes}

    def _entry(self, line: str) -> Entry:
        """Return the release in a line of the log."""
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
        hashes: Mapping[str, str],
        place: str | None,
        source: Source | None,
        *,
        again: bool,
    ) -> None:
        """Refuse columns, or warn of them, for one earlier release."""
        when = entry.when
        columns = entry.columns
        same = [name for name, mark in hashes.items() if mark in columns.values()]
        if same and not again:
            raise ReleaseError(
                f"{_checks.listed(same)}: the same values are in {when}; both show more than "
                "either. Publish that one alone, or, if it was given to nobody, destroy it and "
                f"pass again=True. {self.path} lists it"
            )
        related = source.names if source is not None and place == entry.source else ()
        clear = [name for name in columns if name in related and name not in hashes]
        if clear and not again:
            raise ReleaseError(
                f"{_checks.listed(clear)}: masked in {when}, of the same source, and in clear "
                "now. Drop what was masked there, or, if that release was given to nobody or the "
                f"source has become another one, pass again=True. {self.path} lists it"
            )
        if related and not same and hashes.keys() & columns.keys():
            text = (
                f"{place} is the source of {when}, with other values, or with the same ones if "
                "another user masked them: never publish both"
            )
            warn(text, ReleaseWarning)

    def enter(self, target: Path, entry: Mapping[str, Any], accepted: Sequence[str] = ()) -> None:
        """Append to the log the entry that `refuse` returned for a release, with the findings that
        were accepted."""
        if self.path is None or not entry:
            return
        date = datetime.now().astimezone().isoformat()
        line = {"date": date, "target": str(target.resolve()), **entry}
        if accepted:
            line["accepted"] = list(accepted)
        with reading(self.path), self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def folder() -> Path:
    """Return the per-user data directory of this operating system."""
    local = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    places = {"win32": local, "darwin": "~/Library/Application Support"}
    elsewhere = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    place = Path(places.get(sys.platform, elsewhere))
    try:
        return place.expanduser() / "condmask"
    except RuntimeError:  # the user has no home
        raise unwritable(place / "condmask" / LOG_FILE, "there is no home folder") from None


def unwritable(path: Path, reason: str) -> FileError:
    """Return the error of a log that cannot be written, with its place and a remedy."""
    kind = "key of the log" if path.name == KEY_FILE else "log of releases"
    elsewhere = (
        ""
        if sys.platform in ("win32", "darwin")
        else "set XDG_DATA_HOME to a folder of yours, or "
    )
    helps = f"{elsewhere}pass log=False, which looks up and enters nothing"
    return FileError(f"{path}, the {kind}, cannot be written ({reason}): {helps}")


@contextmanager
def _keeping(path: Path) -> Iterator[None]:
    """Turn errors of the system into those of a log that cannot be written."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unwritable(path, os.strerror(error.errno or errno.EIO).lower()) from error


def _make_log(path: Path) -> None:
    """Create an empty log unless it exists; refused if no line could be written later."""
    with _keeping(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.open("a").close()


def _user_key() -> bytes:
    """Return the user's key, made on first use; only the user may read it."""
    path = folder() / KEY_FILE
    with _keeping(path):
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(16))
        return path.read_bytes()
