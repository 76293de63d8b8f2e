"""What standard errors become, and how intervals read when they are printed."""

import numpy as np
import pytest
from scipy.stats import norm, t

from condmask.variance.interval import Interval, interval, multiplier

ONE = Interval(
    np.float64(99.2625), np.float64(100.2816), np.float64(0.26), 99.772, 0.95, "population", "mean"
)


def test_one_interval_is_a_line():
    assert str(ONE) == "mean: 99.77, s.e. 0.26, 95% interval 99.26 to 100.28"


def test_several_are_a_table_of_the_first_twenty():
    estimate = np.arange(30.0)
    several = Interval(estimate - 2.0, estimate + 2.0, np.full(30, 0.1), estimate, 0.9, "file", "quantile")

    head, titles, *rows, last = str(several).splitlines()

    assert head == "quantile"
    assert titles.split() == ["estimate", "s.e.", "90%", "from", "to"]
    assert rows[3].split() == ["3.00", "0.10", "1.00", "5.00"]
    assert len(rows) == 20
    assert last == "and 10 more"


def test_the_representation_names_no_type_of_numpy():
    expected = (
        "Interval(low=99.2625, high=100.2816, standard_error=0.26, estimate=99.772, confidence_level=0.95, "
        "target='population', about='mean')"
    )

    assert repr(ONE) == expected
    assert eval(expected) == ONE


def test_both_tails_have_half_of_what_is_left():
    level, normal = 0.9, multiplier(0.9)
    assert level == 0.9
    assert normal == pytest.approx(norm.ppf(0.95))

    for degrees, law in ((np.inf, norm), (7.0, t(7.0))):
        found = interval(2.0, 0.5, 0.9, "file", "the mean", degrees=degrees)
        assert found[:2] == pytest.approx((2.0 - 0.5 * law.ppf(0.95), 2.0 + 0.5 * law.ppf(0.95)))


def test_intervals_in_the_logarithm_are_of_positive_quantities():
    found = interval(
        np.array([2.0, 0.1, -0.5, -4.0]), 1.0, 0.95, "population", "the variance", logarithmic=True
    )

    reach = norm.ppf(0.975)
    factor = np.exp(reach / np.array([2.0, 0.1]))
    assert found.low == pytest.approx([2.0 / factor[0], 0.1 / factor[1], 0.0, 0.0])
    assert found.high == pytest.approx([2.0 * factor[0], 0.1 * factor[1], reach - 0.5, 0.0])
