"""From one format to another: other columns by pyarrow's and Python's readers, masked ones as in memory."""

import csv
import datetime
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

N = 70_001
CENTS = cm.ConditionalMasking(0.6, 40.0, decimals=2)
WHOLE = cm.ConditionalMasking(0.6, 5.0, decimals=0)
BINARY = cm.ConditionalMasking(0.6, 5.0)
RANDOM = np.random.default_rng(9)
INCOME = RANDOM.integers(100, 99_999, N) / 100
AGE = RANDOM.integers(18, 90, N)
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=k % 999) for k in range(N)]
TEXTS = ["plain", "comma, and", 'the "west"', "two\nlines", "", "0012", "é"]


def people():
    return pa.table({
        "id": np.arange(N),
        "income": INCOME,
        "age": pa.array(AGE, pa.int8()),
        "text": [TEXTS[k % len(TEXTS)] for k in range(N)],
        "day": DAYS,
        "share": pa.array([None if k % 5 == 0 else k / 7 for k in range(N)]),
        "code": [f"{k % 1000:03d}" for k in range(N)],
    })  # fmt: skip


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=20_000)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=30_000)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(table.column_names)
            columns = [table[name].to_pylist() for name in table.column_names]
            writer.writerows(["" if v is None else v for v in row] for row in zip(*columns, strict=True))
    return path


def read(path):
    return pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()


