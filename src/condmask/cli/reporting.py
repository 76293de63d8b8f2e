"""The command ``condmask report``."""

import condmask as cm
from condmask.cli.options import CSV, OUTPUT, FileOptions, Output, Several, pairs


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
    """Write a report of a release: an internal one for the publisher, or a public one for readers.

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
        report the share of values that attackers guess closer than this, in units of the data
    units
        NAME=UNIT: the unit of a masked column, shown with figures and on axes
    match
        unmasked column with a different value in each record, by which rows of original and
        release are matched; without it, a report of a shuffled release compares no rows
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
        units=pairs(units, "--units", str, str),
        match=match,
    )
    kind = "public" if original is None else "internal"
    warning = "" if original is None else ": do not publish it"
    output.show({"report": path, "kind": kind}, f"{kind} report in {path}{warning}")
