"""``condmask audit``: what an attacker could tell of the coins of a release, before there is one."""

import argparse
from typing import Any

from condmask.cli.arguments import command, usage
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, add_scheme, commands_of, csv_of, schemes_of


def add(commands: Any) -> None:
    new = command(
        commands,
        "audit",
        run,
        "Tell how many coins of a release an attacker would guess, why, and what helps.",
    )
    new.add_argument("file", metavar="IN", help="file with the original data")
    add_scheme(new)
    add_csv(new)


def run(args: argparse.Namespace) -> str:
    with usage():
        schemes, csv = schemes_of(args), csv_of(args)
    from condmask.releases.mask_file import audit_file

    found = audit_file(args.file, schemes, csv=csv)
    if args.json:
        return to_json(found.to_dict())
    return "\n".join([args.spoken(str(found)), *commands_of(args, found, args.file, "OUT")])
