"""Which attackers the best one may copy, and that they are told apart."""

import numpy as np
import pytest
from scipy.stats import laplace, norm

import condmask as cm
from condmask.disclosure import baselines, neighbours, value_attack
from condmask.disclosure.noise_masked import NoiseMasked
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.risk_result import BEST, CONSTANT, LINKED, MEAN, RELEASED

TWO = np.array([1.0, 5.0])
FEW = np.random.default_rng(1).gamma(2.0, 10.0, 300)
NARROW = cm.ConditionalMasking(0.6, 5.0)
WEAK = np.array([0.1, 0.2])
NOTHING = np.array([np.nan, np.nan])


@pytest.fixture
def weak(monkeypatch):
    """Attackers who achieve what a test says, little or unknown where it says nothing."""

    def made(**strong):
        own = {name: strong.get(name, WEAK) for name in ("released", "mean", "constant", "posterior")}
        monkeypatch.setattr(baselines, "by_released", lambda *_: own["released"])
        monkeypatch.setattr(baselines, "by_mean", lambda *_, **__: own["mean"])
        monkeypatch.setattr(
            baselines, "by_constant", lambda *_: baselines.FullestWindows(own["constant"], np.zeros(2))
        )
        monkeypatch.setattr(value_attack, "by_posterior", lambda *_: own["posterior"])
        return own

    return made


@pytest.mark.parametrize("name", ["released", "mean", "constant", "posterior"])
@pytest.mark.parametrize("unknown", ["released", "mean", "posterior"])
def test_the_best_attacker_says_what_any_other_says_and_no_more(weak, name, unknown):
    strong = np.array([0.3, 0.7])
    figures = {unknown: NOTHING} | {name: strong}
    own = weak(**figures)

    found = cm.risk(FEW, NARROW, d=TWO, audit=False).attackers

    assert found[BEST] == pytest.approx(strong)
    # and the others are what they are
    for attacker, of in ((RELEASED, "released"), (MEAN, "mean"), (CONSTANT, "constant")):
        assert np.array_equal(found[attacker], own[of], equal_nan=True)


def test_the_best_attacker_is_as_good_as_another_at_each_distance_by_itself(weak):
    weak(released=np.array([0.5, 0.2]), mean=np.array([0.1, 0.8]))

    assert cm.risk(FEW, NARROW, d=TWO, audit=False).attackers[BEST] == pytest.approx([0.5, 0.8])


@pytest.mark.parametrize(("linked", "expected"), [(0.0, [0.4, 0.6]), (0.5, [0.5, 0.6]), (0.9, [0.9, 0.9])])
def test_who_knows_other_columns_may_forget_them(weak, monkeypatch, linked, expected):
    weak(posterior=np.array([0.4, 0.6]))
    monkeypatch.setattr(neighbours, "by_neighbours", lambda *_: (np.full(2, linked), 150))
    seen = RecordPosteriors(
        *(np.zeros((300, 2)) for _ in range(2)), np.zeros((300, 2), dtype=bool), *np.zeros((2, 300))
    )
    monkeypatch.setattr(NoiseMasked, "posteriors", lambda *_: seen)

    found = cm.risk(FEW, NARROW, d=TWO, others={"w": FEW}, audit=False)

    assert found.attackers[LINKED] == pytest.approx(expected)
    assert found.attackers[BEST] == pytest.approx([0.4, 0.6])
    assert found.records == {RELEASED: 300, MEAN: 300, CONSTANT: 300, BEST: 300, LINKED: 150}


def test_in_a_release_the_best_attacker_copies_others_and_is_copied(weak, monkeypatch):
    weak(constant=np.array([0.2, 0.3]))
    seen = RecordPosteriors(
        *(np.zeros((300, 2)) for _ in range(2)), np.zeros((300, 2), dtype=bool), *np.zeros((2, 300))
    )
    seen.hit[:75, 1] = True
    monkeypatch.setattr(NoiseMasked, "posteriors", lambda *_: seen)
    monkeypatch.setattr(neighbours, "by_neighbours", lambda *_: (np.array([0.05, 0.9]), 150))
    z = FEW + np.where(np.arange(300) < 120, 0.5, 50.0)  # two in five are within 1

    found = cm.release_risk(FEW, z, NARROW, d=TWO, others={"w": FEW}, audit=False).attackers

    assert found[RELEASED] == pytest.approx([0.4, 0.4], abs=1e-12)
    # masked values come near two in five; the mean of them, around 40, the constant 1 in 5 or 3 in 10
    assert found[BEST] == pytest.approx(np.maximum([0.4, 0.4], found[MEAN]))
    assert found[LINKED] == pytest.approx([found[BEST][0], 0.9])


