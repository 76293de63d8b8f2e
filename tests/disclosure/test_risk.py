"""The risk of a column: expectations are what simulated releases show, and attackers do as well as
they can.

Closed forms are held against all pairs of records.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest
import reference
from releases import DONORS, NOISES
from scipy.stats import binom, norm
from worlds import rest_slow

import condmask as cm
from condmask.closed_form_risk import interval_risk
from condmask.disclosure.column import insiders

N = 3_000
D = np.array([250.0, 500.0, 1_000.0])
X = np.random.default_rng(1).laplace(10.0, 1_000.0, N)
SCHEMES = [
    cm.ConditionalMasking(0.6, 1_000.0),
    cm.ConditionalMasking(0.3, 700.0, noise="laplace"),
    cm.ReverseMapping(0.6, 1_000.0),
    cm.ReverseMapping(0.4, 700.0, noise="laplace"),
]


@cache
def released(scheme):
    expected = cm.risk(X, scheme, d=D)
    drawn = [scheme.mask(X, rng=k, accept="all") for k in range(20)]
    return scheme, expected, [cm.risk(X, scheme, d=D, released=z) for z in drawn], drawn


@pytest.fixture(params=[SCHEMES[1], *rest_slow([SCHEMES[2], SCHEMES[0], SCHEMES[3]])], ids=repr)
def releases(request):
    return released(request.param)


@pytest.mark.parametrize("name", ["masked value", "best attacker", "mean of masked values"])
def test_expected_is_what_releases_show(releases, name):
    # false alarm 1e-6 a figure; the joint law of these records errs by .006 at most
    _, expected, found, _ = releases
    shares = [risk.attackers[name] for risk in found]
    mean = np.mean(shares, axis=0)
    error = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))

    assert np.abs(mean - expected.attackers[name]) == pytest.approx(
        0.0, abs=0.006 + 5.0 * error.max()
    )


def test_records_are_guessed_as_surely_as_said(releases):
    _, _, found, _ = releases
    records = found[0].records(500.0)

    assert records.hit.mean() == pytest.approx(records.posterior.mean(), abs=0.04)
    assert (np.abs(records.guess - X)[records.hit] < 500.0).all()
    most = records.exposed()  # rows are records, none of which lacks a value
    assert records.hit[most].all()
    assert records.posterior[most].tolist() == sorted(records.posterior[records.hit])[:-11:-1]


@pytest.mark.parametrize(
    "x", [np.resize(4.0 * np.arange(30), N), np.where(np.arange(N) % 2, 0, X.round())]
)
def test_common_values_stand_out_in_a_release_as_expected(x):
    # false alarm below 1e-4: the share of 3,000 records has an error of .009 at most
    scheme = cm.ConditionalMasking(0.6, 0.3 * np.ceil(x.std()), decimals=0)
    d = 0.1 * x.std()
    found = cm.risk(x, scheme, d=d, released=scheme.mask(x, rng=1, accept="all"))
    records = found.records(d)

    best = cm.risk(x, scheme, d=d).attackers["best attacker"][0]
    shares = [found.attackers["best attacker"][0], records.posterior.mean(), records.hit.mean()]
    assert shares == pytest.approx([best] * 3, abs=0.035)


def test_strata_are_known_to_attackers():
    stratum = (np.arange(N) % 3 == 0) * 1
    x = np.where(stratum == 1, X + 50_000.0, X)
    scheme = cm.ReverseMapping(0.6, 1_000.0, strata="s")

    within = cm.risk(x, scheme, d=D, strata=stratum).attackers["best attacker"]
    parts = [cm.risk(x[stratum == s], SCHEMES[2], d=D).attackers["best attacker"] for s in (0, 1)]

    assert within == pytest.approx(np.average(parts, axis=0, weights=[2, 1]))


def test_a_table_knows_more_than_a_column():
    income = np.random.default_rng(4).lognormal(8.0, 0.5, N)
    scheme = cm.ReverseMapping(0.6, 0.2, scale="log")
    table = {
        "income": income,
        "near": income * np.exp(np.random.default_rng(5).normal(0.0, 0.1, N)),
    }

    column = cm.risk(table, {"income": scheme}, d={"income": [200.0]})["income"]
    found = column.attackers

    assert found["columns in clear"][0] > 2.0 * found["best constant"][0]
    assert found["best attacker"][0] >= found["columns in clear"][0]
    assert (column.n, column.tried) == (N, N)


def test_attackers_tried_on_some_records_have_wider_intervals():
    rng = np.random.default_rng(6)
    table = {"x": rng.normal(size=40_000), "u": rng.normal(size=40_000)}

    column = cm.risk(table, {"x": cm.ConditionalMasking(0.6, 0.5)}, d={"x": [0.2]})["x"]
    low, high = column.interval("best attacker")
    share = column.attackers["best attacker"]

    assert column.tried == 1 << 14
    width = 2.0 * 1.96 * np.sqrt(share * (1.0 - share) / (1 << 14))
    assert high - low == pytest.approx(width, rel=0.01)


def test_schemes_without_a_law_are_judged_by_their_releases():
    scheme = cm.DataSwapping()
    with pytest.raises(TypeError, match="pass what it released"):
        cm.risk(X, scheme, d=D)
    z = scheme.mask(X, rng=1)

    found = cm.risk(X, scheme, d=D, released=z).attackers["masked value"]
    assert found == pytest.approx([np.mean(np.abs(z - X) < d) for d in D])


def test_gaps_are_left_out():
    x = np.where(np.arange(N) % 7 == 0, np.nan, X)
    found, without = (cm.risk(each, SCHEMES[2], d=D).attackers for each in (x, x[~np.isnan(x)]))

    assert found["best attacker"] == pytest.approx(without["best attacker"])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_distance_by_default_is_a_tenth_of_the_spread_at_the_median(scale):
    x = 300.0 * np.exp(0.5 * norm.ppf((np.arange(N) + 0.5) / N))
    line = np.log(x / 300.0) if scale == "log" else x / 300.0

    for zeros in (0, 20 * N):  # of most the spread is that of the others
        data = np.append(x, np.zeros(zeros))
        (d,) = cm.risk(data, cm.ReverseMapping(0.6, 0.3, scale=scale))["x"].d
        assert d == pytest.approx(
            30.0 * np.diff(np.quantile(line, (0.1, 0.9)))[0] / 2.563, rel=0.05
        )


def test_insiders_find_what_they_can():
    x = np.random.default_rng(6).normal(0.0, 1.0, 200)
    found = cm.risk(x, cm.ReverseMapping(0.6, 0.3), d=[0.1]).insiders()

    assert found.unknown == (1, 2, 5, 20, 100)
    assert found.exact[0] == 1.0  # the last value is its own
    # figures of a simulation of its own, of 2,000 records each: errors .01
    assert found.exact[1:4] == pytest.approx([0.80, 0.55, 0.26], abs=0.05)
    assert (np.diff(found.exact) < 0.0).all()
    assert (found.exact <= found.within[:, 0]).all()


def test_a_value_belongs_to_one_of_the_records_that_insiders_ask_about():
    chance = np.array([[0.9, 0.5], [0.6, 0.4]])  # .9 times .4 is more than .5 times .6

    assert insiders._hits_by_weights(np.array([1.0, 2.0]), chance, np.empty(0)).tolist() == [2.0]


def test_records_are_linked_as_by_all_distances():
    stream = np.random.default_rng(7)
    table = {
        "a": stream.integers(0, 40, 300).astype(float),
        "b": stream.normal(0.0, 1.0, 300).round(1),
    }
    schemes = dict.fromkeys(table, cm.ConditionalMasking(0.5, 1.0, step=0.1))
    z = cm.mask_table(table, schemes, rng=1, accept="all").data

    linked = cm.risk(table, schemes, d={"a": 1.0, "b": 1.0}, released=z).linkage([1, 10]).linked

    scaled = [
        np.column_stack([frame[name] / table[name].std() for name in table])
        for frame in (table, z)
    ]
    distance = np.sqrt(((scaled[1][:, None] - scaled[0]) ** 2).sum(axis=2))
    own = np.diag(distance)[:, None]
    nearer = (distance < own - 1e-9).sum(axis=1)
    equal = (np.abs(distance - own) <= 1e-9).sum(axis=1)
    by_hand = [np.clip((k - nearer) / equal, 0.0, 1.0).mean() for k in (1, 10)]
    assert linked == pytest.approx(by_hand)


def test_uniques_are_counted():
    table = {
        "age": np.array([30.0, 30, 41, 52, 52, 60]),
        "income": np.array([10.0, 10, 10, 30, 31, 5]),
    }
    schemes = dict.fromkeys(table, cm.ConditionalMasking(0.6, 5.0))
    more = {"age": np.arange(70.0, 82.0), "income": np.full(12, np.nan)}
    gaps = {name: np.append(x, more[name]) for name, x in table.items()}
    found = cm.risk(gaps, schemes, d={"age": 1.0, "income": 1.0}).uniques(0.2)

    times = Counter(zip(*table.values(), strict=True))
    once, twice = (sum(count == k for count in times.values()) for k in (1, 2))
    assert found.unique == once / 6
    assert found.verbatim == pytest.approx(0.6 * once / 6)
    assert found.correct_match == pytest.approx(0.2 * once / (0.2 * once + 0.8 * 2 * twice))
    shared = dict.fromkeys(table, cm.ConditionalMasking(0.6, 5.0, donors="sample"))
    found = cm.risk(gaps, shared, d={"age": 1.0, "income": 1.0}).uniques()
    # others take it, or none does
    assert found.verbatim == pytest.approx(binom.sf(0, 5, 0.6 / 5) * once / 6)


def test_reverse_mapping_releases_every_unique_value():
    x = np.append(np.arange(80.0), [3.0, 7.0])

    assert cm.risk(x, SCHEMES[2], d=1.0).uniques().verbatim == 78 / 82


def test_results_in_json_and_print():
    found = cm.risk(X, SCHEMES[2], d=D)

    assert {row["attacker"] for row in found.to_dict()["risk"]} == set(found.attackers)
    assert all(0.0 <= row["low"] <= row["risk"] <= row["high"] <= 1.0 for row in found.rows())
    assert "most exposed record" in str(found)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cm.risk(X, SCHEMES[0], d=-1.0), "d must"),
        (lambda: cm.risk([1.0], SCHEMES[0], d=1.0), "at least 2"),
        (lambda: cm.risk(X, SCHEMES[0], d=1.0, released=X[:10]), "released"),
        (lambda: cm.risk(X, SCHEMES[0], d=1.0).records(1.0), "released must be passed"),
        (lambda: cm.risk(X, SCHEMES[0], d=1.0).insiders(), "has no reverse mapping"),
        (lambda: cm.risk(X, cm.DataSwapping(), d=1.0, released=X).records(1.0), "has a known law"),
        (
            lambda: cm.risk(X, cm.ConditionalMasking(0.6, 1.0, strata="s")),
            r"that column to risk\(\)",
        ),
        (lambda: cm.risk(X, "additive", d=1.0), "must be masking schemes"),
        (
            lambda: cm.risk(X, cm.AdditiveNoise(300.0), d=1.0).uniques(),
            "^scheme must be one that swaps records",
        ),
    ],
)
def test_refused(call, sentence):
    with pytest.raises(cm.CondmaskError, match=sentence):
        call()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("step", [0.125, 0.05, 1 / 3])
def test_risk_on_a_grid_is_that_of_all_pairs_and_all_steps_of_noise(noise, step):
    scheme = cm.ConditionalMasking(0.6, 0.9, noise=noise, step=step)
    k = np.random.default_rng(5).integers(-12, 12, 40)
    x = scheme.grid.values(k.astype(float))
    d = np.array([0.0, step / 2, step, 1.5 * step, 3 * step, 7.2 * step, 100.0])
    exact = reference.exact_step(step)
    steps = [
        next(j for j in range(10**6) if j * exact >= v or abs(j * step - v) < 1e-12)
        for v in d.tolist()
    ]

    differences = np.abs(k[:, None] - k)[~np.eye(k.size, dtype=bool)]
    share = np.array([np.mean(differences < j) for j in steps])
    # a number of steps j is drawn with the chance of its cell
    drawn = scheme.law._replace(grid=None)
    kept = np.array(
        [float(drawn.noise_within(np.array([max(j - 0.5, 0.0) * step]))[0]) for j in steps]
    )

    assert scheme.risk(x, d) == pytest.approx(0.6 * share + 0.4 * kept, rel=1e-12, abs=1e-14)
    assert np.array_equal(scheme.risk(np.append(x, np.nan), d), scheme.risk(x, d))
    assert scheme.mse([*x, np.nan]) == scheme.mse(x)
    rows = np.sort(np.stack([x, x[::-1] + step]), axis=1)
    assert interval_risk(rows, d, scheme.law)[0] == pytest.approx(scheme.risk(x, d), rel=1e-12)


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_the_error_of_the_mean_of_masked_values_is_that_of_simulated_files(donors, p):
    n = 12
    files = 40_000
    scheme = cm.ConditionalMasking(p, 0.5, donors=donors)
    x = np.random.default_rng(6).normal(size=(files, n))
    z = scheme.mask_rows(x, np.random.default_rng(7), ())
    found = np.mean((z.mean(axis=1, keepdims=True) - x) ** 2, axis=1)

    unit = x[0] / np.std(x[0], ddof=1)  # a file with variance 1
    expected = scheme.mse_of_mean(unit)

    # five standard errors: an alarm in 6e-7 of keys. kappa of shared donors adds (n - 1) kappa /
    # n, .042 and .067 of Var X, twelve and more. A lone swapped record, of chance .07 at p = .3,
    # shares a donor with a kept one, which adds 2/n^2: .001 in all
    error = found.std() / np.sqrt(files)
    assert error < 0.0035
    assert abs(found.mean() - expected) < 5 * error


def test_the_error_of_masked_values_is_that_of_all_pairs():
    scheme = cm.ConditionalMasking(0.6, 2.0, noise="laplace", step=3)
    x = np.array([0.0, 3.0, 9.0, 33.0])
    pairs = np.mean(np.subtract.outer(x, x)[~np.eye(4, dtype=bool)] ** 2)
    k = np.arange(1, 60)
    chance = np.exp(-(k - 0.5) * 3 * np.sqrt(2) / 2.0) - np.exp(-(k + 0.5) * 3 * np.sqrt(2) / 2.0)

    assert scheme.mse(x) == pytest.approx(
        0.6 * pairs + 0.4 * np.sum(chance * (3.0 * k) ** 2), rel=1e-12
    )


VALUES = np.random.default_rng(31).laplace(10, 1000, 3_000)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_risk_is_the_share_of_records_near_their_masked_values(noise):
    scheme = cm.ConditionalMasking(0.6, 700.0, noise=noise, step=0)
    x = VALUES[:300]
    d = np.array([100.0, 500.0, 2_000.0])
    pairs = np.abs(x[:, None] - x) < d[:, None, None]
    share = (pairs.sum(axis=(1, 2)) - x.size) / (x.size * (x.size - 1))
    kept = (
        2 * norm.cdf(d / 700.0) - 1 if noise == "normal" else 1 - np.exp(-d * np.sqrt(2) / 700.0)
    )

    assert scheme.risk(x, d) == pytest.approx(0.6 * share + 0.4 * kept, rel=1e-12)
    differences = (x[:, None] - x) ** 2
    exact = 0.6 * differences.sum() / (x.size * (x.size - 1)) + 0.4 * 700.0**2
    assert scheme.mse(x) == pytest.approx(exact, rel=1e-12)
    assert cm.AdditiveNoise(700.0, noise=noise).risk(x, d) == pytest.approx(kept, rel=1e-12)
