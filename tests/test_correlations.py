"""Correlations and ranks of columns so short that they can be read off."""

import numpy as np
import pytest

from condmask.correlations import intraclass, pearson, ranks


def test_ranks_are_mean_ranks_and_constant_columns_have_no_correlation():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert pearson(np.ones(5), np.arange(5.0)) == 0.0
    assert pearson(np.arange(5.0), -np.arange(5.0)) == pytest.approx(-1.0)


def test_the_share_between_labels_is_that_of_the_analysis_of_variance():
    values, codes = np.array([1.0, 3.0, 5.0, 7.0, 9.0, 2.0, np.nan]), np.array([0, 0, 1, 1, 2, -1, 0])
    # means 2 and 6: between 16 with one degree of freedom, within 4 / 2; two records each
    assert intraclass(values, codes) == pytest.approx((16.0 - 2.0) / (16.0 + 2.0))
    assert intraclass(values, np.arange(7)) == 0.0
