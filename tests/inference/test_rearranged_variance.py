"""Which crossing is the quantile where nobody says. Oracle: the rule, and errors counted on samples."""

import numpy as np
import pytest
from marks import rest_slow
from scipy.signal import lfilter
from scipy.stats import laplace

import condmask as cm
from condmask.inference.rearranged_variance import crossing_of, kept_variance

NEAR = [(100, 0.77), (2_000, 0.5), (447, 0.635), (2, 0.77), (1_000_000, 0.5)]  # 447: halfway by logarithms


@pytest.mark.parametrize(("n", "p"), NEAR)
def test_rearranging_ends_at_a_p_that_falls_with_the_number_of_records(n, p):
    assert crossing_of(p - 1e-3, n) == "rearranged"
    assert crossing_of(p + 1e-3, n) == "first"


def test_from_2000_records_on_it_begins_below_one_half_exactly():
    assert crossing_of(0.5, 2_000) == "first"
    assert crossing_of(np.nextafter(0.5, 0.0), 2_000) == "rearranged"


def test_added_noise_has_no_t_1_to_rearrange():
    assert crossing_of(0.0, 10) == "first"


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


def test_where_it_is_the_default_it_has_the_smaller_error():
    # 400 samples: the ratio of RMSE is .91 with a standard error of .02, above 1 in 5 of 10^6 draws of them
    scheme, law = cm.ConditionalMasking(0.6, 0.7), laplace(scale=0.5**0.5)
    x = law.rvs((400, 200), np.random.default_rng(1))
    estimate, truth = scheme.estimate(scheme.mask_rows(x, np.random.default_rng(2), ())), law.ppf(0.05)
    first, rearranged = (estimate.quantile(0.05, crossing=each) - truth for each in ("first", "rearranged"))

    size, smaller = (np.sqrt(np.mean(errors**2)) for errors in (first, rearranged))
    assert smaller < size
    # the first crossing comes too early by .2 of its RMSE; the other has no bias, to 4 standard errors of .05
    assert first.mean() < 0.0
    assert abs(rearranged.mean()) < 0.2 * smaller


@pytest.mark.parametrize("tau", rest_slow([1.0, 0.3, 3.0]))
def test_along_a_straight_line_the_rearrangement_varies_as_much_as_it_keeps(tau):
    # T = slope u + e, and e has variance 1, correlation exp(-|u|/2) and so increments of variance |u|. The
    # ratio of variances is simulated with 20,000 paths, e itself as a control, to 4.5 standard errors: a
    # false alarm in 7 of 10^6 looks. For tau <= 3 the formula itself is off by less than .02
    slope, paths, rng = tau**-0.5, 20_000, np.random.default_rng(1)
    step = min(0.05, 0.1 * tau)
    u = np.arange(-round((3.0 / slope + 1.0) / step), round((3.0 / slope + 1.0) / step) + 1) * step
    noise = rng.standard_normal((u.size, paths))
    e = lfilter([np.sqrt(-np.expm1(-step))], [1.0, -np.exp(-0.5 * step)], noise[1:], axis=0,
                zi=np.exp(-0.5 * step) * noise[:1])[0]  # fmt: skip
    e = np.concatenate([noise[:1], e])
    middle = u.size // 2

    rearranged = np.partition(slope * u[:, None] + e, middle, axis=0)[middle]

    # n = 1000, S = 2, and so many records that rho / g is the root of n S tau
    gained = rearranged**2 - e[middle] ** 2
    ratio, error = 1.0 + gained.mean(), gained.std() / np.sqrt(paths)
    rise = np.full((2, 1), 0.1)
    found = kept_variance(rise, 0.25 * rise * np.sqrt(2000.0 * tau), rise + 1.9, 1000, 0.5, 0).item()
    assert abs(found - ratio) <= 0.02 + 4.5 * error


def test_what_it_keeps_goes_by_the_steeper_side_and_a_side_without_records_keeps_all():
    rise, variance = np.array([[0.1, 0.1], [0.2, 0.2]]), np.full((2, 2), 3.0)
    records = np.array([[0.2, 0.0], [0.2, 0.2]])

    found = kept_variance(rise, records, variance, 500, 0.4, 0)

    steep = (0.2 / 0.2 / 0.16) ** 2 / (500 * 3.0)
    np.testing.assert_allclose(found, [(1.0 + 2.0 / 3.0 * steep) ** -0.5, 1.0], rtol=1e-12)
    swapped = kept_variance(rise[::-1], records[::-1], variance, 500, 0.4, 0)
    assert swapped.tolist() == found.tolist()


def test_a_side_beyond_all_data_does_not_count():
    # no rise and no variance there: the other side decides
    rise, records = np.array([[0.0], [0.2]]), np.array([[0.1], [0.2]])

    found = kept_variance(rise, records, np.array([[0.0], [3.0]]), 500, 0.4, -1)

    np.testing.assert_allclose(
        found, (1.0 + 2.0 / 3.0 * (1.0 / 0.16 - 1.0) ** 2 / 1500.0) ** -0.5, rtol=1e-12
    )


def test_an_error_cannot_be_less_rough_than_not_at_all():
    # a permutation of the file has rho = m/p^2 - g, which an estimate may put below 0
    rise, records = np.full((2, 1), 0.2), np.full((2, 1), 0.001)

    assert kept_variance(rise, records, np.full((2, 1), 3.0), 500, 0.4, -1).tolist() == [1.0]
