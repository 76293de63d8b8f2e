"""A cluster masks as files are masked: a part for each partition, each masked once, or nothing is
published.

Oracle: the originals, and `mask_file` over the same parts.
"""

import os
import signal
import subprocess
import sys
import time
from copy import copy
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask._randomness import root_key
from condmask.publish.masking import mask_part

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(1)
N = 12_000
PAY = RNG.lognormal(8.0, 0.5, N).round(2)
FRAME = pd.DataFrame(
    {"pay": PAY, "bonus": np.rint(0.2 * PAY + RNG.normal(0.0, 200.0, N)).astype(int)}
)
FRAME["age"] = RNG.integers(18, 66, N)
FRAME["place"] = np.array(["north", "south"])[RNG.integers(0, 2, N)]
SCHEMES = {
    "pay": cm.ConditionalMasking(0.6, 1000.0, decimals=2),
    "bonus": cm.ConditionalMasking(0.6, 200.0, decimals=0),
}
CUTS = [0, 2_000, 2_000, 5_000, N]  # the second partition is empty
SURE = 1 - 1e-6
OPEN = {"accept": "all", "log": False}


def rows(k, frame, cuts):
    return frame.iloc[cuts[k] : cuts[k + 1]]


def partitioned(frame=FRAME, cuts=CUTS):
    return dd.from_map(rows, range(len(cuts) - 1), frame=frame, cuts=cuts, meta=frame.iloc[:0])


@pytest.fixture
def here():
    """Tasks run in this thread, where tests can reach them."""
    with dask.config.set(scheduler="sync"):
        yield


def assert_refused(kind, text, target, ddf, schemes=SCHEMES, **options):
    """It is refused in one sentence, and nothing is left."""
    with pytest.raises(kind, match=text) as caught:
        cm.dask.mask(ddf, schemes, target, **{**OPEN, **options})
    assert "\n" not in str(caught.value)
    assert not target.exists()
    assert not target.with_name(f".{target.name}.condmask").exists()


# --- on two processes ---


def obey(folder):
    """Have a worker, when it has written a file, do what files in this folder say: to die, or to
    wait."""

    def write(*arguments, **options):
        written(*arguments, **options)
        try:
            (folder / "one dies").unlink()
        except FileNotFoundError:
            if not (folder / "all die").exists():
                while (folder / "wait").exists():
                    time.sleep(0.05)
                return
        os.kill(os.getpid(), signal.SIGKILL)

    written = pq.write_table
    pq.write_table = write


@pytest.fixture(scope="module")
def client():
    """Two processes, which draw their keys from the system, unlike other tests."""
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": 0,
    }
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_release_estimates_its_originals_and_has_all_else_as_it_was(client, tmp_path):
    release = cm.dask.mask(partitioned(), SCHEMES, tmp_path / "out", **OPEN)
    read = cm.read_release(tmp_path / "out")

    assert release.parts == read.parts == (2_000, 3_000, 7_000)
    assert read.origins["pay"].group == read.origins["bonus"].group is not None
    levels = [0.1, 0.5, 0.9]
    for name in SCHEMES:
        found = read[name].mean_interval(confidence_level=SURE)
        assert found.low < FRAME[name].mean() < found.high
        found = read[name].quantile_interval(levels, confidence_level=SURE)
        assert (found.low < FRAME[name].quantile(levels)).all()
        assert (FRAME[name].quantile(levels) < found.high).all()
    for name in ("bonus", "age"):
        found = read["pay"].correlation_interval(name, confidence_level=SURE)
        assert found.low < FRAME["pay"].corr(FRAME[name]) < found.high
    found = dd.read_parquet(tmp_path / "out").compute().reset_index(drop=True)
    assert list(found) == list(FRAME)
    assert found["bonus"].dtype == "int64"
    for name in FRAME:
        same = (found[name] == FRAME[name]).mean()
        assert same < 0.1 if name in SCHEMES else same == 1.0


def test_each_part_is_masked_once_though_a_worker_is_killed(client, tmp_path):
    (tmp_path / "one dies").touch()
    client.run(obey, tmp_path)
    release = cm.dask.mask(partitioned(), SCHEMES, tmp_path / "out", **OPEN)

    assert not (tmp_path / "one dies").exists()
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [
        "_condmask.json",
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
    ]
    assert [pq.read_metadata(file).num_rows for file in files[1:]] == [2_000, 3_000, 7_000]
    # refused where a file is not the one of which the manifest tells
    release["pay"].correlation("age")


