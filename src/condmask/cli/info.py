"""``condmask info``: what a masked file holds and how it was masked."""

import argparse
from typing import Any

from condmask.cli.arguments import command
from condmask.cli.output import entries, listing, to_json


def add(commands: Any) -> None:
    show = command(commands, "info", run, "Show rows, columns and schemes of a masked file.")
    show.add_argument("file", metavar="OUT", help="masked file")


def run(args: argparse.Namespace) -> str:
    from condmask.files.reading import describe

    rows, columns, schemes = describe(args.file)
    if args.json:
        return to_json({"rows": rows, "columns": columns, "schemes": entries(schemes)})
    clear = ", ".join(name for name in columns if name not in schemes)
    lines = [f"{rows:,} rows, {len(columns)} columns, {len(schemes)} masked", *listing(schemes)]
    return "\n".join([*lines, *([f"as they were: {clear}"] if clear else [])])
