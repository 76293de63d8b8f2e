"""Pairs of near records against all pairs, one by one."""

import numpy as np
import pytest

from condmask.kernels import pairs

D = np.array([0.0, 0.1, 1.0, 2.5, 100.0])


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_pairs_are_those_of_a_plain_count(n):
    rows = np.sort(np.random.default_rng(n).normal(size=(3, n)).round(1), axis=1)  # with ties, and apart by d
    found = np.empty((3, D.size))

    pairs.pairs_within(rows, D, found)

    apart = np.abs(rows[:, :, None] - rows[:, None])[:, ~np.eye(n, dtype=bool)]
    assert np.array_equal(found, np.stack([(apart < d).sum(axis=1) for d in D], axis=1))


def test_nearer_is_less_and_not_as_far():
    found = np.empty((2, D.size))
    error = np.array([[-0.1, 0.05, 1.0, -3.0], [0.0, 0.0, 2.5, 99.0]])

    pairs.nearer(error, D, found)

    assert found.tolist() == [[0, 1, 2, 3, 4], [0, 2, 2, 2, 4]]
