"""Dask frames in folders of Parquet, a file for each partition, whole or not at all.

Oracle: the same release as one file, written on one machine.
"""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import partitioned
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client
from partitioned import CUTS, SCHEMES, cut, people, released

import condmask as cm
from condmask.dask import write as module
from condmask.dask.release import DaskRelease
from condmask.files import publish_folder
from condmask.files.atomic import FileError, Output

PARTS = [f"part-{k:05}.parquet" for k in range(6)]


@pytest.fixture
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


def tables(folder, names=PARTS):
    return [pq.read_table(folder / name) for name in names]


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".")]


KINDS = {
    "additive": SCHEMES,
    "reverse mapping": {"income": cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True)},
    "whole numbers": {"age": cm.ConditionalMasking(0.5, 3.0, decimals=0)},
    "nullable": {"size": cm.ConditionalMasking(0.5, 3.0, decimals=1)},
    "codes as nulls": {"age": cm.ConditionalMasking(0.5, 3.0, decimals=0, missing=18, missing_as="null")},
}


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("single", [False, True])
def test_parts_hold_what_one_file_does(tmp_path, name, single):
    frame = people()
    if single:
        frame = frame.astype({"income": np.float32, "age": np.int16})
    alone, release = released(frame, KINDS[name])
    alone.write(tmp_path / "a.parquet", ledger=False)
    release.write(tmp_path / "many", ledger=False)

    expected, parts = pq.read_table(tmp_path / "a.parquet"), tables(tmp_path / "many")
    assert [part.num_rows for part in parts] == np.diff([0, *CUTS, 4_000]).tolist()
    for part in parts:
        assert part.schema.types == expected.schema.types
        notes = [{k: v for k, v in t.schema.metadata.items() if k != b"condmask"} for t in (part, parts[0])]
        assert notes[0] == notes[1]
    assert pa.concat_tables([part.replace_schema_metadata() for part in parts]).equals(
        expected.replace_schema_metadata()
    )
    assert pd.read_parquet(tmp_path / "many").dtypes.equals(pd.read_parquet(tmp_path / "a.parquet").dtypes)


@pytest.mark.usefixtures("synchronous")
def test_parts_say_whose_they_are_and_the_folder_lists_them(tmp_path):
    _, release = released(people())
    release.write(tmp_path / "many")

    listed = json.loads((tmp_path / "many/_condmask.json").read_text())
    assert [part["name"] for part in listed["parts"]] == PARTS
    assert [part["records"] for part in listed["parts"]] == np.diff([0, *CUTS, 4_000]).tolist()
    for k, part in enumerate(tables(tmp_path / "many"), 1):
        told = json.loads(part.schema.metadata[b"condmask"])
        assert told == {"version": 1, "part": k, "parts": 6, "release": listed["release"]}
    assert "in 6 files, which are one release" in (tmp_path / "many/_README.md").read_text()
    (tmp_path / "many" / PARTS[1]).rename(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="is part 2 of 6 of release"):
        cm.read_release(tmp_path / "x.parquet")


@pytest.mark.usefixtures("synchronous")
def test_names_are_in_the_order_of_many_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "DIGITS", 1)
    frame = people(220)
    _, release = released(frame, {"income": SCHEMES["income"]}, cuts=list(range(20, 220, 20)))
    release.write(tmp_path / "many")
    names = [f"part-{k:02}.parquet" for k in range(11)]
    assert pa.concat_tables(tables(tmp_path / "many", names))["age"].to_pylist() == frame["age"].tolist()
    assert cm.read_release(tmp_path / "many").records == 220


