"""Who knows columns that are not masked, against Bayes' rule where these say which group a record is of."""

import numpy as np
import pytest
from scipy.stats import norm

import condmask as cm
from condmask.disclosure import neighbours
from condmask.disclosure.original import Original
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.kernels.windows import best_of_points

D = np.array([1.0, 2.5, 5.0])
LINE = np.arange(-60, 101)
SIGMA, N = 6.0, 8_000
STREAM = np.random.default_rng(1)
GROUP = np.arange(N) % 2
# in the one group nine in ten lie about 0, the others about 20; in the other anywhere
MODES = np.where(np.arange(N) % 20 < 18, 0.0, 20.0) + 1.5 * STREAM.normal(size=N)
X = np.rint(np.where(GROUP == 0, MODES, STREAM.uniform(-5.0, 35.0, N)))


def original(x, scheme):
    return Original(scheme.canonical(x, "x", "float64"), "float64", scheme.law)


def shares(x):
    return np.array([np.mean(x == value) for value in LINE])


def joint(k, p):
    """The chance of each original (rows) and released value (columns) of a record of group k."""
    steps = np.abs(LINE[None] - LINE[:, None])
    kept = norm.cdf((steps + 0.5) / SIGMA) - norm.cdf((steps - 0.5) / SIGMA)
    return shares(X[k == GROUP])[:, None] * (p * shares(X)[None] + (1.0 - p) * kept)


def best_windows(weights, d):
    """For each released value the most weight of ceil(2 d) whole numbers in a row: all that are within d."""
    running = np.concatenate((np.zeros((1, LINE.size)), np.cumsum(weights, axis=0)))
    size = int(np.ceil(2.0 * d))
    return (running[size:] - running[:-size]).max(axis=0)


