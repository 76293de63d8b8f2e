"""When coins are said to be visible, on both sides of each threshold of the documentation."""

from dataclasses import replace

import pytest

import condmask as cm
from condmask.disclosure.audit_result import Audit, Proposal
from condmask.disclosure.causes import Cause

A_BIT = 1e-4  # of a share: to either side of a threshold
SCHEME = cm.ConditionalMasking(0.6, 20.0)


def audit(n=1_000, guessed=0.6, certain=0.0, unchanged=0.0, **options):
    causes = options.pop("causes", ())
    return Audit(n, 0.6, guessed, certain, unchanged, causes, SCHEME, **options)


@pytest.mark.parametrize(
    ("found", "visible"),
    [
        # .12 more coins than are guessed blindly
        (audit(guessed=0.6 + 0.12 - A_BIT), False),
        (audit(guessed=0.6 + 0.12 + A_BIT), True),
        # a tenth of the records
        (audit(certain=0.10 - A_BIT), False),
        (audit(certain=0.10 + A_BIT), True),
        # 100 records tell something, 99 do not, whatever they show
        (audit(n=100, guessed=1.0, certain=1.0), True),
        (audit(n=99, guessed=1.0, certain=1.0), False),
        # either figure is enough, and what is unchanged does not count
        (audit(n=100, guessed=0.9), True),
        (audit(n=100, certain=0.3), True),
        (audit(unchanged=1.0), False),
    ],
)
def test_coins_are_visible_where_12_in_100_more_are_guessed_or_a_tenth_is_certain(found, visible):
    assert found.visible is visible
    assert found.to_dict()["visible"] is visible
    word = "refused" if visible else "too few" if found.n < 100 else "passes"
    assert f"{'verdict':32}{word:>12}" in str(found)
    assert str(found).splitlines()[1].startswith(f"Verdict: {word.upper()}")


@pytest.mark.parametrize("n", [99, 100])
def test_fewer_than_a_hundred_records_are_said_to_be_too_few(n):
    said = f"{n} records are too few to judge how well an attacker can guess which were swapped"

    assert audit(n=n).warnings == ([said] if n < 100 else [])
    assert (said in str(audit(n=n))) == (n < 100)


def test_figures_say_what_they_are_of():
    alone, table = audit(worst=0.7), audit(columns=3)

    assert (alone.worst, table.worst, audit(guessed=0.9, worst=0.7).worst) == (0.7, 0.6, 0.9)
    assert alone.to_dict()["worst"] == 0.7
    assert f"{'  in the worst tenth':32}{'70.0%':>12}" in str(alone)
    assert "for one column and independent records" in str(alone)
    assert "for 3 columns and independent records" in str(table)


def test_only_what_is_refused_or_warned_of_has_a_remedy():
    grid = Cause("grid", 0.05, "pass step=10", "the data are multiples of 10")
    own = Cause("unchanged", 0.3, "pass a larger sigma", "30% are released with their own value")
    passes, refused = str(audit(causes=(grid,))), str(audit(guessed=0.9, causes=(grid,)))
    warned, both = str(audit(causes=(own, grid))), str(audit(guessed=0.9, causes=(own, grid)))

    assert "Verdict: PASSES. No action is needed." in passes
    assert "Below the limits, no action is needed:\n  grid: the data are multiples of 10" in passes
    assert "pass step=10" not in passes + warned
    assert "Refused, because:\n  grid: the data are multiples of 10\n      remedy: pass step=10" in refused
    assert "Verdict: PASSES, with a warning" in warned
    assert "own value\n      to avoid it: pass a larger sigma" in warned
    assert both.index("remedy: pass step=10") < both.index("to avoid it: pass a larger sigma")


def test_figures_stand_beside_their_limits():
    lines = {line[:32].strip(): line[32:].split() for line in str(audit()).splitlines() if "%" in line}

    assert lines["swap status guessed right"] == ["60.0%", "72.0%"]
    assert lines["swap status known for certain"] == ["0.0%", "10.0%"]
    assert lines["blindly"] == ["60.0%"]
    assert "by a trained attacker" not in lines
    assert f"{'  by a trained attacker':32}{'65.0%':>12}" in str(audit(trained=0.65))


@pytest.mark.parametrize(
    ("proposed", "serves"),
    [
        (audit(unchanged=0.25), True),
        (audit(unchanged=0.25 + A_BIT), False),  # which leaves too many records as they are
        (audit(guessed=0.6 + 0.12 - A_BIT), True),
        (audit(guessed=0.6 + 0.12 + A_BIT), False),
    ],
)
def test_a_proposal_is_the_remedy_where_it_hides_coins_and_changes_records(proposed, serves):
    tried = Proposal(SCHEME, "do this", proposed)
    shown = audit(
        guessed=0.9, causes=(Cause("grid", 0.3, "pass step=10", "tens"),), proposals=(tried,)
    )  # fmt: skip

    assert tried.hides is serves
    assert shown.refusal.endswith("tens; do this") is serves
    assert ("none of the schemes tried hides it; the best (do this)" in shown.refusal) is not serves


@pytest.mark.parametrize("names", ["x", "xy"])
def test_warnings_of_several_columns_name_theirs(names):
    cause = Cause("unchanged", 0.3, "pass a larger sigma", "30% are released with their own value", "x")
    found = replace(audit(causes=(cause,)), scheme=dict.fromkeys(names, SCHEME))

    said = "30% are released with their own value; pass a larger sigma"
    assert found.warnings == [said if names == "x" else f"x: {said}"]
