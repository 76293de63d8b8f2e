"""Predicted errors against simulated ones."""

import numpy as np
import pytest
from scipy.stats import laplace

import condmask as cm
from condmask.planning.candidates import column_of
from condmask.planning.check import checked

N = 2_000
X = np.random.default_rng(0).permutation(laplace.ppf((np.arange(N) + 0.5) / N, 10, 1000))
W = 0.6 * X + 800 * np.random.default_rng(1).laplace(size=N)
ADDED = {"p": 0.6, "sigma": 1000.0, "reverse_mapping": False, "donors": "sample"}


def error_of_the_mean(sigma, target, p=0.6):
    """With sample donors: n times the variance given the file is E Z^2 less the mean square of E[Z_i | file],
    (1 - p) x_i and p times the mean; about the population there is the variance of a mean besides."""
    of_file = X.var() + (1 - p) * sigma**2 - (1 - p) ** 2 * X.var()
    return np.sqrt((of_file + (X.var() if target == "population" else 0.0)) / N)


def test_a_check_is_about_the_target_of_the_plan_unless_another_is_named():
    made = cm.plan(X, d=[500], **ADDED, target="file")

    for named, target in ((None, "file"), ("population", "population")):
        checked = made.check(replications=10, target=named, rng=1)
        assert checked.target == target
        assert checked.predicted["mean"] == pytest.approx(error_of_the_mean(1000.0, target), rel=1e-5)


def test_what_is_exact_about_the_file_is_predicted_and_found_without_error():
    made = cm.plan(X, d=[500], p=0.6, sigma=1000.0, reverse_mapping=True, other=W, target="file")
    checked = made.check(made.candidates[0].scheme, replications=20, rng=1)

    related = {"correlation", "slope", "difference"}
    for name, predicted in checked.predicted.items():
        assert (predicted > 0.0, checked.simulated[name] > 0.0) == (name in related, name in related)
        assert name in related or checked.ratio[name] == 1.0
    assert "mean                                         0           0   1.000" in str(checked)


def test_records_are_drawn_anew_where_errors_are_about_the_population():
    """Nearly without noise a permutation leaves the mean of the file as it is."""
    x = np.random.default_rng(2).normal(0.0, 100.0, 200)
    column, scheme = column_of(x, "float64", None), cm.ConditionalMasking(0.5, 0.5)

    file, population = (
        checked(column, scheme, 200, target, 1).simulated for target in ("file", "population")
    )

    assert file["mean"] < 0.1
    # 200 replicates know it to 5%
    assert population["mean"] == pytest.approx(x.std() / np.sqrt(200), rel=0.25)
