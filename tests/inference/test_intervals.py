"""What standard errors become, how intervals are printed, and those of a parameter between
bounds."""

import numpy as np
import pytest
from scipy.stats import norm, t
from worlds import rest_slow

from condmask.inference import bounded
from condmask.inference.interval import Interval, interval, multiplier

ONE = Interval(
    np.float64(99.2625), np.float64(100.2816), np.float64(0.26), 99.772, 0.95, "population", "mean"
)


def test_one_interval_is_a_line():
    assert str(ONE) == "mean: 99.77, s.e. 0.26, 95% interval 99.26 to 100.28"


def test_several_are_a_table_of_the_first_twenty():
    estimate = np.arange(30.0)
    several = Interval(
        estimate - 2.0, estimate + 2.0, np.full(30, 0.1), estimate, 0.9, "file", "quantile"
    )

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
    level = 0.9
    normal = multiplier(0.9)
    assert level == 0.9
    assert normal == pytest.approx(norm.ppf(0.95))

    for degrees, law in ((np.inf, norm), (7.0, t(7.0))):
        found = interval(2.0, 0.5, 0.9, "file", "the mean", degrees=degrees)
        assert found[:2] == pytest.approx((2.0 - 0.5 * law.ppf(0.95), 2.0 + 0.5 * law.ppf(0.95)))


LATTICE = np.linspace(-7.0, 7.0, 28_001)  # of (x - r)/s: the normal law beyond it is 3e-12


def ends_of(estimate, square, level):
    """The ends for one estimate, whose squared standard error has these factors."""
    low, high = bounded.bounded_interval(
        np.array([estimate]), np.array([square], dtype=float), level
    )
    return low.item(), high.item()


def accepted(r, error, level):
    """The least and the largest estimate accepted under r: ordered by likelihood ratio until they
    suffice."""
    x = r + error * LATTICE
    best = np.clip(x, -1.0, 1.0)
    ratio = (x - best) ** 2 - (x - r) ** 2  # twice the logarithm, times s^2
    order = np.argsort(-ratio, kind="stable")
    share = norm.pdf(LATTICE[order]) * (LATTICE[1] - LATTICE[0])
    taken = x[order[: np.searchsorted(np.cumsum(share), level) + 1]]
    return taken.min(), taken.max()


@pytest.mark.parametrize("error", rest_slow([0.5, 0.05, 0.2]))
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_ends_are_where_the_ordered_estimates_stop(error, level):
    # the least and the largest estimate that r accepts have r as an end: to the lattice of .0005
    # s, which the slope of the end carries over, here less than 2
    for r in (-0.9, -0.3, 0.5, 0.98):
        least, most = accepted(r, error, level)

        from_above = ends_of(most, (error**2, 0, 0), level)
        from_below = ends_of(least, (error**2, 0, 0), level)

        if abs(most) < r + 5 * error:  # an estimate beyond that is accepted by all r so near to 1
            assert from_above[0] == pytest.approx(r, abs=2e-3 * error)
        assert from_below[1] == pytest.approx(r, abs=2e-3 * error)


@pytest.mark.parametrize(
    ("x", "level", "upper"),
    [
        (-3.0, 0.9, 0.26),
        (-3.0, 0.95, 0.42),
        (-3.0, 0.99, 0.80),
        (0.0, 0.95, 1.96),
        (0.0, 0.99, 2.58),
    ],
)
def test_the_printed_table_comes_back(x, level, upper):
    # for a mean of at least 0, in standard errors; here -1 is the bound, and the other is far away
    error = 1e-3

    low, high = ends_of(-1.0 + error * x, (error**2, 0, 0), level)

    assert low == -1.0
    assert (high + 1.0) / error == pytest.approx(upper, abs=0.0051)  # printed with two digits


def test_the_standard_error_is_that_under_the_hypothesis():
    # (x - r)^2 = z^2 s(r)^2, s = .1 (1 + r): x = r +- .196 (1 + r), solved for r
    found = ends_of(0.2, (0.01, 0.02, 0.01), 0.95)

    z = 0.1959963985
    assert found == pytest.approx(((0.2 - z) / (1.0 + z), (0.2 + z) / (1.0 - z)), abs=1e-7)


@pytest.mark.parametrize("estimate", [-40.0, -1.0, 0.7, 1.0, 3.0])
def test_it_is_never_empty_and_holds_the_nearest_value(estimate):
    low, high = ends_of(estimate, (0.04, 0, 0), 0.95)

    assert -1.0 <= low <= np.clip(estimate, -1.0, 1.0) <= high <= 1.0
    assert high - low > 1e-3


def test_without_an_error_it_is_the_estimate():
    assert ends_of(0.3, (0, 0, 0), 0.95) == (0.3, 0.3)


def test_parameters_between_other_bounds_are_placed_there():
    # [1, 5] is [-1, 1] stretched by 2; with bounds far away it is the normal interval
    value = np.array([0.3, 2.0, 5.0, 3.78])
    error = np.array([0.4, 0.1, 0.2, 0.1])

    low, high = bounded.interval_between(1.0 + value, error, 1.0, 5.0, 0.95)

    for k in range(4):  # the last ends just within the bound, and would not without it
        own = ends_of(value[k] / 2 - 1, (error[k] ** 2 / 4, 0, 0), 0.95)
        assert (low[k], high[k]) == pytest.approx((3 + 2 * own[0], 3 + 2 * own[1]), abs=1e-6)
    far = bounded.interval_between(value, error, -np.inf, np.inf, 0.95)
    np.testing.assert_allclose(
        far, [value - 1.959963985 * error, value + 1.959963985 * error], rtol=1e-9
    )
