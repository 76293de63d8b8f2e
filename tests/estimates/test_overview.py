"""The table that analysts ask first. Oracle: each number asked for by itself."""

import numpy as np
import pytest

import condmask as cm


@pytest.mark.parametrize("target", ["population", "file"])
def test_a_table_has_one_estimate_and_its_interval(target):
    """Few swapped records: T leaves [0, 1] at most points, and its rearrangement is what quantiles are of."""
    scheme = cm.ConditionalMasking(0.2, 0.7, decimals=2)
    x = np.random.default_rng(2).standard_normal(200).round(2)
    estimate, points = scheme.estimate(scheme.mask(x, rng=2)), np.linspace(-3.0, 3.0, 13)

    options = {"confidence_level": 0.9, "target": target}
    found = estimate.summary(points=points, **options)

    assert (found.low <= found.estimate).all()
    assert (found.estimate <= found.high).all()
    q = np.arange(1, 10) / 10
    apart = estimate.quantile_interval(q, **options)
    shown = np.array([found[f"quantile {each:g}"].estimate for each in q])
    assert shown.tolist() == apart.estimate.tolist() == estimate.quantile(q).tolist()
    assert found["quantile 0.3"].high == apart.high[2]
    assert found["mean"].high == estimate.mean_interval(**options).high
    assert found["s.d."].high == estimate.std_interval(**options).high
    assert (found.high[11:] == estimate.cdf_interval(points, **options).high).all()
    where = "the population" if target == "population" else "the original file"
    assert found.about == f"{where}, estimated"
    t = estimate.cdf(points)
    assert (t < 0.0).any()
    assert (t > 1.0).any()
    inside = (t >= 0.0) & (t <= 1.0)
    shown = np.array([found[f"cdf at {each:g}"].estimate for each in points])
    assert shown[inside].tolist() == t[inside].tolist()


def test_a_standard_deviation_that_is_not_known_is_said():
    with pytest.warns(cm.EstimateWarning, match="the variance of the original is estimated negative"):
        found = cm.ConditionalMasking(0.2, 9.0, decimals=2).estimate([1.0, 2.5, 7.0]).summary([0.5])
    assert np.isnan(found["s.d."].estimate)
