"""``condmask info``: the schemes in a masked file."""

import argparse
from typing import Any

from condmask.cli.arguments import command
from condmask.cli.output import entries, listing, to_json


def add(commands: Any) -> None:
    show = command(commands, "info", run, "Show the schemes stored in a masked file.")
    show.add_argument("file", metavar="OUT", help="masked file")


def run(args: argparse.Namespace) -> str:
    from condmask.files.reading import read_schemes

    schemes = read_schemes(args.file)
    return to_json(entries(schemes)) if args.json else "\n".join(listing(schemes))
