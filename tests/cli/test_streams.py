"""``-``: CSV from standard input, releases to standard output.

Oracle: the same commands on files, with the same key.
"""

import errno
import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile

import fixed_keys
import numpy as np
import pytest

from condmask import cli
from condmask.cli import streams
from condmask.releases.ledger import Ledger

pytestmark = pytest.mark.usefixtures("unaudited")

R = np.random.default_rng(3)
N = 400
PAY, AGE = R.lognormal(7.0, 0.5, N).round(2), R.integers(18, 66, N)
TEXT = (
    "age,income,town\n" + "".join(f"{a},{v!r},Köln\n" for a, v in zip(AGE, PAY.tolist(), strict=True))
).encode()
MASK = ("-c", "income", "--p", "0.6", "--sigma", "0.3", "--scale", "log", "--reverse-mapping")
LEFT = "standard output: broken pipe before the whole release was written; s.json was removed"


class Failing(io.RawIOBase):
    """A place that takes so many bytes, and then nothing more."""

    def __init__(self, room, error):
        self.room, self.error, self.taken = room, error, b""

    def writable(self):
        return True

    def write(self, data):
        if not self.room:
            raise OSError(self.error, os.strerror(self.error))
        part = bytes(data[: self.room])
        self.room -= len(part)
        self.taken += part
        return len(part)


class Terminal(io.BytesIO):
    """Somebody at a keyboard."""

    def isatty(self):
        return True


class Untouched(io.BytesIO):
    """What nobody may read."""

    def read(self, *_):
        raise AssertionError


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in a folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def go(*arguments, data=b"", out=None):
        raw = data if isinstance(data, io.IOBase) else io.BytesIO(data)
        kept, said = io.BytesIO() if out is None else out, io.StringIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(kept, write_through=True))
        monkeypatch.setattr(sys, "stderr", said)
        code = cli.main([str(argument) for argument in arguments])
        return code, kept.getvalue() if out is None else None, said.getvalue()

    return go


@pytest.fixture
def released(run, tmp_path):
    """The release of a file, and its bytes."""
    (tmp_path / "a.csv").write_bytes(TEXT)
    with fixed_keys.under("a release"):
        assert run("mask", "a.csv", "b.csv", *MASK, "--no-ledger")[0] == 0
    return (tmp_path / "b.csv").read_bytes()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)], ids=["plain", "packed"])
def test_a_release_goes_through_the_command_as_through_files(run, released, tmp_path, data):
    with fixed_keys.under("a release"):
        code, out, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, "--no-ledger", data=data)

    assert (code, out) == (0, released)
    assert err.splitlines()[0] == "masked values in standard output"
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "b.csv.condmask.json").read_bytes()
    assert names(tmp_path) == ["a.csv", "b.csv", "b.csv.README.md", "b.csv.condmask.json", "s.json"]


def test_json_goes_to_standard_error_beside_the_data(run):
    code, out, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, "--json", data=TEXT)

    assert (code, out.count(b"\n")) == (0, N + 1)
    assert json.loads(err)["target"] == "standard output"


COMMANDS = {
    "estimate": ("estimate", "{release}", "--other", "age", "--group", "town"),
    "info": ("info", "{release}"),
    "risk of a release": ("risk", "a.csv", "--release", "{release}", "-c", "income", "--within", "50"),
    "audit": ("audit", "{source}", *MASK),
    "plan": ("plan", "{source}", "-c", "income", "--other", "age", "--within", "50"),
    "risk": ("risk", "{source}", *MASK, "--within", "50"),
    "risk of originals": ("risk", "{source}", "--release", "b.csv", "-c", "income", "--within", "50"),
    "compare": ("compare", "{source}", "-c", "income", "--p", ".6", "--sigma", "9", "--within", "50"),
}


def told(*values, other=None, **_):
    """What was read, in place of long work with it."""
    raise ValueError(repr([value.sum() for value in (*values, other) if isinstance(value, np.ndarray)]))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stream_is_read_as_a_file_is(run, released, monkeypatch, command):
    monkeypatch.setattr("condmask.planning.plan.plan", told)
    monkeypatch.setattr("condmask.studies.compare.compare", told)
    monkeypatch.setattr("condmask.disclosure.risk.release_risk", told)
    quick = told if command == "risk" else lambda *_, **__: None
    monkeypatch.setattr("condmask.disclosure.risk.risk", quick)
    words, stands = COMMANDS[command], {"source": "a.csv", "release": "b.csv"}
    expected = run(*(word.format(**stands) for word in words))

    if any("{release}" in word for word in words):
        words, data = (*words, "--scheme", "b.csv.condmask.json"), released
    else:
        data = TEXT
    for text in (data, gzip.compress(data)):
        assert run(*(word.format(source="-", release="-") for word in words), data=text) == expected
    if expected[0] == 1:
        assert f"{PAY.sum()!r}" in expected[2]


