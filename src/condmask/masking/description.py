"""Conditional masking in words, for readers of a release."""

from dataclasses import fields
from typing import Any

from condmask.masking.range import in_words
from condmask.missing_codes import codes_in_words
from condmask.strata import names_of


def shown(scheme: Any) -> str:
    """The scheme as Python code, without defaults."""
    defaults = {field.name: field.default for field in fields(scheme)}
    if scheme.reverse_mapping or scheme.decimals is not None or scheme.rounds:
        del defaults["step"]
    values = {name: getattr(scheme, name) for name in defaults}
    parts = [f"{name}={value!r}" for name, value in values.items() if value != defaults[name]]
    return f"{scheme.method}({', '.join(parts)})"


def conditional(scheme: Any) -> str:
    """What was done to a column, in two or three sentences."""
    groups = " and ".join(names_of(scheme.strata))
    within = f" of the same {groups}" if groups else ""
    limits = "" if scheme.range is None else f" No value lies outside of {in_words(scheme.range)}."
    if scheme.codes:
        limits += f" Missing values are written {codes_in_words(scheme.codes)}."
    if scheme.reverse_mapping:
        return _reverse(scheme, groups, within) + limits
    grid = "" if scheme.grid is None else f" Values are multiples of {scheme.grid.step:g}."
    return (
        f"with probability {scheme.p:g} a record shows the true value of another record{within}, "
        f"otherwise its own value plus {scheme.noise} noise of standard deviation {scheme.sigma:g}; which "
        f"of the two is not disclosed.{grid}{limits}"
    )


def with_rounding(scheme: Any, shift: tuple[float, ...]) -> str:
    """How a column was masked, and what rounding did to it before."""
    sentence = str(scheme.sentence())
    if not shift:
        return sentence
    mean, largest = shift
    return (
        f"{sentence} Before, the data were rounded to that, which moved their mean by {mean:+g} and their "
        f"largest value by {largest:+g}: estimates are those of the rounded data."
    )


def _reverse(scheme: Any, groups: str, within: str) -> str:
    """What reverse mapping did to a column."""
    unit = " of the logarithm" if scheme.scale == "log" else ""
    k = scheme.aggregate_ends
    of_each = f" of each {groups}" if groups else ""
    ends = (
        f", except that means stand for the {k} smallest and the {k} largest values{of_each}"
        if k
        else ""
    )
    return (
        f"the values are those of the original, each once, in another order{ends}. With probability "
        f"{scheme.p:g} a record shows the value of a random record{within}; the others{within} were put in "
        f"the order of their values with {scheme.noise} noise of standard deviation {scheme.sigma:g}{unit}, "
        "and got their own values back in that order; which of the two is not disclosed."
    )
