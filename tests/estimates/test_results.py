"""Results by name, stacked over replicates, and the table that analysts ask first.

Oracles: each number asked for by itself; the arrays that NumPy stacks of answers one by one."""

import copy
import pickle

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
    found = batch.group_means(X > 100.0)
    one = estimate.group_means(X > 100.0)
    frame = found.to_frame()

    assert frame["replicate"].tolist() == [0, 0, 1, 1]
    assert "replicate (label)" in batch.group_means({"replicate": X > 100.0}).to_frame()
    assert frame["group"].tolist() == [False, True] * 2
    assert frame["estimate"].tolist() == found.estimate.ravel().tolist()
    assert found[True].low[0] == one[True].low
    assert type(one[True].low) is float
    assert found.about == one.about
    told = found.to_dict()["True"]
    assert (told["records"], told["low"].tolist()) == (
        found.records[:, 1].tolist(),
        found.low[:, 1].tolist(),
    )
    assert repr(found) == "Intervals(names=[False, True], replicates=2, target='population')"
    assert repr(batch) == f"Estimate(replicates=2, n=2000, scheme={SCHEME!r})"


def test_groups_whose_labels_look_alike_are_all_in_the_dict(estimate):
    one = np.where(X > 100.0, ["a, b"], ["a"])
    other = np.where(X > 100.0, ["c"], ["b, c"])

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

    more = ["pvalue"] if column == "coefficient" else []
    assert frame.columns.tolist() == [column, "records", *FIGURES, *more]
    for row in frame.itertuples():
        interval = found[getattr(row, column)]
        assert [getattr(row, name) for name in FIGURES] == [
            getattr(interval, name) for name in FIGURES
        ]
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


ROWS = np.random.default_rng(5).normal(10.0, 3.0, (3, 400)).round(1)
TENTHS = cm.ConditionalMasking(0.6, 1.0, decimals=1)


def test_a_batch_warns_once_of_what_is_so_in_several_replicates():
    rows = np.tile(np.append(np.random.default_rng(1).normal(size=199), 40.0), (3, 1))
    estimate = cm.ConditionalMasking(0.3, 0.5, step=0.0).estimate(rows)
    estimate.mean_interval(target="file")  # of which no warning tells

    with pytest.warns(cm.EstimateWarning, match="heavy tails") as caught:
        estimate.variance_interval()

    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_batch_may_have_one_row():
    batch = TENTHS.estimate(ROWS[:1])
    one = TENTHS.estimate(ROWS[0])

    assert batch.cdf(9.0).tolist() == [one.cdf(9.0)]
    assert batch.correlation(other=ROWS[1]).tolist() == [one.correlation(ROWS[1])]
    assert type(pickle.loads(pickle.dumps(batch))) is type(copy.copy(batch)) is type(batch)
    assert not hasattr(batch, "quantiles")
    with pytest.raises(ValueError, match="only the estimates of a Release know columns by name"):
        batch.covariance("other")
    with pytest.raises(TypeError, match="missing a required argument: 'other'"):
        batch.covariance()


@pytest.mark.parametrize("target", ["population", "file"])
def test_a_table_has_one_estimate_and_its_interval(target):
    """Few swapped records: T leaves [0, 1] at most points, and its rearrangement is what quantiles
    are of."""
    scheme = cm.ConditionalMasking(0.2, 0.7, decimals=2)
    x = np.random.default_rng(2).standard_normal(200).round(2)
    estimate = scheme.estimate(scheme.mask(x, rng=2))
    points = np.linspace(-3.0, 3.0, 13)

    options = {"confidence_level": 0.9, "target": target}
    found = estimate.summary(points=points, **options)

    assert (found.low <= found.estimate).all()
    assert (found.estimate <= found.high).all()
    q = np.arange(1, 10) / 10
    apart = estimate.quantile_interval(q, **options)
    shown = np.array([found[f"quantile {each:g}"].estimate for each in q])
    assert shown.tolist() == apart.estimate.tolist() == estimate.quantile(q).tolist()
    assert found["quantile 0.3"].high == apart.high[2]
    assert found["mean"].high == estimate.mean_interval(**options).high
    assert found["s.d."].high == estimate.std_interval(**options).high
    assert (found.high[11:] == estimate.cdf_interval(points, **options).high).all()
    where = "the population" if target == "population" else "the original file"
    assert found.about == f"{where}, estimated"
    t = estimate.cdf(points)
    assert (t < 0.0).any()
    assert (t > 1.0).any()
    inside = (t >= 0.0) & (t <= 1.0)
    shown = np.array([found[f"cdf at {each:g}"].estimate for each in points])
    assert shown[inside].tolist() == t[inside].tolist()


def test_a_standard_deviation_that_is_not_known_is_said():
    with pytest.warns(
        cm.EstimateWarning, match="the variance of the original is estimated negative"
    ):
        found = (
            cm.ConditionalMasking(0.2, 9.0, decimals=2).estimate([1.0, 2.5, 7.0]).summary([0.5])
        )
    assert np.isnan(found["s.d."].estimate)
