"""What attackers of tables learn from, against plain loops, enumeration and closed forms."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from reference import noise_cdf
from scipy.stats import binomtest

import condmask as cm
from condmask._blocks import in_stretches
from condmask.disclosure import (
    attacker_view,
    features,
    formulas,
    named,
    related,
    units,
    unmasked,
)
from condmask.disclosure.column import joint_law, rare_values
from condmask.disclosure.sample import Sample, draw, sample_of
from condmask.disclosure.unmasked import Clear, Table, clear_of, numbers_and_labels, numbers_in
from condmask.masking.ends import aggregate

NAN = float("nan")


def looked_at(released, own, clear, half, original, **options):
    """What an attacker of the first column has, each record a block, on a line in units of the
    data."""
    sample = Sample(
        Table({f"x{k}": x for k, x in enumerate(original.T)}), clear, np.arange(own.size), half
    )
    given = {"twins": [], "masked": released, "noisy": False, "d": np.array([0.1])} | options
    same = {"line": np.asarray, "scale": np.asarray}
    return attacker_view.AttackerView(
        sample, released, 0, own=own, original=original, **given, **same
    )


def the_other_half_teaches(idea, look):
    """What an idea says of a half is the same whatever the originals of this half are."""
    for here in (look.sample.half == 0, look.sample.half == 1):
        original = look.original.copy()
        original[here] = original[here][::-1]
        for one, other in zip(idea(look), idea(look._replace(original=original)), strict=True):
            np.testing.assert_array_equal(one[here], other[here])


def average(parts, stream):
    weights = stream.uniform(1.0, 9.0, parts.shape)
    return formulas.quotient, {
        **named_columns(weights),
        "average": np.average(parts, axis=0, weights=weights),
    }


def total(parts, stream):
    more = stream.normal(50.0, 15.0, (30, parts.shape[1]))
    return formulas.quotient, {
        **named_columns(more),
        "total": parts.sum(axis=0) + more.sum(axis=0),
    }


def product_of_powers(parts, stream):
    return formulas.powers, {
        "all": 7.0 * parts[0] * parts[1] ** 2 / parts[2],
        "other": stream.normal(size=900),
    }


def named_columns(columns):
    return {f"c{k}": column for k, column in enumerate(columns)}


@pytest.mark.parametrize("made", [average, total, product_of_powers])
def test_a_part_follows_from_the_others_where_most_records_agree(made):
    stream = np.random.default_rng(3)
    n = 900
    parts = stream.uniform(20.0, 80.0, (3, n))
    idea, clear = made(parts, stream)
    last = list(clear)[-1 if made is not product_of_powers else 0]
    clear[last][:10] = NAN
    clear[last][10:60] = stream.permutation(clear[last][10:60])
    clear |= {"a": parts[1], "b": parts[2], "gaps": np.where(parts[1] > 40.0, NAN, 1.0)}
    look = looked_at(
        parts[:1].T,
        np.ones(n, dtype=bool),
        Clear(np.arange(n), clear),
        stream.integers(0, 2, n),
        parts[:1].T,
    )
    told = idea(look)

    assert np.unique(told[:10]).size == 1
    # no row stands after the last one
    np.testing.assert_allclose(told[60:-1], parts[0, 60:-1], rtol=1e-4)
    the_other_half_teaches(lambda look: [idea(look)], look)


@pytest.mark.parametrize("tell", ["trapezoids", "others"])
def test_values_that_others_and_columns_in_clear_tell_are_solved_for_at_once(tell):
    stream = np.random.default_rng(4)
    n = 1_200
    x = stream.lognormal(3.0, 0.5, n)
    unit = np.arange(n) // 12
    total = np.bincount(unit, x)[unit]
    means = np.cumsum(np.where(np.arange(n) % 12, (x + np.roll(x, 1)) / 2.0, 0.0))
    clear = {"trapezoids": means, "others": (total - x) / 11.0}[tell]
    own = stream.random(n) < 0.5
    z = np.where(own, x + stream.normal(0.0, 1.0, n), stream.permutation(x))[:, None]
    numbers = {"unit": unit.astype(float), "tell": clear}
    look = looked_at(z, own, Clear(np.arange(n), numbers), unit % 2, x[:, None])
    unshown, by_others, by_all = related.related(look)
    within = np.clip(x, *(max(x[::2].min(), x[1::2].min()), min(x[::2].max(), x[1::2].max())))

    assert np.mean(np.abs(by_all - x) < 0.5) > 0.6
    assert np.std(by_others - x) < 0.5 * np.std(x)
    if tell == "others":
        assert np.mean(np.abs(unshown - within) < 0.01) > 0.95
    the_other_half_teaches(related.related, look)


def near_in(rows, own):
    """By record who was kept of those with other numbers within 8."""
    apart = abs(rows - rows[:, None])
    return own & (apart > 0) & (apart <= 8)


def test_what_others_show_is_counted_plainly():
    stream = np.random.default_rng(1)
    n = 60
    rows = np.cumsum(stream.integers(1, 4, n))
    z = stream.normal(size=(n, 2))
    own = stream.random(n) < 0.3
    own[[0, -1]] = False
    own[[1, -2]] = True  # nobody stands beside himself
    unit = stream.integers(-1, 12, n)
    w = stream.integers(0, 50, n).astype(float)
    twins = stream.integers(0, n, (n, 3))
    each = np.arange(n)
    clear = Clear(rows, {"w": w}, {"label": unit}, {"unit": unit})
    look = looked_at(z, own, clear, each % 2, z, twins=[twins])

    def mean(who, column=0):
        """What some of those show who were kept, who counts whom as often as a table says."""
        return np.array(
            [np.average(z[:, column], weights=row) if row.any() else NAN for row in who * own]
        )

    apart = rows - rows[:, None]
    alike = (unit == unit[:, None]) & (unit >= 0)
    of_twins = mean(sum(np.eye(n)[each_one] for each_one in twins.T))
    beside = [np.array([*w[apart[i] == -by], NAN])[0] for by in (1, -1) for i in each]
    expected = {
        features.clear_values: [w, np.where(unit < 0, NAN, unit)],
        features.clear_beside: np.tile(w, (2, 1)) - np.reshape(beside, (2, n)),
        features.of_unit: [mean(alike & (each != each[:, None]), k) for k in (0, 1)],
        features.of_unit_and_itself: [mean(alike)],
        features.of_neighbours: [mean(near_in(rows, own))],
        features.of_twin: [of_twins],
        features.of_twin_and_itself: [
            np.where(np.isnan(of_twins), z[:, 0], (of_twins + z[:, 0]) / 2.0)
        ],
        features.of_itself: z.T,
    }
    for idea, columns in expected.items():
        for column, by_hand in zip(idea(look), columns, strict=idea is not features.of_neighbours):
            np.testing.assert_allclose(column, by_hand, atol=1e-12, err_msg=idea.__name__)


def test_neighbours_are_those_of_the_file_of_a_machine_and_of_a_unit():
    stream = np.random.default_rng(3)
    n = 400
    row = np.arange(n)
    own = stream.random(n) < 0.4
    firm = stream.permutation(n // 10)[row % 40]
    year = stream.normal(size=n)  # 40 machines, in turn
    x = (stream.normal(size=40)[firm] + 0.3 * year + 0.05 * stream.normal(size=n))[:, None]
    z = stream.normal(size=(n, 1))
    clear = Clear(row, {"w": year[::-1], "year": year}, {}, {"firm": firm})

    found = features.of_neighbours(looked_at(z, own, clear, row % 2, x))

    place = np.argsort(np.argsort(year + 1e3 * firm))  # within a firm by year
    orders = row, row % 40 * 1_000 + row // 40, firm * 1_000 + place
    for column, who in zip(found, (near_in(each, own) for each in orders), strict=True):
        by_hand = [z[some, 0].mean() if some.any() else NAN for some in who]
        np.testing.assert_allclose(column, by_hand, atol=1e-12)


def test_twins_are_nearest_by_ranks_in_all_columns_and_in_the_two_that_tell_most():
    stream = np.random.default_rng(8)
    n = 1_100
    clear = dict(zip(("east", "noise", "north", "few"), stream.normal(size=(4, n)), strict=True))
    x = clear["east"] * clear["north"]
    # too few for pairs; at one place
    clear["few"][98:] = clear["north"][-30:] = clear["east"][-30:] = NAN

    found = features.twins(
        Sample(Table({"x": x}), Clear(np.arange(n), clear), np.arange(n), np.ones(n))
    )

    rank = {
        name: np.where(np.isnan(w), n / 2.0, np.argsort(np.argsort(w)))
        for name, w in clear.items()
    }
    for near, names, count in zip(found, ([*clear], ("east", "north")), (1, 8), strict=True):
        apart = sum((rank[name] - rank[name][:, None]) ** 2 for name in names)
        np.fill_diagonal(apart, np.inf)
        shown = np.take_along_axis(apart, near, axis=1)
        least = np.sort(apart, axis=1)[:, :count]
        np.testing.assert_allclose(np.sort(shown, axis=1), least, rtol=1e-12)


@pytest.mark.parametrize(("units", "size", "near"), [(60, 8, False), (10, 64, True)])
def test_rises_that_a_column_in_clear_tells_carry_on_what_a_unit_shows(units, size, near):
    # or records that are near by in a column in clear, where none names units
    stream = np.random.default_rng(2)
    place = stream.permutation(units * size)
    unit, year = np.divmod(place, size)
    growth = stream.normal(0.0, 1.0, (units, size))
    level = stream.normal(0.0, 9.0, (units, 1))
    rise = 0.3 + 2.0 * growth
    u = (level + (rise if near else rise.cumsum(axis=1)))[unit, year][:, None]
    z = u + stream.normal(size=u.shape)
    own = stream.random(u.size) < 0.5
    numbers = {"growth": growth[unit, year], "time": (place if near else year) * 1.0}
    clear = Clear(np.arange(u.size), numbers, {}, {} if near else {"unit": unit})

    look = looked_at(z, own, clear, unit % 2, u)

    the_other_half_teaches(features.within_group_trend, look)
    kept = (unit == unit[:, None]) & own
    others = kept & ~np.eye(u.size, dtype=bool)
    for column, who in zip(features.within_group_trend(look), (others, kept), strict=False):
        with np.errstate(invalid="ignore"):
            mean = u[:, 0] + who @ (z - u)[:, 0] / who.sum(axis=1)
        np.testing.assert_allclose(column, mean, atol=1e-6)


def swapped(stream, values, own):
    """Records that were not kept show the values of one another."""
    shown = values.copy()
    shown[~own] = stream.permutation(values[~own])
    return shown


@pytest.mark.parametrize("tell", [np.subtract, np.multiply])
def test_a_column_that_follows_from_two_masked_ones_tells_what_a_swapped_record_had(tell):
    stream = np.random.default_rng(4)
    n = 200
    x = stream.lognormal(0.0, 0.5, (n, 2))
    own = stream.random(n) < 0.4
    clear = Clear(np.arange(n), {"other": stream.normal(size=n), "w": tell(*x.T)})
    shown = swapped(stream, x, own)
    half = np.arange(n) % 2

    inside = (np.arange(n) > 0) & (np.arange(n) < n - 1)  # of which both rows beside are there
    # with coins or without
    for known, of in ((own, inside & ~own), (np.ones(n, dtype=bool), inside)):
        look = looked_at(shown, known, clear, half, x)
        value, place = named.linked(look)
        the_other_half_teaches(named.linked, look)
        assert np.array_equal(place[:, 0], value, equal_nan=True)
        assert np.array_equal(np.isnan(value), ~of)
        np.testing.assert_allclose(value[of], x[of, 0], rtol=1e-9)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("tell", ["quotient", "difference", "distance", "digits"])
def test_values_that_a_column_in_clear_leaves_possible_are_named(tell, noisy):
    stream, other, n = *map(np.random.default_rng, (5, 6)), 400
    x, apart = (each.lognormal(6.0, 0.9, n).round(2) for each in (stream, other))
    w = {
        "quotient": (x * stream.choice([0.05, 0.07, 0.1, 0.25], n)).round(2),
        "difference": x + stream.choice([3.0, 11.5, 40.0], n),
        "digits": np.rint(100.0 * x) % 1_000.0 + 1_000.0 * stream.integers(0, 99, n),
        "distance": x + apart * other.choice([-1.0, 1.0], n),  # the mean of two
    }[tell]
    own = stream.random(n) < 0.5
    shown = swapped(stream, x, own)
    near = shown[own] + 0.2 * stream.normal(size=own.sum())
    shown[own] = near if noisy else np.sort(shown[own])[np.argsort(np.argsort(near))]
    clear = Clear(np.arange(n), {"w": w, "apart": apart})

    look = looked_at(shown[:, None], own, clear, np.arange(n) % 2, x[:, None], noisy=noisy)
    value, (place, sure) = (part.T for part in named.matched(look))

    the_other_half_teaches(named.matched, look)
    assert np.array_equal(place, value, equal_nan=True)
    hidden = own & (tell == "digits") & noisy  # noise changes the last digits
    assert np.isnan(value[hidden]).all()
    for who in (own & ~hidden, ~own):
        right = np.sum(np.abs(value[who] - x[who]) < 0.2)  # where two are as near, by rounding
        assert right >= 0.89 * who.sum()
        assert np.nansum(sure[who]) == pytest.approx(right, abs=1.0)


def test_texts_are_read_as_the_numbers_they_hold():
    read = {
        "EUR 5": 5,
        "1,234.5": 1234.5,
        "1.234,5": 1234.5,
        "1,5": 1.5,
        "1,50": 1.5,
        "1,500": 1500,
        "1.500": 1.5,
        "1,234,567": 1234567,
        "1.234.567,89": 1234567.89,
        "1'000.5": 1000.5,
        "\u22123": -3,
        "-3.": -3,
        "+7,": 7,
        "2e3 t": 2000,
        "2000-01-02": 10958,
        "2000-01-02 18:00": 10958.75,
        "2021-02-31": NAN,
        "1.2.3": NAN,
        "5 of 6": NAN,
        "none": NAN,
    }

    assert numbers_in([*read]) == pytest.approx([*read.values()], nan_ok=True)
    assert numbers_in(["1", "inf", "2.5"]) == pytest.approx([1.0, NAN, 2.5], nan_ok=True)


def test_columns_are_numbers_or_labels_or_both():
    few = np.arange(300) % 3
    missing = pytest.approx(NAN, nan_ok=True)
    columns = {
        "float": np.where(few == 0, np.inf, 1.5),
        "flag": few == 1,
        "large": 2**60 * (few > 0) + few,
        "day": np.array(["2000-01-02", "NaT", "1970-01-01"], dtype="M8[D]")[few],
        "time": np.array(["2000-01-02 18:00", "NaT", "1970-01-01"], dtype="M8[m]")[few],
        "key": np.array(["a-1 x", "b-2 x", None], dtype=object)[few],
        "some": np.where(np.arange(300) < 36, "12", "none"),
        "all": np.array(["1 t", "2.5", "3"])[few],
        "long": np.array([f"{k % 7} a b c {k} {k % 20}" for k in range(300)]),
    }

    numbers, labels = (
        {name: x[:3].tolist() for name, x in each.items()} for each in numbers_and_labels(columns)
    )

    assert numbers == {
        "float": [missing, 1.5, 1.5],
        "flag": [0, 1, 0],
        "day": [10958, missing, 0],
        "some": [12] * 3,
        "time": [10958.75, missing, 0],
        "time (part day)": [10958, missing, 0],
        "key": [-1, -2, missing],
        "key (part 2)": [1, 2, missing],
        "all": [1, 2.5, 3],
        "all (part 1)": [1, 2, 3],
        "long (part 1)": [0, 1, 2],
        "long (part at the end)": [0, 1, 2],
    }
    left = Clear(np.arange(300), *numbers_and_labels(columns)).without(
        {"key", "long"}, {"x": few * 1.0}
    )
    assert {*left.numbers, *left.labels} == {*columns, "all (part 1)", "time (part day)"} - {
        "key",
        "long",
    }
    assert labels.pop("long") != labels.pop("long (part at the end)")
    assert labels == {
        "large": [0, 1, 2],
        "key": [0, 1, -1],
        "some": [0] * 3,
        "all": [0, 1, 2],
        "long (part 1)": [0, 1, 2],
    }


def test_columns_that_number_or_name_records():
    row = np.arange(150)
    mixed = np.random.default_rng(1).permutation(150)
    columns = {
        "x": row * 0.0,
        "row": row,
        "from 1": row + 1,
        "from 2": row + 2,
        "id": 7 * mixed,
        "price": mixed / 4,
        "whole": mixed * 3.0,
        "name": np.array([f"x{k}" for k in mixed]),
        "twice": mixed // 2,
        "rate": np.array([f"{k / 4}" for k in mixed]),
        "nr": np.array([f"{k}" for k in mixed]),
        "date": (np.datetime64("2000-01-01") + mixed).astype(str),
    }

    for n, named_by in ((150, ("from 2", "id", "whole", "name", "nr")), (100, ())):
        part = {name: column[:n] for name, column in columns.items()}
        assert clear_of(part, {"x": part["x"]}).identifiers == named_by


FIRM, PLACE = np.divmod(np.random.default_rng(5).permutation(1_200), 4)
ROWS = np.arange(1_200)
NUMBER = np.random.default_rng(6).permutation(10**6)[:1_200]
WAYS = {  # columns in clear that tell firms of four records, and the firms
    "firm": ({"firm": np.where(ROWS % 90 == 0, NAN, FIRM)}, FIRM),
    "id by 10": ({"id": 10 * FIRM + PLACE}, FIRM),
    "id modulo 1000": ({"id": FIRM + 1_000 * NUMBER}, FIRM),
    "street x house": ({"street": FIRM // 20, "house": FIRM % 20}, FIRM),
    "case and before": (
        {
            "case": NUMBER[4 * FIRM + PLACE],
            "before": np.where(PLACE == 0, -1, NUMBER[4 * FIRM + PLACE - 1]),
        },
        FIRM,
    ),
    "rows by 4": ({}, ROWS // 4),
    "rows modulo 30": ({}, ROWS % 30),
}


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


def test_numbers_that_are_whole_in_some_rows_alone_tell_no_units_of_a_long_table():
    n = ROWS.size * 20
    x = NUMBER[np.arange(n) // 20] * 1.0
    firm = np.arange(n) // 20 * 1.0
    firm[np.setdiff1d(np.arange(n), in_stretches(n, unmasked.MAX_EXAMINED_ROWS))[0]] += 0.5

    found = clear_of({"firm": firm}, {"x": x})

    assert np.array_equal(found.rows, in_stretches(n, unmasked.MAX_EXAMINED_ROWS))
    assert "firm" in found.units
    pairs = clear_of({"pair": np.floor(np.column_stack((firm, firm)))}, {"x": x})
    assert np.unique(pairs.rows // 20, return_counts=True)[1].tolist() == [20] * (
        pairs.rows.size // 20
    )


def test_what_may_tell_units_are_whole_numbers_their_digits_pairs_and_leaders():
    row = np.arange(1_000)
    case = NUMBER[:1_000] + 10.0**6
    numbers = {"99": -(row % 100.0), "100": -(row % 101.0), "gaps": row * NAN, "half": case + 0.5}
    numbers |= {
        name: np.where(row < k, np.roll(case, 3), -1.0)
        for name, k in (("few", 200), ("many", 300))
    }

    found = units.candidates({"case": case, **numbers}, {})

    # of these the last digits, where there are more
    whole = ["case", "99", "100", "gaps", "few", "many"]
    digits = [("100", 10), *product(("case", "few", "many"), (10, 100, 1_000))]
    expected = [*whole, *(f"{a} x {b}" for a, b in combinations(whole, 2)), "case and many"]
    assert {*found} == {
        *expected,
        *(f"{name} {how} {k}" for name, k in digits for how in ("by", "modulo")),
    }
    # each of the first 300 names that three before
    joined = np.where(row < 300, row % 3, (row - 297) % 700)
    assert np.array_equal(found["case and many"], joined)


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


def test_each_half_of_a_sample_is_masked_by_itself_with_known_coins():
    x = NUMBER * 1.0
    pool = ROWS % 3
    assert Table({"x": np.array([1.0, NAN]), "y": np.full(2, NAN)}, pool[1:3]).code.tolist() == [
        1,
        -1,
    ]
    sample = sample_of(Table({"x": x}, pool))
    masked, swapped = draw(sample, {"x": cm.ReverseMapping(0.3, 1e-6)}, 1)

    assert np.mean(swapped) == pytest.approx(0.3, abs=0.06)
    assert np.array_equal(masked["x"][~swapped], x[~swapped])  # by so little noise nothing moves
    for half, part in product((0, 1), range(3)):
        own = (sample.half == half) & (pool == part)
        assert abs(own.sum() - 200) < 40
        assert np.array_equal(np.sort(masked["x"][own]), np.sort(x[own]))
    by_firm = sample_of(Table({"x": x}, None, Clear(ROWS, {}, {}, {"firm": FIRM})))
    assert len({*zip(FIRM, by_firm.half, by_firm.block, strict=True)}) == 300  # each in one half


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
