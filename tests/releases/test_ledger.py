"""Releases are entered in a ledger, where a second one of the same records is noticed.

Oracles: the file's bytes, modes and lines, and other processes.
"""

import json
import multiprocessing
import os
import pickle
import re
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ledger_job import job

import condmask as cm
from condmask.releases import ledger as module
from condmask.releases import masking
from condmask.releases.ledger import Ledger, default_path

pytestmark = pytest.mark.usefixtures("unaudited")
N = 2_000
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=2)
TWICE = "shares 100% of its records with .*, released on 20"


def people(seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"income": rng.lognormal(8, 0.5, N).round(2), "age": rng.integers(18, 90, N)})


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    return path


def mask(source, target="a.parquet", scheme=SCHEME, **options):
    return cm.mask_file(source, source.with_name(target), {"income": scheme}, **options)


def numbers(path=None):
    content = Ledger(default_path() if path is None else path).content()
    return [] if content is None else list(content.entries)


def test_tests_have_ledgers_of_their_own():
    assert not default_path().is_relative_to(Path.home() / ".local")
    assert not default_path().exists()


def test_a_second_release_is_refused(source):
    mask(source)
    with pytest.raises(cm.ReleaseError, match=f"b.parquet {TWICE}.*at least 7[0-9]%.*6[0-4]%.*--again"):
        mask(source, "b.parquet", cm.ConditionalMasking(0.6, 300.0, decimals=2))

    assert not source.with_name("b.parquet").exists()
    assert numbers() == [1]


def test_again_goes_on_and_says_what_it_costs(source):
    mask(source)
    with pytest.warns(cm.ReleaseWarning, match=f"b.parquet {TWICE}"):
        mask(source, "b.parquet", again=True)
    with pytest.warns(cm.ReleaseWarning, match=f"c.parquet {TWICE}.*and of 1 more: .* at least (8[5-9]|9.)%"):
        mask(source, "c.parquet", again=True)

    assert numbers() == [1, 2, 3]


@pytest.mark.parametrize("form", ["csv", "feather"])
def test_formats_do_not_matter(source, form):
    mask(source)
    other = source.with_name(f"other.{form}")
    people().to_csv(other, index=False) if form == "csv" else people().to_feather(other)

    with pytest.raises(cm.ReleaseError, match=TWICE):
        mask(other, "b.parquet")


def test_frames_and_files_are_the_same(source):
    mask(source)
    release = cm.mask_table(people(), {"income": SCHEME})

    with pytest.raises(cm.ReleaseError, match=TWICE):
        release.write(source.with_name("b.csv"))


def test_a_large_part_of_many(source):
    mask(source)
    grown = source.with_name("grown.parquet")
    pd.concat([people(), people(2), people(3)]).to_parquet(grown)

    with pytest.raises(
        cm.ReleaseError, match=r"b.parquet holds (9\d|100)% of the records of .*a.parquet, released"
    ):
        mask(grown, "b.parquet")


def test_other_records_are_released(source):
    mask(source)
    other = source.with_name("other.parquet")
    people(2).to_parquet(other)

    assert mask(other, "b.parquet").records == N
    assert numbers() == [1, 2]


def test_reverse_mapping_too(source):
    mask(source)
    with pytest.raises(cm.ReleaseError, match=f"{TWICE}.*anyone who has both sees"):
        mask(source, "b.parquet", cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True))


def test_what_leaves_no_entry(source):
    mask(source, rng=1)
    mask(source, "x.parquet", dry_run=True)
    mask(source, "b.parquet", ledger=False)
    with pytest.raises(ValueError, match="no column 'wage'"):
        cm.mask_file(source, source.with_name("c.parquet"), {"wage": SCHEME})
    cm.mask_table(people(), {"income": SCHEME}, rng=1).write(source.with_name("d.csv"))

    assert not default_path().exists()


def test_a_dry_run_is_refused_as_well(source):
    mask(source)
    with pytest.raises(cm.ReleaseError, match=TWICE):
        mask(source, "b.parquet", dry_run=True)


