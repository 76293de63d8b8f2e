"""Files masked by reverse mapping: their values are those of the original, each once, of its type.

Oracles: the original's own cells as pyarrow and csv read them, sorted; masking the same column in memory.
"""

import csv
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

N = 300
RNG = np.random.default_rng(1)
AMOUNTS = RNG.lognormal(8.0, 0.5, N)
SCHEME = cm.ConditionalMasking(0.6, 0.5, reverse_mapping=True, scale="log")
SMALL = np.minimum(AMOUNTS / 100.0, 120.0)
INTEGERS = ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"]
COLUMNS = {
    **{name: pa.array(SMALL.astype(name)) for name in INTEGERS},
    "int64": pa.array(AMOUNTS.astype(np.int64)),
    "int with nulls": pa.array([None if k % 9 == 0 else int(x) for k, x in enumerate(AMOUNTS)], pa.int64()),
    "float32": pa.array(AMOUNTS.astype(np.float32)),
    "float64": pa.array(AMOUNTS),
    "two decimals": pa.array(AMOUNTS.round(2)),
    "decimal256": pa.array([Decimal(f"{x:.2f}") for x in AMOUNTS], pa.decimal256(40, 2)),
    "decimal128": pa.array([Decimal(f"{x:.2f}") for x in AMOUNTS], pa.decimal128(12, 2)),
    "decimal with nulls": pa.array(
        [None if k % 7 == 0 else Decimal(f"{x:.3f}") for k, x in enumerate(AMOUNTS)], pa.decimal128(15, 3)
    ),
}
READ = {"parquet": pq.read_table, "arrow": feather.read_table}


def write(path, table):
    pq.write_table(table, path) if path.suffix == ".parquet" else feather.write_feather(
        table, path, compression="uncompressed"
    )
    return path


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_released_column_has_the_cells_of_the_original_in_another_order(tmp_path, suffix, name):
    source = write(tmp_path / f"a.{suffix}", pa.table({"x": COLUMNS[name], "w": pa.array(range(N))}))
    target = tmp_path / f"b.{suffix}"

    cm.mask_file(source, target, {"x": SCHEME}, rng=2, nan_policy="omit")

    before, after = READ[suffix](source), READ[suffix](target)
    kind, dtype = before["x"].type, after["x"].type
    if pa.types.is_decimal(kind):
        assert dtype.scale == kind.scale
    else:
        assert dtype == (pa.int64() if pa.types.is_integer(kind) else kind)
    assert Counter(after["x"].to_pylist()) == Counter(before["x"].to_pylist())
    assert after["x"] != before["x"]
    assert [x is None for x in after["x"].to_pylist()] == [x is None for x in before["x"].to_pylist()]
    assert after["w"] == before["w"]


@pytest.mark.parametrize("text", ["whole", "decimals", "mixed"])
def test_a_csv_column_has_the_numbers_of_the_original(tmp_path, text):
    fields = {
        "whole": [str(int(x)) for x in AMOUNTS],
        "decimals": [f"{x:.2f}" for x in AMOUNTS],
        "mixed": ["" if k % 9 == 0 else repr(x) for k, x in enumerate(AMOUNTS.tolist())],
    }[text]
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("x,w\n" + "".join(f"{field},{k}\n" for k, field in enumerate(fields)))

    cm.mask_file(source, target, {"x": SCHEME}, rng=3, nan_policy="omit")

    with target.open(newline="") as file:
        found = [row["x"] for row in csv.DictReader(file)]
    number = [float(each) if each else None for each in found]
    assert Counter(number) == Counter(float(each) if each else None for each in fields)
    if text != "mixed":  # with all their digits
        assert Counter(found) == Counter(fields)


def test_a_file_is_masked_as_its_columns_are_in_memory(tmp_path):
    frame = pd.DataFrame({"x": AMOUNTS.round(-1), "y": AMOUNTS[::-1].round(2), "sex": np.arange(N) % 2})
    schemes = {"x": SCHEME, "y": cm.ConditionalMasking(0.6, 900.0, reverse_mapping=True)}
    frame.to_parquet(tmp_path / "a.parquet")

    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", schemes, strata="sex", rng=4)

    data = cm.mask_table(frame, schemes, strata="sex", rng=4).data
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "b.parquet"), data)


@pytest.mark.filterwarnings("ignore:undone record by record")
def test_a_release_of_a_frame_is_read_back_with_exact_estimates(tmp_path):
    frame, path = pd.DataFrame({"x": AMOUNTS.round(-2), "w": np.arange(N)}), tmp_path / "b.parquet"

    cm.mask_table(frame, {"x": SCHEME}, rng=5).write(path)

    estimate = cm.read_release(path, "x")
    assert estimate.scheme == SCHEME
    assert estimate.quantile(0.5) == np.quantile(frame["x"], 0.5, method="inverted_cdf")
    assert estimate.correlation("w") == pytest.approx(estimate.correlation(frame["w"]), rel=1e-12)


def test_the_note_says_what_may_be_read_from_the_values(tmp_path):
    cm.mask_table({"x": AMOUNTS}, {"x": SCHEME}, rng=6).write(tmp_path / "b.parquet")

    note = (tmp_path / "b.parquet.README.md").read_text()

    assert "the values are those of the original, each once, in another order" in note
    assert 'x.summary(target="file")' in note
    assert "cannot be read from\nthe values as they stand" in note
    assert "what is computed from the masked column as if it were" not in note


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_data_frames_keep_their_kinds(kind):
    columns = {"f": AMOUNTS.astype(np.float32), "d": AMOUNTS.round(2), "int64": AMOUNTS.astype(np.int64)}
    frame = pd.DataFrame(columns | {name: SMALL.astype(name) for name in INTEGERS})
    pl = pytest.importorskip("polars")
    given = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[kind]

    data = cm.mask_table(given, dict.fromkeys(frame, SCHEME), rng=8).data

    assert type(data) is type(given)
    back = data if kind == "pandas" else data.to_pandas()
    assert back.dtypes.tolist() == ["float32", "float64", *["int64"] * (1 + len(INTEGERS))]
    for name in frame:
        assert np.array_equal(np.sort(back[name]), np.sort(frame[name]))
