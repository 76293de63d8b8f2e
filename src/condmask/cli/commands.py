"""The nine commands: each calls the function of its name, with its parameters as options.

What is heavy is imported when a command is called, names of the package when they are used, so
that ``--help`` answers at once.
"""

from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import condmask as cm
from condmask.cli.options import FileOptions, Output, PlanOptions, SchemeOptions, pairs
from condmask.cli.text import UsageError, listing, progress, say

SCHEME = SchemeOptions()
PLAN = PlanOptions()
CSV = FileOptions()
OUTPUT = Output()
Columns = Annotated[list[str] | None, Parameter(alias="-c")]
Several = list[str] | None
Target = Literal["population", "file"]


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
    target: Target = "population",
    plot: str | None = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Compare what schemes would protect and cost, and suggest some.

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
        DISTANCE=CHANCE: largest chance of any single record to be released with a value so close
        to its own
    max_error
        NAME=ERROR: largest standard error of mean, std, median, 'quantile 0.1', correlation, ...
    d
        further distance at which risks are shown
    other
        unmasked column, for errors of the correlation with it and of the slope on it
    p
        swap probability to try (default nine)
    sigma
        standard deviation of the noise to try (default nine)
    target
        what is estimated: the population (default), or the original values themselves
    plot
        draw risk against loss of precision in this file
    """
    from condmask.frames import as_frame
    from condmask.publish.stages import originals

    given = scheme.given()
    form = csv.format()
    groups = given.pop("strata", [])
    table = originals(source, form).table([column, *groups], numeric=[column])
    made = cm.plan(
        as_frame(table)[column],  # which knows its name
        max_risk=pairs(max_risk, float, float),
        max_record_risk=pairs(max_record_risk, float, float),
        max_error=pairs(max_error, str, float),
        d=d,
        p=p,
        sigma=sigma,
        target=target,
        strata=table.select(groups) if groups else None,
        other=None if other is None else cm.read_column(source, other, csv=form),
        **given,
    )
    output.show(made)
    if plot is not None:
        made.plot(plot)


def audit(
    source: str,
    *,
    column: Columns = None,
    scheme: SchemeOptions = SCHEME,
    max_lift: float = 0.1,
    max_risk: Several = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> int:
    """See how near an attacker comes to original values who knows who was swapped, and what is
    refused.

    The exit code is 1 if the release would be refused.

    For example: condmask audit people.parquet -c income --p 0.6 --sigma 500

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask; several are masked together
    max_lift
        how much a release may add to what the columns in clear tell, in shares of values guessed
        (default .1)
    max_risk
        DISTANCE=SHARE: largest share of values that the attacker may guess closer than this
    """
    from condmask.publish.stages import originals

    caps = pairs(max_risk, float, float)
    schemes = scheme.schemes(column)
    table = originals(source, csv.format()).table(numeric=schemes)
    found = cm.audit(table, schemes, max_lift=max_lift, max_risk=caps)
    output.show(found)
    return int(found.refused)


def mask(
    source: str,
    target: str,
    *,
    column: Columns = None,
    scheme: SchemeOptions = SCHEME,
    nan_policy: Literal["raise", "omit"] = "raise",
    round: bool = False,
    shuffle: bool = False,
    rare_gaps: Literal["refuse", "drop"] = "refuse",
    max_lift: float = 0.1,
    max_risk: Several = None,
    accept_visible_coins: bool = False,
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
        column to mask; several are masked together. With no option of the scheme but --strata and
        --missing, one is chosen for the data
    nan_policy
        omit: leave missing values missing, rather than refuse them, as where the scheme is chosen
    round
        first round the data to multiples of the step (ties up), and report what that changes
    shuffle
        release the rows in a new order, where their order tells something of the values
    rare_gaps
        drop: leave out records whose gaps too few others share, rather than refuse the file
    max_lift
        how much a release may add to what the columns in clear tell, in shares of values guessed
        (default .1)
    max_risk
        DISTANCE=SHARE: largest share of values that an attacker may guess closer than this
    accept_visible_coins
        release without an audit, whatever the release reveals
    keep_metadata
        entry in the metadata of a Parquet or Arrow file to release unchanged
    part_rows
        rows of a part, from which donors come; a file of up to 2^24 cells is one part
    dry_run
        check and audit everything, but write nothing; what stands in the way of writing is a
        warning
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
        raise UsageError("log must be left out with --no-log")
    caps = pairs(max_risk, float, float)
    beside = scheme.given()
    schemes: Any = column
    # otherwise one is chosen for the data
    if column is None or beside.keys() - {"strata", "missing"}:
        schemes = scheme.schemes(column)
        beside = {}
    with progress() as report:
        release = cm.mask_file(
            source,
            target,
            schemes,
            nan_policy=nan_policy,
            round=round,
            shuffle=shuffle,
            rare_gaps=rare_gaps,
            accept_visible_coins=accept_visible_coins,
            keep_metadata=keep_metadata or (),
            csv=csv.format(),
            part_rows=part_rows,
            dry_run=dry_run,
            force=force,
            log=log or not no_log,
            again=again,
            workers=workers,
            progress=report,
            max_lift=max_lift,
            max_risk=caps,
            **beside,
        )
    for name, choice in release.chosen.items():
        say(f"{name}: {choice}")
    written = "nothing was written" if dry_run else f"masked values in {target}"
    output.show(release, "\n".join([written, *listing(release.schemes)]))


def risk(
    source: str,
    *,
    column: Columns = None,
    scheme: SchemeOptions = SCHEME,
    d: list[float] | None = None,
    released: str | None = None,
    match: str | None = None,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Measure how near attackers come to original values, before masking or after it.

    For example: condmask risk people.parquet -c income --p 0.6 --sigma 500 --d 100

    Parameters
    ----------
    source
        the original data: a file, a folder or 'glob' of files
    column
        column to mask; several are masked together
    d
        how near a guess must come to count, in units of the data (default a tenth of the spread)
    released
        a release of the source: its schemes are used, and its figures shown
    match
        unmasked column with another value in each record, by which rows of source and release are
        matched; a shuffled release needs it
    """
    from condmask.disclosure.audit import table_of
    from condmask.disclosure.risk import risk_of
    from condmask.publish.stages import originals
    from condmask.reports.alignment import in_order

    if released is None and match is not None:
        raise UsageError("match must be left out without --released")
    if released is not None and (column or scheme.given()):
        raise UsageError(
            "options of the scheme must be left out, and --column: a release has its schemes"
        )
    read = None if released is None else cm.read_release(released)
    schemes = scheme.schemes(column) if read is None else read.schemes
    original = originals(source, csv.format()).table(numeric=schemes)
    if read is None:
        found = cm.risk(original, schemes, d=d)
    else:
        original = in_order(original, read, match)
        shown = read._source.table(numeric=schemes)
        found = risk_of(*table_of(original, schemes, parts=read._published.parts), d, shown)
    output.show(found)


