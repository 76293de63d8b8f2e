"""Statistics with other columns after reverse mapping: the law M of the map, what undoes it,
pairs.

Oracles: M by SciPy's distribution functions; the scheme written in a few lines of NumPy, many
times over for fixed files; textbook formulas. Every test has a fixed seed; those that count have a
tolerance of z standard errors beside them, which 10^-4 of the seeds exceed.
"""

import numpy as np
import pandas as pd
import pytest
from releases import FILES, mapped_rows, scheme_of
from scipy import stats
from worlds import rest_slow

import condmask as cm
from condmask.reverse_mapping import pseudo_values
from condmask.reverse_mapping.mapping import Mapping, places

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:heavy tails:condmask.EstimateWarning", "ignore:group_means"
    ),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
]
ACCEPT = {"accept": "all"}
FAR = {
    "far apart": np.concatenate([FILES["skewed"], 1e9 + FILES["heaped"]]),
    "alone": 1e3 * np.arange(60.0),
}


def dense(x, scheme):
    """Distinct values, their shares and M: thresholds by bisection, chances by the noise's law."""
    values, counts = np.unique(x, return_counts=True)
    share = counts / x.size
    law = stats.norm() if scheme.noise == "normal" else stats.laplace(0.0, np.sqrt(0.5))
    chances = np.zeros((values.size, values.size))
    parts = [np.ones(values.size, dtype=bool)]
    if scheme.scale == "log":
        parts = [np.sign(values) == sign for sign in (-1.0, 0.0, 1.0)]
    for part in (part for part in parts if part.any()):
        own = values[part]
        w = share[part] / share[part].sum()
        at = own / scheme.sigma
        if scheme.scale == "log":
            at = np.sign(own) * np.log(np.abs(own) + (own == 0.0)) / scheme.sigma
        low = np.full(own.size - 1, at[0] - 50.0)
        high = np.full(own.size - 1, at[-1] + 50.0)
        for _ in range(100):
            middle = 0.5 * (low + high)
            up = law.cdf(middle[:, None] - at) @ w < np.cumsum(w)[:-1]
            low = np.where(up, middle, low)
            high = np.where(up, high, middle)
        ends = np.concatenate(([-np.inf], low, [np.inf]))
        chances[np.ix_(part, part)] = np.diff(law.cdf(ends - at[:, None]), axis=1)
    return values, share, chances


def looked_up(values, x, z):
    """What each value of the file has, at released values."""
    order = np.argsort(x)
    return values[order][np.searchsorted(x[order], z)]


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("name", [*FILES, *FAR])
def test_the_law_of_the_map_is_that_of_the_noise_and_keeps_the_distribution(name, noise, scale):
    x = (FILES | FAR)[name]
    scheme = scheme_of(x if name in FILES else FILES["skewed"], noise=noise, scale=scale)
    values, share, chances = dense(x, scheme)
    h, g = np.random.default_rng(2).normal(size=(2, values.size))

    own = Mapping(places(values, scheme.sigma, scale), share, noise)

    # far from zero numbers have fewer digits: 1e9 / 2^53 / .05 sigmas
    digits = 1e-5 if name == "far apart" and scale == "linear" else 1e-9
    assert own.chances == pytest.approx(chances, abs=digits)
    assert own.apply(h) == pytest.approx(chances @ h, abs=digits)
    assert own.adjoint(g) == pytest.approx(chances.T @ (share * g) / share, abs=digits)
    assert own.adjoint(np.ones(values.size)) == pytest.approx(1.0, abs=1e-8)  # w M = w
    assert (share * g) @ own.apply(h) == pytest.approx((share * h) @ own.adjoint(g), abs=1e-11)


