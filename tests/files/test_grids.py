"""What is released lies on the grid of its scheme: the same bits as in memory, in every format and type.

Oracle: the column masked in memory, read back by pyarrow and Python's csv module.
"""

import csv
import re

import numpy as np
import pandas as pd
import pyarrow as pa
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


PLAIN = r"-?\d+\.\d+(e-\d+)?"
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
