"""Quantiles where T is level at the very probability: clusters far apart, of which each has a
share of all.

Oracle: T at all points about each cluster, level between them (tests/reference.py).
"""

import numpy as np
import pytest
import reference

import condmask as cm
from condmask.distribution import quantiles
from condmask.kernels import crossings, nodes

FINE = 64
COARSE = 16  # points of the reference to a sigma, and steps of a grid
LACKING = 1e-10  # T counts as q where it lacks no more

P = (0.05, 0.1, 0.3, 0.5, 0.6, 0.77, 0.95)
APART = (10.0, 60.0, 1e3, 1e5, 1e8, 1e12, 1e15)
SHARES = ((1, 4), (1, 1, 1), (2, 1, 1, 1), (1, 3, 1, 2, 1))


def estimate(z, p, *, noise="normal", step=0.0):
    return cm.ConditionalMasking(p, 1.0, noise=noise, step=step, missing=None).estimate(z)


def drawn(shares, apart, origin, per_sigma, rng, records):
    """Clusters as the reference takes them; points alone where numbers far from 0 are coarse."""
    found = []
    for k, share in enumerate(shares):
        far = apart > 1e11
        spread = 0.0 if far else per_sigma / 2
        places = np.rint(rng.normal(0.0, spread, share * records)).astype(int)
        values, counts = np.unique(places, return_counts=True)
        center = origin * apart + k * apart
        found.append((center, dict(zip(values.tolist(), counts.tolist(), strict=True))))
    return found


def values_of(clusters, per_sigma):
    parts = [
        np.full(records, center + place / per_sigma)
        for center, held in clusters
        for place, records in held.items()
    ]
    return np.concatenate(parts)


@pytest.mark.parametrize("apart", APART)
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("grid", [False, True])
def test_quantiles_at_the_shares_of_clusters_are_those_of_all_points(grid, noise, apart):
    per_sigma = COARSE if grid else FINE
    rng = np.random.default_rng([int(grid), len(noise), int(apart)])
    for p in rng.choice(P, 3, replace=False).tolist():
        shares = SHARES[int(rng.integers(len(SHARES)))]
        clusters = drawn(
            shares, apart, -int(rng.integers(3)), per_sigma, rng, int(rng.integers(2, 200))
        )
        z = values_of(clusters, per_sigma)
        line = reference.cluster_line(clusters, noise, p, per_sigma, grid=grid)
        levels = np.cumsum(shares)[:-1] / sum(shares)
        q = np.unique(np.concatenate([levels, levels - 1e-3, levels + 1e-3]))
        one = estimate(z, p, noise=noise, step=1.0 / COARSE if grid else 0.0)

        first, rearranged = (one.quantile(q, crossing=each) for each in ("first", "rearranged"))

        expected = np.array(
            [reference.cluster_quantiles(line, each - LACKING, per_sigma) for each in q]
        )
        near = (1.01 if grid else 3.0) / per_sigma + 8.0 * np.spacing(np.abs(z).max())
        assert first == pytest.approx(expected[:, 0], abs=near), (p, shares)
        assert rearranged == pytest.approx(expected[:, 1], abs=near), (p, shares)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("crossing", ["first", "rearranged"])
def test_a_probability_within_rounding_of_a_level_has_a_quantile_between_the_clusters(
    crossing, noise
):
    z = np.repeat([-1e12, 0.0, 1.0, 1e13], [50, 70, 30, 100])
    for p in P:
        one = estimate(z, p, noise=noise)
        for level, low, high in ((0.2, -1e12, 0.0), (0.6, 1.0, 1e13)):
            # the level that counts as reached lies above T, on it or below but for its rounding
            q = level + LACKING + np.arange(-8, 9) * 2.0**-54

            found = one.quantile(q, crossing=crossing)

            assert np.all(np.diff(found) >= 0.0)
            if crossing == "rearranged":
                assert np.all((low - 40.0 < found) & (found < high + 40.0))
            else:
                assert np.all(one.cdf(found) > level - 1e-9)


def test_the_summary_of_clusters_ends_with_the_right_quantiles():
    z = [1e5, -1e5, 1.0, 2.0, 3.0] * 50
    q = np.arange(1, 10) / 10
    middle = {FINE: 50, 2 * FINE: 50, 3 * FINE: 50}
    clusters = [(-1e5, {0: 50}), (0.0, middle), (1e5, {0: 50})]
    line = reference.cluster_line(clusters, "normal", 0.6, FINE, grid=False)
    expected = [reference.cluster_quantiles(line, each - LACKING, FINE)[1] for each in q.tolist()]
    one = estimate(z, 0.6)

    found = one.summary(q)

    assert one.quantile(0.2) == pytest.approx(expected[1], abs=3 / FINE)
    assert [found[f"quantile {each:g}"].estimate for each in q] == pytest.approx(
        expected, abs=3 / FINE
    )
    assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))


@pytest.mark.parametrize("step", [0.0, 0.001])
def test_intervals_at_the_share_of_a_cluster_hold_what_lies_between(step):
    rng = np.random.default_rng(1)
    z = np.append(rng.normal(0.0, 1.0, 50), rng.normal(1e5, 1.0, 200)).round(3)
    one = estimate(z, 0.3, step=step)

    found = one.quantile_interval([0.1, 0.2, 0.3])

    assert found.estimate == pytest.approx(one.quantile([0.1, 0.2, 0.3]))
    assert np.all((found.low[:2] < 1.5) & (found.high[1:] > 99_998.0))
    assert found.high[0] < 2.0
    assert found.low[2] > 99_998.0


