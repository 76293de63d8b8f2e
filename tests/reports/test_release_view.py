"""What a report reads of a release. Oracle: the reads of its files, counted."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.files.csv import CsvFile
from condmask.files.parquet import ParquetFile
from condmask.reports.release_view import ReleaseView


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.usefixtures("unaudited", "undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_each_column_of_a_release_is_read_once(suffix, tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(100.0, 10.0, (400, 5)).round(1), columns=["x", "y", "z", "age", "height"])
    frame.loc[::5, "y"] = np.nan
    frame["region"] = rng.choice(["east", "west"], 400)
    frame["name"] = [f"n{k}" for k in range(400)]
    frame.to_parquet(tmp_path / "a.parquet")
    scheme = cm.ConditionalMasking(0.6, 5.0, decimals=1, strata="region")
    released = tmp_path / f"b{suffix}"
    schemes = dict.fromkeys(("x", "y", "z"), scheme)
    cm.mask_file(tmp_path / "a.parquet", released, schemes, nan_policy="omit", rng=1)
    reads = []

    def counted(read):
        def parts(table, names, labels=()):
            parts = read(table, names, labels)
            first = next(parts, None)  # a column that holds no numbers is refused here
            if table.path == released:
                reads.extend([*names, *labels])
            if first is not None:
                yield first
            yield from parts

        return parts

    for reader in (ParquetFile, CsvFile):
        monkeypatch.setattr(reader, "parts", counted(reader.parts))

    for public in (True, False):
        reads.clear()
        source = None if public else tmp_path / "a.parquet"
        cm.report(source, released, tmp_path / f"{public}.html", public=public)

        assert {"x", "y", "z", "age", "height", "region"} <= set(reads) <= set(frame)
        assert len(reads) == len(set(reads))


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
