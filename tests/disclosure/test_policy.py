"""Figures become findings by one table of codes, which the documentation repeats."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import condmask as cm
from condmask.disclosure.policy import (
    CODES,
    Finding,
    Limits,
    accepted_codes,
    findings_on_figures,
)

PAGE = (Path(__file__).parents[2] / "docs" / "coins.rst").read_text()
NAN = float("nan")
DEFAULT = Limits()
HARMLESS = {
    "constant": 0.08,
    "clear": 0.1,
    "clear_unit": 0.1,
    "clear_record": 0.1,
    "outsider": 0.09,
    "worst": 0.15,
    "linked": 0.0,
    "error": 0.005,
    "worst_unit": None,
    "worst_unit_rate": NAN,
}


def codes_of(relation=None, limits=DEFAULT, **figures):
    row = SimpleNamespace(**{**HARMLESS, **figures})
    relations = {} if relation is None else {"pay": SimpleNamespace(text="2 x", share=relation)}
    return [each.code for each in findings_on_figures({"pay": row}, relations, limits)]


def test_the_documentation_has_each_code_with_its_outcome_meaning_and_remedy():
    cells = re.findall(r"\* - (C\d+)\n +- (.+)\n +- (.+)\n +- (.+)\n", PAGE)

    of_package = [
        (code, "refused" if of.refuses else "warned", of.meaning, of.remedy)
        for code, of in CODES.items()
    ]
    assert cells == of_package


@pytest.mark.parametrize(
    ("figures", "codes"),
    [
        ({}, []),
        ({"relation": 0.5}, ["C1"]),
        ({"relation": 0.49}, ["C11"]),
        ({"clear": 0.7, "clear_unit": 0.61, "worst": 0.75}, ["C2"]),
        ({"clear": 0.7, "clear_unit": 0.59, "worst": 0.75}, ["C12"]),
        ({"clear_unit": NAN, "clear": 0.65, "worst": 0.7}, ["C2"]),
        ({"clear_record": 0.34}, ["C12"]),
        ({"clear_record": 0.32}, []),
        ({"outsider": 0.6}, ["C3"]),
        ({"outsider": 0.34}, ["C13"]),
        ({"worst": 0.22}, ["C4"]),
        ({"worst": 0.209}, ["C4"]),
        ({"worst": 0.195}, ["C14"]),
        ({"worst": 0.18}, []),
        ({"worst": 0.5, "linked": 0.04}, ["C5"]),
        ({"worst_unit": "branches of 17", "worst_unit_rate": 0.7}, ["C15"]),
        # where most values are 0, a constant guess names them itself
        ({"constant": 0.7, "clear": 0.8, "clear_unit": 0.8, "worst": 0.82}, []),
        ({"constant": 0.7, "clear": 0.9, "clear_unit": 0.9, "worst": 0.92}, ["C2"]),
    ],
)
def test_figures_are_refused_and_warned_of_by_these_limits(figures, codes):
    assert codes_of(**figures) == codes


def test_limits_make_the_policy_stricter_or_laxer():
    told = {"clear": 0.45, "clear_unit": 0.45, "worst": 0.5}
    assert codes_of(**told) == ["C12"]
    assert codes_of(limits=Limits(clear=0.4), **told) == ["C2"]
    assert codes_of(limits=Limits(lift=0.04), **told) == ["C12", "C4"]
    assert codes_of(limits=Limits(clear=0.9), clear=0.8, clear_unit=0.8, worst=0.85) == ["C12"]


def test_what_is_accepted_does_not_refuse_and_hides_nothing_else():
    limits = Limits(accepted=frozenset({"C2"}))
    row = SimpleNamespace(**{**HARMLESS, "clear": 0.8, "clear_unit": 0.7, "worst": 0.95})

    found = findings_on_figures({"pay": row}, {}, limits)

    assert [(each.code, each.accepted, each.refuses) for each in found] == [
        ("C2", True, False),
        ("C4", False, True),
    ]


def test_a_finding_says_its_code_first():
    assert str(Finding("C8", "pay", "rows are in order", "pass shuffle=True")) == (
        "C8 pay: rows are in order; pass shuffle=True"
    )


def test_codes_are_checked():
    assert accepted_codes("C3") == {"C3"}
    assert accepted_codes(["C3", "C20"]) == {"C3", "C20"}
    with pytest.raises(cm.CondmaskError, match=r"^accept must be codes of findings.*got 'C99'$"):
        accepted_codes(["C99"])
    with pytest.raises(TypeError, match="accept"):
        accepted_codes(5)
