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
    found = interval(np.float64(99.5), np.zeros(()), 0.95, "population", "mean")

    assert "np." not in repr(found)
    assert eval(repr(found)) == found


def test_both_tails_have_half_of_what_is_left():
    level, normal = 0.9, multiplier(0.9)
    assert level == 0.9
    assert normal == pytest.approx(norm.ppf(0.95))

    for degrees, law in ((np.inf, norm), (7.0, t(7.0))):
        found = interval(2.0, 0.5, 0.9, "file", "the mean", degrees=degrees)
        assert found[:2] == pytest.approx((2.0 - 0.5 * law.ppf(0.95), 2.0 + 0.5 * law.ppf(0.95)))
