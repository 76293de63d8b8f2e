"""Regression of the original on columns that were not masked.

Oracles: statsmodels' least squares and robust errors, rational arithmetic for nearly dependent columns, and
many files whose intervals cover the truth or do not. Every test has a fixed seed; false alarms are stated
where a test is statistical.
"""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from marks import rest_slow

import condmask as cm
from condmask.inference import parts
from condmask.inference.least_squares import basis

DONORS = ("sample", "permutation")
pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


def release(scheme, x, rng, strata=None):
    """One release of a column, stratum by stratum."""
    z = np.empty(x.size)
    for s in np.unique(np.zeros(x.size) if strata is None else strata):
        own = slice(None) if strata is None else strata == s
        z[own] = scheme.mask_rows(x[own][None], rng, ())[0]
    return z


def straight(rng, n):
    """A column, and one that depends on it: x = 2 + w + (1 + |w|) e / 2."""
    w = rng.normal(size=n)
    return w, 2.0 + w + 0.5 * (1.0 + np.abs(w)) * rng.normal(size=n)


def statsmodels(y, *columns):
    """Ordinary least squares with HC3 errors."""
    sm = pytest.importorskip("statsmodels.api")
    return sm.OLS(y, np.column_stack(columns)).fit(cov_type="HC3")


@pytest.fixture
def case():
    rng = np.random.default_rng(1)
    W = rng.normal(size=(300, 3)) * [1.0, 100.0, 0.01] + [0.0, 5.0, 0.0]
    x = W @ [1.0, 0.02, -30.0] + 7.0 + 2.0 * rng.normal(size=300)
    scheme = cm.ConditionalMasking(0.3, 0.5)
    return W, scheme.estimate(release(scheme, x, rng))


# --- the same as another package ----------------------------------------------------------------------


def test_slopes_of_pseudo_values_are_those_of_any_package(case):
    W, estimate = case

    theirs = statsmodels(estimate.pseudo_values(), np.ones(300), W)
    ours = estimate.regress(W)

    assert ours.estimate == pytest.approx(theirs.params, rel=1e-10)
    # robust errors are right for slopes in one pool of records; the intercept's are not
    assert ours.standard_error[1:] == pytest.approx(theirs.bse[1:], rel=1e-9)
    assert abs(ours.standard_error[0] / theirs.bse[0] - 1) > 0.01


def test_without_an_intercept(case):
    W, estimate = case

    ours = estimate.regress(W, intercept=False)

    assert ours.names == ["w1", "w2", "w3"]
    assert ours.estimate == pytest.approx(statsmodels(estimate.pseudo_values(), W).params, rel=1e-10)


def test_noise_without_swapping_is_ordinary_regression():
    # p = 0: the masked values are their own pseudo-values, and HC3 is right for all coefficients
    rng = np.random.default_rng(2)
    w, x = straight(rng, 200)
    z = x + rng.normal(0.0, 0.5, 200)

    ours = cm.AdditiveNoise(0.5, noise="normal").estimate(z).regress(w)

    theirs = statsmodels(z, np.ones(200), w)
    assert ours.estimate == pytest.approx(theirs.params, rel=1e-10)
    assert ours.standard_error == pytest.approx(theirs.bse, rel=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_noise_without_swapping_has_the_errors_of_clusters_of_ordinary_regression(intercept):
    # few records and clusters, so that what is made of their numbers counts: 7/6 and 29/26
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(11)
    W, cluster = rng.normal(size=(30, 3)), np.arange(30) % 7
    z = W @ [1.0, -2.0, 0.5] + rng.normal(size=7)[cluster] + rng.normal(size=30)

    ours = cm.AdditiveNoise(0.5, noise="normal").estimate(z).regress(W, clusters=cluster, intercept=intercept)

    model = sm.OLS(z, np.column_stack([np.ones(30), W]) if intercept else W)
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": cluster})
    assert ours.estimate == pytest.approx(theirs.params, rel=1e-10)
    assert ours.standard_error == pytest.approx(theirs.bse, rel=1e-9)


def test_the_constant_alone_is_the_mean():
    rng = np.random.default_rng(3)
    scheme = cm.ConditionalMasking(0.3, 0.5)
    estimate = scheme.estimate(release(scheme, rng.normal(size=100), rng))

    found = estimate.regress(np.ones(100), intercept=False, target="file")["w1"]

    mean = estimate.weighted_mean(np.ones(100), target="file")
    assert found.estimate == pytest.approx(mean.estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(mean.standard_error, rel=1e-12)


@pytest.mark.parametrize("chunk", [1, 7, 50, 299, 300])
def test_records_are_taken_so_many_at_a_time_as_together(case, chunk, monkeypatch):
    # 300 records; bases and covariances are sums over them, in another order
    W, estimate = case
    whole = [estimate.regress(W, target=target) for target in ("population", "file")]

    monkeypatch.setattr(parts, "CHUNK", chunk)

    for target, expected in zip(("population", "file"), whole, strict=True):
        found = estimate.regress(W, target=target)
        np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-10)
        np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-10)


