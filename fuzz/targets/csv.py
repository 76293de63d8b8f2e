"""A CSV file: its texts are those that Python's module reads, and only the masked column changes."""

import csv
import io

import numpy as np

import condmask as cm
from condmask.files.read import labels_of_column, open_table, read_labels
from fuzz.material import fresh, released, same

TOKENS = [
    b"\r\n", b'"', b'""', b",", b";", b"\t", b"|", b"x", b"NA", b"NaN", b"sep=;\n", b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"1e308", b"-0", b"0x1", b"inf", b"1_000", b"1,5", b"9007199254740993", b" ", b"\0",
]  # fmt: skip
NUMBERS = "x"


def one(data):
    check(fresh("a.csv", data), data)


def check(path, text):
    """What a file that holds this text must fulfil."""
    table = open_table(path)
    if table.dialect.encoding == "utf-8":
        compare(table, text)
    if NUMBERS in table.names:
        before = cm.read_column(path, NUMBERS)
        target = released(path, NUMBERS)
        others = [other for other in table.names if other != NUMBERS and table.names.count(other) == 1]
        for other in others[:3]:
            assert same(read_labels(target, other), read_labels(path, other)), "another column changed"
        after = cm.read_column(target, NUMBERS)
        assert np.array_equal(np.isnan(after), np.isnan(before)), "values appear or vanish"


def compare(table, content):
    """Records are those that Python's module reads."""
    columns = [name for name in table.names if table.names.count(name) == 1][:3]
    ours = {name: labels_of_column(table, name).tolist() for name in columns}
    begin = content.index(table.dialect.header) + len(table.dialect.header)
    text = content[begin:].decode(errors="surrogateescape")
    if "\r" in text.replace("\r\n", ""):  # which ends a line for csv
        return
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=table.dialect.delimiter, skipinitialspace=table.dialect.blank
    )
    theirs = [row for row in rows if row]
    for name in columns:
        at = table.names.index(name)
        expected, read = [row[at] for row in theirs], ours[name]
        if table.dialect.blank:  # which csv takes from the first field of a line, too
            expected, read = ([text.lstrip(" ") for text in texts] for texts in (expected, read))
        assert read == expected, f"column {at} is another for csv"


def seeds():
    yield b"t,x\na,1\nb,2.5\nc,NA\n"
    yield b'"t";x;y\r\n"a;b";1,5;2\r\n"c""d";2,5;3\r\n'
    yield b"\xef\xbb\xbft\tx\n1\t-1e3\n"
    yield b"sep=|\nt|x\n1|2\n\n3|4\n"
    yield "t, x\nä, 1\nö, 2\n".encode()
    yield "t,x\nä,1\nö,2\n".encode("utf-16")
    yield "t,x\nä,1\nö,2\n".encode("latin-1")
    yield b"t,x\n" + b"".join(b"%d,%d.5\n" % (k, k) for k in range(40))
