"""Releases that are drawn to learn from: masked as a release is, each half of the file by itself."""

import numpy as np
import pytest
from releases import generic, split

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure.drawn_release import draw
from condmask.disclosure.folds import fold_of

N = 3_000
X, Y = generic(N, 1), generic(N, 2)
HALF = fold_of(N, 2)
PLAIN = cm.ConditionalMasking(0.6, 2000.0, step=0)


def table(values, strata=None):
    return AuditInput(values, dict.fromkeys(values, "float64"), {}, strata)


@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_swapped_records_show_values_of_their_half_and_kept_ones_their_own_with_noise(donors):
    scheme = cm.ConditionalMasking(0.6, 2000.0, step=0, donors=donors)
    release = draw(table({"x": X, "y": Y}), {"x": scheme, "y": scheme}, HALF, 0)
    swapped, donor = split(X, release.values["x"])

    assert np.array_equal(swapped, np.flatnonzero(release.swapped))
    assert np.array_equal(HALF[swapped], HALF[donor])
    assert (swapped != donor).all()
    assert np.array_equal(release.values["y"][swapped], Y[donor])
    noise = (release.values["x"] - X)[~release.swapped]
    assert abs(release.swapped.mean() - 0.6) < 5.0 * 0.009
    assert abs(noise.std() / 2000.0 - 1.0) < 5.0 * 0.021


def test_by_reverse_mapping_each_half_is_put_into_another_order():
    scheme = cm.ConditionalMasking(0.6, 2000.0, reverse_mapping=True)
    z = draw(table({"x": X}), {"x": scheme}, HALF, 0).values["x"]

    for rows in (np.flatnonzero(HALF), np.flatnonzero(1 - HALF)):
        assert np.array_equal(np.sort(z[rows]), np.sort(X[rows]))
    assert not np.array_equal(z, X)
    assert np.array_equal(X, generic(N, 1))  # the originals are still there


def test_donors_are_of_a_records_stratum_and_missing_values_stay_missing():
    strata = np.arange(N) % 3
    x = np.where(np.arange(N) % 10 == 0, np.nan, X)
    strata = np.where(np.isnan(x), -1, strata)
    release = draw(table({"x": x}, strata), {"x": PLAIN}, HALF, 0)
    assert np.array_equal(np.isnan(release.values["x"]), np.isnan(x))
    present = np.flatnonzero(~np.isnan(x))
    swapped, donor = split(x[present], release.values["x"][present])
    assert swapped.size > 0.5 * present.size
    assert np.array_equal(strata[present[swapped]], strata[present[donor]])


def test_a_stratum_of_few_records_is_not_halved():
    strata = np.where(np.arange(N) < 3, 0, 1)
    release = draw(table({"x": X}, strata), {"x": PLAIN}, HALF, 0)

    assert np.isfinite(release.values["x"]).all()
    swapped, donor = split(X, release.values["x"])
    assert np.array_equal(strata[swapped], strata[donor])


def test_a_number_stands_for_one_release():
    first, again, other = (draw(table({"x": X}), {"x": PLAIN}, HALF, k) for k in (0, 0, 1))

    assert np.array_equal(first.values["x"], again.values["x"])
    assert 0.4 < np.mean(first.swapped == other.swapped) < 0.6  # .52 by chance, s.e. .009
