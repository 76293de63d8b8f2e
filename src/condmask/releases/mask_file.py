"""Masking and auditing files: a look at every part, then part by part masked and written."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask.disclosure.audit import DEFAULT, Audit, audit_table, check_schemes, limits_of, table_of
from condmask.disclosure.choose import Choice
from condmask.disclosure.rails import settled
from condmask.disclosure.table import Table
from condmask.errors import ArgumentError, CondmaskError, FileError, each_once, optional
from condmask.files import about
from condmask.files.about import Published
from condmask.files.csv_text import CsvFormat
from condmask.files.parts import Source
from condmask.files.publish import publishing, refuse_target
from condmask.files.read import opened
from condmask.releases import job as jobs
from condmask.releases.chosen import chosen_for, names_alone, settled_for
from condmask.releases.job import Job, Look, Part, job_of, look_at, looks, part_of, sampled
from condmask.releases.log import Log, Where, keyed
from condmask.releases.masking import mask_part
from condmask.releases.release import Release, published_with
from condmask.releases.write import Progress, shape_of, write
from condmask.strata import not_masked

LOG = logging.getLogger(__name__)


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, Any] | Sequence[str] | str,
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
    max_lift: float = DEFAULT.lift,
    max_risk: Mapping[float, float] | None = None,
    shuffle: bool = False,
) -> Release:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays unchanged.

    Parameters
    ----------
    source, target : path
        Files, whose suffix gives the format: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt, .tsv, or
        one of the last three followed by .gz. Text stays text. A source that is a folder or a glob
        (``"data/*.parquet"``, ``**`` for all folders below) is one table of many files; the target is then a
        new folder with files of the same names.
    schemes : dict of str to scheme, or names of columns
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks several columns
        together, as in `mask_table`; other schemes mask each on its own. Where only names are given, schemes
        are chosen that suit the data, as in `mask_table`, if the source is of one part.
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
        Release without an audit and without guard rails, whatever that reveals.
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
    max_lift, max_risk
        What the release may show, as for `audit`.
    shuffle : bool
        Release the rows in a new order, as `mask_table` does; a source of several parts is refused.

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
        If the release would show too much of the originals (`audit`), or a masked column has the values of
        an earlier release. Nothing is written.

    Notes
    -----
    A source of one part is read once, a longer one twice, and once or twice more where columns in clear are
    audited. Memory holds one part. Integers stay integers if the scheme's grid has whole steps, float32 stays
    float32, decimals stay decimals where their places suffice, and CSV has the scheme's decimals; all that is
    not masked stays as it is. Masking a file again draws a new key: never publish both results.

    The guard rails look at every part whole, the attacker who knows every coin at up to 16,384 rows from all
    over the source, with all rows of some of the firms, households and the like in them.
    """
    place, out = _checks.path(source, "source"), _checks.path(target, "target")
    names = names_alone(schemes)
    chosen = _chosen(Source(place, csv, part_rows), names, strata) if names else {}
    named: Any = {name: choice.scheme for name, choice in chosen.items()} or schemes
    job = job_of(
        named, strata=strata, rng=rng, nan_policy="omit" if chosen else nan_policy, round=round,
        workers=workers, accept_visible_coins=accept_visible_coins, max_lift=max_lift, max_risk=max_risk,
        shuffle=shuffle,
    )  # fmt: skip
    book, force = Log(log if job.root is None else False), _checks.truth(force, "force")
    again, dry_run = _checks.truth(again, "again"), _checks.truth(dry_run, "dry_run")
    report, keep = _checks.called(progress, "progress"), _checks.names(keep_metadata, "keep_metadata")
    with optional("a file", "files"):
        import pyarrow  # noqa: F401
    origin = Source(place, csv, part_rows)
    refuse_target(out, place, force=force)
    origin.require(job.groups, list(job.schemes))
    _refuse_masked(origin)
    job = settled_for(job, lambda: _whole(origin, job.schemes))
    stamp, shape = origin.stamp(), shape_of(origin, out, keep)
    with each_once():
        look, only = _looked(origin, job, report)
        LOG.info("%d records of %s in %d parts", sum(look.parts), place.name, len(look.parts))
        marks = keyed(look.marks) if book.path else {}
        book.refuse(marks, place, again=again)
        published = Published(look.parts, job.schemes, look.origins(job.schemes), shape.csv)
    if dry_run:
        return Release(published, chosen=chosen)
    with publishing(out, folder=origin.is_folder) as hidden:
        parts = _masked(origin, only, job, stamp)
        write(hidden, shape, published, look.places, parts, origin.rows, report)
    LOG.info("published %s", out.name)
    book.enter(out, marks, place)
    return Release(published_with(out), path=out, workers=job.workers, chosen=chosen)


def _chosen(origin: Source, names: Sequence[str], strata: Any) -> dict[str, Choice]:
    """Schemes for columns of a source of one part."""
    origin.require(not_masked(strata, names), names)
    return chosen_for(_whole(origin, names), names, strata)