# --- columns that nearly determine each other -----------------------------------------------------------


def exact_coefficients(columns, y):
    """Normal equations with a constant, in fractions."""
    rows = [[Fraction(1)] * len(y), *[[Fraction(v) for v in column] for column in columns]]
    y = [Fraction(v) for v in y]
    size = len(rows)
    system = [
        [sum(a * b for a, b in zip(r, s, strict=True)) for s in rows]
        + [sum(a * b for a, b in zip(r, y, strict=True))]
        for r in rows
    ]
    for k in range(size):
        pivot = system[k][k]
        system[k] = [v / pivot for v in system[k]]
        for i in range(size):
            if i != k:
                system[i] = [a - system[i][k] * b for a, b in zip(system[i], system[k], strict=True)]
    return [float(row[-1]) for row in system]


@pytest.mark.parametrize("chunk", [1, 7, 60])
@pytest.mark.parametrize("apart", [1.0, 1e-1, 1e-3, 1e-4, 1e-6, 1e-8])
def test_coefficients_are_right_however_close_the_columns(apart, chunk, monkeypatch):
    # one Cholesky factor, two, and reflections: each loses the digits that the columns share, and a few
    rng = np.random.default_rng(4)
    a = rng.normal(size=60)
    columns = [a, a + apart * rng.normal(size=60), rng.normal(size=60)]
    y = rng.normal(size=60)

    monkeypatch.setattr(parts, "CHUNK", chunk)
    space = basis(["a", "b", "c"], columns, intercept=True)

    rows = np.hstack([space.rows(own) for own in parts.CompleteRows(*columns)])
    assert rows @ rows.T == pytest.approx(np.eye(4), abs=1e-12)
    true = exact_coefficients(columns, y)
    assert space.back @ (rows @ y) / space.units == pytest.approx(true, rel=1e-13 / apart, abs=1e-13 / apart)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"a": [1.0, 2, 3, 4, 5, 7], "b": [3.0, 5, 7, 9, 11, 15]}, "b"),
        ({"a": [1.0, 2, 3, 4, 5, 7], "b": [4.0] * 6}, "b"),
        ({"a": [0.0] * 6, "b": [1.0, 2, 3, 4, 5, 7]}, "a"),
    ],
)
def test_columns_that_determine_each_other_are_refused(columns, name):
    estimate = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(np.arange(6.0) ** 2)

    message = f"W must have no column that is determined by the others and the intercept, got {name!r}"
    with pytest.raises(ValueError, match=message):
        estimate.regress(columns)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_units_do_not_matter(case, scale):
    W, estimate = case

    plain, scaled = estimate.regress(W), estimate.regress(W * [scale, 1.0, 1.0])

    for name, unit in (("w1", scale), ("w2", 1.0), ("intercept", 1.0)):
        assert scaled[name].estimate * unit == pytest.approx(plain[name].estimate, rel=1e-10)
        assert scaled[name].standard_error * unit == pytest.approx(plain[name].standard_error, rel=1e-10)


# --- how often the intervals cover ------------------------------------------------------------------------


def covered(found, truths):
    return [bool(found[k].low <= truth <= found[k].high) for k, truth in zip(found, truths, strict=True)]


def assert_level(hits):
    """Of 1000 files or 2000: .95 to 4.5 standard errors, and what skewed residuals lack."""
    error = np.sqrt(0.95 * 0.05 / len(hits))
    assert (np.abs(np.mean(hits, axis=0) - 0.95) < 4.5 * error).all()


