"""T_1 and T_b, their density and their quantiles, at the public face.

Oracles: K at 25 digits (tests/data/weight.csv), the plain sums and the definitions of
tests/reference.py.
"""

import csv
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
import reference
from scipy.stats import cauchy, norm
from worlds import rest_slow

import condmask as cm
from condmask.distribution import quantiles, symbol

WEIGHTS = Path(__file__).parents[1] / "data" / "weight.csv"
Q = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])


def estimate(z, p=0.6, sigma=1.0, step=0.0, noise="normal"):
    return cm.ConditionalMasking(p, sigma, noise=noise, step=step, missing=None).estimate(z)


def weights():
    """K at 25 digits: (p, bandwidth in sigma) with all arguments and values."""
    table = {}
    with WEIGHTS.open() as file:
        for row in csv.DictReader(file):
            key = float(row["p"]), float(row["bandwidth_over_sigma"])
            table.setdefault(key, []).append((float(row["u"]), float(row["weight"])))
    return [(*key, *np.array(rows).T) for key, rows in table.items()]


def test_two_equal_records_show_the_weight_to_25_digits():
    for p, beta, u, weight in weights():
        one = estimate([5.0, 5.0], p, sigma=2.0)
        found = one.cdf(5.0 + 2.0 * u, bandwidth=2.0 * beta or None)

        assert np.abs(found - weight).max() < 1e-12 / p, (p, beta)


@pytest.mark.parametrize("p", [1e-4, 0.001, 0.02])
def test_a_small_p_reaches_far(p):
    u = np.array([-70.0, -41.0, -20.3, -7.0, -1.5, 1.5, 7.0, 20.3, 41.0, 70.0])
    exact = [reference.normal_weight_by_residues(each, p) for each in u.tolist()]

    assert np.abs(estimate([0.0, 0.0], p).cdf(u) - exact).max() < 4e-11 / p


@pytest.mark.parametrize(("p", "law"), [(1e-4, norm), (0.3, cauchy(0.0, 200.0))])
def test_a_rearranged_t_is_looked_at_no_more_often_than_it_needs(p, law):
    z = np.rint(law.rvs(size=1000, random_state=6) * 1024) / 1024
    one = estimate(z, p, step=1 / 1024)
    q = np.array([0.1, 0.5, 0.9])
    at = one.quantile(q, crossing="rearranged")

    tracemalloc.start()
    before, there = one.cdf(np.array([at - 1 / 1024, at]), monotone=True)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert np.all((before <= q + 1e-6) & (q - 1e-6 <= there))  # T* is known to 1e-10 / p
    assert most < 5e8


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.1, 0.6, 0.9])
def test_without_a_grid_it_is_the_plain_sum(p, noise):
    rng = np.random.default_rng(round(10 * p))
    z = np.append(rng.gamma(2.0, 2.0, 20), [3.0, 3.0, 60.0])
    x = np.concatenate((np.linspace(-4.0, 64.0, 40), z[:5], [np.nextafter(3.0, 0.0)]))
    one = estimate(z, p, 0.7, noise=noise)

    assert np.abs(one.cdf(x) - reference.cdf(z, x, noise, p, 0.7)).max() < 1e-12
    x = x[:: 1 if noise == "normal" else 5]
    for width in (0.02, 0.3, 0.4, 2.0):
        smooth = reference.cdf(z, x, noise, p, 0.7, width)
        assert np.abs(one.cdf(x, bandwidth=width) - smooth).max() < 2e-12 / p
        if noise == "normal":
            density = one.pdf(x, bandwidth=width)
            assert np.abs(density - reference.pdf(z, x, p, 0.7, width)).max() < 3e-12 / (p * width)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.1, 0.6])
