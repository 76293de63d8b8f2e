"""``condmask report``: one HTML file about a release, for the publisher or for everybody."""

import argparse
from typing import Any

from condmask.cli.arguments import add_workers, command, usage, workers
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, csv_of
from condmask.cli.streams import IN, add_release


def add(commands: Any) -> None:
    new = command(
        commands,
        "report",
        run,
        "Write a report of a release: scheme, audit, risk, utility, and what is not promised.",
    )
    new.add_argument("source", metavar="IN", help=f"{IN}; not opened with --public")
    add_release(new, "release")
    new.add_argument("path", metavar="REPORT.html", help="file to write")
    new.add_argument("--public", action="store_true", help="say only what the release itself tells")
    new.add_argument(
        "--within", type=float, nargs="+", metavar="D",
        help="distances at which risks are told, in units of the data (default: sigma/4, sigma/2, sigma)",
    )  # fmt: skip
    new.add_argument(
        "--thorough", action="store_true", help="train attackers on releases of half of the file, too"
    )
    add_csv(new)
    new.add_argument("--force", action="store_true", help="replace REPORT.html where it exists")
    add_workers(new)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        threads, csv = workers(args), csv_of(args)
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
