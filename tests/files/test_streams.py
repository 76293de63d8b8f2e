"""Streams in the place of files: the same bytes as through files, and nothing with a name.

Oracle: `mask_file` on files with the same key.
"""

import contextlib
import gzip
import hashlib
import json
import os
import stat
import tempfile
import threading

import numpy as np
import pytest
from csv_files import CENTS, written

import condmask as cm
from condmask.files import atomic
from condmask.files.atomic import StreamOutput, fingerprint, publishing
from condmask.files.metadata import digest_of
from condmask.files.recoding import open_bytes
from condmask.files.streams import INPUT, OPENED, OUTPUT, SCHEMES, Stream, nameless

pytestmark = pytest.mark.usefixtures("unaudited")

PAY = np.random.default_rng(4).lognormal(7.0, 0.5, 400).round(2)
MAPPED = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True)
PLAIN = written(values=PAY)
TEXTS = {
    "plain": PLAIN.encode(),
    "windows": written(values=PAY, ending="\r\n", blank=True).encode(),
    "semicolons": written(";", ",", values=PAY).encode("latin-1"),
    "utf-16": PLAIN.encode("utf-16"),
    "tabs": written("\t", values=PAY).encode(),
    "sep": b"sep=;\r\n" + written(";", values=PAY).encode(),
}


@contextlib.contextmanager
def opened(data=None, scheme=None):
    """Standard input that brings these bytes, standard output, and where its scheme goes."""

    def fill():
        kept = nameless(buffering=0)
        kept.write(data)
        return kept

    OPENED[OUTPUT] = Stream()
    if data is not None:
        OPENED[INPUT] = Stream(fill)
    if scheme is not None:
        SCHEMES[OUTPUT] = scheme
    try:
        yield
    finally:
        for stream in OPENED.values():
            stream.close()
        OPENED.clear()
        SCHEMES.clear()


def form(name):
    return cm.CsvFormat(encoding="latin-1") if name == "semicolons" else None


def options(name, scheme):
    return {"schemes": {"income": scheme}, "rng": 1, "csv": form(name)}


@pytest.mark.parametrize("scheme", [CENTS, MAPPED], ids=["noise", "mapped"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_a_stream_has_the_bytes_of_a_file(tmp_path, name, packed, scheme):
    data = TEXTS[name]
    (tmp_path / "a.csv").write_bytes(data)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", **options(name, scheme))
    with opened(gzip.compress(data) if packed else data, tmp_path / "s.json"):
        cm.mask_file(INPUT, OUTPUT, **options(name, scheme))
        with OPENED[OUTPUT].open() as file:
            out = file.read()

    assert out == (tmp_path / "b.csv").read_bytes()
    published = json.loads((tmp_path / "s.json").read_text())
    assert published == json.loads((tmp_path / "b.csv.condmask.json").read_text())
    assert published["sha256"] == hashlib.sha256(out).hexdigest()
    assert sorted(os.listdir(tmp_path)) == [
        "a.csv",
        "b.csv",
        "b.csv.README.md",
        "b.csv.condmask.json",
        "s.json",
    ]


@pytest.mark.parametrize(("source", "target"), [("a.csv", "b.csv.gz"), ("a.csv.gz", "b.csv")])
def test_packing_is_no_other_format(tmp_path, source, target):
    data = TEXTS["semicolons"]
    (tmp_path / "a.csv").write_bytes(data)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(data))
    cm.mask_file(tmp_path / "a.csv", tmp_path / "c.csv", **options("semicolons", CENTS))
    cm.mask_file(tmp_path / source, tmp_path / target, **options("semicolons", CENTS))
    with opened((tmp_path / source).read_bytes()):
        cm.mask_file(INPUT, tmp_path / f"from-{target}", **options("semicolons", CENTS))

    packed = (tmp_path / target).read_bytes()
    text = gzip.decompress(packed) if target.endswith("gz") else packed
    assert text == (tmp_path / "c.csv").read_bytes()
    assert (tmp_path / f"from-{target}").read_bytes() == packed


@pytest.mark.parametrize("target", ["b.txt", "b.tsv", "b.parquet", "b.tsv.gz"])
@pytest.mark.parametrize(("name", "source"), [("plain", "a.csv"), ("tabs", "a.tsv")])
def test_a_stream_becomes_what_a_file_does(tmp_path, name, source, target):
    if (source, target) == ("a.tsv", "b.txt"):
        source = "a.txt"  # whose tabs stay
    (tmp_path / source).write_bytes(TEXTS[name])
    cm.mask_file(tmp_path / source, tmp_path / target, **options(name, CENTS))
    with opened(TEXTS[name]):
        cm.mask_file(INPUT, tmp_path / f"from-{target}", **options(name, CENTS))

    assert (tmp_path / f"from-{target}").read_bytes() == (tmp_path / target).read_bytes()


@pytest.mark.parametrize("source", ["a.tsv", "a.csv.gz", "a.parquet"])
def test_a_file_goes_out_as_text(tmp_path, source):
    (tmp_path / "a.csv").write_bytes(TEXTS["plain"])
    (tmp_path / "a.tsv").write_bytes(TEXTS["tabs"])
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXTS["plain"]))
    if source == "a.parquet":
        other = cm.ConditionalMasking(0.6, 3.0, decimals=0)
        cm.mask_file(tmp_path / "a.csv", tmp_path / source, {"Jahr": other}, rng=1, accept_visible_coins=True)
    like = tmp_path / {"a.tsv": "b.tsv", "a.csv.gz": "b.csv", "a.parquet": "b.csv"}[source]
    cm.mask_file(tmp_path / source, like, **options("plain", CENTS))
    with opened(scheme=tmp_path / "s.json"):
        release = cm.mask_file(tmp_path / source, OUTPUT, **options("plain", CENTS))
        with OPENED[OUTPUT].open() as file:
            assert file.read() == like.read_bytes()
        assert release["income"].mean() == cm.read_release(like, "income").mean()
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads(
        like.with_name(like.name + ".condmask.json").read_text()
    )


