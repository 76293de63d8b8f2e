"""The options that describe a scheme, which several commands take."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from shlex import quote
from typing import TYPE_CHECKING, Any

from condmask.cli.streams import word
from condmask.errors import ArgumentError
from condmask.schemes.parameters import PARAMETERS, Parameter, option_of

if TYPE_CHECKING:
    from condmask.disclosure.audit_result import Audit
    from condmask.files.csv_format import CsvFormat
    from condmask.schemes.conditional import ConditionalMasking

CSV = ("delimiter", "decimal", "encoding", "na")
FILENAME = "__filename"  # of `files.formats`, which would be slow to import


def add_scheme(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The columns, and how each is masked."""
    parser.add_argument(
        "-c", "--column", action="append", required=True, help="column to mask (repeat for more)"
    )
    for name in PARAMETERS:
        add_parameter(parser, name, required=required)


def add_parameter(parser: argparse.ArgumentParser, name: str, *, required: bool = False) -> None:
    """The option of a parameter."""
    parameter = PARAMETERS[name]
    text = parameter.help.replace("%", "%%")
    if parameter.read is bool:
        parser.add_argument(option_of(name), action="store_true", default=None, help=text)
        return
    text += ": once, or once per column" if parameter.by_column else ""
    text += " (repeat for more)" if parameter.several else ""
    parser.add_argument(
        option_of(name), type=parameter.read, metavar=parameter.metavar, help=text,
        action="append" if parameter.by_column or parameter.several else "store",
        required=required and parameter.default is MISSING, **_takes(parameter),
    )  # fmt: skip
    if name == "strata":
        parser.add_argument(
            "--strata-by-file", dest=name, action="append_const", const=FILENAME,
            help="draw donors within each file of a folder",
        )  # fmt: skip
    if name == "missing":
        parser.add_argument(
            "--no-missing", dest=name, action="append_const", const=None,
            help="no number, or no other one, stands for a missing value: do not ask",
        )  # fmt: skip


def _takes(parameter: Parameter) -> dict[str, Any]:
    """How many values an option takes, where these are several."""
    return {"nargs": len(parameter.metavar)} if isinstance(parameter.metavar, tuple) else {}


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


def given_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of a scheme that stand on the command line, in their order."""
    values = {name: getattr(args, name) for name in PARAMETERS}
    return {name: value for name, value in values.items() if value is not None}


def csv_of(args: argparse.Namespace) -> "CsvFormat | None":
    """What was said of a CSV file, None where nothing was."""
    from condmask.files.csv_format import CsvFormat

    delimiter = "\t" if args.delimiter == "\\t" else args.delimiter
    csv = CsvFormat(delimiter=delimiter, decimal=args.decimal, encoding=args.encoding, na=tuple(args.na))
    return None if csv == CsvFormat() else csv


def schemes_of(args: argparse.Namespace) -> "dict[str, ConditionalMasking]":
    """The scheme of each column to mask."""
    from condmask import _checks
    from condmask.schemes.conditional import ConditionalMasking
    from condmask.strata import not_masked

    columns, given = args.column, given_parameters(args)
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise ArgumentError(
            f"column must be named once, got {min(twice)!r} {columns.count(min(twice))} times"
        )
    not_masked(_checks.strata(args.strata), columns)
    by_column = {
        name: _for_each(given.pop(name), name, len(columns))
        for name, parameter in PARAMETERS.items()
        if parameter.by_column and name in given
    }
    return {
        column: ConditionalMasking(**given, **{name: values[k] for name, values in by_column.items()})
        for k, column in enumerate(columns)
    }


def commands_of(args: argparse.Namespace, audit: "Audit", source: str, target: str) -> list[str]:
    """The commands that mask with the proposals of an audit, all else as it was said."""
    return [
        mask_command(args, proposal.scheme, source, target, ["--round"] if proposal.round else [])
        for proposal in audit.proposals
    ]


def mask_command(
    args: argparse.Namespace, by_column: Mapping[str, Any], source: str, target: str, more: Sequence[str]
) -> str:
    """The command that masks columns with these schemes, and reads the file as this one does."""
    words = ["condmask", "mask", word(source), word(target), *_words("--column", list(by_column))]
    words += ["--scheme", args.scheme_file] if word(target) == "-" else []
    schemes = list(by_column.values())
    for name, parameter in PARAMETERS.items():
        if name == "decimals" or parameter.mapping not in (None, schemes[0].reverse_mapping):
            continue  # the step says how many decimals there are
        words += _scheme_words(name, parameter, [getattr(scheme, name) for scheme in schemes])
    for name in CSV:
        value = getattr(args, name)
        words += ["--na", *value] if name == "na" and value else _words(option_of(name), value or [])
    return " ".join(map(quote, [*words, *more]))


def _scheme_words(name: str, parameter: Parameter, values: list[Any]) -> list[str]:
    """An option of the schemes of all columns; nothing where they have what they have without it."""
    if all(value == parameter.default for value in values):
        return []
    if name == "missing":
        from condmask.missing_codes import options

        return options(values[0])
    if parameter.read is bool:
        return [option_of(name)]
    if isinstance(parameter.metavar, tuple):
        open_ends = (None,) * len(parameter.metavar)
        sets = [value or open_ends for value in (values if len(set(values)) > 1 else values[:1])]
        return [word for ends in sets for word in (option_of(name), *map(_end, ends))]
    words = _words(option_of(name), values if len(set(values)) > 1 else values[0])
    return words if name != "strata" else _by_file(words)


def _by_file(words: list[str]) -> list[str]:
    """Options of strata, with the short one for those that are files."""
    pairs = zip(words[::2], words[1::2], strict=True)
    return [word for pair in pairs for word in (["--strata-by-file"] if pair[1] == FILENAME else pair)]


def _end(value: float | None) -> str:
    return "none" if value is None else f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _words(option: str, value: Any) -> list[str]:
    """An option once for each of its values."""
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [word for value in values for word in (option, str(value))]


def _for_each(values: list[Any], name: str, columns: int) -> list[Any]:
    if len(values) not in (1, columns):
        raise ArgumentError(
            f"{name} must be given once or once per column, got {len(values)} for {columns} columns"
        )
    return values * columns if len(values) == 1 else values