@pytest.mark.parametrize("p", [0.05, 0.15, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("k", [0, 1])
def test_who_knows_a_group_by_some_of_its_records_does_about_as_well_as_bayes_rule(k, p):
    scheme = cm.ConditionalMasking(p, SIGMA, step=1)
    file, weights = original(X, scheme), joint(k, p)
    members = np.flatnonzero(k == GROUP)
    members = members[np.argsort(X[members], kind="stable")]
    near = np.tile(members[:: members.size // 250], (LINE.size, 1))

    points, mass = neighbours._points(file, LINE.astype(float), near, shares(X), np.full(LINE.size, p))
    order = np.argsort(points, axis=1)
    first, wide = np.empty((LINE.size, D.size)), np.ceil(2.0 * D)
    best_of_points(*(np.take_along_axis(each, order, axis=1) for each in (points, mass)), wide, first)

    for j, d in enumerate(D):
        inside = (first[:, j] <= LINE[:, None]) & (first[:, j] + wide[j] > LINE[:, None])
        found, exact = float(np.sum(weights * inside)), float(best_windows(weights, d).sum())
        assert found <= exact + 1e-12
        # 250 records of the group and a kernel tell the law of a step or two less well than that of ten,
        # within which modes lie whole
        assert found > exact - (0.006 if d == 5.0 else 0.03)


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_weights_are_those_of_a_swap_and_of_noise_about_a_local_law(p):
    """p f(z) at the neighbours; (1 - p) times local law and noise together, summed on a fine lattice."""
    stream, k, sigma = np.random.default_rng(2), 40, 6.0
    x, scheme = stream.normal(30.0, 12.0, 200), cm.ConditionalMasking(p, sigma)
    file = original(x, scheme)
    near = np.arange(k)[None] + np.array([[0], [50], [120]])
    at = np.array([10.0, 30.0, 55.0])
    z = file.law.to_units(at)
    density, step = np.array([0.01, 0.002, 0.03]), scheme.law.step

    points, mass = neighbours._points(file, z, near, density, np.full(z.size, scheme.p))

    for i in range(3):
        own = x[near[i]]
        # the neighbours themselves, where the record was swapped
        where, weight = points[i, :k] * step, mass[i, :k]
        assert weight == pytest.approx(np.full(k, p * density[i] / k), rel=1e-12)
        assert where == pytest.approx(own, abs=2.0 * step)
        # kept: a density of X + Y at z by a normal kernel of Silverman's width
        width = 0.9 * own.std() * k**-0.2
        line = np.linspace(own.min() - 8 * width, own.max() + 8 * width, 4_001)
        local = norm.pdf(line[:, None], own, width).mean(axis=1)
        kept = (1.0 - p) * local * norm.pdf(at[i] - line, 0.0, sigma) * (line[1] - line[0])
        where, weight = points[i, k:] * step, mass[i, k:]
        # per step of the noise, as f is; three nodes for the noise have five moments right, and values are
        # rounded to sigma / 1000, by half a step
        for power in range(3):
            exact = np.sum(kept * ((line - at[i]) / sigma) ** power) * step
            near_by = 2e-3 * np.sum(kept * (np.abs(line - at[i]) / sigma) ** power) * step
            assert np.sum(weight * ((where - at[i]) / sigma) ** power) == pytest.approx(exact, abs=near_by)


@pytest.mark.parametrize("best", range(5))
def test_the_way_that_serves_one_half_is_counted_on_the_other(monkeypatch, best):
    """Of four numbers of neighbours and none; what was chosen for its luck is counted where it had none."""
    stream, m = np.random.default_rng(5), 400
    half = np.arange(m) % 2 == 0
    ways = stream.random((5, m, 2)) < 0.5
    ways[best] = np.where(half, 0.7, 0.2)[:, None] > stream.random((m, 2))
    ways[best - 1] = np.where(half, 0.2, 0.7)[:, None] > stream.random((m, 2))  # good where it does not count
    tried = iter(ways[:4])
    monkeypatch.setattr(neighbours, "_hits", lambda *_: next(tried))
    file = original(X, cm.ConditionalMasking(0.6, SIGMA, step=1))
    seen = RecordPosteriors(np.zeros((m, 2)), np.zeros((m, 2)), ways[4], np.zeros(m), np.zeros(m))

    found, records = neighbours.by_neighbours(file, X[:m], np.arange(m), [GROUP.astype(float)], seen, D[:2])

    assert records == 200
    for k in range(2):
        luck = [np.mean(way[half, k]) for way in ways]
        assert int(np.argmax(luck)) == best
        assert found[k] == np.mean(ways[best][~half, k])


def test_neighbours_are_other_records_and_the_nearest_of_them():
    table = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 10.0])  # three are equally near each other
    found = np.array([[1, 2, 3], [0, 1, 2], [3, 2, 4], [5, 4, 3]])

    near = neighbours._others(found, np.array([0, 2, 3, 5]), 2)

    # record 0 does not stand among its own, so the last one goes
    assert near.tolist() == [[1, 2], [0, 1], [2, 4], [4, 3]]
    assert neighbours.standardised([table])[:, 0] == pytest.approx((table - table.mean()) / table.std())


def test_of_very_many_records_neighbours_are_sought_among_some(monkeypatch):
    known = []

    def seen(file, z, rows, among, *others):
        known.append(among)
        return ways(file, z, rows, among, *others)

    ways = neighbours._ways
    monkeypatch.setattr(neighbours, "_ways", seen)
    monkeypatch.setattr(neighbours, "KNOWN", 500)
    monkeypatch.setattr(neighbours, "TOGETHER", 300)
    found = cm.risk(X, cm.ConditionalMasking(0.6, SIGMA, step=1), d=D, others=GROUP, audit=False)

    (among,) = known
    assert 4_096 < among.size <= 4_096 + 500 < X.size
    assert (found.attackers["best with other columns"] > found.attackers["best attacker"]).any()


def test_a_gap_is_at_the_mean_and_a_column_of_its_own():
    column, constant = np.array([1.0, np.nan, 3.0, 8.0]), np.full(4, 5.0)
    found = neighbours.standardised([column, constant])

    there, filled = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 4.0, 3.0, 8.0])
    assert found.shape == (4, 2)  # what is constant tells nothing
    for k, each in enumerate((there, filled)):
        assert found[:, k] == pytest.approx((each - each.mean()) / each.std())


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_a_swapped_value_is_no_evidence_to_who_knows_other_columns(p):
    """Two groups far apart: a value of the other one was surely swapped, and the group tells the rest."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, 4_000)
    x = rng.normal(1_000.0 * group, 10.0)
    scheme = cm.ConditionalMasking(p, 5.0)
    found = cm.risk(x, scheme, d=10.0, others=group[:, None].astype(float), audit=False).attackers

    # of the group alone: the best constant of a normal law, P(|X - m| < s) = .683
    assert found["best with other columns"][0] > 0.66
    assert found["best constant"][0] == pytest.approx(0.683 / 2, abs=0.02)
    # who takes each value for kept is right about (1 - p) P(|Y| < 2 s) = .954 (1 - p), and by luck: p .26
    kept_alone = 0.954 * (1.0 - p) + p * 0.5 * 0.52
    assert found["best with other columns"][0] > kept_alone - 0.03


def test_columns_that_say_nothing_hide_none_that_does():
    """Months of firms: near in the number of the firm, which others in the way do not change."""
    rng = np.random.default_rng(4)
    firm = np.repeat(rng.permutation(120), 12).astype(float)
    x = np.repeat(rng.lognormal(8.0, 0.8, 120), 12) * np.exp(0.03 * rng.normal(size=firm.size))
    scheme, noise = cm.ConditionalMasking(0.6, 500.0), {"month": rng.integers(0, 12, firm.size) * 1.0}
    noise["any"] = rng.normal(size=firm.size)

    def share(others):
        return cm.risk(x, scheme, d=300.0, others=others, audit=False).attackers["best with other columns"][0]

    alone = share({"firm": firm})
    assert alone > 0.7
    assert share({"firm": firm} | noise) > alone - 0.02
    assert share(noise) < cm.risk(x, scheme, d=300.0, audit=False).attackers["best attacker"][0] + 0.03
    # two that tell only together
    half = np.floor(firm / 11.0)
    assert share({"half": half, "rest": firm % 11.0} | noise) > alone - 0.1


def test_what_keeps_equal_records_apart_changes_nothing_among_others(monkeypatch):
    """A column of ranks, none of which two records share: the least difference is 1 / s.d., some 1e-3."""
    random = np.random.default_rng(6)
    x = X[:3_000]
    w = np.argsort(np.argsort(x + 3.0 * random.normal(size=x.size))).astype(float)
    scheme = cm.ConditionalMasking(0.6, SIGMA, decimals=0)
    z = scheme.mask(x, rng=1, accept_visible_coins=True)

    def hits():
        return cm.release_risk(x, z, scheme, d=D, others={"w": w}, audit=False).attackers

    found = hits()
    monkeypatch.setattr(neighbours, "TIES", 0.0)
    np.testing.assert_array_equal(hits()["best with other columns"], found["best with other columns"])
    monkeypatch.setattr(neighbours, "TIES", 1.0)
    assert (hits()["best with other columns"] != found["best with other columns"]).any()
