"""Estimates of a column released in another order: those of the original, to the last bit.

Oracles: NumPy and SciPy on the original column; textbook formulas of unmasked data (Wilson's interval).
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import moment, norm

import condmask as cm

RNG = np.random.default_rng(1)
COLUMNS = {
    "heaped": RNG.lognormal(8.0, 0.5, 1_000).round(-2),
    "large numbers": 1e9 + RNG.normal(0.0, 3.0, 500),
    "both signs and zeros": np.where(RNG.random(700) < 0.3, 0.0, RNG.laplace(0.0, 50.0, 700)),
}
SCHEME = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True)
Q = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])


@pytest.fixture(params=COLUMNS, scope="module")
def column(request):
    x = COLUMNS[request.param]
    return x, SCHEME.estimate(SCHEME.mask(x, rng=2, accept_visible_coins=True))


def close(a, b, scale):
    """1e-12 of the data's scale: some hundred roundings."""
    return np.all(np.abs(np.asarray(a) - b) <= 1e-12 * scale)


def test_moments_are_those_of_numpy(column):
    x, estimate = column
    size = np.abs(x).max()

    assert close(estimate.mean(), x.mean(), size)
    # deviations are differences of values: rounded by as much as these are
    spread = size + x.std() ** 2
    assert close(estimate.variance(), x.var(ddof=1), max(spread, size * x.std()))
    assert close(estimate.std(), x.std(ddof=1), size)
    assert close(estimate.moment(2), np.mean(x**2), size**2)
    third = moment(x, 3)
    assert close(estimate.moment(3, central=True), third, max(abs(third), size * x.var()))


def test_the_distribution_function_and_quantiles_are_those_of_numpy(column):
    x, estimate = column
    t = np.concatenate([np.unique(x)[:20], np.quantile(x, Q), [x.min() - 1.0, x.max() + 1.0]])

    assert np.array_equal(estimate.cdf(t), np.mean(x <= t[:, None], axis=1))
    assert np.array_equal(estimate.quantile(Q), np.quantile(x, Q, method="inverted_cdf"))
    assert estimate.median() == np.quantile(x, 0.5, method="inverted_cdf")


@pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning")
def test_estimates_do_not_depend_on_the_order_of_the_values(column):
    x, estimate = column
    original = SCHEME.estimate(x)

    assert estimate.mean() == original.mean()
    assert estimate.moment(3) == original.moment(3)
    assert estimate.summary() == original.summary() or repr(estimate.summary()) == repr(original.summary())
    assert np.array_equal(estimate.summary().high, original.summary().high)


def test_means_of_functions_and_inequality_are_those_of_the_original():
    x = COLUMNS["heaped"]
    estimate = SCHEME.estimate(SCHEME.mask(x, rng=3, accept_visible_coins=True))
    differences = np.abs(x[:, None] - x).sum()

    assert close(estimate.expectation(np.log), np.log(x).mean(), 10.0)
    assert close(estimate.gini(), differences / (2.0 * x.size * (x.size - 1) * x.mean()), 1.0)
    # the share of the total that the lowest 30% have: 300 of 1,000 records
    assert close(estimate.lorenz(0.3), np.sort(x)[:300].sum() / x.sum(), 1.0)


def test_a_bandwidth_smooths_the_distribution_of_the_values(column):
    x, estimate = column
    width = 0.3 * x.std()
    t = np.quantile(x, [0.05, 0.5, 0.95])
    u = (t[:, None] - x) / width

    assert np.allclose(estimate.cdf(t, bandwidth=width), ndtr(u).mean(axis=1), rtol=0.0, atol=1e-10)
    density = norm.pdf(u).mean(axis=1) / width
    assert np.allclose(estimate.pdf(t, bandwidth=width), density, rtol=0.0, atol=1e-10 / width)
    at = estimate.quantile([0.05, 0.5, 0.95], bandwidth=width)
    # the density is at most .4 / width, and numbers of 1e9 are 1.2e-7 apart: some ten of them
    reached = ndtr((at[:, None] - x) / width).mean(axis=1)
    assert np.allclose(reached, [0.05, 0.5, 0.95], rtol=0.0, atol=1e-6)
    assert np.array_equal(estimate.cdf(t, monotone=True), estimate.cdf(t))


@pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning")
def test_intervals_for_the_population_are_those_of_unmasked_data():
    x = COLUMNS["heaped"]
    estimate = SCHEME.estimate(SCHEME.mask(x, rng=4, accept_visible_coins=True))

    below = estimate.cdf_interval(3_000.0)
    # Wilson's interval, in which the variance under the hypothesis has (T - g)^2 too: n less z^2 for n
    t, c = np.mean(x <= 3_000.0), norm.ppf(0.975) ** 2 / (x.size - norm.ppf(0.975) ** 2)
    half = np.sqrt(c * t * (1.0 - t) + 0.25 * c**2) / (1.0 + c)
    middle = (t + 0.5 * c) / (1.0 + c)
    assert close([below.low, below.high], [middle - half, middle + half], 1.0)
    mean = estimate.mean_interval()
    assert close(mean.standard_error, x.std() / np.sqrt(x.size), x.max())
    assert close(mean.high - mean.low, 2.0 * norm.ppf(0.975) * x.std() / np.sqrt(x.size), x.max())
    square = (x - x.mean()) ** 2
    assert close(estimate.variance_interval().standard_error, square.std() / np.sqrt(x.size), x.max() ** 2)
    # points are no medians where T is more than sqrt(c / 4) away from 1/2: the ends are such quantiles
    median, radius = estimate.median_interval(), 0.5 * np.sqrt(c)
    low, high = (np.mean(x <= end) for end in (median.low, median.high))
    assert np.isin([median.low, median.high], x).all()
    assert low >= 0.5 - radius > np.mean(x < median.low)
    assert np.mean(x < median.high) <= 0.5 + radius < high + np.mean(x == median.high)


@pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning")
def test_of_the_original_file_everything_is_exact():
    x = COLUMNS["heaped"]
    estimate = SCHEME.estimate(SCHEME.mask(x, rng=5, accept_visible_coins=True))

    found = estimate.summary(points=[3_000.0], target="file")

    assert (found.standard_error == 0.0).all()
    assert np.array_equal(found.low, found.estimate)
    assert np.array_equal(found.high, found.estimate)
    assert found.about.startswith("the original file, exact; for other columns N = 1.0")
    assert estimate.cdf_band(target="file", rng=6).half_width == 0.0
    assert estimate.gini_interval(target="file").standard_error == 0.0
    assert estimate.moment_interval(3, target="file").standard_error == 0.0
    assert estimate.summary().about.startswith("the population, estimated; for other columns N = 1.")


def test_the_band_is_that_of_kolmogorov():
    x = RNG.normal(0.0, 1.0, 2_000)

    band = SCHEME.estimate(x).cdf_band(rng=7, draws=2_000)

    # 1.358 / sqrt(n) for all points together; of 250 points 2% less, and the .95-quantile of 2,000 draws has
    # a standard error of sqrt(.95 .05 / 2000) / f = .005 / .18 = .03, of which five
    assert abs(band.half_width * np.sqrt(x.size) - 1.34) < 0.15


def test_whole_strata_have_estimates_of_their_own():
    scheme = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True, strata="sex")
    x, sex = COLUMNS["heaped"], np.arange(1_000) % 2

    estimate = scheme.estimate(scheme.mask(x, strata=sex, rng=8, accept_visible_coins=True), strata=sex)

    assert estimate.part(sex == 1).median() == np.quantile(x[sex == 1], 0.5, method="inverted_cdf")


def test_rows_of_a_batch_have_estimates_of_their_own():
    x = COLUMNS["heaped"].reshape(4, 250)

    assert close(SCHEME.estimate(x).mean(), x.mean(axis=1), x.max())


def test_missing_values_are_left_out():
    x = np.append(COLUMNS["heaped"], np.nan)

    assert SCHEME.estimate(x).n == 1_000


def test_the_first_few_quantiles_are_selected_and_others_counted():
    x = np.concatenate([*COLUMNS.values(), [-0.0, 1e300, -1e300, 5e-324]])
    estimate = SCHEME.estimate(x)
    right = np.quantile(x, Q, method="inverted_cdf")

    for _ in range(2):
        assert np.array_equal(estimate.quantile(Q), right)
    assert np.array_equal(SCHEME.estimate(x).quantile(np.tile(Q, 20)), np.tile(right, 20))


@pytest.mark.parametrize("ends", [(0.0, 1e9), (-1e150, 1e150), (3.0, 3.0), (-1e-300, 1e-300)])
def test_far_values_and_equal_ones_leave_moments_as_they_are(ends):
    x = np.append(np.full(1_000, ends[0]), ends[1])
    estimate = SCHEME.estimate(x)

    size = max(map(abs, ends))
    assert close(estimate.mean(), x.mean(), size)
    assert close(estimate.std() / size, (x / size).std(ddof=1), 1.0)
