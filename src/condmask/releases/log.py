"""The log of releases to files, by which the same values are not released twice unnoticed.

A line of JSON for each release: when, where from, where to, and a mark of each masked column. It is a hash,
keyed by a secret of the user's own, of two sums over the values that add over parts and do not depend on the
order of records. It tells whether the same values were released before, and nothing else. What the log does
not see, docs/promises.rst says.
"""

import json
import os
import secrets
import sys
from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import blocks
from condmask.disclosure.audit import ReleaseError, ReleaseWarning
from condmask.errors import ArgumentTypeError, FileError, warn
from condmask.files.parts import Source
from condmask.files.tables import reading

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


class Log:
    """The log in a file, which need not exist; None is none."""

    def __init__(self, where: Where) -> None:
        known = isinstance(where, bool | str | os.PathLike)
        _checks.require(known, "log must be True, False or a path", where, ArgumentTypeError)
        self.path = None if where is False else folder() / "log.jsonl" if where is True else Path(where)

    def refuse(self, marks: Mapping[str, Any], source: Source | None, *, again: bool) -> dict[str, Any]:
        """What `enter` writes. Refuse columns whose values were released before, and columns in clear that a
        release of the same source masked; warn where that was with other values."""
        if self.path is None or not marks:
            return {}
        with reading(self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.open("a").close()  # refused now where no line could be written later
            lines = self.path.read_text().splitlines()
        found, origin = keyed(marks), source and str(source.path.resolve())
        for line in filter(str.strip, lines):
            try:
                entry = json.loads(line)
                when = f"{entry['target']}, released on {entry['date'][:10]}"
                before, columns = entry["source"], dict(entry["columns"])
            except (ValueError, TypeError, KeyError):
                raise FileError(f"{self.path} is damaged: delete the lines that are no release") from None
            same = [name for name, mark in found.items() if mark in columns.values()]
            if same and not again:
                raise ReleaseError(
                    f"{_checks.listed(same)}: the same values are in {when}; both show more than either. "
                    "Publish that one alone, or, if it was given to nobody, destroy it and pass --again "
                    f"(again=True). {self.path} lists it"
                )
            related = source.names if source is not None and origin == before else ()
            clear = [name for name in columns if name in related and name not in found]
            if clear and not again:
                raise ReleaseError(
                    f"{_checks.listed(clear)}: masked in {when}, of the same source, and in clear now. Drop "
                    "what was masked there, or, if that release was given to nobody or the source has become "
                    f"another one, pass --again (again=True). {self.path} lists it"
                )
            if related and not same and found.keys() & columns.keys():
                said = f"{origin} is the source of {when}, with other values: never publish both"
                warn(said, ReleaseWarning)
        return {"source": origin, "columns": found}

    def enter(self, target: Path, release: Mapping[str, Any]) -> None:
        """Add a release, of which `refuse` told this."""
        if self.path is None or not release:
            return
        date = datetime.now().astimezone().isoformat()
        entry = {"date": date, "target": str(target.resolve()), **release}
        with reading(self.path), self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def folder() -> Path:
    """Where programs of the system keep a user's data."""
    local = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    places = {"win32": local, "darwin": "~/Library/Application Support"}
    elsewhere = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(places.get(sys.platform, elsewhere)).expanduser() / "condmask"


def _key() -> bytes:
    """The user's secret, made on first use; only the user may read it."""
    path = folder() / "log.key"
    with reading(path):
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(16))
        return path.read_bytes()
