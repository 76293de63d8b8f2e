"""Schemes at the risk of another."""

import pytest
from compared import SCHEME, D, X

from condmask._randomness import seeded_key
from condmask.studies import attacker, compare

pytestmark = pytest.mark.usefixtures("quick")


@pytest.mark.parametrize("risk", [0.4, 0.6])
def test_a_parameter_is_found_that_leaves_the_risk(risk):
    who = attacker.FittedAttacker(X, [], D)
    families = compare.families(SCHEME, X)
    found = compare.tuned(families["normal noise"], risk, who, 1)

    # .005 of the logarithm of sigma is less than .002 of the risk
    assert who.risk(found, seeded_key(1, b"equal").stream(0, 0)) == pytest.approx(risk, abs=0.003)


def test_what_cannot_be_tuned_is_none_and_said():
    make = compare.families(SCHEME, X)["rank swapping"]
    who = attacker.FittedAttacker(X, [], D)
    assert compare.tuned(make, 0.9 * who.constant(), who, 1) is None  # below what all reach
    assert compare.tuned(make, 1.0, who, 1) is None  # neighbours in rank are not enough