def test_originals_are_kept_where_nobody_else_can_read_them(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = []

    def watch(done, total):
        seen.extend(path.name for path in tmp_path.iterdir())
        status = OPENED[INPUT].status()
        assert (status.st_nlink, stat.S_IMODE(status.st_mode)) == (0, 0o600)

    scheme = tmp_path.parent / f"{tmp_path.name}.json"
    with opened(TEXTS["plain"], scheme):
        cm.mask_file(INPUT, OUTPUT, progress=watch, **options("plain", CENTS))
        assert OPENED[OUTPUT].status().st_nlink == 0
        assert stat.S_IMODE(OPENED[OUTPUT].status().st_mode) == 0o600
    scheme.unlink()

    assert seen == []


def test_a_stream_is_read_once_and_only_when_somebody_asks():
    calls = []

    def fill():
        calls.append(1)
        return nameless()

    stream = Stream(fill)
    assert calls == []
    assert stream.open().read() == stream.open().read() == b""
    stream.close()
    assert calls == [1]


def test_many_may_read_a_stream_at_a_time():
    data = np.random.default_rng(1).bytes(3_000_000)
    read = {}
    with opened(data):

        def job(k):
            with open_bytes(INPUT) as file:
                read[k] = b"".join(iter(lambda: file.read(10_007 + k), b""))

        OPENED[INPUT].status()
        threads = [threading.Thread(target=job, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert digest_of(INPUT) == hashlib.sha256(data).hexdigest()

    assert [read[k] == data for k in range(4)] == [True] * 4


def test_a_stream_stands_in_its_place_once_all_is_complete(tmp_path):
    scheme = tmp_path / "s.json"
    with opened(scheme=scheme):
        with contextlib.suppress(KeyError), publishing({OUTPUT: None, scheme: None}) as outputs:
            outputs[0].write(b"x")
            raise KeyError
        assert (OPENED[OUTPUT].kept, list(tmp_path.iterdir())) == (None, [])
        with publishing({OUTPUT: None, scheme: None}, hashed=True) as outputs:
            assert isinstance(outputs[0], StreamOutput)
            outputs[0].write(b"x")
            assert fingerprint(OUTPUT) is None
            digest = outputs[0].sha256
        assert OPENED[OUTPUT].open().read() == b"x"
        assert digest == hashlib.sha256(b"x").hexdigest()
        assert scheme.exists()


def test_a_full_place_for_temporary_files_is_named(monkeypatch):
    monkeypatch.setattr(atomic, "nameless", lambda **_: open("/dev/full", "wb", buffering=0))  # noqa: SIM115
    sentence = "no space left .*; set TMPDIR to another folder"
    with opened(), pytest.raises(cm.FileError, match=sentence), publishing({OUTPUT: None}) as (output,):
        output.write(b"x")


def test_what_was_published_as_text_may_be_packed_since(tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXTS["plain"])
    release = cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", **options("plain", CENTS))
    data, scheme = (tmp_path / "b.csv").read_bytes(), tmp_path / "b.csv.condmask.json"
    for packed in (data, gzip.compress(data), gzip.compress(data, 1)):
        with opened(packed):
            SCHEMES[INPUT] = scheme
            assert cm.read_release(INPUT, "income").mean() == release["income"].mean()
    for changed in (data + b"\n", gzip.compress(data + b"1,2,3\n")):
        with opened(changed):
            SCHEMES[INPUT] = scheme
            with pytest.raises(cm.FileError, match="standard input is not the file that b"):
                cm.read_release(INPUT, "income")


@pytest.mark.parametrize("text", ["{", "[]", "{}", "\x00", '{"sha256"}'])
def test_a_scheme_that_is_none_is_said(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    with opened(TEXTS["plain"]):
        SCHEMES[INPUT] = tmp_path / "s.json"
        with pytest.raises(cm.FileError, match=r"s\.json is not what condmask published"):
            cm.read_release(INPUT)
