"""A release has a mark, in memory and in its file: it is not masked again, and no part of it
passes for it.

Oracle: how the tables were made.
"""

import copy
import json
import pickle
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask.cli import main

N = 400
RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "income": RNG.lognormal(7.0, 0.5, N),
        "age": RNG.uniform(18.0, 66.0, N),
        "sex": RNG.choice(["f", "m"], N),
        "id": np.arange(N),
    }
)
SCHEME = cm.ConditionalMasking(0.6, 300.0)
MARK = {"condmask": {"version": 1, "columns": ["income"], "records": N}}
OPEN = {"accept": "all"}
REFUSED = r"^(income|x) is masked already in .*: mask all columns in one call, from the original"
CARRIED = pytest.mark.skipif(
    int(pa.__version__.split(".")[0]) < 22, reason="Arrow 22 carries attrs over"
)
A_PART = rf"^z has \d+ records, and the release {N}: .* so estimates from a part of it are wrong"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The release of a frame, in files of several formats."""
    place = tmp_path_factory.mktemp("marks")
    release = cm.mask_table(FRAME, {"income": SCHEME}, **OPEN)
    for name in ("masked.parquet", "masked.feather"):
        release._source.audited = False
        release.write(place / name, log=False)
    return place


@pytest.fixture
def frame(folder):
    return pd.read_parquet(folder / "masked.parquet")


def assert_not_masked_again(table, column="income"):
    with pytest.raises(ValueError, match=REFUSED):
        cm.mask_table(table, {column: SCHEME}, **OPEN)


# --- where the mark is ---


@pytest.mark.parametrize("engine", ["pyarrow", "fastparquet"])
@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine")
def test_pandas_reads_the_mark_from_a_parquet_file(folder, engine):
    assert pd.read_parquet(folder / "masked.parquet", engine=engine).attrs == MARK
    assert (
        pd.read_parquet(folder / "masked.parquet", engine=engine, columns=["income"]).attrs == MARK
    )


@CARRIED
def test_pandas_reads_the_mark_from_arrow_files_and_tables(folder):
    assert pd.read_feather(folder / "masked.feather").attrs == MARK
    assert pq.read_table(folder / "masked.parquet").to_pandas().attrs == MARK


def attributes(table):
    """The attrs of pandas, and those that pandas would read from a table of Arrow in a file."""
    if isinstance(table, pd.DataFrame):
        return table.attrs
    return json.loads((table.schema.metadata or {}).get(b"PANDAS_ATTRS", b"{}"))


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_the_data_of_a_release_have_the_mark_and_the_original_has_not(make):
    table = make(FRAME)
    data = cm.mask_table(table, {"income": SCHEME}, **OPEN).data

    assert attributes(data) == MARK
    assert attributes(table) == {}
    assert_not_masked_again(data)


def test_a_file_without_a_note_of_pandas_gets_the_mark_and_reads_as_it_did(tmp_path):
    pl.from_pandas(FRAME).write_parquet(tmp_path / "a.parquet")
    cm.mask_file(
        tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": SCHEME}, log=False, **OPEN
    )

    found = pd.read_parquet(tmp_path / "b.parquet")
    assert found.attrs == MARK
    pd.testing.assert_frame_equal(found.drop(columns="income"), FRAME.drop(columns="income"))
    assert pl.read_parquet(tmp_path / "b.parquet").columns == [*FRAME]
    assert duckdb.sql(f"from '{tmp_path / 'b.parquet'}'").columns == [*FRAME]


def test_attributes_that_are_kept_by_name_stand_beside_the_mark(tmp_path):
    frame = FRAME.copy()
    frame.attrs = {"source": "survey"}
    frame.to_parquet(tmp_path / "a.parquet")
    kept = {"keep_metadata": ["PANDAS_ATTRS"], "log": False, **OPEN}
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": SCHEME}, **kept)

    assert pd.read_parquet(tmp_path / "b.parquet").attrs == {"source": "survey", **MARK}
    assert (
        cm.mask_table(frame, {"income": SCHEME}, **OPEN).data.attrs["condmask"] == MARK["condmask"]
    )
    assert frame.attrs == {"source": "survey"}


def test_the_mark_is_written_as_json_and_compared_by_pandas(frame):
    assert json.loads(json.dumps(frame.attrs)) == frame.attrs
    assert pd.concat([frame.iloc[:9], frame.iloc[9:]]).attrs == MARK


# --- masking again ---

SAME = {
    "as read": lambda frame: frame,
    "rows": lambda frame: frame[frame["sex"] == "f"],
    "query": lambda frame: frame.query("age > 30"),
    "columns": lambda frame: frame[["income", "sex"]],
    "copy": lambda frame: pickle.loads(pickle.dumps(copy.deepcopy(frame))),
    "another column renamed": lambda frame: frame.rename(columns={"age": "years"}),
    "sorted": lambda frame: frame.sort_values("age").reset_index(drop=True),
    "a new column": lambda frame: frame.assign(log=np.log(frame["age"])),
    "a group": lambda frame: frame.groupby("sex").get_group("f"),
    "joined to itself": lambda frame: pd.concat([frame, frame]),
    "other types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "series": lambda frame: {"income": frame["income"], "age": frame["age"]},
}
OF_ARROW = {
    "as read": lambda table: table,
    "rows": lambda table: table.filter(pc.field("age") > 30.0),
    "columns": lambda table: table.select(["income", "sex"]),
    "sorted": lambda table: table.sort_by("age").combine_chunks(),
    "a new column": lambda table: table.append_column("years", table["age"]),
    "joined to itself": lambda table: pa.concat_tables([table, table]),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_a_masked_column_is_not_masked_again(frame, change):
    assert_not_masked_again(change(frame))


@pytest.mark.parametrize("change", OF_ARROW.values(), ids=OF_ARROW)
def test_a_masked_column_of_arrow_is_not_masked_again(folder, change):
    assert_not_masked_again(change(pq.read_table(folder / "masked.parquet")))


@CARRIED
def test_the_mark_goes_from_pandas_to_arrow_and_back(frame):
    assert_not_masked_again(pa.Table.from_pandas(frame))
    assert_not_masked_again(pa.Table.from_pandas(frame).to_pandas())


@pytest.mark.parametrize("name", ["age", "income"])
@pytest.mark.parametrize("schemes", [lambda name: [name], lambda name: {name: SCHEME}])
def test_no_column_of_a_release_is_masked_later(frame, name, schemes):
    with pytest.raises(ValueError, match=REFUSED):
        cm.mask_table(frame, schemes(name), **OPEN)


def test_a_masked_column_under_another_name_is_not_masked_again(frame, folder):
    assert_not_masked_again(frame.rename(columns={"income": "wage"}), "wage")
    assert_not_masked_again(frame.rename(columns=str.upper), "INCOME")
    assert_not_masked_again(ds.dataset(folder / "masked.parquet").to_table())


@pytest.mark.parametrize(
    "scheme", [SCHEME, cm.AdditiveNoise(1.0), cm.RankSwapping(5.0), cm.DataShuffling()], ids=str
)
def test_a_masked_series_is_not_masked_again(frame, scheme):
    given = {"given": FRAME["age"]} if isinstance(scheme, cm.DataShuffling) else {}
    for series in (frame["income"], SCHEME.mask(FRAME["income"], **OPEN)):
        with pytest.raises(ValueError, match=REFUSED):
            scheme.mask(series, **given)


def test_neither_audits_nor_plans_take_masked_values_for_the_original(frame):
    for call in (
        lambda: cm.audit(frame, {"income": SCHEME}),
        lambda: cm.plan(frame["income"]),
    ):
        with pytest.raises(ValueError, match=REFUSED):
            call()


def test_no_picture_report_or_comparison_takes_masked_values_for_the_original(
    tmp_path, frame, folder
):
    release = cm.read_release(folder / "masked.parquet")

    with pytest.raises(ValueError, match=r"^income is masked already in original"):
        cm.plot_release(frame, release)
    for original in (frame, folder / "masked.parquet"):
        with pytest.raises(ValueError, match=r"^income is masked already in "):
            cm.report(release, tmp_path / "internal.html", original=original)
    with pytest.raises(ValueError, match=REFUSED):
        cm.compare(frame["income"], SCHEME, d=100.0, replications=10)
    assert not (tmp_path / "internal.html").exists()


def test_the_data_of_a_release_tell_nothing_that_was_noted_on_the_original():
    noted = FRAME.set_index("id")
    noted.attrs["mean of income"] = "secret"
    schema = pa.Table.from_pandas(noted).schema
    table = pa.Table.from_pandas(noted).replace_schema_metadata(
        {**schema.metadata, b"note": b"secret"}
    )

    data = cm.mask_table(table, {"income": SCHEME}, **OPEN).data

    assert not any(b"secret" in note for note in data.schema.metadata.values())
    assert data.to_pandas().index.name == "id"
    assert data.to_pandas().attrs == MARK


def test_the_remedy_of_the_message_removes_the_mark(frame, folder):
    with pytest.raises(ValueError, match=r"remove the mark: frame\.attrs\.pop\('condmask'\)$"):
        cm.mask_table(frame, {"age": SCHEME}, **OPEN)
    frame.attrs.pop("condmask")
    assert cm.mask_table(frame, {"age": SCHEME}, **OPEN).records == N
    frame = pq.read_table(folder / "masked.parquet")
    with pytest.raises(
        ValueError, match=r"remove the mark: frame = frame\.replace_schema_metadata\(\)$"
    ):
        cm.mask_table(frame, {"age": SCHEME}, **OPEN)
    frame = frame.replace_schema_metadata()
    assert cm.mask_table(frame, {"age": SCHEME}, **OPEN).records == N


def test_marks_of_the_version_before_are_known():
    frame = FRAME.copy()
    frame.attrs = {"condmask_masked": ["income"]}
    assert_not_masked_again(frame)
    with pytest.raises(ValueError, match=r"frame\.attrs\.pop\('condmask_masked'\)$"):
        cm.mask_table(frame, {"age": SCHEME}, **OPEN)
    assert_not_masked_again(
        pa.table(FRAME).replace_schema_metadata({"condmask_masked": '["income"]'})
    )


@pytest.mark.parametrize("entry", ["income", 3, {}, {"columns": "income"}, {"columns": []}, None])
def test_attributes_of_that_name_that_are_no_mark_are_none(entry):
    frame = FRAME.copy()
    frame.attrs = {"condmask": entry}
    assert cm.mask_table(frame, {"income": SCHEME}, **OPEN).data.attrs == MARK


def arrow_of(frame):
    """A table of Arrow as it is read from a release."""
    return pa.Table.from_pandas(frame).replace_schema_metadata(
        {"PANDAS_ATTRS": json.dumps(frame.attrs)}
    )


WRITERS = {
    "pandas": lambda frame, folder: frame.to_parquet(folder / "again.parquet"),
    "renamed": lambda frame, folder: frame.rename(columns={"income": "wage"}).to_parquet(
        folder / "again.parquet"
    ),
    "without it": lambda frame, folder: frame.drop(columns="income").to_parquet(
        folder / "again.parquet"
    ),
    "pyarrow": lambda frame, folder: pq.write_table(
        arrow_of(frame).select(["income", "age"]), folder / "again.parquet"
    ),
    "an arrow file": lambda frame, folder: feather.write_feather(
        arrow_of(frame), folder / "again.feather"
    ),
    "the second of two files": lambda frame, folder: (
        FRAME.to_parquet(folder / "again/a.parquet"),
        frame.to_parquet(folder / "again/b.parquet"),
    ),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_file_that_was_written_from_a_release_is_not_masked(tmp_path, frame, write):
    (tmp_path / "again").mkdir()
    write(frame, tmp_path)
    [source] = [path for path in tmp_path.glob("again*") if path.is_file()] or [tmp_path / "again"]
    target = tmp_path / f"out{source.suffix}"

    for name in ("age", "income"):
        with pytest.raises(ValueError, match=REFUSED):
            cm.mask_file(source, target, {name: SCHEME}, log=False, **OPEN)
    assert not target.exists()


def test_a_folder_with_a_masked_text_file_is_not_masked(tmp_path):
    (tmp_path / "in").mkdir()
    FRAME.to_csv(tmp_path / "in/a.csv", index=False)
    FRAME.to_csv(tmp_path / "b.csv", index=False)
    cm.mask_file(tmp_path / "b.csv", tmp_path / "in/b.csv", {"income": SCHEME}, log=False, **OPEN)

    with pytest.raises(ValueError, match=REFUSED):
        cm.mask_file(tmp_path / "in", tmp_path / "out", {"income": SCHEME}, log=False, **OPEN)


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "-c", "income", "--p", "0.6", "--sigma", "300"],
        ["audit", "-c", "age", "--p", "0.6", "--sigma", "5"],
        ["risk", "-c", "income", "--p", "0.6", "--sigma", "300"],
        ["plan", "-c", "income"],
        ["mask", "not_written.parquet", "-c", "age", "--no-log"],
    ],
    ids=" ".join,
)
def test_no_command_takes_a_release_for_original_data(folder, command, capsys):
    name, *options = command
    assert main([name, str(folder / "masked.parquet"), *options]) == 1
    assert "income is masked already in " in capsys.readouterr().err


@pytest.mark.parametrize("scheme", [SCHEME, {"income": SCHEME}])
def test_risks_are_those_of_originals(frame, scheme):
    with pytest.raises(ValueError, match=REFUSED):
        cm.risk(frame if isinstance(scheme, dict) else frame["income"], scheme)


# --- parts of a release ---

PARTS = {
    "rows": lambda frame: frame.loc[frame["sex"] == "f", "income"],
    "first": lambda frame: frame["income"].head(100),
    "twice": lambda frame: pd.concat([frame, frame])["income"],
    "renamed": lambda frame: frame.rename(columns={"income": "wage"})["wage"][10:],
}


@pytest.mark.parametrize("change", PARTS.values(), ids=PARTS)
def test_an_estimate_from_other_records_than_the_release_warns(frame, change):
    with pytest.warns(cm.EstimateWarning, match=A_PART):
        SCHEME.estimate(change(frame))


def test_an_estimate_from_all_records_does_not_warn(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SCHEME.estimate(frame["income"])
        SCHEME.estimate(frame.sort_values("age")["income"])
        SCHEME.estimate(frame["income"].to_numpy()[:100])  # no mark, no word
        SCHEME.estimate(SCHEME.mask(FRAME["income"], **OPEN))


def test_a_part_of_what_mask_gives_warns_and_whole_strata_are_named():
    scheme = cm.ConditionalMasking(0.6, 300.0, strata="sex")
    z = scheme.mask(FRAME["income"], strata=FRAME["sex"], **OPEN)
    chosen = FRAME["sex"] == "f"
    with pytest.warns(cm.EstimateWarning, match=r"\(except whole strata of 'sex'\)"):
        scheme.estimate(z[chosen], strata=FRAME["sex"][chosen])


def counts_of(*columns):
    counts = cm.Counts(SCHEME)
    for column in columns:
        counts.update(column)
    return counts


def test_counts_of_a_part_of_a_release_warn(frame):
    z = frame["income"]
    with pytest.warns(cm.EstimateWarning, match=A_PART):
        SCHEME.estimate(counts_of(z[:100], z[200:]))
    with pytest.warns(cm.EstimateWarning, match=A_PART):
        SCHEME.estimate(pickle.loads(pickle.dumps(counts_of(z[:100]) + counts_of(z[200:]))))
    for counts in (
        counts_of(z),
        counts_of(z[:100], z[100:]),
        counts_of(z[:100]) + counts_of(z[100:]),
    ):
        assert SCHEME.estimate(counts).n == N


def test_counts_of_several_releases_do_not_warn():
    first = SCHEME.mask(FRAME["income"], **OPEN)
    same_size = SCHEME.mask(FRAME["income"], **OPEN)
    smaller = SCHEME.mask(FRAME["income"][:300], **OPEN)
    assert SCHEME.estimate(counts_of(first, same_size, smaller)).n == 2 * N + 300
    with pytest.warns(cm.EstimateWarning, match=r"^z has 500 records, and the release 700"):
        SCHEME.estimate(counts_of(first[:200], smaller))
