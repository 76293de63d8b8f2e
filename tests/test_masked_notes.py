"""Frames with notes of masked columns are refused: a column is masked once."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import condmask as cm

X = np.random.default_rng(5).lognormal(8.0, 0.5, 50)
SCHEME = cm.ConditionalMasking(0.6, 300.0)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_masked_frame_is_not_masked_again(make):
    options = {"accept_visible_coins": True}
    once = cm.mask_table(make({"x": X, "y": X}), {"x": SCHEME}, **options).data

    for name in ("x", "y"):
        with pytest.raises(ValueError, match=r"^x is masked already in the frame, as it notes"):
            cm.mask_table(once, {name: SCHEME}, **options)
