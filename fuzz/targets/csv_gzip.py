"""A packed CSV file: it reads as what it holds does."""

import gzip
import zlib

from condmask.files.read import read_labels
from fuzz.material import fresh, same
from fuzz.targets import csv


def one(data):
    path = fresh("a.csv.gz", data)
    labels = read_labels(path, "x")
    try:
        text = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise AssertionError("read what gzip cannot") from None
    (path.with_name("b.csv")).write_bytes(text)
    assert same(labels, read_labels("b.csv", "x"))
    csv.check(path, text)


def seeds():
    for level in (0, 9):
        for text in csv.seeds():
            yield gzip.compress(text, level, mtime=0)
    yield gzip.compress(b"t,x\n", mtime=0) + gzip.compress(b"1,2\n", mtime=0)
    yield gzip.compress(b"t,x\n" + b"1,2\n" * 50_000, mtime=0)
