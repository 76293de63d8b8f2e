"""The order of work when a file is masked: what is seen at once first, what takes time afterwards.

1. Arguments, the source, the target, formats, and the place of the log: `open_files`.
2. The data, without an attack: missing values and codes, gaps and donor pools, limits, columns
   that name persons, rows in order, and values that the log has: `look_at_whole`, `look_at_parts`.
3. The choice of schemes, and the attack: `settle_whole`, `settle_parts`.

Each stage collects all that is wrong, so that it is said together. Obstacles to writing (a target
that exists, a log that has the values or cannot be written) are collected on their own: they
refuse a release, and a dry run, which writes nothing, only mentions them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.audit import refuse_too_few_records
from condmask.disclosure.table import clear_of
from condmask.errors import (
    ArgumentError,
    CondmaskError,
    Refusals,
    ReleaseWarning,
    collect_warnings,
    warn,
)
from condmask.files.about import published, sidecar
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Source
from condmask.files.publish import refuse_target
from condmask.marks import refuse_masked
from condmask.publish import job as jobs
from condmask.publish.log import Log, Where
from condmask.publish.prepare import Prepared
from condmask.publish.write import Progress, Shape, shape_of


class Obstacles:
    """Everything that is wrong with a release, collected until it is said.

    Attributes
    ----------
    data : Refusals
        For which a release and a dry run are refused.
    writing : Refusals
        For which only a release is refused.
    dry_run : bool
    """

    def __init__(self, *, dry_run: bool) -> None:
        self.data = Refusals()
        self.writing = Refusals()
        self.dry_run = dry_run

    def raise_all(self) -> None:
        """Raise one error that says all of it; in a dry run, warn of obstacles to writing
        first."""
        if self.dry_run:
            for error in self.writing.errors:
                warn(f"the release would be refused: {error}", ReleaseWarning, about=str(error))
        else:
            self.data.errors = [*self.writing.errors, *self.data.errors]
        self.writing = Refusals()
        self.data.raise_all()


class Task(NamedTuple):
    """One file or folder to be masked: where from, where to, in which shape, and how."""

    job: jobs.Job
    origin: Source
    out: Path
    shape: Shape
    book: Log

    @property
    def in_parts(self) -> bool:
        """Whether there is more than the first part, which was read."""
        return -1 in self.origin.rows


class Looked(NamedTuple):
    """The data after a look at them.

    Attributes
    ----------
    looks : list of Look
        One for each part.
    entry : dict
        For the log.
    rows : sequence of int
        The rows of each file of the release.
    """

    looks: list[jobs.Look]
    entry: dict[str, Any]
    rows: Sequence[int]


# --- the first stage: arguments, files, formats, the log ---


def open_files(
    make_job: Callable[[], jobs.Job],
    place: Path,
    out: Path,
    found: Obstacles,
    *,
    csv: CsvFormat | None,
    part_rows: int | None,
    keep: Sequence[str],
    log: Where,
    force: bool,
) -> tuple[Task, Any]:
    """Open the source and the log, and check all but the data.

    Returns
    -------
    tuple of Task, pyarrow.Table
        What is to be done, and the first part of the source.
    """
    job: Any = None
    origin: Any = None
    only: Any = None
    book = Log(False)
    with found.data.collected():
        job = make_job()
    with found.data.collected():
        origin = Source(place, csv, part_rows)
    with found.data.collected():
        asked = Log(log)
        book = asked if job is None or job.root is None else book
    check_places(out, place, book, found, force=force)
    if job is None or origin is None:
        found.raise_all()
    with found.data.collected():
        refuse_released(origin)
    if found.data.errors:  # of a release, or with wrong arguments, nothing else matters
        found.raise_all()
    shape: Any = check_formats(origin, out, keep, found)
    complete = check_columns(origin, job, found)
    with found.data.collected():
        only = next(origin.parts())
        # each file has rows of its own
        if job.shuffle and (origin.is_folder or -1 in origin.rows):
            raise ArgumentError(
                f"{place} is shuffled only as one file of one part: shuffle the rows first"
            )
    if only is None or not complete:
        found.raise_all()
    return Task(job, origin, out, shape, book), only


def check_places(
    out: Path, source: Path | None, book: Log, found: Obstacles, *, force: bool
) -> None:
    """Collect what stands in the way of writing the release, and its entry in the log."""
    with found.writing.collected():
        refuse_target(out, source, force=force)
    with found.writing.collected():
        book.refuse_unwritable()


def check_formats(
    origin: Source, out: Path, keep: Sequence[str], found: Obstacles
) -> Shape | None:
    """Return the shape of the release; collect formats that do not fit."""
    shape = None
    with found.data.collected():
        # otherwise refused already, whatever its name ends in
        if origin.is_folder or not out.is_dir():
            shape = shape_of(origin, out, keep)
    return shape


def originals(source: Any, csv: CsvFormat | None = None) -> Source:
    """Open files of original data; refused where they are of a release."""
    origin = Source(source, csv)
    refuse_released(origin)
    return origin


def refuse_released(origin: Source) -> None:
    """Refuse files of a release, by their own marks, by those beside them or by those of folders
    above."""
    own = dict.fromkeys(name for mark in origin.marks for name in mark.columns)
    text = [file for file in origin.files if sidecar(file).exists()]
    places = dict.fromkeys([origin.base, *origin.base.resolve().parents, *text])
    beside = {name for found in map(published, places) if found for name in found.schemes}
    there = [name for name in origin.names if name in own or name in beside]
    refuse_masked(there or own, origin.path)  # a masked column may have another name by now


def check_columns(origin: Source, job: jobs.Job, found: Obstacles) -> bool:
    """Return whether the columns are there; collect the first that is not."""
    try:
        origin.require(job.groups, job.schemes)
    except CondmaskError as error:
        found.data.errors.append(error)
        return False
    return True


def check_by_log(
    task: Task, marks: dict[str, Any], found: Obstacles, *, again: bool
) -> dict[str, Any]:
    """Return the entry for the log; collect its refusal of values that were released before."""
    entry: dict[str, Any] = {}
    keeps = not (found.dry_run or found.writing.errors)  # otherwise nothing is released
    with found.writing.collected():
        entry = task.book.refuse(marks, task.origin, again=again, keeps=keeps)
    return entry


# --- the second and the third stage, of a source of one part ---


def look_at_whole(
    task: Task, only: Any, found: Obstacles, *, again: bool
) -> tuple[Any, Prepared, Looked]:
    """Look at the only part without an attack; raise all that was found up to here.

    Returns
    -------
    tuple of pyarrow.Table, Prepared, Looked
        The rows that are released, in the order in which they are; these as they were looked at.
    """
    job = task.job
    rows: Sequence[int] = task.origin.rows
    with found.data.collected():
        frame = task.origin.numeric(only, job.schemes)
        kept = jobs.kept_rows(frame, job)
        if kept is not None:
            jobs.warn_of_dropped(int(np.count_nonzero(~kept)), kept.size)
            rows = rows_of_files([kept], rows)
        only = _ordered(_filtered(only, kept), job)
        frame = task.origin.numeric(only, job.schemes)
        job.take_own_grids([frame])
        seen = jobs.look_at_once(frame, job, "whole", found.data)
        if job.limits:
            with found.data.collected():
                refuse_too_few_records(only.num_rows, job.schemes)
        entry = check_by_log(task, jobs.marks_in(seen, job), found, again=again)
    found.raise_all()
    return only, seen, Looked([], entry, rows)


def settle_whole(task: Task, only: Any, seen: Prepared, looked: Looked) -> tuple[Prepared, Looked]:
    """Choose schemes and attack; return the part ready to be masked."""
    frame = task.origin.numeric(only, task.job.schemes)
    whole = jobs.settle(seen, frame, task.job)
    jobs.warn_of_use(frame, whole, task.job)
    return whole, looked._replace(looks=[jobs.look_at(whole, task.job)])


def _filtered(table: Any, kept: np.ndarray | None) -> Any:
    return table if kept is None else table.filter(kept)


def _ordered(table: Any, job: jobs.Job) -> Any:
    """Return the rows in the order in which they are released."""
    return table.take(job.order(table.num_rows)) if job.shuffle else table


def rows_of_files(kept: Sequence[np.ndarray], rows: Sequence[int]) -> list[int]:
    """Count the rows of each file that stay, of so many."""
    before = np.concatenate([[0], np.cumsum(np.concatenate(kept))])
    ends = np.concatenate([[0], np.cumsum(rows)])
    return [int(count) for count in np.diff(before[ends])]


# --- the same of a source of several parts ---


def choose_by_first(task: Task, first: Any, found: Obstacles) -> None:
    """Choose schemes, where they are to be chosen, by the first part of a source."""
    job = task.job
    if not job.chooses:
        return
    with found.data.collected(), _naming_rows(1, first.num_rows):
        frame = task.origin.numeric(first, job.schemes)
        frame = _filtered(frame, jobs.kept_rows(frame, job))
        refusals = Refusals()
        seen = jobs.look_at_once(frame, job, "whole", refusals)
        refusals.raise_all()
    if found.data.errors or seen.table is None:
        found.raise_all()
    else:
        job.choose(seen.table._replace(clear=clear_of(frame, seen.values)))


def numeric_parts(task: Task) -> Iterator[Any]:
    """Yield the columns to be masked, part by part, as numbers."""
    for table in task.origin.parts([*task.job.schemes]):
        yield task.origin.numeric(table, task.job.schemes)


def look_at_parts(task: Task, progress: Progress, found: Obstacles, *, again: bool) -> Looked:
    """Look at every part without an attack, and up in the log; raise all that was found up to
    here.

    This reads the source to its end. Parts are refused for their rare values, too, since they are
    not held.
    """
    job = task.job
    origin = task.origin
    looks: list[jobs.Look] = []
    kept: list[np.ndarray] = []
    rows = 0
    with found.data.collected():
        for table in origin.parts([*job.schemes, *job.groups]):
            first = rows + 1
            rows = rows + table.num_rows
            with _naming_rows(first, rows, f", under {job.schemes}" if job.chosen else ""):
                frame = origin.numeric(table, job.schemes, first)
                stays = jobs.kept_rows(frame, job)
                frame = _filtered(frame, stays)
                part = jobs.part_of(frame, job, "part")
            jobs.warn_of_use(frame, part, job)
            looks.append(jobs.look_at(part, job))
            kept.append(np.ones(table.num_rows, dtype=bool) if stays is None else stays)
            del table, frame, part  # before the next part is read
            if progress is not None:
                progress(rows, None)
        entry = check_by_log(task, jobs.marks_of(looks), found, again=again)
    found.raise_all()
    jobs.warn_of_dropped(rows - sum(look.records for look in looks), rows)
    return Looked(looks, entry, rows_of_files(kept, origin.rows))


def settle_parts(task: Task) -> None:
    """Attack some rows from all parts."""
    job = task.job
    origin = task.origin

    def rows_with(units: jobs.Units) -> Iterator[Any]:
        return (origin.numeric(jobs.rows_of(units, part), job.schemes) for part in origin.parts())

    if job.limits:
        jobs.audit_sample(origin.numeric(origin.sample(), job.schemes), job, rows_with)


def parts_as_released(task: Task) -> Iterator[tuple[Any, Prepared]]:
    """Read all parts again; yield their rows that are released, and these ready to be masked."""
    job = task.job
    origin = task.origin
    names = [name for name in origin.names if name not in origin.keys or name in job.groups]
    for table in origin.parts(names):
        with collect_warnings():  # what was said when it was looked at
            frame = origin.numeric(table, job.schemes)
            stays = jobs.kept_rows(frame, job)
            part = jobs.part_of(_filtered(frame, stays), job, None)
        yield _filtered(table, stays), part
        del table, frame, part  # before the next part is read


@contextmanager
def _naming_rows(first: int, last: int, under: str = "") -> Iterator[None]:
    """Add to a refusal in which rows of the source it arose."""
    try:
        yield
    except CondmaskError as error:
        raise type(error)(f"{error} (in rows {first:,} to {last:,}{under})") from None
