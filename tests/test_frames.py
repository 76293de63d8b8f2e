"""Containers: what comes back is of the kind that went in; notes of masked columns are known
again."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import GENERIC, WHOLE, ZOO, values_of

import condmask as cm
from condmask import frame_rows, frames

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize("name", ZOO)
def test_the_same_container_comes_back_with_the_same_numbers(name):
    x = ZOO[name].make()

    z = cm.ConditionalMasking(0.5, 1.0, step=0).mask(x, rng=1, nan_policy="omit")

    assert type(z) is (np.ndarray if isinstance(x, (list, tuple)) else type(x))
    assert len(z) == len(x)
    plain = cm.ConditionalMasking(0.5, 1.0, step=0).mask(
        pd.Series(ZOO[name].values, name=getattr(x, "name", None) or None),
        rng=1,
        nan_policy="omit",
    )
    plain = plain.astype(np.float32) if name == "float32" else plain
    assert np.array_equal(values_of(z), plain.to_numpy(dtype=float), equal_nan=True)


def test_a_pandas_series_keeps_its_index_and_name():
    x = ZOO["pandas"].make()

    z = cm.ConditionalMasking(0.5, 1.0).mask(x, rng=1)

    assert z.index.equals(x.index)
    assert z.name == "income"


def test_polars_and_pyarrow_keep_null_apart_from_nan():
    x = pl.Series("income", [1.5, None, float("nan"), 2.25, 0.125])
    scheme = cm.ConditionalMasking(0.5, 1.0, decimals=3)

    z = scheme.mask(x, rng=1, nan_policy="omit")
    arrow = scheme.mask(x.to_arrow(), rng=1, nan_policy="omit")

    assert z.name == "income"
    assert z.is_null().to_list() == [False, True, False, False, False]
    assert z.is_nan().to_list() == [False, None, True, False, False]
    assert arrow.is_null().to_pylist() == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("x", "grid", "dtype"),
    [
        (WHOLE.astype(np.int32), {"decimals": 0}, "int64"),
        (WHOLE * 100, {"decimals": -2}, "int64"),
        (WHOLE * 12, {"step": 12}, "int64"),
        (WHOLE, {"decimals": 1}, "float64"),
        (WHOLE, {"step": 0}, "float64"),
        (GENERIC.astype(np.float32), {}, "float32"),
        (GENERIC.astype(np.float32), {"step": 0}, "float32"),
        (GENERIC, {}, "float64"),
        (GENERIC.round(0), {"decimals": 0}, "float64"),
    ],
)
def test_the_dtype_follows_the_original_where_it_can(x, grid, dtype):
    assert cm.ConditionalMasking(0.5, 30.0, **grid).mask(x, rng=1).dtype == dtype


def test_integers_whose_noise_leaves_the_exact_integers_are_refused():
    x = np.arange(2**53 - 2**53 % 100 - 2_000, 2**53, 100)
    scheme = cm.ConditionalMasking(0.5, 1e6, decimals=-2)
    said = r" must stay below 2\^53 when it is masked: sigma is too large$"  # nor shows a value

    with pytest.raises(ValueError, match=f"^x{said}"):
        scheme.mask(x, rng=2)
    with pytest.raises(ValueError, match=f"^income{said}"):
        cm.mask_table({"income": x}, {"income": scheme}, rng=2)


def of_pandas(names):
    frame = pd.DataFrame(np.arange(400.0).reshape(-1, len(names)))
    return frame.set_axis(pd.Index(names, dtype=object, tupleize_cols=False), axis=1)


NAMELESS = {
    "pandas, a name twice": (of_pandas(["x", "a", "a", "b"]), "'a'"),
    "pandas, the masked one twice": (of_pandas(["x", "x"]), "'x'"),
    "pandas, numbers": (of_pandas(["x", 0, 1, 2.5]), "3 named by numbers"),
    "pandas, nothing": (of_pandas(["x", None]), "None"),
    "pandas, levels": (of_pandas([("x", "a"), ("x", "b")]), r"\('x', 'a'\), \('x', 'b'\)"),
    "pyarrow, a name twice": (pa.table([np.arange(200.0)] * 3, names=["x", "a", "a"]), "'a'"),
    "a dict, nothing": ({"x": np.arange(200.0), None: np.arange(200.0)}, "None"),
}
CALLS = {
    "mask_table": lambda frame, scheme: cm.mask_table(frame, {"x": scheme}),
    "audit": lambda frame, scheme: cm.audit(frame, {"x": scheme}),
    "strata": lambda frame, scheme: replace(scheme, strata="a").mask(
        np.arange(200.0), strata=frame
    ),
    "plan": lambda frame, scheme: cm.plan(np.arange(200.0), strata=frame),
}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        *((name, "mask_table") for name in NAMELESS),
        *(("pandas, a name twice", call) for call in CALLS),
    ],
)
def test_columns_without_a_name_of_their_own_are_refused(name, call):
    frame, wrong = NAMELESS[name]

    with pytest.raises(
        cm.CondmaskError,
        match=f"must have columns with different names that are text, got also {wrong}",
    ):
        CALLS[call](frame, cm.ConditionalMasking(0.5, 1.0, decimals=0))


def test_a_column_may_be_named_by_an_empty_text():
    x = np.random.default_rng(1).normal(size=200)
    for frame in (pd.DataFrame({"": x, "b": x[::-1]}), pa.table({"": x}), pl.DataFrame({"": x})):
        release = cm.mask_table(frame, {"": cm.ConditionalMasking(0.5, 1.0, step=0)}, rng=1)

        assert list(release.schemes) == [""]


def test_strata_of_several_dimensions_are_refused():
    x = np.random.default_rng(1).normal(size=200)
    scheme = cm.ConditionalMasking(0.5, 1.0, strata="s")
    for strata in (np.ones((200, 0)), np.ones((200, 2)), pd.DataFrame({"a": x})):
        with pytest.raises(ValueError, match=r"^s must be 1-D, got 2-D$"):
            cm.mask_table({"x": x, "s": strata}, {"x": scheme})


@pytest.mark.parametrize(
    "container",
    [
        lambda labels: pa.chunked_array([pa.array(labels).dictionary_encode()]),
        lambda labels: pa.array(labels).dictionary_encode(),
        lambda labels: pd.Series(labels, dtype="category"),
        lambda labels: pl.Series(labels, dtype=pl.Categorical),
        lambda labels: pd.Series(
            [np.nan if label is None else label for label in labels], dtype=object
        ),
    ],
    ids=["arrow chunks", "arrow", "pandas category", "polars categorical", "pandas objects"],
)
def test_a_missing_label_is_in_no_group_whatever_the_container(container):
    labels = ["a", None, "b", "b\xff"] * 40
    z = np.arange(160.0)

    found = cm.ConditionalMasking(0.6, 1.0, step=0).estimate(z).group_means(container(labels))

    assert found.records.tolist() == [40, 40, 40]
    assert list(found) == ["a", "b", "b\xff"]


ROWS = np.arange(200)
PLAIN = {"x": ROWS + 0.5, "row": ROWS, "text": [f"{row}" for row in ROWS]}
GRID = cm.ConditionalMasking(0.6, 5.0, decimals=1)
SERIES = {"x": pl.Series(ROWS + 0.5), "row": pa.array(ROWS), "text": pd.Series(PLAIN["text"])}
SHUFFLED = {
    "dict": PLAIN,
    "dict of series": SERIES,
    "pandas": pd.DataFrame(PLAIN),
    "pandas, some rows": pd.DataFrame(PLAIN, index=3 * ROWS),
    "pandas, rows in disorder": pd.DataFrame(PLAIN, index=ROWS[::-1]),
    "pandas, rows twice": pd.DataFrame(PLAIN, index=ROWS // 2),
    "polars": pl.DataFrame(PLAIN),
    "pyarrow": pa.table(PLAIN),
}


@pytest.mark.parametrize("name", SHUFFLED)
def test_rows_move_together_and_their_numbers_in_pandas_are_made_anew(name):
    frame = SHUFFLED[name]

    moved = cm.mask_table(frame, {"x": GRID}, rng=1, shuffle=True).data

    row = np.asarray(moved["row"])
    assert type(moved) is type(frame)
    assert np.array_equal(np.sort(row), ROWS)
    assert (row != ROWS).any()
    assert list(map(str, row)) == [str(text) for text in moved["text"]]
    if "pandas" in name:
        anew = name in ("pandas", "pandas, some rows")
        assert np.array_equal(moved.index, ROWS if anew else frame.index[row])


def test_data_in_a_dict_are_copied_where_they_can_be_changed():
    columns = {**PLAIN, "arrow": SERIES["row"]}
    release = cm.mask_table(columns, {"x": GRID}, rng=1)

    for name in ("x", "row"):
        release.data[name][:] = 0
        assert (release.data[name] != 0).sum() > 150
    release.data["text"].clear()
    assert release.data["text"] == PLAIN["text"]
    assert release.data["arrow"] is columns["arrow"]


def test_an_index_of_pandas_becomes_columns_unless_it_numbers_the_rows():
    frame = pd.DataFrame({"x": [1.0, 2.0], "index": [3, 4], "day": [5, 6]})
    levels = pd.MultiIndex.from_arrays([[1, 2], [3, 4], [5, 6]], names=["a", None, "a"])
    for index, added in (
        ([3, 7], []),
        ([7, 3], ["unnamed"]),
        ([3, 3], ["unnamed"]),
        (pd.Index([2, 1], name="day"), ["day"]),
        (levels, ["a", "unnamed", "a"]),
    ):
        names = [f"{name} (level {k} of the index)" for k, name in enumerate(added)]
        assert list(frame_rows.with_index(frame.set_axis(index)).columns) == [
            *names,
            *frame.columns,
        ]
    assert frame_rows.with_index(PLAIN) is PLAIN


@pytest.mark.parametrize("form", ["polars", "pyarrow", "pandas", "objects"])
def test_decimals_come_back_as_decimals_with_their_gaps(form):
    texts = [None if k % 9 == 0 else f"{k}.25" for k in range(1, 201)]
    exact = pa.array(texts).cast(pa.decimal128(12, 2))
    objects = pd.Series([None if text is None else Decimal(text) for text in texts], dtype=object)
    pandas = pd.Series(exact, dtype=pd.ArrowDtype(exact.type))
    x = {"polars": pl.Series(exact), "pyarrow": exact, "pandas": pandas, "objects": objects}[form]
    scheme = cm.ReverseMapping(0.6, 50.0)

    z = cm.mask_table({"x": x}, {"x": scheme}, rng=1, nan_policy="omit").data["x"]

    values = z.to_pylist() if form == "pyarrow" else z
    found = [None if frames.is_missing(value) else str(value) for value in values]
    assert all(isinstance(value, Decimal) or frames.is_missing(value) for value in values)
    assert [text is None for text in found] == [text is None for text in texts]
    assert sorted(filter(None, found)) == sorted(filter(None, texts))


def test_decimals_are_numbers_wherever_a_column_is_taken(tmp_path):
    x = np.random.default_rng(1).lognormal(7.0, 0.5, 500).round(2)
    table = pa.table(
        {"pay": pa.array([Decimal(f"{value:.2f}") for value in x], pa.decimal128(12, 2))}
    )
    scheme = cm.ConditionalMasking(0.6, 300.0, decimals=2)
    release = cm.mask_table(table, {"pay": scheme}, rng=1, accept="all")
    z = release.data["pay"]

    assert pa.types.is_decimal(z.type)
    pandas = pd.Series(table["pay"].to_pylist(), index=range(7, 507), name="pay")
    for series in (pl.Series("pay", table["pay"]), pandas):
        masked = scheme.mask(series, rng=1, accept="all")
        assert (masked.name, masked.to_list()) == ("pay", z.to_pylist())
    assert scheme.mask(pandas.rename(None), rng=1, accept="all").index.equals(pandas.index)
    found = cm.risk(table["pay"], scheme, d=50.0, released=z)
    assert (
        found.attackers == cm.risk(x, scheme, d=50.0, released=np.array(z, dtype=float)).attackers
    )
    cm.report(release, tmp_path / "internal.html", original=table)
    assert (tmp_path / "internal.html").exists()


def test_tables_are_those_of_arrow_or_it_is_said_which_columns_cannot_be():
    for frame in (PLAIN, pd.DataFrame(PLAIN), pl.DataFrame(PLAIN), pa.table(PLAIN)):
        assert frames.arrow_table(frame).to_pydict() == pa.table(PLAIN).to_pydict()
    hours = pa.array([0, None], pa.timestamp("us", "Europe/Berlin"))
    assert (
        frames.arrow_table({"hours": hours, "n": pl.Series([1, None])})["hours"].type == hours.type
    )
    mixed = {"x": [1.0, 2.0], "mixed": np.array([1, "a"], dtype=object), "far": [10**30, "b"]}
    said = r"^frame\['mixed'\] must be a column of one type that Arrow has, got 'others'$"
    for frame in (mixed, pd.DataFrame(mixed)):
        with pytest.raises(TypeError, match=said):
            frames.arrow_table(frame)


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, pa.array])
def test_as_many_values_as_asked_for_are_needed_all_finite(make):
    for take in (
        frames.column,
        lambda x, name, **options: frames.column_of({name: x}, name, **options),
    ):
        assert take(make([1.0, np.inf]), "x", finite=False).array.tolist() == [1.0, np.inf]
        assert take(make([2]), "x", least=1).array.tolist() == [2.0]
        for values in ([1.0, np.inf], [2]):
            with pytest.raises(ValueError, match=r"^x must "):
                take(make(values), "x")


def test_columns_that_are_not_there_or_too_short_are_named():
    with pytest.raises(
        ValueError, match=r"^frame must have the column 'y', it has 'x', 'row', 'text'$"
    ):
        cm.mask_table(PLAIN, {"y": GRID})
    with pytest.raises(
        ValueError, match=r"^frame must have columns of one length, got {'x': 200, 'y': 2}"
    ):
        cm.mask_table({**PLAIN, "y": [1, 2]}, {"x": GRID})
    with pytest.raises(
        TypeError, match=r"^x must be an array or a series of numbers, got DataFrame$"
    ):
        GRID.mask(pd.DataFrame(PLAIN))


X = np.random.default_rng(5).lognormal(8.0, 0.5, 50)
SCHEME = cm.ConditionalMasking(0.6, 300.0)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_masked_frame_is_not_masked_again(make):
    options = {"accept": "all"}
    once = cm.mask_table(make({"x": X, "y": X}), {"x": SCHEME}, **options).data

    for name in ("x", "y"):
        with pytest.raises(ValueError, match=r"^x is masked already in frame, as its mark says: "):
            cm.mask_table(once, {name: SCHEME}, **options)
