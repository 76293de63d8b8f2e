"""Predicted errors of quantiles against the law of T, with K for Laplace noise in closed form."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import laplace

import condmask as cm
from condmask.planning import predicted_quantiles

N = 4_000
X = laplace.ppf((np.arange(N) + 0.5) / N, 10.0, 1000.0)  # a file without sampling error
Q = np.array([0.1, 0.3, 0.5, 0.8])


def errors(x, p, n, *, sigma=1000.0, shared_donors=True):
    law = cm.ConditionalMasking(p, sigma, noise="laplace").law
    file = predicted_quantiles.Ordered(x, law.to_units(x))
    return predicted_quantiles.errors(file, [(1.0, file)], law, Q, n, shared_donors=shared_donors)


def weight(u, p):
    """K for Laplace noise of scale 1, as p K(u) + (1 - p) E K(u - Y) = 1{u >= 0} has it."""
    tail = 0.5 * (1.0 - p) / p * np.exp(-np.abs(u) / np.sqrt(p))
    return np.where(u >= 0.0, 1.0 + tail, -tail)


@lru_cache
def variances_of_cdf(p, sigma=1000.0):
    """n Var T(x) at the quantiles, by sums over the file and noise: about the file with sample
    donors and along a cycle, and about the population with sample donors.

    With sample donors it is the variance of K less that of its mean given the file. Along a cycle each value
    stands in the sum once, swapped or with its own noise, and K has the mean 1{X <= x} in either case. About
    the population the share of the file below x varies besides.
    """
    scale, noise = sigma / np.sqrt(2.0), laplace.ppf((np.arange(1_000) + 0.5) / 1_000)
    found, cycle = [], []
    for x in laplace.ppf(Q, 10.0, 1000.0):
        swapped = weight((x - X) / scale, p)
        kept = weight((x - X[::10, None]) / scale - noise, p)
        square = p * np.mean(swapped**2) + (1 - p) * np.mean(kept**2)
        # of each record, whoever its donor is: (1 - p) E K(u - Y) = 1{u >= 0} - p K(u)
        given_file = p * swapped.mean() + (x >= X) - p * swapped
        found.append(square - np.mean(given_file**2))
        cycle.append(square - np.mean(x >= X))
    return np.array(found), np.array(cycle), np.array(found) + Q * (1.0 - Q)


@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
def test_intervals_are_longer_by_the_standard_error_of_the_cdf_over_that_without_masking(p):
    _, longer = errors(X, p, N)

    # 1,000 values of the noise, 400 of the file, a step of sigma / 1000 and a jump of K by 1 / p: some 1e-3
    assert longer == pytest.approx(np.sqrt(variances_of_cdf(p)[2] / (Q * (1.0 - Q))), rel=2e-3)


@pytest.mark.parametrize("n", [N // 4, N, 4 * N])
def test_errors_are_those_of_n_records_however_many_the_file_has(n):
    """n Var of a quantile is n Var T over the squared density where n is large."""
    found, _ = errors(X, 0.6, n)
    density = laplace.pdf(laplace.ppf(Q, 10.0, 1000.0), 10.0, 1000.0)
    file, cycle, population = variances_of_cdf(0.6) / density**2
    exact = np.transpose([file, population, Q * (1.0 - Q) / density**2])

    # the quantile function is not straight: at the median it is log(1 - 2 |e|), of square 4 e^2 (1 + 2 |e|),
    # which is 2 E|e|^3 / E e^2 = 3.2 s.d. of e larger; and 1% for quantiles at 1 in 4,000
    error = np.sqrt(variances_of_cdf(0.6)[2] / n)
    near = 0.01 + 4.0 * error.max()
    assert np.array(found) == pytest.approx(exact, rel=near)
    along, _ = errors(X, 0.6, n, shared_donors=False)
    assert [each.file for each in along] == pytest.approx(cycle, rel=near)


def test_a_quantile_is_the_least_value_up_to_which_so_many_lie():
    file = predicted_quantiles.Ordered(np.arange(1.0, 6.0), np.arange(1.0, 6.0))

    found = file.quantile(np.array([-0.1, 0.0, 0.2, 0.21, 0.6, 0.99, 1.0, 1.1]))

    assert found.tolist() == [1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 5.0, 5.0]


@pytest.mark.parametrize("shared_donors", [False, True])
def test_pools_that_are_alike_are_as_one(shared_donors):
    law = cm.ConditionalMasking(0.6, 1000.0, noise="laplace").law
    file = predicted_quantiles.Ordered(X, law.to_units(X))

    one, two = (
        predicted_quantiles.errors(file, [(share, file)] * times, law, Q, N, shared_donors=shared_donors)
        for share, times in ((1.0, 1), (0.25, 4))
    )

    assert np.array(two[0]) == pytest.approx(np.array(one[0]), rel=1e-9)
    assert two[1] == pytest.approx(one[1], rel=1e-12)
