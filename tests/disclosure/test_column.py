"""Closed forms of a column, against enumeration, plain loops and simulation."""

from itertools import permutations, product

import numpy as np
import pytest
from reference import noise_cdf
from scipy.stats import binomtest

import condmask as cm
from condmask.disclosure.column import joint_law, rare_values
from condmask.masking.ends import aggregate

NAN = float("nan")


def test_ends_of_pools_become_their_means_to_the_digits_of_the_column():
    stream = np.random.default_rng(14)
    x = stream.lognormal(3.0, 1.0, 60).round(1)
    pool = stream.integers(-1, 3, 60)
    pool[:5] = 9
    x[5:8] = NAN  # a pool of fewer than six, and gaps
    expected = x.copy()
    for k in range(3):
        rows = np.flatnonzero((pool == k) & ~np.isnan(x))
        rows = rows[np.argsort(x[rows])]
        for end in (rows[:3], rows[-3:]):
            expected[end] = x[end].mean().round(1)

    aggregate(x, np.where(np.isnan(x), -1, pool), 3)

    np.testing.assert_allclose(x, expected, rtol=1e-12)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize(("sigma", "step"), [(5.0, 1.0), (15.0, 1.0), (5.0, 4.0)])
def test_the_best_attacker_of_few_values_by_all_that_a_release_can_show(noise, sigma, step):
    stream = np.random.default_rng(2)
    x = np.sort(stream.choice(np.arange(0.0, 120.0, 4.0), 600, p=stream.dirichlet(np.ones(30))))
    values, counts = np.unique(x, return_counts=True)
    z = np.arange(-200.0, 321.0, step)
    w = counts / x.size
    d = 10.0
    p = 0.4
    steps = (z - values[:, None])[..., None] / sigma + np.array([-0.5, 0.5]) * step / sigma
    kept = (1.0 - p) * w[:, None] * np.diff(noise_cdf(noise, steps))[..., 0]
    swapped = p * w[:, None] * np.where(z == values[:, None], w[:, None], 0.0).sum(axis=0)
    inside = (values >= values[:, None]) & (values < values[:, None] + 2.0 * d)

    found = cm.risk(
        x, cm.ConditionalMasking(p, sigma, noise=noise, step=step, donors="sample"), d=d
    ).attackers

    best, known, unlike = (
        (inside @ part).max(axis=0).sum() for part in (swapped + kept, kept, swapped)
    )
    assert found["best attacker"] == pytest.approx(best, abs=5e-4)
    assert found["knows who was swapped"] == pytest.approx(known + unlike, abs=5e-4)
    assert found["best constant"] == pytest.approx((inside @ w).max(), rel=1e-12)


def test_cells_of_several_values_do_not_stand_out_as_heaps():
    x = np.random.default_rng(1).laplace(10.0, 1_000.0, 200_000)
    fine, tens = (
        cm.risk(each, cm.ConditionalMasking(0.6, 500.0, step=step), d=1_000.0).attackers[
            "best attacker"
        ]
        for each, step in ((x, None), (np.round(x, -1), 10.0))
    )

    assert tens == pytest.approx(fine, abs=0.005)


@pytest.mark.parametrize("near", [rare_values.EQUAL, 1.5, 3.5])
def test_values_that_stand_alone_come_back_unless_they_are_swapped(near):
    x = np.array([1.0, 2.0, 4.5, 9.0])
    p = 0.4
    chance = np.zeros(4)
    for coins in product((False, True), repeat=4):
        who = np.flatnonzero(coins)
        orders = list(permutations(who))
        for order in orders:
            close = np.abs(x[list(order)] - x[who]) < near
            chance[who[close]] += p**who.size * (1.0 - p) ** (4 - who.size) / len(orders)

    found = rare_values.own_value_chances(x, cm.ReverseMapping(p, 1e-3), near)

    assert found == pytest.approx(1.0 - p + chance, rel=1e-12)


