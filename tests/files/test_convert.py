"""From a data frame, or a file of another format, to a release.

Oracles: the same column masked in memory, and what pandas, polars and pyarrow read.
"""

import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

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
    text = {"post": str, "note": str}
    return pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",", dtype=text, keep_default_na=False)


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
    cm.write_release(frame, {"pay": SCHEME}, target, rng=3)

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
    cm.write_release(
        frame, {"pay": scheme}, tmp_path / "a.csv", strata="region", nan_policy="omit", rng=1, workers=2
    )
    text = (tmp_path / "a.csv").read_text().splitlines()

    assert text[1].split(",")[0] == ""
    assert all(line.split(",")[0].lstrip("-").isdigit() for line in text[2:6])
    assert text[5].endswith(",1970-01-05")
    assert cm.read_release(tmp_path / "a.csv", "pay").n == 160


def test_what_is_refused_and_that_nothing_is_left(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    target = tmp_path / "a.parquet"
    with pytest.raises(ValueError, match="frame has no column 'wage', it has 'id', 'pay', 'post'"):
        cm.write_release(frame, {"wage": SCHEME}, target)
    with pytest.raises(TypeError, match="post must be numeric"):
        cm.write_release(frame, {"post": SCHEME}, target)
    with pytest.raises(ValueError, match=r"must end in one of .parquet"):
        cm.write_release(frame, {"pay": SCHEME}, tmp_path / "a.xlsx")
    with pytest.raises(TypeError, match="frame must be"):
        cm.write_release([1, 2, 3], {"pay": SCHEME}, target)
    assert list(tmp_path.iterdir()) == []
    cm.write_release(frame, {"pay": SCHEME}, target)
    with pytest.raises(cm.FileError, match="exists; it is replaced only with"):
        cm.write_release(frame, {"pay": SCHEME}, target)


def test_attributes_of_a_frame_stay_at_home(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    frame.attrs = {"mean of pay": 1234.5678}
    cm.write_release(frame, {"pay": SCHEME}, tmp_path / "a.parquet")

    assert b"1234.5678" not in (tmp_path / "a.parquet").read_bytes()


def test_a_packed_file_is_text_inside(tmp_path):
    cm.write_release(pd.DataFrame(COLUMNS), {"pay": SCHEME}, tmp_path / "a.csv.gz", rng=3)
    text = gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode()

    assert pd.read_csv(io.StringIO(text)).shape == (N, 5)


def test_a_null_alone_in_its_line_is_no_empty_line(tmp_path):
    values = np.where(np.arange(N) % 7 == 0, -8e6, COLUMNS["pay"])
    pd.DataFrame({"pay": values}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2, missing=[-8e6], missing_as="null")
    with pytest.raises(ValueError, match='missing_as must be "code" in a file'):
        cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"pay": scheme})
    cm.write_release({"pay": values}, {"pay": scheme}, tmp_path / "c.csv")

    assert len(cm.read_column(tmp_path / "c.csv", "pay")) == N