@pytest.mark.parametrize("step", [0.05, 0.3, 0.75, 2.0])
def test_on_a_grid_it_is_the_plain_sum_of_rounded_noise(step, p, noise):
    rng = np.random.default_rng(5)
    units = np.rint(rng.gamma(2.0, 2.0, 20) / step)
    one = estimate(units * step, p, step=step, noise=noise)
    k = np.rint(np.linspace(-9.0, 25.0, 24) / step)
    reach = int(24.0 / step) + 40
    width = max(0.3, 1.6 * step)
    exact = reference.grid_cdf(units, k, noise, p, step, reach=reach)
    smooth = reference.grid_cdf(units, k + 0.3, noise, p, step, width, reach=reach)

    assert np.abs(one.cdf((k + 0.4) * step) - exact).max() < 1e-12 / p
    assert np.abs(one.cdf((k + 0.3) * step, bandwidth=width) - smooth).max() < 1e-12 / p


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.2, 0.6])
@pytest.mark.parametrize("step", [2.0**-5, 0.3, 0.75])
def test_crossings_are_those_of_all_points_of_the_grid(step, p, noise):
    rng = np.random.default_rng(7)
    # T is above q, and then below
    heaps = np.full(99, 3.0), np.linspace(40.0, 900.0, 9), np.full(99, 950.0)
    units = np.rint(np.concatenate((rng.gamma(2.0, 2.0, 25), *heaps)) / step)
    one = estimate(units * step, p, step=step, noise=noise)
    k = np.arange(units.min() - 30 / step, units.max() + 30 / step)
    line = one.cdf(k * step)
    first, rearranged = (
        k[0] + np.array(each) for each in reference.grid_quantiles(line, Q - 1e-10)
    )

    assert one.quantile(Q, crossing="first") == pytest.approx(first * step, abs=1e-9)
    assert one.quantile(Q, crossing="rearranged") == pytest.approx(rearranged * step, abs=1e-9)
    assert one.cdf(k * step, monotone=True) == pytest.approx(
        np.clip(np.sort(line), 0.0, 1.0), abs=1e-12
    )


def test_a_first_crossing_may_lie_between_records():
    u = np.linspace(-8.0, 0.0, 80_001)
    weight = reference.normal_weight(u, 0.3)
    for q in (0.04, weight[:-1].max() - 1e-7):  # the second is reached next to the peak alone
        above = u[np.argmax(weight >= q)]

        found = estimate(np.full(200, 7.0), 0.3).quantile(q, crossing="first")

        assert found - 7.0 == pytest.approx(above, abs=1e-3)
        assert above < -1.0


def test_a_few_records_reach_whatever_k_reaches():
    apart = np.linspace(40.0, 20_000.0, 350)
    one = estimate(np.concatenate((-apart, np.zeros(300), apart)), 0.01)  # a line of many parts

    found = one.quantile(0.98, crossing="first")

    assert -2.0 < found < -1.0  # K reaches 6.8 there, below all zeros
    assert one.cdf(found) == pytest.approx(0.98)


@pytest.mark.parametrize("width", [None, 0.02, 0.3, 1.5])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_without_a_grid_nothing_is_reached_before_the_first_crossing(noise, width):
    rng = np.random.default_rng(11)
    one = estimate(np.append(rng.normal(size=40), rng.normal(300.0, 1.0, 20)), 0.3, noise=noise)
    for q, x in zip(Q, one.quantile(Q, bandwidth=width, crossing="first"), strict=True):
        before = np.linspace(-20.0, x - 1e-9, 200_001)

        assert one.cdf(x + 1e-9, bandwidth=width) > q - 2e-9 / (width or 1.0)
        assert one.cdf(before, bandwidth=width).max() < q


@pytest.mark.parametrize("width", [None, 0.01, 0.1])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("crossing", ["first", "rearranged"])
def test_quantiles_far_from_zero_are_those_near_it_moved(crossing, noise, width):
    # there neighbouring numbers, 2**-22 apart, are further apart than T takes to leave its chord
    z = np.rint(2.0**20 * np.random.default_rng(3).normal(size=1_000)) / 2.0**20
    far = 2.0**30
    near, moved = (
        estimate(x, noise=noise).quantile(Q, crossing=crossing, bandwidth=width)
        for x in (z, z + far)
    )

    assert moved - far == pytest.approx(near, abs=2.0**-21)


