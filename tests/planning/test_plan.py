"""Plans: caps are kept, risks are those of `risk`, suggestions are accepted; predicted errors are
those met.

Oracles: closed forms, the paper's table, and the errors of simulated releases.
"""

import json
import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from reference import gauss_legendre, weights
from scipy.stats import laplace, norm
from worlds import rest_slow

import condmask as cm
from condmask.masking.scheme import Scheme
from condmask.planning.candidates import DECILE_PROBABILITIES, QUANTILES, cdf_variances
from condmask.studies.populations import Fixed

N = 2_000
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(N) + 0.5) / N, 10, 1000))
W = 0.6 * X + 800 * np.random.default_rng(1).laplace(size=N)
GROUP = np.where(np.arange(N) % 3 == 0, "a", "b")
FAST = {"p": [0.3, 0.6, 0.8], "sigma": [500.0, 1000.0, 2000.0]}
FEW = {"d": [500], "p": 0.6, "sigma": 1000.0}


def heaped(n=1_500):
    exact = np.exp(6.2 + 0.6 * np.random.default_rng(6).normal(size=n))
    return 10.0 * np.rint(exact / 10.0) + 10.0


def mask(x, scheme, **options):
    """Which refuses what shows too much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        return scheme.mask(x, rng=1, **options)


@pytest.mark.parametrize(
    ("x", "options"),
    [
        (X, {"max_risk": {500: 0.43, 1000: 0.7}}),  # which the cheapest but two miss by little
        (X, {"max_record_risk": {500: 0.55}, "max_risk": {500: 0.46}}),
        (X, {"max_error": {"quantile 0.5": 45.0, "correlation": 0.08}, "d": [500]}),
        (heaped(), {"max_risk": {25: 0.3}, "sigma": [100.0, 180.0, 700.0], "other": None}),
        (heaped(), {"max_risk": {25: 0.3}, "sigma": [100.0, 300.0], "other": None, "decimals": 0}),
        (np.append(X, [2e5, -2e5]), {"d": [500], "other": None, "reverse_mapping": True}),
    ],
    ids=["risk", "records", "errors", "heaps", "whole numbers", "far values"],
)
def test_suggestions_keep_the_caps_are_accepted_and_get_safer(x, options):
    made = cm.plan(x, **FAST | {"other": W} | options)
    chosen = [*made.suggestions.values()]

    assert chosen
    for each in chosen:
        for d, cap in options.get("max_risk", {}).items():
            assert each.risk[made.d.index(d)] <= cap
        for d, cap in options.get("max_record_risk", {}).items():
            assert each.record_risk[made.d.index(d)] <= cap
        assert all(
            each.population[name] <= cap for name, cap in options.get("max_error", {}).items()
        )
        mask(x, each.scheme)
    loss, risk = zip(*((each.loss, each.risk.mean()) for each in chosen), strict=True)
    assert (np.diff(loss) > 0.0).all()  # what costs more
    assert (np.diff(risk) < 0.0).all()  # is worth it
    # of all between, the middle one lies farthest below the line through the others
    if len(chosen) == 3:
        between = made.on_frontier & made.allowed & ~made.refused
        across = loss[2] - loss[0]
        down = risk[2] - risk[0]
        above = [
            (each.risk.mean() - risk[0]) * across - (each.loss - loss[0]) * down
            for each, ok in zip(made.candidates, between, strict=True)
            if ok and loss[0] < each.loss < loss[2]
        ]
        assert (risk[1] - risk[0]) * across - (loss[1] - loss[0]) * down == min(above)
    of_errors = "max_error" in options
    assert of_errors or loss[-1] <= 1.5 * loss[0]
    assert made.best is chosen[-1 if of_errors else 0]
    # none that masking accepts does better
    for each, ok in zip(made.candidates, made.allowed, strict=True):
        if ok and each.loss < loss[0]:
            with pytest.raises(ValueError, match=r"noise|rare|must"):
                mask(x, each.scheme)


@pytest.mark.parametrize("d", [500.0, 20_000.0])  # farther than which nobody guesses
def test_on_the_frontier_no_other_scheme_is_as_cheap_and_as_safe(d):
    made = cm.plan(X, d=[d], **FAST)

    loss, risk = np.array([(each.loss, each.risk.mean()) for each in made.candidates]).T
    as_good = (loss <= loss[:, None]) & (risk <= risk[:, None])
    assert np.array_equal(made.on_frontier, as_good.sum(axis=1) == 1)


def test_risks_are_those_of_attackers():
    d = [300.0, 900.0]
    for options in ({"reverse_mapping": True}, {"reverse_mapping": False}):
        made = cm.plan(X, d=d, p=0.6, sigma=500.0, **options)
        found = made.candidates[0]
        expected = cm.risk(X, made.candidates[0].scheme, d=d)
        assert found.risk == pytest.approx(expected.attackers["best attacker"], abs=0.006)
        assert made.constant == pytest.approx(expected.attackers["best constant"], abs=0.006)


def test_the_worst_record_of_added_noise_is_the_one_with_most_neighbours():
    x = np.rint(np.random.default_rng(1).gamma(2.0, 10.0, 60))
    d = np.array([1.0, 2.0, 3.5, 30.0])
    found = cm.plan(x, d=d, p=0.3, sigma=5.0, step=1, reverse_mapping=False).candidates[0]

    steps = np.arange(-40, 41)
    noise = norm.cdf((steps + 0.5) / 5.0) - norm.cdf((steps - 0.5) / 5.0)
    for near, worst in zip(d, found.record_risk, strict=True):
        others = max(np.sum(np.abs(x - each) < near) - 1 for each in x) / (x.size - 1)
        assert worst == pytest.approx(
            0.3 * others + 0.7 * noise[np.abs(steps) < near].sum(), rel=1e-9
        )


def test_the_worst_record_of_reverse_mapping_is_one_that_stands_alone():
    """Its own value comes back unless it is swapped, which 300 maps know to .03."""
    x = np.append(np.random.default_rng(8).normal(100.0, 150.0, 400).round(), 5_000.0)
    found = cm.plan(x, d=[1.0, 10.0], p=0.4, sigma=40.0, reverse_mapping=True).candidates[0]

    assert found.record_risk == pytest.approx([0.6, 0.6], abs=0.08)


def test_strata_count_by_their_sizes_and_the_worst_record_is_that_of_any():
    x = X + 3_000.0 * (GROUP == "a")
    options = {"d": [300, 900], "p": 0.4, "sigma": 700.0, "reverse_mapping": False}
    both = cm.plan(x, strata={"group": GROUP}, **options)
    parts = [cm.plan(x[label == GROUP], **options).candidates[0] for label in "ab"]
    shares = [np.mean(label == GROUP) for label in "ab"]

    found = both.candidates[0]
    assert found.scheme.strata == "group"
    assert found.risk == pytest.approx(shares @ np.array([each.risk for each in parts]), rel=1e-12)
    assert np.array_equal(found.record_risk, np.maximum(*(each.record_risk for each in parts)))
    assert mask(x, both.best.scheme, strata=GROUP).size == N


def test_small_strata_are_refused_or_merged():
    few = {"group": np.where(np.arange(N) < 8, "few", GROUP)}

    with pytest.raises(
        ValueError, match="strata must have at least 10 records each, got 8 in stratum 'few'"
    ):
        cm.plan(X, strata=few, **FEW)
    assert (
        cm.plan(X, strata=few, small_strata="merge", **FEW).candidates[0].scheme.small_strata
        == "merge"
    )


def test_a_p_at_which_the_smallest_strata_tell_nothing_of_relations_is_left_out():
    made = cm.plan(X[:300], strata={"group": np.arange(300) // 10}, p=[0.5, 0.9], sigma=500.0)

    assert {each.scheme.p for each in made.candidates if not each.scheme.reverse_mapping} == {0.5}
    with pytest.raises(ValueError, match="more than 10 records"):
        cm.plan(X[:10], p=0.9, sigma=500.0, reverse_mapping=False)


def test_where_one_kind_is_refused_others_are_tried():
    """A rounded bonus that most people do not get, with rare large values."""
    rng = np.random.default_rng(1)
    bonus = np.where(
        rng.random(5_000) < 0.65, 0.0, (rng.lognormal(6.5, 1.0, 5_000) / 50).round() * 50
    )

    made = cm.plan(bonus, max_risk={100: 0.75}, p=[0.3, 0.6, 0.7])

    assert made.suggestions
    assert made.refused.any()
    for each in made.suggestions.values():
        mask(bonus, each.scheme)


def test_where_nothing_is_suggested_masking_says_why():
    many = np.concatenate([X, np.repeat([2e5, -2e5, 3e5, -3e5, 4e5, -4e5], 2)])
    made = cm.plan(many, d=[500], p=0.3, sigma=1000.0, reverse_mapping=True)

    assert made.suggestions == {}
    assert "with a rare value would keep it" in str(made)
    with pytest.raises(ValueError, match="rare value"):
        _ = made.best


def test_codes_and_gaps_are_left_out_as_in_masking():
    coded = np.where(np.arange(N) % 20 == 0, 99_999.0, X)
    other = np.where(np.arange(N) % 30 == 1, np.nan, W)
    with pytest.raises(ValueError, match=r"missing must say whether 99999 in x \("):
        cm.plan(coded, other=other, **FEW)
    coded[7] = np.nan
    made = cm.plan(coded, other=other, missing=99_999, **FEW)
    present = (coded < 90_000.0) & ~np.isnan(other)
    plain = cm.plan(X[present], other=W[present], **FEW)

    assert made.n == present.sum()
    assert made.suggestions.keys() == plain.suggestions.keys() > set()
    assert made.candidates[0].loss == plain.candidates[0].loss
    assert np.array_equal(made.candidates[0].risk, plain.candidates[0].risk)
    near = np.where(np.arange(N) % 20 == 0, -8.0, np.round(X))
    refused = cm.plan(near, missing=-8, reverse_mapping=False, **FEW)
    assert "must be out of reach of masked values, got -8" in str(refused)


def test_what_is_tried_suits_the_data():
    whole = cm.plan(
        np.round(X).astype(int), **FEW | {"sigma": [500.0, 1500.0], "reverse_mapping": False}
    )
    assert [each.scheme.step for each in whole.candidates] == [1.0, 1.0]
    cents = cm.plan(np.round(X, 2), d=500, p=0.6, sigma=[200.0, 800.0], reverse_mapping=False)
    # to which masking rounds
    assert [each.scheme.step for each in cents.candidates] == [0.125, 0.5]
    z = norm.ppf((np.arange(400) + 0.5) / 400)
    # the upper half of exp(s z), z normal, spreads exp(1.28 s) times as far: 1.47 at s = .3, 2.8
    # at .8
    for x, options, scale in (
        (np.exp(0.3 * z), {}, "linear"),
        (np.exp(0.8 * z), {}, "log"),
        (np.exp(0.8 * z) - 0.5, {}, "linear"),  # some are negative
        # which would be a factor e^.5 on the other scale
        (np.exp(0.8 * z), {"sigma": 0.5}, "linear"),
    ):
        made = cm.plan(1000.0 * x, p=0.6, reverse_mapping=True, **options)
        assert {each.scheme.scale for each in made.candidates} == {scale}
        sigma = [each.scheme.sigma for each in made.candidates]
        ends = (0.05, 1.0) if scale == "log" else (100.0 * x.std(), 2_000.0 * x.std())
        if not options:
            assert (len(sigma), sigma[0], sigma[-1]) == pytest.approx((9, *ends), rel=0.05)
            assert all(1.0 < wide / narrow < 2.1 for narrow, wide in pairwise(sigma))
    tenths = cm.plan(z, sigma=1.0, reverse_mapping=True).candidates
    assert [each.scheme.p for each in tenths] == pytest.approx(np.arange(1, 10) / 10)
    assert cm.plan(np.random.default_rng(1).normal(100.0, 17.0, 400), p=0.5, sigma=10.0).d == (
        4.0,
    )


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"max_risk": {500: 0.3}, **FAST}, ValueError, "must be met by one of the 18 schemes"),
        ({"max_record_risk": {500: 0.1}, **FAST}, ValueError, "record risk 500 at most 0.1 (the"),
        (
            {"max_error": {"mean": 1.0}, **FAST},
            ValueError,
            "error of mean at most 1 (the least is",
        ),
        ({"max_record_risk": {}}, TypeError, "max_record_risk must be a dict of caps, got {}"),
        ({"d": 1, "scale": "root"}, ValueError, "scale must be"),
        ({"d": 1, "reverse_mapping": "yes"}, TypeError, "reverse_mapping must be"),
        ({"max_risk": 0.4}, TypeError, "max_risk must be a dict of caps, got 0.4"),
        (
            {"max_error": {"mode": 1.0}, "d": 1},
            ValueError,
            "max_error must be one of 'mean', 'std'",
        ),
        ({"d": 1, "p": 1.5}, ValueError, "p must lie strictly between 0 and 1, got 1.5"),
        ({"d": 1, "p": []}, ValueError, "p and sigma must name at least one scheme, got none"),
        ({"d": 1, "other": [1.0]}, ValueError, "other must"),
        ({"d": 1, "target": "both"}, ValueError, "target must be"),
        ({"d": 1, "x": []}, ValueError, "x must"),
        ({"d": 1, "x": [np.nan, 2.0]}, ValueError, "x must"),
        ({"x": np.full(300, 7.0)}, ValueError, "the standard deviation of x must be positive"),
        (
            {"other": np.full(X.size, 7.0)},
            ValueError,
            "the standard deviation of other must be positive",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(options, error, said):
    with pytest.raises(error) as caught:
        cm.plan(**{"x": X} | options)
    assert said in str(caught.value)


def test_a_plan_reads_and_writes(tmp_path):
    made = cm.plan(pd.Series(X, name="pay"), max_risk={500: 0.45}, other=W, **FAST)

    entries = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert len(entries["schemes"]) == 18
    assert Scheme.from_dict(entries["suggestions"]["most useful"]) == made.best.scheme
    rows = made.to_frame()
    assert set(rows["p"]) == {0.3, 0.6, 0.8}
    assert rows["refused"].tolist() == made.refused.tolist()
    scheme, longer, risks, errors = str(made).split("\n\n")[1].splitlines()
    assert scheme == f"most useful: {made.best.scheme!r}"
    assert longer == f"  intervals {made.best.loss:.2f} times as long as without masking"
    assert re.findall(r"[\d.]+%", risks) == [
        f"{made.best.risk[0]:.1%}",
        f"{made.best.record_risk[0]:.1%}",
    ]
    named = ["mean", "std", *RELATED, "quantile 0.5"]
    assert re.findall(r"([a-z]+(?: 0\.5)?) [\d.]+", errors) == named
    assert f"2,000 records, {made.allowed.sum()} keep the caps\n" in str(made)
    (panel,) = made.plot(tmp_path / "plan.png")
    assert "share of records whose pay is" in panel.get_xlabel()
    assert (tmp_path / "plan.png").stat().st_size > 10_000


RELATED = ("correlation", "slope", "difference")


def one(x, p, sigma, **options):
    """The only scheme of a plan, as expected."""
    return cm.plan(x, d=[500], p=p, sigma=sigma, **options).candidates[0]


def added(x, p, sigma, **options):
    return one(x, p, sigma, reverse_mapping=False, **options)


def unmasked(x, w):
    """Standard errors times sqrt(n) without masking, by influence functions: of a mean x, of a
    s.d. (u^2 - 1) s / 2, of a correlation u v - r (u^2 + v^2) / 2 with u and v standardised, of a
    slope v (u - r v) times the ratio of the s.d.; of a difference the root of variances over
    shares."""
    u, v = ((each - each.mean()) / each.std() for each in (x, w))
    r = np.mean(u * v)
    above = w > np.median(w)
    return {
        "mean": x.std(),
        "std": x.std() * np.std(u**2 - 1.0) / 2.0,
        "correlation": np.std(u * v - r * (u**2 + v**2) / 2.0),
        "slope": np.std(v * (u - r * v)) * x.std() / w.std(),
        "difference": np.sqrt(sum(x[rows].var() / rows.mean() for rows in (above, ~above))),
    }


@pytest.mark.parametrize("p", [0.3, 0.6])
def test_the_error_of_a_mean_has_a_closed_form_with_either_donors(p):
    x = 1000.0 * np.random.default_rng(2).gamma(2.0, size=500)
    sigma = 700.0

    shared, cycle = (
        added(x, p, sigma, donors=donors).file["mean"] for donors in ("sample", "permutation")
    )

    # donors drawn anew: the variance of Z less that of E[Z | file]
    drawn = x.var() + (1 - p) * sigma**2 - (1 - p) ** 2 * x.var()
    assert shared == pytest.approx(np.sqrt(drawn / 500), rel=1e-5)
    # along a cycle all values are in the release once, or with noise, which is all that varies
    assert cycle == pytest.approx(np.sqrt((1 - p) * sigma**2 / 500), rel=1e-5)


@pytest.mark.parametrize("p", [0.2, 0.6])
def test_the_error_of_a_correlation_allows_for_donors_being_other_records(p):
    """A swapped record never takes its own value, so a file keeps less than 1 - p of a
    covariance."""
    n = 240_000
    x = np.tile([-1.0, -1.0, 1.0, 1.0], n // 4)
    w = np.tile([-1.0, 1.0, -1.0, 1.0], n // 4)  # uncorrelated
    left = (1.0 - p) - p / (n - 1)

    found = added(x, p, 1.0, other=w, donors="sample", step=2.0**-10)

    # the estimate is the mean of Z W over what is left: Var = E Z^2 - ((1 - p) x)^2 = 1 + (1 - p)
    # - (1 - p)^2
    exact = (1.0 + (1.0 - p) - (1.0 - p) ** 2) / left**2
    assert found.file["correlation"] == pytest.approx(np.sqrt(exact / n), rel=1e-5)
    assert found.population["correlation"] == pytest.approx(np.sqrt((exact + 1.0) / n), rel=1e-5)


@pytest.mark.parametrize("p", [0.3, 0.8])
def test_errors_of_moments_and_relations_are_those_of_independent_records(p):
    """With donors drawn anew Z_i = z are independent, given the file, and so are a w z + b z^2."""
    n = 4_000
    sigma = 700.0
    x, w = np.random.default_rng(3).gamma(2.0, 1000.0, (2, n)) + 9_000.0
    w -= 0.5 * x
    above = (w > np.median(w)) * 1.0
    c = x - x.mean()
    u = w - w.mean()
    half = above - above.mean()
    kept = [c, c**2 + sigma**2, c**3 + 3 * c * sigma**2, c**4 + 6 * c**2 * sigma**2 + 3 * sigma**4]
    m = [p * np.mean(c**k) + (1.0 - p) * each for k, each in enumerate(kept, 1)]

    def error(a, b, w):
        first = a * w * m[0] + b * m[1]
        second = (a * w) ** 2 * m[1] + 2 * a * b * w * m[2] + b**2 * m[3]
        return np.sqrt(np.mean(second - first**2) / n)

    found = added(x, p, sigma, other=w, donors="sample")

    r = np.corrcoef(x, w)[0, 1]
    k = 1.0 - p
    exact = {
        "std": error(0.0, 0.5 / x.std(), w),
        "slope": error(1.0 / (k * w.var()), 0.0, u),
        "correlation": error(1.0 / (k * x.std() * w.std()), -0.5 * r / x.var(), u),
        "difference": error(1.0 / (k * half.var()), 0.0, half),
    }
    plain = unmasked(x, w)
    for name, file in exact.items():
        assert found.file[name] == pytest.approx(file, rel=2e-3), name
        population = np.hypot(file, plain[name] / np.sqrt(n))
        assert found.population[name] == pytest.approx(population, rel=2e-3), name


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.3, 0.8])
def test_the_variance_of_t_is_that_of_its_weights(p, noise):
    """T is the mean of K((t - Z) / sigma): by quadrature over what each record may show, in each
    way."""
    x = np.sort(X[:100])
    sigma = 700.0
    density = {"normal": norm.pdf, "laplace": laplace(0.0, 0.5**0.5).pdf}
    # an edge is at 0, where K jumps
    u, du = gauss_legendre(np.linspace(-25.0, 25.0, 1_001), order=2)
    k_of_u = weights(noise, u, p)
    plain = [
        cdf_variances(x, cm.ConditionalMasking(p, sigma, noise=noise, **options))
        for options in ({"donors": "sample"}, {"step": 0.0, "donors": "permutation"})
    ]

    for j, t in enumerate(np.quantile(x, DECILE_PROBABILITIES, method="inverted_cdf")):
        off = (t - x) / sigma
        drawn = weights(noise, off, p)
        kept = np.array([k_of_u, k_of_u**2]) * du @ density[noise](u[:, None] - off)
        first, second = (p * (drawn**k).mean() + (1.0 - p) * kept[k - 1] for k in (1, 2))
        at = np.mean(x <= t)
        assert first.mean() == pytest.approx(at, abs=1e-5)  # T has no bias
        # of records that are independent, given the file; and what a cycle of donors takes from
        # all
        exact = [np.mean(second - first**2), second.mean() - at**2 - at * (1.0 - at)]
        assert [each.file[j] for each in plain] == pytest.approx(exact, rel=0.004)
        assert [each.sample[j] for each in plain] == pytest.approx(
            [at * (1.0 - at)] * 2, rel=1e-12
        )


CASES = {
    "normal": (X, {"sigma": 700.0}),
    "few": (X[:400], {"sigma": 700.0, "noise": "laplace"}),  # whose quantiles are those of T*
    "coarse steps": (np.round(np.exp(8 + X / 4000), -2), {"sigma": 600.0, "step": 100}),
}


@pytest.mark.parametrize(
    ("name", "p", "options", "target"),
    rest_slow(
        [
            ("few", 0.3, {}, "file"),
            ("normal", 0.3, {"donors": "sample"}, "population"),
            ("coarse steps", 0.6, {"donors": "sample"}, "file"),
            ("normal", 0.8, {}, "file"),
            ("normal", 0.2, {"reverse_mapping": True}, "population"),
        ]
    ),
)
def test_errors_are_those_of_simulated_releases(name, p, options, target):
    x, given = CASES[name]
    made = one(x, p, other=W[: x.size], **{"reverse_mapping": False} | given | options)
    order = np.argsort(x, kind="stable")
    population = {"file": Fixed, "population": cm.Resampled}[target](x[order], W[order])

    study = cm.simulate(population, {"it": made.scheme}, n=x.size, replications=600, rng=44)

    errors = {
        row["statistic"]: np.sqrt(row["rmse"] ** 2 - row["bias"] ** 2)
        for row in study.rows()
        if row["estimator"] == "T_1"
    }
    errors["std"] = errors.pop("s.d.")
    ratio = {key: getattr(made, target)[key] / error for key, error in errors.items()}

    # 600 releases know each to 2.9%: three of these, and what is predicted too large by reverse
    # mapping
    for statistic in ("mean", "std", "correlation", "difference"):
        assert 0.9 < ratio[statistic] < 1.12, statistic
    # their mean is known to some 1.5%, a single one to 2.9%, and a straight density costs some 5%
    assert np.mean([ratio[key] for key in QUANTILES]) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize(("scale", "sigma"), [("linear", 10.0), ("log", 0.4)])
def test_by_reverse_mapping_the_column_itself_costs_nothing(scale, sigma):
    x = np.random.default_rng(1).lognormal(3.0, 0.5, 600)
    w = x + np.random.default_rng(2).normal(0.0, 20.0, x.size)
    found = one(x, 0.7, sigma, scale=scale, reverse_mapping=True, other=w)

    plain = {name: error / np.sqrt(x.size) for name, error in unmasked(x, w).items()}
    for name in ("mean", "std", *QUANTILES):
        assert found.file[name] == 0.0
    for name in ("mean", "std"):
        assert found.population[name] == pytest.approx(plain[name], rel=1e-9)
    for name in RELATED:
        assert found.population[name] == pytest.approx(
            np.hypot(found.file[name], plain[name]), rel=1e-9
        )
    far = one(x, 0.7, sigma, scale=scale, reverse_mapping=True, other=w + 1e3)
    for name in RELATED:
        assert far.file[name] == pytest.approx(found.file[name], rel=1e-9)
    ratios = [found.population[name] / plain[name] for name in RELATED]
    assert found.loss == pytest.approx(0.5 + 0.5 * np.mean(ratios), rel=1e-9)


def test_by_reverse_mapping_two_values_have_closed_forms():
    """An original u = 1 or -1 comes back with the mean c u, so that u / c has the variance 1/c^2 -
    1."""
    n = 40_000
    p = 0.6
    x = np.tile([-500.0, -500.0, 500.0, 500.0], n // 4)
    w = np.tile([-3.0, 3.0, -3.0, 3.0], n // 4)
    c = (1.0 - p) * (2.0 * norm.cdf(500.0 / 700.0) - 1.0)

    found = one(x, p, 700.0, reverse_mapping=True, other=w).file

    exact = np.sqrt((1.0 / c**2 - 1.0) / n)
    assert found["correlation"] == pytest.approx(exact, rel=1e-3)
    assert found["slope"] == pytest.approx(exact * 500.0 / 3.0, rel=1e-3)


def test_by_reverse_mapping_quantiles_are_those_of_a_sample():
    n = 100
    q = np.arange(1, 10) / 10
    found = one(np.arange(float(n)), 0.5, 20.0, reverse_mapping=True).population

    assert [found[name] for name in QUANTILES] == pytest.approx(
        np.sqrt(q * (1.0 - q) * n), rel=0.01
    )


def test_pools_that_are_alike_are_as_one():
    one_pool = added(X, 0.4, 700.0, other=W)
    twice = added(
        np.tile(X, 2), 0.4, 700.0, other=np.tile(W, 2), strata={"group": np.repeat(["a", "b"], N)}
    )

    for name, error in one_pool.file.items():
        rel = 0.03 if name in QUANTILES else 1e-9  # whose errors are half as wide
        assert np.sqrt(2.0) * twice.file[name] == pytest.approx(error, rel=rel)


def test_without_another_column_an_unrelated_one_counts():
    alone, beside = (added(X, 0.6, 500.0, other=w) for w in (None, np.resize([-1.0, 1.0], N)))

    unrelated = np.array([beside.population[name] for name in RELATED]) * np.sqrt(N)
    plain = unmasked(X, np.resize([-1.0, 1.0], N))
    ratio = unrelated / [plain[name] for name in RELATED]
    # statistics of the column alone cost the same
    assert alone.loss - beside.loss == pytest.approx(0.5 * (ratio[1] - ratio.mean()), abs=1e-3)


def test_deciles_that_are_the_largest_value_have_no_length_without_masking_and_do_not_count():
    top = np.minimum(X, np.quantile(X, 0.75))  # as T is 1 from there on

    narrow, wide = (added(top, 0.4, sigma) for sigma in (300.0, 900.0))

    assert 1.0 < narrow.loss < wide.loss < 10.0
    assert narrow.loss == pytest.approx(added(X, 0.4, 300.0).loss, rel=0.5)


def test_means_at_the_ends_move_the_standard_deviation_by_what_they_take_from_it():
    x = np.append(X, [2e5, -2e5])
    found = cm.plan(x, d=[500], p=0.3, sigma=1000.0, reverse_mapping=True).best

    assert found.scheme == cm.ReverseMapping(0.3, 1000.0, aggregate_ends=3)
    ordered = np.sort(x)
    ordered[:3] = ordered[:3].mean()
    ordered[-3:] = ordered[-3:].mean()
    assert found.file["std"] == pytest.approx(x.std() - ordered.std(), rel=1e-6)
    assert found.file["mean"] == 0.0


def test_what_the_estimators_refuse_has_no_error_that_is_finite():
    found = one(X[:60] / 1000.0, 0.5, 60.0, reverse_mapping=True, other=W[:60])

    assert np.isinf([found.file[name] for name in RELATED]).all()
    assert np.isinf(found.loss)
