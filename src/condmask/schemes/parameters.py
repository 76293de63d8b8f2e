"""The parameters of a scheme, each declared once, beside its field.

From the declaration follow how a scheme shows itself, what is refused with reverse mapping, the keys of a
recipe, the options of the command line and the rows of a report's table.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from fractions import Fraction
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """What is said of a parameter beside its type.

    Attributes
    ----------
    default : Any
        `dataclasses.MISSING` where it has none; None of a step that follows from `sigma` or `decimals`.
    words : str
        Its name for readers.
    help : str
        Of its option.
    reads : callable
        Takes the text of an option.
    flag : Any
        Of an option without a value: what it stands for; None where the option has one.
    metavar : str, optional
        What its option calls a value.
    several : bool
        Whether a column may have several, in one tuple.
    by_column : bool
        Whether columns that are masked together may differ in it.
    mapping : bool, optional
        Whether it has a meaning only with reverse mapping, or only without; None where with both.
    why : str
        Why it has none.
    """

    default: Any
    words: str
    help: str
    reads: Callable[[str], Any] = str
    flag: Any = None
    metavar: str | None = None
    several: bool = False
    by_column: bool = False
    mapping: bool | None = None
    why: str = ""


def parameter(default: Any = MISSING, **said: Any) -> Any:
    """The field of a parameter, of which so much is said; see `Parameter`."""
    return field(default=default, metadata={"parameter": Parameter(default, **said)})


def parameters_of(scheme: Any) -> dict[str, Parameter]:
    """The parameters of a scheme, or of a class of schemes, by name."""
    return {each.name: each.metadata["parameter"] for each in fields(scheme) if "parameter" in each.metadata}


def option_of(name: str, declared: Parameter) -> str:
    """The option of a parameter, as the command line calls it: --missing-as-null stands for a value."""
    value = [declared.flag] if isinstance(declared.flag, str) else []
    return "--" + "-".join([*name.split("_"), *value])


def refuse_by_mapping(parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    """Refuse values that have no meaning with reverse mapping, or without."""
    reverse = values["reverse_mapping"]
    for name, declared in parameters.items():
        value, default = values[name], declared.default
        unset = value in (default, None) or (name == "step" and value == 0.0)
        if unset or declared.mapping in (None, reverse):
            continue
        rule = f"must be {default!r}" if isinstance(default, str) else "must be left out"
        where = "where" if reverse else "unless"
        why = f": {declared.why}" if declared.why else ""
        raise ValueError(f"{name} {rule} {where} reverse_mapping=True, got {value!r}{why}")


def number_or_fraction(text: str) -> float:
    """A number, or a fraction of two: 0.05 or 1/3."""
    return float(Fraction(text)) if "/" in text else float(text)
