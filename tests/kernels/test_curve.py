"""Counting along ascending points; the curve itself is tested with its engines (tests/engines)."""

import numpy as np
import pytest

from condmask.kernels import curve


@pytest.mark.parametrize("n", [0, 1, 2, 5, 64, 1_000])
def test_counts_are_those_of_a_search(n):
    stream = np.random.default_rng(n)
    values = np.sort(stream.integers(0, max(n // 3, 1) + 1, n)).astype(float)  # with ties
    x = np.sort(np.concatenate((values[:50], stream.uniform(-2.0, n, 30), [-np.inf, np.inf])))
    found = np.empty(x.size, dtype=np.int64)

    curve.count_at(values, x, found)

    assert found.tolist() == np.searchsorted(values, x, side="right").tolist()