def test_a_job_that_fails_leaves_no_entry(source, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(cm.FileError):
        mask(source)

    assert numbers() == []


def test_one_release_may_be_written_twice(tmp_path):
    release = cm.mask_table(people(), {"income": SCHEME})
    release.write(tmp_path / "a.csv")
    release.write(tmp_path / "a.parquet")

    assert numbers() == [1]


def test_a_release_travels_without_its_originals():
    release = cm.mask_table(people(), {"income": SCHEME})

    assert release._originals is not None
    assert pickle.loads(pickle.dumps(release))._originals is None


def test_only_its_owner_reads_it(source):
    mask(source)
    path = default_path()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.parent == Path(os.environ["XDG_STATE_HOME"])


def test_another_ledger_has_another_key(source, tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "x" / "other.jsonl"
    mask(source, "a.parquet", ledger=one)
    mask(source, "b.parquet", ledger=other)

    heads = [json.loads(path.read_text().split("\n")[0]) for path in (one, other)]
    assert heads[0]["key"] != heads[1]["key"]
    assert len(bytes.fromhex(heads[0]["key"])) == 16
    entries = [json.loads(path.read_text().split("\n")[1])["samples"] for path in (one, other)]
    assert entries[0][0]["records"] != entries[1][0]["records"]
    assert not default_path().exists()


def test_the_entry_survives_the_file(source):
    mask(source)
    line = json.loads(default_path().read_text().split("\n")[1])
    (entry,) = Ledger(default_path()).content().entries.values()

    assert line == module._to_json(entry)
    assert line["target"] == str(source.with_name("a.parquet"))
    assert line["schemes"]["income"]["sigma"] == 500.0


def test_a_forgotten_release_is_not_looked_up(source):
    mask(source)
    Ledger(default_path()).forget(1)
    mask(source, "b.parquet")

    assert numbers() == [3]  # by line
    with pytest.raises(ValueError, match=r"forget must be the number of a release in .* \(3\), got 1"):
        Ledger(default_path()).forget(1)


@pytest.mark.parametrize("damage", ["cut", "text", "head", "base64", "key", "whole", "time", "schemes"])
def test_a_damaged_ledger_is_one_sentence_and_is_kept(source, damage):
    mask(source)
    path = default_path()
    head, entry, _ = path.read_text().split("\n")
    (whole,) = re.findall('"whole": [0-9]+', entry)[:1]
    text = {
        "cut": head + "\n" + entry[:-40],
        "text": f"{head}\n{entry}\nwhat is this\n",
        "head": f"{{}}\n{entry}\n",
        "base64": f"{head}\n{entry.replace('==', '=!').replace('A', '*')}\n",
        "key": f"{head[:-4]}{head[-2:]}\n{entry}\n",
        "whole": f"{head}\n{entry.replace(whole, whole + '0' * 20)}\n",
        "time": f"{head}\n{json.dumps({**json.loads(entry), 'time': 'noon'})}\n",
        "schemes": f"{head}\n{json.dumps({**json.loads(entry), 'schemes': 7})}\n",
    }[damage]
    path.write_text(text)
    line = {"text": 3, "head": 1, "key": 1}.get(damage, 2)

    with pytest.raises(
        cm.FileError, match=f"ledger.jsonl is damaged in line {line}: restore it .*--no-ledger"
    ):
        mask(source, "b.parquet")
    assert path.read_text() == text
    assert not source.with_name("b.parquet").exists()


def test_a_folder_that_cannot_be_written_is_a_warning(source, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(
        cm.ReleaseWarning, match=r"the ledger .* cannot be used \(.*\): this release is not entered"
    ):
        release = mask(source, ledger=tmp_path / "file" / "ledger.jsonl")

    assert release.path.exists()


def test_a_full_disk_leaves_the_ledger_as_it_was(source, monkeypatch):
    mask(source)
    before = default_path().read_bytes()
    other = source.with_name("other.parquet")
    people(2).to_parquet(other)
    monkeypatch.setattr(module.os, "fsync", full)

    with pytest.warns(cm.ReleaseWarning, match=r"no space left\): this release is not entered"):
        mask(other, "b.parquet")
    assert default_path().read_bytes() == before


def full(descriptor):
    if os.readlink(f"/proc/self/fd/{descriptor}").endswith("ledger.jsonl"):
        raise OSError(28, "No space left")


@pytest.mark.parametrize("where", [None, 1, b"path"])
def test_what_is_no_ledger(source, where):
    with pytest.raises(TypeError, match="ledger must be True, False or a path, got"):
        mask(source, ledger=where)


def test_a_folder_is_no_ledger(source, tmp_path):
    with pytest.raises(cm.FileError, match="ledger must be a file, got the directory"):
        mask(source, ledger=tmp_path)


@pytest.mark.slow
def test_of_two_jobs_at_once_one_is_refused(source, tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    path = tmp_path / "ledger.jsonl"
    jobs = [
        context.Process(target=job, args=(source, tmp_path / name, path, SCHEME, barrier, results))
        for name in ("a.parquet", "b.parquet")
    ]
    for process in jobs:
        process.start()
    found = sorted(results.get(timeout=60) for _ in jobs)
    for process in jobs:
        process.join()

    assert found == ["refused", "released"]
    assert numbers(path) == [1]


def test_a_release_that_came_meanwhile_is_noticed(source, monkeypatch):
    publish = masking.publish

    def slow(*args):
        monkeypatch.setattr(masking, "publish", publish)
        mask(source, "faster.parquet")
        return publish(*args)

    monkeypatch.setattr(masking, "publish", slow)
    with pytest.raises(cm.ReleaseError, match=r"slower.parquet shares 100% .*faster.parquet"):
        mask(source, "slower.parquet")
    assert not source.with_name("slower.parquet").exists()
    assert numbers() == [1]
