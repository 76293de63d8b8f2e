"""Mask a table in memory, files and folders, and the parts that they consist of.

Columns of one call are masked together: each record is swapped, with one donor, in all or in none.
A swapped record carries all its values from one donor, so Cov(Z_a, Z_b) = Cov(X_a, X_b) for
independent noise. Two separate releases would leave (1 - p)^2 of it (docs/theory.rst, "Joint
masking").
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from condmask import _checks, frames
from condmask._randomness import Randomness, release_key
from condmask.disclosure.audit import DEFAULT_LIMITS
from condmask.errors import warn_once_each
from condmask.files.arrow import ArrowTable
from condmask.files.csv_text import CsvFormat
from condmask.files.publish import publishing
from condmask.frames import DataFrame
from condmask.marks import marked
from condmask.missing_codes import GivenCodes
from condmask.publish.attempts import Files, ReadyFile, attempt_file, attempt_table, passing
from condmask.publish.columns import Frame
from condmask.publish.job import GivenSchemes, Job
from condmask.publish.log import Where
from condmask.publish.prepare import Prepared, released
from condmask.publish.read import released_in
from condmask.publish.release import Release
from condmask.publish.settling import Settings
from condmask.publish.write import Progress, write_parts
from condmask.row_labels import labels_of_rows

LOG = logging.getLogger(__name__)


def mask_part(part: Prepared, job: Job, number: int = 0) -> dict[str, Any]:
    """Return the masked columns of a part, in their containers; `number` is that of the part."""
    # never one key for two parts, which would share coins and noise
    root = job.root.derive(b"part", str(number).encode()) if number and job.root else job.root
    key = release_key(root, job.schemes, list(part.units.values()), part.pools)
    return released(job.schemes, part, key, job.workers)


def mask_table(
    frame: DataFrame,
    schemes: GivenSchemes,
    *,
    strata: str | Sequence[str] | None = None,
    rng: Randomness = None,
    nan_policy: str = "raise",
    round: bool = False,
    workers: int = 1,
    accept: str | Sequence[str] = (),
    accept_visible_coins: bool = False,
    max_clear: float = DEFAULT_LIMITS.clear,
    max_lift: float = DEFAULT_LIMITS.lift,
    max_risk: Mapping[float, float] | None = None,
    shuffle: bool = False,
    missing: GivenCodes = (),
    rare_gaps: str = "refuse",
    drop: str | Sequence[str] = (),
    fix: bool = False,
) -> Release:
    """Mask several columns of a data frame together: each record is swapped in all of them, or in
    none.

    Parameters
    ----------
    frame : data frame or dict of columns
        pandas, polars, pyarrow, another that narwhals supports, or what hands over a stream of
        Arrow (DuckDB, ADBC, ibis).
    schemes : dict of str to scheme, or names of columns
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks the columns
        together: a swapped record gets all its values from one donor. Its schemes may differ in
        `sigma`, `noise` and `decimals`; `p` and `donors` must be equal. Other schemes mask each
        column on its own. Where only names are given, reverse mapping is chosen that suits the
        data: missing values are left out, small strata merged, and ``release.chosen`` says what
        was chosen and why.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them
        instead. A level of a pandas index is a column by the name that it gets in files
        (docs/conventions.rst).
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`. With "omit", records with different columns missing form
        strata of their own, since a donor must have the values that the record has; each needs 10
        records.
    accept : str or sequence of str, optional
        Codes of findings that the release is not refused for, as a refusal names them
        (docs/audit.rst); they are published with it. "all" releases without an audit and
        without guard rails, whatever that reveals.
    accept_visible_coins : bool
        Deprecated: ``accept="all"``.
    max_clear, max_lift, max_risk
        What the release may show, as for `audit`.
    shuffle : bool
        Release the rows in a new order, drawn from the operating system (from `rng`, if there is
        one), where their order tells something of the values. A pandas index of row numbers is
        made anew. Where only names are given, schemes are chosen for the rows in that order.
    missing : number or sequence of numbers and pairs, optional
        Where only names are given: codes that stand for missing values, and ranges of them, as for
        `ConditionalMasking`, or None if there are none.
    rare_gaps : {"refuse", "drop"}
        What to do about records whose gaps too few others share, as a donor must have the same:
        refuse the table, or leave these records out, with a warning of how many. A pandas index of
        row numbers is made anew.
    drop : str or sequence of str, optional
        Columns that are not released.
    fix : bool
        Settle what the release is refused for: drop columns in clear, mask them as well, shuffle
        rows, widen noise, leave records with rare gaps out, as the messages say; columns that may
        name persons are dropped. ``release.steps`` lists each change and its cost.

    Returns
    -------
    Release
        The frame with masked columns, the schemes, and by column the estimates of the original;
        its `write` makes a file. The name of its group is drawn anew each time, also with `rng`.

    Raises
    ------
    ValueError
        If a column is unknown or noted as masked, `p` or `donors` differ, a stratum is too small,
        or columns of a dict have an index of pandas with the same labels in different orders.
    ReleaseError
        If the release, with its unmasked columns, would show too much of the originals (`audit`).

    Warns
    -----
    ReleaseWarning
        If the release shows more than it should, or is of no use to analysts.

    Notes
    -----
    Columns masked together let the analyst estimate the correlation of the originals, under
    reverse mapping without an interval. In return, swapped records show whole original records,
    without saying whose.

    A column of which group means and regressions would be too uncertain to be of use is masked
    with a `ReleaseWarning`, which names parameters that would do.

    A column masked twice has wrong estimates. So a release has a *mark* in the ``attrs`` of a
    pandas frame and the schema of an Arrow table, in memory and in the file, and a frame with a
    mark is refused, whichever of its columns are to be masked. Frames of polars, and merged ones,
    have none (docs/files.rst).

    The guard rails look at the masked columns whole, the attacker who knows every coin at up to
    16,384 rows from all over the frame, or at as many in whole firms, households and the like.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 20_000)
    >>> frame = pd.DataFrame(x, columns=["income", "bonus"])
    >>> scheme = cm.ConditionalMasking(0.6, 0.5)
    >>> release = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=2)
    >>> bool(abs(release["income"].correlation("bonus") - 0.8) < 0.03)
    True

    Named columns get schemes that suit them:

    >>> release = cm.mask_table(frame, ["income"], rng=2)
    >>> release.schemes["income"]
    ReverseMapping(p=0.6, sigma=0.3, aggregate_ends=3)
    """
    frame = frames.read_stream(frame)
    frames.same_lengths(frame, "frame")
    labels_of_rows(frame, "frame")
    settings = Settings(schemes, strata, _names(drop), shuffle, rare_gaps, missing, nan_policy)
    options = {
        "rng": rng,
        "round": round,
        "workers": workers,
        "accept": accept,
        "accept_visible_coins": accept_visible_coins,
        "max_clear": max_clear,
        "max_lift": max_lift,
        "max_risk": max_risk,
    }
    with warn_once_each():
        ready, _ = passing(
            lambda under, steps: attempt_table(frame, under, steps, options),
            settings,
            fix=_checks.boolean(fix, "fix"),
        )
    job = ready.job
    masked = frames.with_columns(ready.original.frame, mask_part(ready.part, job))
    masked = marked(masked, [*job.schemes], ready.metadata.records)
    audited = job.limits is not None and "C9" not in job.limits.accepted
    table = Frame(masked, ready.statistics.marks, audited)
    return Release(ready.metadata, table, workers=job.workers, chosen=job.chosen)


def _names(drop: Any) -> tuple[str, ...]:
    """Return the columns that are not released."""
    return _checks.names([drop] if isinstance(drop, str) else drop, "drop")


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: GivenSchemes,
    *,
    strata: str | Sequence[str] | None = None,
    rng: Randomness = None,
    nan_policy: str = "raise",
    round: bool = False,
    force: bool = False,
    workers: int = 1,
    progress: Progress = None,
    accept: str | Sequence[str] = (),
    accept_visible_coins: bool = False,
    dry_run: bool = False,
    csv: CsvFormat | None = None,
    part_rows: int | None = None,
    keep_metadata: Sequence[str] = (),
    log: Where = True,
    again: bool = False,
    max_clear: float = DEFAULT_LIMITS.clear,
    max_lift: float = DEFAULT_LIMITS.lift,
    max_risk: Mapping[float, float] | None = None,
    shuffle: bool = False,
    missing: GivenCodes = (),
    rare_gaps: str = "refuse",
    drop: str | Sequence[str] = (),
    fix: bool = False,
) -> Release:
    """Mask columns of a Parquet, CSV, Arrow, SPSS or Stata file; all else in it stays unchanged.

    Parameters
    ----------
    source, target : path
        Files, whose suffix gives the format: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt,
        .tsv, or one of the last three followed by .gz; .sav, .zsav, .dta. Text stays text. A
        source that is a folder or a glob (``"data/*.parquet"``, ``**`` for all folders below) is
        one table of many files; the target is then a new folder with files of the same names.
    schemes : dict of str to scheme, or names of columns
        The scheme of each column to mask, all of one class. `ConditionalMasking` masks several
        columns together, as in `mask_table`; other schemes mask each on its own. Where only names
        are given, schemes are chosen that suit the data, or the first part of long ones, as in
        `mask_table`.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn; several are crossed. The schemes may name them
        instead. With many files, ``"__filename"`` is the name of the file, and the keys of folders
        named ``key=value`` are columns, too.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`.
    force : bool
        Whether an existing file may be replaced; a folder never is.
    progress : callable (rows_done, rows_total), optional
        Called as rows are read, with None for their number, which is not yet known, and as they
        are written.
    accept : str or sequence of str, optional
        Codes of findings that the release is not refused for, as a refusal names them
        (docs/audit.rst); they are published with it. "all" releases without an audit and
        without guard rails, whatever that reveals.
    accept_visible_coins : bool
        Deprecated: ``accept="all"``.
    dry_run : bool
        Check and audit everything, but write nothing.
    csv : CsvFormat, optional
        How a CSV file is written, if that is not clear from its first line. The release is written
        the same way, and is read again without it.
    part_rows : int, optional
        Rows of a part; by default 2^24 divided by the number of columns. A longer source is masked
        in parts: donors come from a record's own part. Results depend on it, where there is more
        than one part.
    keep_metadata : sequence of str
        Entries in the metadata of a Parquet or Arrow file, or of its unmasked columns, to release
        unchanged ("geo"). Others are left out, except pandas' index and columns, because they may
        reveal originals.
    log : bool or path
        The list of releases, so that the same values are not released twice unnoticed: the user's
        own (True), none (False), or the one in this file, in which values that another user
        released are not recognised (docs/files.rst). With `rng`, which is for tests, there is
        none.
    again : bool
        Release values that were released before.
    max_clear, max_lift, max_risk
        What the release may show, as for `audit`.
    shuffle : bool
        Release the rows in a new order, as `mask_table` does; a folder, or a source of several
        parts, is refused.
    missing, rare_gaps, drop, fix
        As for `mask_table`.

    Returns
    -------
    Release
        As `read_release` reads it from the target: schemes are in the metadata (for CSV in
        ``target.condmask.json``), and estimates are computed from the target. After a dry run
        there are none.

    Raises
    ------
    FileError
        If a file cannot be read or written, or the target exists.
    ValueError, TypeError
        If a column is unknown or was masked before, or the data cannot be masked: all that is
        wrong with them is said at once. Nothing is written.
    ReleaseError
        If the release would show too much of the originals (`audit`), or a masked column has the
        values of an earlier release. Nothing is written.

    Notes
    -----
    A source of one part is read once, a longer one twice, and once or twice more where it is
    audited. Memory holds one part, and all of an Arrow file that is written. Integers stay
    integers if the scheme's grid has whole steps, float32 stays float32, decimals stay decimals
    where their places suffice, and CSV has the scheme's decimals; all that is not masked stays as
    it is. Masking a file again draws a new key: never publish both results.

    The guard rails look at every part whole, the attacker who knows every coin at up to 16,384
    rows from all over the source, with all rows of some of the firms, households and the like in
    them.
    """
    files = Files(
        _checks.path(source, "source"),
        _checks.path(target, "target"),
        csv=csv,
        part_rows=part_rows,
        keep=_checks.names(keep_metadata, "keep_metadata"),
        log=log,
        force=_checks.boolean(force, "force"),
        again=_checks.boolean(again, "again"),
        dry_run=_checks.boolean(dry_run, "dry_run"),
        progress=_checks.callback(progress, "progress"),
    )
    settings = Settings(schemes, strata, _names(drop), shuffle, rare_gaps, missing, nan_policy)
    options = {
        "rng": rng,
        "round": round,
        "workers": workers,
        "accept": accept,
        "accept_visible_coins": accept_visible_coins,
        "max_clear": max_clear,
        "max_lift": max_lift,
        "max_risk": max_risk,
    }
    with warn_once_each():
        ready, _ = passing(
            lambda under, steps: attempt_file(files, under, steps, options),
            settings,
            fix=_checks.boolean(fix, "fix"),
        )
    return released_file(files, ready)


def released_file(files: Files, ready: ReadyFile) -> Release:
    """Write the release of a file that passes; after a dry run return it without values."""
    task = ready.task
    if files.dry_run or task.shape is None:
        return Release(ready.metadata, None, chosen=task.job.chosen, notes=task.notes)
    masked = _masked(ready.prepared, task.job)
    rows = ready.inspected.rows
    with publishing(files.target) as hidden:
        write_parts(
            hidden, task.shape, ready.metadata, masked, rows, files.progress, task.job.workers
        )
    LOG.info("published %s", files.target.name)
    task.log.enter(files.target, ready.inspected.entry, task.job.accepted)
    job = task.job
    return released_in(files.target, workers=job.workers, chosen=job.chosen, notes=task.notes)


def _masked(
    parts: Iterable[tuple[ArrowTable, Prepared]], job: Job
) -> Iterator[tuple[ArrowTable, dict[str, Any]]]:
    """Yield the parts, and their masked columns."""
    for number, (table, part) in enumerate(parts):
        yield table, mask_part(part, job, number)
        del table, part  # before the next part is read
