"""Answers of replicates, stacked. Oracle: the arrays that NumPy stacks of the answers one by one."""

import numpy as np
import pytest

import condmask as cm

ROWS = np.random.default_rng(5).normal(10.0, 3.0, (3, 400)).round(1)
SCHEME = cm.ConditionalMasking(0.6, 1.0, decimals=1)


def test_a_batch_warns_once_of_what_is_so_in_several_replicates():
    rows = np.tile(np.append(np.random.default_rng(1).normal(size=199), 40.0), (3, 1))
    estimate = cm.ConditionalMasking(0.3, 0.5, step=0.0).estimate(rows)
    estimate.mean_interval()  # of which no warning tells

    with pytest.warns(cm.EstimateWarning, match="heavy tails") as caught:
        estimate.variance_interval()

    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_batch_may_have_one_row():
    batch, one = SCHEME.estimate(ROWS[:1]), SCHEME.estimate(ROWS[0])

    assert batch.cdf(9.0).tolist() == [one.cdf(9.0)]


def test_the_columns_of_a_batch_may_be_named():
    columns = {"weight": np.abs(ROWS[0]), "other": ROWS[1]}
    batch, single = SCHEME.estimate(ROWS), SCHEME.estimate(ROWS[1])
    for each in (batch, single, *batch._replicates):
        each._read_column = lambda name, _: columns[name]

    assert batch.weighted_mean("weight").estimate[1] == single.weighted_mean("weight").estimate
    assert batch.covariance("other")[1] == single.covariance("other")
    assert batch.regress(["other"])["other"].high[1] == single.regress(["other"])["other"].high