def _whole(origin: Source, names: Iterable[str]) -> Any:
    """A source of one part, from which schemes or what they leave open are chosen."""
    only = _only_part(origin)
    if only is None:
        raise ArgumentError(
            f"schemes must name p and sigma for {origin.path}, which is masked in several parts: pass "
            "ConditionalMasking(p=0.6, sigma=..., reverse_mapping=True, aggregate_ends=3) for each column"
        )
    return origin.numeric(only, names)


def audit_file(
    source: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    csv: CsvFormat | None = None,
    max_lift: float = DEFAULT.lift,
    max_risk: Mapping[float, float] | None = None,
) -> Audit:
    """How near an attacker comes to the values of a file who knows every coin; see `audit`.

    Parameters
    ----------
    source : path
        The original: a file, a folder or a glob.
    schemes : dict of str to ConditionalMasking
        The scheme of each column to mask; the others stay unmasked.
    csv : CsvFormat, optional
        As for `mask_file`.
    max_lift, max_risk
        As for `audit`.

    Returns
    -------
    Audit
    """
    limits = limits_of(max_lift, max_risk)
    table = audited_table(source, schemes, csv)
    return audit_table(table, settled(table, dict(schemes)), limits)


def audited_table(source: str | os.PathLike[str], schemes: dict[str, Any], csv: CsvFormat | None) -> Table:
    """A source of one part as an audit looks at it; of a longer one some rows from all over it."""
    check_schemes(schemes)
    job, origin = job_of(schemes, nan_policy="omit"), opened(source, csv)
    origin.require(job.groups, list(schemes))
    first = _only_part(origin)
    if first is not None:
        return table_of(origin.numeric(first, job.schemes), schemes)
    for _ in origin.parts([]):  # counts the rows of all files
        pass
    return sampled(sample_of(origin, job), job)


def _only_part(origin: Source) -> Any:
    """The part, where there is one alone."""
    parts = origin.parts()
    first, more = next(parts, None), next(parts, None)
    if first is None:
        raise ArgumentError(f"{origin.path} must have at least 2 records, got none")
    return first if more is None else None


Only = tuple[Any, Part] | None  # the part, where there is one alone


def _looked(origin: Source, job: Job, progress: Progress) -> tuple[Look, Only]:
    """A look at every part; all that is refused is said at once. A single part is not read again."""
    first = _only_part(origin)
    if first is None and job.shuffle:
        raise ArgumentError(
            f"{origin.path} is masked in parts, which are not shuffled: shuffle the rows first"
        )
    if first is not None:
        first = first.take(job.order(first.num_rows)) if job.shuffle else first
        part = part_of(origin.numeric(first, job.schemes), job, clear=True, to_file=True)
        return look_at(part, job), (first, part)
    found: list[Look] = []
    refused: list[CondmaskError] = []
    rows = 0
    for table in origin.parts([*job.schemes, *job.groups]):
        try:
            part = part_of(origin.numeric(table, job.schemes, rows + 1), job, to_file=True)
            found.append(look_at(part, job))
        except CondmaskError as error:
            refused.append(type(error)(f"{error} (in rows {rows + 1:,} to {rows + table.num_rows:,})"))
        rows += table.num_rows
        if progress is not None:
            progress(rows, None)
    jobs.raise_of_parts(refused)
    if jobs.audited_whole(job, origin.names):
        job.method.check(job.schemes, sampled(sample_of(origin, job), job), limits=job.limits)
    return looks(found), None


def sample_of(origin: Source, job: Job) -> Any:
    """Rows from all over a source, with all rows of the firms, households and the like in some of them."""

    def found(units: jobs.Units) -> Iterator[Any]:
        return (origin.numeric(jobs.rows_of(units, part), job.schemes) for part in origin.parts())

    return jobs.with_units(origin.numeric(origin.sample()[0], job.schemes), job, found)


def _masked(
    origin: Source, only: Only, job: Job, stamp: list[tuple[int, int]]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The parts, and their masked columns; refused in the end if the source is no longer what it was."""

    def masked(task: tuple[int, Any]) -> tuple[Any, dict[str, Any]]:
        number, table = task
        part = part_of(origin.numeric(table, job.schemes), job, audited=False)
        return table, mask_part(part, job._replace(workers=1), number)

    names = [name for name in origin.names if name not in origin.keys or name in job.groups]
    threads = job.workers if isinstance(job.workers, int) else 1
    if only is None:
        yield from ordered_map(masked, enumerate(origin.parts(names)), threads)
    else:
        yield only[0], mask_part(only[1], job)
    if origin.stamp() != stamp:
        raise FileError(f"{origin.path} changed while it was masked; nothing was published")


def _refuse_masked(origin: Source) -> None:
    """Refuse a source with columns that are masked: two maskings of one record average its noise out."""
    before = about.published(origin.base if origin.is_folder else origin.path)
    if before is not None:
        names = ", ".join(before.schemes)
        raise ArgumentError(
            f"{names} is masked already in {origin.path}: mask all columns in one call, from the original"
        )
