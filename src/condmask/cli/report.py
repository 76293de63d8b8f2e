"""``condmask report``: one HTML file about a release, for whoever signs it or for everybody."""

import argparse
from typing import Any

from condmask.cli.arguments import (
    ORIGINAL,
    UsageError,
    add_release,
    add_running,
    command,
    typed,
    usage,
    workers,
)
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, csv_of
from condmask.errors import ArgumentError
from condmask.schemes.parameters import number


def add(commands: Any) -> None:
    new = command(
        commands,
        "report",
        run,
        "Write a report of a release: one to be signed before it is published, or one for its readers.",
        "condmask report masked.parquet report.html --original people.parquet --units income=euros",
    )
    files = add_release(new, "release")
    files.add_argument("path", metavar="OUT", help="the report to write, in HTML")
    files.add_argument("--original", dest="source", metavar="FILE", help=f"{ORIGINAL}; not with --public")
    files.add_argument("--force", action="store_true", help="replace OUT if it exists")
    content = new.add_argument_group("the report")
    content.add_argument(
        "--public",
        action="store_true",
        help="for everybody: use the release alone, and nothing of the original",
    )
    content.add_argument(
        "--within", type=typed(number), action="append", metavar="D",
        help="report how many values attackers guess closer than D, in units of the data "
        "(repeat for more; default sigma/4, sigma/2, sigma)",
    )  # fmt: skip
    content.add_argument(
        "--units",
        type=typed(_unit),
        action="append",
        default=[],
        metavar="NAME=UNIT",
        help="what a masked column is counted in, for figures and axes (repeat for more)",
    )
    content.add_argument(
        "--thorough", action="store_true", help="also train attackers on releases of half of the file"
    )
    add_csv(new, "--original")
    add_running(new, workers=True)


def _unit(text: str) -> tuple[str, str]:
    """A column and its unit; names may hold equals signs."""
    name, equals, unit = text.rpartition("=")
    if not equals or not name or not unit:
        raise ArgumentError(f"must be NAME=UNIT, got {text!r}")
    return name, unit


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        threads, csv = workers(args), csv_of(args)
        if args.public == (args.source is not None):
            wrong = "left out with --public" if args.public else "given, or --public, which does without it"
            raise UsageError(f"--original must be {wrong}")
        if args.within is not None:
            _checks.distances(args.within, "--within")
    from condmask.reports.report import report

    report(
        args.source, args.release, args.path,
        public=args.public, d=args.within, csv=csv, force=args.force, workers=threads,
        thorough=args.thorough, units=dict(args.units),
    )  # fmt: skip
    kind = "public" if args.public else "internal"
    if args.json:
        return to_json({"report": args.path, "kind": kind})
    return f"{kind} report in {args.path}" + ("" if args.public else ": do not publish it")