def test_options_of_a_csv_file_hold_for_a_stream(run, tmp_path):
    data = TEXT.decode().replace(",", ";").replace(".", ",").encode("latin-1")
    options = ("--encoding", "latin-1", "--delimiter", ";", "--decimal", ",")

    code, out, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, *options, data=data)

    assert code == 0
    assert "read and written with delimiter ';', decimal mark ',', encoding iso8859-1" in err
    before, after = ([line.split(b";") for line in text.splitlines()] for text in (data, out))
    assert [row[::2] for row in after] == [row[::2] for row in before]
    assert all(row[1][-3:-2] == b"," for row in after[1:])
    pay = [float(row[1].replace(b",", b".")) for row in after[1:]]
    assert sorted(pay) == sorted(PAY)
    code, out, err = run("estimate", "-", "--scheme", "s.json", "--json", "--group", "town", data=out)
    assert (code, json.loads(out)["groups"][0]["group"]) == (0, "Köln")


def test_reports_are_made_of_streams(run, released, tmp_path, monkeypatch):
    def page(view, original, distances):
        return f"{view.sha256} {original.sha256} {original.column}"[:129]

    monkeypatch.setattr("condmask.reports.report.internal_page", page)
    digests = " ".join(hashlib.sha256(data).hexdigest() for data in (released, TEXT))
    scheme = ("--scheme", "b.csv.condmask.json")
    assert run("report", "-", "c.html", "--original", "a.csv", *scheme, data=released)[0] == 0
    assert run("report", "b.csv", "d.html", "--original", "-", data=TEXT)[0] == 0
    assert [(tmp_path / name).read_text() for name in ("c.html", "d.html")] == [digests] * 2

    assert run("report", "b.csv", "e.html", "--public", data=Untouched(TEXT))[0] == 0
    assert run("report", "-", "f.html", "--public", *scheme, data=released)[0] == 0
    for name, file in (("e.html", "b.csv"), ("f.html", "masked.csv")):
        assert f"read_release(&#x27;{file}&#x27;" in (tmp_path / name).read_text()