def test_no_two_values_are_farther_apart_than_noise_reaches():
    values = np.array([-1e308, -4.0, -4.0, 0.0, 0.0, 2.0, 6.0, 1e308])

    assert places(values, 0.5, "linear").tolist() == [0, 60, 60, 68, 68, 72, 80, 140]
    assert places(values[:0], 0.5, "log").tolist() == [0]
    log = np.log([1e308, 4.0, 2.0, 6.0]) / 20.0
    apart = [log[0] - log[1], 0.0, 60.0, 0.0, 60.0, log[3] - log[2], log[0] - log[3]]
    assert places(values, 20.0, "log") == pytest.approx(np.append(0.0, np.cumsum(apart)))


@pytest.mark.parametrize("q", [0.6, 0.99])
def test_of_two_signs_on_the_log_scale_a_kept_record_shows_its_own(q):
    # swapped ones show that of any swapped record, their own with the chance (1 - q^n) / n
    z = np.tile([-1.0, 1.0], 30)
    n = 60

    found = cm.ReverseMapping(1.0 - q, 0.5, scale="log").estimate(z).pseudo_values()

    assert found == pytest.approx(z / (q + (q - q**n) / (n - 1)))


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize("name", FILES)
def test_given_its_original_a_released_value_has_it_as_the_mean_of_its_pseudo_value(name, times):
    x = np.repeat(FILES[name], times)
    scheme = scheme_of(x)
    n = x.size
    values, share, chances = dense(x, scheme)

    h = looked_up(scheme.estimate(x).pseudo_values(), x, values)

    q = 0.4
    shown = q * chances + (q - q**n) / (n - 1) * np.eye(h.size)
    target = values - x.mean()
    mean = shown @ h
    left = mean - share @ mean - target
    # what is left is a hundredth, or so little that standard errors about the file grow by a tenth
    # at most
    masking = (share @ (h - x.mean()) ** 2 - x.var()) / n
    assert share @ left**2 <= max(0.01**2 * x.var(), 0.01 * masking) * (1.0 + 1e-6)
    assert share @ h == pytest.approx(x.mean(), rel=1e-12)
    # the variance and what is left add up to little more than of the best h, which least squares
    # find
    both = np.diag(share) + n * shown.T * share @ shown
    best = np.linalg.solve(both, n * shown.T * share @ target)
    least = n * (share * target) @ (target - shown @ best)
    assert share @ (h - x.mean()) ** 2 + n * (share @ left**2) < 1.03 * least


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_many_values_in_cells_have_nearly_the_pseudo_values_of_each(scale, monkeypatch):
    x = np.random.default_rng(3).lognormal(0.0, 0.8, 20_000)
    scheme = scheme_of(x, scale=scale)

    found = scheme.estimate(x).pseudo_values()

    assert found.mean() == pytest.approx(x.mean(), rel=1e-9)
    monkeypatch.setattr(pseudo_values, "MAX_UNBINNED_RECORDS", x.size)
    exact = scheme.estimate(x).pseudo_values()
    assert np.std(found - exact) < 0.02 * x.std()
    assert found.std() == pytest.approx(exact.std(), rel=1e-4)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_pseudo_values_are_in_the_units_of_the_data(unit):
    x = FILES["heaped"] - 60.0
    w = FILES["skewed"]
    one = cm.ReverseMapping(0.3, 4.0).estimate(x)
    other = cm.ReverseMapping(0.3, 4.0 * unit).estimate(x * unit)

    assert other.pseudo_values() / unit == pytest.approx(one.pseudo_values(), rel=1e-7, abs=1e-7)
    found, plain = (each.covariance_interval(w) for each in (other, one))
    assert np.array(found[:4]) / unit == pytest.approx(plain[:4], rel=1e-6)


def weights_of(x, rng):
    """Of slopes on the column itself, on another, of two groups; about their means."""
    n = x.size
    about = [
        x,
        x > np.median(x),
        x > np.quantile(x, 0.9),
        rng.standard_normal(n),
        np.arange(n) < n // 4,
    ]
    return np.array([each - np.mean(each) for each in about]) / n


