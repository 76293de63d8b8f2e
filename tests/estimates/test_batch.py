"""Answers of replicates, stacked. Oracle: the arrays that NumPy stacks of the answers one by one."""

import numpy as np
import pytest

import condmask as cm
from condmask.estimates.batch import row_of, stacked
from condmask.estimates.origin import Origin
from condmask.variance.interval import Interval

ROWS = np.random.default_rng(5).normal(10.0, 3.0, (3, 400)).round(1)
SCHEME = cm.ConditionalMasking(0.6, 1.0, decimals=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.mean(),
        lambda e: e.variance(),
        lambda e: e.std(),
        lambda e: e.moment(3),
        lambda e: e.moment(2, central=True),
        lambda e: e.cdf([9.0, 11.0]),
    ],
)
def test_a_batch_answers_row_by_row(call):
    batch, single = SCHEME.estimate(ROWS), [SCHEME.estimate(row) for row in ROWS]

    # to rounding: moments of a batch are summed row by row, those of one sample in whole numbers
    np.testing.assert_allclose(call(batch), np.array([call(each) for each in single]), rtol=1e-13)


def test_intervals_are_stacked_but_for_what_they_share():
    one, two = (Interval(k, k + 2.0, 0.5, k + 1.0, 0.95, "file", "the mean") for k in (0.0, 1.0))

    found = stacked([one, two])

    assert found.low.tolist() == [0.0, 1.0]
    assert found.estimate.tolist() == [1.0, 2.0]
    assert (found.confidence_level, found.target, found.about) == (0.95, "file", "the mean")


def test_rows_go_to_their_replicates():
    batch = SCHEME.estimate(ROWS)

    assert row_of(ROWS, 1) is not None
    assert row_of(ROWS, 1).tolist() == ROWS[1].tolist()
    assert row_of(ROWS[0], 1).tolist() == ROWS[0].tolist()
    assert row_of("name", 1) == "name"
    assert row_of(None, 1) is None
    assert row_of(batch, 2) is batch._replicates[2]
    assert row_of(ROWS[:1], 1).tolist() == ROWS[0].tolist()  # one row serves all


def test_texts_that_differ_are_kept_apart():
    assert stacked(["same", "same"]) == "same"
    assert stacked(["one", "other"]).tolist() == ["one", "other"]


def test_a_batch_warns_once_of_what_is_so_in_several_replicates():
    rows = np.tile(np.append(np.random.default_rng(1).normal(size=199), 40.0), (3, 1))
    estimate = cm.ConditionalMasking(0.3, 0.5, step=0.0).estimate(rows)

    with pytest.warns(cm.EstimateWarning, match="heavy tails") as caught:
        estimate.variance_interval()

    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_the_columns_of_a_batch_may_be_named():
    columns = {"weight": np.abs(ROWS[0]), "other": ROWS[1]}
    batch, single = (
        SCHEME.estimate(z).of_release(Origin(), lambda name, _: columns[name]) for z in (ROWS, ROWS[1])
    )

    assert batch.weighted_mean("weight").estimate[1] == single.weighted_mean("weight").estimate
    assert batch.covariance("other")[1] == single.covariance("other")
    assert batch.regress(["other"])["other"].high[1] == single.regress(["other"])["other"].high


def test_a_part_of_a_batch_is_a_batch():
    part = SCHEME.estimate(ROWS).part(np.ones(400, dtype=bool))

    assert part.mean() == pytest.approx([SCHEME.estimate(row).mean() for row in ROWS], rel=1e-14)