@pytest.mark.parametrize(("n", "p", "donors"), rest_slow([(200, 0.6, DONORS[0]), (2000, 0.3, DONORS[1])]))
def test_intervals_cover(n, p, donors):
    # 1000 files: .95 +- .031, a false alarm in 1 of 10^4 seeds over 16 shares
    rng, hits = np.random.default_rng(5), []
    scheme = cm.ConditionalMasking(p, 0.7, donors=donors)
    for _ in range(1000):
        w, x = straight(rng, n)
        estimate = scheme.estimate(release(scheme, x, rng))
        slope = np.cov(x, w)[0, 1] / w.var(ddof=1)
        file = [x.mean() - slope * w.mean(), slope]
        hits.append(
            [*covered(estimate.regress(w), [2.0, 1.0]), *covered(estimate.regress(w, target="file"), file)]
        )

    assert_level(hits)


@pytest.mark.slow
@pytest.mark.parametrize("donors", rest_slow(DONORS))
def test_intervals_cover_with_strata(donors):
    # two strata cut on w, 1000 files; there the errors of an ordinary package are too large by far, since
    # most of what lies between strata was never masked
    rng, hits, package = np.random.default_rng(6), [], []
    scheme = cm.ConditionalMasking(0.6, 0.7, donors=donors, strata="s")
    for k in range(1000):
        w, x = straight(rng, 400)
        strata = w > 0
        estimate = scheme.estimate(release(scheme, x, rng, strata), strata=strata)
        found = estimate.regress(w)
        slope = np.cov(x, w)[0, 1] / w.var(ddof=1)
        file = [x.mean() - slope * w.mean(), slope]
        hits.append([*covered(found, [2.0, 1.0]), *covered(estimate.regress(w, target="file"), file)])
        if k < 20:
            theirs = statsmodels(estimate.pseudo_values(), np.ones(400), w)
            package.append(theirs.bse / found.standard_error)

    assert_level(hits)
    assert np.mean(package, axis=0)[0] > 1.5
    assert np.mean(package, axis=0)[1] > 1.2


def test_intervals_of_slopes_by_another_package_cover():
    # what the docs promise of pseudo-values in one stratum: 1000 files, .95 +- .031
    rng, hits = np.random.default_rng(7), []
    scheme = cm.ConditionalMasking(0.6, 0.7)
    for _ in range(1000):
        w, x = straight(rng, 200)
        theirs = statsmodels(scheme.estimate(release(scheme, x, rng)).pseudo_values(), np.ones(200), w)
        hits.append(abs(theirs.params[1] - 1.0) < 1.96 * theirs.bse[1])

    assert_level(hits)


def test_intervals_cover_where_clusters_were_sampled():
    # 80 clusters of 5 that share w and most of the residuals, 1000 files; taken for single records, .7
    rng, hits, naive = np.random.default_rng(8), [], []
    scheme = cm.ConditionalMasking(0.3, 0.5)
    cluster = np.repeat(np.arange(80), 5)
    for k in range(1000):
        w, common = rng.normal(size=(2, 80))[:, cluster]
        x = 2.0 + w + 2.0 * common + rng.normal(size=400)
        estimate = scheme.estimate(release(scheme, x, rng))
        hits.append(covered(estimate.regress(w, clusters=cluster), [2.0, 1.0]))
        if k < 200:
            naive.append(covered(estimate.regress(w), [2.0, 1.0]))

    assert (np.mean(hits, axis=0) > 0.95 - 0.031 - 0.01).all()  # sums of 80 clusters are not quite normal
    assert (np.mean(hits, axis=0) < 0.95 + 0.031).all()
    assert (np.mean(naive, axis=0) < 0.85).all()


# --- what columns may be ------------------------------------------------------------------------------------


CATEGORIES = "W must hold numbers, so give an indicator column for each category but one"
NAMED = {"age": np.arange(30.0) % 7, "male": np.arange(30) % 2 == 0}


