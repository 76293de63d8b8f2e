"""Relations of two and three columns that hold in a tenth of the rows are suggested, others are not."""

import numpy as np
import pytest

from condmask.disclosure import relation_candidates
from condmask.disclosure.relation_candidates import shortest

N = 400
RNG = np.random.default_rng(1)
X = RNG.lognormal(3.0, 0.5, (N, 5))
ROWS = [np.arange(N)] * 5
MASKED = np.arange(5) == 0


def some(values, other, share):
    return np.where(np.arange(N) % 100 < 100 * share, values, other)


@pytest.mark.parametrize(("share", "suggested"), [(0.12, True), (0.05, False)])
def test_a_common_ratio_or_difference_is_suggested(share, suggested):
    x = X.copy()
    x[:, 3], x[:, 4] = some(12.0 * X[:, 0], X[:, 3], share), some(X[:, 0] - 2.5, X[:, 4], share)

    pairs = [
        (c.features.tolist(), *c.factors, c.constant) for c in relation_candidates.of_two(x, ROWS, MASKED)
    ]

    expected = [([3], pytest.approx(1.0 / 12.0), 0.0), ([4], 1.0, pytest.approx(2.5))]
    assert pairs == (expected if suggested else [])


@pytest.mark.parametrize("target", [0, 1, 2])
def test_a_sum_of_two_is_suggested_whichever_of_them_is_masked(target):
    x = X.copy()
    x[:, 0] = some(X[:, 1] + X[:, 2], X[:, 0], 0.12)

    (candidate,) = relation_candidates.of_three(
        x, ROWS, np.zeros(5), np.arange(5) == target, np.ones(5, dtype=bool)
    )

    assert (candidate.target, candidate.features.tolist()) == (0, [1, 2])


def test_zeros_add_up_to_nothing():
    x = np.where(RNG.random((N, 5)) < 0.9, 0.0, X)

    assert not [*relation_candidates.of_two(x, ROWS, MASKED)]
    assert not [*relation_candidates.of_three(x, ROWS, np.zeros(5), MASKED, np.ones(5, dtype=bool))]


def test_a_number_is_as_short_as_its_error_allows():
    assert shortest(0.62000001, 1e-6) == 0.62
    assert shortest(1.0 / 3.0, 0.0) == 1.0 / 3.0
    assert shortest(-12.0000001, 1e-5) == -12.0
