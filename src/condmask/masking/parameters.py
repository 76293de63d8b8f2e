"""Checks of the parameters of schemes that swap records."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from condmask import _checks
from condmask.errors import Refusals
from condmask.law import NOISES
from condmask.masking.ends import AUTO
from condmask.masking.range import declared_limits
from condmask.masking.swap_scheme import SwapScheme
from condmask.missing_codes import declared_codes
from condmask.strata import named_strata

NOT_ROUNDED = "released values are those of the data, and nothing is rounded"
CHOICES = {
    "noise": NOISES,
    "donors": ("permutation", "sample"),
    "scale": ("linear", "log"),
    "small_strata": ("refuse", "merge"),
    "missing_as": ("code", "null"),
}
# parameters of reverse mapping alone, with their defaults
ONLY_REVERSE_MAPPING: dict[str, str | int] = {"scale": "linear", "aggregate_ends": 0}
# parameters that reverse mapping does not have, with the reason
NOT_REVERSE_MAPPING = {
    "donors": "the swapped records take their values from one another",
    "decimals": NOT_ROUNDED,
    "step": NOT_ROUNDED,
}


def checked_parameters(scheme: SwapScheme) -> dict[str, Any]:
    """Return the values of all parameters as the scheme holds them.

    Each field of a scheme has its check here, or its allowed values in `CHOICES`. One error names
    all that are wrong.
    """
    checks: dict[str, Callable[[Any], Any]] = {
        "p": partial(_checks.probability, name="p"),
        "sigma": partial(_checks.positive, name="sigma"),
        "aggregate_ends": checked_ends,
        "decimals": partial(_checks.integer, name="decimals", least=-15, most=15),
        "step": partial(_checks.not_below_zero, name="step"),
        "range": declared_limits,
        "strata": named_strata,
        "missing": declared_codes,
    }
    refusals = Refusals()
    held = {}
    defaults = {
        field.name: field.default
        for field in fields(scheme)  # type: ignore[arg-type]
    }
    for name, default in defaults.items():
        value = getattr(scheme, name)
        with refusals.collected():
            check = checks.get(name) or partial(_checks.choice, name=name, allowed=CHOICES[name])
            held[name] = None if value is None and default is None else check(value)
    refusals.raise_all()
    return held


def checked_ends(value: object) -> int | str:
    """Return how many values at either end are released as their mean, a number or "auto"."""
    if isinstance(value, str) and value == AUTO:
        return value
    count = _checks.integer(value, "aggregate_ends", least=0)
    rule = "aggregate_ends must be 0 or at least 2"
    why = ": one value is its own mean"
    _checks.require(count != 1, rule, value, hint=why)
    return count