@pytest.mark.parametrize("width", [None, 0.03, 2.0])
@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("apart", [30.0, 100.0, 2.0**30])
def test_across_a_gap_each_cluster_counts_alone(apart, noise, width):
    rng = np.random.default_rng(13)
    left, right = (np.rint(1024 * rng.normal(size=n)) / 1024 for n in (30, 20))
    x = np.arange(-12.0, 12.0, 0.25)
    each = [estimate(z, noise=noise, step=2.0**-10) for z in (left, right)]
    both = estimate(np.append(left, right + apart), noise=noise, step=2.0**-10)

    low, high = (one.cdf(x, bandwidth=width) for one in each)
    far = (
        30.0 * each[0].cdf(x + apart, bandwidth=width),
        20.0 * each[1].cdf(x - apart, bandwidth=width),
    )

    assert both.cdf(x, bandwidth=width) == pytest.approx((30.0 * low + far[1]) / 50.0, abs=1e-12)
    assert both.cdf(x + apart, bandwidth=width) == pytest.approx(
        (far[0] + 20.0 * high) / 50.0, abs=1e-12
    )


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("p", [0.1, 0.6])
def test_no_more_than_a_bound_does_it_bend_between_its_steps(p, noise):
    one = estimate([0.0, 0.0], p, noise=noise)
    u = np.linspace(1e-3, 4.0, 1_000)
    bends = np.abs(np.diff(one.cdf(u), 2)).max() / (u[1] - u[0]) ** 2
    assert 0.6 < bends / symbol.bend(one.sample.distribution().masking) < 1.0


def test_without_parts_a_line_is_looked_at_in_its_nodes_alone():
    one = estimate(np.random.default_rng(3).normal(0.0, 2.0, 30))
    t = one.sample.distribution()

    x, right, left = quantiles.points(t, 2, t.line.size - 1, 0)

    assert np.array_equal(x, t.line.points(np.arange(2.0, t.line.size)))
    assert np.array_equal(right, left)
    assert right == pytest.approx(one.cdf(x), abs=1e-9)


@pytest.mark.parametrize("step", [None, 0.0])
def test_the_series_is_the_definition(step):
    rng = np.random.default_rng(14)
    scheme = cm.ConditionalMasking(0.5, 1.0, step=step)
    z = scheme.mask(rng.normal(size=3000), rng=1, accept="all")
    x = np.linspace(-5.0, 5.0, 70)
    one = scheme.estimate(z)
    threads = scheme.estimate(z, workers=3)

    for width in (None, 0.1):
        found = one.cdf(x, bandwidth=width, method="series")
        assert np.abs(found - one.cdf(x, bandwidth=width)).max() < 1e-10
        assert np.array_equal(threads.cdf(x, bandwidth=width, method="series"), found)


@pytest.mark.parametrize(
    ("one", "method"),
    [
        (estimate([1.0, 2.0], 0.4), "series"),
        (estimate([1.0, 2.0], noise="laplace"), "series"),
        (estimate([1.0, 2.0], step=0.5), "series"),
        (cm.ReverseMapping(0.5, 1.0).estimate([1.0, 2.0]), "series"),
        (estimate([1.0, 2.0]), "lattice"),
    ],
)
def test_methods_that_cannot_serve_are_refused(one, method):
    with pytest.raises(ValueError, match=r"method must be .*'auto'"):
        one.cdf(0.0, method=method)


@pytest.mark.parametrize(
    "z", [np.append(np.arange(40.0) ** 1.1, 1e3), np.repeat([-1.0, 0.5], [20, 21])]
)
def test_rules_are_those_of_silverman_and_scott(z):
    # by the rank, or by n - 1
    spread = min(z.std(ddof=1), np.subtract(*np.quantile(z, [0.75, 0.25])) / 1.34)

    for rule, factor, power in (
        ("scott", 1.06, 5),
        ("silverman", 0.9, 5),
        ("undersmooth", 1.06, 3),
    ):
        assert estimate(z).sample.bandwidth(rule) == pytest.approx(
            factor * spread * z.size ** (-1 / power)
        )


def test_bandwidths_have_limits():
    one = estimate([1.0, 2.0])
    for each, good, bad, message in (
        (
            one,
            {"bandwidth": 1.0},
            {"bandwidth": 0.9e-4},
            r"between 0.0001 and 1e\+20 sigma, got 9e-05 ",
        ),
        (one, {"bandwidth": 1e20}, {"bandwidth": 2e20}, "bandwidth must be between"),
        (
            estimate([1.0, 2.0], step=0.1),
            {"bandwidth": 0.15},  # which is less than 1.5 * 0.1
            {"bandwidth": 0.149},
            "1.5 steps.*0.15, got 0.149 ",
        ),
    ):
        each.cdf(0.0, **good)
        with pytest.raises(ValueError, match=message):
            each.cdf(0.0, **bad)