D = np.array([250.0, 500.0, 1000.0, 1500.0, 2000.0])
# The file of Table 3 without its sampling error: the quantiles of Laplace(10, 1000), in shuffled order.
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(100_000) + 0.5) / 100_000, 10, 1000))
SCHEME = cm.ConditionalMasking(0.6, 1000.0)


@pytest.fixture(scope="module")
def found():
    return cm.risk(X, SCHEME, d=D)


def test_the_masked_value_has_the_risks_of_table_3(found):
    # the tables have three decimals; a grid of sigma / 1000 moves a distance by half a step, 2e-4 of the risk
    assert found.attackers[RELEASED] == pytest.approx([0.153, 0.298, 0.542, 0.712, 0.819], abs=7e-4)
    exact = 0.6 * (1 - np.exp(-D / 1000) * (1 + D / 2000)) + 0.4 * (2 * norm.cdf(D / 1000) - 1)
    assert found.attackers[RELEASED] == pytest.approx(exact, abs=5e-4)


def test_the_constant_has_the_mass_around_the_median(found):
    assert found.attackers[CONSTANT] == pytest.approx(1 - np.exp(-D / 1000), abs=5e-4)
    assert found.attackers[MEAN] == pytest.approx(1 - np.exp(-D / 1000), abs=2e-3)


