"""T_1 at all points of some pieces of the line. Oracle: T listed point by point, gaps and all."""

import numpy as np
import pytest

from condmask.engines import step_cdf
from condmask.engines.step_cdf import StepCDF

PIECES = [np.array([0.1, 0.4, 0.2, 0.35]), np.array([0.3, 0.9, 0.7, 1.05, 1.0])]
STARTS = np.array([-3.0, 4.0])
LINE = np.arange(-3.0, 9.0)  # of these points T has the values
T = np.concatenate([PIECES[0], [0.35] * 3, PIECES[1]])
Q = np.array([0.05, 0.15, 0.25, 0.32, 0.38, 0.6, 0.8, 0.95])
CDF = StepCDF(STARTS, PIECES)


def test_it_has_its_values_and_keeps_them_between_pieces():
    assert CDF.at(LINE).tolist() == T.tolist()
    assert CDF.at(np.array([-4.0, -np.inf, 100.0, np.inf])).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_the_first_crossing_is_the_first_point_that_reaches_a_probability():
    expected = [LINE[np.argmax(q <= T)] for q in Q]

    assert CDF.quantile(Q, "first").tolist() == expected


@pytest.mark.parametrize("few", [16, 1])
def test_quantiles_of_the_rearrangement_are_those_of_sorted_values(few, monkeypatch):
    monkeypatch.setattr(step_cdf, "FEW", few)  # counted, and sorted

    assert CDF.quantile(Q, "rearranged").tolist() == [LINE[np.argmax(q <= np.sort(T))] for q in Q]


def test_the_rearrangement_is_the_sorted_function():
    assert CDF.rearranged(LINE).tolist() == np.clip(np.sort(T), 0.0, 1.0).tolist()
    assert CDF.rearranged(np.array([-4.0, 9.0])).tolist() == [0.0, 1.0]
