"""Which rows all columns are attacked in: aligned ones, in stretches, and whole units."""

import numpy as np

from condmask._blocks import STRETCH, in_stretches
from condmask.audit_input import AuditInput, Unit
from condmask.disclosure.attacked_rows import MOST_UNITS, attacked_rows
from condmask.disclosure.folds import folded_rows

N = 40_000
X = np.repeat(np.random.default_rng(1).normal(size=N // 8), 8) + 0.1 * np.random.default_rng(2).normal(size=N)
FIRM = np.arange(N) // 8
CLEAR = np.arange(N) * 2.0
ANY = np.random.default_rng(3).integers(0, N // 8, N)


def table(n=N, rows=None, **units):
    every = np.arange(n) if rows is None else rows
    labels = {"label": every % 3}
    return AuditInput({"x": X[:n]}, {"x": "float64"}, {"u": CLEAR[every]}, None, rows, labels, units)


def unit(codes, n=N):
    return Unit(np.arange(n), codes[:n])


def checked(sample):
    assert np.array_equal(sample.values["x"], X[sample.rows])
    for name, x in (("u", CLEAR), ("label", np.arange(N) % 3)):
        for columns in (sample.clear, sample.labels):
            assert name not in columns or np.array_equal(columns[name], x[sample.rows])
    return sample


def test_a_small_file_is_looked_at_whole_with_all_its_units():
    folded = folded_rows(800, 800)
    (sample,) = map(checked, attacked_rows(table(800, firm=unit(FIRM, 800)), 1_000, folded))

    assert np.array_equal(sample.rows, np.arange(800))
    assert np.array_equal(sample.units["firm"], FIRM[:800])
    assert np.array_equal(sample.fold, folded.fold)
    assert set(sample.clear) | set(sample.labels) == {"u", "label"}


def test_of_a_larger_one_stretches_are_and_whole_units_one_column_at_a_time():
    samples = [*map(checked, attacked_rows(table(firm=unit(FIRM), any=unit(ANY)), 1_000, folded_rows(N, N)))]

    stretches, firms = samples  # values of one label of `any` are not alike
    assert stretches.units == {}
    assert 900 < stretches.rows.size <= 1_000
    assert (stretches.rows.reshape(-1, STRETCH) == stretches.rows[::STRETCH, None] + np.arange(STRETCH)).all()
    assert 900 < firms.rows.size < 1_100
    number = np.bincount(FIRM[firms.rows])
    assert set(number[number > 0]) == {8}
    assert np.array_equal(firms.units["firm"], FIRM[firms.rows])
    assert "u" in firms.clear


def test_strata_go_with_their_rows():
    strata = np.arange(N) % 7

    data = table(firm=unit(FIRM))._replace(strata=strata)

    for sample in attacked_rows(data, 1_000, folded_rows(N, N)):
        assert np.array_equal(sample.strata, strata[sample.rows])


def test_units_whose_values_are_most_alike_are_looked_at():
    stream = np.random.default_rng(4)
    named = {f"firm{k}": np.where(stream.random(N) < 0.05 * k, ANY, FIRM) for k in range(8)}
    data = table(**{name: unit(named[name]) for name in sorted(named, reverse=True)})

    _, *samples = attacked_rows(data, 1_000, folded_rows(N, N))
    (whole,) = attacked_rows(data, N, folded_rows(N, N))

    most = [f"firm{k}" for k in range(MOST_UNITS)]
    assert [name for sample in samples for name in sample.units] == most
    assert list(whole.units) == most


def test_columns_that_are_aligned_in_some_rows_are_left_out_of_units_elsewhere():
    rows = in_stretches(N, 4_000)
    whole = np.flatnonzero(FIRM % 50 == 0)
    data = table(rows=rows, firm=Unit(whole, FIRM[whole]))

    stretches, firms = map(checked, attacked_rows(data, 1_000, folded_rows(N, 100)))

    assert np.isin(stretches.rows, rows).all()
    assert np.array_equal(firms.rows, whole)
    assert firms.clear == firms.labels == {}
