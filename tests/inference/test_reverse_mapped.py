"""Statistics with other columns after reverse mapping: pseudo-values, what is linear in them, pairs.

Oracles: the scheme written in a few lines of NumPy, many times over for fixed files; textbook formulas. Every
test has a fixed seed; those that count have a tolerance of z standard errors beside them, which 10^-4 of the
seeds exceed.
"""

import numpy as np
import pandas as pd
import pytest
from mapped_files import FILES, scheme_of
from marks import rest_slow
from scipy import stats

import condmask as cm
from benchmarks.reverse_linear import masked
from condmask.inference.intervals import EstimateWarning, UndefinedError
from condmask.inference.reverse_mapped import FEWEST, ReverseMapped

pytestmark = [
    pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning", "ignore:group_means"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
ACCEPT = {"accept_visible_coins": True}


def weights_of(x, rng):
    """Of slopes on the column itself, on another, of two groups; about their means."""
    n = x.size
    about = [x, x > np.median(x), x > np.quantile(x, 0.9), rng.standard_normal(n), np.arange(n) < n // 4]
    return np.array([each - np.mean(each) for each in about]) / n


def looked_up(values, x, z):
    """What each value of the file has, at released values."""
    order = np.argsort(x)
    return values[order][np.searchsorted(x[order], z)]


# --- what undoes it ---------------------------------------------------------------------------------


def test_pseudo_values_neither_move_the_mean_nor_depend_on_the_order():
    x = FILES["skewed"]
    scheme = scheme_of(x)
    order = np.random.default_rng(3).permutation(x.size)

    found, moved = (scheme.estimate(each).pseudo_values() for each in (x, x[order]))

    assert found.mean() == pytest.approx(x.mean(), rel=1e-13)
    assert moved == pytest.approx(found[order], rel=1e-9)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_pseudo_values_neither_overflow_nor_vanish(factor):
    x = FILES["skewed"]

    found = (
        cm.ConditionalMasking(0.6, 0.2 * factor, reverse_mapping=True).estimate(x * factor).pseudo_values()
    )

    plain = cm.ConditionalMasking(0.6, 0.2, reverse_mapping=True).estimate(x).pseudo_values()
    assert found / factor == pytest.approx(plain, rel=1e-6)


# every p under every law, and every file under two laws at least; of ties there are no logarithms
OF_LAWS = {
    ("normal", "linear"): ("skewed", "heaped", "zeros", "ties"),
    ("laplace", "linear"): ("signs", "skewed", "ties", "zeros"),
    ("normal", "log"): ("zeros", "signs", "skewed", "heaped"),
}
CELLS = [
    (name, p, *law)
    for law, names in OF_LAWS.items()
    for name, p in zip(names, (0.6, 0.3, 0.1, 0.9), strict=True)
]


def off_by(name, p, noise, scale, count):
    """By how many of their standard errors, known from `count` maskings, sums of pseudo-values are off."""
    x, rng = FILES[name], np.random.default_rng(4)
    scheme = scheme_of(x, p, noise, scale)
    values, weights = scheme.estimate(x).pseudo_values(), weights_of(x, rng)
    sums = [looked_up(values, x, masked(x, scheme, 250, rng)) @ weights.T for _ in range(count // 250)]
    sums = np.concatenate(sums)
    return (sums.mean(axis=0) - weights @ x) / sums.std(axis=0)


def test_sums_of_pseudo_values_are_without_bias_given_the_file():
    # in pools of 300 and of .05 standard errors at most; of 1,000 maskings the mean has 1/sqrt(1000) = .032
    # standard errors itself: five sums within .05 + 3.9 of these, of which 5e-4 of the seeds fall out
    assert np.abs(off_by(*CELLS[0], 1_000)).max() < 0.05 + 3.9 * 0.032


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_sums_of_pseudo_values_are_without_bias_to_a_twentieth_of_a_standard_error(cell):
    assert np.abs(off_by(*cell, 10_000)).max() < 0.05 + 3.9 * 0.01


@pytest.mark.parametrize("name", rest_slow(["skewed", "zeros", "ties"]))
def test_standard_errors_about_the_file_are_those_of_many_maskings(name):
    # of 1,500 maskings a standard deviation is known to 1/sqrt(3000) = .018: within 4 of these, but for what
    # the formula is too large, up to .06 in what was tried
    x, rng = FILES[name], np.random.default_rng(5)
    scheme = scheme_of(x, 0.3)
    weights = weights_of(x, rng)
    z = masked(x, scheme, 1_500, rng)
    sums = looked_up(scheme.estimate(x).pseudo_values(), x, z) @ weights.T
    file = ReverseMapped(z[0], scheme, None)
    variances = looked_up(next(iter(file.parts())).variances * file.unit**2, z[0], z) @ (weights**2).T

    ratio = np.sqrt(variances.mean(axis=0)) / sums.std(axis=0)
    assert (ratio > 1.0 - 4.0 * 0.018).all()
    assert (ratio < 1.06 + 4.0 * 0.018).all()


def test_the_mean_of_all_records_is_exact_for_the_file_and_that_of_unmasked_data_for_the_population():
    x = FILES["heaped"]
    estimate = scheme_of(x).estimate(np.random.default_rng(6).permutation(x))

    file, population = (
        estimate.weighted_mean(np.ones(x.size), target=target) for target in ("file", "population")
    )

    assert file.estimate == pytest.approx(x.mean(), rel=1e-13)
    assert file.standard_error < 1e-9 * x.std()
    # HC-like and plug-in: the variance of h is taken out as its square and its undone square
    assert population.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(x.size), rel=0.02)


def test_strata_are_undone_one_by_one_and_gaps_stay():
    region = np.repeat([2, 7], 300)
    x = np.concatenate([FILES["skewed"], 100.0 + FILES["heaped"]])
    x[[3, 400]] = np.nan
    scheme = cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True, strata="region")

    found = scheme.estimate(x, strata=region).pseudo_values()

    alone = cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True)
    for own in (region == 2, region == 7):
        assert found[own] == pytest.approx(alone.estimate(x[own]).pseudo_values(), rel=1e-9, nan_ok=True)
    with pytest.raises(ValueError, match=r"^strata must be given"):
        scheme.estimate(x).pseudo_values()


def test_small_pools_and_much_noise_are_refused_or_warned_of():
    x = FILES["skewed"]
    with pytest.raises(UndefinedError, match=rf"^z must have at least {FEWEST} records \(in each stratum\)"):
        scheme_of(x).estimate(x[: FEWEST - 1]).pseudo_values()
    much = cm.ConditionalMasking(0.6, 0.9, scale="log", reverse_mapping=True).estimate(x)
    with pytest.warns(EstimateWarning, match=r"vary \d\.\d\d times as much"):
        much.pseudo_values()
    with pytest.raises(UndefinedError, match=r"^z must have more records .* smaller sigma"):
        cm.ConditionalMasking(0.6, 3.0, scale="log", reverse_mapping=True).estimate(x).pseudo_values()


def test_a_column_of_one_value_has_that_as_its_pseudo_values():
    found = cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True).estimate(np.full(60, 3.0)).pseudo_values()

    assert found == pytest.approx(3.0, abs=1e-12)


