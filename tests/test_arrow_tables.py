"""What Arrow can hold of a frame is written; what it cannot is refused by name alone."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import condmask as cm
from condmask.arrow_tables import arrow_table


def test_wide_whole_numbers_of_a_dict_are_written(tmp_path):
    x = np.random.default_rng(1).normal(size=200)
    wide = pl.Series([5, None] * 100, dtype=pl.Int128)
    release = cm.mask_table({"x": x, "n": wide}, {"x": cm.AdditiveNoise(1.0)}, rng=1)

    release.write(tmp_path / "a.parquet")

    assert pd.read_parquet(tmp_path / "a.parquet").n.isna().sum() == 100


@pytest.mark.parametrize("note", [[1.5, "8675309"], [10**400, 8675309]], ids=["mixed", "huge"])
@pytest.mark.parametrize("made", [pd.DataFrame, dict])
def test_columns_of_several_types_are_refused_by_name_alone(made, note, tmp_path):
    """Arrow names the value that it cannot convert."""
    frame = made({"x": np.arange(500.0), "note": np.array(note * 250, dtype=object)})
    scheme = cm.ConditionalMasking(0.6, 50.0)
    release = cm.mask_table(frame, {"x": scheme}, accept_visible_coins=True)
    with pytest.raises(
        TypeError, match=r"^frame must have columns that hold one type each, .* in 'note'$"
    ) as refusal:
        release.write(tmp_path / "released.parquet", ledger=False)
    assert refusal.value.__suppress_context__
    assert not list(tmp_path.iterdir())


def test_a_lack_of_memory_is_none_of_types(monkeypatch):
    def fail(_):
        raise pa.ArrowMemoryError("malloc failed")

    monkeypatch.setattr(pa, "table", fail)
    with pytest.raises(MemoryError):
        arrow_table({"x": np.arange(5.0)})
