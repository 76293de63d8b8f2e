"""Columns used side by side: an index with the labels of other rows in another order is refused,
all else is taken by position.

Oracle: the same calls with NumPy arrays in the order of the rows."""

import copy
import pickle
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import condmask as cm

pytestmark = [
    pytest.mark.usefixtures("unaudited"),
    pytest.mark.filterwarnings(
        "ignore::condmask.EstimateWarning", "ignore::condmask.ReleaseWarning"
    ),
]

N = 240
RNG = np.random.default_rng(5)
ORDER = RNG.permutation(N)
AGE = RNG.uniform(20.0, 65.0, N)
INCOME = 100.0 + 3.0 * AGE + RNG.normal(0.0, 20.0, N)
TOWN = np.resize(["east", "north", "west"], N)
WEIGHT = RNG.uniform(1.0, 3.0, N)
SCHEME = cm.ConditionalMasking(0.3, 10.0, step=0)
WITHIN = cm.ConditionalMasking(0.3, 10.0, step=0, strata="town")
Z = SCHEME.mask(INCOME, rng=1, accept="all")
REFUSED = "its index has the labels of .* in another order"
INDEXES = {
    "numbers": pd.RangeIndex(N),
    "texts": pd.Index([f"id {k}" for k in range(N)]),
    "objects": pd.Index([None, *range(N - 1)], dtype=object),
    "mixed": pd.Index([(1, 2), "a", 2.5, *range(N - 3)], dtype=object, tupleize_cols=False),
    "fractions": pd.Index([np.nan, *(0.5 * k for k in range(N - 1))]),
    "nullable": pd.Index([None, *range(N - 1)], dtype="Int64"),
    "days": pd.date_range("2020-01-01", periods=N),
    "hours": pd.date_range("2020-01-01", periods=N, freq="h", tz="Europe/Berlin"),
    "months": pd.period_range("1990-01", periods=N, freq="M"),
    "categories": pd.CategoricalIndex([f"id {k}" for k in range(N)]),
    "intervals": pd.interval_range(0, N),
    "levels": pd.MultiIndex.from_arrays([TOWN, [None, *range(N - 1)]], names=["town", None]),
}


def estimate(z=Z):
    return SCHEME.estimate(z)


def grouped(found):
    return [found.estimate.tolist(), found.standard_error.tolist()]


def single(found):
    return [found.estimate, found.standard_error]


# the argument, its values, and a call with them beside z, the masked column, or the original, x or
# data
CALLS = {
    "correlation": ("other", AGE, lambda z, other: estimate(z).correlation(other)),
    "covariance": ("other", AGE, lambda z, other: estimate(z).covariance(other)),
    "interval": ("other", AGE, lambda z, other: single(estimate(z).correlation_interval(other))),
    "covariance interval": (
        "other",
        AGE,
        lambda z, other: single(estimate(z).covariance_interval(other)),
    ),
    "slope": ("W", AGE, lambda z, W: grouped(estimate(z).regress(W))),
    "slopes": ("W", AGE, lambda z, W: grouped(estimate(z).regress({"age": W}))),
    "groups": ("labels", TOWN, lambda z, labels: grouped(estimate(z).group_means(labels))),
    "crossed": (
        "labels",
        TOWN,
        lambda z, labels: grouped(estimate(z).group_means({"town": labels})),
    ),
    "weights": ("weights", WEIGHT, lambda z, weights: single(estimate(z).weighted_mean(weights))),
    "weights of groups": (
        "weights",
        WEIGHT,
        lambda z, weights: grouped(estimate(z).group_means(TOWN, weights=weights)),
    ),
    "clusters": (
        "clusters",
        TOWN,
        lambda z, clusters: single(estimate(z).weighted_mean(WEIGHT, clusters=clusters)),
    ),
    "total": ("weights", WEIGHT, lambda z, weights: single(estimate(z).total(weights))),
    "clusters of a total": (
        "clusters",
        TOWN,
        lambda z, clusters: single(estimate(z).total(clusters=clusters)),
    ),
    "clusters of slopes": (
        "clusters",
        TOWN,
        lambda z, clusters: grouped(estimate(z).regress(AGE, clusters=clusters)),
    ),
    "strata": (
        "strata",
        TOWN,
        lambda z, strata: WITHIN.estimate(z, strata=strata).correlation(AGE),
    ),
    "patterns": (
        "patterns",
        np.where(TOWN == "east", np.nan, AGE),
        lambda z, patterns: SCHEME.estimate(z, patterns={"age": patterns}).correlation(AGE),
    ),
    "rows": (
        "rows",
        TOWN == "west",
        lambda z, rows: WITHIN.estimate(z, strata=TOWN).part(rows).mean(),
    ),
    "mask": (
        "strata",
        TOWN,
        lambda x, strata: WITHIN.mask(x, strata=strata, rng=2, accept="all").tolist(),
    ),
    "shuffling": (
        "given",
        AGE,
        lambda x, given: cm.DataShuffling().mask(x, given=given, rng=2).tolist(),
    ),
    "risk": (
        "strata",
        TOWN,
        lambda data, strata: cm.risk(data, WITHIN, strata=strata, d=5.0).to_dict(),
    ),
    "risk of a release": (
        "released",
        Z,
        lambda data, released: (
            cm.risk(data, SCHEME, released=released, d=5.0).records(5.0).guess.tolist()
        ),
    ),
    "audit": (
        "strata",
        TOWN,
        lambda data, strata: cm.audit(data, WITHIN, strata=strata).to_dict(),
    ),
    "population": ("other", AGE, lambda x, other: cm.Resampled(x, other).columns[1].tolist()),
}


