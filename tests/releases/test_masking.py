"""What is released lies on the grid of its scheme: the same bits as in memory, in every format and type.

Oracle: the column masked in memory, read back by pyarrow and Python's csv module.
"""

import csv
import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")

N = 3000
FORMATS = ["parquet", "arrow", "csv"]
FIFTY = np.arange(50.0)


def write(path, values):
    table = pa.table({"x": values, "other": range(len(values))})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        rows = enumerate(values.tolist())
        path.write_text("x,other\n" + "".join(f"{v!r},{i}\n" for i, v in rows))
    return path


def released(path):
    """The masked column as numbers, and as it is written in a CSV file."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            texts = [row["x"] for row in csv.DictReader(file)]
        return np.array([float(text) for text in texts]), texts
    table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).read_all()
    return table["x"].to_numpy(), None


def whole(step):
    return (np.random.default_rng(3).integers(-40, 40, N) * step).astype(np.int64)


def near_zero(numerator, denominator, dtype=np.float64):
    """Multiples of a step on both sides of 0, where rounding makes negative zeros."""
    return (np.random.default_rng(3).integers(-40, 40, N) * numerator / denominator).astype(dtype)


PLAIN = r"-?\d+(\.\d+)?"
GRIDS = {
    "whole": (whole(1), {"decimals": 0}, r"-?\d+"),
    "tens": (whole(10), {"decimals": -1}, r"-?\d+"),
    "dozens": (whole(12), {"step": 12.0}, r"-?\d+"),
    "whole float64": (whole(1).astype(float), {"step": 1.0}, r"-?\d+"),
    "cents": (near_zero(1, 100), {"decimals": 2}, r"-?\d+\.\d\d"),
    "tenths": (near_zero(1, 10), {"decimals": 1}, r"-?\d+\.\d"),
    "nickels": (near_zero(1, 20), {"step": 0.05}, PLAIN),
    "thirds": (near_zero(1, 3), {"step": 1 / 3}, PLAIN),
    "default": (np.random.default_rng(3).normal(0, 0.01, N), {}, PLAIN),
    "float32 tenths": (near_zero(1, 10, np.float32), {"decimals": 1}, r"-?\d+\.\d"),
    "float32 thirds": (near_zero(1, 3, np.float32), {"step": 1 / 3}, PLAIN),
    "float32 default": (np.random.default_rng(3).normal(0, 0.01, N).astype(np.float32), {}, PLAIN),
    # noise below half of the smallest number: what it leaves of 0 is 0, and must not show its sign
    "float32 without": (np.arange(N, dtype=np.float32) % 2, {"step": 0, "sigma": 1e-46}, None),
}


@pytest.mark.filterwarnings("ignore:x holds multiples of 1, which a step of 0")
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", GRIDS)
def test_bits_and_types_are_those_of_the_column_masked_in_memory(tmp_path, name, suffix):
    values, options, pattern = GRIDS[name]
    if suffix == "csv":
        if values.dtype == np.float32:
            pytest.skip("text has one kind of numbers")
        values = values if values.dtype == np.float64 else values.astype(float)
    scheme = cm.ConditionalMasking(0.6, **{"sigma": 1.0, **options})
    source, target = write(tmp_path / f"a.{suffix}", values), tmp_path / f"b.{suffix}"
    cm.mask_file(source, target, {"x": scheme}, rng=1)
    found, texts = released(target)
    expected = scheme.mask(pd.Series(values, name="x"), rng=1).to_numpy()

    assert found.dtype == (expected.dtype if suffix != "csv" else np.float64)
    assert found.tobytes() == expected.astype(found.dtype).tobytes()
    assert np.isfinite(found).all()
    assert not np.signbit(found[found == 0]).any()
    if texts is not None:
        assert all(re.fullmatch(pattern, text) for text in texts)
        assert not any(re.fullmatch(r"-0+(\.0+)?", text) for text in texts)
    # the reader keeps the type, without which decimals in single precision are off the grid
    assert cm.read_release(target, "x").mean() == scheme.estimate(expected).mean()
    if scheme.step:
        counts = cm.read_counts(target)
        assert scheme.estimate(counts).mean() == scheme.estimate(expected).mean()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (2.0**24 - 1 - FIFTY**2, {"step": 1.0}, r"within 2\^24 steps"),
        # the largest steps are not yet 2^24, and twice their noise is not finite in single precision
        ((2.0**23 - 1 - FIFTY) * 2.0**105, {"sigma": 2.0**104, "step": 2.0**105}, "finite"),
        (3.4e38 - 1e36 * np.sqrt(FIFTY), {"sigma": 1e37, "step": 0}, "x must stay finite when it is masked"),
    ],
)  # fmt: skip
def test_a_hostile_float32_column_is_refused(tmp_path, suffix, values, options, message):
    source, target = write(tmp_path / f"a.{suffix}", np.float32(values)), tmp_path / f"b.{suffix}"
    with pytest.raises(ValueError, match=message):
        cm.mask_file(source, target, {"x": cm.ConditionalMasking(0.6, **{"sigma": 1.0, **options})}, rng=1)

    assert list(tmp_path.iterdir()) == [source]


# --- reverse mapping: the values of the original, each once, of its type; oracle: its own cells, sorted ---

ROWS = 300
RNG = np.random.default_rng(1)
AMOUNTS = RNG.lognormal(8.0, 0.5, ROWS)
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


def write_cells(path, table):
    pq.write_table(table, path) if path.suffix == ".parquet" else feather.write_feather(
        table, path, compression="uncompressed"
    )
    return path


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_released_column_has_the_cells_of_the_original_in_another_order(tmp_path, suffix, name):
    source = write_cells(tmp_path / f"a.{suffix}", pa.table({"x": COLUMNS[name], "w": pa.array(range(ROWS))}))
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
    frame = pd.DataFrame({"x": AMOUNTS.round(-1), "y": AMOUNTS[::-1].round(2), "sex": np.arange(ROWS) % 2})
    schemes = {"x": SCHEME, "y": cm.ConditionalMasking(0.6, 900.0, reverse_mapping=True)}
    frame.to_parquet(tmp_path / "a.parquet")

    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", schemes, strata="sex", rng=4)

    data = cm.mask_table(frame, schemes, strata="sex", rng=4).data
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "b.parquet"), data)


@pytest.mark.filterwarnings("ignore:pseudo-values vary")
def test_a_release_of_a_frame_is_read_back_with_exact_estimates(tmp_path):
    frame, path = pd.DataFrame({"x": AMOUNTS.round(-2), "w": np.arange(ROWS)}), tmp_path / "b.parquet"

    cm.mask_table(frame, {"x": SCHEME}, rng=5).write(path)

    estimate = cm.read_release(path, "x")
    assert estimate.scheme == SCHEME
    assert estimate.quantile(0.5) == np.quantile(frame["x"], 0.5, method="inverted_cdf")
    assert estimate.correlation("w") == pytest.approx(estimate.correlation(frame["w"]), rel=1e-12)


def test_the_note_beside_text_names_the_file_with_the_scheme(tmp_path):
    for name in ("b.parquet", "b.csv"):
        cm.mask_table({"x": AMOUNTS}, {"x": SCHEME}, rng=6).write(tmp_path / name)
        note = (tmp_path / f"{name}.README.md").read_text()
        assert ("Keep `b.csv.condmask.json` with this file" in note) == (
            tmp_path / f"{name}.condmask.json"
        ).exists()


def test_the_note_says_what_may_be_read_from_the_values(tmp_path):
    cm.mask_table({"x": AMOUNTS}, {"x": SCHEME}, rng=6).write(tmp_path / "b.parquet")

    note = (tmp_path / "b.parquet.README.md").read_text()

    assert "the values are those of the original, each once, in another order" in note
    assert 'x.summary(target="file")' in note
    assert "Ordinary formulas give wrong correlations" in note
    assert "what is computed from the masked column as if it were" not in note


def test_the_note_says_what_is_there_for_each_stratum(tmp_path):
    groups = {"region": np.arange(AMOUNTS.size) % 2, "sex": np.arange(AMOUNTS.size) % 3}
    for strata in (("region", "sex"), None):
        scheme = replace(SCHEME, strata=strata, aggregate_ends=3)
        cm.mask_table({"x": AMOUNTS, **groups}, {"x": scheme}, rng=6).write(
            tmp_path / "b.parquet", overwrite=True, ledger=False
        )
        note = (tmp_path / "b.parquet.README.md").read_text()

        assert ('print(x.part({"region": "a label", "sex": "a label"}).summary())' in note) == bool(strata)
        each = " of each region and sex" if strata else ""
        assert f", except that means stand for the 3 smallest and the 3 largest values{each}. With" in note


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


def refusing(text):
    def prepare(*_, **__):
        raise cm.ReleaseError(text)

    return prepare


@pytest.mark.parametrize(("name", "named"), [("band", True), ("__filename", True), ("other", False)])
def test_a_refusal_over_names_of_files_says_how_to_leave_these_out(tmp_path, monkeypatch, name, named):
    for band in ("a", "b"):
        (tmp_path / f"in/band={band}").mkdir(parents=True)
        write(tmp_path / f"in/band={band}/x.csv", whole(1.0)[:200])
    monkeypatch.setattr("condmask.releases.masking.prepare", refusing(f"{name!r} is left in clear"))

    with pytest.raises(cm.ReleaseError) as caught:
        cm.mask_file(tmp_path / "in", tmp_path / "out", {"x": cm.ConditionalMasking(0.6, 5.0)}, ledger=False)

    advice = f"; names of files and folders reveal {name!r}, and are released: to avoid that, mask one file"
    assert (advice in str(caught.value)) == named
    assert not (tmp_path / "out").exists()