@pytest.mark.parametrize(
    ("W", "names"),
    [
        (NAMED, ["age", "male"]),
        (pd.DataFrame(NAMED, index=range(30, 0, -1)), ["age", "male"]),
        (pl.DataFrame(NAMED), ["age", "male"]),
        (pa.table(NAMED), ["age", "male"]),
        (pd.Series(NAMED["age"], name="age"), ["age"]),
        (pd.Series(NAMED["male"], name="male"), ["male"]),
        (pd.Series(NAMED["age"]), ["w1"]),
        (NAMED["age"], ["w1"]),
        (NAMED["age"].astype(np.int8).tolist(), ["w1"]),
        (np.column_stack(list(NAMED.values())), ["w1", "w2"]),
        (pd.DataFrame(NAMED["age"]), ["0"]),
    ],
)
def test_columns_of_any_container(W, names):
    estimate = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(np.arange(30.0) ** 1.5)
    used = [NAMED["male"] if name in ("male", "w2") else NAMED["age"] for name in names]

    found = estimate.regress(W)

    assert list(found) == ["intercept", *names]
    assert found.estimate.tolist() == estimate.regress(np.column_stack(used)).estimate.tolist()


@pytest.mark.parametrize(
    ("W", "error", "message"),
    [
        (pd.DataFrame({"region": ["a", "b"] * 15}), TypeError, f"{CATEGORIES}: region must be numeric"),
        (pd.DataFrame({"region": pd.Categorical(["a", "b"] * 15)}), TypeError, f"{CATEGORIES}: region must"),
        ({"region": ["a", "b"] * 15}, TypeError, f"{CATEGORIES}: region must be numeric"),
        ({}, ValueError, "W must have at least one column, got none"),
        (np.zeros((30, 2, 2)), ValueError, "W must have one or two dimensions, got 3"),
        (np.arange(29.0), ValueError, "w1 must be as long as z, 30 values, got 29"),
        (np.eye(30)[:, :29], ValueError, "W must have fewer coefficients than records, got 30 for 30"),
        ({"intercept": np.arange(30.0)}, ValueError, "W must have no column called 'intercept'"),
        ({"a": np.full(30, np.inf)}, ValueError, "a must be finite, got 30 infinite values"),
        (object(), TypeError, "W must be a data frame, a dict of columns or an array, got object"),
    ],
)  # fmt: skip
def test_what_is_no_column(W, error, message):
    estimate = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(np.arange(30.0))

    with pytest.raises(error, match=re.escape(message)):
        estimate.regress(W)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, None, False] * 10, dtype="boolean"),
        pl.Series([True, None, False] * 10),
        pa.chunked_array([[True, None, False] * 10]),
        [True, None, False] * 10,
    ],
)
def test_yes_and_no_may_have_gaps(column):
    estimate = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(np.arange(30.0) ** 1.5)

    found = estimate.regress({"male": column})

    assert found.estimate.tolist() == estimate.regress(np.array([1.0, np.nan, 0.0] * 10)).estimate.tolist()


def test_records_that_miss_something_are_left_out_and_said(case):
    W, _ = case
    rng = np.random.default_rng(9)
    scheme = cm.ConditionalMasking(0.3, 0.5)
    z = release(scheme, W[:, 0] + rng.normal(size=300), rng)
    z[:20] = np.nan
    W = W.copy()
    W[10:50, 1] = np.nan
    estimate = scheme.estimate(z)

    found = estimate.regress(W)

    theirs = statsmodels(estimate.pseudo_values()[50:], np.ones(250), W[50:])
    assert found.estimate == pytest.approx(theirs.params, rel=1e-10)
    assert found.standard_error[1:] == pytest.approx(theirs.bse[1:], rel=1e-9)
    assert found.records.tolist() == [250] * 4
    assert found.about.endswith("(50 of 300 records left out, where a value is missing)")


def test_a_batch_gives_what_its_rows_give(case):
    W, _ = case
    rows = np.random.default_rng(10).normal(size=(3, 300))
    scheme = cm.ConditionalMasking(0.3, 1.0, step=0.0)

    found = scheme.estimate(rows).regress(W)

    assert found.estimate.shape == (3, 4)
    for k, row in enumerate(rows):
        one = scheme.estimate(row).regress(W)
        assert one.low.tolist() == found.low[k].tolist()
        assert one["w1"].high == found["w1"].high[k]


def test_a_record_that_a_coefficient_fits_alone_tells_nothing_of_others():
    z = np.arange(30.0) ** 1.5
    alone = np.zeros(30)
    alone[7] = 1.0

    found = (
        cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(z).regress({"w": np.arange(30) % 5, "7": alone})
    )

    assert np.isfinite(found.estimate).all()
    assert np.isnan(found["7"].standard_error)
    assert np.isfinite([found["w"].standard_error, found["intercept"].standard_error]).all()
