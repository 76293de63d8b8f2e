"""What attackers of tables learn from, against plain loops over few records."""

import numpy as np
import pytest

from condmask.disclosure import features, named
from condmask.disclosure.sample import Sample
from condmask.disclosure.table import Clear, Table

NAN = float("nan")


def looked_at(released, own, clear, half, original, **options):
    """What an attacker of the first column has, each record a block, on a line in units of the data."""
    sample = Sample(Table({f"x{k}": x for k, x in enumerate(original.T)}), clear, np.arange(own.size), half)
    given = {"twins": [], "masked": released, "noisy": False, "d": np.array([0.1])} | options
    same = {"line": np.asarray, "scale": np.asarray}
    return features.Look(sample, released, 0, own=own, original=original, **given, **same)


def test_what_others_show_is_counted_plainly():
    stream, n = np.random.default_rng(1), 60
    rows = np.cumsum(stream.integers(1, 4, n))
    z, own = stream.normal(size=(n, 2)), stream.random(n) < 0.3
    unit, w = stream.integers(-1, 12, n), stream.integers(0, 50, n).astype(float)
    twins, each = stream.integers(0, n, (n, 3)), np.arange(n)
    clear = Clear(rows, {"w": w}, {"label": unit}, {"unit": unit})
    look = looked_at(z, own, clear, each % 2, z, twins=[twins])

    def mean(who, column=0):
        """What some of those show who were kept, who counts whom as often as a table says."""
        return np.array([np.average(z[:, column], weights=row) if row.any() else NAN for row in who * own])

    apart = rows - rows[:, None]
    gap = np.where(own & (abs(apart) <= 8), abs(apart), 99)
    before, after = (
        (gap == np.where(side, gap, 99).min(axis=1)[:, None]) & side & (gap < 99)
        for side in (apart < 0, apart > 0)
    )
    alike = (unit == unit[:, None]) & (unit >= 0)
    both = [np.sum([t == j for t in twins.T], axis=0) for j in each]
    of_twins = mean(np.transpose(both))
    beside = [np.array([*w[apart[i] == -by], NAN])[0] for by in (1, -1) for i in each]
    expected = {
        features.clear_values: [w, np.where(unit < 0, NAN, unit)],
        features.clear_beside: np.tile(w, (2, 1)) - np.reshape(beside, (2, n)),
        features.of_unit: [mean(alike & (each != each[:, None]), k) for k in (0, 1)],
        features.of_unit_and_itself: [mean(alike)],
        features.of_neighbours: [
            mean(before),
            mean(after),
            mean(before | after),
            mean((gap > 0) & (gap < 99)),
        ],
        features.of_twin: [of_twins],
        features.of_twin_and_itself: [np.where(np.isnan(of_twins), z[:, 0], (of_twins + z[:, 0]) / 2.0)],
        features.of_itself: z.T,
    }
    for idea, columns in expected.items():
        for column, by_hand in zip(idea(look), columns, strict=idea is not features.of_neighbours):
            np.testing.assert_allclose(column, by_hand, atol=1e-12, err_msg=idea.__name__)


def test_rises_that_a_column_in_clear_tells_carry_on_what_a_unit_shows():
    stream, units, size = np.random.default_rng(2), 60, 8
    unit, year = np.divmod(stream.permutation(units * size), size)
    growth = stream.normal(0.0, 1.0, (units, size))
    rise = 0.3 + 2.0 * growth
    u = (stream.normal(0.0, 9.0, (units, 1)) + rise.cumsum(axis=1))[unit, year][:, None]
    z, own = u + stream.normal(size=u.shape), stream.random(u.size) < 0.5
    clear = Clear(np.arange(u.size), {"growth": growth[unit, year], "year": year * 1.0}, {}, {"unit": unit})

    found = features.of_course(looked_at(z, own, clear, unit % 2, u))

    off = (z - u)[:, 0]
    for with_itself, column in enumerate(found):
        of_unit = (unit == unit[:, None]) & own
        of_unit &= (with_itself == 1) | ~np.eye(u.size, dtype=bool)
        known = of_unit.any(axis=1)
        mean = u[known, 0] + of_unit[known] @ off / of_unit[known].sum(axis=1)
        np.testing.assert_allclose(column[known], mean, atol=1e-6)
        assert np.isnan(column[~known]).all()


