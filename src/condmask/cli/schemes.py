"""The options that describe a scheme, which several commands take."""

import argparse
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask.disclosure.audit_result import Audit
    from condmask.files.csv_format import CsvFormat
    from condmask.schemes.conditional import ConditionalMasking

PER_COLUMN = ("sigma", "step", "scale")
DEFAULTS = {"noise": "normal", "donors": "permutation", "small_strata": "refuse"}
UNCHANGED = (
    "strata", "small_strata", "missing", "missing_as_null", "delimiter", "decimal", "encoding", "na",
)  # fmt: skip


def add_scheme(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The columns, and how each is masked."""
    parser.add_argument(
        "-c", "--column", action="append", required=True, help="column to mask (repeat for more)"
    )
    parser.add_argument("--p", type=float, required=required, help="swap probability, 0 < p < 1")
    parser.add_argument(
        "--sigma", type=float, action="append", required=required,
        help="s.d. of the noise, in units of the data: once, or once per column",
    )  # fmt: skip
    parser.add_argument("--noise", default="normal", help="normal (default) or laplace")
    parser.add_argument("--donors", default="permutation", help="permutation (default) or sample")
    parser.add_argument(
        "--reverse-mapping", action="store_true",
        help="release the values of the data themselves, in another order that does not show who was swapped",
    )  # fmt: skip
    parser.add_argument(
        "--aggregate-ends", type=int, default=0, metavar="K",
        help="with --reverse-mapping: release the K smallest and largest values as their means (3 to 5)",
    )  # fmt: skip
    parser.add_argument(
        "--decimals", type=int, action="append",
        help="decimal places of the data, where they are rounded: once, or once per column",
    )  # fmt: skip
    parser.add_argument(
        "--step", type=step_of, action="append",
        help="step of the data's grid, where it is no power of ten (0.05, 1/3): once, or once per column",
    )  # fmt: skip
    parser.add_argument(
        "--scale", action="append",
        help="linear (default); with --reverse-mapping also log: noise in proportion, --sigma .3 some 30%%; "
        "once, or once per column",
    )  # fmt: skip
    parser.add_argument(
        "--strata", action="append", metavar="COLUMN",
        help="draw donors within the groups of this column (repeat to cross columns)",
    )  # fmt: skip
    parser.add_argument(
        "--small-strata", default="refuse", help="fewer than 10 records: refuse (default) or merge them"
    )
    parser.add_argument(
        "--missing", type=float, action="append", metavar="CODE",
        help="number that stands for a missing value (-8) and stays in its place (repeat for more)",
    )  # fmt: skip
    parser.add_argument(
        "--missing-as-null", action="store_true", help="release nulls where such numbers stand"
    )


def add_csv(parser: argparse.ArgumentParser) -> None:
    """How a CSV file is written."""
    parser.add_argument("--delimiter", help="CSV: the character between fields, \\t for a tab")
    parser.add_argument("--decimal", help="CSV: the decimal mark, . or ,")
    parser.add_argument("--encoding", help="CSV: latin-1, cp1252, utf-16, ... (default utf-8)")
    parser.add_argument(
        "--na",
        nargs="+",
        default=[],
        metavar="WORD",
        help="CSV: fields that mean a missing value (. '*')",
    )


def csv_of(args: argparse.Namespace) -> "CsvFormat | None":
    """What was said of a CSV file, None where nothing was."""
    from condmask.files.csv_format import CsvFormat

    delimiter = "\t" if args.delimiter == "\\t" else args.delimiter
    found = CsvFormat(delimiter=delimiter, decimal=args.decimal, encoding=args.encoding, na=tuple(args.na))
    return None if found == CsvFormat() else found


def schemes_of(args: argparse.Namespace) -> "dict[str, ConditionalMasking]":
    """The scheme of each column to mask."""
    from condmask import _checks
    from condmask.schemes.conditional import ConditionalMasking
    from condmask.strata import not_masked

    columns = args.column
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise ValueError(f"column must be named once, got {min(twice)!r} {columns.count(min(twice))} times")
    not_masked(_checks.strata(args.strata), columns)
    own = {
        "sigma": _for_each(args.sigma, "sigma", len(columns)),
        "decimals": _for_each(args.decimals or [None], "decimals", len(columns)),
        "step": _for_each(args.step or [None], "step", len(columns)),
        "scale": _for_each(args.scale or ["linear"], "scale", len(columns)),
    }
    return {
        name: ConditionalMasking(
            args.p,
            noise=args.noise,
            donors=args.donors,
            reverse_mapping=args.reverse_mapping,
            aggregate_ends=args.aggregate_ends,
            strata=args.strata,
            small_strata=args.small_strata,
            missing=args.missing or (),
            missing_as="null" if args.missing_as_null else "code",
            **{option: own[option][k] for option in own},
        )
        for k, name in enumerate(columns)
    }


def commands_of(args: argparse.Namespace, found: "Audit", source: str, target: str) -> list[str]:
    """The commands that mask with the proposals of an audit, all else as it was said."""
    made = []
    for proposal in found.proposals:
        own = list(proposal.scheme.values())
        options: dict[str, Any] = {"column": args.column, "p": args.p, "sigma": [each.sigma for each in own]}
        options |= {"noise": args.noise}
        if own[0].reverse_mapping:
            options |= {"reverse_mapping": True, "aggregate_ends": own[0].aggregate_ends}
            options |= {"scale": [each.scale for each in own]}
        else:
            options |= {"donors": own[0].donors, "step": [each.grid.step for each in own]}
        options |= {name: getattr(args, name) for name in UNCHANGED} | {"round": proposal.round}
        words = ["condmask", "mask", source, target]
        for name, value in options.items():
            words += _words(name, value)
        made.append(" ".join(map(quote, words)))
    return made


def _words(name: str, value: Any) -> list[str]:
    """An option as it is given; nothing where it is as without."""
    option = f"--{name.replace('_', '-')}"
    if value is None or value is False or value in ([], 0, DEFAULTS.get(name)):
        return []
    if value is True:
        return [option]
    if name == "na":
        return [option, *value]
    each = value if isinstance(value, list) else [value]
    each = each[:1] if name in PER_COLUMN and len(set(each)) == 1 else each
    if each == ["linear"]:
        return []
    return [word for one in each for word in (option, repr(one) if isinstance(one, float) else str(one))]


def step_of(text: str) -> float:
    """A number, or a fraction of two."""
    above, _, below = text.partition("/")
    return float(above) / float(below) if below else float(above)


def _for_each(values: list[Any], name: str, columns: int) -> list[Any]:
    if len(values) not in (1, columns):
        raise ValueError(
            f"{name} must be given once or once per column, got {len(values)} for {columns} columns"
        )
    return values * columns if len(values) == 1 else values
