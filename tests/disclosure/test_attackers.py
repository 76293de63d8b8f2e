"""Attackers against simulated releases, brute force and the figures of the paper's Table 3."""

import json

import numpy as np
import pytest
from scipy.stats import laplace, norm

import condmask as cm
from condmask.disclosure.risk_result import BEST, CONSTANT, MEAN, RELEASED

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


def test_intervals_are_those_of_wilson_and_lifts_those_over_the_constant(found):
    low, high = found.interval(CONSTANT)
    expected = proportion_confint(found.attackers[CONSTANT], found.n)

    assert low == pytest.approx(expected[0], rel=1e-12)
    assert high == pytest.approx(expected[1], rel=1e-12)
    assert np.array_equal(found.low[CONSTANT], low)
    assert np.array_equal(found.high[CONSTANT], high)
    assert found.lift[CONSTANT] == pytest.approx(np.ones(5))
    assert found.lift[BEST] == pytest.approx(found.attackers[BEST] / found.attackers[CONSTANT])
    frame = found.to_frame()
    assert list(frame.columns) == ["attacker", "d", "risk", "lift", "low", "high", "records"]
    assert len(frame) == 4 * 5
    json.dumps(found.to_dict(), allow_nan=False)


def proportion_confint(share, n):
    """Wilson's interval as the roots of (share - q)^2 = z^2 q (1 - q) / n."""
    z = norm.ppf(0.975)
    a, b, c = 1 + z**2 / n, -(2 * share + z**2 / n), share**2
    root = np.sqrt(b**2 - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def test_visible_coins_raise_the_best_attacker():
    x, options = FILES["visible coins"]
    visible = cm.risk(x, cm.ConditionalMasking(0.6, **options), d=D)
    hidden = cm.risk(x, cm.ConditionalMasking(0.6, 500.0, step=100), d=D)

    assert visible.audit.visible
    assert not hidden.audit.visible
    # who sees the coin of a kept record names the interval around its value: .4 P(|Y| < 250) + .6 times .26
    assert visible.attackers[BEST][0] > hidden.attackers[BEST][0] + 0.04


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("step", [2.0**-4, 8.0, 64.0])
def test_what_is_printed_is_what_releases_print(donors, step):
    scheme = cm.ConditionalMasking(0.6, 500.0, donors=donors, step=step)
    x = np.round(X[:4_000] / step) * step
    expected = cm.risk(x, scheme, d=D, audit=False).verbatim
    runs = []
    for key in range(8):
        z = scheme.mask_rows(scheme.law.to_units(x)[None] * scheme.step, np.random.default_rng(key), ())[0]
        _, place, counts = np.unique(z, return_inverse=True, return_counts=True)
        tied = counts[place] > 1
        swapped = coins_of(x, z, scheme, key)
        runs.append([np.isin(x, z).mean(), tied.mean(), swapped[tied].mean(), swapped[~tied].mean()])
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(8)

    # six standard errors of eight runs (t with 7 degrees, 5e-4 of keys each), and 1% for the Poisson law
    assert np.mean(runs, axis=0) == pytest.approx(list(expected), abs=0.01 + 6 * error.max())


def coins_of(x, z, scheme, key):
    """Which records were swapped, from the stream that masked them."""
    from condmask._randomness import words

    return words(np.random.default_rng(key), x.size) < np.uint64(int(scheme.p * 2.0**64))


def test_without_ties_the_printed_share_is_that_of_the_paper():
    x, step = X[:3_000], 2.0**-20
    scheme = cm.ConditionalMasking(0.6, 1000.0, donors="sample", step=step)
    printed = cm.risk(np.round(x / step) * step, scheme, d=1.0, audit=False).verbatim

    assert printed.share == pytest.approx(1 - np.exp(-0.6), abs=1e-3)
    assert printed.tied == pytest.approx(0.6 * (1 - np.exp(-0.6)), abs=1e-3)
    assert printed.swapped_if_tied == pytest.approx(1.0, abs=1e-3)
    assert 1 - printed.swapped_if_untied == pytest.approx(0.4 / (1 - 0.6 * (1 - np.exp(-0.6))), abs=1e-3)


def test_strata_are_files_of_their_own():
    part = (X[:6_000] > 0).astype(int)
    scheme = cm.ConditionalMasking(0.6, 1000.0, strata="part")
    whole = cm.risk(X[:6_000], scheme, d=D, strata=part, audit=False)
    parts = [
        cm.risk(X[:6_000][part == k], cm.ConditionalMasking(0.6, 1000.0), d=D, audit=False) for k in (0, 1)
    ]

    for name, risk in whole.attackers.items():
        assert risk == pytest.approx(np.average([each.attackers[name] for each in parts], axis=0,
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
