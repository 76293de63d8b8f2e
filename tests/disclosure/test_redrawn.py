"""Rows drawn anew: who may show whose values, and with what noise."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import swap_attack
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.redrawn import redrawn
from condmask.disclosure.swap_attack import FULL

N, SIGMA = 4_000, 10.0
STREAM = np.random.default_rng(1)
A, B = np.rint(STREAM.normal(0.0, 1_000.0, size=(2, N)))
STRATA = STREAM.integers(0, 3, N)


def drawn(values, strata=None, **options):
    schemes = {name: cm.ConditionalMasking(0.6, SIGMA, **options) for name in values}
    rows = folded_rows(N, N)
    columns = (
        {}
        if options.get("reverse_mapping")
        else {
            name: swap_attack.prepare(x, "float64", schemes[name].law, strata, rows, FULL)
            for name, x in values.items()
        }
    )
    return redrawn(values, schemes, strata, columns, rows.fold, np.random.default_rng(2)), columns, rows


@pytest.mark.parametrize("options", [{"decimals": 0}, {"reverse_mapping": True}])
def test_swapped_records_show_those_of_one_donor_of_their_stratum(options):
    code = STRATA + 0.1  # tells the stratum wherever it is shown
    table, _, _ = drawn({"a": A, "b": np.rint(1e4 * code)}, STRATA, **options)

    swapped = table.values["a"][0]
    assert np.array_equal(np.sort(swapped), np.sort(A))  # each is the donor of one
    assert np.array_equal(table.values["b"][0], np.rint(1e4 * code))
    assert np.mean(swapped == A) < 0.01
    for k in range(3):
        assert np.array_equal(np.sort(swapped[k == STRATA]), np.sort(A[k == STRATA]))
    together, _, _ = drawn({"a": A, "b": 2.0 * A}, **options)
    assert np.array_equal(together.values["b"][0], 2.0 * together.values["a"][0])


def test_kept_records_have_noise_of_their_own_in_each_column():
    table, _, _ = drawn({"a": A, "b": B}, decimals=0)

    noise = [table.values[name][1] - x for name, x in (("a", A), ("b", B))]
    for each in noise:
        assert each.std() == pytest.approx(SIGMA, rel=0.06)  # five standard errors
        assert (each % 1.0 == 0.0).all()
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.08


def test_by_reverse_mapping_kept_records_show_the_values_at_their_places():
    table, _, _ = drawn({"a": A}, reverse_mapping=True)

    kept = table.values["a"][1]
    assert np.array_equal(np.sort(kept), np.sort(A))
    assert 0.3 * SIGMA < (kept - A).std() < 3.0 * SIGMA
    assert not table.ratios["a"].any()


def test_by_reverse_mapping_values_stay_in_their_stratum():
    values = np.rint(STREAM.normal(size=N) * 5.0) * 10.0 + STRATA  # the last digit tells it

    table, _, _ = drawn({"a": values}, STRATA, reverse_mapping=True)

    for way in range(2):
        assert np.array_equal(table.values["a"][way] % 10.0, STRATA)


def test_gaps_part_the_pools_and_stay():
    gaps = np.where(STREAM.random(N) < 0.3, np.nan, B)

    table, _, _ = drawn({"a": A, "b": gaps}, decimals=0)

    present = ~np.isnan(gaps)
    for way in range(2):
        assert np.array_equal(~np.isnan(table.values["b"][way]), present)
    assert np.array_equal(np.sort(table.values["a"][0][present]), np.sort(A[present]))


def test_what_a_column_tells_by_itself_is_that_of_the_donor_and_his_fold():
    table, columns, rows = drawn({"a": A}, decimals=0)
    place = {value: k for k, value in enumerate(A)}
    alone = np.flatnonzero(np.isin(table.values["a"][0], A[np.unique(A, return_index=True)[1]]))[:200]
    donor = np.array([place[value] for value in table.values["a"][0][alone]])
    unique = np.isin(A[donor], np.unique(A)[np.unique(A, return_counts=True)[1] == 1])

    ratios = columns["a"].log_ratios(A[donor], None, rows.fold[donor])

    assert table.ratios["a"][0, alone][unique] == pytest.approx(ratios[unique], rel=1e-12)


def test_a_release_shows_each_record_in_one_of_both_ways():
    table, _, _ = drawn({"a": A}, decimals=0)
    swapped = STREAM.random(N) < 0.5

    shown = table.released(swapped)

    for of_release, both in ((shown.values, table.values), (shown.ratios, table.ratios)):
        assert np.array_equal(of_release["a"][swapped], both["a"][0][swapped])
        assert np.array_equal(of_release["a"][~swapped], both["a"][1][~swapped])
