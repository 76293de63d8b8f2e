"""What other systems lack is not needed: the same work gives the same, and leaves nothing behind.

Oracle: the same work on the system that runs the tests. Windows is played as far as that can be done
elsewhere: names that its standard library lacks are taken away, folders cannot be opened, a file that is open
can be neither replaced nor removed, and text is in cp1252.
"""

import builtins
import io
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.cli import main

RNG = np.random.default_rng(1)
N = 160
TABLE = pd.DataFrame(
    {
        "income": RNG.lognormal(8.0, 0.4, N).round(2),
        "région": RNG.choice(["Zürich", "Kraków", "東京"], N),  # of which cp1252 has no word for two
        "age": RNG.integers(18, 66, N),
    }
)
SCHEME = {"income": cm.ConditionalMasking(0.6, 600.0, decimals=2)}
COMMAND = ("-c", "income", "--p", "0.6", "--sigma", "600", "--decimals", "2")

NAMES = {  # some are there for whoever begins to use them
    os: "fork fchmod fchown chown getuid geteuid getpgid killpg setsid mkfifo posix_fallocate "
    "sched_getaffinity pread pwrite sendfile sysconf register_at_fork O_TMPFILE O_DIRECTORY O_NOFOLLOW",
    signal: "SIGKILL SIGHUP SIGALRM SIGQUIT SIGPIPE SIGXFSZ pthread_sigmask alarm setitimer sigwait",
    time: "tzset clock_gettime",
}
MODULES = ["fcntl", "resource", "pwd", "grp", "termios"]


def played(patch):
    """Take from this system what Windows lacks."""
    for module, names in NAMES.items():
        for name in names.split():
            patch.delattr(module, name, raising=False)
    for name in MODULES:
        patch.setitem(sys.modules, name, None)
    patch.setattr(shutil, "_use_fd_functions", False)
    for name in ("replace", "rename", "unlink", "remove"):
        patch.setattr(os, name, unless_open(getattr(os, name)))
    opened = os.open
    patch.setattr(os, "open", lambda path, *args, **kw: opened(no_folder(path), *args, **kw))
    text_encoding = io.text_encoding
    patch.setattr(io, "text_encoding", lambda encoding, *level: text_encoding(encoding or "cp1252", *level))
    plain = builtins.open

    def in_cp1252(file, mode="r", buffering=-1, encoding=None, *rest, **named):
        own = encoding or (None if "b" in mode else "cp1252")
        return plain(file, mode, buffering, own, *rest, **named)

    patch.setattr(builtins, "open", in_cp1252)
    patch.setattr(io, "open", in_cp1252)


def unless_open(function):
    """The function, refused for a file that this process has open or in memory: as on Windows."""

    def call(*paths, **named):
        for path in map(str, paths):
            if os.path.isfile(path) and os.path.realpath(path) in files_in_use():
                raise PermissionError(13, "The process cannot access the file", path)
        return function(*paths, **named)

    return call


def files_in_use():
    """The files that this process has open or in memory."""
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    maps = Path("/proc/self/maps").read_bytes().decode(errors="replace").splitlines()
    mapped = {"/" + line.partition("/")[2] for line in maps}
    return {os.path.realpath(link) for link in links} | mapped


def no_folder(path):
    """A path that may be opened: on Windows no folder may."""
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return path


def work(folder, said):
    """Everything that is done with files; what it gives."""
    here = folder.joinpath
    TABLE.to_csv(here("in.csv"), index=False, encoding="utf-8")
    TABLE.to_parquet(here("in.parquet"), index=False)
    here("many").mkdir()
    for k in range(2):
        TABLE[80 * k : 80 * (k + 1)].to_csv(here("many", f"{k}.csv"), index=False, encoding="utf-8")
    found = {}
    for source, target in (("in.csv", "out.csv"), ("in.parquet", "out.arrow"), ("many", "out")):
        for again in range(1 + (target != "out")):
            cm.mask_file(
                here(source),
                here(target),
                SCHEME,
                strata="région",
                rng=1,
                force=bool(again),
                accept_visible_coins=True,
            )
        release = cm.read_release(here(target))
        income = release["income"]
        found[target] = [
            income.mean(),
            income.correlation("age"),
            income.group_means("région").estimate.tolist(),
        ]
    with pytest.raises(cm.CondmaskError):
        cm.mask_file(here("in.csv"), here("out.csv"), SCHEME, rng=2, log=False)
    cm.report(here("out.csv"), here("report.html"))
    named = {"東京": SCHEME["income"], "mean": cm.AdditiveNoise(500.0)}
    x = TABLE["income"].to_numpy()
    study = {"n": 100, "replications": 4, "rng": 1}
    for _ in range(2):
        studied = cm.simulate(cm.Resampled(x), named, checkpoint=here("study"), **study)
    found["study"] = [str(studied), str(cm.StudyResult.load(here("study")))]
    here("study.toml").write_bytes(STUDY.encode())
    for words in (
        ("mask", "in.csv", "cli.csv", *COMMAND, "--no-log"),
        ("estimate", "out.csv", "-c", "income", "--json"),
        ("plan", "in.csv", "-c", "income", "--p", "0.5", "--sigma", "300", "--d", "100"),
        ("simulate", "study.toml"),
    ):
        assert (
            main([str(here(word)) if "." in word and not word[0].isdigit() else word for word in words]) == 0
        )
        found[words[0]] = said().replace(str(folder), "")
    found["bytes"] = here("out.csv").read_bytes()
    found["files"] = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return found


STUDY = """
n = 100
replications = 4
rng = 1

[[schemes]]
name = "東京"
p = 0.6
sigma = 700.0
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What this system gives."""
    with pytest.MonkeyPatch.context() as patch:
        return done(tmp_path_factory.mktemp("here"), patch)


def done(folder, patch):
    """The work in a folder, with warnings off."""
    said = io.StringIO()
    patch.setattr(sys, "stdout", said)
    patch.setenv("XDG_DATA_HOME", str(folder / "state"))

    def since():
        text = said.getvalue()
        said.seek(0)
        said.truncate()
        return text

    return work(folder, since)


@pytest.mark.usefixtures("unaudited")
@pytest.mark.filterwarnings("ignore")
def test_what_windows_lacks_is_not_needed(here, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        played(patch)
        found = done(tmp_path, patch)

    assert found == here
