"""Attackers on releases by reverse mapping.

Oracles: the joint law J as a whole matrix, with M by `Keys` (itself tested against quadrature), and windows
tried one by one; simulated releases whose originals are known; limits in which closed forms are elementary.
"""

import numpy as np
import pytest
from marks import rest_slow

import condmask as cm
from condmask.disclosure import baselines, reverse_mapped, simulated_maps
from condmask.disclosure.pools import pools
from condmask.disclosure.rare_values import RareChances
from condmask.disclosure.reverse_mapped import ReverseMapped
from condmask.disclosure.risk_result import BEST, CONSTANT, LINKED, MEAN, RELEASED

pytestmark = pytest.mark.usefixtures("unaudited")

RNG = np.random.default_rng(4)
AMOUNTS = np.round(RNG.lognormal(3.0, 0.6, 400))
D = np.array([0.0, 0.5, 2.0, 6.0, 30.0])


def scheme_of(p=0.6, sigma=5.0, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def file_of(x, scheme, code=None):
    ((_, file),) = pools(np.asarray(x, dtype=float), "float64", scheme.law, scheme, code)
    return file


def joint(file):
    """J as a matrix, originals by released values."""
    places, below = file.counted
    _, ranks = file.shown
    w, v, keys = np.diff(below) / file.n, np.diff(ranks) / file.n, file.keys
    m = np.array([keys.chances(np.full(v.size, at), file.cuts[:-1], file.cuts[1:]) for at in keys.at])
    return w[:, None] * (file.law.p * v + (1.0 - file.law.p) * m), places


def best(j, places, d):
    """For each column the most weight that values in a window of less than d to either side have."""
    running = np.vstack([np.zeros(j.shape[1]), np.cumsum(j, axis=0)])
    return (running[np.searchsorted(places, places + 2.0 * d)] - running[:-1]).max(axis=0)


OPTIONS = [
    {},
    {"noise": "laplace"},
    {"scale": "log", "sigma": 0.3},
    {"aggregate_ends": 5},
    {"p": 0.2, "sigma": 12.0},
]


@pytest.mark.parametrize("options", rest_slow(OPTIONS))
def test_attackers_are_read_off_the_joint_law(options, monkeypatch):
    monkeypatch.setattr(reverse_mapped, "NARROW", 1e9)  # bins of single values, as in the loops
    monkeypatch.setattr(reverse_mapped, "FINE", 1e9)
    x = np.concatenate([AMOUNTS, -AMOUNTS[:50], np.zeros(20)])
    file = file_of(x, scheme_of(**options))
    constant = baselines.by_constant(file, D)
    none = RareChances(np.empty(0, dtype=np.int64), *np.empty((2, 0, D.size)))
    j, places = joint(file)
    away = np.abs(places[:, None] - file.shown[0])

    assert j.sum(axis=1) == pytest.approx(file.keys.share, abs=1e-9)
    # the released values have their frequencies but for the error of thresholds, 3e-4 under Laplace noise
    assert j.sum(axis=0) == pytest.approx(np.diff(file.shown[1]) / file.n, abs=2e-5)
    own = file.over_records(D, none)[0]
    # swapped records have a finite pool: 1/n of them more or fewer get their own values, n = 470
    assert own == pytest.approx([j[away < d].sum() for d in D], abs=2e-3)
    found = file.by_posterior(D, constant, none)
    expected = [best(j, places, d).sum() if d else 0.0 for d in D]
    assert found == pytest.approx(expected, abs=2e-4)  # between nodes noise is interpolated


@pytest.mark.parametrize("d", [2.5, 20.0])
def test_bins_cost_little(d):
    x = RNG.lognormal(4.0, 0.7, 800)
    file = file_of(x, scheme_of(sigma=15.0))
    j, places = joint(file)
    none = RareChances(np.empty(0, dtype=np.int64), *np.empty((2, 0, 1)))
    wanted = np.array([d])
    found = file.by_posterior(wanted, baselines.by_constant(file, wanted), none)

    # windows begin at bins of an eighth of their width: what that loses is of second order
    assert found[0] == pytest.approx(best(j, places, d).sum(), rel=0.02)


FILES = {
    "continuous": (RNG.lognormal(4.0, 0.7, 2_000), {"sigma": 15.0}),
    "heaped": (np.round(RNG.lognormal(7.0, 0.5, 1_000), -2), {"sigma": 250.0, "noise": "laplace"}),
    "log, both signs and zeros": (
        np.sign(RNG.normal(0.5, 1.0, 1_500)) * RNG.lognormal(4.0, 1.0, 1_500) * (np.arange(1_500) % 9 > 0),
        {"sigma": 0.4, "scale": "log"},
    ),
    "small": (RNG.normal(100.0, 40.0, 60), {"sigma": 15.0}),
    "ends": (RNG.lognormal(4.0, 0.9, 500), {"sigma": 20.0, "aggregate_ends": 4}),
}


@pytest.mark.parametrize("name", rest_slow(FILES))
def test_what_is_expected_of_a_release_is_found_in_simulated_ones(name):
    x, options = FILES[name]
    scheme, d = scheme_of(**options), np.array([3.0, 12.0, 60.0]) * (10.0 if name == "heaped" else 1.0)
    expected = cm.risk(x, scheme, d=d, audit=False)
    releases = 300_000 // x.size // 10
    found = [
        cm.release_risk(x, scheme.mask(x, rng=seed), scheme, d=d, audit=False) for seed in range(releases)
    ]
    n = sum(each.records[BEST] for each in found)

    for attacker in (RELEASED, MEAN, CONSTANT, BEST):
        risk = expected.attackers[attacker]
        counted = np.mean([each.attackers[attacker] for each in found], axis=0)
        # five binomial standard errors of 30,000 records: a false alarm in 1e6; large-sample law: .006,
        # .02 of small files
        error = 5.0 * np.sqrt(risk * (1.0 - risk) / n) + (0.02 if name == "small" else 0.006)
        assert (np.abs(counted - risk) < error).all(), (attacker, counted, risk)


@pytest.mark.parametrize("name", rest_slow(["continuous", "small", "log, both signs and zeros"]))
def test_the_attacker_is_as_sure_as_he_is_right(name):
    x, options = FILES[name]
    scheme = scheme_of(**options)
    each = [
        cm.record_risk(x, scheme.mask(x, rng=seed), scheme, d=12.0) for seed in range(20_000 // x.size + 1)
    ]
    chance, hit = (np.concatenate([getattr(one, of) for one in each]) for of in ("posterior", "hit"))

    assert hit.mean() == pytest.approx(chance.mean(), abs=0.02)  # 20,000 records: s.e. .0035; 60: see above
    for one in each:
        assert set(one.swap_posterior) == {0.6}


def test_chances_of_records_are_those_of_simulation():
    """Lonely ones at the top, whose values come back more often than the law of large files says."""
    x = np.sort(np.append(RNG.lognormal(3.0, 0.8, 300), [400.0, 404.0, 409.0, 413.0]))
    scheme, d = scheme_of(sigma=10.0), np.array([1e-9, 15.0])
    file = file_of(x, scheme)
    lone = file.rare(d)
    found = file.released_near(d, lone, 0, x.size)
    stream, total, draws = np.random.default_rng(3), np.zeros((x.size, 2)), 4_000
    for _ in range(draws):
        total += np.abs(x[simulated_maps.release(x, scheme, stream)] - x)[:, None] < d
    simulated = total / draws

    assert set(np.flatnonzero(x >= 400.0)) <= set(lone.at)
    # 300 maps: a standard error of .028 at most; five of them, and the law of large files among many
    assert found == pytest.approx(simulated, abs=0.14)
    assert (
        found[lone.at]
        < 0.4 + 0.6 / x.size + 0.6 * (np.abs(x[lone.at, None] - x) < 15.0).mean(axis=1)[:, None]
    ).all()
    assert found[lone.at].mean(axis=0) == pytest.approx(simulated[lone.at].mean(axis=0), abs=0.02)
    none = RareChances(np.empty(0, dtype=np.int64), *np.empty((2, 0, 2)))
    top = x >= 400.0
    assert file.released_near(d, none, 0, x.size)[top, 0].mean() < simulated[top, 0].mean() - 0.03
    worst = cm.risk(x, scheme, d=d, audit=False).most_exposed
    assert worst == pytest.approx(simulated.max(axis=0), abs=0.1)


def test_without_noise_kept_records_are_what_they_were():
    x = RNG.permutation(np.arange(2_000.0))
    found = cm.risk(x, scheme_of(sigma=1e-3), d=[0.5, 1.5], audit=False).attackers

    # its own value with 1 - p and by the swap; or one of two neighbours'
    assert found[RELEASED] == pytest.approx([0.4 + 0.6 / 2_000, 0.4 + 0.6 * 3 / 2_000], abs=1e-3)
    assert found[BEST] == pytest.approx(found[RELEASED], abs=1e-3)


def test_where_all_are_swapped_a_release_tells_nothing():
    x = RNG.normal(0.0, 1.0, 3_000)
    found = cm.risk(x, scheme_of(1.0 - 1e-9, 0.3), d=[0.1, 0.5], audit=False).attackers

    assert found[BEST] == pytest.approx(found[CONSTANT], abs=1e-6)


def test_wide_noise_tells_nothing_either():
    x = RNG.normal(0.0, 1.0, 3_000)
    found = cm.risk(x, scheme_of(0.3, 1_000.0), d=[0.1, 0.5], audit=False).attackers

    assert found[BEST] == pytest.approx(found[CONSTANT], abs=2e-3)


def test_many_distinct_values_are_at_the_limit_of_additive_noise():
    x = RNG.normal(0.0, 1.0, 5_000)
    d = [0.1, 0.4]
    mapped = cm.risk(x, scheme_of(0.5, 0.3), d=d, audit=False).attackers[BEST]
    noised = cm.risk(x, cm.ConditionalMasking(0.5, 0.3), d=d, audit=False).attackers[BEST]

    # given its key a kept record's original has the same law; no released value tells of its coin, but all
    # originals are there to be seen, which makes windows of 100 records .008 better
    assert (mapped < noised + 0.015).all()
    assert (mapped > noised - 0.05).all()


def test_strata_are_pools_and_codes_are_left_out():
    x = np.concatenate([RNG.normal(0.0, 1.0, 400), RNG.normal(50.0, 1.0, 200)])
    group = np.repeat(["a", "b"], [400, 200])
    own = [cm.risk(x[group == g], scheme_of(sigma=0.5), d=0.3, audit=False).attackers[BEST] for g in "ab"]
    both = cm.risk(x, scheme_of(sigma=0.5, strata="g"), d=0.3, strata=group, audit=False)
    coded = np.append(x, [-99.0] * 7)
    with_codes = cm.risk(
        coded, scheme_of(sigma=0.5, strata="g", missing=-99), d=0.3, strata=np.append(group, ["a"] * 7)
    )

    assert both.attackers[BEST] == pytest.approx((2 * own[0] + own[1]) / 3, rel=1e-12)
    assert with_codes.attackers[BEST] == both.attackers[BEST]
    assert with_codes.n == 600


def test_columns_in_clear_help_as_under_additive_noise():
    n = 4_096
    x = RNG.normal(0.0, 1.0, n)
    near, useless = x + RNG.normal(0.0, 0.2, n), RNG.normal(0.0, 1.0, n)
    scheme = scheme_of(0.6, 0.3)
    told = cm.risk(x, scheme, d=[0.1, 0.3], others={"near": near}, audit=False)
    untold = cm.risk(x, scheme, d=[0.1, 0.3], others={"useless": useless}, audit=False)
    there = cm.release_risk(
        x, scheme.mask(x, rng=1), scheme, d=[0.1, 0.3], others={"near": near}, audit=False
    )
    noised = cm.risk(x, cm.ConditionalMasking(0.6, 0.3), d=[0.1, 0.3], others={"near": near}, audit=False)

    # the sd of x given the other column is .196: .39 and .87 at the best, with its key and surely kept .46
    # and .93; neighbours are not all of that law. 2,048 records: standard errors of .011
    assert told.attackers[LINKED] == pytest.approx([0.39, 0.88], abs=0.05)
    assert told.attackers[LINKED] == pytest.approx(noised.attackers[LINKED], abs=0.05)
    assert there.attackers[LINKED] == pytest.approx(told.attackers[LINKED], abs=0.05)
    assert untold.attackers[LINKED] == pytest.approx(untold.attackers[BEST], abs=0.03)


def test_all_originals_are_printed_but_those_behind_means():
    x = RNG.lognormal(3.0, 0.6, 400)
    plain_, ends = (cm.risk(x, scheme_of(aggregate_ends=k), d=1.0).verbatim for k in (0, 4))

    assert plain_.share == 1.0
    assert ends.share == 1.0 - 8 / 400
    assert (ends.tied, ends.swapped_if_tied) == (8 / 400, 0.6)


def test_single_precision_is_taken_as_it_is():
    x = RNG.lognormal(3.0, 0.6, 300).astype(np.float32)
    scheme = scheme_of(aggregate_ends=3)
    z = scheme.mask(x, rng=2)

    assert z.dtype == np.float32
    assert cm.record_risk(x, z, scheme, d=2.0).rows.size == 300


def test_a_release_of_other_values_is_refused():
    x = RNG.normal(0.0, 1.0, 100)

    with pytest.raises(ValueError, match="z must hold the values of x in another order"):
        cm.release_risk(x, x + 0.5, scheme_of(), d=1.0)


def test_records_unique_in_several_columns_are_printed_by_the_swapped():
    people = {"age": [30, 30, 41, 52], "income": [10, 10, 10, 30]}

    assert cm.uniques(people, scheme_of(0.7)).verbatim == 0.7 * 0.5


def test_files_are_rearranged_in_trials():
    x = RNG.lognormal(3.0, 0.6, 200)
    file = file_of(x, scheme_of(aggregate_ends=3))

    assert isinstance(file, ReverseMapped)
    z = file.drawn(np.arange(file.n), np.random.default_rng(1))
    assert np.array_equal(np.sort(z), np.sort(file.released))


@pytest.mark.parametrize(
    ("options", "scale"), [({"sigma": 5.0}, np.array), ({"sigma": 0.3, "scale": "log"}, np.log)]
)
def test_positions_lie_on_the_line_on_which_noise_is_added(options, scale):
    x, scheme = RNG.lognormal(3.0, 0.6, 200), scheme_of(**options)
    file, rows = file_of(x, scheme), np.arange(0, 200, 3)
    positions = file.positions(rows)

    assert np.diff(positions) * scheme.sigma / file.noise_width == pytest.approx(np.diff(scale(x[rows])))
    assert file.units_at(positions) == pytest.approx(x[rows])
    # a released value is that of the key in the middle of those that get it: near its own, among 200
    middle = file.units_at(file.released_positions(np.sort(x)[50:150]))
    assert middle == pytest.approx(np.sort(x)[50:150], rel=0.25)


def test_trials_of_some_records_are_those_records_of_a_trial_of_all():
    x = RNG.lognormal(3.0, 0.6, 100)
    file, rows = file_of(x, scheme_of()), np.arange(1, 100, 7)
    whole = file.drawn(np.arange(100), np.random.default_rng(1))

    assert np.array_equal(file.drawn(rows, np.random.default_rng(1)), whole[rows])
