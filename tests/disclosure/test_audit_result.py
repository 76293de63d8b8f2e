"""When coins are said to be visible, on both sides of each threshold of the documentation."""

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
    assert f"{'visible':26}{'yes' if visible else 'no':>12}" in str(found)


@pytest.mark.parametrize("n", [99, 100])
def test_fewer_than_a_hundred_records_are_said_to_be_too_few(n):
    said = f"{n} records are too few to tell how well one can guess which were swapped"

    assert audit(n=n).warnings == ([said] if n < 100 else [])
    assert (said in str(audit(n=n))) == (n < 100)


def test_figures_say_what_they_are_of():
    alone, table = audit(worst=0.7), audit(columns=3)

    assert (alone.worst, table.worst, audit(guessed=0.9, worst=0.7).worst) == (0.7, 0.6, 0.9)
    assert alone.to_dict()["worst"] == 0.7
    assert f"{'  in the worst tenth':26}{'70.0%':>12}" in str(alone)
    assert "for one column and records that are independent" in str(alone)
    assert "for 3 columns and records that are independent" in str(table)


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
    assert ("no scheme that was tried hides them, the best (do this)" in shown.refusal) is not serves
