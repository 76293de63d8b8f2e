"""Sums of exponentials by recursion against the sums written out."""

import numpy as np
import pytest
from scipy.stats import laplace

from condmask.kernels import exponentials

STREAM = np.random.default_rng(1)
Z = np.unique(STREAM.normal(size=40).round(2))
BELOW = np.append(0, np.cumsum(STREAM.integers(1, 5, Z.size)))
NONE = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("below", [NONE, BELOW])
def test_a_sum_of_laplace_laws_is_the_sum_of_them(below):
    counts, decay = np.diff(below) if below.size else np.ones(Z.size), 0.3
    sums = np.empty((2, Z.size))

    exponentials.exponential_sums(Z, below, decay, sums)

    near = np.exp(-np.abs(Z[:, None] - Z) / decay) * counts
    # 40 terms, each to some 1e-16 of at most 4
    assert sums[0] == pytest.approx(np.tril(near).sum(axis=1), rel=1e-13)
    assert sums[1] == pytest.approx(np.triu(near).sum(axis=1), rel=1e-13)
    for x in (Z[0] - 1.0, Z[7], 0.5 * (Z[7] + Z[8]), Z[-1] + 1.0):
        index = int(np.searchsorted(Z, x, side="right"))
        found = exponentials.laplace_sum(Z, below, x, index, decay, sums)
        assert found == pytest.approx(counts @ laplace.cdf(x, Z, decay), rel=1e-13)