def estimate(
    release: str,
    *,
    column: Columns = None,
    quantile: list[float] | None = None,
    cdf: list[float] | None = None,
    other: str | None = None,
    group: Several = None,
    weights: str | None = None,
    regress: Several = None,
    confidence_level: float = 0.95,
    target: Target = "population",
    workers: int = 1,
    output: Output = OUTPUT,
) -> None:
    """Estimate mean, standard deviation, quantiles and more of the original from a masked file.

    For example: condmask estimate masked.parquet -c income --quantile .1 --quantile .9

    Parameters
    ----------
    release
        the masked file or folder
    column
        masked column (default: every one)
    quantile
        quantile, between 0 and 1 (default: the deciles)
    cdf
        share of values up to this one
    other
        correlation with this column
    group
        mean within each group of this column; of several, crossed
    weights
        mean weighted by this column, also within groups
    regress
        regression on this column of numbers, of yes and no, or of categories
    confidence_level
        of intervals
    target
        what intervals cover: the value of the population (default), or that of the original file
        itself
    workers
        number of threads
    """
    from condmask.errors import Refusals
    from condmask.inference.interval import Interval
    from condmask.publish.release import masked_column

    read = cm.read_release(release, workers=workers)
    options: dict[str, Any] = {"confidence_level": confidence_level, "target": target}
    found = dict[str, dict[str, Any]]()
    texts = list[str]()
    refusals = Refusals()
    for name in [masked_column(read.schemes, name) for name in column or read.schemes]:
        one = read[name]
        asked = () if quantile is None else (quantile,)
        calls = {"summary": partial(one.summary, *asked, points=cdf or ())}
        if other not in (None, name):
            calls["correlation"] = partial(one.correlation_interval, other)
        if group is not None:
            calls["groups"] = partial(one.group_means, group, weights=weights)
        if weights is not None:
            calls["weighted_mean"] = partial(one.weighted_mean, weights)
        if regress is not None:
            calls["regression"] = partial(one.regress, regress)
        for what, call in calls.items():
            with refusals.collected():
                each = call(**options)
                texts.append(f"{name}: {each}")
                found.setdefault(name, {})[what] = (
                    each._asdict() if isinstance(each, Interval) else each
                )
    refusals.raise_all()
    output.show(found, "\n\n".join(texts))