def beside(name):
    """The argument, its values, the call, and the name and the values of the column beside
    them."""
    argument, values, call = CALLS[name]
    column = call.__code__.co_varnames[0]
    return argument, values, call, column, Z if column == "z" else INCOME


def ways(error):
    """What a message says to pass instead: in the order of labels, and by position."""
    by_label, by_position = re.search(
        r"pass (.*), or (.*) if rows are meant by position", str(error)
    ).groups()
    return by_label, by_position


@pytest.mark.parametrize("name", CALLS)
def test_another_order_is_refused_and_each_remedy_does_what_it_says(name):
    argument, values, call, column, x = beside(name)
    index = INDEXES["texts"]
    own = pd.Series(x, index=index)
    in_order = pd.Series(values, index=index)
    moved = in_order.iloc[ORDER]
    expected = call(own, values)

    np.testing.assert_equal(call(own, in_order), expected)
    with pytest.raises(ValueError, match=REFUSED) as refusal:
        call(own, moved)

    known = {column: own, argument: moved}
    expression = str(refusal.value).partition(":")[0]  # patterns['age'], or the argument
    by_label, by_position = (way.replace(expression, argument) for way in ways(refusal.value))
    np.testing.assert_equal(call(own, eval(by_label, known)), expected)
    if name != "rows":  # a part of other rows is no whole stratum
        taken = call(own, eval(by_position, known))
        np.testing.assert_equal(taken, call(own, values[ORDER]))


@pytest.mark.parametrize("kind", INDEXES)
def test_labels_of_every_kind_are_compared(kind):
    index = INDEXES[kind]
    z = pd.Series(Z, index=index)
    other = pd.Series(AGE, index=index)
    expected = estimate().correlation(AGE)

    assert estimate(z).correlation(other) == expected
    assert estimate(z).correlation(other.set_axis(index.copy(deep=True))) == expected
    with pytest.raises(ValueError, match=REFUSED) as refusal:
        estimate(z).correlation(other.iloc[ORDER])
    with pytest.raises(ValueError, match=REFUSED):
        estimate(z.iloc[ORDER]).correlation(other)

    by_label, _ = ways(refusal.value)
    assert (
        estimate(z).correlation(eval(by_label, {"z": z, "other": other.iloc[ORDER]})) == expected
    )
    both = estimate(z.iloc[ORDER]).correlation(other.iloc[ORDER])
    assert both == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pd.RangeIndex(N), pd.Index(np.arange(N), dtype=float)),
        (pd.RangeIndex(N), pd.Index(np.arange(N), dtype="Int64")),
        (pd.RangeIndex(N), pd.Index(np.arange(N), dtype=object)),
        (pd.Index(np.arange(N) - 100, dtype="int16"), pd.Index(np.arange(N) - 100)),
        (INDEXES["texts"], INDEXES["categories"]),
        (INDEXES["texts"], INDEXES["texts"].astype(object)),
        (INDEXES["texts"], INDEXES["texts"].astype("string")),
        (INDEXES["days"], INDEXES["days"].as_unit("s")),
    ],
)
def test_the_type_of_labels_makes_no_difference(one, two):
    z = pd.Series(Z, index=one)
    other = pd.Series(AGE, index=two)

    assert estimate(z).correlation(other) == estimate().correlation(AGE)
    with pytest.raises(ValueError, match=REFUSED):
        estimate(z).correlation(other.iloc[ORDER])


