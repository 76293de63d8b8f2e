"""``condmask audit``: how well an attacker could tell which records were swapped, before a release."""

import argparse
from typing import Any

from condmask.cli.arguments import add_running, add_source, command, usage
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, add_scheme, commands_of, csv_of, schemes_of


def add(commands: Any) -> None:
    new = command(
        commands,
        "audit",
        run,
        "Check for how many records an attacker could tell whether they were swapped, why, and what helps.",
        "condmask audit people.parquet -c income --p 0.6 --sigma 500 --decimals 0",
    )
    add_source(new)
    add_scheme(new)
    new.add_argument_group("the audit").add_argument(
        "--thorough",
        action="store_true",
        help="also train an attacker on releases of half of the file; this takes up to a minute",
    )
    add_csv(new)
    add_running(new)


def run(args: argparse.Namespace) -> str:
    with usage():
        schemes, csv = schemes_of(args), csv_of(args)
    from condmask.releases.mask_file import audit_file

    audit = audit_file(args.file, schemes, csv=csv, thorough=args.thorough)
    if args.json:
        return to_json(audit.to_dict())
    return "\n".join([args.to_cli_terms(str(audit)), *commands_of(args, audit, args.file, "OUT")])
