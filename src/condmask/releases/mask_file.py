"""Masking and auditing files: a look at every part, then part by part masked and written."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask._optional import optional
from condmask._warn import each_once
from condmask.audit_input import AuditInput
from condmask.disclosure.audit import audit, check_schemes, input_of
from condmask.disclosure.audit_result import Audit
from condmask.errors import ArgumentError, FileError, Refusals
from condmask.files import about, tables
from condmask.files.about import Published
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Pieces, Source, joined
from condmask.files.publish import publishing, refuse_target
from condmask.files.read import opened
from condmask.frames import Column
from condmask.releases.job import Job, Look, clear_beside, columns_of, job_of, look_at, prepared
from condmask.releases.log import Log, Where, keyed
from condmask.releases.masking import mask_part
from condmask.releases.release import Release, published_with
from condmask.releases.write import Output, new_layout, released_type
from condmask.schemes.prepare import Prepared

Progress = Callable[[int, int | None], None] | None
UNITS = 256  # firms, households and the like that are looked at whole


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    force: bool = False,
    workers: Workers = 1,
    progress: Progress = None,
    accept_visible_coins: bool = False,
    dry_run: bool = False,
    csv: CsvFormat | None = None,
    part_rows: int | None = None,
    keep_metadata: Sequence[str] = (),
    log: Where = True,
    again: bool = False,
) -> Release:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays unchanged.

    Parameters
    ----------
    source, target : path
        Files, whose suffix gives the format: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt, .tsv, or
        one of the last three followed by .gz. Text stays text. A source that is a folder or a glob
        (``"data/*.parquet"``, ``**`` for all folders below) is one table of many files; the target is then a
        new folder with files of the same names.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks several columns
        together, as in `mask_table`; other schemes mask each on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them instead.
        With many files, ``"__filename"`` is the name of the file, and the keys of folders named
        ``key=value`` are columns, too.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`.
    force : bool
        Whether an existing file may be replaced; a folder never is.
    progress : callable (rows_done, rows_total), optional
        Called as rows are read, with None for their number, which is not yet known, and as they are written.
    accept_visible_coins : bool
        Release without an audit and without guard rails, even if that shows which records were swapped.
    dry_run : bool
        Check and audit everything, but write nothing.
    csv : CsvFormat, optional
        How a CSV file is written, if that is not clear from its first line. The release is written the same
        way, and is read again without it.
    part_rows : int, optional
        Rows of a part; by default 2^24 divided by the number of columns. A longer source is masked in parts:
        donors come from a record's own part. Results depend on it, where there is more than one part.
    keep_metadata : sequence of str
        Entries in the metadata of a Parquet or Arrow file, or of its unmasked columns, to release unchanged
        ("geo"). Others are left out, except pandas' index and columns, because they may reveal originals.
    log : bool or path
        The list of releases, so that the same values are not released twice unnoticed: the user's own (True),
        none (False), or the one in this file. With `rng`, which is for tests, there is none.
    again : bool
        Release values that were released before.

    Returns
    -------
    Release
        As `read_release` reads it from the target: schemes are in the metadata (for CSV in
        ``target.condmask.json``), and estimates are computed from the target. After a dry run there are none.

    Raises
    ------
    FileError
        If a file cannot be read or written, or the target exists.
    ValueError, TypeError
        If a column is unknown or was masked before, or the data cannot be masked: all that is wrong with them
        is said at once. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`), or a masked column has the values of
        an earlier release. Nothing is written.

    Notes
    -----
    A source of one part is read once, a longer one twice. Memory holds one part. Integers stay integers if
    the scheme's grid has whole steps, float32 stays float32, decimals stay decimals where their places
    suffice, and CSV has the scheme's decimals; all that is not masked stays as it is. Masking a file again
    draws a new key: never publish both results.

    The audit examines every part, and columns in clear in up to 32,768 rows; those of a source of several
    parts in 16,384 rows from all over it, with all rows of some of the firms, households and the like in
    them.
    """
    job = job_of(
        schemes, strata=strata, rng=rng, nan_policy=nan_policy, round=round, workers=workers,
        accept_visible_coins=accept_visible_coins,
    )  # fmt: skip
    book, force = Log(log if job.root is None else False), _checks.truth(force, "force")
    again, dry_run = _checks.truth(again, "again"), _checks.truth(dry_run, "dry_run")
    report, keep = _checks.called(progress, "progress"), _checks.names(keep_metadata, "keep_metadata")
    place, out = _checks.path(source, "source"), _checks.path(target, "target")
    with optional("a file", "files"):
        import pyarrow  # noqa: F401
    origin = Source(place, csv, part_rows)
    _check_formats(origin, out)
    refuse_target(out, place, force=force)
    origin.require([*schemes, *job.groups])
    origin.in_the_files(list(schemes))
    about.check_kept(origin.schema, keep, place)
    stamp, before = origin.stamp(), _published_before(origin, schemes)
    with each_once():
        looked = _looked(origin, job, report)
    marks = keyed(looked.look.marks) if book.path else {}
    book.refuse(marks, place, again=again)
    published = _published(origin, out, job, looked.look, before)
    if dry_run:
        return Release(published)
    with publishing(out, folder=origin.is_folder) as hidden:
        output = _output(origin, hidden, out, published, looked.look, job, keep)
        for part, masked in _masked(origin, looked, job):
            output.add(part, masked)
            if report is not None:
                report(sum(output.sizes), published.records)
        output.close()
        if tuple(output.sizes) != published.parts or origin.stamp() != stamp:
            raise FileError(f"{source} changed while it was masked; nothing was published")
    book.enter(out, marks, place)
    return Release(published_with(out), path=out, workers=job.workers)


