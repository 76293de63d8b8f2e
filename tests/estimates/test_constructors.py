"""Covariances know the donor pools: crossed strata, merged ones, patterns of missing values.

Oracle: the mean of each masked value given the file, (1-p) X_i + p times the mean of the other records of its
pool, by the pools of tests/reference.py. Undone it must be X_i, and the covariance that of the original.
"""

import warnings

import numpy as np
import pytest
import reference

import condmask as cm
from condmask.estimates.estimate import estimate_parts
from condmask.linear.records import Records

RNG = np.random.default_rng(51)
N = 300
W = RNG.normal(size=N)
A, B = 2.0 * W + RNG.normal(size=N), RNG.normal(size=N)
REGION = np.where(W < -0.8, "n", np.where(W < -0.5, "s", "w"))  # pools differ in their means
SEX = np.arange(N) % 3
GAPS = {"a": np.where(W > 1.0, np.nan, A), "b": np.where((W < 0.2) & (W > -0.7), np.nan, B)}


def expected(columns, strata, p):
    """The mean of the masked values of the first column."""
    pool = reference.pools(columns, strata)
    x, members = columns[0], {}
    for row, own in enumerate(pool):
        members.setdefault(own, []).append(row)
    found = np.full(N, np.nan)
    for row in np.flatnonzero(~np.isnan(x)):
        others = [x[other] for other in members[pool[row]] if other != row]
        found[row] = (1 - p) * x[row] + p * np.mean(others)
    return found


CROSSED = ("region", "sex")
CASES = [  # without merging only what no mask would refuse
    (names, small, gaps)
    for names in ("region", CROSSED)
    for small in ("refuse", "merge")
    for gaps in (False, True)
    if (names, small, gaps) != (CROSSED, "refuse", True)
]


@pytest.mark.parametrize("p", [0.3, 0.6])
@pytest.mark.parametrize(("names", "small", "gaps"), CASES)
def test_what_masking_leaves_of_a_covariance_is_undone_exactly(names, small, gaps, p):
    columns = [GAPS["a"], GAPS["b"]] if gaps else [A, B]
    labels = REGION.tolist() if names == "region" else list(zip(REGION.tolist(), SEX.tolist(), strict=True))
    pools = reference.merged_strata(columns, labels) if small == "merge" else labels
    if small == "merge":
        pools = [row if own is None else own for row, own in enumerate(pools)]
        # some are small, but with all gaps where one region is enough
        assert (len(set(pools)) < len(set(reference.pools(columns, labels)))) == (names != "region" or gaps)
    scheme = cm.ConditionalMasking(p, 1.0, step=0, strata=names, small_strata=small)
    table = {"region": REGION, "sex": SEX}
    patterns = {"a": columns[0], "b": columns[1]} if gaps else None

    estimate = scheme.estimate(expected(columns, pools, p), strata=table, patterns=patterns)

    there = ~np.isnan(columns[0])
    exact = np.cov(columns[0][there], W[there])[0, 1]
    # by rounding alone: 300 terms, divided by f > .2
    assert estimate.covariance(W) == pytest.approx(exact, rel=1e-12)


def test_other_strata_than_those_of_the_donors_would_mislead():
    # the correlation is .258, and .446 where the strata are left out: so they cannot be
    rng = np.random.default_rng(52)
    n = 40_000
    strata = rng.integers(0, 2, n)
    x, w = rng.normal(size=n) + 2.0 * strata, rng.normal(size=n)
    w += 0.2 * x - 0.02 * strata
    scheme = cm.ConditionalMasking(0.6, 0.5, strata="region")
    z = scheme.mask(x, strata=strata, rng=1)

    right = scheme.estimate(z, strata=strata).correlation(w)

    assert abs(right - np.corrcoef(x, w)[0, 1]) < 0.06  # its standard error is .009; the seed is fixed
    plain = cm.ConditionalMasking(0.6, 0.5)
    with pytest.raises(ValueError, match=r"^strata must be left out"):
        plain.estimate(z, strata=strata)
    with pytest.raises(ValueError, match=r"^strata must be given"):
        scheme.estimate(z).correlation(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(scheme.estimate(z).quantile(0.5))  # nothing else needs them


@pytest.mark.parametrize("options", [{"step": 0}, {"decimals": 1}, {"reverse_mapping": True}])
def test_values_that_come_part_by_part_are_those_that_come_at_once(options):
    scheme = cm.ConditionalMasking(0.6, 1.0, **options)
    z = A.round(1)
    z[::7] = np.nan

    found = estimate_parts(scheme, lambda: ((part, "float64") for part in np.split(z, 3)), Records(z))

    assert found.n == np.count_nonzero(~np.isnan(z))
    assert str(found.summary()) == str(scheme.estimate(z).summary())
