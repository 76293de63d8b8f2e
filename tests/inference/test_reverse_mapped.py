"""Statistics with other columns after reverse mapping: pseudo-values, what is linear in them, pairs.

Oracles: the scheme written in a few lines of NumPy, many times over for fixed files; the law of the map by
quadrature; dense least squares; textbook formulas. Every test has a fixed seed; those that count have a
tolerance of z standard errors beside them, which 10^-4 of the seeds exceed.
"""

import numpy as np
import pandas as pd
import pytest
from marks import rest_slow
from scipy import stats

import condmask as cm
from benchmarks.reverse_linear import masked
from condmask.engines import mapping_law
from condmask.inference import reverse_pairs
from condmask.inference.intervals import EstimateWarning, UndefinedError
from condmask.inference.reverse_mapped import FEWEST, Reversed

pytestmark = [
    pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning", "ignore:group_means"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
ACCEPT = {"accept_visible_coins": True}

RNG = np.random.default_rng(1)
FILES = {
    "skewed": RNG.lognormal(0.0, 0.8, 300),
    "heaped": np.round(RNG.lognormal(3.0, 0.5, 300) / 5.0) * 5.0,
    "zeros": np.where(RNG.random(300) < 0.4, 0.0, RNG.lognormal(0.0, 0.8, 300)),
    "ties": RNG.poisson(2.0, 300).astype(float),
    "signs": np.where(RNG.random(300) < 0.1, 0.0, RNG.normal(0.0, 3.0, 300)),
}


# the keys that no cell is given: 1e-15 of the records in each of 26 * 2 * 64 cells; of one record in 300, of
# its own chances, 300 times that
LOST = 1e-15 * 26 * 2 * 64


def scheme_of(x, p=0.6, noise="normal", scale="linear", **options):
    sigma = 0.3 if scale == "log" else 0.3 * float(x.std())
    return cm.ConditionalMasking(p, sigma, noise=noise, scale=scale, reverse_mapping=True, **options)


def weights_of(x, rng):
    """Of slopes on the column itself, on another, of two groups; about their means."""
    n = x.size
    about = [x, x > np.median(x), x > np.quantile(x, 0.9), rng.standard_normal(n), np.arange(n) < n // 4]
    return np.array([each - np.mean(each) for each in about]) / n


def looked_up(values, x, z):
    """What each value of the file has, at released values."""
    order = np.argsort(x)
    return values[order][np.searchsorted(x[order], z)]


# --- the law of the map -----------------------------------------------------------------------------


def quadrature(x, scheme):
    """M by distinct values: thresholds by bisection, chances by the noise's distribution function."""
    values, counts = np.unique(x, return_counts=True)
    share = counts / x.size
    law = stats.norm() if scheme.noise == "normal" else stats.laplace(0.0, np.sqrt(0.5))
    place = values if scheme.scale == "linear" else np.log(values)
    low, high = np.full(values.size - 1, place[0] - 50.0), np.full(values.size - 1, place[-1] + 50.0)
    for _ in range(80):
        middle = 0.5 * (low + high)
        below = law.cdf((middle[:, None] - place) / scheme.sigma) @ share
        up = below < np.cumsum(share)[:-1]
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    ends = np.concatenate(([-np.inf], low, [np.inf]))
    chances = np.diff(law.cdf((ends - place[:, None]) / scheme.sigma), axis=1)
    return values, share, chances


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_the_law_of_the_map_is_that_of_quadrature(noise, scale):
    x = np.repeat(np.arange(1.0, 9.0), [30, 5, 60, 1, 44, 10, 20, 30])
    scheme = cm.ConditionalMasking(
        0.6, 1.3 if scale == "linear" else 0.4, noise=noise, scale=scale, reverse_mapping=True
    )

    own = mapping_law.of_values(x, noise, scheme.sigma, scale)

    values, share, chances = quadrature(x, scheme)
    assert own.means(x) == pytest.approx(values, abs=1e-12)
    assert own.share == pytest.approx(share, abs=1e-15)
    # keys are counted in cells of sigma/64, values are within half of one: some .4/128 each
    assert np.abs(own.matrix() - chances).max() < 0.006
    assert own.share @ own.matrix() == pytest.approx(own.share, abs=LOST)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_map_keeps_the_distribution_and_its_adjoint_is_one(name, scale):
    x = FILES[name]
    own = mapping_law.of_values(x, "normal", 0.3 * x.std(), scale)
    h, g = np.random.default_rng(2).normal(size=(2, own.share.size))

    assert own.apply(np.ones(h.size)) == pytest.approx(1.0, abs=300 * LOST)
    assert own.adjoint(np.ones(h.size)) == pytest.approx(1.0, abs=300 * LOST)
    assert own.share @ (g * own.apply(h)) == pytest.approx(own.share @ (h * own.adjoint(g)), abs=1e-12)


def test_signs_stay_and_zeros_stay_zeros_on_the_log_scale():
    x = FILES["signs"]
    own = mapping_law.of_values(x, "normal", 1.0, "log")

    sign, chances = np.sign(own.means(x)), own.matrix()

    assert np.abs(chances[sign[:, None] != sign]).max() < 300 * LOST


def test_gaps_are_shortened_without_a_trace():
    x = np.concatenate([FILES["skewed"], 1e9 + FILES["heaped"]])
    near = np.concatenate([FILES["skewed"], 1e3 + FILES["heaped"]])

    own, other = (mapping_law.of_values(each, "laplace", 1.0, "linear") for each in (x, near))

    assert own.size < 1e5
    assert own.matrix() == pytest.approx(other.matrix(), abs=1e-12)


def test_values_too_far_apart_are_refused(monkeypatch):
    monkeypatch.setattr(mapping_law, "MOST_CELLS", 10_000)
    x = 100.0 * np.arange(60.0)

    with pytest.raises(
        UndefinedError, match=r"^z must have been masked with a larger sigma .* over [\d,]+ sigmas"
    ):
        cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True).estimate(x).pseudo_values()


# --- what undoes it ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ties", "heaped"])
def test_with_few_values_the_equation_is_solved_as_dense_least_squares_do(name):
    x, p, n = FILES[name], 0.6, FILES[name].size
    own = mapping_law.of_values(x, "normal", 0.3 * x.std(), "linear")
    target = own.means(x)

    h = mapping_law.inverse(own, p, target)

    stays = p - (p - (1.0 - (1.0 - p) ** n) / n) * n / (n - 1)  # p - p' - p'/(n-1)
    system = (1.0 - p) * own.matrix() + stays * np.eye(target.size)
    root = np.sqrt(own.share)
    exact = np.linalg.lstsq(root[:, None] * system, root * (target - own.share @ target), rcond=None)[0]
    left = system @ (h - own.share @ h) - (target - own.share @ target)
    spread = np.sqrt(own.share @ (target - own.share @ target) ** 2)
    assert own.share @ h == pytest.approx(own.share @ target, abs=1e-12)
    assert np.sqrt(own.share @ left**2) < 0.01 * spread
    # a residual of 1% is undone to some 1% of h where nothing is ill-posed; heaps are
    assert np.sqrt(own.share @ (h - own.share @ h - exact) ** 2) < (0.02 if name == "ties" else 0.5) * spread


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


CELLS = [
    (name, p, noise, scale)
    for p in (0.6, 0.3, 0.1, 0.9)
    for name in FILES
    for noise, scale in (("normal", "linear"), ("laplace", "linear"), ("normal", "log"))
    if scale == "linear" or name != "ties"
]


def off_by(name, p, noise, scale, count):
    """By how many of their standard errors, known from `count` maskings, sums of pseudo-values are off."""
    x, rng = FILES[name], np.random.default_rng(4)
    scheme = scheme_of(x, p, noise, scale)
    values, weights = scheme.estimate(x).pseudo_values(), weights_of(x, rng)
    sums = [looked_up(values, x, masked(x, scheme, 250, rng)) @ weights.T for _ in range(count // 250)]
    sums = np.concatenate(sums)
    return (sums.mean(axis=0) - weights @ x) / sums.std(axis=0)


@pytest.mark.parametrize(("name", "p", "noise", "scale"), rest_slow(CELLS))
def test_sums_of_pseudo_values_are_without_bias_given_the_file(name, p, noise, scale):
    # in pools of 300 and of .05 standard errors at most; of 1,000 maskings the mean has 1/sqrt(1000) = .032
    # standard errors itself: five sums within .05 + 3.9 of these, of which 5e-4 of the seeds fall out
    assert np.abs(off_by(name, p, noise, scale, 1_000)).max() < 0.05 + 3.9 * 0.032


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
    file, _ = Reversed(z[0], scheme, None).undone()
    variances = looked_up(file.variances * file.unit**2, z[0], z) @ (weights**2).T

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


def test_spreads_show_the_law_the_function_and_how_much_it_varies():
    x = FILES["skewed"]
    estimate = scheme_of(x, 0.3).estimate(x)

    (own,) = estimate.spreads().values()

    assert own.n == x.size
    assert own.shares @ own.matrix() == pytest.approx(own.shares, abs=1e-14)
    assert pytest.approx(0.7 * estimate.pseudo_values().std() / x.std(), rel=1e-3) == own.N
    assert 1.0 < own.N < 1.2
    with pytest.raises(ValueError, match=r"^scheme must be one with reverse_mapping for spreads"):
        cm.ConditionalMasking(0.6, 1.0, step=0.0).estimate(x).spreads()


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


# --- two columns masked together --------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.3, 0.6, 0.9])
def test_the_polynomial_is_the_inverse_on_the_eigenvalues(p):
    t = np.linspace(0.0, 1.0, 1_001)

    found = np.polynomial.Polynomial(reverse_pairs.coefficients(p))(t)

    # twenty terms at p = .1 leave 1.9^-20 = 3e-6 of 10
    assert np.abs(found * (p + (1.0 - p) * t) - 1.0).max() < (1e-5 if p < 0.3 else 1e-7)


def test_the_pair_formula_is_the_inverse_of_the_dense_operator():
    x, y = FILES["ties"], np.round(FILES["skewed"])
    one, two = (Reversed(each, scheme_of(each), None) for each in (x, y))
    a, b = one.pools[0].kernel, two.pools[0].kernel

    found, _, unit = reverse_pairs.joint(one, two, x, y)

    u, v = a.means(x) - x.mean(), b.means(y) - y.mean()
    both = np.kron(a.matrix(), b.matrix())
    phi = np.linalg.solve(0.6 * np.eye(len(both)) + 0.4 * both, np.kron(u, v)).reshape(u.size, v.size)
    assert found * unit == pytest.approx(phi[a.cell, b.cell].sum() / (x.size - 1), rel=1e-6)


def test_covariances_of_columns_masked_together_are_without_bias():
    # 80 releases of one file: their mean within 4.1 of its standard errors, 4e-5 of the seeds fall out
    rng, n, found, plain = np.random.default_rng(12), 400, [], []
    x = rng.standard_normal(n)
    y = np.exp(0.7 * x + 0.4 * rng.standard_normal(n))
    frame = pd.DataFrame({"x": x, "y": y})
    schemes = {"x": scheme_of(x, 0.3), "y": scheme_of(y, 0.3, scale="log")}
    for seed in range(80):
        release = cm.mask_table(frame, schemes, rng=seed, **ACCEPT)
        data, own, other = release.data, release["x"], release["y"]
        found.append(own.covariance(other))
        plain.append(np.cov(data["x"], data["y"])[0, 1])

    true = np.cov(x, y)[0, 1]
    error = np.std(found) / np.sqrt(80)
    assert abs(np.mean(found) - true) < 4.1 * error
    assert abs(np.mean(plain) - true) > 8.0 * error
    assert own.correlation(other) == pytest.approx(
        own.covariance(other) / data["x"].std() / data["y"].std(), rel=1e-12
    )
    for ask in (own.covariance_interval, own.correlation_interval):
        with pytest.raises(
            UndefinedError, match=r"^other must be a column that was not masked for an interval"
        ):
            ask(other)


def test_pairs_within_strata_keep_what_the_strata_have_in_common():
    n, rng = 600, np.random.default_rng(13)
    region = np.arange(n) % 2
    x = rng.standard_normal(n) + 3.0 * region
    y = x + rng.standard_normal(n)
    schemes = {name: cm.ConditionalMasking(0.6, 0.3, reverse_mapping=True) for name in ("x", "y")}
    found = []
    for seed in range(50):
        release = cm.mask_table(
            pd.DataFrame({"x": x, "y": y, "region": region}),
            schemes,
            strata="region",
            rng=seed,
            accept_visible_coins=True,
        )
        found.append(release["x"].covariance(release["y"]))

    assert abs(np.mean(found) - np.cov(x, y)[0, 1]) < 4.1 * np.std(found) / np.sqrt(50)
