"""Conditional masking in words, for readers of a release."""

from typing import Any

from condmask.masking.range import in_words
from condmask.missing_codes import codes_in_words
from condmask.strata import names_of


def conditional(scheme: Any) -> str:
    """Describe conditional masking with noise in two or three sentences."""
    grid = "" if scheme.grid is None else f" Values are multiples of {scheme.grid.step:g}."
    return (
        f"with probability {scheme.p:g} a record shows the true value of another record"
        f"{_same_group(scheme)}, otherwise its own value plus {scheme.noise} noise of standard "
        f"deviation {scheme.sigma:g}; which of the two is not disclosed.{grid}"
        f"{_range_and_codes(scheme)}"
    )


def reverse_mapping(scheme: Any) -> str:
    """Describe reverse mapping in two or three sentences."""
    unit = " of the logarithm" if scheme.scale == "log" else ""
    groups = " and ".join(names_of(scheme.strata))
    within = _same_group(scheme)
    ends = ""
    if scheme.aggregate_ends:
        k = scheme.aggregate_ends
        of_each = f" of each {groups}" if groups else ""
        ends = (
            f", except that means stand for the {k} smallest and the {k} largest values{of_each}"
        )
    return (
        f"the values are those of the original, each once, in another order{ends}. With "
        f"probability {scheme.p:g} a record shows the value of a random record{within}; the "
        f"others{within} were put in the order of their values with {scheme.noise} noise of "
        f"standard deviation {scheme.sigma:g}{unit}, and got their own values back in that order; "
        f"which of the two is not disclosed.{_range_and_codes(scheme)}"
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


def _same_group(scheme: Any) -> str:
    """Say from which groups donors are; nothing without strata."""
    groups = " and ".join(names_of(scheme.strata))
    return f" of the same {groups}" if groups else ""


def _range_and_codes(scheme: Any) -> str:
    """Return a sentence about the range and one about codes, each with a space before it."""
    limits = "" if scheme.range is None else f" No value lies outside of {in_words(scheme.range)}."
    if scheme.codes:
        limits += f" Missing values are written {codes_in_words(scheme.codes)}."
    return limits
