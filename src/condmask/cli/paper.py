"""``condmask paper``: the paper's tables beside ours."""

import argparse
from pathlib import Path
from typing import Any

from condmask.cli.arguments import add_running, command, typed, usage, workers
from condmask.cli.output import to_json
from condmask.errors import optional
from condmask.schemes.parameters import whole


def add(commands: Any) -> None:
    text = "Repeat the simulations of the paper's Sections 3 and 4, and print its tables beside ours."
    new = command(commands, "paper", run, text, "condmask paper --replications 20")
    study = new.add_argument_group("the study")
    study.add_argument(
        "--replications",
        type=typed(whole),
        default=1000,
        metavar="S",
        help="replications for each n (default 1000)",
    )
    study.add_argument("--out", metavar="FOLDER", help="write the tables as CSV and the figure as PNG")
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        threads = workers(args)
        _checks.whole(args.replications, "replications", least=10)
    from condmask.studies import paper

    if args.out is not None:  # both before the work is done
        with optional("--out", "plot"):
            import matplotlib.figure  # noqa: F401

        Path(args.out).mkdir(parents=True, exist_ok=True)
    result = paper.run(args.replications, workers=threads, progress=True)
    if args.out is not None:
        paper.write(result, Path(args.out))
    if not args.json:
        return paper.show(result)
    return to_json([{**line.cell, "ours": line.ours, "se": line.se, "z": line.z} for line in result.lines])
