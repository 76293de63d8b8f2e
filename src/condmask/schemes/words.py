"""Conditional masking in words, for those who read a release."""

from typing import Any

from condmask.strata import names_of


def conditional(scheme: Any) -> str:
    """What was done to a column, in two or three sentences."""
    noise = f"{scheme.noise} noise of standard deviation {scheme.sigma:g}"
    if scheme.scale == "log":
        kept = f"the own value times the exponential of {noise} (some {100.0 * scheme.sigma:.0f}%)"
    else:
        kept = f"the own value plus {noise}"
    groups = names_of(scheme.strata)
    within = f" of the same {' and '.join(groups)}" if groups else ""
    text = (
        f"with probability {scheme.p:g} a record shows the true value of another record{within}, "
        f"else {kept}; which of the two is not told."
    )
    if scheme.scale == "log":
        text += " Zero, and the sign, stay as they are."
    elif scheme.heaps is not None:
        text += f" Trailing zeros up to {scheme.heaps:g} stay as they are, and the digit before them."
    if scheme.decimals is not None:
        text += f" Values have {scheme.decimals} decimals." if scheme.decimals > 0 else ""
    elif scheme.scale == "linear" and scheme.grid is not None:
        text += f" Values are multiples of {scheme.grid.step:g}."
    return text
