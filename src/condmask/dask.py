"""Tables on a cluster: each partition of a Dask frame is a part of the release, masked and written
by one task.

Two passes over the frame. In the first, tasks look at each partition, and the client at what they
found and at some rows of all, as `mask_file` does. In the second, each task masks its partition
under a key that it draws from the operating system, so none travels, and writes it into a file
whose name nobody else has. The client gives names to the files of which it heard: a task that ran
twice has one masking in the release.
"""

import json
import operator
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks, errors, frames
from condmask._blocks import in_stretches
from condmask.errors import ReleaseWarning
from condmask.files.about import Published
from condmask.files.arrow import pa, pq
from condmask.files.parts import MANIFEST, SAMPLE, unified
from condmask.files.publish import publishing
from condmask.files.tables import reading
from condmask.marks import mark_of, refuse_masked
from condmask.publish import job as jobs
from condmask.publish.log import Log, Where
from condmask.publish.masking import mask_part
from condmask.publish.release import Release, released_in
from condmask.publish.stages import Obstacles, check_places
from condmask.publish.write import Shape, released_parts

OTHER = "the frame has other rows or columns the second time: persist it; nothing was published"
UNSHARED = "workers and client must share the folder that it is in; nothing was published"
DIED = (
    "one partition killed worker after worker, perhaps for want of memory; nothing was published"
)


class Seen(NamedTuple):
    """What a look at a partition finds and warns of, and some rows."""

    look: jobs.Look
    warnings: list[str]
    sample: Any


class Written(NamedTuple):
    """A partition that was masked: a look at it, its file, types, and what masked columns add up
    to."""

    look: jobs.Look
    file: Path
    schema: Any
    sums: dict[str, list[float]]


