"""From a data frame, or a file of another format, to a release.

Oracles: the same column masked in memory, and what pandas, polars and pyarrow read.
"""

import csv
import gzip
import io
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import condmask as cm
from condmask.files import convert
from condmask.files.csv import CsvFile

pytestmark = pytest.mark.usefixtures("unaudited")

N = 3_000
RNG = np.random.default_rng(6)
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=2)
COLUMNS = {
    "id": np.arange(N),
    "pay": np.round(RNG.lognormal(7.0, 0.5, N), 2),
    "post": np.array([f"0{k % 97:04}" for k in range(N)]),
    "note": np.array(["plain", 'with, "quotes"', "two\nlines", ""])[RNG.integers(0, 4, N)],
    "ratio": RNG.normal(size=N),
}
SUFFIXES = ["parquet", "arrow", "csv", "tsv", "csv.gz"]


def masked(scheme=SCHEME, values=COLUMNS["pay"], **options):
    return scheme.mask(pd.Series(values, name="pay"), rng=3, **options).to_numpy()


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pandas()
    if path.suffix == ".arrow":
        return pa.ipc.open_file(path).read_all().to_pandas()
    frame = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",", dtype=str, keep_default_na=False)
    for name in {"id", "pay", "ratio"} & set(frame):  # Python's float rounds once, not every pandas does
        frame[name] = [float(text or "nan") for text in frame[name]]
    return frame


def check(path):
    found = read(path)
    assert list(found) == list(COLUMNS)
    assert np.array_equal(found["pay"], masked())
    for name in ("id", "post", "note", "ratio"):
        assert np.array_equal(found[name].to_numpy(), COLUMNS[name]), name
    assert cm.read_release(path, "pay").n == N


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_frame_becomes_a_release(tmp_path, make, suffix):
    target = tmp_path / f"a.{suffix}"
    frame = make(COLUMNS if make is not pa.table else {n: pa.array(v) for n, v in COLUMNS.items()})
    cm.mask_table(frame, {"pay": SCHEME}, rng=3).write(target)

    check(target)


@pytest.mark.parametrize("target", SUFFIXES)
@pytest.mark.parametrize("source", SUFFIXES)
def test_every_format_into_every_other(tmp_path, source, target):
    frame, path = pd.DataFrame(COLUMNS), tmp_path / f"in.{source}"
    if source == "parquet":
        frame.to_parquet(path)
    elif source == "arrow":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if source == "tsv" else ",")
    cm.mask_file(path, tmp_path / f"out.{target}", {"pay": SCHEME}, rng=3)

    check(tmp_path / f"out.{target}")


def test_columns_of_text_become_numbers_only_if_all_of_them_are(tmp_path):
    lines = ["pay;late;big;all;codes"]
    for k in range(100):
        late = "7x" if k == 90 else k
        lines.append(f"{k},5;{late};9007199254740993;{'NA' if k == 3 else -k};{k / 8:.3f}".replace(".", ","))
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    cm.mask_file(
        tmp_path / "a.csv", tmp_path / "b.parquet", {"pay": cm.ConditionalMasking(0.6, 9.0, decimals=1)}
    )
    found = pq.read_table(tmp_path / "b.parquet")

    assert [str(field.type) for field in found.schema] == ["double", "string", "int64", "int64", "double"]
    assert found["big"][5].as_py() == 9007199254740993
    assert found["all"].null_count == 1
    assert found["codes"].to_pylist() == [k / 8 for k in range(100)]


