"""What only the publisher can tell, and whether it is the original of the release. Oracle: pandas."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.reports.original import statistics_of


def test_figures_of_the_original_are_those_of_pandas():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 12))
    w[3] = np.nan
    frame = pd.DataFrame({"x": x, "w": w})
    found = statistics_of(x, ["mean", "s.d.", "quantile 0.1", "quantile 0.5", "correlation with w"], {"w": w})

    assert found["mean"] == pytest.approx(frame.x.mean(), rel=1e-12)
    assert found["s.d."] == pytest.approx(frame.x.std(), rel=1e-12)
    assert found["quantile 0.1"] == np.sort(x)[1]
    assert found["quantile 0.5"] == np.sort(x)[5]
    assert found["correlation with w"] == pytest.approx(frame.x.corr(frame.w), rel=1e-12)
    for x, w in ((np.ones(3), np.arange(3.0)), (np.arange(3.0), np.full(3, np.nan))):
        assert np.isnan(statistics_of(x, ["correlation with w"], {"w": w})["correlation with w"])


@pytest.mark.usefixtures("undrawn")
def test_another_original_is_noticed(files):
    folder, frame = files
    frame.assign(income=2.0 * frame.income).to_parquet(folder / "other.parquet")
    cm.report(folder / "other.parquet", folder / "released.parquet", folder / "other.html")

    assert "Is this the original of the release?" in (folder / "other.html").read_text(encoding="utf-8")


def test_another_original_of_reverse_mapping_is_refused(files, mapped):
    folder, frame = files
    frame.assign(income=2.0 * frame.income).to_parquet(folder / "twice.parquet")

    with pytest.raises(ValueError, match="z must hold the values of x in another order"):
        cm.report(folder / "twice.parquet", mapped[0], folder / "twice.html")
