"""Conditional masking in words, for readers of a release."""

from dataclasses import fields
from typing import Any

from condmask.grid import default_step
from condmask.schemes.parameters import in_words
from condmask.strata import names_of


def shown(scheme: Any) -> str:
    """The scheme as Python code, without defaults."""
    defaults = {field.name: field.default for field in fields(scheme)}
    if scheme.reverse_mapping or scheme.decimals is not None or scheme.step == default_step(scheme.sigma):
        del defaults["step"]
    values = {name: getattr(scheme, name) for name in defaults}
    parts = [f"{name}={value!r}" for name, value in values.items() if value != defaults[name]]
    return f"{scheme.method}({', '.join(parts)})"


def conditional(scheme: Any) -> str:
    """What was done to a column, in two or three sentences."""
    if scheme.reverse_mapping:
        return _reverse(scheme)
    groups = names_of(scheme.strata)
    within = f" of the same {' and '.join(groups)}" if groups else ""
    text = (
        f"with probability {scheme.p:g} a record shows the true value of another record{within}, "
        f"otherwise its own value plus {scheme.noise} noise of standard deviation {scheme.sigma:g}; which "
        "of the two is not disclosed."
    )
    if scheme.decimals is not None:
        text += f" Values have {scheme.decimals} decimals." if scheme.decimals > 0 else ""
    elif scheme.grid is not None:
        text += f" Values are multiples of {scheme.grid.step:g}."
    return text + _limits(scheme)


def _limits(scheme: Any) -> str:
    return f" No value lies outside of {in_words(scheme.range)}." if scheme.range is not None else ""


def with_rounding(scheme: Any, shift: tuple[float, ...]) -> str:
    """How a column was masked, and how it was rounded before."""
    return str(scheme.sentence()) + (rounding(*shift) if shift else "")


def rounding(mean: float, largest: float) -> str:
    """What rounding did to a column before it was masked."""
    return (
        f" Before, the data were rounded to that, which moved their mean by {mean:+g} and their largest "
        f"value by {largest:+g}: estimates are those of the rounded data."
    )


def _reverse(scheme: Any) -> str:
    """What reverse mapping did to a column."""
    groups = names_of(scheme.strata)
    within = f" of the same {' and '.join(groups)}" if groups else ""
    unit = " of the logarithm" if scheme.scale == "log" else ""
    k = scheme.aggregate_ends
    of_each = f" of each {' and '.join(groups)}" if groups else ""
    ends = f", except that means stand for the {k} smallest and the {k} largest values{of_each}" if k else ""
    return (
        f"the values are those of the original, each once, in another order{ends}. With probability "
        f"{scheme.p:g} a record shows the value of a random record{within}; the others{within} were put in "
        f"the order of their values with {scheme.noise} noise of standard deviation {scheme.sigma:g}{unit}, "
        f"and got their own values back in that order; which of the two is not disclosed.{_limits(scheme)}"
    )
