"""One protocol of distribution functions. Oracle: plain loops over the records."""

import numpy as np
import pytest

from condmask.engines.cdf import EmpiricalCDF, ranks_of

RECORDS = np.sort(np.array([1.0, 1.0, 2.5, 4.0, 4.0, 4.0, 9.0]))
VALUES, COUNTS = np.unique(RECORDS, return_counts=True)
CDF = EmpiricalCDF(VALUES, np.append(0, np.cumsum(COUNTS)))
X = np.array([0.0, 1.0, 2.0, 4.0, 8.9, 9.0])


def test_records_as_they_are_have_their_own_distribution():
    expected = [np.mean(x >= RECORDS) for x in X]

    assert CDF.at(X) == pytest.approx(expected)
    assert CDF.rearranged(X, 1e-10) == pytest.approx(expected)


@pytest.mark.parametrize("crossing", ["first", "rearranged"])
def test_quantiles_are_the_least_values_that_reach_the_probability(crossing):
    q = np.array([1e-9, 1 / 7, 0.2, 3 / 7, 0.43, 6 / 7, 0.99])

    expected = [min(x for x in VALUES if np.mean(x >= RECORDS) >= p) for p in q]

    assert CDF.quantile(q, crossing).tolist() == expected


def test_ranks_stay_among_the_records():
    assert ranks_of(np.array([-0.1, 0.0, 0.5, 1.0, 1.5]), 4).tolist() == [0, 0, 1, 3, 3]
