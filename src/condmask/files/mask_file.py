"""Files and data frames in, releases out."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from condmask._blocks import Workers
from condmask.disclosure.audit import audit
from condmask.disclosure.audit_result import Audit
from condmask.files.csv_format import CsvFormat
from condmask.files.formats import columns_exist, format_of, in_lines, reading
from condmask.files.masking import MOST_CLEAR, job_of, release, writable
from condmask.files.metadata import published_schemes, standing
from condmask.files.read import column_of, converted, open_table
from condmask.strata import names_of


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
) -> dict[str, Any]:
    """Mask columns of a Parquet, CSV or Arrow file; everything else in it stays as it is.

    Parameters
    ----------
    source, target : path
        Files whose format is told by suffix: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt, .tsv, or
        one of the last three followed by .gz. From text into another format, columns become numbers if all
        their fields are.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. By `ConditionalMasking` several columns are
        masked together, as by `mask_table`; by others each on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn, or several that are crossed. The schemes may name them
        instead.
    rng, nan_policy, round, workers
        As for `ConditionalMasking.mask`.
    overwrite : bool
        Whether an existing target may be replaced.
    progress : callable (rows_done, rows_total), optional
        Called as rows are read, when their number is not yet known and None, and again as they are written.
    accept_visible_coins : bool
        Release without an audit and without guard rails, whatever the release shows.
    dry_run : bool
        Do everything but write.
    csv : CsvFormat, optional
        How a CSV file is written, where that cannot be told from it. The release is written the same way, and
        is read again without it.

    Returns
    -------
    dict of str to scheme
        The schemes as they were published, in the target's metadata (for CSV in ``target.condmask.json``).

    Raises
    ------
    FileError
        If a file cannot be read or written, or the target exists.
    ValueError, TypeError
        If a column is unknown or was masked before, or the data cannot be masked. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`). Nothing is written.

    Notes
    -----
    Two passes; memory is flat apart from a temporary file of 8 bytes a value and masked column (schemes
    other than `ConditionalMasking` mask a column in memory). Integers stay integers where the scheme's grid
    has whole steps, float32 stays float32, and CSV has the scheme's decimals. Masking a file again draws a
    new key: never publish both results.
    """
    job = job_of(
        schemes, strata, rng, nan_policy, workers, round=round, progress=progress,
        audited=not accept_visible_coins, dry_run=dry_run,
    )  # fmt: skip
    source, found = Path(source), standing(Path(target))  # before anything is read: others may write it
    with reading(source):
        table = open_table(source, csv, job.workers)
        columns_exist(table, [*schemes, *job.groups])
        before = published_schemes(table)
        writable(found, source, overwrite=overwrite)
        for name in schemes:
            if name in before:
                raise ValueError(f"{name} is masked already in {source}: mask the original instead")
        if format_of(source) != format_of(next(iter(found))):
            table = converted(table)
        return release(job, table, found, before)


def write_release(
    frame: Any,
    schemes: dict[str, Any],
    path: str | os.PathLike[str],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    round: bool = False,
    overwrite: bool = False,
    workers: Workers = 1,
    accept_visible_coins: bool = False,
) -> dict[str, Any]:
    """Mask columns of a data frame and write the release: data, schemes and the note for analysts.

    Parameters
    ----------
    frame : data frame or dict of columns
        pandas, polars, pyarrow or another that narwhals supports.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class.
    path : path
        The file to write, of the format that its suffix tells, as for `mask_file`.
    strata, rng, nan_policy, round, overwrite, workers, accept_visible_coins
        As for `mask_file`.

    Returns
    -------
    dict of str to scheme
        The schemes as they were published.

    Raises
    ------
    FileError
        If the file cannot be written, or exists.
    ValueError, TypeError
        If a column is unknown, or the data cannot be masked, or seem to be masked already: a scheme is the
        published one of as many records. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`). Nothing is written.

    See Also
    --------
    read_release : the estimates of what was written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"age": rng.integers(18, 66, 5_000), "income": rng.lognormal(7, 0.5, 5_000)})
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/released.parquet"
    >>> schemes = cm.write_release(frame, {"income": cm.ConditionalMasking(0.6, 500.0)}, path)
    >>> list(cm.read_release(path))
    ['income']
    >>> folder.cleanup()
    """
    try:
        from condmask.files.frame_table import FrameTable
    except ImportError as error:
        raise ImportError("write_release needs pyarrow: pip install 'condmask[cli]'") from error
    job = job_of(
        schemes, strata, rng, nan_policy, workers, round=round, progress=None,
        audited=not accept_visible_coins, dry_run=False,
    )  # fmt: skip
    found = standing(Path(path))
    writable(found, None, overwrite=overwrite)
    table = FrameTable(frame)
    columns_exist(table, [*schemes, *job.groups])
    for name, scheme in schemes.items():
        if getattr(scheme, "records", None) == table.rows:
            raise ValueError(
                f"schemes must not be those of a release of this frame, got records={table.rows} for "
                f"{name!r}; it is masked here, and masked twice gives wrong estimates"
            )
    with reading(Path(path)):
        return release(job, table, found, {})


def audit_file(
    source: str | os.PathLike[str], schemes: dict[str, Any], *, csv: CsvFormat | None = None
) -> Audit:
    """What an attacker could tell of the coins of a release of a file; see `audit`.

    Parameters
    ----------
    source : path
        The original.
    schemes : dict of str to ConditionalMasking
        The scheme of each column that is to be masked; other numeric columns are those left in clear.
    csv : CsvFormat, optional
        As for `mask_file`.

    Returns
    -------
    Audit
    """
    groups = names_of(next(iter(schemes.values())).strata)
    with reading(Path(source)):
        table = open_table(Path(source), csv)
        columns_exist(table, [*schemes, *groups])
        others = [name for name in table.names[:MOST_CLEAR] if table.names.count(name) == 1]
        columns = {name: column_of(table, name) for name in dict.fromkeys([*schemes, *groups, *others])}
        with in_lines(table):
            return audit(columns, schemes)
