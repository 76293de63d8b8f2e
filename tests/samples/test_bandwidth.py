"""Bandwidth rules against their formulas, written out, from records and from counts."""

import numpy as np
import pytest

import condmask as cm
from condmask.samples.bandwidth import RULES

Z = np.random.default_rng(8).gamma(2.0, 3.0, 500).round(2)
HEAVY = np.append(Z, [1e4, -1e4])  # the quartiles, not the deviation, decide here
STEPS = (0.0, 0.01)  # records, and counts


def estimate(z, step, unit=1.0):
    return cm.ConditionalMasking(0.6, unit, step=step).estimate(z)


def spread(z):
    lower, upper = np.percentile(z, [25, 75])
    return min(np.std(z, ddof=1), (upper - lower) / 1.34)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "z", [Z, HEAVY, Z[:2], Z[:3], Z[:7]], ids=["gamma", "outliers", "two", "three", "seven"]
)
@pytest.mark.parametrize(
    ("rule", "factor", "power"),
    [("scott", 1.06, -1 / 5), ("silverman", 0.9, -1 / 5), ("undersmooth", 1.06, -1 / 3)],
)
def test_rules_follow_their_formulas(z, rule, factor, power, step):
    expected = factor * spread(z) * len(z) ** power

    assert estimate(z, step).bandwidth(rule) == pytest.approx(expected, rel=1e-12)


def test_no_rule_is_untested():
    assert set(RULES) == {"scott", "silverman", "undersmooth"}


@pytest.mark.parametrize("step", STEPS)
def test_a_spread_of_zero_between_the_quartiles_is_passed_over(step):
    z = np.append(np.ones(20), [5.0])

    assert estimate(z, step).bandwidth() == pytest.approx(1.06 * np.std(z, ddof=1) * 21**-0.2, rel=1e-13)


@pytest.mark.parametrize("step", STEPS)
def test_values_that_do_not_differ_have_no_rule(step):
    with pytest.raises(
        ValueError, match=r"^bandwidth='scott' needs masked values that differ; pass a number$"
    ):
        estimate(np.ones(5), step).bandwidth()


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**900])
@pytest.mark.parametrize("step", STEPS)
def test_rules_scale_with_the_data(unit, step):
    # powers of two, so that the scaled data lie on the scaled grid
    grid = 2.0**-7 if step else 0.0
    z = np.rint(Z * 128) / 128

    found = estimate(z * unit, grid * unit, unit).bandwidth() / unit

    assert found == pytest.approx(estimate(z, grid).bandwidth(), rel=1e-13)


@pytest.mark.parametrize("step", STEPS)
def test_a_smoothed_estimate_uses_the_rule(step):
    one = estimate(Z, step)

    assert one.cdf(4.0, bandwidth="scott") == one.cdf(4.0, bandwidth=one.bandwidth())
    assert one.quantile(0.3, bandwidth="scott") == one.quantile(0.3, bandwidth=one.bandwidth())


def test_a_bandwidth_of_few_steps_is_refused_and_one_and_a_half_is_enough():
    one = estimate(Z, 0.01)

    assert 0.0 < one.cdf(4.0, bandwidth=0.015) < 1.0
    with pytest.raises(
        ValueError,
        match=r"^bandwidth must be at least 1\.5 steps of the grid, 0\.015, got 0\.0149 with step=0\.01$",
    ):
        one.cdf(4.0, bandwidth=0.0149)
