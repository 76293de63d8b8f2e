"""Rows on their way through a release, in parts of any size; oracles: lists, put together and cut by hand."""

import errno
import re
import tempfile
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import condmask as cm
from condmask._blocks import blocks
from condmask.files import atomic, spool
from condmask.files.atomic import spool as spooling
from condmask.files.formats import Part
from condmask.releases import masking

pytestmark = pytest.mark.usefixtures("unaudited")

SCHEME = cm.ConditionalMasking(0.6, 1.0, step=0)


def rows_of(parts, schemes, kinds=None, progress=None):
    """Masked parts that a release hands out: each is a list of one array per column."""
    kinds = kinds or dict.fromkeys(schemes, "float64")
    total = sum(len(part[0]) for part in parts)
    return spool.ReleasedRows(
        iter([list(map(np.array, part)) for part in parts]), schemes, kinds, total, progress, {}
    )


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8), cuts=st.lists(st.integers(0, 40), max_size=6)
)
def test_rows_come_in_their_order_however_they_are_cut(sizes, cuts):
    n = sum(sizes)
    a, b = np.arange(n, dtype=float), -np.arange(n, dtype=float)
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    parts = [[x[s : s + size] for x in (a, b)] for s, size in zip(starts, sizes, strict=True)]
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]
    told = []
    rows = rows_of(parts, {"a": SCHEME, "b": SCHEME}, progress=lambda *each: told.append(each))

    taken = [rows.take(stop - start) for start, stop in pairwise(edges) if stop > start]

    assert [each for part in taken for each in part["a"].tolist()] == a.tolist()
    assert [each for part in taken for each in part["b"].tolist()] == b.tolist()
    stops = [stop for start, stop in pairwise(edges) if stop > start]
    assert told == [(stop, n) for stop in stops]
    with pytest.raises(cm.FileError, match="the source grew while it was masked; nothing was published"):
        rows.take(1)


