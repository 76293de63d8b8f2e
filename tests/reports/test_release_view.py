"""What a report reads of a release. Oracle: the frame."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.reports.release_view import ReleaseView


@pytest.mark.usefixtures("unaudited")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_infinite_values_in_clear_are_none_that_attackers_know(tmp_path):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(100.0, 10.0, (400, 3)).round(1), columns=["x", "whole", "rate"])
    frame.loc[5, "rate"], frame.loc[6, "rate"] = np.inf, -np.inf
    scheme = cm.ConditionalMasking(0.6, 5.0, decimals=1)
    cm.mask_table(frame, {"x": scheme}, rng=1).write(tmp_path / "b.parquet", log=False)

    known = ReleaseView(tmp_path / "b.parquet", 1).known

    np.testing.assert_array_equal(known["whole"], frame.whole)
    np.testing.assert_array_equal(known["rate"], frame.rate.replace([np.inf, -np.inf], np.nan))
