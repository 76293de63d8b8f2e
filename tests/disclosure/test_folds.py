"""Values counted by fold, against a loop over records."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from condmask.disclosure.folds import count_by_fold
from condmask.grid import decimal_grid
from condmask.law import Law

N, P, SIGMA = 40_000, 0.6, 500.0


@given(st.lists(st.integers(0, 40), min_size=2, max_size=40), st.integers(0, 2**32))
def test_problems_count_by_fold(values, seed):
    at = np.array(values) * (1 if seed % 2 else 10**9)  # counted, or sorted
    fold = np.random.default_rng(seed).integers(0, 3, at.size)
    law = Law(P, "normal", 1.0, decimal_grid(0))

    task = count_by_fold(at, fold, 3, law)

    for k in range(3):
        assert np.array_equal(np.repeat(task.values, task.table[k]), np.sort(at[fold == k]))
