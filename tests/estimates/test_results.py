"""Results by name as data frames: the numbers of each interval, under the names of what was asked for."""

import numpy as np
import pytest

import condmask as cm

X = np.random.default_rng(1).normal(100.0, 15.0, 2_000)
SCHEME = cm.ConditionalMasking(0.6, 10.0)
FIGURES = ["estimate", "standard_error", "low", "high"]


@pytest.fixture(scope="session")
def estimate():
    return SCHEME.estimate(SCHEME.mask(X, rng=2))


def test_a_row_for_every_replicate_and_name(estimate):
    batch = SCHEME.estimate(np.array([SCHEME.mask(X, rng=seed) for seed in (2, 3)]))
    found, one = batch.group_means(X > 100.0), estimate.group_means(X > 100.0)
    frame = found.to_frame()

    assert frame["replicate"].tolist() == [0, 0, 1, 1]
    assert "replicate (label)" in batch.group_means({"replicate": X > 100.0}).to_frame()
    assert frame["group"].tolist() == [False, True] * 2
    assert frame["estimate"].tolist() == found.estimate.ravel().tolist()
    assert found[True].low[0] == one[True].low
    assert type(one[True].low) is float
    assert found.about == one.about
    told = found.to_dict()["True"]
    assert (told["records"], told["low"].tolist()) == (found.records[:, 1].tolist(), found.low[:, 1].tolist())
    assert repr(found) == "Intervals(names=[False, True], replicates=2, target='population')"
    assert repr(batch) == f"Estimate(replicates=2, n=2000, scheme={SCHEME!r})"


def test_groups_whose_labels_look_alike_are_all_in_the_dict(estimate):
    one, other = np.where(X > 100.0, ["a, b"], ["a"]), np.where(X > 100.0, ["c"], ["b, c"])

    found = estimate.group_means({"one": one, "other": other}).to_dict()
    assert list(found) == ["('a', 'b, c')", "('a, b', 'c')"]


@pytest.mark.parametrize(
    ("ask", "column"),
    [
        (lambda e: e.summary([0.5]), "statistic"),
        (lambda e: e.group_means(X > 100.0), "group"),
        (lambda e: e.regress({"age": X}), "coefficient"),
    ],
)
def test_a_row_for_every_name(ask, column, estimate):
    found = ask(estimate)

    frame = found.to_frame()

    assert frame.columns.tolist() == [column, "records", *FIGURES]
    for row in frame.itertuples():
        interval = found[getattr(row, column)]
        assert [getattr(row, name) for name in FIGURES] == [getattr(interval, name) for name in FIGURES]
    assert frame["records"].tolist() == found.records.tolist()
    assert list(found.to_dict()) == list(map(str, found))


def test_a_column_for_each_column_that_makes_groups(estimate):
    found = estimate.group_means({"low": X > 100.0, "k": np.arange(2_000) % 3})

    frame = found.to_frame()

    assert frame.columns.tolist() == ["low (label)", "k", "records", *FIGURES]
    assert list(zip(frame["low (label)"], frame["k"], strict=True)) == list(found)
    assert frame["low"].tolist() == found.low.tolist()
    assert str(found).splitlines()[:6:5] == [
        "mean of the original in the population, by low and k",
        "True, 0       344     113.0             1.9     109.3  116.8",
    ]
