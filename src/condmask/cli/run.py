"""``condmask run``: a release and its reports, as a plan file says."""

import argparse
from typing import Any

from condmask.cli.arguments import add_workers, command, usage, workers
from condmask.cli.output import entries, listing, progress, to_json


def add(commands: Any) -> None:
    new = command(commands, "run", run, "Mask a file and write its reports as a plan file says.")
    new.add_argument("plan", metavar="PLAN.toml", help="every choice of the release")
    new.add_argument("--dry-run", action="store_true", help="audit and check everything, write nothing")
    new.add_argument("--force", action="store_true", help="replace files that exist")
    add_workers(new)


def run(args: argparse.Namespace) -> str:
    with usage():
        threads = workers(args)
    from condmask.recipes.run import run_plan

    with progress() as shown:
        done = run_plan(
            args.plan, overwrite=args.force, workers=threads, progress=shown, dry_run=args.dry_run
        )
    reports = [str(each) for each in done.reports]
    if args.json:
        target = None if args.dry_run else str(done.target)
        return to_json({"target": target, "schemes": entries(done.schemes), "reports": reports})
    if args.dry_run:
        return "\n".join([*listing(done.schemes), "nothing was written"])
    lines = [f"masked values in {done.target}", *listing(done.schemes)]
    return "\n".join([*lines, *(f"report in {each}" for each in reports)])
