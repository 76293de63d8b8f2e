"""Read the metadata published with the data: in the schema of Parquet and Arrow, in a file next to
CSV, once in a folder.

The metadata of a release of several parts have the sum of each masked column by part. If sums
differ on reading, rows were moved, and relations with other columns are refused.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from condmask.errors import ArgumentError, FileError
from condmask.estimates.origin import NOWHERE, Origin
from condmask.files import tables
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import MANIFEST, SIDECAR, files_of
from condmask.masking.scheme import Scheme

FORMAT_VERSION = 3  # 2: several parts; 3: reverse mapping is a scheme of its own
SCHEMA_KEY = b"condmask"
# key of the sums of masked columns by part, which are known once all parts are written
SUMS_KEY = "condmask.sums"
ABOUT = (
    "Columns of this table were masked by condmask: a masked value need not be its record's own. "
    "condmask.read_release and `condmask estimate` compute from it what the originals were."
)


class Published(NamedTuple):
    """The metadata published with a table.

    Attributes
    ----------
    parts : tuple of int
        The records of each part, in the order of the rows.
    schemes, origins : dict
        By masked column.
    csv : CsvFormat or None
        How text is written; None where the data are no text.
    sums : dict of str to list of float
        The sum of each masked column by part; empty for one part.
    shuffled : bool
        Whether the rows are in another order than those of the original.
    accepted : tuple of str
        The codes of findings that the publisher accepted.
    steps : tuple of str
        The changes by which refusals were settled, in words.
    """

    parts: tuple[int, ...]
    schemes: dict[str, Scheme]
    origins: dict[str, Origin]
    csv: CsvFormat | None = None
    sums: Mapping[str, Sequence[float]] = {}
    shuffled: bool = False
    accepted: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """The number of records, over all parts."""
        return sum(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as objects of JSON."""
        entries = {
            "about": ABOUT,
            "version": FORMAT_VERSION,
            "records": self.records,
            "parts": list(self.parts),
            "columns": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
            "origins": {
                name: origin._asdict() for name, origin in self.origins.items() if any(origin)
            },
            "csv": {name: value for name, value in vars(self.csv).items() if value}
            if self.csv
            else {},
            "sums": dict(self.sums),
            "shuffled": self.shuffled,
            "accepted": list(self.accepted),
            "steps": list(self.steps),
        }
        return {name: entry for name, entry in entries.items() if entry or name == "origins"}

    @classmethod
    def from_json(cls, text: bytes, place: Path) -> "Published":
        """Read metadata that `to_dict` returned, or those of version 1, in which all records are
        one part."""
        try:
            entries = json.loads(text)
            newer = entries["version"] > FORMAT_VERSION
            if not newer and not entries.get("in_folder"):
                return cls._from_entries(entries)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise FileError(f"{place} is damaged: it holds no release") from error
        if newer:
            raise ArgumentError(
                f"{place} was masked by a newer condmask, got version {entries['version']}"
            )
        raise ArgumentError(f"{place} is one file of a released folder, which is read as a whole")

    @classmethod
    def _from_entries(cls, entries: dict[str, Any]) -> "Published":
        """Build the metadata from the objects of JSON, of this version or an earlier one."""
        schemes = {name: Scheme.from_dict(one) for name, one in entries["columns"].items()}
        origins = dict.fromkeys(schemes, NOWHERE)
        for name, one in entries["origins"].items():
            origins[name] = Origin(one["group"], tuple(one["patterns"]), tuple(one["shift"]))
        parts = entries["parts"] if entries["version"] > 1 else [entries["records"]]
        sums = {name: [*map(float, one)] for name, one in entries.get("sums", {}).items()}
        form = CsvFormat(**entries["csv"]) if "csv" in entries else None
        accepted = tuple(map(str, entries.get("accepted", ())))
        steps = tuple(map(str, entries.get("steps", ())))
        records = tuple(map(int, parts))
        return cls(records, schemes, origins, form, sums, "shuffled" in entries, accepted, steps)


def sidecar(path: Path) -> Path:
    """Return the path of the metadata of a CSV file."""
    return path.with_name(path.name + SIDECAR)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder or a pattern, that of a list of the SHA-256 of its
    data files."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    base, files = files_of(path)
    names = sorted(one.relative_to(base).as_posix() for one in files)
    lines = (f"{digest_of(base / name)}  {name}\n" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def published(path: Path) -> Published | None:
    """Return the metadata published with a file or a folder; None if there are none."""
    with tables.reading(path):
        path.stat()  # which refuses a file that is not there
        form = "" if path.is_dir() else tables.format_of(path)
        if form in tables.BINARY:
            notes = tables.described(path)[1]
            if SCHEMA_KEY not in notes:
                return None
            sums = json.loads(notes.get(SUMS_KEY.encode(), "{}"))
            return Published.from_json(notes[SCHEMA_KEY], path)._replace(sums=sums)
        place = sidecar(path) if form else path / MANIFEST
        if not place.exists():
            return None
        text = place.read_bytes()
        found = Published.from_json(text, path)
        if form and json.loads(text).get("sha256") != digest_of(path):
            raise FileError(
                f"{path} is not the file that {place.name} was published with: one of the two was "
                "changed, renamed or replaced"
            )
    return found
