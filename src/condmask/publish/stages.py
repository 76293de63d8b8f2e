"""Mask a file in stages: quick checks first, steps that take time afterwards.

1. Check arguments, the source, the target, formats, and the place of the log: `open_files`.
2. Check the data without an attack: missing values and codes, gaps and donor pools, limits,
   columns that name persons, rows in order, and values that are in the log: `inspect_whole`,
   `inspect_parts`.
3. Choose schemes, and attack the release: `settle_whole`, `settle_parts`.

Each stage collects all problems and raises one error that names them. Obstacles to writing (a
target that exists, a log that has the values or cannot be written) are collected separately: they
refuse a release, and in a dry run, which writes nothing, they are warnings.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.audit import refuse_too_few_records
from condmask.disclosure.figures import Figures
from condmask.disclosure.unmasked import clear_of
from condmask.errors import (
    ArgumentError,
    CondmaskError,
    Refusals,
    collect_warnings,
)
from condmask.files.about import published, sidecar
from condmask.files.arrow import ArrowTable
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Source
from condmask.files.publish import refuse_target
from condmask.marks import refuse_masked
from condmask.publish.audited_rows import Units, rows_of
from condmask.publish.declared_codes import with_declared
from condmask.publish.job import Job
from condmask.publish.log import Log, Where
from condmask.publish.obstacles import Obstacles
from condmask.publish.original_table import OriginalTable
from condmask.publish.part_statistics import PartStatistics, summed_marks, warn_of_dropped
from condmask.publish.prepare import Prepared
from condmask.publish.write import Progress, Shape, shape_of


class Task(NamedTuple):
    """One file or folder to be masked.

    Attributes
    ----------
    job : Job
    source : Source
    target : Path
    shape : Shape or None
        Of the released files; None in a dry run whose target cannot be written.
    log : Log
    notes : sequence of str
    """

    job: Job
    source: Source
    target: Path
    shape: Shape | None
    log: Log
    notes: Sequence[str] = ()

    @property
    def in_parts(self) -> bool:
        """Whether there is more than the first part, which was read."""
        return -1 in self.source.rows

    def original(self, part: ArrowTable, first_row: int = 1) -> OriginalTable:
        """Return a part of the source, which begins at a row."""
        gathers = next(iter(self.job.schemes.values())).gathers
        clean = self.source.without_letters(part, besides=self.job.schemes)
        return OriginalTable(clean, partial(self.source.original, gathers=gathers, row=first_row))


class Inspected(NamedTuple):
    """Result of the second stage.

    Attributes
    ----------
    parts : list of PartStatistics
        One for each part; empty until a source of one part is settled.
    entry : dict
        For the log.
    rows : sequence of int
        The rows of each file of the release.
    """

    parts: list[PartStatistics]
    entry: dict[str, Any]
    rows: Sequence[int]


class Whole(NamedTuple):
    """A source of one part after the second stage.

    Attributes
    ----------
    task : Task
        With the grids of the data in its schemes.
    table : pyarrow Table
        The rows that are released, in the order in which they are.
    original : OriginalTable
        The same rows, of which columns are read as numbers.
    prepared : Prepared
        Their columns, not yet ready to be masked.
    inspected : Inspected
    """

    task: Task
    table: ArrowTable
    original: OriginalTable
    prepared: Prepared
    inspected: Inspected


# --- the first stage: arguments, files, formats, the log ---


def open_files(
    make_job: Callable[[], Job],
    place: Path,
    target: Path,
    obstacles: Obstacles,
    *,
    csv: CsvFormat | None,
    part_rows: int | None,
    keep: Sequence[str],
    log: Where,
    force: bool,
) -> tuple[Task, ArrowTable]:
    """Open the source and the log, and check all but the data.

    Returns
    -------
    tuple of Task, pyarrow Table
        The task, and the first part of the source.
    """
    job: Job | None = None
    source: Source | None = None
    first: ArrowTable | None = None
    used_log = Log(False)
    notes: list[str] = []
    with obstacles.data.collected():
        job = make_job()
    with obstacles.data.collected():
        source = Source(place, csv, part_rows)
    if source is not None and job is not None:
        with obstacles.data.collected():
            source.leave_out(job.drop)
    with obstacles.data.collected():
        named_log = Log(log)
        if job is None or job.root is None:  # a release under `rng` has no entry
            used_log = named_log
    check_places(target, place, used_log, obstacles, force=force)
    if job is None or source is None:
        obstacles.stop()
    with obstacles.data.collected():
        refuse_released(source)
    if obstacles.data.errors:  # in a release, or under wrong arguments, nothing else matters
        obstacles.raise_all()
    shape = check_formats(source, target, keep, obstacles)
    complete = check_columns(source, job, obstacles)
    if complete and source.stat is not None:
        with obstacles.data.collected():
            job, notes = with_declared(job, source.stat, "" if shape is None else shape.form)
    with obstacles.data.collected():
        first = next(source.parts())
        # each file has rows of its own
        if job.shuffle and (source.is_folder or -1 in source.rows):
            raise ArgumentError(
                f"{place} is shuffled only as one file of one part: shuffle the rows first"
            )
    if first is None or not complete:
        obstacles.stop()
    return Task(job, source, target, shape, used_log, notes), first


def check_places(
    target: Path, source: Path | None, log: Log, obstacles: Obstacles, *, force: bool
) -> None:
    """Collect obstacles to writing the release, and to writing its entry in the log."""
    with obstacles.writing.collected():
        refuse_target(target, source, force=force)
    with obstacles.writing.collected():
        log.refuse_unwritable()


def check_formats(
    source: Source, target: Path, keep: Sequence[str], obstacles: Obstacles
) -> Shape | None:
    """Return the shape of the release; collect formats that do not fit."""
    shape = None
    with obstacles.data.collected():
        # a folder as target of one file is refused already, whatever its name ends in
        if source.is_folder or not target.is_dir():
            shape = shape_of(source, target, keep)
    return shape


def originals(place: str | os.PathLike[str], csv: CsvFormat | None = None) -> Source:
    """Open files of original data; those of a release are refused."""
    source = Source(place, csv)
    refuse_released(source)
    return source


def refuse_released(source: Source) -> None:
    """Refuse files of a release: by the marks in them, by metadata next to them or in folders
    above."""
    marked = dict.fromkeys(name for mark in source.marks for name in mark.columns)
    text_files = [file for file in source.files if sidecar(file).exists()]
    places = dict.fromkeys([source.base, *source.base.resolve().parents, *text_files])
    described = {
        name for metadata in map(published, places) if metadata for name in metadata.schemes
    }
    masked = [name for name in source.names if name in marked or name in described]
    refuse_masked(masked or marked, source.path)  # a masked column may have another name by now


def check_columns(source: Source, job: Job, obstacles: Obstacles) -> bool:
    """Return whether all columns exist; collect the first that does not."""
    try:
        source.require(job.groups, job.schemes)
    except CondmaskError as error:
        obstacles.data.errors.append(error)
        return False
    return True


def check_by_log(
    task: Task, marks: Mapping[str, np.ndarray], obstacles: Obstacles, *, again: bool
) -> dict[str, Any]:
    """Return the entry for the log; collect its refusal of values that were released before."""
    entry: dict[str, Any] = {}
    keeps = not (obstacles.dry_run or obstacles.writing.errors)  # otherwise nothing is released
    with obstacles.writing.collected():
        entry = task.log.refuse(marks, task.source, again=again, keeps=keeps)
    return entry


# --- the second and the third stage, of a source of one part ---


def inspect_whole(task: Task, only: ArrowTable, obstacles: Obstacles, *, again: bool) -> Whole:
    """Check the only part without an attack; raise one error that names all problems so far."""
    rows: Sequence[int] = task.source.rows
    with obstacles.data.collected():
        original = task.original(only)
        kept = task.job.kept_rows(original)
        if kept is not None:
            warn_of_dropped(int(np.count_nonzero(~kept)), kept.size)
            rows = rows_of_files([kept], rows)
            only = only.filter(kept)
        if task.job.shuffle:
            only = only.take(task.job.new_order(only.num_rows))
        if kept is not None or task.job.shuffle:
            original = task.original(only)
        task = task._replace(job=task.job.on_own_grids([original]))
        prepared = task.job.inspect(original, "whole", obstacles.data)
        if task.job.limits:
            with obstacles.data.collected():
                refuse_too_few_records(only.num_rows, task.job.schemes, task.job.limits.accepted)
        entry = check_by_log(task, task.job.marks_in(prepared), obstacles, again=again)
    obstacles.raise_all()
    return Whole(task, only, original, prepared, Inspected([], entry, rows))


def settle_whole(whole: Whole) -> tuple[Task, Prepared, Inspected]:
    """Choose schemes and attack; return the task, and the part ready to be masked."""
    job, part = whole.task.job.settle(whole.prepared, whole.original)
    job.warn_of_use(whole.original.frame, part)
    inspected = whole.inspected._replace(parts=[job.statistics_of(part)])
    return whole.task._replace(job=job), part, inspected


def rows_of_files(kept: Sequence[np.ndarray], rows: Sequence[int]) -> list[int]:
    """Return how many rows of each file are kept.

    Parameters
    ----------
    kept : sequence of ndarray of bool
        By part, whether each row is kept.
    rows : sequence of int
        The rows of each file.
    """
    before = np.concatenate([[0], np.cumsum(np.concatenate(kept))])
    ends = np.concatenate([[0], np.cumsum(rows)])
    return [int(count) for count in np.diff(before[ends])]


# --- the same, of a source of several parts ---


def choose_by_first(task: Task, first: ArrowTable, obstacles: Obstacles) -> Task:
    """Return the task with schemes chosen by the first part of a source, where they are open."""
    job = task.job
    if not job.chooses:
        return task
    prepared: Prepared | None = None
    with obstacles.data.collected(), _naming_rows(1, first.num_rows):
        original = _with_kept_rows(job, task.original(first))[0]
        refusals = Refusals()
        prepared = job.inspect(original, "whole", refusals)
        refusals.raise_all()
    if prepared is None or prepared.table is None or obstacles.data.errors:
        obstacles.stop()
    clear = clear_of(original.frame, prepared.values)
    return task._replace(job=job.choose(prepared.table._replace(clear=clear)))


def _with_kept_rows(job: Job, original: OriginalTable) -> tuple[OriginalTable, np.ndarray | None]:
    """Return the rows of a part that are released, and which these are; None for all."""
    kept = job.kept_rows(original)
    if kept is None:
        return original, None
    return original.take(np.flatnonzero(kept)), kept


def with_own_grids(task: Task) -> Task:
    """Return the task with the grid of the data in each scheme that names no step.

    Reads parts of the source until no scheme needs another one.
    """
    parts = map(task.original, task.source.parts([*task.job.schemes]))
    return task._replace(job=task.job.on_own_grids(parts))


def inspect_parts(
    task: Task, progress: Progress, obstacles: Obstacles, *, again: bool
) -> Inspected:
    """Check every part without an attack, and the log; raise one error that names all problems.

    Reads the source to its end. Parts are refused for their rare values, too, since they are not
    held.
    """
    job = task.job
    parts: list[PartStatistics] = []
    kept: list[np.ndarray] = []
    rows = 0
    with obstacles.data.collected():
        for table in task.source.parts([*job.schemes, *job.groups]):
            first = rows + 1
            rows = rows + table.num_rows
            with _naming_rows(first, rows, f", under {job.schemes}" if job.chosen else ""):
                original, mask = _with_kept_rows(job, task.original(table, first))
                part = job.part_of(original, "part")
            job.warn_of_use(original.frame, part)
            parts.append(job.statistics_of(part))
            kept.append(np.ones(table.num_rows, dtype=bool) if mask is None else mask)
            del table, original, part  # before the next part is read
            if progress is not None:
                progress(rows, None)
        entry = check_by_log(task, summed_marks(parts), obstacles, again=again)
    obstacles.raise_all()
    warn_of_dropped(rows - sum(part.records for part in parts), rows)
    return Inspected(parts, entry, rows_of_files(kept, task.source.rows))


def settle_parts(task: Task) -> dict[str, Figures]:
    """Attack rows sampled from all parts, and return the figures."""
    job = task.job
    source = task.source

    def read_rows(units: Units) -> Iterator[ArrowTable]:
        return (source.numeric(rows_of(units, part), job.schemes) for part in source.parts())

    if job.limits is None:
        return {}
    return job.audit_sample(source.numeric(source.sample(), job.schemes), read_rows)


def parts_as_released(task: Task) -> Iterator[tuple[ArrowTable, Prepared]]:
    """Read all parts again; yield the rows of each that are released, and their prepared
    columns."""
    job = task.job
    source = task.source
    names = [name for name in source.names if name not in source.keys or name in job.groups]
    for table in source.parts(names):
        with collect_warnings():  # all warnings were given when the part was inspected
            original, kept = _with_kept_rows(job, task.original(table))
            part = job.part_of(original, None)
        yield table if kept is None else table.filter(kept), part
        del table, original, part  # before the next part is read


@contextmanager
def _naming_rows(first: int, last: int, under: str = "") -> Iterator[None]:
    """Add the rows of the source to the message of a refusal within."""
    try:
        yield
    except CondmaskError as error:
        again = type(error)(f"{error} (in rows {first:,} to {last:,}{under})")
        raise again.settled_by(error.all_changes, error.code) from None