USAGE = {
    "no scheme": (("mask", "-", "-", *MASK), "--scheme must name the file that is published with OUT"),
    "none to read": (("estimate", "-"), "--scheme must name the file published with IN, if IN is -"),
    "two": (
        ("report", "-", "r.html", "--original", "-"),
        "- must stand for one file to be read, got it twice",
    ),
    "two of risk": (
        ("risk", "-", "--release", "-", "-c", "income", "--within", "1"),
        "- must stand for one file to be read, got it twice",
    ),
    "scheme beside a file": (
        ("mask", "-", "c.csv", "--scheme", "s.json", *MASK),
        "--scheme must be left out unless OUT is -, got c.csv, which has its own",
    ),
    "scheme of nothing": (
        ("risk", "-", *MASK, "--within", "1", "--scheme", "s.json"),
        "--scheme must be given together with --release",
    ),
    "scheme of Parquet": (
        ("info", "a.parquet", "--scheme", "s.json"),
        "--scheme must be given only with - or a text file, got a.parquet",
    ),
    "scheme itself": (("mask", "-", "-", "--scheme", "-", *MASK), "--scheme must name a file, got -"),
    "nowhere": (
        ("mask", "-", "-", "--scheme", "none/s.json", *MASK),
        "--scheme must be a file in a folder that can be written, got none/s.json",
    ),
    "link": (
        ("mask", "-", "-", "--scheme", "link", "--force", *MASK),
        "--scheme must be an ordinary file, got link",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_reads_nothing(run, tmp_path, case):
    (tmp_path / "a.parquet").touch()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    arguments, sentence = USAGE[case]

    code, out, err = run(*arguments, data=Untouched(TEXT))

    assert (code, out) == (2, b"")
    assert err.startswith(f"condmask: error: {sentence}")
    assert names(tmp_path) == ["a.parquet", "link"]


def test_a_release_never_replaces_its_source_or_scheme(run, tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    to_stream = ("--scheme", "s.json")
    for arguments, reads, sentence in (
        (("-", "-", *to_stream), True, "OUT must be a different file from IN"),
        (("a.csv", "-", *to_stream), False, "OUT must be a different file from IN"),
        (("-", "a.csv"), True, "OUT must be a different file from IN"),
        (("a.csv", "-", "--scheme", "a.csv"), False, "--scheme must be a different file from IN"),
    ):
        with path.open("rb") as source, path.open("ab") as out:
            code, _, err = run(
                "mask", *arguments, *MASK, "--force", "--no-ledger", data=source if reads else b"", out=out
            )
        assert (code, err) == (2, f"condmask: error: {sentence}\n")
        assert path.read_bytes() == TEXT
    with (tmp_path / "s.json").open("wb") as out:
        code, _, err = run("mask", "-", "-", *to_stream, *MASK, "--force", data=TEXT, out=out)
    assert (code, err) == (2, "condmask: error: OUT must be a different file from --scheme\n")


REFUSED = {
    "empty": (b"", "standard input is empty: it has no header"),
    "packed and empty": (gzip.compress(b""), "standard input is empty: it has no header"),
    "Parquet": (b"PAR1....", "standard input must be CSV, plain or gzipped, got Parquet: name the file"),
    "Arrow": (b"ARROW1..", "standard input must be CSV, plain or gzipped, got Arrow: name the file instead"),
    "damaged": (
        gzip.compress(TEXT)[:-20], "standard input: not readable: it is not a gzip file, or is damaged"
    ),
    "short": (TEXT + b"1\n", f"standard input has too few fields in line {N + 2}"),
    "word": (TEXT.replace(b"\n", b"\n30,many,X\n", 1), "income must be numeric, got text in line 2"),
    "column": (b"age\n1\n", "standard input has no column 'income', it has 'age'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_about_standard_input(run, tmp_path, case):
    data, sentence = REFUSED[case]

    code, out, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, data=data)

    assert (code, out) == (1, b"")
    assert sentence in err
    assert err.count("\n") == 1
    assert (tmp_path / "s.json").exists() is False
    assert names(tmp_path) == []


def test_a_terminal_is_no_input(run):
    assert run("audit", "-", *MASK, data=Terminal(TEXT))[::2] == (
        1, "condmask: error: standard input is a terminal: pipe a CSV file into it, or name the file\n"
    )  # fmt: skip


def test_a_pipe_that_does_not_wait_is_read_to_its_end(run, released):
    read, write = os.pipe()
    os.close(write)  # so that reading may go on at once

    class Hesitant(io.BytesIO):
        nothing_yet = (True, False, True, False)

        def read(self, size=-1):
            nothing, *self.nothing_yet = self.nothing_yet or (False,)
            return None if nothing else super().read(min(size, 4_000))

        def fileno(self):
            return read

    code, out, err = run("info", "-", "--scheme", "b.csv.condmask.json", data=Hesitant(released))
    os.close(read)

    assert (code, err) == (0, "")
    assert out.startswith(f"{N} rows".encode())


def test_nothing_waits_for_a_full_disk_to_have_room(run):
    with open("/dev/full", "wb", 1 << 16) as full:  # which could not be closed with something left to write
        code, _, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, data=TEXT, out=full)

    assert code == 1
    assert err.startswith("condmask: error: standard output: no space left on device before")


def test_closed_streams_are_said(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["audit", "-", *MASK]) == 1
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["mask", "-", "-", "--scheme", "s.json", *MASK]) == 2
    assert "standard output must be open" in capsys.readouterr().err


def test_the_scheme_and_the_ledger_come_before_the_first_byte(run, tmp_path):
    ledger, order = tmp_path / "ledger.jsonl", []

    class Watched(io.BytesIO):
        def write(self, data):
            entries = Ledger(ledger).content().entries
            order.append((json.loads((tmp_path / "s.json").read_text())["records"], entries[1].target))
            return super().write(data)

    arguments = ("mask", "-", "-", "--scheme", "s.json", *MASK, "--ledger", ledger)
    assert run(*arguments, data=TEXT, out=Watched())[0] == 0
    assert order[0] == (N, "standard output")
    code, out, err = run(*arguments, "--force", data=TEXT)
    assert (code, out) == (1, b"")
    assert "shares 100% of its records with standard output, released on" in err


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("error", [errno.EPIPE, errno.ENOSPC])
def test_output_that_fails_is_one_sentence_and_takes_the_scheme_back(run, tmp_path, room, error):
    out = Failing(room, error)
    (tmp_path / "s.json").write_text("an earlier one")

    arguments = ("mask", "-", "-", "--scheme", "s.json", *MASK, "--ledger", "ledger.jsonl")
    refused, _, said = run(*arguments, data=TEXT, out=io.BufferedWriter(out, 16))
    assert (refused, out.taken, (tmp_path / "s.json").read_text()) == (1, b"", "an earlier one")
    assert said == "condmask: error: s.json exists; it is replaced only with --force\n"
    buffered = io.BufferedWriter(out, 16)
    code, _, err = run(*arguments, "--force", data=TEXT, out=buffered)
    out.room = 1000  # what waits may go

    sentence = LEFT.replace("broken pipe", os.strerror(error).lower())
    assert code == 1
    assert err.startswith(f"condmask: error: {sentence}. The release stays in the ledger")
    assert err.count("\n") == 1
    assert names(tmp_path) == ["ledger.jsonl"]
    assert list(Ledger(tmp_path / "ledger.jsonl").content().entries) == [1]


def test_without_a_ledger_a_failure_speaks_of_none(run):
    buffered = io.BufferedWriter(out := Failing(0, errno.EPIPE), 16)
    _, _, err = run("mask", "-", "-", "--scheme", "s.json", *MASK, "--no-ledger", data=TEXT, out=buffered)
    out.room = 1000

    assert err == f"condmask: error: {LEFT}\n"


def test_a_dry_run_names_the_command_and_writes_nothing(run, tmp_path, monkeypatch):
    noise = ("-c", "income", "--p", "0.6", "--sigma", "20", "--decimals", "2")
    dry = ("mask", "-", "-", "--scheme", "s.json", *noise, "--accept-visible-coins", "--dry-run")

    code, out, err = run(*dry, data=TEXT)

    assert (code, out) == (0, b"")
    assert err.splitlines()[-1] == "nothing was written"
    assert names(tmp_path) == []
    args = cli.parser().parse_args(["mask", "-", "-", "--scheme", "s.json", *noise])
    with streams.standard_streams(args):
        scheme = streams_command(args)
    assert scheme.startswith("condmask mask - - --column income --scheme s.json --p 0.6")


def streams_command(args):
    from condmask.cli.schemes import mask_command, schemes_of

    return mask_command(args, schemes_of(args), args.source, args.target, [])


def test_the_scheme_of_a_file_may_lie_elsewhere(run, released, tmp_path):
    expected = run("estimate", "b.csv", "--json")
    (tmp_path / "b.csv.condmask.json").rename(tmp_path / "s.json")

    assert run("estimate", "b.csv", "--json")[0] == 1
    assert run("estimate", "b.csv", "--json", "--scheme", "s.json") == expected
    assert run("estimate", "b.csv", "--scheme", "t.json")[::2] == (
        1, "condmask: error: t.json: no such file or directory\n"
    )  # fmt: skip
    (tmp_path / "b.csv").write_bytes(released + b"1,2.00,X\n")
    code, _, err = run("estimate", "b.csv", "--scheme", "s.json")
    assert code == 1
    assert "b.csv is not the file that s.json was published with" in err


def test_a_kill_leaves_nothing(run, tmp_path, monkeypatch):
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    def kill(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("condmask.releases.masking.publish", kill)  # when all was read and masked
    child = os.fork()
    if child == 0:
        run("mask", "-", "-", "--scheme", "s.json", *MASK, data=TEXT)
        os._exit(1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert names(tmp_path) == ["tmp"]
    assert names(place) == []


@pytest.mark.slow
def test_two_commands_make_a_pipe(tmp_path):
    command = f"{sys.executable} -m condmask"
    mask = f"{command} mask - - --scheme s.json {' '.join(MASK)} --accept-visible-coins"
    line = f"set -o pipefail; {mask} < a.csv | {command} estimate - --scheme s.json --json"
    (tmp_path / "a.csv").write_bytes(TEXT)

    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mean"]["value"] == pytest.approx(PAY.mean(), rel=1e-12)
    assert done.stderr.startswith("masked values in standard output\n")
