"""Mask tables on a cluster: each partition of a Dask frame is a part of the release, masked and
written by one task.

There are two passes over the frame. In the first, tasks check each partition, and the client
audits their results and some rows of all of them, as `mask_file` does. In the second, each task
masks its partition under a key that it draws from the operating system, so that no key travels,
and writes a file under a name that no other task has. The client renames the files that tasks
report to it: a task that ran twice has one masking in the release.
"""

import json
import math
import operator
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from condmask import _checks, errors, frames
from condmask._blocks import in_stretches
from condmask.errors import ReleaseWarning
from condmask.files.about import Published
from condmask.files.arrow import ArrowSchema, ArrowTable, pa, pq
from condmask.files.parts import MANIFEST, SAMPLE_ROWS
from condmask.files.publish import publishing
from condmask.files.schemas import unified
from condmask.files.tables import reading
from condmask.frames import DataFrame
from condmask.marks import mark_of, refuse_masked
from condmask.masking.scheme import Scheme
from condmask.publish.audited_rows import Units, rows_of
from condmask.publish.job import Job
from condmask.publish.log import Log, Where
from condmask.publish.masking import mask_part
from condmask.publish.obstacles import Obstacles
from condmask.publish.original_table import OriginalTable
from condmask.publish.part_statistics import PartStatistics, summed_marks
from condmask.publish.read import released_in
from condmask.publish.release import Release
from condmask.publish.stages import check_places
from condmask.publish.write import Shape, released_parts

# Dask is optional and has no type information: these names say which of its classes is meant
DaskFrame = Any  # dask.dataframe.DataFrame
DaskPartition = Any  # dask.delayed.Delayed
DaskClient = Any  # distributed.Client
T = TypeVar("T")  # a task
R = TypeVar("R")  # its result

CHANGED = "the frame has other rows or columns the second time: persist it; nothing was published"
UNSHARED = "workers and client must share the folder that it is in; nothing was published"
DIED = (
    "one partition killed worker after worker, perhaps for want of memory; nothing was published"
)


class InspectedPartition(NamedTuple):
    """Result of the first pass over a partition.

    Attributes
    ----------
    statistics : PartStatistics
    warnings : list of str
        Texts of the warnings that the client repeats.
    sample : pyarrow Table
        Rows from all over the partition.
    """

    statistics: PartStatistics
    warnings: list[str]
    sample: ArrowTable


class MaskedPartition(NamedTuple):
    """Result of the second pass over a partition.

    Attributes
    ----------
    statistics : PartStatistics
        Of the original, which must be those of the first pass.
    file : Path
    schema : pyarrow Schema
        Of the file.
    sums : dict of str to list of float
        The sum of each masked column, in a list of one.
    """

    statistics: PartStatistics
    file: Path
    schema: ArrowSchema
    sums: dict[str, list[float]]


