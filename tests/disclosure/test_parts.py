"""Parts that attacks are made of, against enumeration and closed forms."""

from itertools import permutations, product

import numpy as np
import pytest
from reference import noise_cdf
from scipy.stats import binomtest

import condmask as cm
from condmask.disclosure import joint_law, rare_values, units
from condmask.disclosure.sample import draw, sample_of
from condmask.disclosure.table import Table, clear_of, numbers_and_labels, numbers_in

NAN = float("nan")


def test_texts_are_read_as_the_numbers_they_hold():
    read = {
        "EUR 5": 5, "1,234.5": 1234.5, "1.234,5": 1234.5, "1,5": 1.5, "1,50": 1.5, "1,500": 1500,
        "1.500": 1.5, "1,234,567": 1234567, "1.234.567,89": 1234567.89, "1'000.5": 1000.5, "\u22123": -3,
        "-3.": -3, "+7,": 7, "2e3 t": 2000, "2000-01-02": 10958, "2000-01-02 18:00": 10958.75,
        "2021-02-31": NAN, "1.2.3": NAN, "5 of 6": NAN, "none": NAN,
    }  # fmt: skip

    assert numbers_in([*read]) == pytest.approx([*read.values()], nan_ok=True)
    assert numbers_in(["1", "inf", "2.5"]) == pytest.approx([1.0, NAN, 2.5], nan_ok=True)


def test_columns_are_numbers_or_labels_or_both():
    n = 300
    few = np.arange(n) % 3
    columns = {
        "float": np.where(few == 0, np.inf, 1.5), "flag": few == 1, "large": 2**60 + few,
        "day": np.array(["2000-01-02", "NaT", "1970-01-01"], dtype="M8[D]")[few],
        "key": np.array(["a-1 x", "b-2 x", None], dtype=object)[few],
        "some": np.where(np.arange(n) < 0.12 * n, "12", "none"), "all": np.array(["1 t", "2.5", "3"])[few],
    }  # fmt: skip

    numbers, labels = numbers_and_labels(columns)

    def starts(columns):
        return {name: x[:3].tolist() for name, x in columns.items()}

    assert starts(numbers) == {
        "float": pytest.approx([NAN, 1.5, 1.5], nan_ok=True), "flag": [0.0, 1.0, 0.0],
        "day": pytest.approx([10958.0, NAN, 0.0], nan_ok=True), "some": [12.0] * 3,
        "key": pytest.approx([-1.0, -2.0, NAN], nan_ok=True), "all": [1.0, 2.5, 3.0],
        "key (part 2)": pytest.approx([1.0, 2.0, NAN], nan_ok=True), "all (part 1)": [1.0, 2.0, 3.0],
    }  # fmt: skip
    assert starts(labels) == {"large": [0, 1, 2], "key": [0, 1, -1], "some": [0, 0, 0], "all": [0, 1, 2]}
    long = numbers_and_labels({"name": np.array([f"{k % 7} a b c {k} {k % 20}" for k in range(n)])})[1]
    assert {name: np.unique(x).size for name, x in long.items()} == {
        "name": n, "name (part 1)": 7, "name (part at the end)": 20,
    }  # fmt: skip


def test_columns_that_number_or_name_records():
    n = 150
    row, mixed = np.arange(n), np.random.default_rng(1).permutation(n)
    columns = {
        "row": row, "from 1": row + 1, "from 2": row + 2, "id": 7 * mixed, "price": mixed / 4.0,
        "whole": mixed * 3.0, "name": np.array([f"x{k}" for k in mixed]), "twice": mixed // 2,
        "rate": np.array([f"{k / 4}" for k in mixed]), "nr": np.array([f"{k}" for k in mixed]),
        "date": np.array([str(np.datetime64("2000-01-01") + k) for k in mixed]),
    }  # fmt: skip
    masked = {"x": np.zeros(n)}

    assert clear_of(masked | columns, masked).identifiers == ("from 2", "id", "whole", "name", "nr")
    few = {name: column[:100] for name, column in columns.items()}
    assert clear_of({"x": np.zeros(100)} | few, {"x": np.zeros(100)}).identifiers == ()


