"""Masking and auditing files."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask._blocks import Workers
from condmask.audit_input import AuditInput
from condmask.clear_columns import columns_in_clear
from condmask.disclosure.audit import audit_table, check_schemes, table_of
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.boosting import check_available
from condmask.errors import ArgumentError
from condmask.files.atomic import spool
from condmask.files.csv_format import CsvFormat
from condmask.files.formats import (
    PACKED,
    ROOMY,
    Table,
    columns_exist,
    format_of,
    in_lines,
    in_the_files,
    named_once,
    reading,
    without_names,
)
from condmask.files.metadata import published
from condmask.files.part_files import fingerprints_of, is_folder, unchanged
from condmask.files.publish import targets_of
from condmask.files.read import converted, open_table
from condmask.files.sampling import clear_of_table
from condmask.files.spool import spool_columns
from condmask.files.streams import OPENED
from condmask.releases.ledger import Where
from condmask.releases.masking import job_of, release
from condmask.releases.release import Release
from condmask.strata import not_masked


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    overwrite: bool = False,
    workers: Workers = 1,
    progress: Callable[[int, int | None], None] | None = None,
    accept_visible_coins: bool = False,
    dry_run: bool = False,
    csv: CsvFormat | None = None,
    keep_metadata: Sequence[str] = (),
    ledger: Where = True,
    again: bool = False,
) -> Release:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays unchanged.

    Parameters
    ----------
    source, target : path
        Files, whose suffix gives the format: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt, .tsv, or
        one of the last three followed by .gz. From text into another format, columns become numbers if all
        their fields are. A source that is a folder or a glob (``"data/*.parquet"``, ``**`` for all folders
        below) is one table of many files; the target is then a folder with files of the same names.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks several columns
        together, as in `mask_table`; other schemes mask each on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them instead.
        With many files, ``"__filename"`` is the name of the file, and the keys of folders named
        ``key=value`` are columns, too.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`.
    overwrite : bool
        Whether an existing target may be replaced; a folder only if it is a release, with nothing else in it.
    progress : callable (rows_done, rows_total), optional
        Called as rows are read, with None for their number, which is not yet known, and as they are written.
        An object may also have two methods: ``begin(stages, rows)`` gets the names of the stages of the job
        ("reading", ..., "writing") with their relative times, and the expected number of rows;
        ``stage(name)`` is called as each begins.
    accept_visible_coins : bool
        Release without an audit and without guard rails, even if that shows which records were swapped.
    dry_run : bool
        Check and audit everything, but write nothing.
    csv : CsvFormat, optional
        How a CSV file is written, if that is not clear from its text. The release is written the same way,
        and is read again without it.
    keep_metadata : sequence of str
        Entries in the metadata of a Parquet or Arrow file, or of its unmasked columns, to release unchanged
        ("geo"). Others are left out, except those needed to read the file (docs/files.rst), because they may
        reveal originals.
    ledger : bool or path
        The list of releases, so that no record is released twice: the user's own ledger (True), none (False),
        or the one in this file. With `rng`, which is for tests, there is none.
    again : bool
        Release records that were released before, with a warning of what that reveals.

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
        If a column is unknown or was masked before, or the data cannot be masked. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`), or shares more than a tenth of its
        records with an earlier one. Nothing is written.

    Notes
    -----
    The file is read in two passes. A third one finds the types of columns, from text into Parquet or Arrow,
    or from decimal commas to points. Memory is flat, apart from a temporary file of 8 bytes per masked value
    (schemes other than `ConditionalMasking` mask a column in memory). Integers stay integers if the scheme's
    grid has whole steps, float32 stays float32, and CSV has the scheme's decimals. Masking a file again draws
    a new key: never publish both results.

    The audit examines the masked columns whole, and all others in up to 32,768 rows from all over the file,
    in stretches of 16. Beyond 4 million values these are the first rows of up to 64 row groups or batches; in
    text beyond 8 MB, up to 32 longer stretches. Columns that identify firms, households and the like are read
    whole, twice, for all rows of some of them.
    """
    audited = not _checks.truth(accept_visible_coins, "accept_visible_coins")
    job = job_of(
        schemes, strata, rng, nan_policy, workers, round=round, progress=progress,
        audited=audited, dry_run=dry_run, ledger=ledger,
        again=again,
    )  # fmt: skip
    origin, target = _checks.path(source, "source"), _checks.path(target, "target")
    with reading(origin):
        targets = targets_of(origin, target, overwrite=overwrite)
        original = fingerprints_of(origin)  # before anything is read: others may write
        table = open_table(origin, csv, job.workers)
        columns_exist(table, [*schemes, *job.groups])
        in_the_files(table, schemes)
        table.keep(_checks.names(keep_metadata, "keep_metadata"))
        before = published(table)
        for name in schemes:
            if before is not None and name in before.schemes:
                raise ArgumentError(f"{name} is masked already in {source}: mask the original instead")
        if not is_folder(origin) and not _same_format(table, target):
            table = converted(table)
        made = release(job, table, targets, before, original)
    return Release(made, path=None if dry_run else target, workers=job.workers)


def _same_format(table: Table, target: Path) -> bool:
    """Whether a table keeps its format in this target; packed or not, text is text.

    A stream has no suffix that gives its delimiter: output keeps the source's, and input keeps its own,
    unless the target must have tabs.
    """
    before, after = (format_of(path).removesuffix(PACKED) for path in (table.path, target))
    if target in OPENED:
        return before not in ROOMY
    if table.path in OPENED and after == "TSV":
        from condmask.files.csv import CsvFile  # with pyarrow, which frames do without

        return isinstance(table, CsvFile) and table.dialect.delimiter == "\t"
    return before == after


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
    if thorough:
        check_available()
    with audited_table(source, schemes, csv) as (table, data):
        return _naming_files(audit_table(data, schemes, thorough=thorough), table)


def _naming_files(audit: Audit, table: Table) -> Audit:
    """An audit whose remedies say how to leave out what the names of files reveal."""
    causes = []
    for cause in audit.causes:
        remedies = [cause.remedy, *without_names(table, f"{cause.text}; {cause.remedy}")]
        causes.append(cause._replace(remedy="; ".join(filter(None, remedies))))
    proposals = (one._replace(audit=_naming_files(one.audit, table)) for one in audit.proposals)
    return replace(audit, causes=tuple(causes), proposals=tuple(proposals))


@contextlib.contextmanager
def audited_table(
    source: str | os.PathLike[str], schemes: dict[str, Any], csv: CsvFormat | None
) -> Iterator[tuple[Table, AuditInput]]:
    """A file to be masked, and its columns as an audit needs them."""
    check_schemes(schemes)
    groups = not_masked(next(iter(schemes.values())).strata, schemes)
    with reading(Path(source)), unchanged(Path(source)):
        table = open_table(Path(source), csv)
        columns_exist(table, [*schemes, *groups])
        in_the_files(table, schemes)
        named_once(table)
        with spool() as create, in_lines(table):
            columns, kinds, labels = spool_columns(table, list(schemes), groups, create)
            beside = columns_in_clear(table.names, [*columns, *groups])
            clear = clear_of_table(table, beside, list(columns.values())) if beside else None
            yield table, table_of(schemes, columns, kinds, labels, clear)
