"""``condmask info``: what a masked file holds and how it was masked."""

import argparse
import contextlib
from typing import Any

from condmask.cli.arguments import command
from condmask.cli.output import entries, listing, to_json


def add(commands: Any) -> None:
    new = command(commands, "info", run, "Show rows, columns and schemes of a masked file.")
    new.add_argument("file", metavar="OUT", help="masked file")


def run(args: argparse.Namespace) -> str:
    from condmask.files.read import describe

    rows, columns, schemes = describe(args.file)
    ratios = _ratios(args.file, schemes)
    if args.json:
        facts = {"rows": rows, "columns": columns, "schemes": entries(schemes)}
        return to_json(facts | ({"N": ratios} if ratios else {}))
    clear = ", ".join(name for name in columns if name not in schemes)
    lines = [f"{rows:,} rows, {len(columns)} columns, {len(schemes)} masked", *listing(schemes)]
    lines += [
        f"{name}, undone for statistics with other columns, varies {ratio:.2f} times as much as without noise"
        for name, ratio in ratios.items()
    ]
    return "\n".join([*lines, *([f"as they were: {clear}"] if clear else [])])


def _ratios(path: str, schemes: dict[str, Any]) -> dict[str, float]:
    """N of the columns released by reverse mapping, the largest of their strata; none of small ones."""
    from condmask.files.read import read_release

    ratios = {}
    for name in (name for name, scheme in schemes.items() if getattr(scheme, "reverse_mapping", False)):
        with contextlib.suppress(ValueError):
            ratios[name] = max(pool.N for pool in read_release(path, name).spreads().values())
    return ratios