def mask(
    ddf: DaskFrame,
    schemes: Mapping[str, Scheme],
    target: str | os.PathLike[str],
    *,
    strata: str | Sequence[str] | None = None,
    nan_policy: str = "raise",
    round: bool = False,
    accept: str | Sequence[str] = (),
    accept_visible_coins: bool = False,
    log: Where = True,
    again: bool = False,
) -> Release:
    """Mask columns of a Dask data frame, each partition as a part of the release.

    Parameters
    ----------
    ddf : dask.dataframe.DataFrame
        Its partitions must have the same rows each time that they are computed. Its index is left
        out; ``reset_index`` makes it a column.
    schemes : dict of str to scheme
        The scheme of each column to mask, as for `mask_file`.
    target : path
        A new folder, in one that all workers and the client share. There will be a Parquet file
        for each partition that has rows.
    strata, nan_policy, round, accept, accept_visible_coins
        As for `mask_table`; donors come from a record's own partition.
    log, again
        As for `mask_file`.

    Returns
    -------
    Release
        As `read_release` reads it from the target.

    Raises
    ------
    FileError
        If the target exists or workers do not share it, workers die, or the frame has other rows
        the second time.
    ValueError, TypeError
        If the data cannot be masked; the number of the partition is named.
    ReleaseError
        If the release would show too much of the originals, or a masked column has the values of
        an earlier release. Nothing is published.

    Notes
    -----
    Tasks run where Dask runs them: on the cluster of the current client, or on threads of this
    process. The frame is computed twice, three times where rows of whole firms, households and the
    like are audited. The client holds up to 16,384 rows. Relations of columns take partitions as
    strata: shuffle rows first if they are sorted (docs/dask.rst).

    Examples
    --------
    >>> import tempfile
    >>> import dask.dataframe as dd, numpy as np, pandas as pd
    >>> import condmask as cm
    >>> income = np.random.default_rng(1).lognormal(8, 0.5, 20_000).round(2)
    >>> ddf = dd.from_pandas(pd.DataFrame({"income": income}), npartitions=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scheme = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
    ...     release = cm.dask.mask(ddf, {"income": scheme}, folder + "/released")
    ...     release.parts, bool(abs(release["income"].mean() / income.mean() - 1) < 0.02)
    ((5000, 5000, 5000, 5000), True)
    """
    known = hasattr(ddf, "to_delayed") and hasattr(ddf, "columns")
    _checks.require(
        known, "ddf must be a data frame of Dask", type(ddf).__name__, errors.ArgumentTypeError
    )
    destination = _checks.path(target, "target").absolute()
    again = _checks.boolean(again, "again")
    used_log = Log(log)
    obstacles = Obstacles(dry_run=False)
    with obstacles.data.collected():
        job = Job(
            schemes,
            may_choose=False,
            strata=strata,
            nan_policy=nan_policy,
            round=round,
            accept=accept,
            accept_visible_coins=accept_visible_coins,
        )
    check_places(destination, None, used_log, obstacles, force=False)
    obstacles.raise_all()
    partitions = ddf.to_delayed()
    with errors.warn_once_each():
        rows = 2 * SAMPLE_ROWS // len(partitions) + 1
        inspected = _on_each(partitions, partial(_inspected, job, rows), destination)
        if not inspected:
            raise errors.ArgumentError("ddf must have at least 2 records, got none")
        schema = unified("ddf", [one.sample.schema for one in inspected], {})
        statistics = [one.statistics for one in inspected]
        entry = used_log.refuse(summed_marks(statistics), None, again=again)
        for text in dict.fromkeys(text for one in inspected for text in one.warnings):
            errors.warn(text, ReleaseWarning, about=text)

        def read_rows(units: Units) -> Iterable[ArrowTable]:
            return _on_each(partitions, partial(rows_of, units), destination)

        if job.limits:
            job.audit_sample(_sample(inspected), read_rows)
        metadata = job.metadata_of(statistics)
    _write(partitions, destination, job, schema, metadata, inspected)
    used_log.enter(destination, entry, job.accepted)
    return released_in(destination)


def _write(
    partitions: Sequence[DaskPartition],
    destination: Path,
    job: Job,
    schema: ArrowSchema,
    metadata: Published,
    inspected: Sequence[InspectedPartition],
) -> None:
    """Mask all partitions and publish their files; refuse a frame that changed since its
    inspection."""
    with publishing(destination) as hidden:
        attempts = hidden / ".attempts"
        attempts.mkdir(parents=True)
        task = partial(_mask_partition, job, schema, attempts, metadata.records)
        masked = _on_each(partitions, task, destination)
        if list(map(_identity, masked)) != list(map(_identity, inspected)):
            raise errors.FileError(f"{destination}: {CHANGED}")
        unified("ddf", [one.schema for one in masked], {})
        _move_files(masked, hidden, destination)
        shutil.rmtree(attempts)
        sums = {name: [one.sums[name][0] for one in masked] for name in job.schemes}
        manifest = metadata._replace(sums=sums).to_dict()
        (hidden / MANIFEST).write_text(json.dumps(manifest))


def _move_files(masked: Sequence[MaskedPartition], folder: Path, destination: Path) -> None:
    """Give the files of partitions their names in the release; refused where the client does not
    see one."""
    # with so many digits that the order of names is that of numbers
    digits = max(5, len(str(len(masked) - 1)))
    for number, one in enumerate(masked):
        if not one.file.exists():
            raise errors.FileError(f"{destination}: {UNSHARED}")
        os.replace(one.file, folder / f"part-{number:0{digits}}.parquet")