@pytest.mark.parametrize("released_as", ["code", "null"])
@pytest.mark.parametrize(("source", "target"), [("csv", "parquet"), ("parquet", "csv"), ("csv", "csv.gz")])
def test_missing_codes_survive(tmp_path, source, target, released_as):
    values = COLUMNS["pay"].copy()
    values[::7] = -8_000_000.0
    frame = pd.DataFrame({"pay": values, "id": range(N)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=[-8e6], missing_as=released_as)
    cm.mask_file(tmp_path / f"a.{source}", tmp_path / f"b.{target}", {"pay": scheme}, rng=3)
    found = read(tmp_path / f"b.{target}")["pay"].astype(str).replace("", "nan").astype(float)

    expected = np.where(np.arange(N) % 7 == 0, -8e6 if released_as == "code" else np.nan, found)
    assert np.array_equal(found, expected, equal_nan=True)
    assert cm.read_release(tmp_path / f"b.{target}", "pay").n == N - len(range(0, N, 7))


def test_gaps_types_and_strata_of_a_frame(tmp_path):
    pay = pa.array([None if k % 5 == 0 else k for k in range(200)], pa.int32())
    frame = pa.table({"pay": pay, "region": ["a", None] * 100, "when": pa.array(range(200), pa.date32())})
    scheme = cm.ConditionalMasking(0.6, 30.0, decimals=0)
    cm.mask_table(frame, {"pay": scheme}, strata="region", nan_policy="omit", rng=1, workers=2).write(
        tmp_path / "a.csv"
    )
    text = (tmp_path / "a.csv").read_text().splitlines()

    assert text[1].split(",")[0] == ""
    assert all(line.split(",")[0].lstrip("-").isdigit() for line in text[2:6])
    assert text[5].endswith(",1970-01-05")
    assert cm.read_release(tmp_path / "a.csv", "pay").n == 160


def test_what_is_refused_and_that_nothing_is_left(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    target = tmp_path / "a.parquet"
    with pytest.raises(ValueError, match="frame must have the column 'wage', it has 'id', 'pay', 'post'"):
        cm.mask_table(frame, {"wage": SCHEME}).write(target)
    with pytest.raises(TypeError, match="post must be numeric"):
        cm.mask_table(frame, {"post": SCHEME}).write(target)
    with pytest.raises(ValueError, match=r"must end in one of .parquet"):
        cm.mask_table(frame, {"pay": SCHEME}).write(tmp_path / "a.xlsx")
    with pytest.raises(TypeError, match="frame must be"):
        cm.mask_table([1, 2, 3], {"pay": SCHEME}).write(target)
    assert list(tmp_path.iterdir()) == []
    cm.mask_table(frame, {"pay": SCHEME}).write(target)
    with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
        cm.mask_table(frame, {"pay": SCHEME}).write(target)


def test_attributes_of_a_frame_stay_at_home(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    frame.attrs = {"mean of pay": 1234.5678}
    cm.mask_table(frame, {"pay": SCHEME}).write(tmp_path / "a.parquet")

    assert b"1234.5678" not in (tmp_path / "a.parquet").read_bytes()


def test_a_packed_file_is_text_inside(tmp_path):
    cm.mask_table(pd.DataFrame(COLUMNS), {"pay": SCHEME}, rng=3).write(tmp_path / "a.csv.gz")
    text = gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode()

    assert pd.read_csv(io.StringIO(text)).shape == (N, 5)


def test_a_null_alone_in_its_line_is_no_empty_line(tmp_path):
    values = np.where(np.arange(N) % 7 == 0, -8e6, COLUMNS["pay"])
    pd.DataFrame({"pay": values}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=[-8e6], missing_as="null")
    with pytest.raises(ValueError, match='missing_as must be "code" in a file'):
        cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"pay": scheme})
    cm.mask_table({"pay": values}, {"pay": scheme}).write(tmp_path / "c.csv")

    assert len(cm.read_column(tmp_path / "c.csv", "pay")) == N


@pytest.mark.parametrize(("a", "b"), [("csv", "tsv"), ("csv", "csv.gz")])
def test_text_becomes_other_text(tmp_path, a, b):
    texts = ["1.10", "001", "", "NA", "a, b", 'the "west"', "two\nlines", "é"]
    source, target = tmp_path / f"a.{a}", tmp_path / f"b.{b}"
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", "t"], *([f"{k}.25", texts[k % 8]] for k in range(400))])

    cm.mask_file(source, target, {"x": SCHEME}, rng=1)

    opens = gzip.open if b == "csv.gz" else open
    with opens(target, "rt", newline="", encoding="utf-8") as file:
        after = list(csv.reader(file, delimiter="\t" if b == "tsv" else ","))
    assert [row[1] for row in after] == ["t", *(texts[k % 8] for k in range(400))]
    expected = SCHEME.mask(pd.Series(np.arange(400) + 0.25, name="x"), rng=1)
    assert [float(row[0]) for row in after[1:]] == expected.tolist()


CELL = st.text(st.characters(codec="cp1252", exclude_characters="\x00"), max_size=6)


@given(
    rows=st.lists(
        st.tuples(CELL, CELL, st.sampled_from(["1.5", "007", " ", "NA", "-3"])), min_size=1, max_size=9
    ),
    ending=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", ";", "\t", ", "]),
    encoding=st.sampled_from(["utf-8", "cp1252", "utf-16"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
@example(rows=[("", "\r", "1.5")], ending="\n", delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL)
def test_texts_are_those_of_the_csv_module(tmp_path_factory, rows, ending, delimiter, encoding, quoting):
    """However the file is written; a blank after delimiters belongs to them."""
    path, file = tmp_path_factory.mktemp("texts") / "a.csv", io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter[0], lineterminator=ending, quoting=quoting)
    for row in [("a", "b", "a"), *rows]:
        if delimiter == ", ":
            file.write(", ".join('"{}"'.format(cell.replace('"', '""')) for cell in row) + ending)
        else:
            writer.writerow(row)
    path.write_bytes(file.getvalue().encode(encoding))

    batches = list(
        convert.text_reader(CsvFile(path, cm.CsvFormat(delimiter=delimiter[0], encoding=encoding)))()
    )

    assert {tuple(batch.schema.names) for batch in batches} == {("a", "b", "a")}
    found = [row for batch in batches for row in zip(*(column.to_pylist() for column in batch), strict=True)]
    assert found == rows


def test_a_line_break_within_quotes_may_stand_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "CHUNK", 256)
    rows = [(f"{k}.25", "one\n" * (k % 30)) for k in range(300)]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("x", "t"), *rows])

    batches = list(convert.text_reader(CsvFile(tmp_path / "a.csv"))())

    assert len(batches) > 9
    found = [row for batch in batches for row in zip(*(column.to_pylist() for column in batch), strict=True)]
    assert found == rows


