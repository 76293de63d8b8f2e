"""A release on its way into the ledger: refused if its records were released before, else entered."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from condmask._log import logger
from condmask._warn import warn
from condmask.disclosure.release_check import ReleaseError, ReleaseWarning
from condmask.files.streams import OPENED
from condmask.law import Law
from condmask.releases.ledger import Content, Entry, Hidden, Ledger
from condmask.releases.repeated_release import guessed_coins
from condmask.releases.sketch import Overlap, Sketch, keyed, overlap
from condmask.scheme import Scheme

LOG = logger(__name__)

GO_ON = (
    "; publish that one alone, or both with --again (again=True); condmask ledger --forget {number} removes "
    "a release that was given to nobody"
)
TRY_ON = "; --no-ledger (ledger=False) tries this without the ledger"


class Repeat(NamedTuple):
    """An earlier release, its number, and what it has in common with a new one."""

    number: int
    entry: Entry
    overlap: Overlap


class Registration:
    """Looks up the records of a release in a ledger, and enters them.

    Parameters
    ----------
    ledger : Ledger
    target : Path
        Where the release goes.
    schemes : dict of str to scheme
        How its columns are masked.
    sketch : Sketch
        Its records, before they are masked.
    column : ndarray
        Originals of the first masked column, or some of them, to compute the cost of two releases.
    again : bool
        Whether records may be released again.
    dry_run : bool
        Whether nothing is written, so that a refusal may offer to go on without the ledger.
    """

    def __init__(
        self,
        ledger: Ledger,
        target: Path,
        schemes: Mapping[str, Scheme],
        sketch: Sketch,
        column: np.ndarray,
        *,
        again: bool,
        dry_run: bool = False,
    ) -> None:
        self._ledger, self._target, self._schemes = ledger, target, schemes
        self._sketch, self._column, self._again, self._dry_run = sketch, column, again, dry_run
        self._seen: Content | None = None

    def look_up(self) -> None:
        """Refuse records that were released before, or warn of the cost of another release."""
        content = self._ledger.content()
        if content is not None and (content.pending or content.torn) and not self._dry_run:
            with contextlib.suppress(OSError):  # of which `entering` warns
                content = self._ledger.settled()
        self._review(content)

    @contextlib.contextmanager
    def entering(self, hidden: Path) -> Iterator[None]:
        """Enter the release, complete under a hidden name, before it gets its own; take the entry back if it
        gets none. Refuse it if another job was faster."""
        with self._ledger.opened() as file:
            if file is None:
                yield
                return
            text = file.read()
            if self._seen is None or self._seen.pending or self._seen.size != len(text):
                self._review(self._ledger.parsed(text))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            schemes = {name: scheme.to_dict() for name, scheme in self._schemes.items()}
            target = self._target if self._target in OPENED else self._target.absolute()
            place = Hidden(str(hidden), os.lstat(hidden).st_ino)
            try:
                self._ledger.add(file, Entry(str(target), now, schemes, self._sketch, place), self._seen)
                LOG.info("entered in the ledger %s", self._ledger.path)
                yield
            except BaseException:
                if place.exists:
                    self._ledger.take_back(file, self._seen)
                raise

    def _review(self, content: Content | None) -> None:
        """Refuse the release, or warn, over releases entered since the last look."""
        known = set() if self._seen is None else self._seen.entries.keys()
        self._seen = content
        if content is None:
            return
        new = keyed(self._sketch, content.key)
        repeats = [
            Repeat(number, entry, overlap(new, entry.sketch))
            for number, entry in content.entries.items()
            if number not in known
        ]
        shared = [repeat for repeat in repeats if repeat.overlap.shared]
        unclear = [repeat for repeat in repeats if repeat.overlap.unclear]
        if shared:
            text = self._sentence(shared)
            if not self._again:
                how = GO_ON.format(number=shared[0].number)
                raise ReleaseError(text + how + (TRY_ON if self._dry_run else ""))
            warn(text, ReleaseWarning)
        elif unclear:
            entry = unclear[-1].entry
            warn(
                f"the records of {self._target.name} are too much alike to tell whether they are those of "
                f"{entry.named}: never publish two releases of one file",
                ReleaseWarning,
            )

    def _sentence(self, shared: list[Repeat]) -> str:
        """What two or more releases have in common, and what they reveal together."""
        shared.sort(key=lambda repeat: -repeat.overlap.share)
        worst, others = shared[0], len(shared) - 1
        share = f"{100 * worst.overlap.share:.0f}% of "
        records = self._sketch.records
        whose = "its records with" if records <= worst.entry.sketch.records else "the records of"
        verb = "shares" if whose.startswith("its") else "holds"
        more = f" and of {others} more" if others else ""
        return (
            f"{self._target.name} {verb} {share}{whose} {worst.entry.named}{more}: "
            f"{self._cost([repeat.entry for repeat in shared])}"
        )

    def _cost(self, entries: Sequence[Entry]) -> str:
        """What an attacker who has all the releases learns."""
        name, scheme = next(iter(self._schemes.items()))
        if any(self._schemes.keys().isdisjoint(entry.schemes) for entry in entries):
            return "a column masked in one of them may be unmasked in the other"
        laws = [law for entry in entries if (law := _law_of(entry, name)) is not None]
        if scheme.reverse_mapping or scheme.law is None or len(laws) < len(entries):
            return "anyone who has both sees which values stayed close, and their noise averages out"
        n = self._sketch.records
        alone, together = (
            guessed_coins(self._column, some, n) for some in ([scheme.law], [*laws, scheme.law])
        )
        return (
            f"from the values of {name} in both, an attacker guesses the swap status of at least "
            f"{100 * together:.0f}% of the records, from one release alone of {100 * alone:.0f}%, and the "
            "noise averages out"
        )


def _law_of(entry: Entry, name: str) -> Law | None:
    """The law of a column of an earlier release; None where there is none."""
    if name not in entry.schemes:
        return None
    scheme = Scheme.from_dict(entry.schemes[name])
    return None if scheme.reverse_mapping else scheme.law