def client_map(client: DaskClient) -> Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]:
    """Return the map of a Dask client, for ``workers=`` of `simulate` and `compare`.

    Parameters
    ----------
    client : distributed.Client

    Returns
    -------
    callable (function, tasks) -> iterator
        The results in the order of the tasks. The function is sent to each worker once, all tasks
        at once; those of a worker that dies are repeated by others.
    """

    def mapped(function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        sent = client.scatter(function, broadcast=True)  # each has it though others die
        futures = [client.submit(operator.call, sent, task, pure=False) for task in tasks]
        yield from (future.result() for future in futures)

    return mapped


def _on_each(
    partitions: Sequence[DaskPartition], task: Callable[[ArrowTable], R], destination: Path
) -> list[R]:
    """Return the results of a task for each partition that has rows; once all tasks are done,
    raise the first of their refusals."""
    with errors.optional("cm.dask", "dask"):
        from dask.base import compute
        from dask.delayed import delayed
        from distributed import CancelledError, KilledWorker

    calls = [
        delayed(partial(_result_or_refusal, task, number))(partition)
        for number, partition in enumerate(partitions)
    ]
    try:
        results = compute(*calls)
    except (KilledWorker, CancelledError):
        raise errors.FileError(f"{destination}: {DIED}") from None
    for result in results:
        if isinstance(result, errors.CondmaskError):
            raise result
    return [result for result in results if result is not None]


def _result_or_refusal(
    task: Callable[[ArrowTable], R], number: int, frame: DataFrame
) -> R | errors.CondmaskError | None:
    """Return the result of a task, None without rows; a refusal is returned, not raised.

    Dask's own reports of an error show rows of the frame.
    """
    try:
        return task(frames.arrow_table(frame.reset_index(drop=True))) if len(frame) else None
    except errors.CondmaskError as error:
        return type(error)(f"{error} (in partition {number})")


def _inspected(job: Job, sampled_rows: int, table: ArrowTable) -> InspectedPartition:
    """Check a partition without an attack; return its statistics and some rows."""
    mark = mark_of(table)
    if mark is not None:
        refuse_masked(mark.columns, "ddf, as the mark of a partition says")
    with errors.collect_warnings(ReleaseWarning) as texts:
        part = job.part_of(OriginalTable(table), "part")
    rows = table.take(in_stretches(table.num_rows, sampled_rows))
    return InspectedPartition(job.statistics_of(part), texts, rows)


def _sample(inspected: Sequence[InspectedPartition]) -> ArrowTable:
    """Return rows from all partitions, in proportion to their numbers of records.

    The partition of which the fewest rows are at hand, for its size, sets the proportion: a large
    one must not count less than its records do.
    """
    records = sum(one.statistics.records for one in inspected)
    at_hand = [
        one.sample.num_rows / one.statistics.records for one in inspected if one.statistics.records
    ]
    proportion = min([SAMPLE_ROWS / records, *at_hand])
    pieces = []
    for one in inspected:
        count = math.ceil(proportion * one.statistics.records)
        pieces.append(one.sample.take(in_stretches(one.sample.num_rows, count)))
    return pa.concat_tables(pieces, promote_options="default")


def _mask_partition(
    job: Job, schema: ArrowSchema, folder: Path, records: int, table: ArrowTable
) -> MaskedPartition:
    """Mask a partition of a table of so many records, and write it under a name that no other
    task has."""
    if not folder.is_dir():
        raise errors.FileError(f"{folder.parent}: {UNSHARED}")
    part = job.part_of(OriginalTable(table), None)
    masked = mask_part(part, job)
    file = folder / f"{secrets.token_hex(8)}.parquet"
    shape = Shape([file.name], schema)
    metadata = Published((records,), job.schemes, {})
    sums: dict[str, list[float]] = {name: [] for name in masked}
    try:
        [whole] = released_parts(shape, metadata, [(table, masked)], sums)
    except (pa.ArrowException, KeyError):  # whose texts hold values
        raise errors.FileError(f"{folder.parent}: {CHANGED}") from None
    with reading(file):
        pq.write_table(whole, file)
    return MaskedPartition(job.statistics_of(part), file, whole.schema, sums)


def _identity(one: InspectedPartition | MaskedPartition) -> tuple[int, dict[str, list[int]]]:
    """Return the number of records and fingerprints, which tell whether a partition is the same
    both times, in whatever order its rows are."""
    statistics = one.statistics
    return statistics.records, {name: mark.tolist() for name, mark in statistics.marks.items()}
