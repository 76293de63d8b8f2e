"""Bandwidth rules against their formulas, written out."""

import numpy as np
import pytest

import condmask as cm
from condmask.estimates.bandwidth import RULES, bandwidth

Z = np.random.default_rng(8).gamma(2.0, 3.0, 500)
HEAVY = np.append(Z, [1e4, -1e4])  # the quartiles, not the deviation, decide here


def spread(z):
    lower, upper = np.percentile(z, [25, 75])
    return min(np.std(z, ddof=1), (upper - lower) / 1.34)


@pytest.mark.parametrize("z", [Z, HEAVY, Z[:2]], ids=["gamma", "outliers", "two"])
@pytest.mark.parametrize(
    ("rule", "factor", "power"),
    [("scott", 1.06, -1 / 5), ("silverman", 0.9, -1 / 5), ("undersmooth", 1.06, -1 / 3)],
)
def test_rules_follow_their_formulas(z, rule, factor, power):
    expected = factor * spread(z) * len(z) ** power

    assert bandwidth(z, rule) == pytest.approx(expected, rel=1e-13)
    assert cm.ConditionalMasking(0.6, 1.0).estimate(z).bandwidth(rule) == bandwidth(z, rule)


def test_no_rule_is_untested():
    assert set(RULES) == {"scott", "silverman", "undersmooth"}


def test_a_number_is_its_own_bandwidth():
    assert bandwidth(Z, 71) == 71.0


def test_a_spread_of_zero_between_the_quartiles_is_passed_over():
    z = np.append(np.ones(20), [5.0])

    assert bandwidth(z, "scott") == pytest.approx(1.06 * np.std(z, ddof=1) * 21**-0.2, rel=1e-13)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_rules_scale_with_the_data(unit):
    assert bandwidth(Z * unit, "scott") / unit == pytest.approx(bandwidth(Z, "scott"), rel=1e-13)


def test_a_smoothed_estimate_uses_the_rule():
    one = cm.ConditionalMasking(0.6, 1.0).estimate(Z)

    assert one.cdf(4.0, bandwidth="scott") == one.cdf(4.0, bandwidth=bandwidth(Z, "scott"))
