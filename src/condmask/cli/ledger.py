"""``condmask ledger``: list the releases that were entered, or remove one."""

import argparse
from typing import Any

from condmask.cli.arguments import add_ledger, add_running, command, typed
from condmask.cli.output import to_json
from condmask.schemes.parameters import whole


def add(commands: Any) -> None:
    text = "List earlier releases, as the ledger has them: no record should be released twice."
    new = command(commands, "ledger", run, text, "condmask ledger")
    ledger = new.add_argument_group("the ledger")
    add_ledger(ledger)
    ledger.add_argument(
        "--forget", type=typed(whole), metavar="N", help="remove release N, if it was given to nobody"
    )
    add_running(new)


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