def test_records_are_counted_wherever_they_lie():
    rng = np.random.default_rng(16)
    parts = (
        rng.normal(0.0, 300.0, 9_000),
        2.0**40 + rng.normal(0.0, 1e6, 6_000),
        1e8 * rng.normal(size=500),
    )
    steps = rng.permutation(np.rint(np.concatenate([*parts, [-1e12, 7e13]])))
    z = np.where(np.arange(steps.size) % 50 == 0, np.nan, steps / 10.0)
    counts = cm.Counts(cm.ConditionalMasking(0.6, 30.0, decimals=1))

    for part in np.split(z, [100, 9_000, 9_001]):
        counts.update(part)

    expected = np.unique(steps[~np.isnan(z)], return_counts=True)
    assert all(map(np.array_equal, counts.counted[:2], expected))
    z[7::1000] += 0.04
    with pytest.raises(ValueError, match=r"multiples of 0.1, got .* \(16 such values\)"):
        counts.update(z)


@pytest.mark.parametrize(
    ("p", "noise", "width"),
    rest_slow([(0.6, "normal", 0.5), (0.3, "normal", None), (0.3, "laplace", None)]),
)
def test_crossings_of_a_long_line_are_those_of_all_its_points(p, noise, width):
    rng = np.random.default_rng(17)
    z = np.append(rng.uniform(0.0, 1_500.0, 150), np.full(10, 700.0))
    one = estimate(z, p, noise=noise)
    x = np.arange(-60.0, 1_560.0, 1 / 64)
    q = np.linspace(0.0043, 0.9961, 199)
    t = one.cdf(x, bandwidth=width)
    at = np.union1d(x, z)

    first, rearranged = (
        one.quantile(q, bandwidth=width, crossing=each) for each in ("first", "rearranged")
    )

    so_far = np.maximum.accumulate(one.cdf(at, bandwidth=width))
    assert first == pytest.approx(at[np.searchsorted(so_far, q)], abs=1 / 60)
    assert rearranged == pytest.approx(x[np.searchsorted(np.sort(t), q)], abs=0.3)
    some = slice(67_000, 72_000, 997)
    ascending = np.clip(np.sort(t)[some], 0.0, 1.0)
    assert one.cdf(x[some], bandwidth=width, monotone=True) == pytest.approx(ascending, abs=1e-3)


def test_laplace_noise_is_taken_from_all_values_by_a_derivative():
    z = np.array([-1.0, 0.5, 0.5, 40.0])
    x = np.linspace(-4.0, 44.0, 50)
    b = 0.4
    v = (x[:, None] - z) / b
    exact = (norm.cdf(v) + 0.5 * (1.3 / b) ** 2 * v * norm.pdf(v)).mean(axis=1)

    found = cm.AdditiveNoise(1.3, noise="laplace").estimate(z).cdf(x, bandwidth=b)

    assert np.abs(found - exact).max() < 1e-11


def test_values_in_another_order_are_the_original():
    x = np.random.default_rng(15).normal(size=500).round(2)
    one = cm.ReverseMapping(0.6, 0.5).estimate(x)
    at = np.append(np.linspace(-3.0, 3.0, 40), x[:20])
    q = np.array([0.0021, 0.25, 0.5, 0.9979])

    known = np.quantile(x, q, method="inverted_cdf")
    assert np.array_equal(one.quantile(q), known)
    assert np.array_equal(one.cdf(at), np.searchsorted(np.sort(x), at, side="right") / 500)
    assert np.array_equal(one.quantile(q), known)  # now that the values are in order
    assert not np.signbit(one.scheme.estimate(np.full(3, -0.0)).quantile(0.5))
    assert one.cdf(at, bandwidth=0.1) == pytest.approx(
        norm.cdf((at[:, None] - x) / 0.1).mean(axis=1), abs=1e-12
    )


@pytest.mark.filterwarnings("ignore:z. all values are multiples of")
def test_a_line_of_any_width_is_looked_at_in_few_stretches():
    z = np.arange(20_000) * 2.0**27
    one = estimate(z, step=2.0**-10)

    assert one.cdf(z[::997] + 0.5) == pytest.approx(
        (np.arange(0, 20_000, 997) + 1 + 0.0) / 20_000, abs=1e-4
    )
    assert one.quantile([0.25, 0.5], crossing="first") == pytest.approx(
        [4999 * 2.0**27, 9999 * 2.0**27]
    )


def test_nothing_holds_a_smoothed_distribution_that_is_done_with():
    smoothed = estimate(np.arange(5.0)).sample.distribution(0.5)
    smoothed.at(np.zeros(1))
    held = weakref.ref(smoothed)
    del smoothed

    assert held() is None