def audit_file(
    source: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    csv: CsvFormat | None = None,
    thorough: bool = False,
) -> Audit:
    """How well an attacker could tell which records of a file were swapped; see `audit`.

    Parameters
    ----------
    source : path
        The original: a file, a folder or a glob.
    schemes : dict of str to ConditionalMasking
        The scheme of each column to mask; the others stay unmasked.
    csv : CsvFormat, optional
        As for `mask_file`.
    thorough : bool
        Whether to train an attacker as well, as for `audit`.

    Returns
    -------
    Audit
    """
    return audit(_whole_or_sample(source, schemes, csv), schemes, thorough=thorough)


def audited_table(
    source: str | os.PathLike[str], schemes: dict[str, Any], csv: CsvFormat | None
) -> AuditInput:
    """A file as an audit looks at it."""
    return input_of(_whole_or_sample(source, schemes, csv), schemes)


def _whole_or_sample(source: str | os.PathLike[str], schemes: dict[str, Any], csv: CsvFormat | None) -> Any:
    """A source of one part as a table; of a longer one some rows from all over it."""
    check_schemes(schemes)
    job, origin = job_of(schemes, nan_policy="omit"), opened(source, csv)
    origin.require([*schemes, *job.groups])
    origin.in_the_files(list(schemes))
    first = _only_part(origin)
    if first is None:
        for _ in origin.parts([]):  # counts the rows of all files
            pass
    return origin.numeric(sample_of(origin, job) if first is None else joined(first), list(job.schemes))


def _only_part(origin: Source) -> Pieces | None:
    """The part, where there is one alone."""
    parts = iter(()) if origin.is_long else origin.parts()
    first, more = next(parts, None), next(parts, None)
    if first is None and not origin.is_long:
        raise ArgumentError(f"{origin.path} must have at least 2 records, got none")
    return first if more is None else None


class Looked(NamedTuple):
    """What a look at a source found; of a single part also its columns, which are not read again."""

    look: Look
    single: tuple[Pieces, dict[str, Column], Prepared] | None


def _looked(origin: Source, job: Job, progress: Progress) -> Looked:
    """A look at every part; all that is refused is said at once."""
    first = _only_part(origin)
    if first is not None:
        frame = origin.numeric(joined(first), list(job.schemes))
        columns = columns_of(frame, job)
        clear = clear_beside(frame, columns, job) if job.audited else None
        made = prepared(frame, columns, job, clear=clear, to_file=True)
        return Looked(look_at(columns, made, job), (first, columns, made))
    looks: list[Look] = []
    refusals, rows = Refusals(), 0
    for part in origin.parts([*job.schemes, *job.groups]):
        table = joined(part)
        where = f" (in rows {rows + 1:,} to {rows + table.num_rows:,})"
        with refusals.collected(where):
            frame = origin.numeric(table, list(job.schemes), rows + 1)
            columns = columns_of(frame, job)
            looks.append(look_at(columns, prepared(frame, columns, job, to_file=True), job))
        rows += table.num_rows
        if progress is not None:
            progress(rows, None)
    refusals.raise_all()
    look = looks[0]
    for other in looks[1:]:
        look = look.plus(other)
    if job.audited:
        _check_sample(origin, job, look)
    return Looked(look, None)


