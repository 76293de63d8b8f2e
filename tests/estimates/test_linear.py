"""Other columns, asked of an estimate: batches, gaps, labels of any kind, and what is refused."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import reference
from linear_files import File, ends

import condmask as cm
from condmask.inference import parts

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning", "ignore::condmask.EstimateWarning"),
]


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("pools", [1, 2])
@pytest.mark.parametrize("middle", [0.0, 1e9])
def test_all_is_as_in_exact_numbers_part_by_part(donors, pools, middle, monkeypatch):
    """Standard errors to 9 digits however far the values lie from 0, estimates to what rounding leaves."""
    monkeypatch.setattr(parts, "CHUNK", 7)
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
        pairs = [
            *((means[k], exact.mean((group == k) & used, target, clusters, group=True)) for k in (0, 1)),
            (estimate.weighted_mean(given, **options), exact.mean(weights * known, target, clusters)),
        ]
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


def test_a_batch_gives_what_its_rows_give():
    file = File("sample", 1)
    rows = file.releases(3, 13)
    batch = file.estimate(rows)

    groups, total = batch.group_means(file.group), batch.total(file.weights)

    assert groups.estimate.shape == (3, 2)
    assert groups[True].low.shape == total.low.shape == (3,)
    for k, row in enumerate(rows):
        one = file.estimate(row)
        assert ends(one.group_means(file.group)[True]) == [each[k] for each in ends(groups[True])]
        assert ends(one.total(file.weights)) == [each[k] for each in ends(total)]


@pytest.mark.parametrize(
    "options", [{"target": "file"}, {}, {"population_size": 400}, {"clusters": np.arange(150) % 11}]
)
@pytest.mark.parametrize("pools", [1, 2])
def test_with_equal_weights_groups_have_their_plain_means(options, pools):
    file = File("permutation", pools)
    estimate = file.estimate(file.releases(1, 14)[0])

    plain = estimate.group_means(file.group, **options)
    weighted = estimate.group_means(file.group, weights=np.full(file.n, 0.3), **options)

    assert weighted.names == plain.names
    assert weighted.records.tolist() == plain.records.tolist()
    for name in plain:
        assert ends(weighted[name]) == pytest.approx(ends(plain[name]), rel=1e-9)


def test_groups_have_the_weighted_means_of_their_records():
    file = File("sample", 1)
    batch = file.estimate(file.releases(3, 13))
    weights = np.where(np.arange(file.n) % 7 == 3, np.nan, file.weights)

    found = batch.group_means(file.group, weights=weights)

    pseudo, known = batch.pseudo_values(), ~np.isnan(weights)
    for name in (False, True):
        rows = known & (file.group == name)
        assert found[name].estimate == pytest.approx(
            np.average(pseudo[:, rows], axis=1, weights=weights[rows]), rel=1e-9
        )
        one = batch.weighted_mean(np.where(file.group == name, weights, np.nan))
        assert ends(found[name])[0] == pytest.approx(ends(one)[0], rel=1e-12)
    with pytest.raises(ValueError, match="weights must not be negative, got -1"):
        batch.group_means(file.group, weights=np.full(file.n, -1.0))


@pytest.mark.parametrize("intercept", [True, False])
def test_named_columns_of_text_are_their_indicators(tmp_path, intercept):
    rng, n = np.random.default_rng(1), 600
    frame = pd.DataFrame(
        {
            "x": rng.normal(0.0, 1.0, n),
            "age": rng.normal(40.0, 5.0, n),
            "region": rng.choice(["east", "north", "west"], n),
            "sex": rng.choice(["female", "male"], n),
            "id": [f"number {k}" for k in range(n)],
        }
    )
    frame.loc[::10, "region"] = None
    release = cm.mask_table(frame, {"x": cm.ConditionalMasking(0.5, 1.0)}, rng=2)
    release.write(tmp_path / "masked.parquet")

    first = () if intercept else ("east",)
    dummies = {f"region={name}": (frame["region"] == name) * 1.0 for name in (*first, "north", "west")}
    dummies = {name: column.where(frame["region"].notna()) for name, column in dummies.items()}
    by_hand = {"age": frame["age"], **dummies, "sex=male": frame["sex"] == "male"}
    for known in (release["x"], cm.read_release(tmp_path / "masked.parquet", "x")):
        found = known.regress(["age", "region", "sex"], intercept=intercept)
        renamed = known.regress({"years": "age", "region": "region", "sex": "sex"}, intercept=intercept)
        np.testing.assert_array_equal(renamed.estimate, found.estimate)
        assert "years" in renamed.names
        expected = release["x"].regress(by_hand, intercept=intercept)
        assert found.names == expected.names
        np.testing.assert_allclose(found.estimate, expected.estimate, rtol=1e-9)
        np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-9)
    with pytest.raises(ValueError, match="got 'id' with 600 labels"):
        known.regress("id")


@pytest.mark.parametrize("form", ["parquet", "csv", "feather"])
def test_named_columns_of_yes_and_no_are_numbers(tmp_path, form):
    rng, n = np.random.default_rng(1), 600
    frame = pd.DataFrame({"x": rng.normal(0.0, 1.0, n), "male": rng.random(n) < 0.5})
    frame["gaps"] = frame["male"].astype("boolean").where(rng.random(n) < 0.9)
    release = cm.mask_table(frame, {"x": cm.ConditionalMasking(0.5, 1.0)}, rng=2)
    release.write(tmp_path / f"masked.{form}")

    gaps = frame["gaps"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    for known in (release["x"], cm.read_release(tmp_path / f"masked.{form}", "x")):
        for name, column in (("male", frame["male"] * 1.0), ("gaps", gaps)):
            assert known.weighted_mean(name).estimate == release["x"].weighted_mean(column).estimate
            assert known.correlation(name) == release["x"].correlation(column)
            line = release["x"].regress({name: column})
            np.testing.assert_allclose(known.regress(name).estimate, line.estimate, rtol=1e-12)


def test_what_is_missing_is_left_out_and_said():
    # a record without a label still lends its value: its pool stays, and with it the mean and the factor
    file = File("sample", 1)
    z = file.releases(1, 14)[0]
    z[:10] = np.nan
    labels = np.where(file.group, "yes", "no").astype(object)
    labels[5:30] = None
    estimate = file.estimate(z)
    pseudo, kept = estimate.pseudo_values(), np.arange(file.n) >= 30

    found = estimate.group_means(labels)

    assert list(found) == ["no", "yes"]
    assert found["yes"].estimate == pytest.approx(pseudo[kept & file.group].mean(), rel=1e-12)
    assert found.records.tolist() == [(kept & ~file.group).sum(), (kept & file.group).sum()]
    assert "(30 of 150 records left out, where a value is missing)" in found.about
    weights = np.where(kept, file.group.astype(float), np.nan)
    assert ends(estimate.weighted_mean(weights)) == pytest.approx(ends(found["yes"]), rel=1e-9)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "b"] * 10),
        ["b", "a", "b"] * 10,
        pd.Series(["b", "a", "b"] * 10, dtype="category"),
        pd.Series(["b", "a", "b"] * 10, dtype="string"),
        np.array([2, 1, 2] * 10),
        np.array([2.5, 1.0, 2.5] * 10),
        np.array([True, False, True] * 10),
        np.array([2, "one", 2] * 10, dtype=object),
    ],
)
def test_labels_of_any_kind(labels):
    z = np.random.default_rng(2).normal(size=30)

    found = cm.ConditionalMasking(0.4, 1.0, step=0.0).estimate(z).group_means(labels)

    own = np.asarray(labels).tolist()
    assert dict(zip(found, found.records, strict=True)) == {own[0]: 20, own[1]: 10}


def test_a_table_is_printed():
    z = np.arange(40.0)
    estimate = cm.ConditionalMasking(0.4, 1.0, step=0.0).estimate(z)

    shown = str(estimate.group_means(["north"] * 30 + ["south"] * 10)).splitlines()

    assert shown[0] == "mean of the original in the population, by group"
    assert shown[1].split() == ["records", "estimate", "standard", "error", "95%", "from", "to"]
    assert [line.split()[:2] for line in shown[2:]] == [["north", "30"], ["south", "10"]]
    assert len({len(line) for line in shown[1:]}) == 1


def said(ask):
    """The one warning of a call, or none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    assert len(caught) <= 1
    assert not caught or caught[0].filename == __file__
    return str(caught[0].message) if caught else ""


