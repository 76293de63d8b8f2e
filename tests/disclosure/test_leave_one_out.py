"""The other records of a unit, against a loop over them."""

import numpy as np

from condmask.disclosure.leave_one_out import others_of_unit

RNG = np.random.default_rng(7)


def by_hand(code, values, near):
    columns = np.full((3 + 2 * len(near), values.size), np.nan)
    for i, (unit, x) in enumerate(zip(code, values, strict=True)):
        members = (code == unit) & ~np.isnan(values)
        others = values[members & (np.arange(values.size) != i)]
        if unit < 0 or np.isnan(x) or not others.size:
            continue
        columns[:3, i] = others.size, others.mean(), np.median(others)
        for k, distance in enumerate(near):
            columns[3 + 2 * k, i] = np.count_nonzero(np.abs(others - x) <= distance)
            members_of_unit = np.sort(values[members])
            dense = [np.count_nonzero(np.abs(values[members] - m) <= distance) for m in members_of_unit]
            columns[4 + 2 * k, i] = x - members_of_unit[int(np.argmax(dense))]
    return columns


def test_others_are_those_of_a_loop():
    code = RNG.integers(-1, 40, 300)
    values = np.where(RNG.random(300) < 0.1, np.nan, RNG.normal(0.0, 3.0, 300).round(1))
    near = (0.55, 2.05, 1e9)

    columns = others_of_unit(code, values, near)

    np.testing.assert_allclose(columns, by_hand(code, values, near), atol=1e-12)


def test_records_without_others_have_none():
    columns = others_of_unit(np.array([0, 1, -1, 2, 2]), np.array([1.0, 2.0, 3.0, np.nan, 4.0]), (1.0,))

    assert np.isnan(columns).all()


def test_no_values_at_all():
    columns = others_of_unit(np.array([0, 0]), np.full(2, np.nan), (1.0,))

    assert np.isnan(columns).all()
