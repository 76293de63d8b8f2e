"""Fields of CSV text against Python's csv module, and spliced text against Python's slices."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels.csv_scan import AFTER_QUOTE, TOO_FEW, TOO_MANY, find_fields, splice

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=6)


def find(text, width, wanted, delimiter=","):
    """Bounds of the wanted fields, bytes taken, and the fault."""
    bounds = np.zeros((2, text.count(b"\n"), len(wanted)), dtype=np.int64)
    buffer = np.frombuffer(text, dtype=np.uint8)
    columns = np.array(wanted, dtype=np.int64)
    count, taken, fault = find_fields(buffer, ord(delimiter), False, width, columns, *bounds)
    return bounds[:, :count], taken, fault


def texts(text, bounds):
    return [[text[a:b] for a, b in zip(*row, strict=True)] for row in zip(*bounds.tolist(), strict=True)]


@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), max_size=12),
    ending=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_fields_are_those_of_the_csv_module(rows, ending, delimiter, quoting):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=ending, delimiter=delimiter, quoting=quoting).writerows(rows)
    text = file.getvalue().encode()

    bounds, taken, fault = find(text, 3, [0, 2], delimiter)

    found = [[cell.decode().replace('""', '"') for cell in row] for row in texts(text, bounds)]
    assert found == [[first, last] for first, _, last in rows]
    assert (taken, fault) == (len(text), 0)


@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5), data=st.data())
def test_text_may_be_cut_anywhere(rows, data):
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    text = file.getvalue().encode()
    cut = data.draw(st.integers(0, len(text)))

    whole, _, _ = find(text, 2, [1])
    head, taken, fault = find(text[:cut], 2, [1])
    tail, _, _ = find(text[taken:], 2, [1])

    # a doubled quote cut in half looks like a closed one, but the record has no end yet
    assert fault == 0
    assert taken <= cut
    assert texts(text, head) + texts(text[taken:], tail) == texts(text, whole)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"1,2\n3\n", TOO_FEW),
        (b"1,2\n3,4,5\n", TOO_MANY),
        (b'1,2\n"3"4,5\n', AFTER_QUOTE),
        (b'1,2\n"3" ,5\n', AFTER_QUOTE),
        (b'1,2\n3,"4"5\n', 0),  # the second field is not wanted
        (b'1,2\n"3",4\r\n', 0),
    ],
)
def test_a_fault_is_that_of_the_record_after_those_found(text, fault):
    bounds, taken, found = find(text, 2, [0])

    assert found == fault
    assert texts(text, bounds) == ([[b"1"]] if fault else [[b"1"], [b"3"]])
    assert taken == (4 if fault else len(text))


@pytest.mark.parametrize("text", [b"\n1\n", b"\r\n1\r\n", b"1\n\n", b"\n\n1\n\r\n"])
def test_empty_lines_are_no_records(text):
    bounds, taken, fault = find(text, 1, [0])

    assert texts(text, bounds) == [[b"1"]]
    assert (taken, fault) == (len(text), 0)


def test_an_empty_field_in_quotes_is_a_record():
    bounds, _, _ = find(b'""\n', 1, [0])

    assert texts(b'""\n', bounds) == [[b""]]


@given(
    pieces=st.lists(
        st.tuples(st.binary(max_size=4), st.binary(max_size=4), st.binary(max_size=4), st.booleans()),
        max_size=8,
    ),
    tail=st.binary(max_size=4),
)
def test_splicing_replaces_what_is_not_kept(pieces, tail):
    text, expected, starts, stops = b"", b"", [], []
    for before, old, new, keep in pieces:
        starts.append(len(text) + len(before))
        stops.append(starts[-1] + len(old))
        text += before + old
        expected += before + (old if keep else new)
    fields = b"-".join(new for _, _, new, _ in pieces)
    ends = np.cumsum([len(new) + 1 for _, _, new, _ in pieces], dtype=np.int64) - 1
    out = np.zeros(len(text + fields + tail), dtype=np.uint8)

    length = splice(
        np.frombuffer(text + tail, dtype=np.uint8),
        np.array(starts, dtype=np.int64),
        np.array(stops, dtype=np.int64),
        np.array([keep for *_, keep in pieces], dtype=bool),
        False,
        np.frombuffer(fields, dtype=np.uint8),
        ends - np.array([len(new) for _, _, new, _ in pieces], dtype=np.int64),
        ends,
        out,
    )

    assert out[:length].tobytes() == expected + tail
