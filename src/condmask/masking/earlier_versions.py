"""Read schemes of condmask 0.1 and 0.2, where reverse mapping was an option of conditional
masking."""

from collections.abc import Mapping
from typing import Any

CONDITIONAL = "ConditionalMasking"
# by class of today: former parameters, with the values that had no effect
FORMER_PARAMETERS: dict[str, dict[str, tuple[Any, ...]]] = {
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
    """Return parameters without the name of the scheme and without former parameters that had no
    effect.
    """
    former = FORMER_PARAMETERS[method]
    return {
        name: value
        for name, value in parameters.items()
        if name != "scheme" and not (name in former and value in former[name])
    }
