"""Which crossing is the quantile where nobody says. Oracle: the rule, and errors counted on samples."""

import numpy as np
import pytest

import condmask as cm
from condmask.distribution.quantiles import crossing_of

NEAR = [(100, 0.77), (2_000, 0.5), (447, 0.635), (2, 0.77), (1_000_000, 0.5)]  # 447: halfway by logarithms


@pytest.mark.parametrize(("n", "p"), NEAR)
def test_rearranging_ends_at_a_p_that_falls_with_the_number_of_records(n, p):
    assert crossing_of(p - 1e-3, n) == "rearranged"
    assert crossing_of(p + 1e-3, n) == "first"


@pytest.mark.parametrize(("n", "p"), [(300, 0.6), (300, 0.8), (3_000, 0.45), (3_000, 0.55)])
def test_an_estimate_goes_by_the_rule(n, p):
    scheme, q = cm.ConditionalMasking(p, 1.0, donors="sample"), [0.03, 0.5]
    z = scheme.mask_rows(np.random.default_rng(1).laplace(size=(2, n)), np.random.default_rng(2), ())
    estimate, own = scheme.estimate(z), crossing_of(p, n)
    both = {each: estimate.quantile(q, crossing=each) for each in ("first", "rearranged")}

    assert not np.array_equal(both["first"], both["rearranged"])
    assert np.array_equal(estimate.quantile(q), both[own])
    assert np.array_equal(estimate.median(), both[own][:, 1])
    assert np.array_equal(estimate.quantile_interval(q).estimate, both[own])
