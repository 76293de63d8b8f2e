"""``condmask report``: one HTML file about a release, for the publisher or for everybody."""

import argparse
from typing import Any

from condmask.cli.arguments import UsageError, add_running, command, typed, usage, workers
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, csv_of
from condmask.cli.streams import IN, add_files, add_release
from condmask.schemes.parameters import number


def add(commands: Any) -> None:
    new = command(
        commands,
        "report",
        run,
        "Write a report of a release: scheme, audit, risk, utility, and what is not promised.",
        "condmask report masked.csv report.html --original people.csv",
    )
    files = add_files(new)
    add_release(new, files, "release")
    files.add_argument("path", metavar="OUT", help="report to write, in HTML")
    files.add_argument("--original", dest="source", metavar="FILE", help=f"{IN}; unless --public")
    files.add_argument("--force", action="store_true", help="replace OUT where it exists")
    told = new.add_argument_group("the report")
    told.add_argument("--public", action="store_true", help="say only what the release itself tells")
    told.add_argument(
        "--within", type=typed(number), action="append", metavar="D",
        help="distance at which risks are told, in units of the data "
        "(repeat for more; default sigma/4, sigma/2, sigma)",
    )  # fmt: skip
    told.add_argument(
        "--thorough", action="store_true", help="train attackers on releases of half of the file, too"
    )
    add_csv(new, "--original")
    add_running(new, workers=True)


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
        public=args.public, d=args.within, csv=csv, overwrite=args.force, workers=threads,
        thorough=args.thorough,
    )  # fmt: skip
    kind = "public" if args.public else "internal"
    if args.json:
        return to_json({"report": args.path, "kind": kind})
    return f"{kind} report in {args.path}" + ("" if args.public else ": do not publish it")