@pytest.mark.parametrize("apart", [2.0**30, 2.0**40, 2.0**49])
def test_intervals_and_bands_do_not_depend_on_how_far_clusters_lie_apart(apart):
    rng = np.random.default_rng(3)
    held = np.rint(4.0 * rng.normal(size=(3, 40))) / 4.0
    q = np.array([1 / 3 - 1e-3, 1 / 3, 2 / 3 - 1e-3, 2 / 3])

    def seen(far):
        one = estimate((held + far * np.arange(-2.0, 1.0)[:, None]).ravel(), 0.95)
        interval = one.quantile_interval(q)
        band = one.cdf_band(rng=1)
        ends = np.concatenate([interval.low, interval.high])
        return ends - far * np.rint(ends / far), np.rint(ends / far), band.half_width

    near = seen(2.0**10)
    there = seen(apart)

    assert np.array_equal(near[1], there[1])
    assert there[0] == pytest.approx(near[0], abs=0.02 + 4.0 * np.spacing(apart))
    assert there[2] == pytest.approx(near[2], rel=0.02)


@pytest.mark.parametrize("far", [1e21, 1e100])
def test_where_nodes_are_closer_than_numbers_nothing_is_read_beside_them(far):
    z = np.repeat([0.0, far, 2.0 * far], [50, 50, 20])
    for step in (0.0, 0.5):
        one = estimate(z, 0.6, step=step)

        assert one.quantile([0.2, 0.7, 0.9], crossing="first") == pytest.approx(
            [0.0, far, 2.0 * far]
        )
        assert np.all(np.isfinite(one.cdf_band(rng=1).estimate))


class Rough:
    """A smooth part that is level but for rounding, which differs at each look; counts the
    looks."""

    def __init__(self, level):
        self.level = level
        self.looks = 0
        self.rng = np.random.default_rng(4)

    def __call__(self, *_):
        self.looks += 1
        return self.level + 1e-13 * self.rng.standard_normal()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("rearranged", [False, True])
@pytest.mark.parametrize("targets", [1, 5])
def test_no_cell_takes_more_looks_than_its_targets_allow(monkeypatch, targets, rearranged, whole):
    rough = Rough(10.0)
    monkeypatch.setattr(crossings, "smooth", rough)
    own = np.full(60, 10.0)
    own[::2] += 1.0  # it bends wherever it is looked at
    steps = crossings.Steps(
        np.array([-1e9, 1e9]),
        np.array([0.0, 60.0]),
        np.array([0, 0, 0]),
        own,
        1e6,
        0.0,
        0.0,
        1.0,
        20.0,
        np.empty((2, 0)),
        1.0,
        whole,
        np.empty(nodes.POINTS),
    )
    aims = 10.0 + 1e-14 * np.arange(targets)
    out = np.zeros((2, targets))
    within = getattr(crossings._within, "py_func", crossings._within)

    within(steps, 30, 0.0, (0.0, 1e6), False, 1, 4.0, aims, out, 1e-15, rearranged)

    assert rough.looks <= 2 * crossings.LOOKS * (1 + targets) + 64
    assert np.all((out.sum(axis=0) >= 0.0) & (out.sum(axis=0) <= 1e6))


def test_the_polynomial_through_nodes_bends_no_more_than_its_second_differences():
    places = np.arange(-nodes.LEFT, nodes.POINTS - nodes.LEFT)
    lines = [np.poly1d(np.delete(places, k), r=True) for k in range(nodes.POINTS)]
    scaled = [
        line.deriv(2) / line(place) for line, place in zip(lines, places.tolist(), strict=True)
    ]
    there = np.array([line(np.linspace(0.0, 1.0, 201)) for line in scaled])
    differences = np.diff(np.eye(nodes.POINTS), 2, axis=0)

    weight = np.linalg.lstsq(differences.T, there, rcond=None)[0]

    assert there == pytest.approx(differences.T @ weight, abs=1e-9)
    assert 0.95 < np.abs(weight).sum(axis=0).max() / crossings.BEND_PER_DIFFERENCE <= 1.0


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.1, 0.6])
def test_a_cell_bends_no_more_than_its_own_bound_which_falls_with_the_distance(p, noise):
    t = estimate([0.0, 0.0, 1.0], p, noise=noise).sample.distribution()
    steps, start, stop = next(quantiles.by_stretch(t, 0, t.line.size - 1))
    own_bend = getattr(crossings.own_bend, "py_func", crossings.own_bend)
    bounds = []
    for node in range(start + nodes.POINTS, stop - nodes.POINTS):
        begin, end = t.line.points(np.array([node, node + 1.0]) + start - nodes.POINTS - start)
        bounds.append(
            (begin, end, own_bend(steps, node, begin, end, np.searchsorted(steps.values, begin)))
        )
    begin, end, bound = np.array(bounds).T
    along = np.linspace(0.05, 0.95, 7)
    at = begin[:, None] + (end - begin)[:, None] * along
    smooth = t.n * t.at(at.ravel()).reshape(at.shape)
    bends = np.abs(np.diff(smooth, 2, axis=1)).max(axis=1) / (along[1] - along[0]) ** 2
    without = ~np.any((begin[:, None] <= steps.values) & (steps.values <= end[:, None]), axis=1)

    assert np.all(bends[without] <= bound[without] + 1e-9)
    assert bound[without].max() < 4.0 * bends[without].max()
    assert bound[[0, -1]].max() < 1e-6 * bound.max()
