"""Attempts at a release: every stage up to the one that writes, under given settings.

An attempt writes nothing. It raises all that is refused at the first stage that refuses anything,
or returns what is left to be masked. So a dry run, ``condmask check``, a release and one that
settles its refusals take one path.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import frames
from condmask.disclosure.figures import Figures
from condmask.errors import Refusals
from condmask.files.about import Published
from condmask.files.arrow import ArrowTable
from condmask.files.csv_text import CsvFormat
from condmask.frames import DataFrame
from condmask.marks import refuse_marked
from condmask.publish import stages
from condmask.publish.job import Job
from condmask.publish.log import Where
from condmask.publish.obstacles import Obstacles
from condmask.publish.original_table import OriginalTable
from condmask.publish.part_statistics import PartStatistics, warn_of_dropped
from condmask.publish.prepare import Prepared
from condmask.publish.settling import Settings, Step, settle
from condmask.publish.write import Progress

LOG = logging.getLogger(__name__)


class ReadyTable(NamedTuple):
    """A table in memory that passes.

    Attributes
    ----------
    job : Job
    original : OriginalTable
        The rows and columns that are released.
    part : Prepared
    statistics : PartStatistics
    metadata : Published
    """

    job: Job
    original: OriginalTable
    part: Prepared
    statistics: PartStatistics
    metadata: Published


class ReadyFile(NamedTuple):
    """A file or folder that passes.

    Attributes
    ----------
    task : Task
    inspected : Inspected
    prepared : iterable of (pyarrow Table, Prepared)
        The parts, which are read as they are needed.
    metadata : Published
    figures : dict of str to Figures
        Of the audit, by masked column.
    """

    task: stages.Task
    inspected: stages.Inspected
    prepared: Iterable[tuple[ArrowTable, Prepared]]
    metadata: Published
    figures: Mapping[str, Figures]


def passing(
    attempt: Callable[[Settings, tuple[str, ...] | None], Any],
    settings: Settings,
    *,
    fix: bool,
    said: Callable[[Step], object] = lambda _: None,
) -> tuple[Any, Settings]:
    """Return what an attempt returns, and the settings under which it passes; with ``fix`` those
    that settle its refusals."""
    if not fix:
        return attempt(settings, None), settings
    made, settings, _ = settle(settings, attempt, said)
    return made, settings


def attempt_table(
    frame: DataFrame,
    settings: Settings,
    steps: tuple[str, ...] | None,
    options: Mapping[str, Any],
) -> ReadyTable:
    """Try the release of a table in memory.

    Parameters
    ----------
    frame : data frame or dict of columns
    settings : Settings
    steps : tuple of str or None
        The changes so far of a release that settles its refusals.
    options : dict
        The other arguments of `Job`.
    """
    refusals = Refusals()
    with refusals.collected():
        job = Job(**settings._asdict(), **options, steps=steps)
    with refusals.collected():
        refuse_marked(frame, "frame")
    refusals.raise_all()
    original = _rows_to_release(OriginalTable(frames.without_columns(frame, job.drop)), job)
    job = job.on_own_grids([original])
    prepared = job.inspect(original, "whole", refusals)
    refusals.raise_all()
    job, part = job.settle(prepared, original)
    job.warn_of_use(original.frame, part)
    statistics = job.statistics_of(part)
    return ReadyTable(job, original, part, statistics, job.metadata_of([statistics]))


def _rows_to_release(original: OriginalTable, job: Job) -> OriginalTable:
    """Return the rows of a table that are released, in the order in which they are."""
    kept = job.kept_rows(original)
    if kept is not None:
        warn_of_dropped(int(np.count_nonzero(~kept)), kept.size)
        original = original.take(np.flatnonzero(kept))
    if job.shuffle:
        original = original.reordered(job.new_order)
    return original


class Files(NamedTuple):
    """The source and the target of a release, and how files are read and written.

    Attributes
    ----------
    source, target : Path
    csv : CsvFormat or None
    part_rows : int or None
    keep : sequence of str
        Entries of metadata that are released.
    log : bool or path
    force, again, dry_run : bool
    progress : callable or None
    """

    source: Path
    target: Path
    csv: CsvFormat | None
    part_rows: int | None
    keep: Sequence[str]
    log: Where
    force: bool
    again: bool
    dry_run: bool
    progress: Progress


def attempt_file(
    files: Files,
    settings: Settings,
    steps: tuple[str, ...] | None,
    options: Mapping[str, Any],
) -> ReadyFile:
    """Try the release of a file or folder; the other arguments are those of `attempt_table`."""
    obstacles = Obstacles(dry_run=files.dry_run)
    task, only = stages.open_files(
        lambda: Job(**settings._asdict(), **options, steps=steps),
        files.source,
        files.target,
        obstacles,
        csv=files.csv,
        part_rows=files.part_rows,
        keep=files.keep,
        log=files.log,
        force=files.force,
    )
    if task.in_parts:
        task = stages.choose_by_first(task, only, obstacles)
        del only  # one part at a time is held
        task = stages.with_own_grids(task)
        inspected = stages.inspect_parts(task, files.progress, obstacles, again=files.again)
        figures: Mapping[str, Figures] = stages.settle_parts(task)
        prepared: Iterable[Any] = stages.parts_as_released(task)
    else:
        whole = stages.inspect_whole(task, only, obstacles, again=files.again)
        task, part, inspected = stages.settle_whole(whole)
        figures = part.figures
        prepared = _alone(whole.table, part)
    parts = len(inspected.parts)
    LOG.info("%d records of %s in %d parts", sum(inspected.rows), files.source.name, parts)
    metadata = task.job.metadata_of(inspected.parts)
    return ReadyFile(task, inspected, prepared, metadata, figures)


def _alone(table: ArrowTable, part: Prepared) -> Iterator[tuple[ArrowTable, Prepared]]:
    """Yield the only part."""
    yield table, part
