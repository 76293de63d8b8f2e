"""Files in, files out: two streaming passes, and an output that appears whole or not at all.

Pass 1 counts the rows, checks every value and spools the columns to be masked to a temporary file that
only its owner can read, mapped into memory. Pass 2 streams the source again and puts masked values in
place. Memory is flat apart from that file, where the scheme masks block by block.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers
from condmask._randomness import check_rng
from condmask.disclosure.review import Data
from condmask.disclosure.verdict import Audit
from condmask.files.atomic import FileError, publishing, spool, state
from condmask.files.dialect import CsvFormat
from condmask.files.note import written_note
from condmask.files.published import beside_data, described, published_schemes, standing
from condmask.files.reading import column_of, open_table
from condmask.files.spooled import ReleasedRows, spool_columns, spool_strata
from condmask.files.table import Table, columns_exist, format_of, in_lines, reading
from condmask.schemes.audit import audit
from condmask.schemes.missing import refuse_reachable, taken_out
from condmask.schemes.pools import numbers_of, pools_of
from condmask.schemes.scheme import Scheme, release_key, together
from condmask.strata import names_of, not_masked

MOST_CLEAR, BEGINNING = 64, 1 << 14  # columns and rows that are looked at beside the masked ones


def mask_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    schemes: dict[str, Any],
    *,
    strata: str | Sequence[str] | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
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
        Files of the same format, told by suffix: .parquet, .pq, .arrow, .feather, .ipc, .csv, .txt, .tsv, or
        one of the last three followed by .gz.
    schemes : dict of str to scheme
        The scheme of each column to mask, all of one class. By `ConditionalMasking` several columns are
        masked together, as by `mask_table`; by others each on its own.
    strata : str or sequence of str, optional
        Column within whose groups donors are drawn, or several that are crossed. The schemes may name them
        instead.
    rng, nan_policy, workers
        As for `ConditionalMasking.mask`.
    overwrite : bool
        Whether an existing target may be replaced.
    progress : callable (rows_done, rows_total), optional
        Called as rows are read, when their number is not yet known and None, and again as they are written.
    accept_visible_coins : bool
        Release without an audit, whatever shows which records were swapped.
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
    source, target = Path(source), Path(target)
    masking = together(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    named = masking.within(schemes, strata)
    within = next(iter(named.values()))
    groups = not_masked(within.strata, schemes)
    with reading(source), spool() as create, ExitStack() as told:
        found = standing(target)  # before anything is looked at: another job may come between
        table, before = _opened(source, found, list(schemes), groups, overwrite, csv, threads)
        told.enter_context(in_lines(table))
        original = state(source)
        columns, kinds = spool_columns(table, list(schemes), create, progress)
        labels = [spool_strata(table, group, create) for group in groups]
        columns, policy = taken_out(schemes, columns, kinds, policy, in_place=True)
        merge = within.small_strata == "merge"
        pools, patterns = pools_of(list(columns.values()), labels, policy, list(schemes), merge=merge)
        if not accept_visible_coins:
            code = None if pools is None else pools.pool
            masking.check(schemes, Data(columns, kinds, {}, code), _beginning(table, columns, kinds, groups))
        for name, scheme in schemes.items():
            scheme.canonical(columns[name], name, kinds[name], out=columns[name])
        refuse_reachable(schemes, columns, kinds)
        key = release_key(random, named, list(columns.values()), pools)
        stamped = masking.stamp(named, patterns, key, numbers_of(columns))
        parts = masking.masked_blocks(schemes, columns, key, pools, threads)
        rows = ReleasedRows(parts, schemes, kinds, next(iter(columns.values())).size, progress)
        if dry_run:
            return stamped
        rows.workers = threads if isinstance(threads, int) else 1
        _publish(table, found, rows, {**before, **stamped}, original)
    return stamped


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


def _opened(
    source: Path,
    found: dict[Path, tuple[int, ...] | None],
    names: list[str],
    strata: Sequence[str],
    overwrite: bool,
    csv: CsvFormat | None,
    workers: Workers,
) -> tuple[Table, dict[str, Scheme]]:
    """The source, which has the columns and hides them not yet, and the schemes of those masked before."""
    target = next(iter(found))
    if format_of(source) != format_of(target):
        raise ValueError(f"target must have the format of the source, got {source.name} and {target.name}")
    table = open_table(source, csv, workers)
    columns_exist(table, [*names, *strata])
    before = published_schemes(table)
    if target.exists() and source.samefile(target):
        raise FileError(f"target must be another file than the source, got {target}")
    if target.is_dir():
        raise FileError(f"{target} is a directory")
    for path, there in found.items():
        if there is not None and not overwrite:
            raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")
    for name in names:
        if name in before:
            raise ValueError(f"{name} is masked already in {source}: mask the original instead")
    return table, before


def _beginning(
    table: Table, columns: dict[str, np.ndarray], kinds: dict[str, str], groups: tuple[str, ...]
) -> Data | None:
    """The first rows with the numbers that are left in clear; None where none are."""
    clear = {}
    for name in table.names[:MOST_CLEAR]:
        if name not in columns and name not in groups and table.names.count(name) == 1:
            try:
                clear[name] = next(table.chunks([name]))[name][0][:BEGINNING].copy()
            except (TypeError, ValueError, StopIteration):  # text, dates, numbers too large
                continue
    if not clear:
        return None
    rows = min(values.size for values in clear.values())
    some = {name: np.array(values[:rows]) for name, values in columns.items()}
    return Data(some, kinds, {name: values[:rows] for name, values in clear.items()}, None)


def _publish(
    table: Table,
    found: dict[Path, tuple[int, ...] | None],
    rows: ReleasedRows,
    schemes: dict[str, Scheme],
    original: tuple[int, ...] | None,
) -> None:
    """Write the target, what is published with it, and the note for its analysts."""
    metadata = described(rows.total, schemes)
    with publishing(found) as outputs:
        target, *beside, note = outputs
        table.rewrite(target, rows, metadata)
        if rows.done != rows.total or state(table.path) != original:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")
        for output in beside:
            output.write(beside_data(metadata | table.description, target.sha256))
        note.write(written_note(target.final.name, rows.total, schemes).encode())
