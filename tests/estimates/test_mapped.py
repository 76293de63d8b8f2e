"""Functions of a column that reverse mapping released, such as its logarithm.

Oracles: the equation of the pseudo-values written with dense matrices; the masked file itself; the
scheme many times over for fixed files, with a fixed seed.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import condmask as cm
from condmask.reverse_mapping.mapping import Mapping, places

pytestmark = pytest.mark.filterwarnings(
    "ignore:heavy tails:condmask.EstimateWarning",
    "ignore:pseudo-values vary:condmask.EstimateWarning",
    "ignore::condmask.ReleaseWarning",
)
SCHEMES = {
    "linear": cm.ReverseMapping(0.6, 6.0),
    "log": cm.ReverseMapping(0.5, 0.3, scale="log"),
    "Laplace": cm.ReverseMapping(0.4, 0.3, scale="log", noise="laplace"),
}


def inverse(x):
    return 1.0 / x


def square(x):
    return (x - 20.0) ** 2


FUNCTIONS = {"log": np.log, "inverse": inverse, "square": square}


def data(n, seed):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n)
    return np.exp(3.0 + 0.3 * w + 0.4 * rng.normal(size=n)), w


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_pseudo_values_undo_the_mapping_for_the_function(name, function):
    """The mean of h over the map, with M as a dense matrix, is the function up to the residual."""
    scheme = SCHEMES[name]
    x, _ = data(400, 1)
    estimate = scheme.estimate(scheme.mask(x, rng=2, accept="all")).map(function)
    z = estimate.records.released
    order = np.argsort(z)
    at = places(z[order], scheme.sigma, scheme.scale)
    chances = Mapping(at, np.full(400, 1 / 400), scheme.noise).chances
    q = 1.0 - scheme.p
    target = function(z[order]) - function(z).mean()
    h = estimate.pseudo_values()[order] - function(z).mean()
    left = q * chances @ h + (q - q**400) / 399 * h - target
    # the residual is at most a hundredth, or adds at most a hundredth to the variance by masking
    least = max(400 * 1e-4 * np.mean(target**2), 0.01 * np.mean(h**2 - target**2))
    assert np.sum(left**2) <= 1.05 * least


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_column_alone_is_the_function_of_the_released_one(function):
    x, _ = data(500, 3)
    scheme = SCHEMES["log"]
    estimate = scheme.estimate(scheme.mask(x, rng=4, accept="all")).map(function)
    y = function(x)
    assert estimate.mean() == pytest.approx(y.mean(), rel=1e-12)
    assert estimate.std() == pytest.approx(y.std(ddof=1), rel=1e-12)
    exact = np.quantile(y, [0.1, 0.5, 0.9], method="inverted_cdf")
    np.testing.assert_allclose(estimate.quantile([0.1, 0.5, 0.9]), exact, rtol=1e-12)
    assert estimate.mean_interval(target="file").standard_error == 0.0
    unmasked = y.std() / np.sqrt(500)
    assert estimate.mean_interval().standard_error == pytest.approx(unmasked, rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_slope_is_right_on_average_over_maskings(function):
    """z of 4: one seed in 16,000 would fail."""
    x, w = data(400, 5)
    scheme = SCHEMES["log"]
    truth = stats.linregress(w, function(x)).slope
    slopes = []
    for seed in range(150):
        mapped = scheme.estimate(scheme.mask(x, rng=seed, accept="all")).map(function)
        slopes.append(mapped.covariance(w) / w.var(ddof=1))
    error = np.std(slopes, ddof=1) / np.sqrt(len(slopes))
    assert abs(np.mean(slopes) - truth) < 4.0 * error


def test_masked_values_alone_have_another_slope():
    """Without undoing the order for the logarithm the slope would be less than half."""
    x, w = data(4_000, 6)
    scheme = SCHEMES["log"]
    z = scheme.mask(x, rng=7, accept="all")
    assert stats.linregress(w, np.log(z)).slope < 0.2
    interval = scheme.estimate(z).map(np.log).regress({"w": w})["w"]
    assert interval.low < 0.3 < interval.high < interval.low + 0.2


def test_gaps_strata_and_parts_keep_their_places():
    x, _ = data(600, 8)
    sex = np.repeat(["f", "m"], 300)
    x[::10] = np.nan
    scheme = cm.ReverseMapping(0.5, 0.3, scale="log", strata="sex")
    z = scheme.mask(x, rng=9, strata=sex, nan_policy="omit", accept="all")
    mapped = scheme.estimate(z, strata=sex).map(np.log)
    pseudo = mapped.pseudo_values()
    np.testing.assert_array_equal(np.isnan(pseudo), np.isnan(z))
    part = mapped.part(sex == "f")
    assert part.mean() == pytest.approx(np.nanmean(np.log(x[:300])), rel=1e-12)
    np.testing.assert_allclose(part.pseudo_values(), pseudo[:300], rtol=1e-9)


def test_files_and_tables_agree_and_pairs_know_their_column(tmp_path):
    x, w = data(1_000, 10)
    bonus = x * np.exp(0.5 * np.random.default_rng(1).normal(size=1_000))
    scheme = SCHEMES["log"]
    table = pd.DataFrame({"income": x, "bonus": bonus, "w": w})
    release = cm.mask_table(table, {"income": scheme, "bonus": scheme}, rng=11, accept="all")
    release.write(tmp_path / "released.parquet", log=False)
    read = cm.read_release(tmp_path / "released.parquet")
    here = release["income"].map(np.log)
    there = read["income"].map(np.log)
    assert here.name == "log(income)"
    for other in ("w", "bonus"):
        assert here.correlation(other) == pytest.approx(there.correlation(other), rel=1e-9)
    assert here.regress(["w"])["w"] == there.regress(["w"])["w"]
    with pytest.raises(ValueError, match="another column, got 'income' itself"):
        here.covariance(release["income"])


def test_several_samples_are_mapped_each():
    x, _ = data(400, 12)
    scheme = SCHEMES["log"]
    z = np.stack([scheme.mask(x, rng=seed, accept="all") for seed in (13, 14)])
    means = scheme.estimate(z).map(np.log).mean()
    np.testing.assert_allclose(means, np.log(x).mean(), rtol=1e-12)


def test_groups_have_the_logarithms_of_their_quantiles():
    x, w = data(3_000, 14)
    scheme = SCHEMES["log"]
    estimate = scheme.estimate(scheme.mask(x, rng=15, accept="all"))
    group = np.where(w > 0.0, "high", "low")
    plain = estimate.group_quantiles(group, 0.5)["high"].estimate
    assert estimate.map(np.log).group_quantiles(group, 0.5)["high"].estimate == pytest.approx(
        np.log(plain), abs=0.05
    )
    with pytest.raises(ValueError, match="increasing function"):
        estimate.map(inverse).group_quantiles(group, 0.5)


def test_functions_without_a_value_are_refused_by_their_number():
    x = np.random.default_rng(1).permutation(np.arange(-5.0, 200.0))
    scheme = cm.ReverseMapping(0.6, 1.0)
    estimate = scheme.estimate(scheme.mask(x, rng=1, accept="all"))
    with pytest.raises(ValueError, match=r"6 of 205 records: 1 are zero and 5 negative"):
        estimate.map(np.log)
    with pytest.raises(ValueError, match=r"one number for each of 205 values, got the shape"):
        estimate.map(np.mean)
    with pytest.raises(TypeError, match="must be callable"):
        estimate.map("log")
    with pytest.raises(TypeError, match="one number for each"):
        estimate.map(lambda values: "log")


def test_noise_is_refused_with_the_way_to_the_mean():
    x, _ = data(400, 16)
    scheme = cm.ConditionalMasking(0.6, 1.0)
    with pytest.raises(ValueError, match="expectation_interval"):
        scheme.estimate(scheme.mask(x, rng=1, accept="all")).map(np.log)