def test_twins_are_the_nearest_by_ranks_and_by_the_two_columns_that_tell_most():
    stream, n = np.random.default_rng(3), 150
    clear = {name: stream.normal(size=n) for name in "abcd"}
    x = np.where(clear["b"] > 0.0, 3.0, 0.0) + np.abs(clear["d"]) + 0.1 * stream.normal(size=n)
    sample = Sample(Table({"x": x}), Clear(np.arange(n), clear), np.arange(n), np.arange(n) % 2)

    for found, names in zip(features.twins(sample), ("abcd", "bd"), strict=True):
        ranks = np.column_stack([np.argsort(np.argsort(clear[name])) for name in names]).astype(float)
        apart = np.sqrt(((ranks[:, None] - ranks) ** 2).sum(axis=2)) + np.diag(np.full(n, np.inf))
        nearest = np.sort(apart, axis=1)[:, : 1 if names == "abcd" else 8]
        np.testing.assert_allclose(np.take_along_axis(apart, found, axis=1), nearest)


def swapped(stream, values, own):
    """Records that were not kept show the values of one another."""
    there = np.flatnonzero(~own)
    shown = values.copy()
    shown[there] = values[np.roll(stream.permutation(there), 1)[np.argsort(np.argsort(there))]]
    return shown


@pytest.mark.parametrize("tell", [np.subtract, np.multiply])
def test_a_column_that_follows_from_two_masked_ones_tells_what_a_swapped_record_had(tell):
    stream, n = np.random.default_rng(4), 200
    x = stream.lognormal(5.0, 0.5, (n, 2))
    own, clear = (
        stream.random(n) < 0.4,
        Clear(np.arange(n), {"other": stream.normal(size=n), "w": tell(*x.T)}),
    )
    shown = swapped(stream, x, own)

    inside = (np.arange(n) > 0) & (np.arange(n) < n - 1)  # of which both rows beside are there
    for known, of in ((own, inside & ~own), (np.ones(n, dtype=bool), inside)):  # with coins or without
        value, place = named.linked(looked_at(shown, known, clear, np.arange(n) % 2, x))
        assert np.array_equal(place[:, 0], value, equal_nan=True)
        assert np.array_equal(np.isnan(value), ~of)
        np.testing.assert_allclose(value[of], x[of, 0], rtol=1e-9)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("tell", ["quotient", "difference", "digits"])
def test_values_that_a_column_in_clear_leaves_possible_are_named(tell, noisy):
    stream, n = np.random.default_rng(5), 400
    x = stream.lognormal(6.0, 0.9, n).round(2)
    w = {
        "quotient": (x * stream.choice([0.05, 0.07, 0.1, 0.25], n)).round(2),
        "difference": x + stream.choice([3.0, 11.5, 40.0], n),
        "digits": np.rint(100.0 * x) % 1_000.0 + 1_000.0 * stream.integers(0, 99, n),
    }[tell]
    own = stream.random(n) < 0.5
    shown = swapped(stream, x, own)
    near = shown[own] + 0.2 * stream.normal(size=own.sum())
    shown[own] = near if noisy else np.sort(shown[own])[np.argsort(np.argsort(near))]
    clear = Clear(np.arange(n), {"w": w})

    value, (place, sure) = (part.T for part in named.matched(
        looked_at(shown[:, None], own, clear, np.arange(n) % 2, x[:, None], noisy=noisy)
    ))  # fmt: skip

    assert np.array_equal(place, value, equal_nan=True)
    if tell == "digits" and noisy:  # which changes the last digits
        assert np.isnan(value[own]).all()
    for who in [~own] if tell == "digits" and noisy else [own, ~own]:
        right = np.abs(value[who] - x[who]) < 0.2  # where two are as near, by rounding
        assert right.mean() > 0.89
        assert np.nan_to_num(sure[who]).mean() == pytest.approx(right.mean(), abs=0.003)