@pytest.mark.parametrize("name", rest_slow(["skewed", "zeros", "ties"]))
def test_standard_errors_about_the_file_are_those_of_many_maskings(name):
    # of 1,500 maskings a standard deviation is known to 1/sqrt(3000) = .018: within 4 of these,
    # but for what the formula is too large, up to .06 in what was tried
    x = FILES[name]
    rng = np.random.default_rng(5)
    scheme = scheme_of(x, 0.3)
    weights = weights_of(x, rng)[[0, 3]]
    z = mapped_rows(x, scheme, 1_500, rng)
    sums = looked_up(scheme.estimate(x).pseudo_values(), x, z) @ weights.T
    errors = [
        [scheme.estimate(row).total(w, target="file").standard_error for w in weights]
        for row in z[:100]
    ]

    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / sums.std(axis=0)
    assert (ratio > 1.0 - 4.0 * 0.018).all()
    assert (ratio < 1.06 + 4.0 * 0.018).all()


def test_strata_are_undone_one_by_one_and_gaps_stay():
    region = np.repeat([2, 7, 8], [300, 300, 50])
    x = np.concatenate([FILES["heaped"], 100.0 + FILES["signs"], FILES["heaped"][:50]])
    x[[3, 400]] = np.nan
    scheme = cm.ReverseMapping(0.6, 1.0, strata="region")
    w = np.random.default_rng(15).normal(size=x.size)

    estimate = scheme.estimate(x, strata=region)
    found = estimate.pseudo_values()
    total = estimate.total(w, target="file")

    alone = cm.ReverseMapping(0.6, 1.0)
    each = []
    squares = 0.0
    for own in (region == 2, region == 7, region == 8):
        each.append(alone.estimate(x[own]))
        assert found[own] == pytest.approx(each[-1].pseudo_values(), rel=1e-9, nan_ok=True)
        squares += each[-1].total(w[own], target="file").standard_error ** 2
    # pools are masked by themselves
    assert total.standard_error == pytest.approx(np.sqrt(squares), rel=1e-9)
    assert pytest.approx(max(own.N for own in each), rel=1e-9) == estimate.N > each[0].N + 1e-3
    with pytest.raises(ValueError, match=r"^strata must be given"):
        scheme.estimate(x).pseudo_values()


def test_small_pools_and_much_noise_are_refused_or_warned_of_and_the_summary_tells_n():
    x = FILES["skewed"]
    with pytest.raises(ValueError, match=r"^z must have at least 50 records \(in each stratum\)"):
        scheme_of(x).estimate(x[:49]).pseudo_values()
    little, much, most, too_much = (
        cm.ReverseMapping(0.6, sigma, scale="log").estimate(x) for sigma in (0.7, 0.8, 1.8, 2.0)
    )
    assert little.pseudo_values().std() == pytest.approx(little.N * x.std() / 0.4, rel=1e-9)
    assert 1.4 < little.N < 1.5 < much.N < 1.7 < 4.8 < most.N < 5.0
    for estimate in (much, most):
        with pytest.warns(cm.EstimateWarning, match=rf"vary {estimate.N:.2f} times as much"):
            h = estimate.pseudo_values()
        assert f"N = {0.4 * h.std() / x.std():.2f}" in estimate.summary().about
    with pytest.raises(
        ValueError, match=r"^z must have more records .* smaller sigma.* vary 6.0 times as"
    ):
        too_much.pseudo_values()


# --- what is made of them
# ---------------------------------------------------------------------------


def file_of(rng, n):
    """A skewed column, one in clear that it depends on, and labels."""
    w = rng.standard_normal(n)
    return (
        np.exp(0.5 * (0.6 * w + 0.8 * rng.standard_normal(n))),
        w,
        np.where(w > 0.8, "high", "low"),
    )


