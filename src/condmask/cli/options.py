"""The options of commands, from parameters and their types: cyclopts reads them from words or a
TOML file.

An option has the name of the parameter in Python, and is repeated for several values; ``none`` is
None.
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError
from cyclopts.config import Dict

import condmask as cm
from condmask.cli.text import UsageError, to_json

if TYPE_CHECKING:
    from condmask.missing_codes import Code

HELP = """\
Mask columns of a file, or estimate from a masked file. For example:

condmask demo --people people.parquet
condmask mask people.parquet masked.parquet -c income
condmask estimate masked.parquet

condmask COMMAND --help lists the options of a command; --options FILE.toml
reads them from a file. Messages may name an option as Python does:
nan_policy="omit" is --nan-policy omit, shuffle=True is --shuffle. The exit code
is 0 if all was done, 1 if something was refused or failed, 2 if the command was
wrong, 3 if a release was made, or tried, with a warning."""
SEVERAL = "An option takes one value; repeat it for several: -c income -c rent."


def _fraction(_: Any, tokens: Sequence[Any]) -> float:
    """A number, or a fraction of two."""
    return float(Fraction(tokens[0].value))


def _codes(words: Sequence[str]) -> "list[Code | None]":
    """Return the codes that words stand for: -8, 9990:9999, :-1, 9990: or none, which comes
    last."""
    return sorted(map(_code, words), key=lambda code: code is None)


def _code(word: str) -> "Code | None":
    """Return the code that a word stands for."""
    if word.strip().lower() in ("none", "null"):
        return None
    ends = word.split(":")
    try:
        numbers = [float(end) if end.strip() else None for end in ends]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    if len(numbers) == 2 and numbers != [None, None]:
        return numbers[0], numbers[1]
    raise UsageError(
        f"--missing must be a number (-8), a range (9990:9999, :-1, 9990:) or none, got {word!r}"
    )


def _missing(_: Any, tokens: Sequence[Any]) -> "list[Code | None]":
    """Return the codes of all words of the option, and of a TOML file."""
    return _codes([token.value for token in tokens])


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class _Options:
    """Options that belong together, each a parameter of one call."""

    def given(self) -> dict[str, Any]:
        """Those that were given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class PlanOptions(_Options):
    """What schemes to try have in common.

    Parameters
    ----------
    noise
        distribution of the noise (default normal)
    scale
        log: noise in proportion to the value, with --reverse-mapping alone (default linear)
    reverse_mapping
        release the original values in another order, so that no value shows which records were
        swapped
    donors
        whose values swapped records get: each other's, or for studies anyone's (default
        permutation)
    decimals
        decimal places of the data, if they are rounded
    step
        what the data are multiples of, if that is not a power of ten (0.05, 1/3)
    strata
        swap values only within the groups of this column; of several, crossed
    small_strata
        what to do about groups of fewer than 10 records (default refuse)
    missing
        number that stands for a missing value (-8), or range of them (9990:9999, :-1 for all up to
        -1), and stays where it is; none: there are no others
    missing_as
        how such numbers are released (default code)
    """

    noise: Literal["normal", "laplace"] | None = None
    scale: Literal["linear", "log"] | None = None
    reverse_mapping: Annotated[bool | None, Parameter(negative="--no-reverse-mapping")] = None
    donors: Literal["permutation", "sample"] | None = None
    decimals: int | None = None
    step: Annotated[float | None, Parameter(converter=_fraction)] = None
    strata: list[str] | None = None
    small_strata: Literal["refuse", "merge"] | None = None
    missing: Annotated[
        list[str] | None, Parameter(converter=_missing, allow_leading_hyphen=True)
    ] = None
    missing_as: Literal["code", "null"] | None = None


@dataclass(frozen=True, kw_only=True)
class SchemeOptions(PlanOptions):
    """How columns are masked; those that are masked otherwise than the rest have a table in a TOML
    file.

    Parameters
    ----------
    p
        swap probability: share of records that get the value of another, 0 < p < 1
    sigma
        standard deviation of the noise, in units of the data; with --scale log, .3 is some 30%
    aggregate_ends
        with --reverse-mapping: replace the K smallest values by their mean, and the K largest (3
        to 5); auto: as few as keep rare values from coming back to their records
    range
        public bounds of the values (0 100; none for an open end): refuse a release beyond them
    """

    p: float | None = None
    sigma: float | None = None
    aggregate_ends: int | Literal["auto"] | None = None
    range: tuple[float | None, float | None] | None = None
    columns: Annotated[str | None, Parameter(show=False)] = None

    def schemes(self, columns: Sequence[str] | None) -> dict[str, Any]:
        """The scheme of each column: of the options and its own table in the file."""
        shared = self.given()
        try:
            own = {
                name: dict(table)
                for name, table in json.loads(shared.pop("columns", "{}")).items()
            }
        except (ValueError, TypeError, AttributeError):
            raise UsageError(
                "columns must be tables in a TOML file; --column names a column"
            ) from None
        names = list(dict.fromkeys([*(columns or ()), *own]))
        if not names:
            raise UsageError("column must be given")
        found = {
            name: {"scheme": "ConditionalMasking"} | shared | own.get(name, {}) for name in names
        }
        for name, values in found.items():
            if "missing" in own.get(name, {}):
                values["missing"] = _codes(_words_of_codes(values["missing"]))
            if missing := {"p", "sigma"} - values.keys():
                raise UsageError(f"{min(missing)} must be given for column {name!r}")
        return {name: cm.ConditionalMasking.from_dict(values) for name, values in found.items()}