def bayes_risk(d, p=0.6, cells=2_000, reach=10_000.0):
    """The best attacker on Laplace(10, 1000) by plain integration of posteriors on a lattice."""
    edges = 10 + np.linspace(-reach, reach, cells + 1)
    x = 0.5 * (edges[1:] + edges[:-1])
    mass, width = np.diff(laplace.cdf(edges, 10, 1000)), edges[1] - edges[0]
    z = x[:: cells // 400] + 0.1
    joint = mass * (p * laplace.pdf(z, 10, 1000)[:, None] + (1 - p) * norm.pdf(z[:, None] - x, 0, 1000))
    running = np.concatenate((np.zeros((z.size, 1)), np.cumsum(joint, axis=1)), axis=1)
    size = round(2 * d / width)
    return np.sum((running[:, size:] - running[:, :-size]).max(axis=1)) * (z[1] - z[0])


def test_the_best_attacker_is_the_posterior_interval_of_the_known_law(found):
    exact = [bayes_risk(d) for d in D]

    # windows begin at multiples of 10, next to the best ones; who learns the law from 100,000 records loses
    # some 1e-3 to who knows it
    assert exact == pytest.approx([0.225, 0.407, 0.661, 0.807, 0.889], abs=6e-4)
    assert found.attackers[BEST] == pytest.approx(exact, abs=3e-3)


FILES = {
    "continuous": (X[:20_000], {"sigma": 1000.0}),
    "laplace noise, small p": (X[:20_000], {"p": 0.1, "sigma": 700.0, "noise": "laplace"}),
    "permutation": (X[:20_000], {"sigma": 500.0, "donors": "permutation"}),
    "visible coins": (np.round(X[:20_000], -2), {"sigma": 500.0, "decimals": 0}),
    "coarse grid": (np.round(X[:20_000] / 250), {"sigma": 3.0, "step": 1}),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_expected_of_a_release_is_found_in_one(name):
    x, options = FILES[name]
    scheme = cm.ConditionalMasking(**({"p": 0.6} | options))
    d = np.array([0.5, 1.0, 2.0, 4.0]) if name == "coarse grid" else D[:4]
    expected = cm.risk(x, scheme, d=d, audit=False)
    z = scheme.mask(x, rng=3, accept_visible_coins=True)
    found = cm.release_risk(x, z, scheme, d=d, audit=False)

    for attacker in (RELEASED, MEAN, BEST):
        risk, n = expected.attackers[attacker], found.records[attacker]
        # 4.5 standard errors, an alarm in 7e-6 a figure, 6e-4 of keys in all; and .005 for which masked
        # values were tried on either side
        error = 4.5 * np.sqrt(risk * (1 - risk) / n) + (0.005 if attacker == BEST else 1e-9)
        error += 0.02 * risk if attacker == MEAN else 0.0  # one mean, not its law
        assert (np.abs(found.attackers[attacker] - risk) < error).all(), attacker
    assert np.array_equal(found.attackers[CONSTANT], expected.attackers[CONSTANT])


@pytest.mark.parametrize("name", FILES)
def test_closed_forms_are_those_of_all_pairs_and_all_windows(name):
    x, options = FILES[name]
    x = x[:400]
    scheme = cm.ConditionalMasking(**({"p": 0.6} | options))
    found = cm.risk(x, scheme, d=[0.0, 300.0, 1000.0], audit=False)
    masked = scheme.law.from_units(scheme.law.to_units(x))
    windows = [max(np.sum((masked >= a) & (masked < a + 2 * d)) for a in masked) for d in (300.0, 1000.0)]

    assert found.attackers[RELEASED] == pytest.approx(scheme.risk(masked, [0.0, 300.0, 1000.0]), rel=1e-12)
    assert found.attackers[CONSTANT] == pytest.approx([0.0, *(each / 400 for each in windows)], rel=1e-12)
    assert found.attackers[BEST][0] == 0.0


def test_the_mean_is_as_variable_as_that_of_releases():
    # at d far below the spread of the mean the share within d of it is an average over its law
    scheme, x = cm.ConditionalMasking(0.6, 1000.0), np.where(np.arange(400) < 200, -2000.0, X[:400] / 100)
    d = np.array([5.0, 20.0, 60.0])
    means = np.array([scheme.mask(x, rng=k, accept_visible_coins=True).mean() for k in range(400)])
    simulated = np.mean(np.abs(x[:, None, None] - means[:, None]) < d, axis=(0, 1))

    # hits of 400 means, a share of at most a half each: five standard errors
    assert cm.risk(x, scheme, d=d, audit=False).attackers[MEAN] == pytest.approx(simulated, abs=0.125)


def test_visible_coins_raise_the_best_attacker():
    x, options = FILES["visible coins"]
    visible = cm.risk(x, cm.ConditionalMasking(0.6, **options), d=D)
    hidden = cm.risk(x, cm.ConditionalMasking(0.6, 500.0, step=100), d=D)

    assert visible.audit.visible
    assert not hidden.audit.visible
    # who sees the coin of a kept record names the interval around its value: .4 P(|Y| < 250) + .6 times .26
    assert visible.attackers[BEST][0] > hidden.attackers[BEST][0] + 0.04


def test_strata_are_files_of_their_own():
    part = (X[:6_000] > 0).astype(int)
    scheme = cm.ConditionalMasking(0.6, 1000.0, strata="part")
    whole = cm.risk(X[:6_000], scheme, d=D, strata=part, audit=False)
    parts = [
        cm.risk(X[:6_000][part == k], cm.ConditionalMasking(0.6, 1000.0), d=D, audit=False) for k in (0, 1)
    ]

    for name, shares in whole.attackers.items():
        assert shares == pytest.approx(np.average([each.attackers[name] for each in parts], axis=0,
                                                weights=[each.n for each in parts]), rel=1e-12)  # fmt: skip


def test_columns_in_clear_help_who_has_them():
    rng = np.random.default_rng(4)
    x = X[:8_000]
    near, useless = x + rng.normal(0, 100, x.size), rng.normal(size=x.size)
    told = cm.risk(x, SCHEME, d=[250, 1000], others={"near": near}, audit=False)
    untold = cm.risk(x, SCHEME, d=[250, 1000], others=np.column_stack([useless]), audit=False)
    name = "best with other columns"

    # who knows x to within 100 (and the nearest of 8,000 records) names an interval of 250 that holds 90%
    assert told.attackers[name][0] > 0.85
    low, high = untold.interval(name)
    assert (low < untold.attackers[BEST] + 0.02).all()
    assert (untold.attackers[BEST] - 0.02 < high).all()
