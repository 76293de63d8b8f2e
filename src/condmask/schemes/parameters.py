"""The parameters of a scheme of conditional masking, besides their types.

Derived from them: what is refused with reverse mapping, the keys of a recipe, the options of the command line
and the rows of a report's table. Nothing heavy is imported, so that
``--help`` answers at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from condmask.errors import ArgumentError

Value = TypeVar("Value")


class Parameter(NamedTuple):
    """The description of a parameter besides its type.

    Attributes
    ----------
    label : str
        Its name for readers.
    help : str
        Of its option.
    default : Any
        `dataclasses.MISSING` where it has none; None of a step that follows from `sigma` or `decimals`.
    read : callable
        Takes the text of an option; bool where the option has none.
    choices : tuple of str
        The allowed values, if there are few.
    metavar : str or tuple of str, optional
        What its option calls a value, or the values that it takes.
    several : bool
        Whether a column may have several, in one tuple.
    by_column : bool
        Whether columns that are masked together may differ in it.
    mapping : bool, optional
        True if it applies only with reverse mapping, False if only without; None if with both.
    why : str
        Why it does not apply otherwise.
    """

    label: str
    help: str
    default: Any = MISSING
    read: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    metavar: str | tuple[str, ...] | None = None
    several: bool = False
    by_column: bool = False
    mapping: bool | None = None
    why: str = ""


def reading(read: Callable[[str], Value], rule: str) -> Callable[[str], Value]:
    """What reads a text by a rule, or refuses it."""

    def read_text(text: str) -> Value:
        try:
            return read(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise ArgumentError(f"must be {rule}, got {text!r}") from None

    return read_text


number = reading(float, "a number")
whole = reading(int, "a whole number")
number_or_fraction = reading(
    lambda text: float(Fraction(text)) if "/" in text else float(text), "a number or a fraction of two"
)


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """What reads ``none``, too: for one of several columns, or an end that is open."""
    return lambda text: None if text == "none" else read(text)


def in_words(limits: tuple[float | None, float | None]) -> str:
    """Bounds as they are read: 0 to 100, at least 0."""
    low, high = limits
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


NOT_ROUNDED = "released values are those of the data, and nothing is rounded"
PARAMETERS = {
    "p": Parameter(
        "swap probability", "swap probability: share of records that get the value of another, 0 < p < 1",
        read=number,
    ),
    "sigma": Parameter(
        "s.d. of the noise", "standard deviation of the noise, in units of the data",
        read=number, by_column=True,
    ),
    "noise": Parameter(
        "law of the noise", "distribution of the noise (default normal)",
        "normal", choices=("normal", "laplace"),
    ),
    "donors": Parameter(
        "donors",
        "whose values swapped records get: each other's (permutation) or, for studies only, anyone's "
        "(sample) (default permutation)",
        "permutation", choices=("permutation", "sample"), mapping=False,
        why="the swapped records take their values from one another",
    ),
    "reverse_mapping": Parameter(
        "reverse mapping",
        "release the original values in another order, so that no value shows which records were swapped",
        False, read=bool,
    ),
    "aggregate_ends": Parameter(
        "aggregated values at either end",
        "with --reverse-mapping: replace the K smallest values by their mean, and the K largest (3 to 5)",
        0, read=whole, metavar="K", mapping=True,
    ),
    "decimals": Parameter(
        "decimals", "decimal places of the data, if they are rounded",
        None, read=or_none(whole), metavar="N", by_column=True, mapping=False, why=NOT_ROUNDED,
    ),
    "step": Parameter(
        "step of the grid", "what the data are multiples of, if that is not a power of ten (0.05, 1/3)",
        None, read=or_none(number_or_fraction), by_column=True, mapping=False, why=NOT_ROUNDED,
    ),
    "scale": Parameter(
        "scale of the noise",
        "log: noise in proportion to the value, --sigma .3 is some 30%; only with --reverse-mapping "
        "(default linear)",
        "linear", choices=("linear", "log"), by_column=True, mapping=True,
    ),
    "range": Parameter(
        "range of the values",
        "public bounds of the values (0 100; none for an open end): refuse a release beyond them",
        None, read=or_none(number), metavar=("LOW", "HIGH"), by_column=True,
    ),
    "strata": Parameter(
        "strata", "swap values only within the groups of this column, or of several columns, crossed",
        None, metavar="COLUMN", several=True,
    ),
    "small_strata": Parameter(
        "small strata", "what to do about groups (strata) of fewer than 10 records (default refuse)",
        "refuse", choices=("refuse", "merge"),
    ),
    "missing": Parameter(
        "missing codes", "number that stands for a missing value (-8) and stays where it is",
        (), read=number, metavar="CODE", several=True,
    ),
    "missing_as": Parameter(
        "missing codes released as", "how such numbers are released: as they are, or as null (default code)",
        "code", choices=("code", "null"),
    ),
}  # fmt: skip


def choices_of(name: str) -> tuple[str, ...]:
    """The values that a parameter may have."""
    return PARAMETERS[name].choices


def option_of(name: str) -> str:
    """The option of a parameter on the command line: --small-strata of small_strata."""
    return f"--{name.replace('_', '-')}"


def refuse_by_mapping(values: Mapping[str, Any]) -> None:
    """Refuse values that have no meaning with reverse mapping, or without."""
    reverse = values["reverse_mapping"]
    for name, declared in PARAMETERS.items():
        value, default = values[name], declared.default
        unset = value in (None, default) or (name == "step" and value == 0.0)
        if not unset and declared.mapping is not None and declared.mapping != reverse:
            rule = f"must be {default!r}" if isinstance(default, str) else "must be left out"
            where = "where" if reverse else "unless"
            why = f": {declared.why}" if declared.why else ""
            raise ArgumentError(f"{name} {rule} {where} reverse_mapping=True, got {value!r}{why}")
