"""The parameters of a scheme of conditional masking, besides their types.

Derived from them: what is refused with reverse mapping, and the rows of a report's table.
"""

from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from condmask.errors import ArgumentError, Refusals


class Parameter(NamedTuple):
    """The description of a parameter besides its type.

    Attributes
    ----------
    label : str
        Its name for readers.
    default : Any
        `dataclasses.MISSING` where it has none; None of a step that follows from `sigma` or `decimals`.
    choices : tuple of str
        The allowed values, if there are few.
    mapping : bool, optional
        True if it applies only with reverse mapping, False if only without; None if with both.
    why : str
        Why it does not apply otherwise.
    """

    label: str
    default: Any = MISSING
    choices: tuple[str, ...] = ()
    mapping: bool | None = None
    why: str = ""


def in_words(limits: tuple[float | None, float | None]) -> str:
    """Bounds as they are read: 0 to 100, at least 0."""
    low, high = limits
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


NOT_ROUNDED = "released values are those of the data, and nothing is rounded"
PARAMETERS = {
    "p": Parameter("swap probability"),
    "sigma": Parameter("s.d. of the noise"),
    "noise": Parameter("law of the noise", "normal", ("normal", "laplace")),
    "donors": Parameter(
        "donors", "permutation", ("permutation", "sample"), mapping=False,
        why="the swapped records take their values from one another",
    ),
    "reverse_mapping": Parameter("reverse mapping", False),
    "aggregate_ends": Parameter("aggregated values at either end", 0, mapping=True),
    "decimals": Parameter("decimals", None, mapping=False, why=NOT_ROUNDED),
    "step": Parameter("step of the grid", None, mapping=False, why=NOT_ROUNDED),
    "scale": Parameter("scale of the noise", "linear", ("linear", "log"), mapping=True),
    "range": Parameter("range of the values", None),
    "strata": Parameter("strata", None),
    "small_strata": Parameter("small strata", "refuse", ("refuse", "merge")),
    "missing": Parameter("missing codes", ()),
    "missing_as": Parameter("missing codes released as", "code", ("code", "null")),
}  # fmt: skip


def choices_of(name: str) -> tuple[str, ...]:
    """The values that a parameter may have."""
    return PARAMETERS[name].choices


def refuse_by_mapping(values: Mapping[str, Any]) -> None:
    """Refuse values that have no meaning with reverse mapping, or without; all of them at once."""
    reverse, refusals = values["reverse_mapping"], Refusals()
    for name, declared in PARAMETERS.items():
        value, default = values[name], declared.default
        unset = value in (None, default) or (name == "step" and value == 0.0)
        if not unset and declared.mapping is not None and declared.mapping != reverse:
            rule = f"must be {default!r}" if isinstance(default, str) else "must be left out"
            where = "where" if reverse else "unless"
            why = f": {declared.why}" if declared.why else ""
            text = f"{name} {rule} {where} reverse_mapping=True, got {value!r}{why}"
            refusals.errors.append(ArgumentError(text))
    refusals.raise_all()
