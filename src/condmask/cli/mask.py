"""``condmask mask``: the release and what is published with it."""

import argparse
from typing import TYPE_CHECKING, Any

from condmask.cli.arguments import add_workers, command, usage, workers
from condmask.cli.output import entries, listing, progress, to_json

if TYPE_CHECKING:
    from condmask.schemes.conditional import ConditionalMasking


def add(commands: Any) -> None:
    new = command(commands, "mask", run, "Mask columns of a file; the scheme is stored with the masked data.")
    new.add_argument("source", metavar="IN", help="file with the original data")
    new.add_argument("target", metavar="OUT", help="file to write")
    new.add_argument(
        "-c", "--column", action="append", required=True, help="column to mask (repeat for more)"
    )
    new.add_argument("--p", type=float, required=True, help="swap probability, 0 < p < 1")
    new.add_argument(
        "--sigma", type=float, action="append", required=True,
        help="s.d. of the noise, in units of the data: once, or once per column",
    )  # fmt: skip
    new.add_argument("--noise", default="normal", help="normal (default) or laplace")
    new.add_argument("--donors", default="sample", help="sample (default) or permutation")
    new.add_argument(
        "--decimals", type=int, action="append",
        help="decimal places of the data, where they are rounded: once, or once per column",
    )  # fmt: skip
    new.add_argument(
        "--step", type=_step, action="append",
        help="step of the data's grid, where it is no power of ten (0.05, 1/3): once, or once per column",
    )  # fmt: skip
    new.add_argument("--strata", metavar="COLUMN", help="draw donors within the groups of this column")
    new.add_argument("--omit-missing", action="store_true", help="leave missing values missing")
    new.add_argument("--force", action="store_true", help="replace OUT where it exists")
    add_workers(new)


def run(args: argparse.Namespace) -> str:
    with usage():
        schemes = _schemes(args)
        threads = workers(args)
    from condmask.files.release import mask_file

    with progress() as report:
        published = mask_file(
            args.source, args.target, schemes,
            strata=args.strata, nan_policy="omit" if args.omit_missing else "raise",
            overwrite=args.force, workers=threads, progress=report,
        )  # fmt: skip
    if args.json:
        return to_json({"target": args.target, "schemes": entries(published)})
    return "\n".join([f"masked values in {args.target}", *listing(published)])


def _schemes(args: argparse.Namespace) -> "dict[str, ConditionalMasking]":
    from condmask.schemes.conditional import ConditionalMasking

    columns = args.column
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise ValueError(f"column must be named once, got {min(twice)!r} {columns.count(min(twice))} times")
    if args.strata in columns:
        raise ValueError(f"strata must not be a column that is masked, got {args.strata!r}")
    sigmas = _for_each(args.sigma, "sigma", len(columns))
    decimals = _for_each(args.decimals or [None], "decimals", len(columns))
    steps = _for_each(args.step or [None], "step", len(columns))
    return {
        name: ConditionalMasking(
            args.p, sigma, noise=args.noise, donors=args.donors, decimals=places, step=step
        )
        for name, sigma, places, step in zip(columns, sigmas, decimals, steps, strict=True)
    }


def _step(text: str) -> float:
    """A number, or a fraction of two."""
    above, _, below = text.partition("/")
    return float(above) / float(below) if below else float(above)


def _for_each(values: list[Any], name: str, columns: int) -> list[Any]:
    if len(values) not in (1, columns):
        raise ValueError(
            f"{name} must be given once or once per column, got {len(values)} for {columns} columns"
        )
    return values * columns if len(values) == 1 else values
