"""Which rows are looked at, and which form a relation is given."""

import numpy as np

from condmask.disclosure import relation_search
from condmask.disclosure.relation_candidates import Candidate
from condmask.disclosure.relation_search import suggested, uncommon

A, B = np.random.default_rng(1).lognormal(3.0, 0.5, (2, 300)).round(1)


def test_the_most_common_value_is_left_out_if_it_is_common():
    x = np.array([0.0] * 50 + [np.nan] + list(range(1, 51)))

    assert uncommon(x).tolist() == [False] * 51 + [True] * 50
    assert uncommon(np.arange(30.0)).all()


def test_a_relation_is_solved_for_the_column_that_leaves_the_fewest_signs():
    part = Candidate(0, np.array([1, 2]), np.array([-1.0, 1.0]), 3.0)  # 0 = 2 - 1 + 3

    total = relation_search._solved(part)

    assert (total.target, total.features.tolist(), total.factors.tolist(), total.constant) == (
        2, [0, 1], [1.0, 1.0], -3.0,
    )  # fmt: skip


def test_sums_are_suggested_first_and_columns_without_logarithms_have_no_products():
    table = {"a": A, "b": B, "y": A * B, "below": -A}

    relations = list(suggested(table, dict.fromkeys(table, 0.0), {"a"}))

    products = [relation.product for relation in relations]
    assert products == sorted(products)
    assert "'below'" in str(relations[0])
    assert not any("below" in relation.names for relation in relations if relation.product)
    assert "'y' = 'a' * 'b'" in map(str, relations)
