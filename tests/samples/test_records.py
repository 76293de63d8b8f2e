"""Records that are read when they are first asked for, and that travel as they are then."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np
import pytest

import condmask as cm
from condmask.samples.records import Records


def test_many_threads_read_the_same():
    def values():
        sleep(0.02)
        return np.arange(3.0)

    def pools(z):
        sleep(0.02)
        return z.astype(np.int32)

    records = Records(values, pools)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda k: records.pools() if k % 2 else records.z, range(8)))

    assert records.z is records.z
    assert all(column.tolist() == [0, 1, 2] for column in found)


def test_records_travel_without_what_reads_them():
    records = pickle.loads(pickle.dumps(Records(lambda: np.arange(3.0), lambda z: z > 1.0)))

    assert records.z.tolist() == [0.0, 1.0, 2.0]
    assert records.pool.tolist() == [False, False, True]
    refused = pickle.loads(pickle.dumps(Records(np.zeros(2), None, "strata must be given")))
    with pytest.raises(ValueError, match="strata must be given"):
        refused.pools()


@pytest.mark.usefixtures("unaudited")
@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize("options", [{"strata": "group"}, {"reverse_mapping": True}])
def test_an_estimate_from_a_file_is_whole_where_the_file_is_not(options, tmp_path):
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(50.0, 10.0, 300), "group": np.arange(300) % 3, "w": rng.normal(size=300)}
    release = cm.mask_table(table, {"x": cm.ConditionalMasking(0.5, 5.0, **options)}, rng=2)
    release.write(tmp_path / "a.csv", log=False)
    estimate = cm.read_release(tmp_path / "a.csv")["x"]
    estimate.median()

    again = pickle.loads(pickle.dumps(estimate))
    (tmp_path / "a.csv").unlink()

    assert str(again.summary()) == str(release["x"].summary())
    assert again.regress(table["w"])["w1"] == release["x"].regress(table["w"])["w1"]
    with pytest.raises(cm.FileError, match=r"a\.csv: no such file"):
        again.group_means("group")
