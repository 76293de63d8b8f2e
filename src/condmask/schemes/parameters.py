"""The parameters of a scheme of conditional masking, each declared once.

From here follow the fields of the scheme and how it shows itself, what is refused with reverse mapping, the
keys of a recipe, the options of the command line and the rows of a report's table. Nothing heavy is imported,
so that ``--help`` answers at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field
from fractions import Fraction
from typing import Any, NamedTuple

from condmask.errors import ArgumentError


class Parameter(NamedTuple):
    """What is said of a parameter beside its type.

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
    metavar : str or tuple of str, optional
        What its option calls a value, or the values that it takes.
    several : bool
        Whether a column may have several, in one tuple.
    by_column : bool
        Whether columns that are masked together may differ in it.
    mapping : bool, optional
        Whether it has a meaning only with reverse mapping, or only without; None where with both.
    why : str
        Why it has none.
    """

    label: str
    help: str
    default: Any = MISSING
    read: Callable[[str], Any] = str
    metavar: str | tuple[str, ...] | None = None
    several: bool = False
    by_column: bool = False
    mapping: bool | None = None
    why: str = ""


def bound(text: str) -> float | None:
    """A number, or none."""
    return None if text == "none" else float(text)


def number_or_fraction(text: str) -> float:
    """A number, or a fraction of two: 0.05 or 1/3."""
    return float(Fraction(text)) if "/" in text else float(text)


def in_words(limits: tuple[float | None, float | None]) -> str:
    """Bounds as they are read: 0 to 100, at least 0."""
    low, high = limits
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


NOT_ROUNDED = "released values are those of the data, and nothing is rounded"
PARAMETERS = {
    "p": Parameter("swap probability", "swap probability, 0 < p < 1", read=float),
    "sigma": Parameter(
        "s.d. of the noise", "s.d. of the noise, in units of the data", read=float, by_column=True
    ),
    "noise": Parameter("law of the noise", "normal (default) or laplace", "normal"),
    "donors": Parameter(
        "donors", "permutation (default) or sample", "permutation",
        mapping=False, why="the swapped records take their values from one another",
    ),
    "reverse_mapping": Parameter(
        "reverse mapping",
        "release the values of the data themselves, in another order that does not show who was swapped",
        False, read=bool,
    ),
    "aggregate_ends": Parameter(
        "aggregated values at either end",
        "with --reverse-mapping: release the K smallest and largest values as their means (3 to 5)",
        0, read=int, metavar="K", mapping=True,
    ),
    "decimals": Parameter(
        "decimals", "decimal places of the data, where they are rounded",
        None, read=int, metavar="N", by_column=True, mapping=False, why=NOT_ROUNDED,
    ),
    "step": Parameter(
        "step of the grid", "step of the data's grid, where it is no power of ten (0.05, 1/3)",
        None, read=number_or_fraction, by_column=True, mapping=False, why=NOT_ROUNDED,
    ),
    "scale": Parameter(
        "scale of the noise",
        "linear (default); with --reverse-mapping also log: noise in proportion, --sigma .3 some 30%",
        "linear", by_column=True, mapping=True,
    ),
    "range": Parameter(
        "range of the values",
        "public bounds (0 100), none for an open end: what would be released outside is refused",
        None, read=bound, metavar=("LOW", "HIGH"), by_column=True,
    ),
    "strata": Parameter(
        "strata", "draw donors within the groups of this column, or of several columns, crossed",
        None, metavar="COLUMN", several=True,
    ),
    "small_strata": Parameter(
        "small strata", "fewer than 10 records: refuse (default) or merge them", "refuse"
    ),
    "missing": Parameter(
        "missing codes", "number that stands for a missing value (-8) and stays in its place",
        (), read=float, metavar="CODE", several=True,
    ),
    "missing_as": Parameter(
        "missing codes released as", "what stands in the place of such numbers: code (default) or null",
        "code",
    ),
}  # fmt: skip


def parameter(name: str) -> Any:
    """The field of a parameter."""
    return field(default=PARAMETERS[name].default)


def option_of(name: str) -> str:
    """The option of a parameter on the command line: --small-strata of small_strata."""
    return f"--{name.replace('_', '-')}"


def refuse_by_mapping(values: Mapping[str, Any]) -> None:
    """Refuse values that have no meaning with reverse mapping, or without."""
    reverse = values["reverse_mapping"]
    for name, declared in PARAMETERS.items():
        value, default = values[name], declared.default
        unset = value in (default, None) or (name == "step" and value == 0.0)
        if unset or declared.mapping in (None, reverse):
            continue
        rule = f"must be {default!r}" if isinstance(default, str) else "must be left out"
        where = "where" if reverse else "unless"
        why = f": {declared.why}" if declared.why else ""
        raise ArgumentError(f"{name} {rule} {where} reverse_mapping=True, got {value!r}{why}")