@pytest.mark.filterwarnings("error")
def test_a_column_of_one_value_has_no_correlation_and_a_covariance_of_nothing():
    scheme = cm.ConditionalMasking(0.6, 0.3, reverse_mapping=True)
    release = scheme.estimate(np.full(200, 7.0))
    other = np.arange(200.0)

    found = release.correlation_interval(other)

    assert (found.low, found.high) == (-1.0, 1.0)
    assert np.isnan(found.estimate)
    assert release.covariance_interval(other)[:4] == (0.0, 0.0, 0.0, 0.0)
    assert release.summary()["s.d."].high == 0.0


def test_n_says_how_much_pseudo_values_vary():
    x = FILES["skewed"]
    estimate = scheme_of(x, 0.3).estimate(x)

    assert pytest.approx(0.7 * estimate.pseudo_values().std() / x.std(), rel=1e-3) == estimate.N
    assert 1.0 < estimate.N < 1.2
    with pytest.raises(ValueError, match=r"^scheme must be one with reverse_mapping for N"):
        cm.ConditionalMasking(0.6, 1.0, step=0.0).estimate(x).N  # noqa: B018


# --- what is made of them ---------------------------------------------------------------------------


def file_of(rng, n):
    """A skewed column, one in clear that it depends on, and labels."""
    w = rng.standard_normal(n)
    return np.exp(0.5 * (0.6 * w + 0.8 * rng.standard_normal(n))), w, np.where(w > 0.8, "high", "low")