@pytest.mark.parametrize(("size", "few"), [(20, False), (19, True)])
def test_groups_that_tell_less_than_five_records_are_flagged(size, few):
    # n_g (1-p)^2 = 20 / 4 = 5
    estimate = cm.ConditionalMasking(0.5, 1.0, step=0.0).estimate(np.arange(100.0) - 50.0)

    found = said(lambda: estimate.group_means(np.arange(100) < size))

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


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.group_means([1, 2]), "labels must be as long as z, 40 values, got 2"),
        (lambda e: e.weighted_mean([-1.0] * 40), "weights must not be negative, got -1"),
        (lambda e: e.weighted_mean([0.0] * 40), "weights must not all be 0"),
        (lambda e: e.total(np.ones(3)), "weights must be as long as z, 40 values, got 3"),
        (
            lambda e: e.total(target="file", population_size=100),
            "population_size must be left out for target='file', where the records are not a sample, got 100",
        ),
        (
            lambda e: e.total(population_size=39),
            "population_size must be at least the number of records, 40, got 39",
        ),
        (lambda e: e.total(clusters=[1, 2]), "clusters must be as long as z, 40 values, got 2"),
        (lambda e: e.total(target="all"), "target must be one of 'population', 'file', got 'all'"),
        (
            lambda e: e.total(confidence_level=95),
            "confidence_level must lie strictly between 0 and 1, got 95",
        ),
    ],
)
def test_what_cannot_be_asked(ask, message):
    estimate = cm.ConditionalMasking(0.4, 1.0, step=0.0).estimate(np.arange(40.0))

    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ask(estimate)


def test_a_summary_keeps_no_records():
    scheme = cm.ConditionalMasking(0.4, 1.0, decimals=0)
    counts = cm.Counts(scheme)
    counts.update(np.arange(40.0))

    with pytest.raises(ValueError, match="got Counts, which keep no records"):
        scheme.estimate(counts).pseudo_values()


def test_strata_must_be_given():
    scheme = cm.ConditionalMasking(0.4, 1.0, step=0.0, strata="region")

    with pytest.raises(ValueError, match="strata must be given: donors were drawn within 'region'"):
        scheme.estimate(np.arange(40.0)).pseudo_values()