def report(
    release: str,
    path: str,
    *,
    original: str | None = None,
    d: list[float] | None = None,
    units: Several = None,
    match: str | None = None,
    force: bool = False,
    workers: int = 1,
    csv: FileOptions = CSV,
    output: Output = OUTPUT,
) -> None:
    """Write a report of a release: one to be signed before it is published, or one for its
    readers.

    For example: condmask report masked.parquet report.html --original people.parquet --units
    income=euros

    Parameters
    ----------
    release
        the masked file or folder
    path
        the report to write, in HTML
    original
        the original data, for an internal report; a public one uses the release alone
    d
        report how many values attackers guess closer than this, in units of the data
    units
        NAME=UNIT: what a masked column is counted in, for figures and axes
    match
        unmasked column with another value in each record, by which rows of original and release
        are matched; without it, a report of a shuffled release compares no rows
    force
        replace the report if it exists
    workers
        number of threads
    """
    cm.report(
        release,
        path,
        original=original,
        d=d,
        csv=csv.format(),
        force=force,
        workers=workers,
        units=pairs(units, str, str),
        match=match,
    )
    kind = "public" if original is None else "internal"
    warning = "" if original is None else ": do not publish it"
    output.show({"report": path, "kind": kind}, f"{kind} report in {path}{warning}")


def info(release: str, *, output: Output = OUTPUT) -> None:
    """Show what a masked file holds, and how it was masked.

    For example: condmask info masked.parquet

    Parameters
    ----------
    release
        the masked file or folder
    """
    read = cm.read_release(release)
    names = read._source.names
    clear = ", ".join(name for name in names if name not in read.schemes)
    parts = f" in {len(read.parts)} parts" if len(read.parts) > 1 else ""
    lines = [f"{read.records:,} records{parts}, {len(names)} columns", *listing(read.schemes)]
    output.show(read, "\n".join([*lines, f"not masked: {clear}"] if clear else lines))


def simulate(
    study: str,
    *,
    checkpoint: str | None = None,
    out: str | None = None,
    plot: str | None = None,
    workers: int = 1,
    output: Output = OUTPUT,
) -> None:
    """Run a Monte Carlo study: bias, RMSE and risk of masking schemes.

    For example: condmask simulate study.toml --out study.npz

    Parameters
    ----------
    study
        the study, a TOML file
    checkpoint
        save progress here, and resume from it
    out
        save the result in this file
    plot
        draw bias and RMSE in this file
    workers
        number of threads
    """
    from condmask import _checks
    from condmask.studies.simulate import read_study

    for path, name in ((out, "out"), (plot, "plot")):  # a long study is not lost to a wrong path
        if path is not None:
            _checks.writable(path, name)
    described = read_study(study)
    result = cm.simulate(**described, workers=workers, progress=True, checkpoint=checkpoint)
    output.show(result)
    if out is not None:
        result.save(out)
    if plot is not None:
        result.plot(plot)
    if result.replications < described["replications"]:
        raise KeyboardInterrupt


def demo(*, out: str | None = None, people: str | None = None, output: Output = OUTPUT) -> None:
    """See it work: mask weekly earnings of a survey, and estimate from the masked file.

    For example: condmask demo --people people.parquet

    Parameters
    ----------
    out
        keep the masked file under this name
    people
        only write the file of the other examples: 20,000 invented people
    """
    from condmask import demo as shown

    if people is not None:
        records = shown.write_people(people)
        output.show({"n": records}, f"{people}: {records:,} invented people")
    else:
        output.show(shown.run(out))


COMMANDS = (plan, audit, mask, risk, estimate, report, info, simulate, demo)
