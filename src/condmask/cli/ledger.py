"""``condmask ledger``: the releases that were entered, and one that nobody has got taken out."""

import argparse
from typing import Any

from condmask.cli.arguments import add_ledger, command
from condmask.cli.output import to_json


def add(commands: Any) -> None:
    new = command(commands, "ledger", run, "List the releases that were entered in the ledger.")
    add_ledger(new)
    new.add_argument(
        "--forget", type=int, metavar="N", help="take out release N, of which nobody has got a copy"
    )


def run(args: argparse.Namespace) -> str:
    from condmask.releases.ledger import ledger_of

    ledger = ledger_of(args.ledger)
    assert ledger is not None
    if args.forget is not None:
        entry = ledger.forget(args.forget)
        return to_json({"forgotten": args.forget}) if args.json else f"forgotten: {entry.named}"
    content = ledger.content()
    entries = {} if content is None else content.entries
    if args.json:
        releases = [
            {"number": number, "target": entry.target, "time": entry.time, "records": entry.sketch.records,
             "schemes": entry.schemes}
            for number, entry in entries.items()
        ]  # fmt: skip
        return to_json({"ledger": str(ledger.path), "releases": releases})
    lines = [
        f"{number}  {entry.named}, {entry.sketch.records:,} records, {', '.join(entry.schemes)}"
        for number, entry in entries.items()
    ]
    number = f"{len(entries)} release{'' if len(entries) == 1 else 's'}"
    return "\n".join([*lines, f"{number} in {ledger.path}"])