def test_nothing_stands_under_the_name_if_the_client_is_killed(client, tmp_path):
    (tmp_path / "wait").touch()
    client.run(obey, tmp_path)
    script = (
        "import distributed, test_dask as t\n"
        f"client = distributed.Client({client.scheduler.address!r})\n"
        f"t.cm.dask.mask(t.partitioned(), t.SCHEMES, {str(tmp_path / 'out')!r}, **t.OPEN)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parent)
    while process.poll() is None and not list(tmp_path.glob(".out.condmask/out/.attempts/*")):
        time.sleep(0.05)
    process.kill()
    process.wait()
    (tmp_path / "wait").unlink()

    assert not (tmp_path / "out").exists()
    with pytest.raises(cm.FileError, match=r"or one was killed"):
        cm.dask.mask(partitioned(), SCHEMES, tmp_path / "out", **OPEN)


def test_what_partitions_warn_of_is_said_here(client, tmp_path):
    wide = {
        "pay": replace(SCHEMES["pay"], sigma=3e3),
        "age": replace(SCHEMES["bonus"], sigma=60.0),
    }
    with pytest.warns(cm.ReleaseWarning) as told:
        cm.dask.mask(partitioned(), wide, tmp_path / "out", **OPEN)

    below = [str(one.message) for one in told if "will lie below 0" in str(one.message)]
    assert [text.partition(" will")[0].split()[-1] for text in below] == [*wide]


def test_the_map_of_a_client_keeps_the_order_and_does_each_task(client):
    mapped = cm.dask.client_map(client)

    assert list(mapped(abs, range(-9, 0))) == list(range(9, 0, -1))
    assert len({*mapped(os.urandom, [8, 8])}) == 2


def test_workers_that_die_for_good(client, tmp_path):  # the last one that needs them
    (tmp_path / "all die").touch()
    client.cluster.scheduler.allowed_failures = 0
    client.run(obey, tmp_path)

    assert_refused(cm.FileError, "killed worker after worker", tmp_path / "out", partitioned())


# --- in one thread ---


def test_with_given_keys_it_has_the_bits_of_a_file_in_the_same_parts(here, tmp_path, monkeypatch):
    frame = FRAME[:3_499]
    cuts = [0, 1_000, 2_000, 3_499]
    frame.to_parquet(tmp_path / "in.parquet", index=False)
    cm.mask_file(
        tmp_path / "in.parquet", tmp_path / "out.parquet", SCHEMES, rng=1, part_rows=1_000, **OPEN
    )

    def with_key(part, job):
        number = [PAY[cut] for cut in cuts].index(part.columns["pay"].array[0])
        job = copy(job)
        job.root = root_key(1)
        return mask_part(part, job, number)

    monkeypatch.setattr("condmask.dask.mask_part", with_key)
    release = cm.dask.mask(partitioned(frame, cuts), SCHEMES, tmp_path / "out", **OPEN)

    found = pq.read_table(tmp_path / "out")
    expected = pq.read_table(tmp_path / "out.parquet")
    for name in SCHEMES:
        assert found[name].equals(expected[name])
    assert release["pay"].quantile(0.3) == cm.read_release(
        tmp_path / "out.parquet", "pay"
    ).quantile(0.3)


def test_the_log_knows_the_values_in_other_partitions(here, tmp_path):
    alone = FRAME[["pay"]]
    one = {"pay": SCHEMES["pay"]}
    cm.dask.mask(partitioned(alone), one, tmp_path / "a", log=tmp_path / "log")
    again = partitioned(alone.sample(frac=1.0, random_state=1), [0, 6_000, N])

    options = {"log": tmp_path / "log", "accept": ()}
    assert_refused(
        cm.ReleaseError,
        "the same values are in .*a, released",
        tmp_path / "b",
        again,
        one,
        **options,
    )
    cm.dask.mask(again, one, tmp_path / "b", log=tmp_path / "log", again=True)


def test_a_large_partition_is_audited_by_its_records(here, tmp_path):
    cuts = np.cumsum([0, 30_000, *[400] * 19])
    rng = np.random.default_rng(1)
    pay = rng.lognormal(8.0, 0.5, cuts[-1]).round(2)
    tax = 0.3 * np.where(np.arange(pay.size) < 30_000, pay, rng.permutation(pay))
    ddf = partitioned(pd.DataFrame({"pay": pay, "tax": tax}), cuts)
    one = {"pay": SCHEMES["pay"]}

    assert_refused(cm.ReleaseError, r"drop=\['tax'\]", tmp_path / "out", ddf, one, accept=())


def changed(**columns):
    """Partitions that are as the table the first time, and have another column later."""
    seen = set()

    def partition(k):
        part = rows(k, FRAME, CUTS)
        again = k in seen
        seen.add(k)
        return (
            part.assign(**{name: make(part) for name, make in columns.items()}) if again else part
        )

    return dd.from_map(partition, range(len(CUTS) - 1), meta=FRAME.iloc[:0])


def texts(part):
    return ["east"] * len(part)


# whose partition cannot be masked as floats
FAR = [Decimal(10**14), *map(Decimal, map(repr, PAY.tolist()[1:]))]
DECIMALS = pd.array(FAR, pd.ArrowDtype(pa.decimal128(30, 2)))
REFUSED = {
    "too few": (
        partitioned(cuts=[0, 7, N]),
        ValueError,
        r"7 records are too few.*\(in partition 0\)",
        {"accept": ()},
    ),
    "other values": (
        changed(pay=lambda part: part["pay"] + 1.0),
        cm.FileError,
        "has other rows",
        {},
    ),
    "text at last": (changed(pay=texts), TypeError, r"partition \d", {}),
    "text elsewhere": (changed(age=texts), cm.FileError, "other rows or columns", {}),
    "digits beyond those of floats": (
        partitioned(FRAME.assign(pay=DECIMALS)),
        ValueError,
        "must hold numbers of which float64 has all digits",
        {"schemes": {"pay": cm.ConditionalMasking(0.6, 300.0, decimals=2)}},
    ),
    "no rows": (partitioned(cuts=[0, 0, 0]), ValueError, "at least 2 records, got none", {}),
    "open ends": (
        partitioned(),
        ValueError,
        "aggregate_ends must be a number in a table of Dask",
        {"schemes": {"pay": cm.ReverseMapping(0.6, 1e3, aggregate_ends="auto")}},
    ),
    "no frame": (FRAME, TypeError, "ddf must be a data frame of Dask, got 'DataFrame'", {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, here, tmp_path):
    ddf, kind, text, options = REFUSED[name]
    assert_refused(kind, text, tmp_path / "out", ddf, **options)


@pytest.mark.parametrize("finds", ["no folder", "another"])
def test_workers_that_do_not_share_the_target(finds, here, tmp_path, monkeypatch):
    (tmp_path / "another").mkdir()
    is_dir = Path.is_dir
    exists = Path.exists
    if finds == "no folder":
        monkeypatch.setattr(Path, "is_dir", lambda path: path.name != ".attempts" and is_dir(path))
    else:
        monkeypatch.setattr(
            Path, "exists", lambda path: ".attempts" not in path.parts and exists(path)
        )
    with pytest.raises(cm.FileError, match="workers and client must share"):
        cm.dask.mask(partitioned(), SCHEMES, tmp_path / "out", **OPEN)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["another"]


def test_gaps_in_one_partition_keep_whole_numbers_whole(here, tmp_path):
    frame = FRAME.assign(bonus=FRAME["bonus"].astype("Int64").mask(FRAME.index < 500))
    schemes = {"bonus": cm.ConditionalMasking(0.6, 200.0, decimals=-1)}
    options = {"nan_policy": "omit", "strata": "place", "round": True}
    with pytest.warns(cm.ReleaseWarning, match="bonus was rounded to multiples of 10"):
        release = cm.dask.mask(partitioned(frame), schemes, tmp_path / "out", **options, **OPEN)

    assert release.schemes["bonus"].strata == "place"
    assert pq.read_table(tmp_path / "out")["bonus"].type == pa.int64()
    assert pq.read_table(tmp_path / "out")["bonus"].null_count == 500


# --- tables of Dask where those in memory are needed ---


SCHEME = SCHEMES["bonus"]
IN_MEMORY = {
    "z": lambda ddf: SCHEME.estimate(ddf["bonus"]),
    "x": lambda ddf: SCHEME.mask(ddf["bonus"], accept="all"),
    "frame": lambda ddf: cm.mask_table(ddf, SCHEMES),
    "frame['pay']": lambda ddf: cm.mask_table({"pay": ddf["pay"]}, {"pay": SCHEMES["pay"]}),
    "other": lambda ddf: estimate().correlation(ddf["age"]),
    "labels": lambda ddf: estimate().group_means(ddf["place"]),
    "W": lambda ddf: estimate().regress(ddf[["age"]]),
    "W['age']": lambda ddf: estimate().regress({"age": ddf["age"]}),
    "weights": lambda ddf: estimate().weighted_mean(ddf["age"]),
    "rows": lambda ddf: estimate().part(ddf["age"] > 30),
    "strata": lambda ddf: replace(SCHEME, strata=("place", "age")).estimate(
        FRAME["bonus"], strata=ddf[["place", "age"]]
    ),
    "values": lambda ddf: cm.Counts(SCHEME).update(ddf["bonus"].to_dask_array()),
}


def estimate():
    return SCHEME.estimate(FRAME["bonus"])


@pytest.mark.parametrize("argument", IN_MEMORY)
def test_tables_and_columns_of_dask_are_named_with_what_takes_them(argument):
    with pytest.raises(
        TypeError, match=r"must be in memory, got a Dask \w+: pass .*compute\(\); cm\.dask\.mask"
    ):
        IN_MEMORY[argument](dd.from_pandas(FRAME, npartitions=2))


def test_a_released_table_is_not_masked_again(here, tmp_path):
    cm.dask.mask(partitioned(), SCHEMES, tmp_path / "out", **OPEN)
    mark = {"version": 1, "columns": [*SCHEMES], "records": N}
    assert pd.read_parquet(tmp_path / "out").attrs == {"condmask": mark}
    assert pd.read_parquet(tmp_path / "out/part-00000.parquet").attrs == {"condmask": mark}

    again = dd.read_parquet(tmp_path / "out")
    assert_refused(ValueError, "pay, bonus is masked already in ddf", tmp_path / "two", again)
    assert_refused(
        ValueError, "mask all columns in one call", tmp_path / "two", again, {"age": SCHEME}
    )