@dataclass(frozen=True, kw_only=True)
class FileOptions(_Options):
    r"""How a CSV file is written, if that is not clear from its text.

    Parameters
    ----------
    delimiter
        character between fields of a CSV file, \t for a tab
    decimal
        decimal mark of a CSV file
    encoding
        of a CSV file: latin-1, cp1252, utf-16, ... (default utf-8)
    na
        field of a CSV file that stands for a missing value, such as .
    """

    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None
    na: list[str] | None = None

    def format(self) -> "cm.CsvFormat | None":
        """The format; None if no option says so."""
        given = self.given()
        if "delimiter" in given:
            given["delimiter"] = given["delimiter"].replace(r"\t", "\t")
        return cm.CsvFormat(**given) if given else None


@dataclass(frozen=True, kw_only=True)
class Output(_Options):
    """What every command takes.

    Parameters
    ----------
    json
        print the result as JSON
    options
        TOML file of options, by the names they have here; what is typed counts more
    verbose
        report on standard error what is being done
    """

    json: bool = False
    options: str | None = None
    verbose: bool = False

    def show(self, result: Any, text: str | None = None) -> None:
        """Print a result as JSON, or as text."""
        print(to_json(result) if self.json else str(result) if text is None else text)


def parsed(commands: Sequence[Callable[..., Any]], words: Sequence[str]) -> Callable[[], Any]:
    """The command and the options that these words are."""
    app = App(
        name="condmask",
        help=HELP,
        help_format="plaintext",
        version=f"condmask {cm.__version__}",
        config=_from_file,
        default_parameter=Parameter(negative=(), show_default=False),
    )
    for place, function in enumerate(commands):
        app.command(function, sort_key=place)
    try:
        command, bound, _ = app.parse_args(words, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        raise UsageError(
            f"{error} {SEVERAL}" if isinstance(error, UnusedCliTokensError) else error
        ) from None
    if bound.kwargs.get("output", Output()).verbose:
        logging.basicConfig(format="%(relativeCreated)7.0f ms  %(message)s")
        logging.getLogger("condmask").setLevel(logging.INFO)
    return partial(command, *bound.args, **bound.kwargs)


def pairs(
    values: Sequence[str] | None, key: Callable[[str], Any], value: Callable[[str], Any]
) -> Any:
    """NAME=VALUE, several times, as a dict; None for none."""
    if values is None:
        return None
    parts = [text.rpartition("=") for text in values]
    try:
        return {key(left): value(right) for left, _, right in parts}
    except ValueError:
        raise UsageError(
            f"a value must be of the form NAME=VALUE, got {' '.join(values)}"
        ) from None


def _from_file(app: App, commands: tuple[str, ...], arguments: Any) -> None:
    """Take from the TOML file what was not typed; tables as the words that would say the same."""
    from condmask.files.tables import read_toml

    for argument in arguments:
        if argument.name == "--options" and argument.tokens:
            path = argument.tokens[0].value
            entries = {name: _word(name, value) for name, value in read_toml(Path(path)).items()}
            Dict(entries, source=path, use_commands_as_keys=False)(app, commands, arguments)


def _words_of_codes(value: Any) -> list[str]:
    """Return the words for codes in a TOML file: numbers, and ranges as pairs or as they are
    typed."""
    words = []
    for code in value if isinstance(value, list) else [value]:
        ends = (
            ["" if end in (None, "none") else str(end) for end in code]
            if isinstance(code, list)
            else []
        )
        words.append(":".join(ends) if ends else str(code))
    return words


def _word(name: str, value: Any) -> Any:
    """A table as the words that would say the same; those of columns as JSON, in which none is
    null."""
    if name == "missing":
        return _words_of_codes(value)
    if not isinstance(value, dict):
        return value
    if name == "columns":
        return re.sub('"none"(?!:)', "null", json.dumps(value))
    return [f"{key}={entry}" for key, entry in value.items()]
