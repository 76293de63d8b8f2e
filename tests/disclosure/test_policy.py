"""Figures become findings by one table of codes, which the documentation repeats."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.disclosure.policy import (
    CODES,
    Finding,
    Limits,
    accepted_codes,
    findings_on_figures,
)

PAGE = (Path(__file__).parents[2] / "docs" / "audit.rst").read_text()
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
    row.lift = row.worst - row.clear
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
        ({"worst": 0.197}, ["C14"]),
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
    row.lift = row.worst - row.clear

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


def test_the_name_of_earlier_versions_still_accepts_all():
    scheme = cm.ReverseMapping(0.6, 0.3)
    with pytest.warns(DeprecationWarning, match='is now accept="all"'):
        z = scheme.mask([1.0, 2.0, 3.0, 4.0], rng=1, accept_visible_coins=True)
    assert list(z) == list(scheme.mask([1.0, 2.0, 3.0, 4.0], rng=1, accept="all"))


def test_what_is_accepted_is_said_kept_with_the_release_and_entered_in_the_log(tmp_path):
    wage = np.sort(np.random.default_rng(2).lognormal(7.5, 0.6, 600).round(2))
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=3)
    source = tmp_path / "a.parquet"
    pq.write_table(pa.table({"wage": wage}), source)
    where = (source, tmp_path / "b.parquet", {"wage": scheme})

    with pytest.raises(cm.ReleaseError, match=r'^C8 wage: .*; accept="C8" releases it anyway$'):
        cm.mask_file(*where, log=tmp_path / "log")
    with pytest.warns(cm.ReleaseWarning, match=r"^accepted: C8 wage"):
        cm.mask_file(*where, log=tmp_path / "log", accept=("C8", "C22"))

    assert cm.read_release(tmp_path / "b.parquet").accepted == ("C8", "C22")
    assert '"accepted": ["C8", "C22"]' in (tmp_path / "log").read_text()


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_small_pools_are_accepted_by_their_code():
    x = {
        "pay": np.random.default_rng(1).lognormal(8, 0.2, 90).round(2),
        "region": ["n"] * 60 + ["s"] * 30,
    }
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", strata="region", aggregate_ends=3)
    with pytest.raises(cm.ReleaseError, match=r"^C6 strata must have at least 50 records each"):
        cm.mask_table(x, {"pay": scheme})
    assert cm.mask_table(x, {"pay": scheme}, accept="C6").accepted == ("C6",)
