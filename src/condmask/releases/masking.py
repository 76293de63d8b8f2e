"""How a release is made from a table: spooled, audited, masked, written, and published as a whole.

Pass 1 counts the rows, checks every value and spools the columns to be masked to temporary files without a
name, mapped into memory. Pass 2 streams the source again and puts in the masked values. Memory is flat apart
from those files, if the scheme masks block by block.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask._blocks import Workers
from condmask._grid import decimals_of
from condmask._log import logger
from condmask._randomness import check_rng
from condmask.clear_columns import columns_in_clear
from condmask.disclosure.release_check import ReleaseError
from condmask.files.atomic import Fingerprint, spool
from condmask.files.formats import Table, in_lines, named_once, without_names
from condmask.files.metadata import Published
from condmask.files.publish import publish
from condmask.files.room import check_room, room_for
from condmask.files.sampling import clear_of_table
from condmask.files.spool import Progress, ReleasedRows, spool_columns
from condmask.releases.ledger import Ledger, Where, ledger_of
from condmask.releases.record_words import sketch_of_file, some_values
from condmask.releases.registration import Registration
from condmask.releases.release import origins_of
from condmask.scheme import common_method
from condmask.schemes.prepare import prepare
from condmask.schemes.rounding import asked
from condmask.strata import not_masked

LOG = logger(__name__)


class Job(NamedTuple):
    """All arguments, checked before anything is read."""

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
    ledger: Ledger | None
    again: bool


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
    ledger: Where,
    again: bool,
) -> Job:
    """The job, or an error in one sentence."""
    masking = common_method(schemes)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    random, threads = check_rng(rng), _checks.workers(workers)
    named = masking.within(schemes, strata)
    groups = not_masked(next(iter(named.values())).strata, schemes)
    to_grid = asked(round, schemes)
    book = ledger_of(ledger)
    return Job(
        schemes, named, groups, random, policy, to_grid, threads,
        _checks.called(progress, "progress"), audited, _checks.truth(dry_run, "dry_run"),
        book if random is None else None, _checks.truth(again, "again"),
    )  # fmt: skip


def stages_of(job: Job) -> dict[str, float]:
    """The stages of a job, in order, with their relative times."""
    scheme = next(iter(job.schemes.values()))
    orders = scheme.reverse_mapping or getattr(scheme, "donors", None) == "permutation"
    drawing = 5.0 * len(job.schemes) if scheme.reverse_mapping else 3.0 if orders else 0.1
    stages = {"reading": 2.0, "looking up": 3.0, "auditing": 1.0, "drawing": drawing, "writing": 6.0}
    left_out = {"looking up"} if job.ledger is None else set()
    left_out |= {"drawing", "writing"} if job.dry_run else set()
    return {name: time for name, time in stages.items() if name not in left_out}


def release(
    job: Job,
    table: Table,
    targets: dict[Path, Any],
    before: Published | None,
    original: dict[Path, Fingerprint],
) -> Published:
    """Mask columns of a table into files; returns what is published.

    ``targets`` are the files as they were when the job began, ``before`` is what was published with columns
    that were masked earlier, ``original`` are the fingerprints of the source before the table was opened.
    """
    if job.audited:
        named_once(table)
    schemes = job.schemes
    masking = common_method(schemes)
    room = room_for(table, schemes, job.groups, gaps=job.policy == "omit")
    check_room(room, None if job.dry_run else next(iter(targets)))
    stages = stages_of(job)
    if staged := hasattr(job.progress, "begin"):
        job.progress.begin(stages, room.rows)  # type: ignore[union-attr]

    def stage(name: str) -> None:
        LOG.info("%s", name)
        if staged and name in stages:
            job.progress.stage(name)  # type: ignore[union-attr]

    stage("reading")
    with spool(room.taken) as create, in_lines(table):
        columns, kinds, labels = spool_columns(table, list(schemes), job.groups, create, job.progress)
        n = next(iter(columns.values())).size
        LOG.info("%d records of %s, columns to mask: %d", n, table.path, len(columns))
        entry = None
        if job.ledger is not None:  # before columns are prepared in place
            stage("looking up")
            records, originals = sketch_of_file(table, columns, kinds), some_values(columns, kinds, schemes)
            target = next(iter(targets))
            entry = Registration(
                job.ledger, target, job.named, records, originals, again=job.again, dry_run=job.dry_run
            )
        stage("auditing")
        beside = columns_in_clear(table.names, [*columns, *job.groups])
        clear = clear_of_table(table, beside, list(columns.values())) if job.audited and beside else None
        with _naming_files(table):
            made = prepare(
                schemes, columns, kinds, published=job.named, labels=labels,
                clear=clear, rng=job.random, nan_policy=job.policy, to_grid=job.round, audited=job.audited,
                to_file=True, in_place=True,
            )  # fmt: skip
        if entry is not None:
            entry.look_up()
        published = Published(
            n,
            {**(before.schemes if before else {}), **job.named},
            {
                **(before.origins if before else {}),
                **origins_of(job.named, made.patterns, made.shifts),
            },
        )
        if not job.dry_run:
            stage("drawing")
            places = {
                name: decimals_of(made.units[name])
                for name, scheme in schemes.items()
                if scheme.reverse_mapping
            }
            parts = masking.masked_blocks(schemes, made.units, made.key, made.pools, job.workers)
            rows = ReleasedRows(parts, schemes, kinds, n, job.progress, places)
            rows.workers = job.workers if isinstance(job.workers, int) else 1
            publish(table, targets, rows, published, original, None if entry is None else entry.entering())
            target = next(iter(targets))
            size = f", {target.stat().st_size} bytes" if target.is_file() else ""
            LOG.info("published %s: %d records%s", target, n, size)
    return published


@contextmanager
def _naming_files(table: Table) -> Iterator[None]:
    """Let a refusal because of the names of files say how to leave these out."""
    try:
        yield
    except ReleaseError as error:
        how = without_names(table, str(error))
        if not how:
            raise
        raise ReleaseError("; ".join([str(error), *how])) from None
