"""Plans: caps are kept, risks are those of `risk`, suggestions are accepted by masking."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import laplace, norm

import condmask as cm

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
        assert all(each.population[name] <= cap for name, cap in options.get("max_error", {}).items())
        mask(x, each.scheme)
    loss, risk = zip(*((each.loss, each.risk.mean()) for each in chosen), strict=True)
    assert (np.diff(loss) > 0.0).all()  # what costs more
    assert (np.diff(risk) < 0.0).all()  # is worth it
    if len(chosen) == 3:  # of all between, the middle one lies farthest below the line through the others
        between = made.on_frontier & made.allowed & ~made.refused
        across, down = loss[2] - loss[0], risk[2] - risk[0]
        above = [
            (each.risk.mean() - risk[0]) * across - (each.loss - loss[0]) * down
            for each, ok in zip(made.candidates, between, strict=True)
            if ok and loss[0] < each.loss < loss[2]
        ]
        assert (risk[1] - risk[0]) * across - (loss[1] - loss[0]) * down == min(above)
    of_errors = "max_error" in options
    assert of_errors or loss[-1] <= 1.5 * loss[0]
    assert made.best is chosen[-1 if of_errors else 0]
    for each, ok in zip(made.candidates, made.allowed, strict=True):  # none that masking accepts does better
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
        found, expected = made.candidates[0], cm.risk(X, made.candidates[0].scheme, d=d)
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
        assert worst == pytest.approx(0.3 * others + 0.7 * noise[np.abs(steps) < near].sum(), rel=1e-9)


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

    with pytest.raises(ValueError, match="strata must have at least 10 records each, got 8 in stratum 'few'"):
        cm.plan(X, strata=few, **FEW)
    assert cm.plan(X, strata=few, small_strata="merge", **FEW).candidates[0].scheme.small_strata == "merge"


def test_a_p_at_which_the_smallest_strata_tell_nothing_of_relations_is_left_out():
    made = cm.plan(X[:300], strata={"group": np.arange(300) // 10}, p=[0.5, 0.9], sigma=500.0)

    assert {each.scheme.p for each in made.candidates if not each.scheme.reverse_mapping} == {0.5}
    with pytest.raises(ValueError, match="more than 10 records"):
        cm.plan(X[:10], p=0.9, sigma=500.0, reverse_mapping=False)


def test_where_one_kind_is_refused_others_are_tried():
    """A rounded bonus that most people do not get, with rare large values."""
    rng = np.random.default_rng(1)
    bonus = np.where(rng.random(5_000) < 0.65, 0.0, (rng.lognormal(6.5, 1.0, 5_000) / 50).round() * 50)

    made = cm.plan(bonus, max_risk={100: 0.75}, p=[0.3, 0.6, 0.7])

    assert made.suggestions
    assert made.refused.any()
    for each in made.suggestions.values():
        mask(bonus, each.scheme)


def test_where_nothing_is_suggested_masking_says_why():
    many = np.concatenate([X, np.repeat([2e5, -2e5, 3e5, -3e5, 4e5, -4e5], 2)])
    made = cm.plan(many, d=[500], p=0.3, sigma=1000.0, reverse_mapping=True)

    assert made.suggestions == {}
    assert "with a rare value get that value back" in str(made)
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
    whole = cm.plan(np.round(X).astype(int), **FEW | {"sigma": [500.0, 1500.0], "reverse_mapping": False})
    assert [each.scheme.step for each in whole.candidates] == [1.0, 1.0]
    cents = cm.plan(np.round(X, 2), d=500, p=0.6, sigma=[200.0, 800.0], reverse_mapping=False)
    assert [each.scheme.step for each in cents.candidates] == [0.125, 0.5]  # to which masking rounds
    z = norm.ppf((np.arange(400) + 0.5) / 400)
    # the upper half of exp(s z), z normal, spreads exp(1.28 s) times as far: 1.47 at s = .3, 2.8 at .8
    for x, options, scale in (
        (np.exp(0.3 * z), {}, "linear"),
        (np.exp(0.8 * z), {}, "log"),
        (np.exp(0.8 * z) - 0.5, {}, "linear"),  # some are negative
        (np.exp(0.8 * z), {"sigma": 0.5}, "linear"),  # which would be a factor e^.5 on the other scale
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
    assert cm.plan(np.random.default_rng(1).normal(100.0, 17.0, 400), p=0.5, sigma=10.0).d == (4.0,)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"max_risk": {500: 0.3}, **FAST}, ValueError, "must be met by one of the 18 schemes"),
        ({"max_record_risk": {500: 0.1}, **FAST}, ValueError, "record risk 500 at most 0.1 (the"),
        ({"max_error": {"mean": 1.0}, **FAST}, ValueError, "error of mean at most 1 (the least is"),
        ({"max_record_risk": {}}, TypeError, "max_record_risk must be a dict of caps, got {}"),
        ({"d": 1, "scale": "root"}, ValueError, "scale must be"),
        ({"d": 1, "reverse_mapping": "yes"}, TypeError, "reverse_mapping must be"),
        ({"max_risk": 0.4}, TypeError, "max_risk must be a dict of caps, got 0.4"),
        ({"max_error": {"mode": 1.0}, "d": 1}, ValueError, "max_error must be one of 'mean', 'std'"),
        ({"d": 1, "p": 1.5}, ValueError, "p must lie strictly between 0 and 1, got 1.5"),
        ({"d": 1, "p": []}, ValueError, "p and sigma must name at least one scheme, got none"),
        ({"d": 1, "other": [1.0]}, ValueError, "other must"),
        ({"d": 1, "target": "both"}, ValueError, "target must be"),
        ({"d": 1, "x": []}, ValueError, "x must"),
        ({"d": 1, "x": [np.nan, 2.0]}, ValueError, "x must"),
        ({"x": np.full(300, 7.0)}, ValueError, "the standard deviation of x must be positive"),
        ({"other": np.full(X.size, 7.0)}, ValueError, "the standard deviation of other must be positive"),
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
    assert cm.ConditionalMasking.from_dict(entries["suggestions"]["most useful"]) == made.best.scheme
    rows = made.to_frame()
    assert set(rows["p"]) == {0.3, 0.6, 0.8}
    assert rows["refused"].tolist() == made.refused.tolist()
    assert f"most useful: {made.best.scheme!r}" in str(made)
    assert f"2,000 records, {made.allowed.sum()} keep the caps\n" in str(made)
    (panel,) = made.plot(tmp_path / "plan.png")
    assert "share of records whose pay is" in panel.get_xlabel()
    assert (tmp_path / "plan.png").stat().st_size > 10_000
