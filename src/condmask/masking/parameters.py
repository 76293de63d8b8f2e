"""The parameters of a scheme of conditional masking: what is allowed, alone and with reverse
mapping."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from condmask import _checks
from condmask.errors import ArgumentError, Refusals
from condmask.masking.ends import AUTO
from condmask.masking.range import declared_limits
from condmask.missing_codes import declared_codes
from condmask.strata import named_strata

NOT_ROUNDED = "released values are those of the data, and nothing is rounded"
CHOICES = {
    "noise": ("normal", "laplace"),
    "donors": ("permutation", "sample"),
    "scale": ("linear", "log"),
    "small_strata": ("refuse", "merge"),
    "missing_as": ("code", "null"),
}
WITH = ("aggregate_ends", "scale")  # reverse mapping alone
WITHOUT = {  # reverse mapping, and why
    "donors": "the swapped records take their values from one another",
    "decimals": NOT_ROUNDED,
    "step": NOT_ROUNDED,
}


def checked(scheme: Any) -> dict[str, Any]:
    """The values of all parameters as a scheme holds them; all that are wrong are named at
    once."""
    checks: dict[str, Callable[[Any], Any]] = {
        "p": partial(_checks.probability, name="p"),
        "sigma": partial(_checks.positive, name="sigma"),
        "reverse_mapping": partial(_checks.boolean, name="reverse_mapping"),
        "aggregate_ends": aggregated,
        "decimals": partial(_checks.integer, name="decimals", least=-15, most=15),
        "step": partial(_checks.not_below_zero, name="step"),
        "range": declared_limits,
        "strata": named_strata,
        "missing": declared_codes,
    }
    refusals = Refusals()
    held = {}
    defaults = {field.name: field.default for field in fields(scheme)}
    for name, default in defaults.items():
        value = getattr(scheme, name)
        with refusals.collected():
            check = checks.get(name) or partial(_checks.choice, name=name, allowed=CHOICES[name])
            held[name] = None if value is None and default is None else check(value)
    refusals.raise_all()
    reverse = held["reverse_mapping"]
    for name in WITHOUT if reverse else WITH:  # which have no meaning there
        value = held[name]
        default = defaults[name]
        if value not in (None, default) and not (name == "step" and value == 0.0):
            rule = f"must be {default!r}" if isinstance(default, str) else "must be left out"
            where, why = ("where", f": {WITHOUT[name]}") if reverse else ("unless", "")
            text = f"{name} {rule} {where} reverse_mapping=True, got {value!r}{why}"
            refusals.errors.append(ArgumentError(text))
    refusals.raise_all()
    return held


def aggregated(value: Any) -> int | str:
    """How many values at either end become their mean: none, or several, or what the data need."""
    if isinstance(value, str) and value == AUTO:
        return value
    count = _checks.integer(value, "aggregate_ends", least=0)
    rule = "aggregate_ends must be 0 or at least 2"
    why = ": one value is its own mean"
    _checks.require(count != 1, rule, value, hint=why)
    return count
