"""Estimates of groups and their variances.

Oracles: the formulas record by record (plain.py); the exact route for all records; means over
maskings of one file; what unmasked records have, as p and sigma go to 0.
"""

import numpy as np
import pytest
from plain_groups import Plain

import condmask as cm
from condmask.domains.variance import PoolFunctions, Side, covariances

pytestmark = pytest.mark.usefixtures("unaudited")

N = 600
X = np.random.default_rng(1).lognormal(0.0, 0.6, N)
GROUP = np.random.default_rng(2).integers(0, 3, N) + (X > 2.0)
WEIGHTS = 1.0 + np.random.default_rng(3).random(N) + 0.5 * (X > 1.0)
T = np.array([0.6, 1.0, 1.9])
SCHEMES = {
    "permutation": cm.ConditionalMasking(0.5, 0.3, decimals=2),
    "sample": cm.ConditionalMasking(0.5, 0.3, donors="sample", decimals=3),
    "laplace": cm.ConditionalMasking(0.4, 0.3, noise="laplace"),
    "coarse": cm.ConditionalMasking(0.5, 0.3, step=0.2),
    "reverse": cm.ReverseMapping(0.5, 0.3),
    "reverse on the log scale": cm.ReverseMapping(0.5, 0.3, scale="log"),
}


def estimated(scheme, x=X, rng=4, **options):
    if scheme.grid is not None:
        x = scheme.grid.values(scheme.grid.units(x))
    return scheme.estimate(scheme.mask(x, rng=rng, accept="all", **options))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", SCHEMES)
def test_sums_over_cells_are_those_over_records(name, weights):
    estimate = estimated(SCHEMES[name])
    request = estimate._request(GROUP, weights, None, "population", 0.95, None)
    domains = request.domains
    basis = domains.pools[0].basis
    tables = basis.indicators(T)

    for place, label in enumerate(request.names):
        group = request.groups[place]
        functions = domains.indicators(T)
        plain = Plain(basis, label == GROUP, weights, tables)
        found = domains.covariances(group, functions, group, functions)
        assert np.allclose(domains.values(group, functions), plain.value, rtol=1e-10)
        expected = plain.variances(SCHEMES[name].shared_donors)
        # the least figures are differences of large ones
        assert np.allclose(found[:3], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", SCHEMES)
def test_shares_times_distributions_of_groups_make_that_of_all(name):
    estimate = estimated(SCHEMES[name])
    request = estimate._request(GROUP, None, None, "population", 0.95, None)
    domains = request.domains
    functions = domains.indicators(T)

    total = sum(
        count / N * domains.values(group, functions)
        for count, group in zip(request.records, request.groups, strict=True)
    )

    assert np.allclose(total, estimate.cdf(T), atol=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_covariances_of_a_union_are_sums_of_those_of_its_parts(name):
    request = estimated(SCHEMES[name])._request(GROUP, None, None, "population", 0.95, None)
    pool = request.domains.pools[0]
    functions = PoolFunctions(pool, pool.basis.indicators(T), request.domains.shared_donors)
    one, two = np.eye(len(request.names) + 1)[[0, 1]] / N
    third = np.eye(len(request.names) + 1)[2] / N
    union = Side(one + two, functions)
    other = Side(third, functions)

    together = covariances(union, other).population
    parts = [covariances(Side(each, functions), other).population for each in (one, two)]

    assert np.allclose(together, np.sum(parts, axis=0), rtol=2e-2, atol=2e-2 * abs(together).max())


@pytest.mark.parametrize("target", ["population", "file"])
@pytest.mark.parametrize("name", ["permutation", "sample", "laplace", "reverse"])
def test_all_records_have_the_error_of_the_distribution_function(name, target):
    estimate = estimated(SCHEMES[name])
    request = estimate._request(None, None, None, target, 0.95, None)
    domains = request.domains
    functions = domains.indicators(T)
    found = domains.covariances(request.everyone, functions, request.everyone, functions)

    variance = found.population if target == "population" else found.file
    expected = estimate.cdf_interval(T, target=target).standard_error ** 2

    assert np.allclose(variance, expected, rtol=0.06, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["permutation", "sample", "laplace", "reverse"])
def test_estimates_vary_over_maskings_as_they_say(name):
    """400 maskings of one file: the bias is at most .02, and the mean error within a quarter of
    the standard deviation, which is known to 4%; the allowance for bias makes errors larger.
    """
    scheme = SCHEMES[name]
    member = X * np.random.default_rng(7).lognormal(0.0, 0.8, N) > 1.2
    true = np.array([np.mean(X[member] <= t) for t in T])
    found = []
    for rng in range(1, 401):
        request = estimated(scheme, rng=rng)._request(member, None, None, "file", 0.95, None)
        domains = request.domains
        functions = domains.indicators(T)
        group = request.groups[1]
        variances = domains.covariances(group, functions, group, functions)
        file = variances.file + variances.missed
        found.append((domains.values(group, functions) - true, file))
    apart, file = np.swapaxes(found, 0, 1)
    deviation = apart.std(axis=0)

    assert np.all(np.abs(apart.mean(axis=0)) < 0.02 + 4.0 * deviation / 20.0)
    assert np.allclose(np.sqrt(file.mean(axis=0)), deviation, rtol=0.25)


@pytest.mark.parametrize(
    "scheme", [cm.ConditionalMasking(0.05, 0.002), cm.ReverseMapping(0.01, 0.01)]
)
def test_little_masking_leaves_the_error_of_unmasked_records(scheme):
    x = np.random.default_rng(5).normal(0.0, 1.0, 20_000)
    member = np.random.default_rng(6).random(x.size) < 0.3
    share = np.mean(x[member] <= 0.5)

    found = estimated(scheme, x).group_cdf(member, 0.5)[True]

    unmasked = np.sqrt(share * (1.0 - share) / member.sum())
    assert abs(found.estimate - share) < 0.5 * unmasked
    assert found.standard_error == pytest.approx(unmasked, rel=0.08)
