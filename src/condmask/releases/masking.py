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
from condmask.donor_pools import pools_of
from condmask.files.atomic import spool, state
from condmask.files.formats import Table, in_lines
from condmask.files.metadata import Published
from condmask.files.publish import State, publish
from condmask.files.spool import Progress, ReleasedRows, spool_columns
from condmask.missing_codes import drop_codes, refuse_reachable
from condmask.releases.release import origins_of
from condmask.scheme import common_method, release_key
from condmask.schemes.rounding import asked, rounded
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
    masking = common_method(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    named = masking.within(schemes, strata)
    groups = not_masked(next(iter(named.values())).strata, schemes)
    to_grid = asked(round, schemes)
    return Job(schemes, named, groups, random, policy, to_grid, threads, progress, audited, dry_run)


def release(job: Job, table: Table, targets: dict[Path, State], before: Published | None) -> Published:
    """Mask columns of a table into files that stood like this when the job began; what is published.

    ``before`` is what was published with columns that were masked earlier.
    """
    schemes, original = job.schemes, state(table.path)
    masking, within = common_method(schemes), next(iter(job.named.values()))
    with spool() as create, in_lines(table):
        columns, kinds, labels = spool_columns(table, list(schemes), job.groups, create, job.progress)
        columns, policy = drop_codes(schemes, columns, kinds, job.policy, in_place=True)
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
        n = next(iter(columns.values())).size
        published = Published(
            n,
            {**(before.schemes if before else {}), **job.named},
            {**(before.origins if before else {}), **origins_of(job.named, patterns, key.tag(), shifts)},
        )
        if not job.dry_run:
            places = {
                name: decimals_of(columns[name]) for name, each in schemes.items() if each.reverse_mapping
            }
            parts = masking.masked_blocks(schemes, columns, key, pools, job.workers)
            rows = ReleasedRows(parts, schemes, kinds, n, job.progress, places)
            rows.workers = job.workers if isinstance(job.workers, int) else 1
            publish(table, targets, rows, published, original)
    return published


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
