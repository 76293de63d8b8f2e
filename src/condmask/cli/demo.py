"""``condmask demo``: weekly earnings, masked and estimated."""

import argparse
from typing import Any

from condmask.cli.arguments import add_running, command, typed, usage
from condmask.cli.output import to_json
from condmask.errors import ArgumentError
from condmask.schemes.parameters import whole


def add(commands: Any) -> None:
    text = "See it work: mask weekly earnings of a survey, and estimate from the masked file."
    new = command(
        commands, "demo", run, text, "condmask demo",
        "condmask demo --people people.parquet   # the file of all other examples",
    )  # fmt: skip
    shown = new.add_argument_group("the demonstration")
    shown.add_argument(
        "--rows", type=typed(whole), metavar="N", help="draw N records of the survey, with replacement"
    )
    shown.add_argument("--out", metavar="FILE", help="keep the masked file under this name")
    shown.add_argument(
        "--people", metavar="FILE", help="only write the file of the examples: 20,000 invented people"
    )
    add_running(new)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        if args.rows is not None:
            _checks.whole(args.rows, "rows", least=50)
        if args.people is not None and (args.rows is not None or args.out is not None):
            raise ArgumentError("--people must be used without --rows and --out")
    from condmask import demo

    if args.people is not None:
        records = demo.write_people(args.people)
        return to_json({"n": records}) if args.json else f"{args.people}: {records:,} invented people"
    result = demo.run(args.rows, args.out)
    if not args.json:
        return demo.show(result)
    parts = ("name", "original", "estimated", "low", "high")
    rows = [dict(zip(parts, row, strict=True)) for row in result.rows]
    return to_json({
        "n": result.n, "scheme": result.scheme.to_dict(), "rows": rows,
        "near": dict(zip(("masked", "any_other"), result.near, strict=True)),
    })  # fmt: skip