@pytest.mark.parametrize("where", [0, 50, 99])
def test_a_record_of_some_megabytes_is_converted(tmp_path, where):
    notes = [f"a{k}" for k in range(100)]
    notes[where] = "one\n" * (1 << 20)
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("x", "t"), *((f"{k}.25", note) for k, note in enumerate(notes))])

    batches = convert.text_reader(CsvFile(tmp_path / "a.csv"))()

    assert [note for batch in batches for note in batch.column("t").to_pylist()] == notes


def test_a_record_too_long_for_pyarrow_is_refused_without_showing_one(tmp_path):
    lines = [f"{k}.25,a{k}" for k in range(100)]
    lines[50] += "b" * (1 << 24)
    (tmp_path / "a.csv").write_text("\n".join(["x,t", *lines]))

    with pytest.raises(ValueError, match=r"a\.csv must hold records of at most 8 MB") as error:
        cm.mask_file(tmp_path / "a.csv", tmp_path / "b.parquet", {"x": SCHEME})
    assert "50.25" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize(
    "labels", [["1", "1.0", "NA", "", "n"], ["1", "2", "30", "-4", "0"], ["1", "", "NA", "2", "3"]]
)
def test_strata_stay_told_apart(tmp_path, labels):
    source = tmp_path / "a.csv"
    lines = [f"{labels[k % 5]},{k / 7:.4f},{k}" for k in range(1_000)]
    source.write_text("\n".join(["s,x,y", *lines]))
    scheme = cm.ConditionalMasking(0.6, 40.0, decimals=4, strata="s")

    found = []
    for suffix in ("csv", "parquet", "arrow"):
        cm.mask_file(source, target := tmp_path / f"b.{suffix}", {"x": scheme}, rng=1)
        found.append(cm.read_release(target, "x").covariance(np.arange(1_000.0)))

    assert found[0] == found[1] == found[2]


def test_bytes_of_another_encoding_are_named_by_their_line(tmp_path):
    lines = ["x,t", *(f"{k}.25,a" for k in range(100))]
    text = "\n".join(lines).encode()
    (tmp_path / "a.csv").write_bytes(text.replace(b"40.25,a", b"40.25,\xe4"))

    with pytest.raises(ValueError, match=r"a\.csv must be written in utf-8, got other bytes in line 42;"):
        cm.mask_file(tmp_path / "a.csv", tmp_path / "b.parquet", {"x": SCHEME})

    cm.mask_file(
        tmp_path / "a.csv", tmp_path / "b.parquet", {"x": SCHEME}, csv=cm.CsvFormat(encoding="latin-1")
    )
    assert pq.read_table(tmp_path / "b.parquet")["t"].to_pylist()[39:42] == ["a", "ä", "a"]


