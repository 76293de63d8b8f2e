"""Describe in words how columns were masked, for readers of a release."""

from condmask.masking.range import in_words
from condmask.masking.scheme import Scheme
from condmask.missing_codes import codes_in_words
from condmask.strata import Names, names_of


def with_rounding(scheme: Scheme, shift: tuple[float, ...]) -> str:
    """Describe how a column was masked, and how far rounding moved it before that."""
    sentence = scheme.sentence()
    if not shift:
        return sentence
    mean, largest = shift
    return (
        f"{sentence} Before, the data were rounded to that, which moved their mean by {mean:+g} "
        f"and their largest value by {largest:+g}: estimates are those of the rounded data."
    )


def of_same_group(strata: Names) -> str:
    """Return the part of a sentence that names the groups of donors; "" without strata."""
    groups = " and ".join(names_of(strata))
    return f" of the same {groups}" if groups else ""


def range_and_codes(scheme: Scheme) -> str:
    """Return a sentence about the range and one about codes, each with a space before it."""
    limits = "" if scheme.range is None else f" No value lies outside of {in_words(scheme.range)}."
    if scheme.codes:
        limits += f" Missing values are written {codes_in_words(scheme.codes)}."
    return limits