def test_indexes_with_other_labels_and_arrays_are_taken_by_position():
    z = pd.Series(Z, index=INDEXES["texts"])
    moved = AGE[ORDER]
    expected = estimate().correlation(moved)

    others = [
        moved,
        moved.tolist(),
        pl.Series(moved),
        pd.Series(moved),
        pd.Series(moved, index=[f"person {k}" for k in ORDER]),
        pd.Series(moved, index=INDEXES["days"][ORDER]),
        pd.Series(moved, index=np.append(INDEXES["texts"][ORDER][:-1], "another")),
        pd.Series(moved, index=np.append(INDEXES["texts"][ORDER][1:], INDEXES["texts"][ORDER][1])),
    ]
    assert [estimate(z).correlation(other) for other in others] == [expected] * len(others)
    # the sums of labels are equal, the labels are not
    numbers = pd.Series(Z, index=[0, 3] * (N // 2))
    assert estimate(numbers).correlation(pd.Series(moved, index=[1, 2] * (N // 2))) == expected


@pytest.mark.parametrize(
    "z", [Z, Z.tolist(), pl.Series(Z), pd.Series(Z, index=INDEXES["texts"]).to_numpy()]
)
def test_rows_without_labels_count_as_numbered_from_0_on(z):
    other = pd.Series(AGE)

    assert estimate(z).correlation(other) == estimate().correlation(AGE)
    with pytest.raises(ValueError, match=REFUSED) as refusal:
        estimate(z).correlation(other.iloc[ORDER])

    by_label, by_position = ways(refusal.value)
    assert by_label == "other.sort_index()"
    assert estimate(z).correlation(other.iloc[ORDER].sort_index()) == estimate().correlation(AGE)
    assert by_position == "other.to_numpy()"
    from_one = other.set_axis(other.index + 1).iloc[ORDER]
    assert estimate(z).correlation(from_one) == estimate().correlation(AGE[ORDER])


def test_a_file_has_rows_numbered_from_0_on(tmp_path):
    frame = pd.DataFrame({"income": INCOME, "town": TOWN}, index=INDEXES["texts"])
    cm.mask_table(frame.reset_index(drop=True), {"income": SCHEME}, rng=1).write(
        tmp_path / "a.parquet"
    )
    found = cm.read_release(tmp_path / "a.parquet", "income")
    weights = pd.Series(WEIGHT)

    expected = found.group_means("town", weights=WEIGHT).estimate.tolist()
    assert found.group_means("town", weights=weights).estimate.tolist() == expected
    with pytest.raises(ValueError, match=REFUSED):
        found.group_means("town", weights=weights.iloc[ORDER])
    with pytest.raises(
        ValueError, match=r"original: its index .* original\.reset_index\(drop=True\) if rows"
    ):
        cm.plot_release(
            pd.DataFrame({"income": INCOME}).iloc[ORDER], cm.read_release(tmp_path / "a.parquet")
        )


@pytest.mark.parametrize("kind", ["numbers", "texts", "hours", "levels", "nullable"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_notes_an_index_of_pandas_has_its_labels(tmp_path, kind, suffix):
    frame = pd.DataFrame({"income": INCOME, "age": AGE}, index=INDEXES[kind]).iloc[ORDER]
    path = tmp_path / f"released.{suffix}"
    cm.mask_table(frame, {"income": SCHEME}, rng=1).write(path)
    found = cm.read_release(path, "income")
    expected = found.correlation("age")

    masked = pd.read_parquet(path) if suffix == "parquet" else pd.read_feather(path)
    assert found.correlation(masked["age"]) == expected
    assert found.correlation(frame["age"]) == expected
    in_order = frame["age"].loc[INDEXES[kind]]
    for one in (found, pickle.loads(pickle.dumps(found))):
        with pytest.raises(ValueError, match=REFUSED) as refusal:
            one.correlation(in_order)
        by_label, _ = ways(refusal.value)
        assert one.correlation(eval(by_label, {"pd": pd, "other": in_order})) == expected


def test_arguments_are_compared_with_one_another():
    weights = pd.Series(WEIGHT, index=INDEXES["texts"])
    labels = pd.Series(TOWN, index=INDEXES["texts"])

    with pytest.raises(
        ValueError, match=r"^weights: .* of labels in another .* weights\.loc\[labels\.index\]"
    ) as _:
        estimate().group_means(labels, weights=weights.iloc[ORDER])
    with pytest.raises(ValueError, match=r"^W\['b'\]: .* of W\['a'\] in another order"):
        estimate().regress({"a": weights, "b": weights.iloc[ORDER]})
    found = WITHIN.estimate(Z, strata=labels)
    with pytest.raises(ValueError, match=r"^other: .* of strata in another order"):
        found.correlation(weights.iloc[ORDER])
    two = cm.ConditionalMasking(0.3, 10.0, step=0, strata=("town", "age"))
    with pytest.raises(ValueError, match=r"^strata\[1\]: .* of strata\[0\] in another order"):
        two.mask(INCOME, strata=[labels, labels.iloc[ORDER]])


def test_columns_of_a_dict_that_is_masked_have_one_order():
    income = pd.Series(INCOME, INDEXES["texts"])
    town = pd.Series(TOWN, INDEXES["texts"])
    frame = {"income": income, "town": town.iloc[ORDER]}

    for call in (
        lambda: cm.mask_table(frame, {"income": SCHEME}),
        lambda: cm.mask_table(frame, ["income"], strata="town"),
        lambda: cm.audit(frame, {"income": SCHEME}),
        lambda: cm.risk(frame, {"income": SCHEME}, d=5.0),
    ):
        with pytest.raises(
            ValueError, match=r"^(frame|data)\['town'\]: .* of \1\['income'\] in another"
        ) as _:
            call()
    frame["town"] = frame["town"].loc[frame["income"].index]
    release = cm.mask_table(frame, {"income": SCHEME}, rng=1)
    assert release["income"].group_means("town").records.tolist() == [N // 3] * 3
    with pytest.raises(ValueError, match=r"other\.loc\[release\.data\['income'\]\.index\]"):
        release["income"].correlation(pd.Series(AGE, INDEXES["texts"]).iloc[ORDER])


def test_a_release_remembers_the_labels_of_its_rows():
    frame = pd.DataFrame({"income": INCOME, "town": TOWN}, index=INDEXES["texts"]).iloc[ORDER]
    release = cm.mask_table(frame, {"income": SCHEME}, rng=1)
    age = pd.Series(AGE, INDEXES["texts"])
    expected = release["income"].correlation(AGE[ORDER])

    assert release["income"].correlation(age.iloc[ORDER]) == expected
    for found in (
        release["income"],
        pickle.loads(pickle.dumps(release["income"])),
        copy.deepcopy(release["income"]),
    ):
        with pytest.raises(ValueError, match=REFUSED) as refusal:
            found.correlation(age)
        assert (
            found.correlation(eval(ways(refusal.value)[0], {"release": release, "other": age}))
            == expected
        )


def test_the_original_of_a_release_has_its_rows_in_order(tmp_path):
    frame = pd.DataFrame({"income": INCOME}, index=INDEXES["texts"])
    release = cm.mask_table(frame, {"income": SCHEME}, rng=1)

    for original in (frame.iloc[ORDER], {"income": frame["income"].iloc[ORDER]}):
        for call in (
            lambda original=original: cm.plot_release(original, release, path=tmp_path / "a.png"),
            lambda original=original: cm.report(release, tmp_path / "a.html", original=original),
        ):
            with pytest.raises(
                ValueError, match=r"^original.*: its index has the labels of the release"
            ):
                call()
    with pytest.raises(ValueError, match=r"^original: .* original\.to_numpy\(\)"):
        cm.plot_release(frame["income"].iloc[ORDER], release)
    assert list(tmp_path.iterdir()) == []


def test_an_original_that_is_matched_by_a_column_may_have_any_order():
    frame = pd.DataFrame({"income": INCOME, "person": np.arange(N) + 100})
    release = cm.mask_table(frame, {"income": SCHEME}, rng=1)
    drawn = [
        cm.plot_release(original, release, **options)[0].get_lines()[1].get_xydata()
        for original, options in ((frame, {}), (frame.iloc[ORDER], {"match": "person"}))
    ]

    np.testing.assert_array_equal(*drawn)
    with pytest.raises(ValueError, match=REFUSED):
        cm.plot_release(frame.iloc[ORDER], release)


def test_plans_and_comparisons_take_columns_in_one_order():
    x = pd.Series(INCOME)
    other = pd.Series(AGE).iloc[ORDER]
    few = {"p": [0.3], "sigma": [20.0], "reverse_mapping": True, "d": 5.0}

    with pytest.raises(
        ValueError, match=r"^other: .* of x in another order; pass other\.loc\[x\.index\]"
    ):
        cm.plan(x, other=other, **few)
    with pytest.raises(ValueError, match=r"^strata\['town'\]: .* of x in another order"):
        cm.plan(x, strata={"town": pd.Series(TOWN).iloc[ORDER]}, **few)
    with pytest.raises(ValueError, match=r"^other: .* of x in another order"):
        cm.compare(x, SCHEME, other=other, d=5.0)
    planned = cm.plan(x, other=other.loc[x.index], **few)
    assert planned.rows() == cm.plan(INCOME, other=AGE, **few).rows()


def test_a_batch_compares_another_column_with_its_records():
    z = np.stack([Z, Z])
    other = pd.Series(AGE)

    assert estimate(z).correlation(other).tolist() == [estimate().correlation(AGE)] * 2
    with pytest.raises(ValueError, match=REFUSED):
        estimate(z).correlation(other.iloc[ORDER])
    with pytest.raises(ValueError, match=REFUSED):
        estimate(z).group_means(pd.Series(TOWN).iloc[ORDER])


@pytest.mark.parametrize("index", [None, INDEXES["texts"]])
def test_a_part_keeps_the_labels_of_its_rows(index):
    index = pd.RangeIndex(N) if index is None else index
    z = Z if isinstance(index, pd.RangeIndex) else pd.Series(Z, index)
    part = WITHIN.estimate(z, strata=TOWN).part(TOWN == "west")
    other = pd.Series(AGE, index)[TOWN == "west"]

    assert part.correlation(other) == part.correlation(AGE[TOWN == "west"])
    with pytest.raises(ValueError, match=REFUSED):
        part.correlation(other.iloc[::-1])


def test_levels_are_compared_by_their_names_and_tuples_with_levels():
    index = pd.MultiIndex.from_product([range(N // 3), list("abc")], names=["household", "person"])
    own, age = pd.Series(Z, index=index), pd.Series(AGE, index=index)
    expected = estimate().correlation(AGE)
    exchanged, flat = age.swaplevel(), age.set_axis(index.to_flat_index())

    assert estimate(own).correlation(exchanged) == expected
    assert estimate(own).correlation(flat) == expected
    for other in (exchanged.sort_index(), flat.iloc[ORDER]):
        with pytest.raises(ValueError, match=REFUSED) as refusal:
            estimate(own).correlation(other)
        by_label = ways(refusal.value)[0].replace("z.index", "index")
        assert (
            estimate(own).correlation(eval(by_label, {"other": other, "index": index})) == expected
        )


def test_what_narwhals_wraps_has_its_labels():
    index = INDEXES["texts"]
    own, age = pd.Series(Z, index=index), pd.Series(AGE, index=index)

    assert estimate(own).correlation(
        nw.from_native(age, series_only=True)
    ) == estimate().correlation(AGE)
    other = nw.from_native(age.iloc[ORDER], series_only=True)
    with pytest.raises(ValueError, match=REFUSED) as refusal:
        estimate(own).correlation(other)
    by_label = eval(ways(refusal.value)[0], {"other": other, "z": own})
    assert estimate(own).correlation(by_label) == estimate().correlation(AGE)


def test_labels_that_stand_several_times_have_no_remedy_by_label():
    household = np.sort(RNG.integers(0, 80, N))
    z = pd.Series(Z, household)
    other = pd.Series(AGE, household)

    assert estimate(z).correlation(other) == estimate().correlation(AGE)
    with pytest.raises(
        ValueError, match=r"some labels stand several times; pass other\.to_numpy\(\) if"
    ):
        estimate(z).correlation(other.iloc[ORDER])


def test_a_remedy_by_position_keeps_names_and_gaps():
    W = pd.DataFrame({"age": AGE, "weight": WEIGHT})
    weights = pd.Series(np.where(AGE > 60.0, None, 1), dtype="Int64")
    z = pd.Series(Z)

    with pytest.raises(ValueError, match=REFUSED) as refusal:
        estimate(z).regress(W.iloc[ORDER])
    _, by_position = ways(refusal.value)
    found = estimate(z).regress(eval(by_position, {"z": z, "W": W.iloc[ORDER]}))
    assert found.names == ["intercept", "age", "weight"]
    np.testing.assert_equal(found.estimate, estimate().regress(W.to_numpy()[ORDER]).estimate)

    with pytest.raises(ValueError, match=REFUSED) as refusal:
        estimate(z).weighted_mean(weights.iloc[ORDER])
    _, by_position = ways(refusal.value)
    found = estimate(z).weighted_mean(eval(by_position, {"z": z, "weights": weights.iloc[ORDER]}))
    kept = np.where(AGE > 60.0, np.nan, 1.0)[ORDER]
    assert found.estimate == estimate().weighted_mean(kept).estimate


def test_levels_of_an_index_have_the_names_that_they_have_in_files(tmp_path):
    frame = pd.DataFrame({"income": INCOME, "age": AGE}, index=INDEXES["levels"])
    town = "town"
    number = "__index_level_1__"
    release = cm.mask_table(frame, {"income": SCHEME}, strata=town, rng=1)
    release.write(tmp_path / "a.parquet")
    read = cm.read_release(tmp_path / "a.parquet")

    for found in (release["income"], read["income"]):
        means = found.group_means(town)
        true = [INCOME[one == TOWN].mean() for one in ("east", "north", "west")]
        np.testing.assert_allclose(means.estimate, true, rtol=0.05)
        assert grouped(means) == grouped(release["income"].group_means(TOWN))
        numbers = np.append(np.nan, np.arange(N - 1.0))
        assert found.correlation(number) == pytest.approx(
            release["income"].correlation(numbers), rel=1e-12
        )
        assert grouped(found.regress(["age", town])) == grouped(
            read["income"].regress(["age", town])
        )
        assert found.part({town: "west"}).n == N // 3
    masked = release.data["income"].to_numpy()
    assert {*masked[TOWN == "west"]} & {*INCOME} <= {*INCOME[TOWN == "west"]}
    with pytest.raises(
        ValueError, match=r"must have the column 'county', it has 'income', 'age', 'town', '__ind"
    ):
        release["income"].group_means("county")
    with pytest.raises(ValueError, match=r"must have the column 'town', it has 'income', 'age'$"):
        cm.mask_table(frame, {town: SCHEME})


def test_a_hostile_index_is_none():
    class Hostile:
        @property
        def index(self):
            raise RuntimeError

    with pytest.raises(TypeError, match=r"^other must be"):
        estimate().correlation(Hostile())