def _check_sample(origin: Source, job: Job, look: Look) -> None:
    """The attack that needs columns in clear, on rows from all over the parts."""
    frame = origin.numeric(sample_of(origin, job), list(job.schemes))
    columns = columns_of(frame, job)
    clear = clear_beside(frame, columns, job)
    if clear is not None:
        prepared(frame, columns, job._replace(groups=()), clear=clear._replace(sampled=True))


def sample_of(origin: Source, job: Job) -> Any:
    """Rows from all over a source, with all rows of the firms, households and the like that some belong
    to."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample, _ = origin.sample()
    frame = origin.numeric(sample, list(job.schemes))
    clear = clear_beside(frame, columns_of(frame, job), job)
    if clear is None or not clear.units:
        return sample
    unit = next(iter(clear.units))
    chosen = sample[unit].take(clear.rows[:: max(1, clear.rows.size // UNITS)]).combine_chunks().unique()
    whole = [table.filter(pc.is_in(table[unit], value_set=chosen)) for table in map(joined, origin.parts())]
    return pa.concat_tables([sample.filter(pc.invert(pc.is_in(sample[unit], value_set=chosen))), *whole])


def _masked(origin: Source, looked: Looked, job: Job) -> Iterator[tuple[Pieces, dict[str, Any]]]:
    """The parts, and their masked columns."""
    if looked.single is not None:
        part, columns, made = looked.single
        yield part, mask_part(columns, made, job)
        return
    one = job._replace(workers=1) if isinstance(job.workers, int) else job

    def masked(task: tuple[int, Pieces]) -> tuple[Pieces, dict[str, Any]]:
        k, part = task
        frame = origin.numeric(joined(part), list(job.schemes))
        columns = columns_of(frame, job)
        return part, mask_part(columns, prepared(frame, columns, job, audited=False), one, k)

    threads = job.workers if isinstance(job.workers, int) else 1
    yield from ordered_map(masked, enumerate(origin.parts()), threads, ahead=threads)


def _output(
    origin: Source,
    hidden: Path,
    target: Path,
    published: Published,
    look: Look,
    job: Job,
    keep: Sequence[str],
) -> Output:
    """Where the parts are written."""
    names = [origin.name(k) for k in range(len(origin.files))] if origin.is_folder else []
    stored = [name for name in origin.names if name not in origin.keys]
    types = {
        name: released_type(origin.schema.field(name).type, scheme) for name, scheme in job.schemes.items()
    }
    bare = origin.schemas[0].remove_metadata() if origin.layout else origin.schema
    fields = [bare.field(name) for name in stored]
    schema = about.released_schema(fields, origin.schema.metadata, types, published, keep)
    layouts = (
        origin.layouts
        if origin.layout
        else [new_layout(target, stored) if not names else None] * len(origin.files)
    )
    same = origin.format == "Parquet" and (origin.is_folder or tables.format_of(target) == "Parquet")
    return Output(
        hidden, target, published, schema, layouts, look.places, names,
        tables.codecs_of(origin.files[0]) if same else "snappy",
    )  # fmt: skip


def _check_formats(origin: Source, target: Path) -> None:
    """Refuse targets in formats that the source cannot get."""
    if origin.is_folder:
        return
    if origin.format == "CSV" and tables.format_of(target) != "CSV":
        raise ArgumentError(
            tables.FROM_CSV.format(source=str(origin.path), target=origin.path.stem + ".parquet")
        )


def _published_before(origin: Source, schemes: dict[str, Any]) -> Published | None:
    """What was published with a source, of which other columns are masked already."""
    before = about.published(origin.base if origin.is_folder else origin.path)
    for name in schemes:
        if before is not None and name in before.schemes:
            raise ArgumentError(f"{name} is masked already in {origin.path}: mask the original instead")
    return before


def _published(origin: Source, target: Path, job: Job, look: Look, before: Published | None) -> Published:
    """What is published with the release."""
    layout = origin.layout or (None if origin.is_folder else new_layout(target, origin.names))
    form = {} if layout is None else {name: value for name, value in vars(layout.form).items() if value}
    new = Published(look.parts, job.schemes, look.origins(job.schemes), form)
    if before is None:
        return new
    if before.parts != look.parts:
        raise ArgumentError(
            f"{origin.path} was masked in parts of {before.parts[0]:,} rows, so part_rows must be that"
        )
    return new._replace(
        schemes={**before.schemes, **new.schemes}, origins={**before.origins, **new.origins}, sums=before.sums
    )
