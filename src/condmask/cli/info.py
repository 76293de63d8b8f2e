"""``condmask info``: what a masked file contains and how it was masked."""

import argparse
import contextlib
from typing import Any

from condmask.cli.arguments import add_release, add_running, command
from condmask.cli.output import entries, listing, to_json


def add(commands: Any) -> None:
    text = "Show the number of rows of a masked file, its columns, and how they were masked."
    new = command(commands, "info", run, text, "condmask info masked.parquet")
    add_release(new)
    add_running(new)


def run(args: argparse.Namespace) -> str:
    from condmask.files.parts import FILENAME
    from condmask.files.read import opened
    from condmask.releases.release import read_release
    from condmask.strata import names_of

    release = read_release(args.file)
    names = opened(args.file).names
    rows, columns, schemes = release.records, [name for name in names if name != FILENAME], release.schemes
    ratios = _ratios(release)
    if args.json:
        facts = {"rows": rows, "columns": columns, "schemes": entries(schemes)}
        return to_json(facts | ({"N": ratios} if ratios else {}))
    clear = ", ".join(name for name in columns if name not in schemes)
    lines = [f"{rows:,} rows, {len(columns)} columns, {len(schemes)} masked", *listing(schemes)]
    lines += [
        f"for statistics with other columns, {name} varies {ratio:.2f} times as much as without noise"
        for name, ratio in ratios.items()
    ]
    strata = [name for name in names_of(next(iter(schemes.values())).strata) if name != FILENAME]
    if strata:
        lines.append(f"quantiles are available by {' and '.join(strata)}, too: condmask estimate --group")
    return "\n".join([*lines, *([f"not masked: {clear}"] if clear else [])])


def _ratios(release: Any) -> dict[str, float]:
    """N of the columns released by reverse mapping, the largest over their strata; small ones have none."""
    ratios = {}
    for name in (name for name, scheme in release.schemes.items() if scheme.reverse_mapping):
        with contextlib.suppress(ValueError):
            ratios[name] = release[name].N
    return ratios
