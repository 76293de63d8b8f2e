"""The commands of a publisher: each calls the function of its name, with its parameters as
options.

Heavy modules are imported in a command, and names of the package when they are used, so that
``--help`` answers at once.
"""

from typing import Annotated, Any, Literal

from cyclopts import Parameter

import condmask as cm
from condmask.cli.options import (
    CSV,
    OUTPUT,
    PLAN,
    SCHEME,
    ColumnNames,
    FileOptions,
    Output,
    PlanOptions,
    SchemeOptions,
    Several,
    TargetOption,
    pairs,
    shares_by_distance,
)
from condmask.cli.shell_form import in_shell
from condmask.cli.text import UsageError, audit_progress, listing, progress, say

WITHOUT_SCHEME = {"strata", "missing"}  # options that leave the choice of a scheme to the data


def plan(
    source: str,
    *,
    column: Annotated[str, Parameter(alias="-c")],
    max_risk: Several = None,
    max_record_risk: Several = None,
    max_error: Several = None,
    d: list[float] | None = None,
    other: str | None = None,
    p: list[float] | None = None,
    sigma: list[float] | None = None,
    scheme: PlanOptions = PLAN,
    target: TargetOption = "population",
    plot: str | None = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Compare the risk and the precision of many schemes for a column, and suggest up to three.

    For example: condmask plan people.parquet -c income --max-risk 100=.15

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask
    max_risk
        DISTANCE=SHARE: largest share of records whose value an attacker may guess closer than this
    max_record_risk
        DISTANCE=CHANCE: largest chance for any single record that its released value is closer
        than this to its original
    max_error
        NAME=ERROR: largest standard error of mean, std, median, 'quantile 0.1', correlation, ...
    d
        another distance at which risks are shown
    other
        unmasked column, for errors of the correlation with it and of the slope on it
    p
        swap probability to try (default nine)
    sigma
        standard deviation of the noise to try (default nine)
    target
        what standard errors refer to: the population (default), or the original file
    plot
        draw risk against loss of precision in this file
    """
    from condmask.frames import as_frame
    from condmask.publish.stages import originals

    given = scheme.given()
    groups = given.pop("strata", [])
    table = originals(source, csv.format()).table([column, *groups], numeric=[column])
    planned = cm.plan(
        as_frame(table)[column],  # a series, so that the plan has the name of the column
        max_risk=shares_by_distance(max_risk, "--max-risk"),
        max_record_risk=shares_by_distance(max_record_risk, "--max-record-risk"),
        max_error=pairs(max_error, "--max-error", str, float),
        d=d,
        p=p,
        sigma=sigma,
        target=target,
        strata=table.select(groups) if groups else None,
        other=None if other is None else cm.read_column(source, other, csv=csv.format()),
        **given,
    )
    output.show(planned)
    if plot is not None:
        planned.plot(plot)


def audit(
    source: str,
    *,
    column: ColumnNames = None,
    scheme: SchemeOptions = SCHEME,
    max_clear: float = 0.6,
    max_lift: float = 0.1,
    max_risk: Several = None,
    accept: Several = None,
    known: Several = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> int:
    """Measure how closely an attacker who knows which records were swapped can guess the
    originals, and show why the release would be refused.

    The exit code is 1 if the release would be refused.

    For example: condmask audit people.parquet -c income --p 0.6 --sigma 500

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask; several are masked together
    max_clear
        share of values from which on a release is refused if columns in clear, or the release
        alone, tell so many (default .6)
    max_lift
        largest share of values that may be guessed from the release but not from the columns in
        clear alone (default .1)
    max_risk
        DISTANCE=SHARE: largest share of values that the attacker may guess closer than this
    accept
        code of a finding that the release is not refused for, such as C4
    known
        column in clear that somebody may know of a person (default: all of few levels)
    """
    from condmask.publish.stages import originals

    caps = shares_by_distance(max_risk, "--max-risk")
    schemes = scheme.schemes(column)
    table = originals(source, csv.format()).table(numeric=schemes)
    result = cm.audit(
        table, schemes, max_clear=max_clear, max_lift=max_lift, max_risk=caps, accept=accept or ()
    )
    output.show(result)
    return int(result.refused)


def mask(
    source: str,
    target: str,
    *,
    column: ColumnNames = None,
    scheme: SchemeOptions = SCHEME,
    nan_policy: Literal["raise", "omit"] = "raise",
    round: bool = False,
    shuffle: bool = False,
    rare_gaps: Literal["refuse", "drop"] = "refuse",
    max_clear: float = 0.6,
    max_lift: float = 0.1,
    max_risk: Several = None,
    drop: Several = None,
    fix: bool = False,
    accept: Several = None,
    accept_visible_coins: Annotated[bool, Parameter(show=False)] = False,
    keep_metadata: Several = None,
    part_rows: int | None = None,
    dry_run: bool = False,
    force: bool = False,
    log: str | None = None,
    no_log: bool = False,
    again: bool = False,
    workers: int = 1,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Mask columns of a file. How they were masked is stored with the masked data.

    The exit code is 3 if there was a warning: read it before you publish the release.

    For example: condmask mask people.parquet masked.parquet -c income

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    target
        the masked file to write
    column
        column to mask; several are masked together. A scheme is chosen for the data unless options
        of the scheme other than --strata and --missing are given
    nan_policy
        omit: leave missing values missing, rather than refuse them; this is so anyway if the
        scheme is chosen for the data
    round
        first round the data to multiples of the step (ties up), and report what that changes
    shuffle
        release the rows in random order; do so where their order says something of the values
    rare_gaps
        drop: leave out records whose combination of missing values is too rare, rather than refuse
        the file
    max_clear
        share of values from which on a release is refused if columns in clear, or the release
        alone, tell so many (default .6)
    max_lift
        largest share of values that may be guessed from the release but not from the columns in
        clear alone (default .1)
    max_risk
        DISTANCE=SHARE: largest share of values that an attacker may guess closer than this
    drop
        column that is not released
    fix
        settle what the release is refused for by the changes that messages name, and say each
    accept
        code of a finding that the release is not refused for, such as C4; all: release without an
        audit, whatever the release would reveal
    accept_visible_coins
        deprecated: --accept all
    keep_metadata
        entry in the metadata of a Parquet or Arrow file to release unchanged
    part_rows
        rows of a part; donors come from the same part (default: a file of up to 2^24 cells is one
        part)
    dry_run
        check and audit everything, but write nothing; an obstacle to writing is a warning
    force
        replace the target if it exists
    log
        file that lists earlier releases (default: your own log)
    no_log
        neither look up earlier releases nor enter this one
    again
        release records that were released before, with a warning of what that reveals
    workers
        number of threads
    """
    if log is not None and no_log:
        raise UsageError("--log must be left out with --no-log")
    if accept_visible_coins:
        say("warning: --accept-visible-coins is now --accept all")
        accept = [*(accept or ()), "all"]
    caps = shares_by_distance(max_risk, "--max-risk")
    given = scheme.given()
    schemes: list[str] | dict[str, Any]
    if column is None or given.keys() - WITHOUT_SCHEME:
        schemes = scheme.schemes(column)
        given = {}
    else:  # a scheme is chosen for the data
        schemes = column
    with progress() as report, audit_progress():
        release = cm.mask_file(
            source,
            target,
            schemes,
            nan_policy=nan_policy,
            round=round,
            shuffle=shuffle,
            rare_gaps=rare_gaps,
            drop=drop or (),
            fix=fix,
            accept=accept or (),
            keep_metadata=keep_metadata or (),
            csv=csv.format(),
            part_rows=part_rows,
            dry_run=dry_run,
            force=force,
            log=log or not no_log,
            again=again,
            workers=workers,
            progress=report,
            max_clear=max_clear,
            max_lift=max_lift,
            max_risk=caps,
            **given,
        )
    for step in release.steps:
        say(f"settled: {in_shell(step)}")
    for note in release.notes:
        say(note)
    for name, choice in release.chosen.items():
        say(f"{name}: {in_shell(str(choice))}")
    written = "nothing was written" if dry_run else f"masked values in {target}"
    output.show(release, "\n".join([written, *listing(release.schemes)]))


def risk(
    source: str,
    *,
    column: ColumnNames = None,
    scheme: SchemeOptions = SCHEME,
    d: list[float] | None = None,
    released: str | None = None,
    match: str | None = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Measure how closely attackers can guess the originals, before masking or after it.

    For example: condmask risk people.parquet -c income --p 0.6 --sigma 500 --d 100

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask; several are masked together
    d
        a guess closer than this to the original counts, in units of the data (default a tenth of
        the spread)
    released
        a release of the source: measure the risk of this release, under its schemes
    match
        unmasked column with a different value in each record, by which rows of source and release
        are matched; needed if the release was shuffled
    """
    from condmask.disclosure.audit import table_of
    from condmask.disclosure.risk import risk_of
    from condmask.publish.stages import originals
    from condmask.reports.alignment import matched_to_release

    if released is None and match is not None:
        raise UsageError("--match must be left out without --released")
    options = scheme.given() | ({} if column is None else {"column": column})
    if released is not None and options:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in options)
        raise UsageError(
            f"{names} must be left out with --released: the release holds its schemes"
        )
    if released is None:
        schemes = scheme.schemes(column)
        table = originals(source, csv.format()).table(numeric=schemes)
        output.show(cm.risk(table, schemes, d=d))
        return
    release = cm.read_release(released)
    original = originals(source, csv.format()).table(numeric=release.schemes)
    checked, schemes = table_of(
        matched_to_release(original, release, match),
        release.schemes,
        parts=release.parts,
    )
    masked = release.files.table(numeric=schemes)
    output.show(risk_of(checked, schemes, d, masked))