@pytest.mark.usefixtures("synchronous")
def test_a_release_is_replaced_only_when_that_is_asked_for_and_keeps_its_modes(tmp_path):
    _, release = released(people())
    release.write(tmp_path / "many")
    (tmp_path / "many").chmod(0o750)
    for path in (tmp_path / "many").iterdir():
        path.chmod(0o640)
    _, other = released(people(seed=2), cuts=[100])
    with pytest.raises(FileError, match=r"many exists; it is replaced only with --force \(overwrite=True\)"):
        other.write(tmp_path / "many")
    other.write(tmp_path / "many", overwrite=True)
    assert sorted(path.name for path in (tmp_path / "many").glob("part*")) == PARTS[:2]
    for path in (tmp_path / "many").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o137 == 0, path
    assert stat.S_IMODE((tmp_path / "many").stat().st_mode) & 0o027 == 0


@pytest.mark.usefixtures("synchronous")
def test_targets_that_may_not_be_written_are_refused(tmp_path):
    _, release = released(people())
    (tmp_path / "file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes").touch()
    release.write(tmp_path / "first")
    for name, match in {
        "a.parquet": "must be a folder if the source has partitions, got .*the name of a file$",
        "file": "must be a folder if the source has partitions, got .*which is a file",
        "none/x": "cannot write to .*none: no such file or directory",
        "first/x": "must be outside other releases",
        "other": "is not a release of several files, and is not replaced",
    }.items():
        with pytest.raises((FileError, ValueError), match=match):
            release.write(tmp_path / name, overwrite=True)


def broken(error):
    """A writer that fails in the third part, when that is written."""
    whole = module.FrameTable.rewrite

    def rewrite(table, output, rows, metadata):
        whole(table, output, rows, metadata)
        if metadata["part"] == 3:
            raise error

    return rewrite


@pytest.mark.usefixtures("synchronous")
def test_a_full_disk_is_one_sentence_and_nothing_is_published(tmp_path, monkeypatch):
    _, release = released(people())
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(module.FrameTable, "rewrite", broken(full))
        with pytest.raises(FileError) as error:
            release.write(tmp_path / "many")
    assert str(error.value) == (
        f"cannot write {tmp_path / 'many'}: no space left on the device; nothing was published"
    )
    assert list(tmp_path.iterdir()) == []
    release.write(tmp_path / "many")  # nor is it in the ledger
    cm.read_release(tmp_path / "many")


@pytest.mark.usefixtures("synchronous")
def test_a_frame_of_other_rows_is_not_published(tmp_path):
    alone, release = released(people())
    starts, _ = partitioned.parts_of(alone.data)
    starts[2] -= 1
    wrong = DaskRelease(release._published, data=cut(alone.data), starts=starts)
    with pytest.raises(FileError, match=r"part-00001\.parquet has 700 records, not 699; nothing was"):
        wrong.write(tmp_path / "many")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("synchronous")
def test_parts_of_other_types_are_not_published(tmp_path, monkeypatch):
    _, release = released(people())
    one = module._write_part
    monkeypatch.setattr(
        module, "_write_part",
        lambda part, path, metadata, **options: one(part, path, metadata, **options)._replace(
            types=("double", "double" if metadata["part"] == 4 else "int64")
        ),
    )  # fmt: skip
    with pytest.raises(FileError, match=r"a column would be int64 and double in part-00000.* and part-00003"):
        release.write(tmp_path / "many")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("synchronous")
def test_a_folder_that_a_worker_or_the_client_does_not_see(tmp_path, monkeypatch):
    _, release = released(people())
    one = module._write_part
    monkeypatch.setattr(
        module,
        "_write_part",
        lambda part, path, *rest, **options: one(part, f"/none{path}", *rest, **options),
    )
    with pytest.raises(FileError, match=r"all workers share: .* does not see .*nothing was published"):
        release.write(tmp_path / "many")

    def elsewhere(part, path, *rest, **options):
        written = one(part, path, *rest, **options)
        Path(path).unlink()
        return written

    monkeypatch.setattr(module, "_write_part", elsewhere)
    with pytest.raises(FileError, match=r"the client does not see part-00000\.parquet, which .* wrote in "):
        release.write(tmp_path / "many")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("synchronous")
