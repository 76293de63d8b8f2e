"""Fields of any bytes as texts of Arrow, and back; oracle: Python's slices."""

import csv
import io
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from condmask.files.csv_scan import Fields
from condmask.files.csv_texts import as_bytes, as_texts, content_of, decoded, some, texts_of, where
from condmask.files.read import labels_of_column, open_table, read_labels

PIECES = st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=9)), max_size=20)


@given(pieces=PIECES, tail=st.binary(max_size=3), data=st.data())
def test_texts_are_the_bytes_between_their_bounds(pieces, tail, data):
    text, starts = b"", []
    for before, field in pieces:
        starts.append(len(text + before))
        text += before + field
    expected = [field for _, field in pieces]
    starts = np.array(starts, dtype=np.int64)
    fields = Fields(text + tail, starts, starts + np.array(list(map(len, expected)), dtype=np.int64))

    found = texts_of(fields)
    which = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=9)) if pieces else []

    assert as_bytes(found) == as_bytes(as_texts(expected)) == expected
    assert as_bytes(some(found, np.array(which))) == [expected[k] for k in which]
    content, bounds = content_of(found[len(pieces) // 2 :])
    parts = [bytes(content[a:b]) for a, b in pairwise(bounds)]
    assert parts == expected[len(pieces) // 2 :]


@given(told=st.lists(st.booleans(), max_size=40), start=st.integers(0, 9))
def test_what_holds_is_told_whatever_bit_it_begins_with(told, start):
    assert where(pa.array(told, pa.bool_())[start:]).tolist() == told[start:]


def test_two_quotes_are_one_in_quotes_alone(tmp_path):
    text = 't;x\na""b;1\n"a""b";2\na"b;3\nd""";4\n"d""""";5\nplain;6\n"plain";7\n'
    (tmp_path / "a.csv").write_text(text)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))[1:]

    assert read_labels(tmp_path / "a.csv", "t").tolist() == [row[0] for row in rows]
    table = open_table(tmp_path / "a.csv")
    assert labels_of_column(table, "t").tolist() == [row[0] for row in rows]
    parts = list(table.records())
    assert decoded(parts[0].fields(0), table.dialect.encoding) == [row[0] for row in rows]
