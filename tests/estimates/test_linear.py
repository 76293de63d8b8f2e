"""Statistics linear in the original: groups, weights, totals, clusters, regression.

Oracles: tests/reference.py at 40 digits, every masking of a tiny file, many releases of one file or of many,
fractions for nearly dependent columns, statsmodels. Seeds are fixed; false alarms are stated where a test is
statistical.
"""

import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from linear_files import CELLS, DONORS, File, P, ends, outcomes, released
from marks import rest_slow
from releases import in_group
from scipy import stats

import condmask as cm
from condmask.linear import chunks, groups

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]
PLAIN = cm.ConditionalMasking(0.4, 1.0, step=0.0)


# --- pseudo-values and numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("donors", DONORS)
def test_pseudo_values_have_the_mean_of_each_original(donors):
    # exactly: over all coins and donors, with noise at its mean, since they are linear in the masked values;
    # a stratum has its own mean and factor
    pools = [np.array([1.0, 2.5, 7.0, 9.0]), np.array([100.0, 130.0, 131.0, 180.0, 185.0])]
    labels, found = np.repeat(["north", "south"], [4, 5]), np.zeros(9)
    scheme = cm.ConditionalMasking(P, 1.0, step=0.0, strata="region", donors=donors)
    for k, pool in enumerate(pools):
        own, whole = labels == ("north", "south")[k], np.concatenate(pools)
        for chance, whole[own] in outcomes(pool, pool, donors):
            found[own] += chance * scheme.estimate(whole, strata=labels).pseudo_values()[own]

    assert found == pytest.approx(np.concatenate(pools), abs=1e-11)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_pseudo_values_stand_in_their_places_and_neither_overflow_nor_vanish(scale):
    z = np.array([1.0, np.nan, 2.0, 4.0, 5.0, 5.5, 7.0])
    known = ~np.isnan(z)

    found = cm.ConditionalMasking(0.3, scale, step=0.0).estimate(z * scale).pseudo_values() / scale

    plain = cm.ConditionalMasking(0.3, 1.0, step=0.0).estimate(z[known]).pseudo_values()
    assert np.array_equal(np.isnan(found), ~known)
    assert found[known] == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("pools", [1, 2])
@pytest.mark.parametrize("middle", [0.0, 1e9])
@pytest.mark.parametrize("chunk", [7, 40])
def test_all_is_as_in_exact_numbers_chunk_by_chunk(donors, pools, middle, chunk, monkeypatch):
    """Standard errors to 9 digits however far the values lie from 0, estimates to what rounding leaves."""
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    rng, n = np.random.default_rng(7), 40
    pool, cluster = rng.integers(0, pools, n), rng.integers(0, 6, n)
    a, weights, group = rng.normal(size=n), rng.gamma(1.0, 1.0, n), rng.integers(0, 2, n)
    known = np.arange(n) % 5 != 2  # records with a weight, and with a cluster
    cluster[~known], named = 9, np.where(known, cluster.astype(str), None)
    scheme = cm.ConditionalMasking(0.4, 0.7, step=0, donors=donors, strata="pool" if pools > 1 else None)
    z = middle + 2.0 * a + rng.gamma(1.0, 1.0, n) + pool + (rng.random(n) < 0.4) * rng.normal(size=n)
    estimate = scheme.estimate(z, strata=pool if pools > 1 else None)
    given = np.where(known, weights, np.nan)
    close = np.column_stack([a, a + 1e-7 * rng.normal(size=n)])

    for target, clusters, size in (
        ("file", None, None),
        ("population", None, None),
        ("population", None, 100),
        ("population", cluster, 100),
    ):
        exact = reference.LinearReference(z, pool, 0.4, 0.7, donors == "permutation", size or np.inf)
        used = known if clusters is not None else np.ones(n, dtype=bool)
        named_clusters = named if clusters is not None else None
        options = {"target": target, "clusters": named_clusters, "population_size": size}
        means = estimate.group_means(group, **options)
        weighted = estimate.group_means(group, weights=given, **options)
        pairs = [(estimate.weighted_mean(given, **options), exact.mean(weights * known, target, clusters))]
        for k in (0, 1):
            pairs.append((means[k], exact.mean((group == k) & used, target, clusters, group=True)))
            pairs.append((weighted[k], exact.mean(weights * known * (group == k), target, clusters)))
        if clusters is None:
            pairs += [(estimate.total(given, **options), exact.total(weights * known, target))]
        for columns in (np.column_stack([a, pool + weights]), close):
            found = estimate.regress(columns, **options)
            expected = exact.regression([np.ones(n), *columns.T], used, target, clusters)
            pairs += [(found[k], (v, e)) for k, v, e in zip(found, *expected, strict=True)]
        if clusters is None and size is None:
            found = estimate.covariance_interval(a, target=target)
            pairs.append((found, exact.covariance(a, target)))
        for interval, (value, error) in pairs:
            rounding = 1e-15 * abs(float(value)) + 1e-8 * float(error)
            assert abs(float(interval.estimate - value)) < rounding
            assert interval.standard_error == pytest.approx(float(error), rel=1e-8)