@pytest.mark.parametrize(
    ("far", "options", "count"),
    [
        ([50.0] * 3, {}, 3),
        ([50.0] * 4, {}, 0),  # of 303 records a hundredth, or more
        # 12 kept ones beside
        (50.0 + np.arange(29) / 1_000.0, {}, 29),
        (50.0 + np.arange(30) / 1_000.0, {}, 0),
        (np.append(50.0 + np.arange(29) / 1_000.0, 53.1), {}, 30),  # farther than 1.5 sigma
        (np.append(50.0 + np.arange(29) / 1_000.0, 52.9), {}, 0),
        ([30.0, 40.0, 50.0, 60.0], {"aggregate_ends": 3}, 1),
    ],
)
def test_rare_are_values_of_few_records_that_have_few_beside(far, options, count):
    x = np.append(np.linspace(0.0, 1.0, 300), far)
    scheme = cm.ReverseMapping(0.6, 2.0, **options)

    assert rare_values.own_value_chances(x, scheme).size == count


def best_window(values, mass, d, several):
    """The mass of the fullest window, in which cells at its ends are by half, and its middle."""
    found = []
    for low in values:
        inside = np.flatnonzero((values >= low) & (values < low + 2.0 * d))
        ends = inside[[0, -1]]
        found.append((mass[inside].sum() - 0.5 * mass[ends] @ several[ends], values[ends].mean()))
    return max(found)


def test_cells_are_means_of_equally_many_and_windows_count_half_of_their_ends():
    stream = np.random.default_rng(4)
    x = np.append(stream.normal(size=960), np.full(240, 0.5))

    values, counts, several = joint_law.cells_of(x, 30)

    cells = np.split(np.sort(x), np.cumsum(counts)[:-1])
    np.testing.assert_allclose(values, [cell.mean() for cell in cells])
    assert np.array_equal(several, [np.ptp(cell) > 0.0 for cell in cells])
    assert sorted(counts)[2:-1] == pytest.approx([40] * (counts.size - 3), abs=1)
    mass = stream.random((values.size, 3))
    d = 0.8
    found, middle = joint_law.fullest(values, mass, d, several)
    for k in range(3):
        assert (found[k], middle[k]) == pytest.approx(best_window(values, mass[:, k], d, several))


def test_attackers_of_a_joint_law_take_the_best_window_of_each_released_value():
    stream = np.random.default_rng(6)
    d = 1.0
    values = np.sort(stream.uniform(0.0, 9.0, 12))
    edges = np.sort(stream.uniform(0.0, 9.0, 11))
    shares, shown, *moved = stream.dirichlet(np.full(12, 0.3), 14)
    swapped = 0.6 * np.outer(shares, shown)
    kept = 0.4 * shares[:, None] * np.array(moved)
    both = swapped + kept
    several = stream.random(12) < 0.3
    law = joint_law.JointLaw(values, shares, several, edges, swapped, kept)

    parts = both, swapped, kept
    of_all, *known = ([best_window(values, each, d, several) for each in part.T] for part in parts)
    assert law.constant(d) == pytest.approx(best_window(values, shares, d, several)[0])
    near = abs(values[:, None] - values) < d
    np.testing.assert_allclose(law.shown(d), (both * near).sum(axis=1) / shares)
    assert law.best(d) == pytest.approx(sum(mass for mass, _ in of_all))
    assert law.best(d, known_coins=True) == pytest.approx(
        sum(mass for part in known for mass, _ in part)
    )
    x, z = stream.uniform(-1.0, 10.0, (2, 50))
    cell = (z[:, None] >= edges).sum(axis=1)
    mass, middle = np.transpose(of_all)[:, cell]
    expected = [middle, mass / both.sum(axis=0)[cell], abs(x - middle) < d]
    np.testing.assert_allclose(law.guesses(x, z, d), expected)


def test_intervals_of_shares_are_those_of_wilson():
    x = np.random.default_rng(3).normal(size=500)
    found = cm.risk(x, cm.ConditionalMasking(0.6, 0.5), d=[1e-9, 0.1, 9.0])["x"]

    for share, *ends in zip(
        found.attackers["best constant"], *found.interval("best constant"), strict=True
    ):
        wilson = binomtest(round(500 * share), 500).proportion_ci(method="wilson")
        assert ends == pytest.approx([*wilson], abs=1e-12)
