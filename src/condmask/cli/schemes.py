"""The options that describe a scheme, which several commands take."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from shlex import quote
from typing import TYPE_CHECKING, Any

from condmask.cli.arguments import typed
from condmask.errors import ArgumentError
from condmask.schemes.parameters import PARAMETERS, Parameter, option_of

if TYPE_CHECKING:
    from condmask.disclosure.audit_result import Audit
    from condmask.files.csv_text import CsvFormat
    from condmask.schemes.conditional import ConditionalMasking

CSV = ("delimiter", "decimal", "encoding", "na")
FILENAME = "__filename"  # of `files.parts`, which would be slow to import


def add_scheme(
    parser: argparse.ArgumentParser, *, required: bool = True, several: bool = True, text: str | None = None
) -> None:
    """The column, or columns, and how each is masked."""
    scheme = parser.add_argument_group("how columns are masked (the scheme)", text)
    more = " (repeat for more)" if several else ""
    scheme.add_argument("-c", "--column", action="append", required=True, help=f"column to mask{more}")
    for name in PARAMETERS:
        add_parameter(scheme, name, required=required, several=several)


def add_parameter(group: Any, name: str, *, required: bool = False, several: bool = False) -> None:
    """The option of a parameter, of one column or of several."""
    parameter = PARAMETERS[name]
    text = parameter.help.replace("%", "%%")
    if parameter.read is bool:
        group.add_argument(option_of(name), action="store_true", default=None, help=text)
        return
    if several and parameter.by_column:
        text += "; none for columns without it" if parameter.default is None else ""
        text += " (once, or once per column)"
    text += " (repeat for more)" if parameter.several else ""
    group.add_argument(
        option_of(name), type=typed(parameter.read), metavar=parameter.metavar, help=text,
        action="append" if parameter.by_column or parameter.several else "store",
        required=required and parameter.default is MISSING, **_takes(parameter),
    )  # fmt: skip
    if name == "strata":
        group.add_argument(
            "--strata-by-file", dest=name, action="append_const", const=FILENAME,
            help="swap values only within each file of a folder",
        )  # fmt: skip
    if name == "missing":
        group.add_argument(
            "--no-missing", dest=name, action="append_const", const=None,
            help="no number, or no other one, stands for a missing value: do not ask about likely ones",
        )  # fmt: skip


def _takes(parameter: Parameter) -> dict[str, Any]:
    """The number of values of an option, if there are two, and its choices, if it has any."""
    pair = {"nargs": len(parameter.metavar)} if isinstance(parameter.metavar, tuple) else {}
    return pair | ({"choices": parameter.choices} if parameter.choices else {})


def add_csv(parser: argparse.ArgumentParser, of: str = "IN") -> None:
    """The options on how a CSV file is written."""
    csv = parser.add_argument_group("CSV files", f"How {of} is written, if that is not clear from its text.")
    csv.add_argument("--delimiter", metavar="CHARACTER", help="character between fields, \\t for a tab")
    csv.add_argument("--decimal", metavar="MARK", choices=(".", ","), help="decimal mark: . or ,")
    csv.add_argument("--encoding", metavar="NAME", help="latin-1, cp1252, utf-16, ... (default utf-8)")
    csv.add_argument(
        "--na", action="append", default=[], metavar="WORD",
        help="field that stands for a missing value, such as . (repeat for more)",
    )  # fmt: skip


def given_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of a scheme given on the command line, in their order."""
    values = {name: getattr(args, name) for name in PARAMETERS}
    return {name: value for name, value in values.items() if value is not None}


def csv_of(args: argparse.Namespace) -> "CsvFormat | None":
    """How a CSV file is written, None if no option says so."""
    from condmask.files.csv_text import CsvFormat

    delimiter = "\t" if args.delimiter == "\\t" else args.delimiter
    csv = CsvFormat(delimiter=delimiter, decimal=args.decimal, encoding=args.encoding, na=tuple(args.na))
    return None if csv == CsvFormat() else csv


def schemes_of(args: argparse.Namespace) -> "dict[str, ConditionalMasking]":
    """The scheme of each column to mask."""
    from condmask.schemes.conditional import ConditionalMasking
    from condmask.strata import not_masked

    columns, given = args.column, given_parameters(args)
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise ArgumentError(
            f"column must be named once, got {min(twice)!r} {columns.count(min(twice))} times"
        )
    not_masked(args.strata, columns)
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
    """The commands that mask with the proposals of an audit, with all other options as given."""
    return [
        mask_command(args, proposal.scheme, source, target, ["--round"] if proposal.round else [])
        for proposal in audit.proposals
    ]


def mask_command(
    args: argparse.Namespace, by_column: Mapping[str, Any], source: str, target: str, more: Sequence[str]
) -> str:
    """The command that masks columns with these schemes and reads the file as this one does."""
    words = ["condmask", "mask", source, target, *_words("--column", list(by_column))]
    schemes = list(by_column.values())
    for name, parameter in PARAMETERS.items():
        if name == "decimals" or parameter.mapping not in (None, schemes[0].reverse_mapping):
            continue  # the step says how many decimals there are
        words += _scheme_words(name, parameter, [getattr(scheme, name) for scheme in schemes])
    for name in CSV:
        words += _words(option_of(name), getattr(args, name) or [])
    return " ".join(map(quote, [*words, *more]))


def _scheme_words(name: str, parameter: Parameter, values: list[Any]) -> list[str]:
    """An option of the schemes of all columns; nothing if all have its default."""
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
    """Options of strata; --strata-by-file for files."""
    pairs = zip(words[::2], words[1::2], strict=True)
    return [word for pair in pairs for word in (["--strata-by-file"] if pair[1] == FILENAME else pair)]


def _end(value: float | None) -> str:
    return "none" if value is None else f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _words(option: str, value: Any) -> list[str]:
    """An option, repeated for each of its values."""
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [word for value in values for word in (option, "none" if value is None else str(value))]


def _for_each(values: list[Any], name: str, columns: int) -> list[Any]:
    if len(values) not in (1, columns):
        raise ArgumentError(
            f"{name} must be given once or once per column, got {len(values)} for {columns} columns"
        )
    return values * columns if len(values) == 1 else values
