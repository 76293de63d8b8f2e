"""Frames whose notes of masked columns are damaged are refused: to read over them may mask a column twice."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import condmask as cm

X = np.random.default_rng(5).lognormal(8.0, 0.5, 50)
SCHEME = cm.ConditionalMasking(0.6, 300.0)


@pytest.mark.parametrize(
    "notes",
    [
        {"condmask_masked": "["},
        {"condmask_masked": "5"},
        {"condmask": "[]"},
        {"condmask": '{"columns": 5}'},
        {"condmask": '{"columns": ["x"]}'},
        {"condmask": "[" * 100_000},
    ],
)
def test_a_damaged_note_in_arrow_is_refused(notes):
    table = pa.table({"x": X}).replace_schema_metadata(notes)

    with pytest.raises(ValueError, match=r"^frame has a damaged note of the columns that are masked already"):
        cm.mask_table(table, {"x": SCHEME}, accept_visible_coins=True)


def test_a_damaged_note_in_pandas_is_refused():
    frame = pd.DataFrame({"x": X})
    frame.attrs["condmask_masked"] = 5

    with pytest.raises(ValueError, match=r"^frame has a damaged note of the columns that are masked already"):
        cm.mask_table(frame, {"x": SCHEME}, accept_visible_coins=True)