def test_small_numbers_with_many_decimals_get_no_exponents(tmp_path):
    x = np.random.default_rng(1).integers(0, 200, 400) / 1e8
    scheme = cm.ConditionalMasking(0.6, 2e-7, decimals=8)
    cm.mask_table({"x": x}, {"x": scheme}, rng=1).write(tmp_path / "a.csv")

    texts = [line.strip('"') for line in (tmp_path / "a.csv").read_text().splitlines()[1:]]
    assert texts == [f"{v:.8f}" for v in scheme.mask(pd.Series(x, name="x"), rng=1)]


def test_columns_of_one_name_cannot_get_types(tmp_path):
    lines = ["x,t,t", *(f"{k}.25,a,b" for k in range(100))]
    (tmp_path / "a.csv").write_text("\n".join(lines))

    with pytest.raises(ValueError, match=r"a\.csv must name each column once"):
        cm.mask_file(tmp_path / "a.csv", tmp_path / "b.parquet", {"x": SCHEME}, accept_visible_coins=True)


@pytest.mark.parametrize(
    ("column", "target"),
    [
        (pa.array([pa.MonthDayNano([1, 2, 3])] * 100), "parquet"),
        (pa.array([b"x"] * 100, pa.binary_view()), "csv"),
    ],
)
def test_a_type_that_the_target_has_not_is_said_in_one_sentence(tmp_path, column, target):
    table = pa.table({"x": np.arange(100) + 0.25, "other": column})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)

    with pytest.raises(
        ValueError, match=rf"a\.arrow cannot become b\.{target}: Un.*; drop or cast that column"
    ):
        cm.mask_file(tmp_path / "a.arrow", tmp_path / f"b.{target}", {"x": SCHEME})

    assert [path.name for path in tmp_path.iterdir()] == ["a.arrow"]


def test_what_was_masked_is_not_masked_again():
    frame = pd.DataFrame({"pay": np.random.default_rng(1).lognormal(8.0, 0.5, 300).round(2)})
    release = cm.mask_table(frame, {"pay": SCHEME}, rng=1)

    with pytest.raises(TypeError, match=r"^frame must contain the originals, got a Release: masking twice"):
        cm.mask_table(release, release.schemes)


def test_labels_of_several_dictionaries_become_labels_of_one(tmp_path):
    """Row groups have dictionaries of their own; an Arrow file holds one for each column."""
    labels = [pa.array([f"{k % 3 + first}" if k % 5 else None for k in range(200)]) for first in (0, 5, 2)]
    x = np.random.default_rng(1).lognormal(7.0, 0.5, 600).round(2)
    parts = [
        pa.table({"label": part.dictionary_encode(), "x": x[200 * k : 200 * k + 200]})
        for k, part in enumerate(labels)
    ]
    schemes = {"x": cm.ConditionalMasking(0.6, 500.0, decimals=2)}
    with pq.ParquetWriter(tmp_path / "a.parquet", parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)

    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.arrow", schemes, accept_visible_coins=True)
    frame = pa.concat_tables(parts)
    cm.mask_table(frame, schemes, accept_visible_coins=True).write(tmp_path / "c.arrow", ledger=False)

    for name in "bc":
        column = pa.ipc.open_file(tmp_path / f"{name}.arrow").read_all()["label"]
        assert column.type == frame.schema.field("label").type
        assert column.to_pylist() == pa.chunked_array(labels).to_pylist()


@pytest.mark.parametrize(("limit", "value"), [("GROUP", 300), ("GROUP_BYTES", 300 * 16)])
def test_rows_are_written_in_groups_of_some_size(tmp_path, monkeypatch, limit, value):
    rows = np.random.default_rng(8).normal(size=(1_000, 2)).round(2)
    pd.DataFrame(rows, columns=["x", "y"]).to_csv(tmp_path / "a.csv", index=False)
    monkeypatch.setattr(convert, "BLOCK", 1_000)
    monkeypatch.setattr(f"condmask.files.batches.{limit}", value)

    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.parquet", {"x": SCHEME}, ledger=False)

    written = pq.read_metadata(tmp_path / "b.parquet")
    sizes = [written.row_group(k).num_rows for k in range(written.num_row_groups)]
    assert sum(sizes) == 1_000
    assert all(300 <= size <= 400 for size in sizes[:-1])
    assert len(sizes) > 2
