"""Estimates against tests/reference.py, and the promises about what they may not depend on.

The reference forms T by a double loop over weights from a Gauss rule of its own, and moments and
covariances in fractions.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import reference
from columns import GENERIC, ZOO
from hypothesis import given
from hypothesis import strategies as st
from releases import in_group, masked_rows
from worlds import rest_slow

import condmask as cm
from condmask._blocks import BLOCK
from condmask.inference.interval import EstimateWarning

NOISES = ("normal", "laplace")
TOL = 1e-10
SAMPLES = st.lists(st.floats(-30, 30).map(lambda v: v + 0.1234567), min_size=2, max_size=12).map(
    np.array
)
POINTS = np.array([-31.0, -2.2, 0.0, 0.37, 5.1, 40.0])
RNG = np.random.default_rng(11)
Z60 = RNG.normal(3.0, 2.5, 60)
W60 = 0.1 * Z60 + RNG.normal(0.0, 1.0, 60)


def estimate(z, p=0.6, sigma=1.3, **options):
    """From data without a grid, unless `decimals` or `step` is given."""
    named = {k: options.pop(k) for k in ("noise", "decimals", "step", "strata") if k in options}
    if "decimals" not in named:
        named.setdefault("step", 0.0)
    labels = options.pop("labels", None)
    group = options.pop("group", None)
    named.setdefault("strata", None if labels is None else "region")
    found = cm.ConditionalMasking(p, sigma, **named).estimate(z, strata=labels, **options)
    return in_group(found, group)


def as_floats(fractions):
    return [float(f) for f in fractions]


def assert_same_bits(a, b):
    assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


# --- the same as the reference
# --------------------------------------------------------------------


@given(z=SAMPLES, p=st.floats(0.02, 0.98), noise=st.sampled_from(NOISES), sigma=st.floats(0.2, 9))
def test_moments_follow_theorem_2_1(z, p, noise, sigma):
    one = estimate(z, p, sigma, noise=noise)
    exact = as_floats(reference.original_moments(z, 6, noise, p, sigma))
    # moments about any centre are sums of terms below this size
    size = max(60.0, 3 * sigma)

    assert one.mean() == pytest.approx(exact[1], abs=1e-14 * size)
    for k in range(1, 7):
        assert one.moment(k) == pytest.approx(exact[k], abs=1e-13 * size**k * math.factorial(k))
    exact_variance = float(reference.original_variance(z, p, Fraction(sigma) ** 2))
    assert one.variance() == pytest.approx(exact_variance, abs=1e-13 * size**2)


@given(z=SAMPLES, p=st.floats(0.02, 0.98))
def test_central_moments_are_about_the_mean(z, p):
    one = estimate(z, p)
    raw = reference.original_moments(z, 4, "normal", p, 1.3)
    for k in range(1, 5):
        exact = sum(math.comb(k, j) * raw[j] * (-raw[1]) ** (k - j) for j in range(k + 1))

        assert one.moment(k, central=True) == pytest.approx(float(exact), abs=1e-12 * 60.0**k)


def test_columns_masked_together_keep_their_covariance():
    a = estimate(Z60, 0.6, 0.8, group="g")
    b = estimate(W60, 0.6, 0.5, noise="laplace", group="g")
    plain = np.cov(Z60, W60)[0, 1]
    variances = [
        float(reference.original_variance(v, 0.6, Fraction(s) ** 2))
        for v, s in ((Z60, 0.8), (W60, 0.5))
    ]

    assert a.covariance(b) == pytest.approx(plain, rel=1e-12)
    assert a.correlation(b) == pytest.approx(plain / math.sqrt(math.prod(variances)), rel=1e-12)
    assert b.correlation(a) == pytest.approx(a.correlation(b), rel=1e-13)


# --- rounded data
# ---------------------------------------------------------------------------------


def test_moments_of_rounded_data_use_the_moments_of_rounded_noise():
    z = np.array([-9.0, -3, 0, 1, 4, 17])
    sigma = 0.7
    p = 0.3
    chance = reference.rounded_noise("normal", 1 / sigma, 40)
    k = np.arange(-40, 41)
    added = [Fraction(float(np.sum(chance * k.astype(float) ** j))) for j in range(5)]

    one = estimate(z, p, sigma, decimals=0)

    exact = as_floats(reference.original_moments(z, 4, "normal", p, sigma, added))
    assert [one.moment(j) for j in range(1, 5)] == pytest.approx(exact[1:], rel=1e-12)
    assert one.variance() == pytest.approx(
        float(reference.original_variance(z, p, added[2])), rel=1e-12
    )


# --- routes agree
# ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "series"])
@pytest.mark.parametrize("width", [None, 0.4])
def test_the_number_of_workers_leaves_no_trace(method, width):
    z = np.random.default_rng(4).normal(0, 3, BLOCK + 1_003)
    x = np.linspace(-8, 8, 66)  # one block of points and two
    one = {w: estimate(z, workers=w) for w in (1, 5)}
    cdfs = {w: e.cdf(x, bandwidth=width, method=method) for w, e in one.items()}
    quantiles = {w: e.quantile([0.1, 0.2, 0.5, 0.7, 0.9], bandwidth=width) for w, e in one.items()}

    for w in one:
        assert_same_bits(cdfs[w], cdfs[1])
        assert_same_bits(quantiles[w], quantiles[1])
        assert one[w].moment(3) == one[1].moment(3)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("width", [None, 0.8, "scott"])
def test_a_batch_equals_its_rows(noise, width):
    rng = np.random.default_rng(106)
    z = rng.normal(0, 3, (4, 31))
    batch = estimate(z, noise=noise)
    rows = [estimate(row, noise=noise) for row in z]
    grid = np.array([[0.3, 1.0, -2.0], [2.0, 7.0, 0.1]])
    q = np.array([0.2, 0.8])

    assert batch.n == 31
    assert batch.cdf(grid, bandwidth=width).shape == (4, 2, 3)
    assert batch.cdf(0.3).shape == batch.mean().shape == batch.quantile(0.5).shape == (4,)
    assert_same_bits(
        batch.cdf(grid, bandwidth=width), [row.cdf(grid, bandwidth=width) for row in rows]
    )
    assert_same_bits(
        batch.quantile(q, bandwidth=width), [row.quantile(q, bandwidth=width) for row in rows]
    )
    for name in ("mean", "variance", "std"):
        assert_same_bits(getattr(batch, name)(), [getattr(row, name)() for row in rows])
    for central in (False, True):
        expected = [row.moment(3, central=central) for row in rows]
        assert_same_bits(batch.moment(3, central=central), expected)
    assert_same_bits(
        batch.pdf(grid, bandwidth=width or 1.0),
        [row.pdf(grid, bandwidth=width or 1.0) for row in rows],
    )


def test_results_have_the_shape_of_their_points():
    one = estimate(GENERIC)

    assert (
        type(one.cdf(1))
        is type(one.quantile(0.5))
        is type(one.pdf(1.0))
        is type(one.mean())
        is float
    )
    assert one.cdf([]).shape == (0,)
    assert one.cdf([[1.0], [2.0]]).shape == one.quantile([[0.1], [0.2]]).shape == (2, 1)
    assert one.cdf([-np.inf, np.inf]) == pytest.approx([0.0, 1.0], abs=TOL)


REQUESTS = {
    "cdf": lambda one: one.cdf(POINTS),
    "cdf 2": lambda one: one.cdf(POINTS, bandwidth=0.8),
    "scott": lambda one: one.cdf(POINTS, bandwidth="scott"),
    "pdf": lambda one: one.pdf(POINTS, bandwidth=0.8),
    "quantile": lambda one: one.quantile([0.1, 0.5, 0.9]),
    "many quantiles": lambda one: one.quantile(np.linspace(0.01, 0.99, 40), crossing="rearranged"),
    "first": lambda one: one.quantile([0.1, 0.5], crossing="first"),
    "monotone": lambda one: one.cdf(POINTS, monotone=True),
    "smooth monotone": lambda one: one.cdf(POINTS, monotone=True, bandwidth=1.0),
    "variance": lambda one: [one.mean(), one.variance(), one.moment(4)],
    "mean size": lambda one: one.expectation_interval(np.abs)[:4],
    "Lorenz": lambda one: one.lorenz_interval(0.3)[:4],
}
SOURCES = {
    "records": lambda: estimate(Z60, 0.3),
    "counts": lambda: estimate(Z60.round(2), 0.3, decimals=2),
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_was_asked_before_leaves_no_trace(source):
    """Every request after every other one, and again after all."""
    fresh = {name: ask(SOURCES[source]()) for name, ask in REQUESTS.items()}
    for names in (list(REQUESTS), list(REQUESTS)[::-1]):
        one = SOURCES[source]()
        for name in names * 2:
            assert_same_bits(REQUESTS[name](one), fresh[name])


# --- the zoo
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZOO)
def test_every_container_gives_the_estimates_of_its_values(name):
    specimen = ZOO[name]
    plain = specimen.values[~np.isnan(specimen.values)]
    sigma = min(max(1.3, float(np.abs(plain).max()) / 10), 1e300) if name != "tiny" else 1e-300
    found, expected = (estimate(z, 0.6, sigma) for z in (specimen.make(), plain))
    x = plain[:3]

    assert found.n == plain.size
    assert_same_bits(found.cdf(x), expected.cdf(x))
    assert_same_bits(found.quantile([0.2, 0.5]), expected.quantile([0.2, 0.5]))
    assert found.mean() == expected.mean()
    assert found.cdf(x) == pytest.approx(reference.cdf(plain, x, "normal", 0.6, sigma), abs=TOL)
    assert found.mean() == pytest.approx(
        float(sum(map(Fraction, plain.tolist())) / plain.size), rel=1e-13
    )


@pytest.mark.parametrize(
    "name", ["gaps", "pandas gaps", "polars gaps", "pyarrow gaps", "pandas nullable"]
)
def test_a_record_that_misses_one_value_leaves_the_covariance(name):
    specimen = ZOO[name]
    w = np.array([0.3, 2.2, np.nan, 0.1, 4.4, 3.3, -1.0, 0.2, 0.9, 5.0])

    found = estimate(specimen.make(), 0.3).covariance(w)

    # the donors were all records with a z, whether they have a w or not
    assert found == pytest.approx(float(reference.covariance(specimen.values, w, 0.3)), rel=1e-12)


@pytest.mark.parametrize("power", [-300, -150, 150, 299])
def test_estimates_scale_with_the_data(power):
    unit = 10.0**power
    one = estimate(Z60, 0.3, 1.3)
    scaled = estimate(Z60 * unit, 0.3, 1.3 * unit)

    # (x - z) / sigma rounds differently, by some 1e-16 of |z| / sigma
    assert scaled.cdf(Z60[:5] * unit + unit * 0.01) == pytest.approx(
        one.cdf(Z60[:5] + 0.01), abs=1e-12
    )
    # T* is known to sigma/1000
    for crossing, apart in (("first", 1e-11), ("rearranged", 1e-5)):
        found, given = (each.quantile([0.1, 0.5], crossing=crossing) for each in (scaled, one))
        assert found / unit == pytest.approx(given, rel=apart)
    assert scaled.mean() / unit == pytest.approx(one.mean(), rel=1e-13)
    assert scaled.std() / unit == pytest.approx(one.std(), rel=1e-13)
    assert scaled.moment(1) / unit == pytest.approx(one.moment(1), rel=1e-13)
    assert scaled.correlation(W60 * unit) == pytest.approx(one.correlation(W60), rel=1e-12)
    assert scaled.cdf(4 * unit, bandwidth="scott") == pytest.approx(
        one.cdf(4.0, bandwidth="scott"), abs=1e-11
    )


# --- what is said
# ---------------------------------------------------------------------------------


def test_a_negative_variance_is_returned_and_its_root_is_nan():
    one = estimate(GENERIC.round(1), 0.6, 100.0, decimals=1)

    # rounding to a tenth adds .01 / 12 to the variance of the noise
    own = GENERIC.round(1).var(ddof=1) - 0.4 * (1e4 + 0.01 / 12)
    assert one.variance() == pytest.approx(own, rel=1e-13)
    with pytest.warns(
        EstimateWarning, match=r"^the variance of the original is estimated negative"
    ):
        assert math.isnan(one.std())
    with pytest.warns(
        EstimateWarning, match=r"^the variance of the original is estimated negative"
    ):
        found = one.scheme.estimate([GENERIC.round(1), 1e5 * GENERIC.round()]).std()
    assert np.isnan(found).tolist() == [True, False]
    for other in (np.arange(10.0), np.ones(10)):
        with pytest.warns(
            EstimateWarning, match="a column is constant, or its variance is estimated negative"
        ):
            assert math.isnan(one.correlation(other))


def test_a_correlation_outside_its_range_is_returned_with_a_warning():
    with pytest.warns(
        EstimateWarning, match=r"lies outside \[-1, 1\]; too few records for this scheme$"
    ):
        found = estimate(Z60, 0.3, 0.1).correlation(Z60)

    assert found > 1.0


def test_a_batch_has_the_covariances_of_its_rows():
    rng = np.random.default_rng(8)
    z, w = rng.normal(size=(2, 4, 300))
    w += z / 2
    strata = np.arange(300) % 5
    scheme = cm.ConditionalMasking(0.3, 0.5, step=0, strata="region")
    batch = scheme.estimate(z, strata=strata)
    rows = [scheme.estimate(row, strata=strata) for row in z]

    of_rows = [row.correlation(v) for row, v in zip(rows, w, strict=True)]
    assert batch.correlation(w) == pytest.approx(of_rows, rel=1e-12)
    assert batch.covariance(w[0]) == pytest.approx(
        [row.covariance(w[0]) for row in rows], rel=1e-12
    )


def test_a_batch_of_jointly_masked_columns_has_the_correlations_of_its_rows():
    rng = np.random.default_rng(9)
    z, w = rng.normal(size=(2, 3, 200))
    w += z
    scheme = cm.ConditionalMasking(0.6, 0.2, step=0)
    a, b = ([in_group(scheme.estimate(row)) for row in rows] for rows in (z, w))
    expected = [one.correlation(other) for one, other in zip(a, b, strict=True)]

    batch = in_group(scheme.estimate(z))
    other = in_group(scheme.estimate(w))
    assert batch.correlation(other) == pytest.approx(expected, rel=1e-12)


pytestmark = pytest.mark.filterwarnings(
    "ignore::condmask.ReleaseWarning",
    "ignore::condmask.EstimateWarning",
)

R = 2000
N = 40
ROUNDED = rest_slow([("normal", 0.5), ("laplace", 0.5), ("laplace", 2.0), ("normal", 20.0)])
X = np.random.default_rng(21).gamma(2.0, 1.0, N)


def releases(scheme, x, count=R, strata=None):
    return masked_rows(scheme, np.tile(x, (count, 1)), np.random.default_rng(25), strata)


def assert_unbiased(values, truth):
    """Means over the first axis against the truth, in standard errors."""
    values = np.asarray(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    assert np.size(truth) <= 20
    assert (error > 0.0).all()
    assert (np.abs(values.mean(axis=0) - truth) <= 5.5 * error).all()


@pytest.mark.parametrize(
    ("noise", "p", "donors"),
    rest_slow(
        [
            ("normal", 0.3, "sample"),
            ("laplace", 0.6, "permutation"),
            ("laplace", 0.3, "permutation"),
        ]
    ),
)
def test_the_distribution_function_is_unbiased(noise, p, donors):
    # with the other noise's K some points are off by 6 to 12 standard errors, with p + .1 by 8 to
    # 11
    scheme = cm.ConditionalMasking(p, 1.0, noise=noise, donors=donors)
    t = np.array([-0.5, 0.4, 1.0, float(np.median(X)), 2.6, 4.5])

    found = scheme.estimate(releases(scheme, X)).cdf(t)

    assert_unbiased(found, [(t_ >= X).mean() for t_ in t])


@pytest.mark.parametrize(("noise", "steps"), ROUNDED)
def test_the_distribution_function_of_rounded_data_is_unbiased(noise, steps):
    # ignoring the grid, T is off by 30 standard errors and more up to two steps (by 3 at twenty)
    x = np.round(X * steps * 1.5)
    scheme = cm.ConditionalMasking(0.4, steps, noise=noise, decimals=0)
    t = np.quantile(x, [0.1, 0.3, 0.5, 0.7, 0.9]).round()

    found = scheme.estimate(releases(scheme, x)).cdf(t)

    assert_unbiased(found, [(x <= t_).mean() for t_ in t])


W = 0.8 * X + np.random.default_rng(22).normal(0.0, 1.0, N)


@pytest.mark.slow
def test_the_covariance_of_columns_masked_together_has_the_bias_of_a_variance():
    # two separate releases would leave (1-p)^2 = 16% of it
    p = 0.6
    n = N
    frame = pd.DataFrame({"x": X, "w": W})
    scheme = cm.ConditionalMasking(p, 0.5, donors="sample")
    found = []
    for seed in range(R // 4):
        release = cm.mask_table(frame, {"x": scheme, "w": scheme}, rng=seed)
        found.append(release["x"].covariance(release["w"]))

    kappa = p**2 * (n - 2) / (n - 1) ** 2 + 2 * p * (1 - p) / (n - 1)
    assert_unbiased(found, (1 - kappa) * np.cov(X, W)[0, 1])
