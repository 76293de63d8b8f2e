"""Pseudo-values against every masking of a tiny file, and how masked values vary against many releases."""

import numpy as np
import pytest
from linear_files import DONORS, File, P, outcomes

import condmask as cm
from condmask.grid import Grid
from condmask.inference.pseudo_values import PseudoValues
from condmask.law import Law

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


@pytest.mark.parametrize("donors", DONORS)
def test_pseudo_values_have_the_mean_of_each_original(donors):
    # exactly: over all coins and donors, with noise at its mean, since they are linear in the masked values
    x = np.array([1.0, 2.5, 7.0, 30.0, 31.0])
    law = Law(P, "laplace", 0.4, Grid(1.0, 1000.0))
    chances, files = zip(*outcomes(x, x, donors), strict=True)

    undone = [PseudoValues(z, law, None, cycle=donors == "permutation") for z in files]
    found = np.array([each.values() for each in undone])

    assert sum(chances) == pytest.approx(1.0, abs=1e-12)
    assert np.array(chances) @ found == pytest.approx(x, abs=1e-11)  # thousands of terms of size 100


def test_pseudo_values_of_strata_have_the_mean_of_each_original():
    # a stratum's own mean and factor: with those of the whole file the strata are pulled together
    pools = [np.array([1.0, 2.5, 7.0, 9.0]), np.array([100.0, 130.0, 131.0, 180.0, 185.0])]
    labels = np.repeat(["north", "south"], [4, 5])
    scheme = cm.ConditionalMasking(P, 1.0, step=0.0, strata="region")
    mean = np.zeros(9)
    for k, pool in enumerate(pools):
        other = pools[1 - k]
        own = labels == ("north", "south")[k]
        for chance, z in outcomes(pool, pool, "sample"):
            whole = np.empty(9)
            whole[own], whole[~own] = z, other  # what another stratum shows does not matter
            mean[own] += chance * scheme.estimate(whole, strata=labels).pseudo_values()[own]

    assert mean == pytest.approx(np.concatenate(pools), abs=1e-11)


def test_variances_of_small_pools_fall_short_by_what_their_means_cost():
    # noise next to none: the mean of v_i over a pool is p (2 - p) S_Z^2, and S_Z^2 is S^2 - V / (n - 1) on
    # average, V the mean variance of Z_i; the divisors are n - 1. Over all coins and donors.
    pools = [np.array([1.0, 2.5, 7.0]), np.array([10.0, 13.0, 13.5, 18.0, 19.0])]
    law, pool = Law(P, "normal", 1e-7), np.repeat([0, 1], [3, 5])
    for k, x in enumerate(pools):
        own, mean, square, found = pool == k, 0.0, 0.0, 0.0
        for chance, z in outcomes(x, x, "sample"):
            whole = np.concatenate([pools[0], z] if k else [z, pools[1]])
            file = PseudoValues(whole, law, pool, cycle=False)
            mean, square = mean + chance * z, square + chance * z * z
            found += chance * (next(iter(file.parts())).masked_variances[own] * file.unit**2).mean()

        spread = x.var(ddof=1) - (square - mean**2).mean() / (x.size - 1)
        assert found == pytest.approx(P * (2.0 - P) * spread, rel=1e-9)


def test_pseudo_values_stand_in_the_places_of_the_records():
    z = np.array([3.0, np.nan, 8.0, 9.0, 1.0, 2.0])
    scheme = cm.ConditionalMasking(0.3, 1.0, step=0.0)

    found = scheme.estimate(z).pseudo_values()

    known = ~np.isnan(z)
    assert np.array_equal(np.isnan(found), ~known)
    assert found[known] == pytest.approx(scheme.estimate(z[known]).pseudo_values(), abs=1e-12)
    assert found[known].mean() == pytest.approx(z[known].mean(), abs=1e-12)


def test_pseudo_values_of_a_batch_are_those_of_its_rows():
    rows = np.random.default_rng(1).normal(size=(3, 50))
    scheme = cm.ConditionalMasking(0.3, 1.0, step=0.0)

    found = scheme.estimate(rows).pseudo_values()

    assert np.array_equal(found, [scheme.estimate(row).pseudo_values() for row in rows])


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_pseudo_values_neither_overflow_nor_vanish(scale):
    z = np.array([1.0, 2.0, 4.0, 5.0, 5.5, 7.0])

    found = cm.ConditionalMasking(0.3, scale, step=0.0).estimate(z * scale).pseudo_values()

    plain = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(z).pseudo_values()
    assert found / scale == pytest.approx(plain, rel=1e-12)


def test_the_variance_of_each_masked_value():
    # E v_i = Var Z_i, known exactly: p S^2 + (1-p) sigma^2 + f (1-f) (X_i - mu)^2. Means of 1000 releases are
    # within 5.5 of their standard errors in all but 6 of 10^5 seeds, over 1500 records; estimating the mean
    # costs 3/n.
    file, count = File("sample", 1, n=1500), 1000
    n = file.n
    f = 1 - P - P / (n - 1)
    exact = P * file.x.var(ddof=1) + (1 - P) * file.law.variance + f * (1 - f) * (file.x - file.x.mean()) ** 2

    undone = (PseudoValues(z, file.law, None, cycle=False) for z in file.releases(count, 3))
    found = np.array([next(iter(each.parts())).masked_variances * each.unit**2 for each in undone])

    error = found.std(axis=0) / np.sqrt(count)
    assert (np.abs(found.mean(axis=0) - exact) < 5.5 * error + 3 / n * exact).all()


def test_one_gap_is_one_gap():
    z = np.array([1.0, 2.0, np.nan, 4.0, 6.0])
    values = PseudoValues(z, Law(0.3, "normal", 0.1), None, cycle=True).values()
    assert np.flatnonzero(np.isnan(values)).tolist() == [2]


def test_originals_vary_by_no_less_than_nothing():
    """Noise of 5 cannot have made what varies by 1: the unbiased variance of the originals is negative."""
    pseudo = PseudoValues(np.arange(5.0), Law(0.3, "normal", 5.0), None, cycle=True)
    assert pseudo.originals.tolist() == [0.0]
