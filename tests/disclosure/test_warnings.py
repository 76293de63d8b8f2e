"""Each warning has a small table that raises it, and a remedy that settles it.

Oracle: the audit of the same table after the remedy that the documentation names for its code.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import condmask as cm

N = 400
PAY = np.random.default_rng(5).lognormal(7.5, 0.5, N).round(2)
LOG = cm.ReverseMapping(0.6, 0.3, scale="log")
NOISE = cm.ConditionalMasking(0.6, 600.0)


class Audited(NamedTuple):
    """A table and the arguments of its audit; `words` is what the remedy in a message names."""

    table: dict[str, np.ndarray]
    scheme: Any
    options: Mapping[str, float] = {}
    words: str = ""

    def remedies(self) -> dict[str, str]:
        """Return the remedies of the findings about the table, by code."""
        schemes = {"pay": self.scheme}
        audit = cm.audit(self.table, schemes, **self.options)
        return {each.code: each.remedy for each in audit.findings}


def told_by_the_release():
    """Pay that a level tells to within a quarter of its spread, under noise narrower than that."""
    rng = np.random.default_rng(4)
    pay = rng.normal(3_000.0, 500.0, 1_500).round()
    level = (pay + rng.normal(0.0, 130.0, pay.size)).round()
    scheme = cm.ReverseMapping(0.6, 60.0, aggregate_ends=3)
    options = {"max_lift": 0.6}
    table = {"pay": pay, "level": level}
    before = Audited(table, scheme, options, "coarsen or drop level")
    coarse = table | {"level": np.floor(level / 500.0)}
    return before, [Audited({"pay": pay}, scheme, options), Audited(coarse, scheme, options)]


def told_by_narrow_noise():
    """Pay that nothing in clear tells, and half of the records kept with little noise."""
    rng = np.random.default_rng(4)
    pay = rng.normal(3_000.0, 500.0, 1_000).round()
    table = {"pay": pay, "age": rng.integers(18, 80, pay.size)}
    options = {"max_lift": 0.6}
    narrow = cm.ReverseMapping(0.5, 40.0, aggregate_ends=3)
    before = Audited(table, narrow, options, "pass a larger sigma")
    return before, [Audited(table, narrow.with_parameters(sigma=150.0), options)]


def one_firm_that_pays_all_alike():
    """Half of the firms pay all their people nearly the same."""
    rng = np.random.default_rng(5)
    number = rng.permutation(np.resize(np.arange(40), 1_200))
    pay = rng.normal(3_000.0, 500.0, number.size).round()
    alike = number < 20
    pay[alike] = (3_000.0 + rng.normal(0.0, 15.0, alike.sum())).round()
    firm = np.char.add("firm ", number.astype(str))
    scheme = cm.ReverseMapping(0.6, 300.0)
    before = Audited({"pay": pay, "firm": firm}, scheme)
    coarse = np.where(number % 2 == 0, "even", "odd")
    left_out = {"pay": pay[~alike], "firm": firm[~alike]}
    return before, [Audited({"pay": pay, "firm": coarse}, scheme), Audited(left_out, scheme)]


def small_pools():
    region = np.repeat(["n", "s", "w", "e"], N // 4)
    merged = np.repeat(["n or s", "w or e"], N // 2)
    scheme = LOG.with_parameters(strata="region")
    before = Audited(
        {"pay": PAY, "region": region}, scheme, words="at least 200 records are safer"
    )
    return before, [
        Audited({"pay": PAY, "region": merged}, scheme),
        Audited({"pay": PAY, "region": region}, LOG),
    ]


def zeros():
    pay = PAY.copy()
    pay[::20] = 0.0
    before = Audited({"pay": pay}, LOG, words='pass scale="linear" where it matters')
    return before, [Audited({"pay": pay}, LOG.with_parameters(sigma=400.0, scale="linear"))]


def too_few_to_judge():
    return Audited({"pay": PAY[:99]}, NOISE), [Audited({"pay": PAY[:100]}, NOISE)]


def many_means_at_the_ends():
    before = Audited({"pay": PAY}, LOG.with_parameters(aggregate_ends=20))
    return before, [Audited({"pay": PAY}, LOG)]


@pytest.mark.parametrize(
    ("code", "case"),
    [
        ("C13", told_by_the_release),
        ("C13", told_by_narrow_noise),
        ("C15", one_firm_that_pays_all_alike),
        ("C16", small_pools),
        ("C17", zeros),
        ("C19", too_few_to_judge),
        ("C22", many_means_at_the_ends),
    ],
)
def test_a_warning_is_raised_and_settled_by_its_remedy(code, case):
    before, settled = case()
    assert before.remedies()[code] == before.words
    for after in settled:
        assert code not in after.remedies()