@pytest.mark.parametrize("chunk", [1, 149])
def test_chunks_of_any_size_and_tables_of_any_kind_give_the_same(chunk, monkeypatch):
    # 150 records of two pools, of which some have no group; a table of 2 x 200 cells is longer than they are
    file, estimate = released()
    labels = np.where(np.arange(file.n) % 5 == 0, np.nan, np.arange(file.n) // 0.75)

    def figures():
        found = []
        for options in ({"target": "file"}, {}, {"clusters": np.arange(file.n) // 2}):
            for weights in (None, file.weights):
                found += ends(estimate.group_means(labels // 9, weights=weights, **options))
                found += ends(estimate.group_means(labels, weights=weights, **options))
            found += ends(estimate.regress(file.w, **options))
            found.append(np.array(ends(estimate.total(file.weights, **options))))
        return np.concatenate(found)

    whole = figures()
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    monkeypatch.setattr(groups, "TABLE", 1)

    np.testing.assert_allclose(figures(), whole, rtol=1e-10)


def test_a_batch_gives_what_its_rows_give():
    file = File("sample", 1)
    rows = file.releases(3, 13)
    asked = [
        lambda e: e.pseudo_values(),
        lambda e: e.group_means(file.group, weights=file.weights).low,
        lambda e: e.group_means(file.group)[True].high,
        lambda e: e.total(file.weights).estimate,
        lambda e: e.regress(file.w).standard_error,
    ]

    for ask in asked:
        assert np.array_equal(ask(file.estimate(rows)), [ask(file.estimate(row)) for row in rows])


@pytest.mark.parametrize(("donors", "pools"), CELLS)
def test_standard_errors_about_the_file(donors, pools):
    # The variances of 20,000 releases are known to 1%, the mean of 100
    # estimated ones to its own standard error; they are right to 1/n of a pool's records, 1.4%. Five
    # standard errors and 1.5% are exceeded in one of 10^5 seeds. Without what donors of a permutation
    # have in common the means are off by 7 to 50%, with the factor 1-p by 2% for pools of 75.
    file = File(donors, pools)
    true = (file.undone(file.releases(20_000, 1)) @ file.sums.T).var(axis=0)

    found = np.array(
        [[each.standard_error**2 for each in file.intervals(z, "file")] for z in file.releases(100, 2)]
    )

    error = found.std(axis=0) / np.sqrt(len(found)) / true
    assert (np.abs(found.mean(axis=0) / true - 1) < 5 * np.hypot(error, 0.02) + 0.015).all()


@pytest.mark.parametrize("target", ["population", "file"])
def test_reaches_are_those_of_students_t(target):
    # about the file with n - 1, whatever a group has: the masking of all is what the variance is known from
    estimate = PLAIN.estimate(np.random.default_rng(3).normal(size=40))
    weights, labels = np.arange(40.0), np.repeat([0, 1], [4, 36])
    means = estimate.group_means(labels, target=target)
    weighted = estimate.weighted_mean(weights, target=target)
    line = estimate.regress(weights, target=target)["w1"]

    unequal = weights.sum() ** 2 / (weights @ weights) - 1
    for found, degrees in ((means[0], 3), (means[1], 35), (weighted, unequal), (line, 38)):
        reach = stats.t.ppf(0.975, 39 if target == "file" else degrees) * found.standard_error
        assert found.high - found.estimate == pytest.approx(reach, rel=1e-9)


# --- how often the intervals cover ------------------------------------------------------------------------


def covered(found, truths):
    return [bool(each.low <= truth <= each.high) for each, truth in zip(found, truths, strict=True)]


def assert_level(hits, short=0.0):
    """The share of hits is .95, to 4.5 of its standard errors and what is known to be missing."""
    error, shares = np.sqrt(0.95 * 0.05 / len(hits)), np.mean(hits, axis=0)
    assert (shares > 0.95 - 4.5 * error - short).all()
    assert (shares < 0.95 + 4.5 * error).all()


@pytest.mark.parametrize(("p", "donors", "n"), rest_slow([(0.6, "sample", 200), (0.3, "permutation", 2000)]))
def test_intervals_cover(p, donors, n):
    # 1000 files: .95 +- .031, a false alarm in less than 2 of 10^4 seeds over 18 shares; .01 is what skewed
    # data lack at n = 200. The spread of the values alone would cover groups in .8.
    rng, hits, mean = np.random.default_rng(7), [], np.exp(0.08)
    scheme = cm.ConditionalMasking(p, 0.4, donors=donors)
    of_weights = (0.6 * 1.5 * mean + 0.4 * 2.0 * (mean + 0.5)) / 1.7  # E w = 1 + .5 (1.4)
    for _ in range(1000):
        group, w = rng.random(n) < 0.4, rng.normal(size=n)
        x = np.exp(0.4 * rng.normal(size=n)) + 0.5 * group
        weights, straight = 1.0 + rng.random(n) * (1 + group), x + w * (1.0 + 0.2 * rng.normal(size=n))
        one, two = (scheme.estimate(scheme.mask_rows(row[None], rng, ())[0]) for row in (x, straight))
        slope = np.cov(straight, w)[0, 1] / w.var(ddof=1)
        of_file = [x[group].mean(), weights @ x / weights.sum(), straight.mean() - slope * w.mean(), slope]
        hits.append(covered([one.total(weights)], [n * 1.7 * of_weights]))
        for target, truths in (("population", [mean + 0.5, of_weights, mean + 0.2, 1.0]), ("file", of_file)):
            means = one.group_means(group, target=target)[True], one.weighted_mean(weights, target=target)
            hits[-1] += covered([*means, *two.regress(w, target=target).values()], truths)

    assert_level(hits, short=0.01 if n == 200 else 0.0)


def test_intervals_cover_where_clusters_were_sampled():
    # 100 clusters of 5 that share half of their variance; taken for single records, .8 are covered. 600
    # files: .95 +- .040, a false alarm in 1 of 10^5 seeds.
    rng, hits, naive = np.random.default_rng(8), [], []
    scheme = cm.ConditionalMasking(0.3, 0.5)
    cluster = np.repeat(np.arange(100), 5)
    for k in range(600):
        w, common = rng.normal(size=(2, 100))[:, cluster]
        x, y, group = common + rng.normal(size=500), 3.0 * common + w, rng.random(500) < 0.8
        one, two = (scheme.estimate(scheme.mask_rows(row[None], rng, ())[0]) for row in (x, y))
        for found, clusters in ((hits, cluster), *([(naive, None)] if k < 200 else [])):
            means = one.group_means(group, clusters=clusters)[True], one.total(clusters=clusters)
            line = two.regress(w, clusters=clusters)["w1"]
            found.append(covered([*means, line], [0.0, 0.0, 1.0]))

    assert_level(hits, short=0.01)
    assert (np.mean(naive, axis=0) < 0.88).all()


def test_intervals_cover_a_population_of_known_size():
    # 300 of 400: without the size the intervals are longer, and cover in .98. 800 files: .95 +- .035, a false
    # alarm in 1 of 10^5 seeds.
    rng, hits, naive = np.random.default_rng(9), [], []
    everyone, group = rng.gamma(3.0, 1.0, 400), rng.random(400) < 0.5
    scheme = cm.ConditionalMasking(0.3, 0.5)
    for _ in range(800):
        drawn = rng.permutation(400)[:300]
        estimate = scheme.estimate(scheme.mask_rows(everyone[drawn][None], rng, ())[0])
        for found, size in ((hits, 400), (naive, None)):
            mean = estimate.group_means(group[drawn], population_size=size)[True]
            found.append(covered([mean], [everyone[group].mean()]))

    assert_level(hits)
    assert np.mean(naive) > np.mean(hits) + 0.015


# --- groups -----------------------------------------------------------------------------------------------


def test_strata_that_the_groups_are_need_no_other_formula():
    # the mean of the values of a whole stratum, which are a release of their own
    labels = np.repeat(["a", "b"], 60)
    scheme = cm.ConditionalMasking(0.5, 1.0, strata="s")
    z = scheme.mask(np.random.default_rng(3).normal(size=120), rng=3, strata=labels)

    found = scheme.estimate(z, strata=labels).group_means(labels, target="file")

    for label in "ab":
        own = cm.ConditionalMasking(0.5, 1.0).estimate(z[labels == label]).total(target="file")
        assert found[label].estimate == pytest.approx(z[labels == label].mean(), abs=1e-12)
        assert found[label].standard_error == pytest.approx(own.standard_error / 60, rel=1e-12)


@pytest.mark.parametrize(
    "options", [{"target": "file"}, {}, {"population_size": 400}, {"clusters": np.arange(150) % 11}]
)
@pytest.mark.parametrize(
    "weights",
    [None, np.full(150, 0.3), np.where(np.arange(150) % 7 == 3, np.nan, 2.0 + np.sin(np.arange(150)))],
)
def test_the_mean_of_a_group_is_that_of_its_records_alone(options, weights):
    file, estimate = released()
    given = np.ones(file.n) if weights is None else weights

    found = estimate.group_means(file.group, weights=weights, **options)

    for name in (False, True):
        alone = estimate.weighted_mean(np.where(file.group == name, given, np.nan), **options)
        assert ends(found[name]) == pytest.approx(ends(alone), rel=1e-9)


@pytest.mark.parametrize("target", ["population", "file"])
def test_a_group_without_a_value_or_a_weight_has_no_mean_and_others_have_theirs(target):
    z, labels = np.append(np.arange(57.0), [np.nan] * 3), np.repeat([0, 1, 2, 3], [30, 26, 1, 3])
    estimate, options = PLAIN.estimate(z), {"target": target}
    for none in (0.0, np.nan):
        weights = np.where(labels == 1, none, 1.0)

        found = estimate.group_means(labels, weights=weights, **options)

        assert ends(found[0]) == pytest.approx(ends(estimate.group_means(labels, **options)[0]), rel=1e-12)
        assert np.isnan([ends(found[1]), ends(found[3])]).all()
        # of one record the interval for the population is not known
        assert np.isfinite(found[2].estimate)
        assert np.isfinite(found[2].standard_error) == (target == "file")


def test_several_columns_make_a_group_of_each_combination_that_occurs():
    file, estimate = released()
    rng = np.random.default_rng(4)
    columns = {
        "region": rng.choice(np.array(["north", "south", None], dtype=object), file.n),
        "year": rng.integers(2020, 2022, file.n),
        "sex": rng.choice(np.array(["f", "m", None], dtype=object), file.n),
    }
    columns["sex"][columns["region"] == "north"] = "m"  # no women there
    label = [None if None in row else " ".join(map(str, row)) for row in zip(*columns.values(), strict=True)]

    found, joined = estimate.group_means(columns), estimate.group_means(label)

    assert [" ".join(map(str, name)) for name in found] == list(joined)
    assert found.by == ("region", "year", "sex")
    assert ("north", 2020, "f") not in found
    for name in found:
        assert found[name][:4] == joined[" ".join(map(str, name))][:4]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "b"] * 10),
        pd.Series(["b", "a", "b"] * 10, dtype="category"),
        pd.Series(["b", "a", "b"] * 10, dtype="string"),
        np.array([2.5, 1.0, 2.5] * 10),
        [True, False, True] * 10,
        np.array([2, "one", 2] * 10, dtype=object),
    ],
)
def test_labels_of_any_kind(labels):
    found = PLAIN.estimate(np.random.default_rng(2).normal(size=30)).group_means(labels)

    own = np.asarray(labels).tolist()
    assert dict(zip(found, found.records, strict=True)) == {own[0]: 20, own[1]: 10}


def said(ask):
    """The one warning of a call, or none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    assert len(caught) <= 1
    assert not caught or caught[0].filename == __file__
    return str(caught[0].message) if caught else ""


@pytest.mark.parametrize(("size", "few"), [(20, False), (19, True)])
@pytest.mark.parametrize("weights", [None, np.ones(100)])
def test_groups_that_tell_less_than_five_records_are_flagged(size, few, weights):
    # n_g (1-p)^2 = 20 / 4 = 5
    estimate = cm.ConditionalMasking(0.5, 1.0, step=0.0).estimate(np.arange(100.0) - 50.0)

    found = said(lambda: estimate.group_means(np.arange(100) < size, weights=weights))

    message = "1 of 2 groups have fewer than 20 records, and say less than 5 unmasked ones would"
    assert found == (f"group_means: {message}" if few else "")


@pytest.mark.parametrize("shift", [0.0, -50.0])
def test_a_negative_mean_of_amounts_that_are_not_negative_says_why(shift):
    # the 20 least of 400 amounts, a quarter of which are 0: Zt = (Z - p Zbar)/(1-p) is far below 0; where
    # amounts are negative, such a mean may be right
    z = np.maximum(np.arange(400.0) - 100.0, 0.0) + shift
    estimate = cm.ConditionalMasking(0.5, 10.0, step=1.0).estimate(z)

    found = said(lambda: estimate.group_means(np.arange(400) < 20))

    expected = (
        "group_means: 1 mean of a group comes out negative, though hardly any value is: too few records"
    )
    assert found == (expected if shift == 0.0 else "")


# --- regression -------------------------------------------------------------------------------------------


def statsmodels(y, W, intercept=True, **kind):
    """Ordinary least squares with HC3 errors."""
    sm = pytest.importorskip("statsmodels.api")
    design = np.column_stack([np.ones(len(y)), W]) if intercept else W
    return sm.OLS(y, design).fit(**({"cov_type": "HC3"} | kind))


@pytest.fixture
def case():
    rng = np.random.default_rng(1)
    W = rng.normal(size=(300, 3)) * [1.0, 100.0, 0.01] + [0.0, 5.0, 0.0]
    x = W @ [1.0, 0.02, -30.0] + 7.0 + 2.0 * rng.normal(size=300)
    scheme = cm.ConditionalMasking(0.3, 0.5)
    return W, scheme.estimate(scheme.mask_rows(x[None], rng, ())[0])


@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_of_pseudo_values_are_those_of_any_package(case, intercept):
    W, estimate = case
    gaps = np.where(np.arange(300)[:, None] < 50, np.nan, W)  # records that miss something are left out

    for given, rows in ((W, slice(None)), (gaps, slice(50, None))):
        theirs = statsmodels(estimate.pseudo_values()[rows], W[rows], intercept)
        ours = estimate.regress(given, intercept=intercept)
        assert ours.estimate == pytest.approx(theirs.params, rel=1e-10)
        if intercept:  # robust errors are right for slopes in one pool; the intercept's are not
            assert ours.standard_error[0] != pytest.approx(theirs.bse[0], rel=0.01)
            assert given is gaps or ours.standard_error[1:] == pytest.approx(theirs.bse[1:], rel=1e-9)
    assert ours.about.endswith("(50 of 300 records left out, where a value is missing)")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "scheme", [cm.AdditiveNoise(0.5, noise="normal"), cm.ConditionalMasking(1e-9, 1e-9, step=0.0)]
)
def test_without_swapping_it_is_ordinary_regression(intercept, scheme):
    # few records and clusters, so that what is made of their numbers counts: 7/6 and 29/26
    rng = np.random.default_rng(11)
    W, cluster = rng.normal(size=(30, 3)), np.arange(30) % 7
    z = W @ [1.0, -2.0, 0.5] + rng.normal(size=7)[cluster] + rng.normal(size=30)

    for clusters, kind in ((None, {}), (cluster, {"cov_type": "cluster", "cov_kwds": {"groups": cluster}})):
        ours = scheme.estimate(z).regress(W, clusters=clusters, intercept=intercept)
        theirs = statsmodels(z, W, intercept, **kind)
        assert ours.estimate == pytest.approx(theirs.params, rel=1e-7)
        assert ours.standard_error == pytest.approx(theirs.bse, rel=1e-7)


def exact_coefficients(columns, y):
    """Normal equations with a constant, in fractions."""
    rows = [[Fraction(1)] * len(y), *[[Fraction(v) for v in column] for column in columns]]
    rows.append([Fraction(v) for v in y])
    system = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows[:-1]]
    for k, own in enumerate(system):
        system[k] = own = [v / own[k] for v in own]
        for i, other in enumerate(system):
            if i != k:
                system[i] = [a - other[k] * b for a, b in zip(other, own, strict=True)]
    return [float(row[-1]) for row in system]


@pytest.mark.parametrize("apart", [1.0, 1e-1, 1e-3, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("chunk", [7, 60])
def test_coefficients_are_right_however_close_the_columns(apart, chunk, monkeypatch):
    # one Cholesky factor, two, and three: each loses the digits that the columns share, and a few
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    rng = np.random.default_rng(4)
    a, z = rng.normal(size=(2, 60))
    columns = [a, a + apart * rng.normal(size=60), rng.normal(size=60)]
    estimate = cm.AdditiveNoise(0.5, noise="normal").estimate(z)

    found = estimate.regress(np.column_stack(columns))

    true = exact_coefficients(columns, z)
    assert found.estimate == pytest.approx(true, rel=1e-13 / apart, abs=1e-13 / apart)
    if apart > 1e-5:
        assert found.standard_error == pytest.approx(statsmodels(z, np.column_stack(columns)).bse, rel=1e-6)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"a": [1.0, 2, 3, 4, 5, 7], "b": [3.0, 5, 7, 9, 11, 15]}, "b"),
        ({"a": [1.0, 2, 3, 4, 5, 7], "b": [4.0] * 6}, "b"),
        ({"a": [0.0] * 6, "b": [1.0, 2, 3, 4, 5, 7]}, "a"),
    ],
)
def test_columns_that_determine_each_other_are_refused(columns, name):
    message = f"W must have no column that is determined by the others and the intercept, got {name!r}"
    with pytest.raises(ValueError, match=message):
        PLAIN.estimate(np.arange(6.0) ** 2).regress(columns)


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_units_do_not_matter(case, scale):
    W, estimate = case

    plain, scaled = estimate.regress(W), estimate.regress(W * [scale, 1.0, 1.0])

    units = [1.0, scale, 1.0, 1.0]
    assert scaled.estimate * units == pytest.approx(plain.estimate, rel=1e-10)
    assert scaled.standard_error * units == pytest.approx(plain.standard_error, rel=1e-10)


def test_a_record_that_a_coefficient_fits_alone_tells_nothing_of_others():
    alone = (np.arange(30) == 7) * 1.0

    found = PLAIN.estimate(np.arange(30.0) ** 1.5).regress({"w": np.arange(30) % 5, "7": alone})

    assert np.isfinite(found.estimate).all()
    assert np.isnan(found.standard_error).tolist() == [False, False, True]


def test_records_that_are_used_are_what_tails_are_heavy_for():
    # a kurtosis of 15: 6,100 records are enough for it, of which the column has 2,034
    rng = np.random.default_rng(2)
    z, w, few = rng.normal(size=6_100), rng.normal(size=6_100), rng.random(6_100) < 0.2
    w = np.where(np.arange(6_100) % 3 == 0, w * few, np.nan)

    found = said(lambda: PLAIN.estimate(z).regress(w))

    assert re.match(r"heavy tails, of kurtosis 1\d\.\d in 2034 records: intervals of coefficients", found)


# --- what columns may be ----------------------------------------------------------------------------------


NAMED = {"age": np.arange(30.0) % 7, "male": np.arange(30) % 2 == 0}


@pytest.mark.parametrize(
    ("W", "names"),
    [
        (NAMED, ["age", "male"]),
        (pd.DataFrame(NAMED, index=range(30, 0, -1)), ["age", "male"]),
        (pl.DataFrame(NAMED), ["age", "male"]),
        (pa.table(NAMED), ["age", "male"]),
        (pd.Series(NAMED["male"], name="male"), ["male"]),
        (pd.Series(NAMED["age"]), ["w1"]),
        (NAMED["age"].astype(np.int8).tolist(), ["w1"]),
        (np.column_stack(list(NAMED.values())), ["w1", "w2"]),
    ],
)
def test_columns_of_any_container(W, names):
    estimate = PLAIN.estimate(np.arange(30.0) ** 1.5)
    used = [NAMED["male"] if name in ("male", "w2") else NAMED["age"] for name in names]

    found = estimate.regress(W)

    assert list(found) == ["intercept", *names]
    assert found.estimate.tolist() == estimate.regress(np.column_stack(used)).estimate.tolist()


def numbers(column):
    return column.astype("Float64").to_numpy(float, na_value=np.nan)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("strata", [None, "region"])
def test_columns_are_named_where_a_file_was_read_in_parts(tmp_path, form, strata):
    rng, n = np.random.default_rng(1), 1_200
    frame = pd.DataFrame({"x": rng.normal(0.0, 1.0, n), "age": rng.normal(40.0, 5.0, n)})
    frame["region"], frame["sex"] = rng.choice(["east", "north", "west"], n), rng.choice(["f", "m", None], n)
    frame["y"] = 0.5 * frame["x"] + rng.normal(0.0, 1.0, n)
    frame["id"], frame["male"] = (
        [f"no. {k}" for k in range(n)],
        pd.array(rng.random(n) < 0.5, dtype="boolean"),
    )
    frame.loc[::10, ["male", "age"]] = None
    given, masked = tmp_path / f"given.{form}", tmp_path / f"masked.{form}"
    frame.to_csv(given, index=False) if form == "csv" else frame.to_parquet(given)
    scheme = cm.ConditionalMasking(0.5, 1.0, strata=strata)
    both = {"x": scheme, "y": scheme}
    cm.mask_file(given, masked, both, rng=2, part_rows=400, log=False, accept_visible_coins=True)
    found = cm.read_release(masked, "x")
    # the same from arrays: a pool for each part of 400 rows, and each region
    pools = np.arange(n) // 400 * 3 + (frame["region"].factorize(sort=True)[0] if strata else 0)
    pooled = cm.ConditionalMasking(0.5, 1.0, strata="pool")
    same, other = (in_group(pooled.estimate(cm.read_column(masked, name), strata=pools)) for name in both)
    male, age = numbers(frame["male"]), numbers(frame["age"])
    text = {f"region={name}": frame["region"] == name for name in ("north", "west")}
    text["sex=m"] = numbers((frame["sex"] == "m").where(frame["sex"].notna()))

    pairs = [
        (found.regress(["age", "region", "sex"]), same.regress({"age": age, **text})),
        (found.regress({"a": "age", "b": "male"}), same.regress({"a": age, "b": male})),
        (
            found.group_means(["region", "male"], weights="age"),
            same.group_means(frame[["region", "male"]], weights=age),
        ),
        (found.weighted_mean("male", clusters="sex"), same.weighted_mean(male, clusters=frame["sex"])),
        (found.total("age"), same.total(age)),
        (found.covariance_interval("age"), same.covariance_interval(age)),
        (found.correlation_interval("male"), same.correlation_interval(male)),
        (found.correlation_interval("y"), same.correlation_interval(other)),
    ]
    for named, by_hand in pairs:
        assert named.about == by_hand.about
        np.testing.assert_allclose(ends(named), ends(by_hand), rtol=1e-9)
    assert pairs[0][0].names == ["intercept", "age", *text]
    with pytest.raises(ValueError, match="got 'id' with 1,200 labels"):
        found.regress("id")
    with pytest.raises(ValueError, match="W must be a column that was not masked, got 'x'"):
        found.regress("x")


# --- what is refused --------------------------------------------------------------------------------------


TEXT, HALVES = {"a": ["n", "s"] * 20}, {"a": [1.0] * 20 + [np.nan] * 20, "b": [np.nan] * 20 + [1.0] * 20}
NOTHING = "labels must give at least one record a group, got none"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.group_means([1, 2]), "labels must be as long as z, 40 values, got 2"),
        (lambda e: e.group_means(HALVES), NOTHING),
        (lambda e: e.group_means([np.nan] * 40), NOTHING),
        (lambda e: e.weighted_mean([-1.0] * 40), "weights must not be negative, got -1"),
        (lambda e: e.group_means([1] * 40, weights=[-1.0] * 40), "weights must not be negative, got -1"),
        (lambda e: e.weighted_mean([0.0] * 40), "weights must not all be 0"),
        (lambda e: e.total([np.nan] * 40), "z must have records in which the other columns have values, too"),
        (lambda e: e.total(np.ones(3)), "weights must be as long as z, 40 values, got 3"),
        (
            lambda e: e.total(target="file", clusters=[1]),
            "clusters must be left out for target='file', where",
        ),
        (
            lambda e: e.total(target="file", population_size=99),
            "population_size must be left out for target=",
        ),
        (lambda e: e.total(population_size=39), "population_size must be at least the number of records, 40"),
        (lambda e: e.total(clusters=[1, 2]), "clusters must be as long as z, 40 values, got 2"),
        (lambda e: e.total(target="all"), "target must be one of 'population', 'file', got 'all'"),
        (
            lambda e: e.total(confidence_level=95),
            "confidence_level must lie strictly between 0 and 1, got 95",
        ),
        (lambda e: e.regress(TEXT), "W must hold numbers, so give an indicator column for each category but"),
        (lambda e: e.regress({}), "W must have at least one column, got none"),
        (lambda e: e.regress(np.zeros((40, 2, 2))), "W must have one or two dimensions, got 3"),
        (lambda e: e.regress(np.arange(29.0)), "w1 must be as long as z, 40 values, got 29"),
        (
            lambda e: e.regress(np.eye(40)[:, :39]),
            "W must have fewer coefficients than records, got 40 for 40",
        ),
        (lambda e: e.regress({"intercept": np.ones(40)}), "W must have no column called 'intercept' where"),
        (lambda e: e.regress({"a": np.full(40, np.inf)}), "a must be finite, got 40 infinite values"),
        (lambda e: e.regress(object()), "W must be a data frame, a dict of columns or an array, got object"),
        (lambda e: e.regress("age"), "W must be a column, got 'age': only the estimates of a Release know"),
    ],
)
def test_what_cannot_be_asked(ask, message):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(message)}"):
        ask(PLAIN.estimate(np.arange(40.0)))


def test_strata_must_be_given_and_a_summary_keeps_no_records():
    scheme = cm.ConditionalMasking(0.4, 1.0, decimals=0, strata="region")
    with pytest.raises(ValueError, match="strata must be given: donors were drawn within 'region'"):
        scheme.estimate(np.arange(40.0)).pseudo_values()
    counts = cm.Counts(scheme)
    counts.update(np.arange(40.0))
    with pytest.raises(ValueError, match="got Counts, which keep no records"):
        scheme.estimate(counts).pseudo_values()


# --- weighted means and totals against each other and the mean ---------------------------------------------


def test_the_total_is_the_mean_times_the_weights():
    file, estimate = released()

    mean, total = (
        getattr(estimate, name)(file.weights, target="file") for name in ("weighted_mean", "total")
    )

    assert total.estimate == pytest.approx(mean.estimate * file.weights.sum(), rel=1e-12)
    assert total.standard_error == pytest.approx(mean.standard_error * file.weights.sum(), rel=1e-12)


def test_the_mean_of_all_is_the_mean():
    # of one pool: that of the masked values, in every way it can be asked for
    file = File("sample", 1)
    estimate = file.estimate(file.releases(1, 12)[0])

    found = [
        estimate.group_means(np.zeros(file.n))[0.0],
        estimate.weighted_mean(np.full(file.n, 2.0)),
        estimate.weighted_mean(np.ones(file.n)),
    ]

    for each in found:
        assert ends(each) == pytest.approx(ends(found[0]), rel=1e-9)
        assert each.estimate == pytest.approx(estimate.mean(), rel=1e-12)
    assert estimate.total().estimate == pytest.approx(file.n * estimate.mean(), rel=1e-12)


@pytest.mark.parametrize("target", ["population", "file"])
def test_records_without_a_weight_count_as_those_that_weigh_nothing(target):
    # as donors they do: what they have lent varies, too
    file, estimate = released()
    nothing, missing = (np.where(file.group, file.weights, none) for none in (0.0, np.nan))

    for ask in (estimate.weighted_mean, estimate.total) if target == "file" else (estimate.weighted_mean,):
        assert ends(ask(missing, target=target)) == pytest.approx(ends(ask(nothing, target=target)), rel=1e-9)
