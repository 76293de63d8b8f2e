"""Schemes as condmask 0.1 and 0.2 described them: reverse mapping as an option of conditional
masking."""

from collections.abc import Mapping
from typing import Any

CONDITIONAL = "ConditionalMasking"
# by class of today: the parameters that it left behind, with their values that meant nothing
LEFT_BEHIND: dict[str, dict[str, tuple[Any, ...]]] = {
    CONDITIONAL: {"reverse_mapping": (False,), "scale": ("linear",), "aggregate_ends": (0,)},
    "ReverseMapping": {
        "reverse_mapping": (True,),
        "donors": ("permutation",),
        "decimals": (None,),
        "step": (None, 0.0),
    },
}


def of_this_version(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries under the name and with the parameters of the class of today.

    An entry with a value that had no meaning even then is left in place, so that it is refused.
    """
    if entries.get("scheme") != CONDITIONAL:
        return dict(entries)
    method = "ReverseMapping" if entries.get("reverse_mapping") is True else CONDITIONAL
    return {"scheme": method} | without_defaults(entries, method)


def without_defaults(parameters: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return parameters without the name of the scheme and those that the class left behind."""
    left = LEFT_BEHIND[method]
    return {
        name: value
        for name, value in parameters.items()
        if name != "scheme" and not (name in left and value in left[name])
    }