def test_regressions_and_covariances_are_those_of_the_pseudo_values():
    x, w, labels = file_of(np.random.default_rng(7), 500)
    scheme = scheme_of(x)
    estimate = scheme.estimate(masked(x, scheme, 1, np.random.default_rng(8))[0])
    h = estimate.pseudo_values()

    line, groups = estimate.regress(w), estimate.group_means(labels)
    weighted, total = estimate.weighted_mean(w + 5.0), estimate.total(w)

    slope, intercept = np.polyfit(w, h, 1)
    assert line.estimate == pytest.approx([intercept, slope], rel=1e-9)
    assert groups["low"].estimate == pytest.approx(h[labels == "low"].mean(), rel=1e-9)
    assert weighted.estimate == pytest.approx(np.average(h, weights=w + 5.0), rel=1e-9)
    assert total.estimate == pytest.approx(h @ w, rel=1e-9)
    covariance = np.cov(h, w)[0, 1]
    assert estimate.covariance(w) == pytest.approx(covariance, rel=1e-9)
    assert estimate.covariance_interval(w).estimate == pytest.approx(covariance, rel=1e-9)
    assert estimate.correlation(w) == pytest.approx(covariance / x.std(ddof=1) / w.std(ddof=1), rel=1e-9)


def test_the_standard_error_of_a_slope_is_that_of_hc3():
    x, w, _ = file_of(np.random.default_rng(9), 500)
    scheme = scheme_of(x)
    estimate = scheme.estimate(masked(x, scheme, 1, np.random.default_rng(8))[0])
    h = estimate.pseudo_values()

    found = estimate.regress(w)["w1"].standard_error

    design = np.column_stack([np.ones(500), w])
    inverse = np.linalg.inv(design.T @ design)
    residual = h - design @ inverse @ design.T @ h
    residual /= 1.0 - np.einsum("ij,jk,ik->i", design, inverse, design)
    assert found == pytest.approx(
        np.sqrt((inverse @ (design.T * residual**2) @ design @ inverse)[1, 1]), rel=1e-6
    )


def test_intervals_cover_in_the_population_and_in_the_file():
    # 200 files: a share of .95 has a standard error of .0154, so within 4 of these of .93 to .97
    rng, n, covered = np.random.default_rng(10), 200, []
    x, w, labels = file_of(np.random.default_rng(0), 4_000_000)
    population = [*np.polyfit(w, x, 1)[::-1], x[labels == "high"].mean()]
    for _ in range(200):
        x, w, labels = file_of(rng, n)
        scheme = scheme_of(x)
        estimate = scheme.estimate(masked(x, scheme, 1, rng)[0])
        file = [*np.polyfit(w, x, 1)[::-1], x[labels == "high"].mean()]
        for aims, target in ((population, "population"), (file, "file")):
            line = estimate.regress(w, target=target)
            groups = estimate.group_means(labels, target=target)
            found = [line["intercept"], line["w1"], groups["high"]]
            covered.append([one.low <= aim <= one.high for one, aim in zip(found, aims, strict=True)])

    shares = np.reshape(covered, (200, 2, 3)).mean(axis=0)
    assert (shares > 0.93 - 4.0 * 0.0154).all()
    assert (shares < 0.97 + 4.0 * 0.0154).all()


def test_the_interval_of_a_correlation_is_that_of_its_influence_function():
    # about the file the column's own variance is known; about the population there are moments of the
    # originals besides, which undone powers give
    x, w, _ = file_of(np.random.default_rng(14), 2_000)
    scheme = scheme_of(x, 0.3)
    estimate = scheme.estimate(masked(x, scheme, 1, np.random.default_rng(8))[0])

    covariance, correlation = (
        {target: ask(w, target=target) for target in ("file", "population")}
        for ask in (estimate.covariance_interval, estimate.correlation_interval)
    )

    unit = x.std(ddof=1) * w.std(ddof=1)
    about_file = covariance["file"].standard_error / unit
    assert correlation["file"].standard_error == pytest.approx(about_file, rel=1e-9)
    u, v = stats.zscore(x), stats.zscore(w)
    r = np.mean(u * v)
    influence = u * v - 0.5 * r * (u**2 + v**2)
    expected = np.sqrt(about_file**2 + influence.var() / 2_000)
    assert correlation["population"].standard_error == pytest.approx(expected, rel=0.05)
    expected = np.sqrt(about_file**2 + (u * v).var() / 2_000)
    assert covariance["population"].standard_error / unit == pytest.approx(expected, rel=0.05)


def test_names_and_frames_serve_as_for_other_releases(tmp_path):
    x, w, labels = file_of(np.random.default_rng(11), 400)
    frame = pd.DataFrame({"x": x, "w": w, "label": labels})
    cm.mask_table(frame, {"x": scheme_of(x)}, rng=5, **ACCEPT).write(tmp_path / "b.parquet")

    estimate = cm.read_release(tmp_path / "b.parquet", "x")

    h = estimate.pseudo_values()
    assert estimate.regress(["w"]).estimate[1] == pytest.approx(np.polyfit(w, h, 1)[0], rel=1e-9)
    assert list(estimate.group_means("label")) == ["high", "low"]
    assert estimate.correlation("w") == pytest.approx(estimate.correlation(w), rel=1e-12)