FIRM, PLACE = np.divmod(np.random.default_rng(5).permutation(1_200), 4)
ROWS, NUMBER = np.arange(1_200), np.random.default_rng(6).permutation(10**6)[:1_200]
WAYS = {  # columns in clear that tell firms of four records, and the firms
    "firm": ({"firm": np.where(ROWS % 90 == 0, NAN, FIRM)}, FIRM),
    "id by 10": ({"id": 10 * FIRM + PLACE}, FIRM),
    "id modulo 1000": ({"id": FIRM + 1_000 * NUMBER}, FIRM),
    "street x house": ({"street": FIRM // 20, "house": FIRM % 20}, FIRM),
    "case and before": (
        {"case": NUMBER[4 * FIRM + PLACE], "before": np.where(PLACE == 0, -1, NUMBER[4 * FIRM + PLACE - 1])},
        FIRM,
    ),
    "rows by 4": ({}, ROWS // 4),
    "rows modulo 30": ({}, ROWS % 30),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_units_are_told_by_columns_pairs_digits_names_and_rows(way):
    columns, unit = WAYS[way]
    numbers = {name: x.astype(float) for name, x in columns.items()}
    stream = np.random.default_rng(7)
    x = stream.normal(size=300)[unit] + 0.2 * stream.normal(size=unit.size)

    name, codes = next(iter(units.units_of(numbers, {}, {"x": x}, ROWS).items()))

    assert name == way
    known = codes >= 0
    assert known.sum() == unit.size - np.isnan([*numbers.values()]).sum()
    pairs = np.unique([codes[known], unit[known]], axis=1).shape[1]
    assert pairs == np.unique(codes[known]).size == np.unique(unit[known]).size
    assert units.units_of(numbers, {}, {"x": stream.normal(size=unit.size)}, ROWS) == {}


def test_each_half_of_a_sample_is_masked_by_itself_with_known_coins():
    x, pool = NUMBER * 1.0, ROWS % 3
    sample = sample_of(Table({"x": x}, pool))
    masked, swapped = draw(sample, {"x": cm.ConditionalMasking(0.3, 1e-6, reverse_mapping=True)}, 1)

    assert np.mean(swapped) == pytest.approx(0.3, abs=0.06)
    assert np.array_equal(masked["x"][~swapped], x[~swapped])  # by so little noise nothing moves
    for half, part in product((0, 1), range(3)):
        own = (sample.half == half) & (pool == part)
        assert abs(own.sum() - 200) < 40
        assert np.array_equal(np.sort(masked["x"][own]), np.sort(x[own]))


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("sigma", [5.0, 15.0])
def test_the_best_attacker_of_few_values_by_all_that_a_release_can_show(noise, sigma):
    stream = np.random.default_rng(2)
    x = np.sort(stream.choice(np.arange(0.0, 120.0, 4.0), 600, p=stream.dirichlet(np.ones(30))))
    values, counts = np.unique(x, return_counts=True)
    z, w, d, p = np.arange(-200.0, 321.0), counts / x.size, 10.0, 0.4
    steps = (z - values[:, None])[..., None] / sigma + np.array([-0.5, 0.5]) / sigma
    kept = (1.0 - p) * w[:, None] * np.diff(noise_cdf(noise, steps))[..., 0]
    swapped = p * w[:, None] * np.where(z == values[:, None], w[:, None], 0.0).sum(axis=0)
    inside = (values >= values[:, None]) & (values < values[:, None] + 2.0 * d)

    found = cm.risk(x, cm.ConditionalMasking(p, sigma, noise=noise, step=1.0, donors="sample"), d=d).attackers

    best, known, unlike = ((inside @ part).max(axis=0).sum() for part in (swapped + kept, kept, swapped))
    assert found["best attacker"] == pytest.approx(best, abs=5e-4)
    assert found["knows who was swapped"] == pytest.approx(known + unlike, abs=5e-4)
    assert found["best constant"] == pytest.approx((inside @ w).max(), rel=1e-12)


@pytest.mark.parametrize("near", [rare_values.EQUAL, 1.5, 3.5])
def test_values_that_stand_alone_come_back_unless_they_are_swapped(near):
    x, p, chance = np.array([1.0, 2.0, 4.5, 9.0]), 0.4, np.zeros(4)
    for coins in product((False, True), repeat=4):
        who = np.flatnonzero(coins)
        orders = list(permutations(who))
        for order in orders:
            close = np.abs(x[list(order)] - x[who]) < near
            chance[who[close]] += p**who.size * (1.0 - p) ** (4 - who.size) / len(orders)

    found = rare_values.own_value_chances(x, cm.ConditionalMasking(p, 1e-3, reverse_mapping=True), near)

    assert found == pytest.approx(1.0 - p + chance, rel=1e-12)


@pytest.mark.parametrize(("far", "options", "count"), [
    ([50.0] * 3, {}, 3), ([50.0] * 4, {}, 0),  # of 303 records a hundredth, or more
    (50.0 + np.arange(29) / 1_000.0, {}, 29), (50.0 + np.arange(30) / 1_000.0, {}, 0),  # 12 kept ones beside
    (np.append(50.0 + np.arange(29) / 1_000.0, 53.1), {}, 30),  # farther than 1.5 sigma
    (np.append(50.0 + np.arange(29) / 1_000.0, 52.9), {}, 1),
    ([30.0, 40.0, 50.0, 60.0], {"aggregate_ends": 3}, 1),
])  # fmt: skip
def test_rare_are_values_of_few_records_that_have_few_beside(far, options, count):
    x = np.append(np.linspace(0.0, 1.0, 300), far)
    scheme = cm.ConditionalMasking(0.6, 2.0, reverse_mapping=True, **options)

    assert rare_values.own_value_chances(x, scheme).size == count


def test_cells_are_means_of_equally_many_and_windows_count_half_of_their_ends():
    stream = np.random.default_rng(4)
    x = np.append(stream.normal(size=960), np.full(240, 0.5))

    values, counts, several = joint_law.cells_of(x, 30)

    places = np.searchsorted(np.cumsum(counts), np.arange(x.size), side="right")
    assert counts.sum() == x.size
    np.testing.assert_allclose(values, [np.sort(x)[places == k].mean() for k in range(values.size)])
    assert np.array_equal(several, [np.ptp(np.sort(x)[places == k]) > 0.0 for k in range(values.size)])
    mass, d = stream.random((values.size, 3)), 0.8
    found, middle = joint_law.fullest(values, mass, d, several)
    for k in range(3):
        best = (0.0, 0.0)
        for i, low in enumerate(values):
            inside = np.flatnonzero((values >= low) & (values < low + 2.0 * d))
            ends = [0.5 * mass[j, k] for j in (i, inside[-1]) if several[j]]
            best = max(best, (mass[inside, k].sum() - sum(ends), 0.5 * (low + values[inside[-1]])))
        assert (found[k], middle[k]) == pytest.approx(best)


def test_intervals_of_shares_are_those_of_wilson():
    x = np.random.default_rng(3).normal(size=500)
    found = cm.risk(x, cm.ConditionalMasking(0.6, 0.5), d=[1e-9, 0.1, 9.0])["x"]

    for share, *ends in zip(found.attackers["best constant"], *found.interval("best constant"), strict=True):
        assert ends == pytest.approx(
            [*binomtest(round(500 * share), 500).proportion_ci(method="wilson")], abs=1e-12
        )
