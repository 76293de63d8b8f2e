"""What Windows lacks is not needed: the same files are masked to the same bytes.

Windows is played as far as that can be done elsewhere: POSIX modules are taken away, folders cannot be
opened, a file that is open can be neither replaced nor removed, and text is in cp1252.
"""

import builtins
import io
import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import condmask as cm

RNG = np.random.default_rng(1)
PLACES = ["Zürich", "Kraków", "東京"]  # of which cp1252 has no word for two
TABLE = pd.DataFrame({"income": RNG.lognormal(8.0, 0.4, 160).round(2), "région": RNG.choice(PLACES, 160)})
SCHEME = {"income": cm.ConditionalMasking(0.6, 600.0, decimals=2)}


def played(patch):
    """Take from this system what Windows lacks."""
    for name in ("fcntl", "resource", "pwd", "grp", "termios"):
        patch.setitem(sys.modules, name, None)
    patch.setattr(shutil, "_use_fd_functions", False)
    for name in ("replace", "rename", "unlink", "remove"):
        patch.setattr(os, name, unless_open(getattr(os, name)))
    opened, plain, encoding_of = os.open, builtins.open, io.text_encoding
    patch.setattr(os, "open", lambda path, *args, **kw: opened(no_folder(path), *args, **kw))
    patch.setattr(io, "text_encoding", lambda encoding, *level: encoding_of(encoding or "cp1252", *level))

    def in_cp1252(file, mode="r", buffering=-1, encoding=None, *rest, **named):
        own = encoding or (None if "b" in mode else "cp1252")
        return plain(file, mode, buffering, own, *rest, **named)

    patch.setattr(builtins, "open", in_cp1252)
    patch.setattr(io, "open", in_cp1252)


def unless_open(function):
    """The function, refused for a file that this process has open."""

    def call(*paths, **named):
        links = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
        for path in map(str, paths):
            if os.path.isfile(path) and os.path.realpath(path) in links:
                raise PermissionError(13, "The process cannot access the file", path)
        return function(*paths, **named)

    return call


def no_folder(path):
    """A path that may be opened: on Windows no folder may."""
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return path


def work(folder, patch):
    """Files masked, replaced, read and reported; all that was written, but for times and names of groups."""
    patch.setenv("XDG_DATA_HOME", str(folder / "state"))
    patch.chdir(folder)
    (folder / "many").mkdir()
    TABLE.to_csv("in.csv", index=False, encoding="utf-8")
    TABLE.to_parquet("in.parquet", index=False)
    TABLE.to_csv("many/a.csv", index=False, encoding="utf-8")
    for source, target in (
        ("in.csv", "out.csv"),
        ("in.csv", "out.csv"),
        ("in.parquet", "b.arrow"),
        ("many", "c"),
    ):
        options = {"force": os.path.exists(target), "again": True, "accept_visible_coins": True}
        cm.mask_file(source, target, SCHEME, strata="région", rng=1, **options)
    cm.report("out.csv", "report.html")
    study = cm.simulate(
        cm.Resampled(TABLE["income"]), {"東京": SCHEME["income"]}, n=100, replications=4, rng=1
    )
    study.save("study.npz")
    means = cm.read_release("c", "income").group_means(TABLE["région"]).estimate.tolist()
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return (folder / "out.csv").read_bytes(), means, str(cm.StudyResult.load("study.npz")), written


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="which files are open, Linux tells")
@pytest.mark.filterwarnings("ignore")
def test_what_windows_lacks_is_not_needed(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        here = work(tmp_path_factory.mktemp("here"), patch)
    with pytest.MonkeyPatch.context() as patch:
        played(patch)
        there = work(tmp_path_factory.mktemp("there"), patch)

    assert there == here