def mask(
    ddf: Any,
    schemes: dict[str, Any],
    target: str | os.PathLike[str],
    *,
    strata: str | Sequence[str] | None = None,
    nan_policy: str = "raise",
    round: bool = False,
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
    strata, nan_policy, round, accept_visible_coins
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
    out = _checks.path(target, "target").absolute()
    again = _checks.boolean(again, "again")
    book = Log(log)
    found = Obstacles(dry_run=False)
    with found.data.collected():
        job = jobs.Job(
            schemes,
            may_choose=False,
            strata=strata,
            nan_policy=nan_policy,
            round=round,
            accept_visible_coins=accept_visible_coins,
        )
    check_places(out, None, book, found, force=False)
    found.raise_all()
    partitions = ddf.to_delayed()
    with errors.warn_once_each():
        seen = _on_each(partitions, partial(_seen, job, 2 * SAMPLE // len(partitions) + 1), out)
        if not seen:
            raise errors.ArgumentError("ddf must have at least 2 records, got none")
        schema = unified("ddf", [one.sample.schema for one in seen], {})
        looks = [one.look for one in seen]
        entry = book.refuse(jobs.marks_of(looks), None, again=again)
        for text in dict.fromkeys(text for one in seen for text in one.warnings):
            errors.warn(text, ReleaseWarning, about=text)

        def rows_with(units: jobs.Units) -> Any:
            return _on_each(partitions, partial(jobs.rows_of, units), out)

        if job.limits:
            jobs.audit_sample(_sample(seen), job, rows_with)
        told = jobs.told(looks, job)
    with publishing(out) as hidden:
        attempts = hidden / ".attempts"
        attempts.mkdir(parents=True)
        records = sum(look.records for look in looks)
        written = _on_each(partitions, partial(_written, job, schema, attempts, records), out)
        if list(map(_rows, written)) != list(map(_rows, seen)):
            raise errors.FileError(f"{out}: {OTHER}")
        unified("ddf", [one.schema for one in written], {})
        # so that the order of names is that of numbers
        digits = max(5, len(str(len(written) - 1)))
        for number, one in enumerate(written):
            if not one.file.exists():
                raise errors.FileError(f"{out}: {UNSHARED}")
            os.replace(one.file, hidden / f"part-{number:0{digits}}.parquet")
        shutil.rmtree(attempts)
        told = told._replace(
            sums={name: [one.sums[name][0] for one in written] for name in schemes}
        )
        (hidden / MANIFEST).write_text(json.dumps(told.to_dict()))
    book.enter(out, entry)
    return released_in(out)


def client_map(client: Any) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """The map of a Dask client, for ``workers=`` of `simulate` and `compare`.

    Parameters
    ----------
    client : distributed.Client

    Returns
    -------
    callable (function, tasks) -> iterator
        The results in the order of the tasks. The function is sent to each worker once, all tasks
        at once; those of a worker that dies are repeated by others.
    """

    def mapped(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        sent = client.scatter(function, broadcast=True)  # each has it though others die
        futures = [client.submit(operator.call, sent, task, pure=False) for task in tasks]
        yield from (future.result() for future in futures)

    return mapped


def _on_each(partitions: Sequence[Any], task: Callable[[Any], Any], out: Path) -> Sequence[Any]:
    """What a task finds in each partition that has rows; what the first of them refuses is said
    once all are done."""
    with errors.optional("cm.dask", "dask"):
        from dask.base import compute
        from dask.delayed import delayed
        from distributed import CancelledError, KilledWorker

    calls = [delayed(partial(_settled, task, number)) for number in range(len(partitions))]
    try:
        found = compute(*(call(one) for call, one in zip(calls, partitions, strict=True)))
    except (KilledWorker, CancelledError):
        raise errors.FileError(f"{out}: {DIED}") from None
    for refused in found:
        if isinstance(refused, errors.CondmaskError):
            raise refused
    return [one for one in found if one is not None]


def _settled(task: Callable[[Any], Any], number: int, frame: Any) -> Any:
    """What a task gives, None where there are no rows; or, as a value, refuses: Dask shows rows of
    a frame in its own reports of errors."""
    try:
        return task(frames.arrow_table(frame.reset_index(drop=True))) if len(frame) else None
    except errors.CondmaskError as error:
        return type(error)(f"{error} (in partition {number})")


def _seen(job: jobs.Job, most: int, table: Any) -> Seen:
    """A look at a partition."""
    mark = mark_of(table)
    if mark is not None:
        refuse_masked(mark.columns, "ddf, as the mark of a partition says")
    with errors.collect_warnings(ReleaseWarning) as texts:
        part = jobs.part_of(table, job, "part")
    return Seen(jobs.look_at(part, job), texts, table.take(in_stretches(table.num_rows, most)))


def _sample(seen: Sequence[Seen]) -> Any:
    """Rows from all partitions, of each as many as it has of all."""
    records = sum(one.look.records for one in seen)
    pieces = []
    for one in seen:
        most = -(-SAMPLE * one.look.records // records)
        pieces.append(one.sample.take(in_stretches(one.sample.num_rows, most)))
    return pa.concat_tables(pieces, promote_options="default")


def _written(job: jobs.Job, schema: Any, folder: Path, records: int, table: Any) -> Written:
    """Mask a partition of a table of so many records, and write it under a name that no other task
    has."""
    if not folder.is_dir():
        raise errors.FileError(f"{folder.parent}: {UNSHARED}")
    part = jobs.part_of(table, job, None)
    masked = mask_part(part, job)
    file = folder / f"{secrets.token_hex(8)}.parquet"
    shape = Shape([file.name], schema)
    told = Published((records,), job.schemes, {})
    sums: dict[str, list[float]] = {name: [] for name in masked}
    try:
        [whole] = released_parts(shape, told, [(table, masked)], sums)
    except (pa.ArrowException, KeyError):  # whose texts hold values
        raise errors.FileError(f"{folder.parent}: {OTHER}") from None
    with reading(file):
        pq.write_table(whole, file)
    return Written(jobs.look_at(part, job), file, whole.schema, sums)


def _rows(one: Seen | Written) -> Any:
    """By which a partition is known again, in whatever order its rows are."""
    return (one.look.records, {name: mark.tolist() for name, mark in one.look.marks.items()})