def rows(path, delimiter=","):
    opens = gzip.open if path.suffix == ".gz" else open
    with opens(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


def masked(schemes):
    frame = pd.DataFrame({"income": INCOME, "age": AGE})
    return cm.mask_table(frame, schemes, rng=1).data


@pytest.mark.parametrize(("a", "b"), [("parquet", "arrow"), ("arrow", "parquet")])
def test_parquet_and_arrow_become_each_other(tmp_path, a, b):
    table = people()
    source, target = write(table, tmp_path / f"a.{a}"), tmp_path / f"b.{b}"

    cm.mask_file(source, target, {"income": CENTS, "age": WHOLE}, rng=1)

    after, expected = read(target), masked({"income": CENTS, "age": WHOLE})
    assert after.drop(["income", "age"]).equals(table.drop(["income", "age"]))
    for name in expected:
        assert np.array_equal(after[name].to_numpy(), expected[name])
    assert cm.read_release(target, "income").n == N


@pytest.mark.parametrize("a", ["parquet", "arrow"])
@pytest.mark.parametrize(("b", "delimiter"), [("csv", ","), ("tsv", "\t"), ("csv.gz", ",")])
def test_columns_become_text(tmp_path, a, b, delimiter):
    table = people()
    source, target = write(table, tmp_path / f"a.{a}"), tmp_path / f"b.{b}"

    cm.mask_file(source, target, {"income": CENTS, "age": WHOLE}, rng=1)

    header, *found = rows(target, delimiter)
    assert header == table.column_names
    columns = dict(zip(header, zip(*found, strict=True), strict=True))
    expected = masked({"income": CENTS, "age": WHOLE})
    assert list(columns["income"]) == [f"{value:.2f}" for value in expected["income"]]
    assert list(columns["age"]) == [str(value) for value in expected["age"]]
    assert list(columns["text"]) == table["text"].to_pylist()
    assert list(columns["day"]) == [day.isoformat() for day in DAYS]
    assert [float(t) if t else None for t in columns["share"]] == table["share"].to_pylist()
    assert list(columns["code"]) == table["code"].to_pylist()
    assert np.array_equal(cm.read_column(target, "income"), expected["income"])
    assert cm.read_release(target, "age").n == N


@pytest.mark.parametrize("b", ["parquet", "arrow"])
def test_text_becomes_columns_of_types_that_all_of_it_has(tmp_path, b):
    table = people()
    source, target = write(table, tmp_path / "a.csv"), tmp_path / f"b.{b}"

    cm.mask_file(source, target, {"income": CENTS, "age": WHOLE}, rng=1)

    after, expected = read(target), masked({"income": CENTS, "age": WHOLE})
    assert [str(dtype) for dtype in after.schema.types] == [
        "int64", "double", "int64", "large_string", "date32[day]", "double", "large_string",
    ]  # fmt: skip
    for name in ("id", "text", "day", "share", "code"):
        assert after[name].to_pylist() == table[name].to_pylist()
    for name in expected:
        assert np.array_equal(after[name].to_numpy(), expected[name])


def test_types_are_those_of_the_last_record_too(tmp_path):
    n = 600_000  # several runs of records
    source, target = tmp_path / "a.csv", tmp_path / "b.parquet"
    last = "x,1.5,2023-02-30,+5,1"
    source.write_text("a,b,c,d,x\n" + "1,1,2023-02-28,5,0.25\n" * n + last)

    cm.mask_file(source, target, {"x": BINARY})

    found = pq.read_schema(target)
    assert [str(found.field(name).type) for name in "abcd"] == [
        "large_string", "double", "large_string", "large_string",
    ]  # fmt: skip
    assert pq.read_table(target)["a"].to_pylist()[-2:] == ["1", "x"]


def test_text_of_any_dialect_becomes_columns(tmp_path):
    source, target = tmp_path / "a.csv", tmp_path / "b.parquet"
    lines = ["größe;x;y"] + [f'"ä ""{k}""";{k},25;{k}' for k in range(300)] + ["n/a;-9999;"]
    source.write_bytes("\r\n".join(lines).encode("latin-1"))
    form = cm.CsvFormat(encoding="latin-1", na=["n/a"])
    scheme = cm.ConditionalMasking(0.6, 40.0, decimals=2, missing=[-9999])

    cm.mask_file(source, target, {"x": scheme}, rng=1, csv=form, nan_policy="omit")

    after = pq.read_table(target)
    assert after["größe"].to_pylist()[:2] == ['ä "0"', 'ä "1"']
    assert after["größe"].to_pylist()[-1] == "n/a"
    assert after["y"].to_pylist() == [*range(300), None]
    assert after["x"].to_pylist()[-1] == -9999.0
    assert np.array_equal(
        after["x"].to_numpy()[:-1],
        scheme.mask(pd.Series([*(np.arange(300) + 0.25), -9999.0], name="x"), rng=1, nan_policy="omit")[:-1],
    )


@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32(), pa.decimal128(9, 2), pa.int16()], ids=str)
def test_missing_values_and_their_codes_stay_in_text(tmp_path, dtype):
    cells = [None if k % 10 == 0 else -9999 if k % 10 == 1 else k for k in range(300)]
    column = pa.array(cells, dtype)
    source = write(pa.table({"x": column, "y": range(300)}), tmp_path / "a.parquet")
    if pa.types.is_floating(dtype):  # beside nulls
        column = pa.array([np.nan if k == 5 else v for k, v in enumerate(cells)], dtype, from_pandas=False)
        source = write(pa.table({"x": column, "y": range(300)}), tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 40.0, decimals=0, missing=[-9999])

    cm.mask_file(source, tmp_path / "b.csv", {"x": scheme}, nan_policy="omit")

    found = [row[0] for row in rows(tmp_path / "b.csv")[1:]]
    assert [text == "" for text in found] == [
        cell is None or (k == 5 and pa.types.is_floating(dtype)) for k, cell in enumerate(cells)
    ]
    assert all(found[k] == "-9999" for k in range(300) if k % 10 == 1)


def test_what_text_cannot_hold_is_refused(tmp_path):
    table = pa.table({"x": INCOME[:20], "list": [[1]] * 20})
    source = write(table, tmp_path / "a.parquet")

    with pytest.raises(ValueError, match=r"list must not be list<.*> in a file of text; drop it first"):
        cm.mask_file(source, tmp_path / "b.csv", {"x": CENTS})

    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(("a", "b"), [("csv", "tsv"), ("csv", "csv.gz")])
def test_text_becomes_other_text(tmp_path, a, b):
    table = people()
    source, target = write(table, tmp_path / f"a.{a}"), tmp_path / f"b.{b}"

    cm.mask_file(source, target, {"income": CENTS}, rng=1)

    before, after = rows(source), rows(target, "\t" if b == "tsv" else ",")
    assert [row[0:1] + row[2:] for row in after] == [row[0:1] + row[2:] for row in before]
    expected = cm.mask_table(pd.DataFrame({"income": INCOME}), {"income": CENTS}, rng=1).data["income"]
    assert [row[1] for row in after[1:]] == [f"{value:.2f}" for value in expected]


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