def test_regressions_and_covariances_are_those_of_the_pseudo_values(tmp_path):
    x, w, labels = file_of(np.random.default_rng(7), 500)
    frame = pd.DataFrame({"x": x, "w": w, "label": labels})
    cm.mask_table(frame, {"x": scheme_of(x)}, rng=5, **ACCEPT).write(tmp_path / "b.parquet")
    estimate = cm.read_release(tmp_path / "b.parquet", "x")
    h = estimate.pseudo_values()

    line = estimate.regress(["w"])
    groups = estimate.group_means("label")
    weighted = estimate.weighted_mean(w + 5.0)
    total = estimate.total(w)

    slope, intercept = np.polyfit(w, h, 1)
    assert line.estimate == pytest.approx([intercept, slope], rel=1e-9)
    assert groups["low"].estimate == pytest.approx(h[labels == "low"].mean(), rel=1e-9)
    assert weighted.estimate == pytest.approx(np.average(h, weights=w + 5.0), rel=1e-9)
    assert total.estimate == pytest.approx(h @ w, rel=1e-9)
    covariance = np.cov(h, w)[0, 1]
    assert estimate.covariance("w") == pytest.approx(covariance, rel=1e-9)
    assert estimate.covariance_interval(w).estimate == pytest.approx(covariance, rel=1e-9)
    assert estimate.correlation(w) == pytest.approx(
        covariance / x.std(ddof=1) / w.std(ddof=1), rel=1e-9
    )
    design = np.column_stack([np.ones(500), w])  # the standard error of a slope is that of HC3
    inverse = np.linalg.inv(design.T @ design)
    residual = h - design @ inverse @ design.T @ h
    residual /= 1.0 - np.einsum("ij,jk,ik->i", design, inverse, design)
    hc3 = (inverse @ (design.T * residual**2) @ design @ inverse)[1, 1]
    assert line["w"].standard_error == pytest.approx(np.sqrt(hc3), rel=1e-6)


def test_few_records_say_as_much_as_fewer_unmasked_ones():
    x, w, _ = file_of(np.random.default_rng(16), 60)
    with pytest.warns(
        cm.EstimateWarning,
        match="60 masked records carry as much information about it as 9.6 unmasked ones; 63",
    ):
        scheme_of(x).estimate(x).correlation_interval(w)  # (1 - p)^2 of 60


def test_intervals_cover_in_the_population_and_in_the_file():
    # 200 files: a share of .95 has a standard error of .0154, so within 4 of these of .93 to .97
    rng = np.random.default_rng(10)
    n = 200
    covered = []
    x, w, labels = file_of(np.random.default_rng(0), 4_000_000)
    population = [*np.polyfit(w, x, 1)[::-1], x[labels == "high"].mean()]
    for _ in range(200):
        x, w, labels = file_of(rng, n)
        scheme = scheme_of(x)
        estimate = scheme.estimate(mapped_rows(x, scheme, 1, rng)[0])
        file = [*np.polyfit(w, x, 1)[::-1], x[labels == "high"].mean()]
        for aims, target in ((population, "population"), (file, "file")):
            line = estimate.regress(w, target=target)
            groups = estimate.group_means(labels, target=target)
            found = [line["intercept"], line["w1"], groups["high"]]
            covered.append(
                [one.low <= aim <= one.high for one, aim in zip(found, aims, strict=True)]
            )

    shares = np.reshape(covered, (200, 2, 3)).mean(axis=0)
    assert (shares > 0.93 - 4.0 * 0.0154).all()
    assert (shares < 0.97 + 4.0 * 0.0154).all()


