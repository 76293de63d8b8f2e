"""Declare the options of commands, which cyclopts reads from words or a TOML file.

An option has the name of the parameter in Python, and is repeated for several values; ``none`` is
None.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError
from cyclopts.config import Dict

import condmask as cm
from condmask.cli.shell_form import in_shell
from condmask.cli.text import UsageError, to_json

if TYPE_CHECKING:
    from cyclopts import ArgumentCollection, Token

    from condmask.masking.scheme import Scheme
    from condmask.missing_codes import Code

ColumnNames = Annotated[list[str] | None, Parameter(alias="-c")]
Several = list[str] | None
TargetOption = Literal["population", "file"]
Key = TypeVar("Key")
Value = TypeVar("Value")

HELP = """\
Mask columns of a file, or estimate from a masked file. For example:

condmask demo --people people.parquet
condmask mask people.parquet masked.parquet -c income
condmask estimate masked.parquet

condmask COMMAND --help lists the options of a command; --options FILE.toml
reads them from a file. The exit code is 0 if all was done, 1 if something was
refused or failed, 2 if the command was wrong, 3 if a release was made, or
tried, with a warning."""
SEVERAL = "An option takes one value; repeat it for several: -c income -c rent."


def _fraction(_: object, tokens: "Sequence[Token]") -> float:
    """Return the number that a word stands for: .05, or a fraction, 1/3."""
    return float(Fraction(tokens[0].value))


def codes_of_words(words: Sequence[str]) -> "list[Code | None]":
    """Return the codes that words stand for: -8, 9990:9999, :-1, 9990: or none, which comes
    last."""
    return _codes(words)


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


def _missing(_: object, tokens: "Sequence[Token]") -> "list[Code | None]":
    """Return the codes of all words of the option, and of a TOML file."""
    return _codes([token.value for token in tokens])


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class _Options:
    """Options that belong together, each a parameter of one call."""

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class PlanOptions(_Options):
    """Options that all schemes of a plan share.

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
    """The scheme of the columns. A column with another scheme has a table in a TOML file.

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
        """Return the scheme of each column, by the options and by its table in the TOML file."""
        shared = self.given()
        own = _tables_by_column(shared.pop("columns", "{}"))
        names = list(dict.fromkeys([*(columns or ()), *own]))
        if not names:
            raise UsageError("--column must be given")
        schemes = {}
        for name in names:
            values = shared | own.get(name, {})
            if "missing" in own.get(name, {}):
                values["missing"] = _codes(_words_of_codes(values["missing"]))
            if missing := {"p", "sigma"} - values.keys():
                raise UsageError(f"--{min(missing)} must be given for column {name!r}")
            schemes[name] = _scheme_of(values)
        return schemes


def _scheme_of(values: Mapping[str, object]) -> "Scheme":
    """Return the scheme of a column by its options, --reverse-mapping among them."""
    from condmask.masking.earlier_versions import without_defaults
    from condmask.masking.parameters import NOT_REVERSE_MAPPING, ONLY_REVERSE_MAPPING

    mapped = values.get("reverse_mapping", False)
    if not isinstance(mapped, bool):
        raise UsageError(f"--reverse-mapping must be true or false, got {mapped!r}")
    method = cm.ReverseMapping if mapped else cm.ConditionalMasking
    parameters = without_defaults(values, method.method)
    for name, why in NOT_REVERSE_MAPPING.items():
        if mapped and name in parameters:
            raise UsageError(f"--{name} must be left out with --reverse-mapping: {why}")
    for name in ONLY_REVERSE_MAPPING:
        if not mapped and name in parameters:
            raise UsageError(f"--{name.replace('_', '-')} needs --reverse-mapping")
    return method.from_dict({"scheme": method.method, **parameters})


def _tables_by_column(text: str) -> dict[str, dict[str, Any]]:
    """Return the tables of columns in a TOML file, which `_word` wrote as JSON."""
    try:
        return {name: dict(table) for name, table in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        raise UsageError(
            "columns must be tables in a TOML file; --column names a column"
        ) from None


@dataclass(frozen=True, kw_only=True)
class FileOptions(_Options):
    r"""The format of a CSV file, if it is not clear from the text.

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
        """Return the format of a CSV file; None if no option was given."""
        given = self.given()
        if "delimiter" in given:
            given["delimiter"] = given["delimiter"].replace(r"\t", "\t")
        return cm.CsvFormat(**given) if given else None


@dataclass(frozen=True, kw_only=True)
class Output(_Options):
    """Options of every command.

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

    def show(self, result: Any, text: str | None = None, *, rewrite: bool = True) -> None:
        """Print a result as JSON, or as text that names parameters as options."""
        if self.json:
            print(to_json(result))
        elif text is not None and not rewrite:
            print(text)
        else:
            print(in_shell(str(result) if text is None else text))


SCHEME = SchemeOptions()
PLAN = PlanOptions()
CSV = FileOptions()
OUTPUT = Output()


def parsed(commands: Sequence[Callable[..., Any]], words: Sequence[str]) -> Callable[[], Any]:
    """Return the command that these words call, with its options bound."""
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
    values: Sequence[str] | None,
    option: str,
    key: Callable[[str], Key],
    value: Callable[[str], Value],
) -> dict[Key, Value] | None:
    """Return the values NAME=VALUE of an option as a dict; None if it was not given."""
    if values is None:
        return None
    parts = [text.rpartition("=") for text in values]
    try:
        return {key(left): value(right) for left, _, right in parts}
    except ValueError:
        raise UsageError(
            f"{option} must be of the form NAME=VALUE, got {' '.join(values)}"
        ) from None


def shares_by_distance(values: Sequence[str] | None, option: str) -> dict[float, float] | None:
    """Return the values DISTANCE=SHARE of an option as a dict; None if it was not given."""
    return pairs(values, option, float, float)


def _from_file(app: App, commands: tuple[str, ...], arguments: "ArgumentCollection") -> None:
    """Read the options that were not typed from the TOML file; a table becomes words."""
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
        if isinstance(code, list) and code:
            ends = ["" if end in (None, "none") else str(end) for end in code]
            words.append(":".join(ends))
        else:
            words.append(str(code))
    return words


def _word(name: str, value: Any) -> Any:
    """Return an entry of a TOML file as words; the tables of columns as JSON, in which none is
    null."""
    if name == "missing":
        return _words_of_codes(value)
    if not isinstance(value, dict):
        return value
    if name == "columns":
        return re.sub('"none"(?!:)', "null", json.dumps(value))
    return [f"{key}={entry}" for key, entry in value.items()]