# 3.4028235677973366e38 is half way between the largest number of single precision and the next power of 2
@pytest.mark.parametrize(
    ("kind", "last", "finite"),
    [
        ("float64", 1.7976931348623157e308, True),
        ("float64", np.inf, False),
        ("float64", -np.inf, False),
        ("float32", np.nextafter(3.4028235677973366e38, 0.0), True),
        ("float32", 3.4028235677973366e38, False),
        ("float32", -3.4028235677973366e38, False),
        ("float64", 3.4028235677973366e38, True),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_value_that_is_infinite_as_it_is_published_is_not_handed_out(kind, last, finite, at):
    columns = [[1.0, 2.0, 3.0], [np.nan, 2.0, 3.0]]
    columns[at][2] = last
    rows = rows_of([columns], {"a": SCHEME, "b": SCHEME}, dict.fromkeys("ab", kind))

    assert rows.take(2)["ab"[at]][1] == 2.0  # which are finite
    if finite:
        assert np.isfinite(rows.take(1)["ab"[at]]).all()
    else:
        with pytest.raises(ValueError, match=f"{'ab'[at]} must stay finite when it is masked: its noise is"):
            rows.take(1)


def test_a_value_that_is_a_code_as_it_is_published_is_not_handed_out():
    coded = cm.ConditionalMasking(0.6, 1.0, step=0, missing=(-99.9,))
    rows = rows_of(
        [[[1.0, -99.9], [-99.9, 2.0]]], {"a": SCHEME, "b": coded}, {"a": "float64", "b": "float32"}
    )

    with pytest.raises(
        ValueError, match=r"b has a masked value that equals its code -99\.9; nothing was released"
    ):
        rows.take(2)


# --- labels ---

NAN = float("nan")
LABELS = {
    "text": ["b", "a", "", "c"],
    "numbers": [2, -1, 30, 4],
    "gaps": ["b", None, "a", None],
    "NaN": [2.0, NAN, 1.0, NAN],
    "NaN alone": [NAN, NAN, NAN, NAN],
}


class Labelled:
    """A file with a column of labels, in parts that each number theirs anew and make NaN anew."""

    def __init__(self, parts):
        self.of_labels = parts

    def parts(self, names, labels):
        for part in self.of_labels:
            distinct = list(dict.fromkeys(part))
            copies = [float("nan") if each != each else each for each in distinct]
            code = np.array([distinct.index(each) for each in part], dtype=np.int64)
            yield Part({name: (np.ones(code.size), "int") for name in names}, {labels[0]: (code, copies)})


@pytest.mark.parametrize("kind", LABELS)
@given(places=st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=6))
def test_rows_have_one_number_where_they_have_one_label_in_whatever_part(kind, places):
    parts = [[LABELS[kind][k] for k in part] for part in places]
    labels = [None if each != each else each for part in parts for each in part]

    known = {}
    code = [k for part in spool.coded(Labelled(parts), "g", known) for k in part.tolist()]

    in_order = list(dict.fromkeys(labels))
    assert code == [in_order.index(label) for label in labels]
    assert list(known) == in_order


@pytest.mark.parametrize("kind", LABELS)
def test_strata_are_numbered_in_the_order_of_their_labels(monkeypatch, kind):
    monkeypatch.setattr(spool, "blocks", lambda n: blocks(n, 5))
    parts = [LABELS[kind][k:] + LABELS[kind][:k] for k in range(3)]
    with tempfile.TemporaryFile() as numbers, tempfile.TemporaryFile() as file:
        _, _, (found,) = spool.spool_columns(Labelled(parts), ["x"], ["g"], iter([numbers, file]).__next__)

        own = [str(None if each != each else each) for part in parts for each in part]
        # labels are ordered as numbers or as text; gaps make text of them
        ascending = sorted(set(own), key=int if kind == "numbers" else str)
        assert [str(each) for each in found.distinct] == ascending
        assert [str(found.distinct[k]) for k in found.code] == own


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_missing_labels_are_one_stratum_across_the_parts_of_a_file(tmp_path, suffix):
    labels = [NAN if k % 3 == 0 else float(k % 3) for k in range(300)]
    pay = np.sqrt(np.arange(2.0, 302.0))
    table = pa.table({"pay": pay, "g": pa.array(labels, from_pandas=False)})
    assert table["g"].null_count == 0
    source, target = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    if suffix == "arrow":
        with pa.ipc.new_file(source, table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
    else:
        pq.write_table(table, source, row_group_size=7)
    scheme = cm.ConditionalMasking(0.6, 0.5, step=0, strata="g")

    # a part has three rows of a stratum, of which a file may not have fewer than ten
    cm.mask_file(source, target, {"pay": scheme}, rng=1)

    expected = scheme.mask(pd.Series(pay, name="pay"), strata=labels, rng=1)
    assert np.array_equal(cm.read_column(target, "pay"), expected)
    assert cm.read_release(target, "pay").covariance(pay) == scheme.estimate(
        expected.to_numpy(), strata=labels
    ).covariance(pay)


# --- the place for temporary files ---


def masked_from(tmp_path, suffix):
    """Mask a file; what is in its folder afterwards must be the file alone."""
    frame = pd.DataFrame({"x": np.arange(400.0) * 7 % 301, "g": np.arange(400) % 2})
    source = tmp_path / f"a.{suffix}"
    frame.to_csv(source, index=False) if suffix == "csv" else frame.to_parquet(source)
    with pytest.raises(cm.FileError) as told:
        cm.mask_file(source, tmp_path / f"b.{suffix}", {"x": SCHEME}, strata="g")
    assert list(tmp_path.iterdir()) == [source]
    return str(told.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_place_for_temporary_files_is_blamed_and_nothing_else(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(atomic, "nameless", lambda **_: open("/dev/full", "wb", buffering=0))  # noqa: SIM115
    rows = r"\d{3} rows takes up to \d+\.\d kB there"  # of text estimated

    said = masked_from(tmp_path, suffix)

    place = re.escape(tempfile.gettempdir())
    sentence = f"{place}: no space left on the device; nothing was published; masking {rows}; set TMPDIR to "
    assert re.fullmatch(sentence + "another folder", said)


def test_a_place_for_temporary_files_that_is_gone_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    monkeypatch.setattr(masking, "check_room", lambda *_: None)

    assert re.match("/nowhere: no such file or directory; .*; set TMPDIR", masked_from(tmp_path, "parquet"))


def test_where_no_place_is_left_for_temporary_files_the_remedy_is_named(monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/a', '/b']")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", nowhere)
    sentence = r"No usable temporary directory found in \['/a', '/b'\]; set TMPDIR to another folder"
    with spooling() as create, pytest.raises(cm.FileError, match=f"^{sentence}$"):
        create()
