"""The parameters of a scheme of conditional masking, besides their types.

Derived from them: what is refused with reverse mapping, and the rows of a report's table.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import partial
from typing import Any, NamedTuple

from condmask import _checks
from condmask.disclosure.rare_values import AUTO
from condmask.errors import ArgumentError, Refusals
from condmask.missing_codes import declared_codes
from condmask.schemes.limits import declared_limits
from condmask.strata import named_strata


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


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all parameters as a scheme holds them; all that are wrong are named at once."""
    checks: dict[str, Callable[[Any], Any]] = {
        "p": partial(_checks.probability, name="p"),
        "sigma": partial(_checks.positive, name="sigma"),
        "reverse_mapping": partial(_checks.truth, name="reverse_mapping"),
        "aggregate_ends": aggregated,
        "decimals": places,
        "step": lambda step: None if step is None else _checks.not_negative(step, "step"),
        "range": declared_limits,
        "strata": named_strata,
        "missing": declared_codes,
    }
    refusals, held = Refusals(), {}
    for name, parameter in PARAMETERS.items():
        check = checks.get(name) or partial(_checks.choice, name=name, allowed=parameter.choices)
        with refusals.collected():
            held[name] = check(values[name])
    refusals.raise_all()
    refuse_by_mapping(held)
    return held


def places(value: Any) -> int | None:
    """Decimal places of the data, if they are rounded."""
    rule = "None or a whole number from -15 to 15"
    count = None if value is None else _checks.integer(value, "decimals", rule)
    _checks.require(count is None or -15 <= count <= 15, f"decimals must be {rule}", value)
    return count


def aggregated(value: Any) -> int | str:
    """How many values at either end become their mean: none, or several, or what the data need."""
    if isinstance(value, str) and value == AUTO:
        return value
    count = _checks.whole(value, "aggregate_ends", least=0)
    rule, why = "aggregate_ends must be 0 or at least 2", ": one value is its own mean"
    _checks.require(count != 1, rule, value, hint=why)
    return count


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


def refuse_others(schemes: dict[str, Any], shared: dict[str, Any]) -> None:
    """Refuse schemes that differ in what columns which are masked together share."""
    for name, scheme in schemes.items():
        for parameter, value in shared.items():
            rule = f"schemes of columns masked together must agree in {parameter}={value!r}"
            other = getattr(scheme, parameter)
            _checks.require(other == value, rule, other, hint=f" for {name!r}")