def test_what_dead_workers_left_is_no_part_of_the_release(tmp_path, monkeypatch):
    rewrite = module.FrameTable.rewrite

    def leaving(table, output, rows, metadata):
        output.final.with_name(f".{output.final.name}.0123").touch()
        rewrite(table, output, rows, metadata)

    monkeypatch.setattr(module.FrameTable, "rewrite", leaving)
    _, release = released(people())
    release.write(tmp_path / "many")
    names = {path.name for path in (tmp_path / "many").iterdir()}
    assert names == {*PARTS, "_condmask.json", "_README.md"}


@pytest.mark.usefixtures("synchronous")
def test_a_part_that_is_written_when_the_job_has_failed_comes_to_nothing(tmp_path, monkeypatch):
    late = []

    def failing(table, output, rows, metadata):
        late.append(Output(output.final))
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module.FrameTable, "rewrite", failing)
    _, release = released(people())
    with pytest.raises(FileError, match="input/output error"):
        release.write(tmp_path / "many")
    with pytest.raises(OSError, match="No such file"):
        late[0].finish()
    late[0].discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("synchronous")
def test_what_is_removed_has_no_name_for_workers_any_more(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        publish_folder.shutil, "rmtree",
        lambda path, ignore_errors: seen.append([child.name for child in Path(path).iterdir()]),
    )  # fmt: skip
    monkeypatch.setattr(module.FrameTable, "rewrite", broken(OSError(5, "Input/output error")))
    _, release = released(people())
    with pytest.raises(FileError):
        release.write(tmp_path / "many")
    assert seen == [["gone"]]


# --- on a cluster ---


def test_a_cluster_writes_the_same_bytes_also_if_a_worker_is_killed(client, tmp_path, monkeypatch):
    monkeypatch.setattr(publish_folder, "group_name", lambda: "0")
    _, release = released(people())
    with dask.config.set(scheduler="synchronous"):
        release.write(tmp_path / "alone", ledger=False)
    client.run(partitioned.dying, str(tmp_path / "died"))
    release.write(tmp_path / "many")

    assert (tmp_path / "died").exists()
    names = sorted(path.name for path in (tmp_path / "alone").iterdir())
    assert sorted(path.name for path in (tmp_path / "many").iterdir()) == names
    for name in names:
        same = (tmp_path / "many" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
        assert same or name == "_README.md"
    assert cm.read_release(tmp_path / "many")["income"].mean() > 0
    client.wait_for_workers(2, timeout=60)


@pytest.mark.slow
def test_workers_that_die_again_and_again_publish_nothing(tmp_path):
    alone, release = released(people(), cuts=[])
    deadly = dask.delayed(os.kill)(dask.delayed(os.getpid)(), signal.SIGKILL)
    data = dd.from_delayed([deadly], meta=alone.data.iloc[:0], verify_meta=False)
    release = DaskRelease(release._published, data=data, starts=np.array([0, 4_000]))
    options = {"dataframe.convert-string": False, "distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(options),
        Client(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=0),
        pytest.raises(FileError, match="the workers that wrote one of its parts died"),
    ):
        release.write(tmp_path / "many")
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_is_killed_leaves_no_release_and_does_not_hinder_the_next_one(client, tmp_path):
    target, here, go = tmp_path / "many", tmp_path / "here", tmp_path / "go"
    job = subprocess.Popen(
        [sys.executable, partitioned.__file__, client.scheduler.address, target, here, go],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    while not (here.exists() and any(tmp_path.glob(".*/new/part-00000.parquet"))):
        assert job.poll() is None
        time.sleep(0.01)
    job.kill()
    job.wait()
    assert not target.exists()
    assert len(hidden(tmp_path)) == 1

    go.touch()  # what the dead client had asked for goes on, and may come to the folder when that is removed
    _, release = released(people())
    release.write(target)
    assert hidden(tmp_path) == []
    assert cm.read_release(target)["income"].mean() > 0
