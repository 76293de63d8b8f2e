"""``condmask run``: a release and its reports, made from a recipe."""

import argparse
from typing import Any

from condmask.cli.arguments import add_again, add_files, add_running, command, usage, workers
from condmask.cli.output import entries, listing, progress, to_json


def add(commands: Any) -> None:
    text = "Mask a file and write its reports, with every choice in a recipe."
    new = command(commands, "run", run, text, "condmask run recipe.toml")
    files = add_files(new)
    files.add_argument(
        "recipe", metavar="IN", help="the recipe, a TOML file with every choice of the release"
    )
    files.add_argument("--force", action="store_true", help="replace files that exist")
    release = new.add_argument_group("the release")
    release.add_argument(
        "--dry-run", action="store_true", help="check and audit everything, but write nothing"
    )
    add_again(release)
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    with usage():
        threads = workers(args)
    from condmask.recipes.run import run_recipe

    with progress() as report:
        result = run_recipe(
            args.recipe, force=args.force, workers=threads, progress=report, dry_run=args.dry_run,
            again=args.again,
        )  # fmt: skip
    reports = [str(path) for path in result.reports]
    if args.json:
        target = None if args.dry_run else str(result.target)
        return to_json({"target": target, "schemes": entries(result.schemes), "reports": reports})
    if args.dry_run:
        return "\n".join([*listing(result.schemes), "nothing was written"])
    lines = [f"masked values in {result.target}", *listing(result.schemes)]
    return "\n".join([*lines, *(f"report in {path}" for path in reports)])
