"""How a release is made of a table: spooled, audited, masked, written, and published as a whole.

Pass 1 counts the rows, checks every value and spools the columns to be masked to temporary files without a
name, mapped into memory. Pass 2 streams the source again and puts masked values in place. Memory is flat
apart from those files, where the scheme masks block by block.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import Workers
from condmask._grid import decimals_of
from condmask._randomness import check_rng
from condmask.disclosure.audit_input import AuditInput
from condmask.donor_pools import numbers_of, pools_of
from condmask.files.atomic import FileError, publishing, spool, state
from condmask.files.formats import Table, in_lines
from condmask.files.metadata import beside_data, described, sidecar
from condmask.files.note import written_note
from condmask.files.spool import Progress, ReleasedRows, spool_columns
from condmask.missing_codes import refuse_reachable, taken_out
from condmask.scheme import Scheme, release_key, together
from condmask.schemes.rounding import asked, rounded, with_shifts
from condmask.strata import not_masked

MOST_CLEAR, BEGINNING = 64, 1 << 14  # columns and rows that are looked at beside the masked ones


class Job(NamedTuple):
    """What is asked for, checked before anything is read."""

    schemes: dict[str, Any]
    named: dict[str, Any]  # with the strata that the call names
    groups: tuple[str, ...]
    random: Any
    policy: str
    round: bool
    workers: Workers
    progress: Progress
    audited: bool
    dry_run: bool


def job_of(
    schemes: dict[str, Any],
    strata: str | Sequence[str] | None,
    rng: Any,
    nan_policy: str,
    workers: Workers,
    *,
    round: bool,
    progress: Progress,
    audited: bool,
    dry_run: bool,
) -> Job:
    """The job, or one sentence on what cannot be."""
    masking = together(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    named = masking.within(schemes, strata)
    groups = not_masked(next(iter(named.values())).strata, schemes)
    to_grid = asked(round, schemes)
    return Job(schemes, named, groups, random, policy, to_grid, threads, progress, audited, dry_run)


def writable(found: dict[Path, tuple[int, ...] | None], source: Path | None, *, overwrite: bool) -> None:
    """Refuse targets that may not be written."""
    target = next(iter(found))
    if source is not None and target.exists() and source.samefile(target):
        raise FileError(f"target must be another file than the source, got {target}")
    if target.is_dir():
        raise FileError(f"{target} is a directory")
    for path, there in found.items():
        if there is not None and not overwrite:
            raise FileError(f"{path} exists; it is replaced only with --force (overwrite=True)")


def release(
    job: Job, table: Table, found: dict[Path, tuple[int, ...] | None], before: dict[str, Scheme]
) -> dict[str, Any]:
    """Mask columns of a table into files that stood like this when the job began.

    ``before`` are the schemes of columns that were masked earlier.
    """
    schemes, original = job.schemes, state(table.path)
    masking, within = together(schemes), next(iter(job.named.values()))
    with spool() as create, in_lines(table):
        columns, kinds, labels = spool_columns(table, list(schemes), job.groups, create, job.progress)
        columns, policy = taken_out(schemes, columns, kinds, job.policy, in_place=True)
        columns, shifts = rounded(schemes, columns, kinds, in_place=True) if job.round else (columns, {})
        merge = within.small_strata == "merge"
        pools, patterns = pools_of(list(columns.values()), labels, policy, list(schemes), merge=merge)
        if job.audited:
            code = None if pools is None else pools.pool
            beside = _beginning(table, columns, kinds, job.groups)
            masking.check(schemes, AuditInput(columns, kinds, {}, code), beside)
        for name, scheme in schemes.items():
            scheme.canonical(columns[name], name, kinds[name], out=columns[name])
        refuse_reachable(schemes, columns, kinds)
        key = release_key(job.random, job.named, list(columns.values()), pools)
        stamped = with_shifts(masking.stamp(job.named, patterns, key, numbers_of(columns)), shifts)
        if job.dry_run:
            return stamped
        places = {name: decimals_of(columns[name]) for name, each in schemes.items() if each.reverse_mapping}
        parts = masking.masked_blocks(schemes, columns, key, pools, job.workers)
        rows = ReleasedRows(parts, schemes, kinds, next(iter(columns.values())).size, job.progress, places)
        rows.workers = job.workers if isinstance(job.workers, int) else 1
        _publish(table, found, rows, {**before, **stamped}, original)
    return stamped


def _beginning(
    table: Table, columns: dict[str, np.ndarray], kinds: dict[str, str], groups: tuple[str, ...]
) -> AuditInput | None:
    """The first rows with the numbers that are left in clear; None where none are."""
    others = [name for name in table.names[:MOST_CLEAR] if name not in columns and name not in groups]
    clear = table.sample([name for name in others if table.names.count(name) == 1], BEGINNING)
    if not clear:
        return None
    rows = next(iter(clear.values())).size
    return AuditInput({name: np.array(values[:rows]) for name, values in columns.items()}, kinds, clear, None)


def _publish(
    table: Table,
    found: dict[Path, tuple[int, ...] | None],
    rows: ReleasedRows,
    schemes: dict[str, Scheme],
    original: tuple[int, ...] | None,
) -> None:
    """Write the target, what is published with it, and the note for its analysts."""
    metadata = described(rows.total, schemes)
    with publishing(found, hashed=sidecar(next(iter(found))) is not None) as outputs:
        target, *beside, note = outputs
        table.rewrite(target, rows, metadata)
        if rows.done != rows.total or state(table.path) != original:
            raise FileError(f"{table.path} changed while it was masked; nothing was published")
        for output in beside:
            output.write(beside_data(metadata | table.description, target.sha256))
        note.write(written_note(target.final.name, rows.total, schemes).encode())
