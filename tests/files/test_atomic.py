"""Releases that appear whole or not at all: permissions, other jobs, kills at any moment."""

import os
import random
import signal
import stat
import tempfile
import time

import numpy as np
import pytest

import condmask as cm
from condmask.files import atomic

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 500.0)
ROWS = 2_000
ORIGINAL = np.random.default_rng(4).lognormal(7, 0.6, ROWS)


@pytest.fixture(params=["csv", "parquet"])
def source(request, tmp_path):
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        path.write_text("id,income\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(ORIGINAL.tolist())))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"id": np.arange(ROWS), "income": ORIGINAL}), path)
    return path


def release_of(source, folder):
    folder.mkdir(exist_ok=True)
    return folder / f"masked{source.suffix}"


def in_child(job):
    """A process of its own that does the job; its exit code is 0, or 3 where the job was refused."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            job()
            code = 0
        except cm.FileError:
            code = 3
        finally:
            os._exit(code)
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_target_is_no_more_readable_than_the_umask_allows(tmp_path, monkeypatch, umask, nameless):
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    target = tmp_path / "a"
    before = os.umask(umask)
    try:
        with atomic.publishing({target: None}) as [output]:
            output.write(b"half")
            hidden = list(tmp_path.iterdir())
            assert len(hidden) == (0 if nameless else 1)
            assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in hidden)
            output.write(b" whole")
    finally:
        found = os.umask(before)

    assert found == umask
    assert target.read_bytes() == b"half whole"
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [target]


def test_a_target_is_no_more_readable_than_what_it_replaces(tmp_path):
    target = tmp_path / "a"
    target.write_text("private")
    target.chmod(0o640)
    before = os.umask(0)
    try:
        with atomic.publishing({target: atomic.state(target)}) as [output]:
            output.write(b"new")
    finally:
        os.umask(before)

    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_text() == "new"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_target_that_another_job_wrote_meanwhile_is_left_alone(source, tmp_path, overwrite):
    target = release_of(source, tmp_path / "out")
    if overwrite:
        target.write_text("before")

    def other(done, total):
        target.write_text("theirs, and longer")

    word = "was changed" if overwrite else "has appeared"
    with pytest.raises(cm.FileError, match=f"{word} meanwhile, by another job; nothing was published"):
        cm.mask_file(source, target, {"income": SCHEME}, overwrite=overwrite, progress=other)

    assert target.read_text() == "theirs, and longer"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("jobs", [2, 4, 8])
def test_of_jobs_with_one_target_one_wins_whole(source, tmp_path, jobs):
    cm.mask_file(source, release_of(source, tmp_path / "warm"), {"income": SCHEME})  # kernels are compiled
    for trial in range(17):
        target = release_of(source, tmp_path / f"out{trial}")
        schemes = [cm.ConditionalMasking(0.6, 500.0 + k) for k in range(jobs)]
        children = [
            in_child(lambda scheme=scheme, target=target: cm.mask_file(source, target, {"income": scheme}))
            for scheme in schemes
        ]
        codes = [exit_code(child) for child in children]

        assert sorted(codes) == [0] + [3] * (jobs - 1)
        assert cm.read_release(target, "income").scheme.sigma == schemes[codes.index(0)].sigma
        beside = 2 if target.suffix == ".csv" else 1
        assert len(list(target.parent.iterdir())) == 1 + beside


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_at_any_moment_leaves_nothing_raw(source, tmp_path, monkeypatch, sent):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    cm.mask_file(source, release_of(source, tmp_path / "warm"), {"income": SCHEME})  # kernels are compiled
    start = time.perf_counter()
    for k in range(5):
        target = release_of(source, tmp_path / f"whole{k}")
        assert (
            exit_code(in_child(lambda target=target: cm.mask_file(source, target, {"income": SCHEME}))) == 0
        )
    usual = (time.perf_counter() - start) / 5
    moments = random.Random(7)
    published = 0
    for trial in range(100):
        target = release_of(source, tmp_path / f"out{trial}")
        child = in_child(lambda target=target: cm.mask_file(source, target, {"income": SCHEME}))
        time.sleep(moments.uniform(0.0, 1.6) * usual)
        os.kill(child, sent)
        exit_code(child)

        assert list(temporary.iterdir()) == []
        if target.exists():
            published += 1
            assert cm.read_release(target, "income").n == ROWS
        for path in target.parent.iterdir():
            assert not shown(path.read_bytes())
    assert 0 < published < 100


@pytest.mark.parametrize("window", range(3))
def test_a_kill_between_two_names_leaves_nothing_that_disagrees(source, tmp_path, window):
    target = release_of(source, tmp_path / "out")
    cm.mask_file(source, target, {"income": SCHEME})
    replace, taken = os.replace, []

    def killed(hidden, final):
        if len(taken) == window:
            os._exit(9)
        taken.append(final)
        replace(hidden, final)

    def job():
        os.replace = killed
        cm.mask_file(source, target, {"income": cm.ConditionalMasking(0.6, 600.0)}, overwrite=True)

    code = exit_code(in_child(job))
    if source.suffix == ".parquet" and window == 2:  # two files alone
        assert code == 0
    else:
        assert code == 9
    if source.suffix == ".csv" and window == 2:  # the new scheme beside the old data
        with pytest.raises(cm.FileError, match=r"is not the file that masked[.]csv"):
            cm.read_release(target, "income")
    else:
        sigma = 600.0 if code == 0 else 500.0
        assert cm.read_release(target, "income").scheme.sigma == sigma
    assert not any(shown(path.read_bytes()) for path in target.parent.iterdir())


def shown(data):
    """Whether bytes hold several originals in a row, which no release does but by chance in a million."""
    texts = [",".join(map(repr, ORIGINAL[k : k + 1].tolist())).encode() for k in range(0, ROWS, 50)]
    runs = [ORIGINAL[k : k + 4].tobytes() for k in range(0, ROWS - 4, 50)]
    # masked values lie on a grid that no original does
    return any(text in data for text in texts) or any(run in data for run in runs)
