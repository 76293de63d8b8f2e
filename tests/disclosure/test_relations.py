"""Identities among columns: what is found, and that none is told by a value of a record."""

import numpy as np

from condmask.disclosure import relations
from condmask.disclosure.relations import identities

STREAM = np.random.default_rng(1)
PAY = np.round(STREAM.normal(6.8, 0.3, 400), 5)
STEPS = dict.fromkeys(("pay", "net", "married"), 1.0)


def test_a_fixed_share_is_an_identity():
    table = {"pay": 100 * PAY, "net": np.round(60 * PAY)}

    (found,) = identities(table, STEPS, {"pay"})
    assert set(found.names) == {"pay", "net"}


def test_an_indicator_times_a_value_of_the_other_column_is_none():
    married = (STREAM.random(400) < 0.9).astype(float)

    # 6.8 or so in whole numbers: each value is "6.80123 married", to half a step
    assert identities({"pay": PAY, "married": married}, STEPS, {"pay"}) == []
    assert identities({"married": married, "pay": np.where(married == 1, PAY, np.nan)}, STEPS, {"pay"}) == []


def test_identities_by_chance_are_none():
    rng = np.random.default_rng(4)
    table = {name: rng.integers(0, 2, 500).astype(float) for name in "abc"}
    table["d"] = rng.normal(size=500)

    assert relations.identities(table, dict.fromkeys(table, 0.0), {"d"}) == []
    assert relations.identities({"d": table["d"]}, {"d": 0.0}, {"d"}) == []
