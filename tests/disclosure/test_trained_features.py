"""What a trained attacker looks at: nothing of a record's own half was learned from that half."""

import numpy as np
import pytest

import condmask as cm
from condmask.audit_input import AuditInput, Unit
from condmask.disclosure import trained_features
from condmask.disclosure.drawn_release import draw
from condmask.disclosure.folds import fold_of
from condmask.disclosure.relations import identities_of
from condmask.disclosure.trained_features import STRATA, column_attacks, context, features, samples

N = 2_000
RNG = np.random.default_rng(5)
FIRM = np.repeat(np.arange(N // 8), 8)
AGE = RNG.integers(20, 60, N).astype(float)
X = (np.repeat(RNG.lognormal(8.0, 0.6, N // 8), 8) + 50.0 * AGE).round(-1)
Y = RNG.normal(0.0, 1.0, N).round(2)
HALF = fold_of(N, 2)
ROWS = np.arange(N)
SCHEMES = {
    "x": cm.ConditionalMasking(0.6, 800.0, decimals=0),
    "y": cm.ConditionalMasking(0.6, 0.5, decimals=2),
}
DATA = AuditInput(
    {"x": X, "y": Y}, {"x": "float64", "y": "float64"}, {"age": AGE}, None, ROWS, {"firm": FIRM},
    {"firm": Unit(ROWS, FIRM)},
)  # fmt: skip


def looks(data=DATA, schemes=SCHEMES, half=HALF):
    (sample,) = samples(data, half)
    known = context(data, schemes, sample, column_attacks(data, schemes, half), identities_of(data))
    return features(known, draw(data, schemes, half, 0))


def test_every_kind_of_look_is_there():
    of_table = looks()

    assert {look.kind for look in of_table} == {"clear", "column", "columns", "order", "unit"}
    assert all(look.values.shape == (N,) for look in of_table)
    assert {look.column for look in of_table if look.kind == "unit"} == {"firm"}
    assert {look.column for look in of_table if look.kind == "column"} == {"x", "y"}


def test_what_columns_in_clear_predict_is_learned_from_the_other_half():
    changed = np.where(HALF == 0, X[::-1], X)
    (before,), (after,) = samples(DATA, HALF), samples(DATA._replace(values={"x": changed, "y": Y}), HALF)

    assert np.array_equal(before.predicted["x"][HALF == 0], after.predicted["x"][HALF == 0])
    assert not np.array_equal(before.predicted["x"][HALF == 1], after.predicted["x"][HALF == 1])


@pytest.mark.parametrize("side", [0, 1])
def test_ratios_of_all_columns_do_not_know_the_coins_of_their_half(side):
    half, (sample,) = HALF, samples(DATA, HALF)
    known = context(DATA, SCHEMES, sample, {}, [])
    release = draw(DATA, SCHEMES, HALF, 0)
    other = release._replace(swapped=np.where(half == side, ~release.swapped, release.swapped))
    for a, b in zip(*(trained_features._normal_ratios(known, r) for r in (release, other)), strict=True):
        assert np.array_equal(a[half == side], b[half == side])
        assert not np.array_equal(a[half != side], b[half != side])


def test_the_ratio_of_all_columns_is_that_of_normal_densities():
    from scipy.stats import multivariate_normal

    x = RNG.normal(size=(500, 3)) @ RNG.normal(size=(3, 3)) * (1.0, 10.0, 0.1) + 4.0
    normal = multivariate_normal(x.mean(axis=0), np.cov(x.T, ddof=0))

    np.testing.assert_allclose(trained_features._normal_density(x, x[:50]), normal.logpdf(x[:50])
                               + 1.5 * np.log(2.0 * np.pi), rtol=1e-6)  # fmt: skip


def test_digits_and_occurrences_are_those_of_the_release():
    release = draw(DATA, SCHEMES, HALF, 0)
    z, times, _, heap, last, hundredths, *_ = (look.values for look in looks() if look.column == "x")
    released = release.values["x"]

    assert np.array_equal(z, released)
    assert np.array_equal(times, [np.count_nonzero(released == value) for value in released])
    assert np.array_equal(last, released % 10.0)
    assert np.array_equal(hundredths, released % 100.0)
    multiples = (5, 10, 50, 100, 500, 1000, 5000, 10_000)
    assert np.array_equal(heap, [sum(value % m == 0.0 for m in multiples) for value in released])


def test_of_a_long_file_units_are_looked_at_whole():
    rows = ROWS[::2]
    part = DATA._replace(rows=rows, clear={"age": AGE[rows]}, labels={"firm": FIRM[rows]})
    part = part._replace(units={"firm": Unit(ROWS[:800], FIRM[:800])})
    first, units = samples(part, HALF)

    assert np.array_equal(first.rows, rows)
    assert (list(first.clear), list(first.units)) == (["age", "firm"], [])
    assert np.array_equal(units.rows, ROWS[:800])
    assert (list(units.clear), list(units.units)) == ([], ["firm"])


def test_strata_are_known_and_missing_values_stay_missing():
    strata = np.where(np.isnan(np.where(AGE > 50, np.nan, X)), -1, FIRM % 3)
    data = AuditInput({"x": np.where(strata < 0, np.nan, X)}, {"x": "float64"}, {}, strata)
    of_column = looks(data, {"x": SCHEMES["x"]})

    assert all(np.isnan(look.values[strata < 0]).all() for look in of_column if look.kind == "column")
    assert [np.nanmax(look.values) for look in of_column if look.column == STRATA] == [2.0]
