"""Folders of files: the released ones have the same names and records, and other columns as they were."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import condmask as cm
from condmask.files.formats import FILENAME
from condmask.files.read import open_table, read_labels
from fuzz.material import as_arrow, as_parquet, fresh, released, same
from fuzz.target import arguments

FOLDERS = (
    "", "k=1/", "k=2.5/", "k=a/", "k=/", "k=__HIVE_DEFAULT_PARTITION__/", "k=1/m=%2F/", "k=é/", "k=1/k=2/",
    "x=1/", "sub/", "_temporary/", ".hidden/", "=/", "k==/", "k=%ZZ/", "k=%00/", "t=1/",
    "__filename=1/", " /",
)  # fmt: skip
FILES = (
    "a",
    "b",
    "_a",
    ".a",
    "a b",
    "é",
    "a*",
    "[a]",
    "a\nb",
    "\udcff",
    "a.csv",
    "README",
    "%2F",
    "-",
    "<b>",
)
ENDINGS = (".csv", ".csv.gz", ".parquet", ".arrow", ".txt", ".md", "", ".CSV", ".condmask.json")


def csv_of(table):
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    return "\n".join([",".join(table.column_names), *lines, ""]).encode()


def content(kind, size):
    """A table of few columns, which differ between kinds."""
    x = np.arange(size) * 1.5
    more = [{}, {"t": ["a"] * size}, {"u": list(range(size))}, {"t": [1.5] * size}][kind]
    return pa.table({"x": x if kind != 3 else np.arange(size), "t": ["b"] * size, **more})


FILE = st.tuples(
    st.sampled_from(FOLDERS), st.sampled_from(FILES), st.sampled_from(ENDINGS) | st.just(""),
    st.sampled_from([0, 0, 0, 1, 2, 3]), st.integers(0, 12),
    st.sampled_from([*("",) * 3, "cut", "empty"]),
)  # fmt: skip


@arguments(
    files=st.lists(FILE, min_size=1, max_size=5), usual=st.sampled_from(ENDINGS[:4]),
    pattern=st.sampled_from(["d", "d", "d", "d/*", "d/**/*", "d/k=*/*", "d/[ab]*", "d/nothing*"]),
)  # fmt: skip
def one(files, usual, pattern):
    fresh("none", b"").unlink()
    for folder, name, ending, kind, size, fault in files:
        path = Path(f"d/{folder}{name}{ending or usual}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            continue
        data = {".parquet": as_parquet, ".arrow": as_arrow}.get(ending or usual, csv_of)(content(kind, size))
        path.write_bytes({"": data, "cut": data[: len(data) // 2], "empty": b""}[fault])
    source = Path(pattern)
    table = open_table(source)
    assert len(table.names) == len({*table.names})
    target = released(source, "x")
    again = open_table(target)
    assert {*again.names} == {*table.names}
    for name in table.names:
        if name not in ("x", FILENAME):
            assert same(read_labels(target, name), read_labels(source, name)), "another column changed"
    assert cm.read_release(target, "x").n == np.isfinite(cm.read_column(source, "x")).sum()
    shutil.rmtree("d")
    assert cm.read_release(target, "x").n >= 2
