"""A rough fit becomes a relation of few columns with short factors, or none."""

import numpy as np
import pytest

from condmask.disclosure.relation_candidates import Candidate
from condmask.disclosure.relation_refit import Rows, refit

RNG = np.random.default_rng(1)
X = RNG.lognormal(6.0, 0.5, (300, 4))


def refitted(y, factors, constant=0.0, half=0.0, logarithms=False):
    rows = Rows(y, X, np.full(300, half), np.zeros(X.shape))
    return refit(Candidate(9, np.arange(4), np.array(factors), constant), rows, logarithms=logarithms)


def test_columns_that_are_not_needed_go_and_factors_become_exact():
    relation = refitted(0.375 * X[:, 0] - 2.0 * X[:, 2] + 12.0, [0.37501, 1e-5, -2.0001, -1e-5], 12.01)

    assert relation.features.tolist() == [0, 2]
    assert (relation.factors.tolist(), relation.constant) == ([0.375, -2.0], 12.0)


def test_factors_that_are_not_short_stay_as_they_are():
    relation = refitted(X[:, 0] / 7.0 + np.pi * X[:, 1], [0.142, 3.1416, 0.0, 0.0])

    assert relation.factors == pytest.approx([1.0 / 7.0, np.pi], rel=1e-9)


def test_with_rounding_the_shortest_factors_within_it_serve():
    relation = refitted(np.round(0.6 * X[:, 3]), [0.0, 0.0, 0.0, 0.6003], half=0.5)

    assert (relation.features.tolist(), relation.factors.tolist()) == ([3], [0.6])


def test_those_who_do_not_obey_are_left_aside():
    wrong = RNG.random(300) < 0.6
    y = np.where(wrong, RNG.lognormal(6.0, 0.5, 300), X[:, 0] + X[:, 1])

    assert refitted(y, [1.0, 1.0, 0.001, 0.0]).factors.tolist() == [1.0, 1.0]


def test_a_constant_factor_of_a_product_is_short_by_itself():
    relation = refitted(np.log(2.5) + X[:, 0], [1.0, 0.0, 0.0, 0.0], 0.9163, logarithms=True)

    assert np.exp(relation.constant) == pytest.approx(2.5, rel=1e-12)


def test_a_fit_that_few_obey_or_that_rounding_alone_explains_is_none():
    assert refitted(RNG.normal(size=300), [0.1, 0.2, 0.0, 0.0]) is None
    assert refitted(X[:, 0] + RNG.normal(size=300), [1.0, 0.0, 0.0, 0.0], half=150.0) is None
    assert refitted(np.full(300, 4.0), [0.0, 0.0, 0.0, 0.0], 4.0) is None