def test_the_interval_of_a_correlation_is_that_of_its_influence_function():
    # about the file the column's own variance is known; about the population there are moments of
    # the originals besides, which undone powers give
    x, w, _ = file_of(np.random.default_rng(14), 2_000)
    scheme = scheme_of(x, 0.3)
    w = w + 5.0
    estimate = scheme.estimate(mapped_rows(x, scheme, 1, np.random.default_rng(8))[0])

    covariance, correlation = (
        {target: ask(w, target=target) for target in ("file", "population")}
        for ask in (estimate.covariance_interval, estimate.correlation_interval)
    )

    unit = x.std(ddof=1) * w.std(ddof=1)
    about_file = covariance["file"].standard_error / unit
    assert correlation["file"].standard_error == pytest.approx(about_file, rel=1e-9)
    u = stats.zscore(x)
    v = stats.zscore(w)
    r = np.mean(u * v)
    influence = u * v - 0.5 * r * (u**2 + v**2)
    expected = np.sqrt(about_file**2 + influence.var() / 2_000)
    assert correlation["population"].standard_error == pytest.approx(expected, rel=0.05)
    expected = np.sqrt(about_file**2 + (u * v).var() / 2_000)
    assert covariance["population"].standard_error / unit == pytest.approx(expected, rel=0.05)


# --- two columns masked together
# --------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize(("p", "digits"), [(0.05, 2e-4), (0.1, 3e-6), (0.6, 1e-10)])
def test_the_covariance_of_two_is_by_the_inverse_of_the_dense_operator(p, digits, scale):
    frame = pd.DataFrame({"x": FILES["ties"], "y": np.round(FILES["skewed"])})
    schemes = {name: scheme_of(frame[name].to_numpy(), p, scale=scale) for name in frame}
    # a donor pool of its own, without the other column
    alone = pd.DataFrame({"x": FILES["ties"][:60]})
    release = cm.mask_table(pd.concat([frame, alone]), schemes, rng=1, nan_policy="omit", **ACCEPT)

    found = release["x"].covariance(release["y"])

    (x, _, a), (y, _, b) = (dense(frame[name].to_numpy(), schemes[name]) for name in frame)
    u = x - frame["x"].mean()
    v = y - frame["y"].mean()
    both = np.kron(a, b)
    phi = np.linalg.solve(p * np.eye(len(both)) + (1.0 - p) * both, np.kron(u, v)).reshape(
        u.size, v.size
    )
    at = (
        np.searchsorted(values, release.data[name][:300]) for values, name in ((x, "x"), (y, "y"))
    )
    # twenty powers of T at p = .1 leave 1.9^-20 = 3e-6
    unit = frame["x"].std() * frame["y"].std()
    assert found / unit == pytest.approx(
        phi[tuple(at)].sum() / (len(frame) - 1) / unit, abs=digits
    )


def test_how_covariances_of_columns_masked_together_err_is_not_known():
    x, w, _ = file_of(np.random.default_rng(12), 400)
    frame = pd.DataFrame({"x": x, "w": w})
    schemes = {"x": scheme_of(x, 0.3, scale="log"), "w": scheme_of(w, 0.3)}
    release = cm.mask_table(frame, schemes, rng=1, **ACCEPT)
    own = release["x"]
    other = release["w"]

    deviations = release.data["x"].std() * release.data["w"].std()
    assert own.correlation(other) == pytest.approx(own.covariance(other) / deviations, rel=1e-12)
    for ask, ends in (
        (own.covariance_interval, (np.nan, np.nan)),
        (own.correlation_interval, (-1.0, 1.0)),
    ):
        with pytest.warns(
            cm.EstimateWarning, match="covariance: the error of estimates from columns"
        ):
            interval = ask(other)
        np.testing.assert_equal(
            (interval.low, interval.high, interval.standard_error), (*ends, np.nan)
        )
        assert interval.estimate == getattr(own, ask.__name__.removesuffix("_interval"))(other)
    few = cm.mask_table(
        frame, {name: scheme_of(frame[name].to_numpy(), 0.049) for name in frame}, **ACCEPT
    )
    with pytest.raises(
        ValueError, match=r"p must be at least 0.05 for columns masked together by reverse"
    ):
        few["x"].covariance(few["w"])
