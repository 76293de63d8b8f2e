"""Correlations and ranks of columns so short that they can be read off."""

import numpy as np
import pytest

from condmask.disclosure.correlations import pearson, ranks


def test_ranks_are_mean_ranks_and_constant_columns_have_no_correlation():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert pearson(np.ones(5), np.arange(5.0)) == 0.0
    assert pearson(np.arange(5.0), -np.arange(5.0)) == pytest.approx(-1.0)
