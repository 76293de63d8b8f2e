"""The faults, as the lists have them."""

import hashlib
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = Path(__file__).parent / "rooms"
SOURCE = Path("src/condmask")


class Fault(NamedTuple):
    """A piece of text that stands once in a file, and what takes its place.

    `tests` are tried first, and `explained` says why none has to notice. Kernels run as plain Python.
    """

    room: str
    file: str
    was: str
    now: str
    why: str
    tests: tuple[str, ...] = ()
    explained: str = ""

    @property
    def path(self):
        """The file, from the root of the checkout."""
        return SOURCE / self.file

    @property
    def settings(self):
        """What the tests find in their environment."""
        return {"NUMBA_DISABLE_JIT": "1"} if self.file.startswith("kernels/") else {}

    @property
    def name(self):
        """The room, and what changes with the fault."""
        text = "\0".join([self.file, self.was, self.now])
        return f"{self.room}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    def put_into(self, text):
        """The text of the file with the fault."""
        times = text.count(self.was)
        if times != 1:
            raise AgedError(f"{self.file}: {self.was!r} stands there {times} times, not once")
        return text.replace(self.was, self.now)


class AgedError(Exception):
    """The source has changed since the fault was listed."""


def rooms():
    """The names of the lists."""
    return sorted(path.stem for path in ROOMS.glob("*.toml"))


def listed(room):
    """The faults of a list."""
    rows = tomllib.loads((ROOMS / f"{room}.toml").read_text())["fault"]
    return [Fault(room, **{**row, "tests": tuple(row.get("tests", ()))}) for row in rows]
