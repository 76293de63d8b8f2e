"""The command line does what the functions do, from words or a TOML file, and fails in one
sentence.

Oracle: the same call in Python, under the same key; the parameters of the functions, and their
defaults.
"""

import inspect
import io
import json
import logging
import re
import subprocess
import sys
import warnings

import fixed_keys
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import condmask as cm
from condmask import cli, demo
from condmask.cli.shell_form import in_shell
from condmask.files.parts import Source

N = 1200
P = ("--p", "0.6", "--sigma", "0.3")
WIDER = ("--p", "0.6", "--sigma", "0.5")
SIGMA = ("--p", "0.6", "--sigma", "300")
MAPPED = (*P, "--scale", "log", "--reverse-mapping")
SCHEME = cm.ReverseMapping(0.6, 0.3, scale="log")
NOISE = cm.ConditionalMasking(0.6, 300.0)
OPTIONS = "--reverse-mapping --p 0.6 --sigma 0.3 --scale log"
NAMES = [
    "plan",
    "audit",
    "check",
    "mask",
    "risk",
    "estimate",
    "report",
    "info",
    "simulate",
    "demo",
]
STUDY = """
n = 60
replications = 3
rng = 3
quantiles = [0.5]
schemes = {masked = {p = 0.6, sigma = 20000.0}}  # so much that some samples have no s.d.
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """An original, its release by reverse mapping, a study."""
    where = tmp_path_factory.mktemp("cli")
    random = np.random.default_rng(7)
    income = random.lognormal(7.0, 0.5, N).round()
    frame = pd.DataFrame(
        {
            "income": income,
            "educ": np.round(np.log(income) + random.normal(0.0, 1.0, N)),
            "region": random.choice(["east", "west"], N),
            "gaps": np.where(np.arange(N) % 9, income, np.nan),
        }
    )
    frame[["income", "educ", "region"]].to_parquet(where / "in.parquet")
    frame[["gaps"]].to_parquet(where / "gaps.parquet")
    frame[["income"]].to_csv(where / "one.csv", index=False)
    frame[:60].replace("west", "*").to_csv(where / "odd.csv", na_rep="*")
    cm.mask_file(where / "in.parquet", where / "out.parquet", {"income": SCHEME}, log=False)
    (where / "study.toml").write_text(STUDY)
    return where


@pytest.fixture
def run(capsys, folder, monkeypatch, tmp_path):
    """Run a command where the files are: exit code, standard output and error."""
    monkeypatch.chdir(folder)

    def go(*words):
        code = cli.main([str(word).replace("NEW", str(tmp_path)) for word in words])
        return code, *capsys.readouterr()

    return go


@pytest.fixture
def answer(run):
    """What a quiet success printed with --json."""

    def go(*words):
        code, out, err = run(*words, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return go


def alike(found, expected):
    """Whether two results agree once they are JSON, in which NaN is null."""
    return found == json.loads(json.dumps(expected).replace("NaN", "null"))


# --- each command says what its function returns ---


def test_plan(answer, folder, tmp_path):
    words = (*SIGMA, "--max-risk", "150=.5", "--no-reverse-mapping", "--plot", "NEW/a.svg")
    income = cm.read_column(folder / "one.csv", "income")
    expected = cm.plan(
        income, max_risk={150.0: 0.5}, p=[0.6], sigma=[300.0], reverse_mapping=False
    )

    assert alike(answer("plan", "one.csv", "-c", "income", *words), expected.to_dict())
    assert "income" in (tmp_path / "a.svg").read_text()


def test_audit(answer, folder):
    found = answer(
        "audit", "one.csv", "-c", "income", *SIGMA, "--max-risk", "1=.01", "--max-lift", ".2"
    )
    table = Source(folder / "one.csv").table(numeric=["income"])
    expected = cm.audit(table, {"income": NOISE}, max_lift=0.2, max_risk={1.0: 0.01}).to_dict()

    assert alike(found, expected)


@pytest.mark.parametrize("released", [False, True])
def test_risk(answer, folder, released):
    frame = pd.read_parquet(folder / "in.parquet")
    words = ("--released", "out.parquet") if released else ("-c", "income", *MAPPED)
    shown = pd.read_parquet(folder / "out.parquet") if released else None
    expected = cm.risk(frame, {"income": SCHEME}, d=[50.0, 200.0], released=shown)

    assert alike(
        answer("risk", "in.parquet", *words, "--d", "50", "--d", "200"), expected.to_dict()
    )


def test_risk_of_a_release_reads_it_as_it_is_written(answer, tmp_path):
    income = np.random.default_rng(1).lognormal(7.0, 0.5, N).round(2)
    lines = ["income;Köln", "k.A.;", *(f"{x};é".replace(".", ",") for x in income), ""]
    (tmp_path / "in.csv").write_text("\n".join(lines), encoding="cp1252")
    form = cm.CsvFormat(encoding="cp1252", na="k.A.")
    options = {"nan_policy": "omit", "log": False, "csv": form}
    cm.mask_file(tmp_path / "in.csv", tmp_path / "out.csv", {"income": NOISE}, **options)
    x, z = (cm.read_column(tmp_path / name, "income", csv=form) for name in ("in.csv", "out.csv"))

    words = ("--released", "NEW/out.csv", "--encoding", "cp1252", "--na", "k.A.", "--d", "50")
    rows = answer("risk", "NEW/in.csv", *words)["risk"]
    share = np.mean(np.abs(z - x)[1:] < 50.0)
    assert next(row["risk"] for row in rows if row["attacker"] == "masked value") == pytest.approx(
        share
    )


def test_risk_of_a_release_in_parts_is_that_of_each(answer, folder, tmp_path):
    income = pd.read_csv(folder / "one.csv")["income"] + np.repeat([0.0, 20_000.0], N // 2)
    income.to_frame().to_csv(tmp_path / "moved.csv", index=False)
    options = {"part_rows": N // 2, "log": False, "accept": "all"}
    with pytest.warns(cm.ReleaseWarning, match="masked in 2 parts that differ"):
        cm.mask_file(tmp_path / "moved.csv", tmp_path / "out.csv", {"income": NOISE}, **options)
    released = pd.read_csv(tmp_path / "out.csv")["income"]
    halves = slice(0, N // 2), slice(N // 2, N)

    rows = answer("risk", "NEW/moved.csv", "--released", "NEW/out.csv", "--d", "50")["risk"]
    each = [
        cm.risk(income[half], NOISE, d=50.0, released=released[half]).attackers for half in halves
    ]
    found = {row["attacker"]: row["risk"] for row in rows}
    assert found == {who: pytest.approx((each[0][who] + each[1][who]) / 2) for who in each[0]}


def test_mask(answer, folder, tmp_path):
    with fixed_keys.under("the same"):
        words = (*MAPPED, "--no-log", "--shuffle")
        found = answer("mask", "in.parquet", "NEW/a.parquet", "-c", "income", *words)
    with fixed_keys.under("the same"):
        options = {"log": False, "shuffle": True}
        release = cm.mask_file(
            folder / "in.parquet", tmp_path / "b.parquet", {"income": SCHEME}, **options
        )

    assert alike(found, release.to_dict())
    assert pq.read_table(tmp_path / "a.parquet").equals(pq.read_table(tmp_path / "b.parquet"))


def test_mask_dry(run, tmp_path):
    words = ("--shuffle", "--max-lift", ".2", "--max-risk", "1=.9", "--dry-run")
    code, out, err = run("mask", "in.parquet", "NEW/a.parquet", "-c", "income", *MAPPED, *words)

    assert (code, err) == (0, "")
    assert out == f"nothing was written\nincome: {OPTIONS}\n"
    assert list(tmp_path.iterdir()) == []


def test_estimate(answer, folder):
    asked = (
        "--quantile",
        ".5",
        "--cdf",
        "900",
        "--other",
        "educ",
        "--group",
        "region",
        "--regress",
        "educ",
    )
    found = answer(
        "estimate", "out.parquet", *asked, "--weights", "educ", "--confidence-level", ".9"
    )
    income = cm.read_release(folder / "out.parquet", "income")
    options = {"confidence_level": 0.9}
    expected = {
        "summary": income.summary([0.5], points=[900.0], **options).to_dict(),
        "correlation": income.correlation_interval("educ", **options)._asdict(),
        "groups": income.group_means("region", weights="educ", **options).to_dict(),
        "weighted_mean": income.weighted_mean("educ", **options)._asdict(),
        "regression": income.regress("educ", **options).to_dict(),
    }

    assert found["income"].keys() == expected.keys()
    assert alike(found, {"income": expected})


def test_estimate_as_text(run, folder):
    code, out, _ = run("estimate", "out.parquet", "--target", "file")
    summary = cm.read_release(folder / "out.parquet", "income").summary(target="file")

    assert (code, out) == (0, f"income: {summary}\n")


def test_info(answer, run, folder, tmp_path):
    where = (tmp_path / "in.parquet", tmp_path / "a.parquet")
    pd.read_parquet(folder / "in.parquet").rename(columns={"income": "Größe"}).to_parquet(where[0])
    cm.mask_file(*where, {"Größe": SCHEME}, log=False, part_rows=600, accept="all")
    assert run("info", "NEW/a.parquet")[1].startswith("1,200 records in 2 parts, 3 columns\n")
    assert alike(answer("info", "out.parquet"), cm.read_release(folder / "out.parquet").to_dict())
    shown = run("info", "NEW/a.parquet", "--json")[1]
    assert '\n  "records": 1200,\n' in shown
    assert '\n    "Größe": {\n' in shown
    assert run("info", "out.parquet")[1].splitlines() == [
        "1,200 records, 3 columns",
        f"income: {OPTIONS}",
        "not masked: educ, region",
    ]


def test_report(run, tmp_path):
    words = ("report", "out.parquet", "NEW/a.html", "--units", "income=euros")

    assert run(*words) == (0, f"public report in {tmp_path}/a.html\n", "")
    assert "euros" in (tmp_path / "a.html").read_text()
    told = f"internal report in {tmp_path}/b.html: do not publish it\n"
    assert run("report", "out.parquet", "NEW/b.html", "--original", "in.parquet") == (0, told, "")
    titles = [
        "Internal report on the release" in (tmp_path / name).read_text()
        for name in ("a.html", "b.html")
    ]
    assert titles == [False, True]
    assert run(*words)[0] == 1


def test_simulate(answer, folder, tmp_path):
    found = answer("simulate", "study.toml", "--out", "NEW/result.npz", "--plot", "NEW/result.svg")
    result = cm.StudyResult.load(tmp_path / "result.npz")

    assert result.replications == 3
    assert alike(found, result.to_dict())
    assert "RMSE" in (tmp_path / "result.svg").read_text()


def test_what_is_known_of_a_study_that_was_interrupted_is_kept(run, monkeypatch, tmp_path):
    part = cm.simulate(cm.paper_population(), {"masked": NOISE}, n=5, replications=2, rng=1)
    monkeypatch.setattr(cm, "simulate", lambda *_, **__: part)

    assert run("simulate", "study.toml", "--out", "NEW/a.npz") == (
        1,
        f"{part}\n",
        "condmask: error: interrupted\n",
    )
    assert cm.StudyResult.load(tmp_path / "a.npz").replications == 2


def test_demo(answer, run, tmp_path):
    with fixed_keys.under("the same"):
        found = answer("demo")
    with fixed_keys.under("the same"):
        assert alike(found, demo.run().to_dict())
    assert run("demo", "--people", "NEW/people.parquet")[0] == 0
    assert pd.read_parquet(tmp_path / "people.parquet").equals(demo.people())


def test_a_scheme_is_chosen_where_none_is_named(run):
    code, out, err = run(
        "mask", "gaps.parquet", "NEW/a.parquet", "-c", "gaps", "--json", "--no-log"
    )
    scheme = json.loads(out)["columns"]["gaps"]

    assert (code, scheme["scheme"]) == (0, "ReverseMapping")
    assert err.splitlines()[0].startswith(
        f"gaps: {in_shell(repr(cm.ReverseMapping.from_dict(scheme)))}: noise of "
    )


# --- every option reaches the function ---

# a command, its function, what must be given, what may be given, and what the function is told
CALLS = [
    (
        "plan",
        "plan",
        ("odd.csv", "-c", "educ"),
        "--max-risk 1=.2 --max-record-risk 2=.3 --max-error mean=4 --d 5 --d 6 --other income --p .6 "
        "--sigma 3 --target file --noise laplace --strata region --missing -8 --na *",
        {
            "max_risk": {1.0: 0.2},
            "max_record_risk": {2.0: 0.3},
            "max_error": {"mean": 4.0},
            "d": [5.0, 6.0],
            "p": [0.6],
            "sigma": [3.0],
            "target": "file",
            "noise": "laplace",
            "missing": [-8.0],
        },
    ),
    (
        "audit",
        "audit",
        ("odd.csv", "-c", "income", *SIGMA),
        "--max-clear .7 --max-lift .2 --max-risk 1=.3 --accept C4 --missing 7",
        {"max_clear": 0.7, "max_lift": 0.2, "max_risk": {1.0: 0.3}, "accept": ["C4"]},
    ),
    (
        "mask",
        "mask_file",
        ("odd.csv", "new.csv", "-c", "income", *SIGMA),
        "--nan-policy omit --round --shuffle --rare-gaps drop --max-clear .7 --max-lift .2 --max-risk 1=.3 "
        "--accept C4 --accept C20 --drop age --fix --keep-metadata units --part-rows 99 "
        "--dry-run --force --log my.log --again --workers 3 --na *",
        {
            "nan_policy": "omit",
            "round": True,
            "shuffle": True,
            "rare_gaps": "drop",
            "max_clear": 0.7,
            "max_lift": 0.2,
            "max_risk": {1.0: 0.3},
            "accept": ["C4", "C20"],
            "drop": ["age"],
            "fix": True,
            "keep_metadata": ["units"],
            "part_rows": 99,
            "dry_run": True,
            "force": True,
            "log": "my.log",
            "again": True,
            "workers": 3,
            "csv": cm.CsvFormat(na="*"),
        },
    ),
    (
        "mask",
        "mask_file",
        ("odd.csv", "new.csv", "-c", "income", "-c", "educ"),
        "--strata region --missing none --missing -8 --missing -9:-1 --missing=:-20 --missing 9990: --no-log",
        {
            "missing": [-8.0, (-9.0, -1.0), (None, -20.0), (9990.0, None), None],
            "strata": ["region"],
            "schemes": ["income", "educ"],
            "log": False,
        },
    ),
    ("risk", "risk", ("in.parquet", "-c", "income", *SIGMA), "--d 5 --d 6", {"d": [5.0, 6.0]}),
    ("estimate", "read_release", ("out.parquet",), "--workers 3", {"workers": 3}),
    (
        "report",
        "report",
        ("out.parquet", "a.html"),
        "--original odd.csv --d 5 --units income=euros --match id --force --workers 3 --delimiter \\t "
        "--decimal , --encoding cp1252 --na * --na .",
        {
            "original": "odd.csv",
            "d": [5.0],
            "units": {"income": "euros"},
            "match": "id",
            "force": True,
            "workers": 3,
            "csv": cm.CsvFormat("\t", ",", "cp1252", ["*", "."]),
        },
    ),
    (
        "simulate",
        "simulate",
        ("study.toml",),
        "--checkpoint a.npz --workers 3",
        {
            "checkpoint": "a.npz",
            "workers": 3,
            "progress": True,
            "n": 60,
            "replications": 3,
            "rng": 3,
        },
    ),
]


@pytest.fixture
def told(run, monkeypatch):
    """What a function is told by the words of its command; it does nothing."""

    def go(function, *words):
        heard = {}
        form = inspect.signature(getattr(cm, function))

        def spy(*args, **kwargs):
            heard.update(form.bind(*args, **kwargs).arguments)
            raise cm.FileError("enough")

        with monkeypatch.context() as patch:
            patch.setattr(cm, function, spy)
            assert run(*words) == (1, "", "condmask: error: enough\n")
        return heard | heard.pop("options", {})

    return go


@pytest.mark.parametrize(("command", "function", "given", "options", "expected"), CALLS)
def test_every_option_reaches_the_function(told, command, function, given, options, expected):
    found = told(function, command, *given, *options.split())
    assert {name: found[name] for name in expected} == expected

    without = told(function, command, *given)
    known = inspect.signature(getattr(cm, function)).parameters
    names = {word[2:].replace("-", "_") for word in options.split() if word.startswith("--")}
    by_default = {name: known[name].default for name in names & without.keys() & known.keys()}
    assert {name: without[name] for name in by_default} == by_default


def test_columns_reach_the_function_by_name_and_as_the_file_is_written(told, folder):
    frame = pd.read_csv(folder / "odd.csv", na_values="*")
    form = cm.CsvFormat(na="*")
    words = ("-c", "gaps", "--na", "*")
    planned = told("plan", "plan", "odd.csv", *words, "--other", "gaps", "--strata", "region")
    tables = [told(name, name, "odd.csv", *words, *SIGMA)["data"] for name in ("audit", "risk")]

    assert planned["x"].name == "gaps"
    assert all(
        np.array_equal(planned[name], frame["gaps"], equal_nan=True) for name in ("x", "other")
    )
    as_masked = pd.read_csv(folder / "odd.csv", keep_default_na=False)["region"]
    assert planned["strata"]["region"].to_pylist() == as_masked.to_list()
    for table in tables:
        assert table.equals(Source(folder / "odd.csv", form).table(numeric=["gaps"]))


# --- options from a file ---


def test_options_of_a_file_give_way_to_those_typed(answer, tmp_path):
    (tmp_path / "options.toml").write_text(
        'source = "in.parquet"\ncolumn = ["income"]\np = 0.5\nsigma = 0.3\nscale = "log"\n'
        'reverse_mapping = true\nmissing = [-8, "none"]\nrange = [0, "none"]\ndry_run = true\n'
    )

    found = answer(
        "mask", "--target", "NEW/a.parquet", "--options", "NEW/options.toml", "--p", "0.6"
    )

    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", missing=(-8, None), range=(0, None))
    assert alike(found["columns"], {"income": scheme.to_dict()})


def test_codes_of_a_file_are_numbers_ranges_or_words(run, tmp_path):
    (tmp_path / "options.toml").write_text(
        'p = 0.6\nsigma = 2\nreverse_mapping = true\nmissing = [[9990, 9999], "none", -8]\n'
        '[columns.income]\nmissing = ["none", ":-1", [97, 99], 77]\n[columns.educ]\n'
    )

    found = json.loads(run("audit", "in.parquet", "--options", "NEW/options.toml", "--json")[1])

    assert found["schemes"]["income"]["missing"] == [[None, -1.0], [97.0, 99.0], 77.0, None]
    assert found["schemes"]["educ"]["missing"] == [[9990.0, 9999.0], -8.0, None]


@pytest.mark.parametrize("word", ["x:", ":", "1:2:3", "x", ""])
def test_words_that_are_no_code_are_refused(run, word):
    code, _, err = run("plan", "in.parquet", "-c", "income", "--missing", word)

    assert code == 2
    assert f"a range (9990:9999, :-1, 9990:) or none, got {word!r}" in err


def test_columns_of_a_file_may_differ(run, tmp_path):
    (tmp_path / "options.toml").write_text(
        "p = 0.6\nsigma = 2\nreverse_mapping = true\nmax_risk = {100 = 0.9}\n"
        '[columns.income]\nscale = "log"\nsigma = 0.3\n[columns.educ]\n'
    )

    found = json.loads(run("audit", "in.parquet", "--options", "NEW/options.toml", "--json")[1])

    educ = cm.ReverseMapping(0.6, 2.0)
    assert alike(found["schemes"], {"income": SCHEME.to_dict(), "educ": educ.to_dict()})


@pytest.mark.parametrize(
    ("text", "exit_code", "sentence"),
    [
        ("sigmo = 3", 2, 'Unknown option: "[sigmo]" from NEW/options.toml'),
        ("[columns.income]\nsigmo = 3", 1, "scheme has unknown entries 'sigmo'"),
        ("[columns.none]", 1, "in.parquet has no column 'none'"),
        ("columns = {income = 3}", 2, "columns must be tables in a TOML file"),
        ('step = "wide"', 2, "Invalid value for [step]"),
    ],
)
def test_unknown_options_of_a_file_are_refused(run, tmp_path, text, exit_code, sentence):
    (tmp_path / "options.toml").write_text(text)

    code, out, err = run(
        "mask", "in.parquet", "NEW/a.parquet", *P, "--options", "NEW/options.toml"
    )

    assert (code, out, len(err.splitlines())) == (exit_code, "", 1)
    assert err.startswith(f"condmask: error: {sentence.replace('NEW', str(tmp_path))}")


# --- refusals ---

MASK = ("mask", "in.parquet", "NEW/a.parquet")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("unmask",), 'Unknown command "unmask". Did you mean "mask"? '),
        (("mask", "in.parquet"), 'Command "mask" parameter --target requires an argument.'),
        ((*MASK, "-c", "income", *P, "--seed", "1"), "Unknown option: --seed"),
        (
            (*MASK, "-c", "income", "--p", "half"),
            'Invalid value for --p: unable to convert "half" into float',
        ),
        (
            (*MASK, "-c", "income", "educ"),
            "Unused Tokens: ['educ']. An option takes one value; repeat it",
        ),
        ((*MASK, "-c", "income", "--decimals", "0"), "--p must be given for column 'income'"),
        ((*MASK, *P), "--column must be given"),
        (
            (*MASK, "-c", "income", "--log", "a", "--no-log"),
            "--log must be left out with --no-log",
        ),
        (
            ("audit", "one.csv", "-c", "income", "--max-risk", "150"),
            "--max-risk must be of the form NAME=VALUE, got 150",
        ),
        (
            ("risk", "in.parquet", "--released", "out.parquet", *P),
            "--p and --sigma must be left out with --released",
        ),
        (
            ("risk", "in.parquet", "-c", "income", *SIGMA, "--match", "id"),
            "--match must be left out without --released",
        ),
        (
            ("risk", "in.parquet", "--released", "out.parquet", "-c", "income"),
            "--column must be left out with --released",
        ),
        *(
            (
                (*MASK, "-c", "income", *P, "--reverse-mapping", f"--{name}", value),
                f"--{name} must be left out with --reverse-mapping: {why}",
            )
            for name, value, why in [
                ("donors", "sample", "the swapped records take their values from one another"),
                ("decimals", "0", "released values are those of the data, and nothing is rounded"),
                ("step", "1/3", "released values are those of the data, and nothing is rounded"),
            ]
        ),
        *(
            ((*MASK, "-c", "income", *P, option, value), f"{option} needs --reverse-mapping")
            for option, value in [("--scale", "log"), ("--aggregate-ends", "3")]
        ),
    ],
)
def test_wrong_usage(run, tmp_path, words, sentence):
    code, out, err = run(*words)

    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"condmask: error: {sentence}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (*MASK, "-c", "income", "--p", "2", "--sigma", "0"),
            "2 problems were found: (1) --p must lie",
        ),
        (
            (*MASK, "-c", "salary", *P),
            "in.parquet has no column 'salary'; it has 'income', 'educ', 'region'",
        ),
        ((*MASK, "-c", "region", *P), "region must "),
        (("mask", "no.csv", "NEW/a.csv", "-c", "x", *P), "no.csv"),
        # before a scheme is chosen, which would be said
        (("mask", "in.parquet", "out.parquet", "-c", "income"), "out.parquet exists; it is"),
        (
            ("mask", "one.csv", "NEW/a.parquet", "-c", "income"),
            "NEW/a.parquet must be text, as one.csv is",
        ),
        (
            ("mask", "one.csv", "NEW/a.xlsx", "-c", "income"),
            "NEW/a.xlsx must end in one of .parquet",
        ),
        (
            ("mask", "gaps.parquet", "NEW/a.parquet", "-c", "gaps", *MAPPED),
            "gaps has 134 missing values",
        ),
        (
            (*MASK, "-c", "income", *MAPPED, "--max-risk", "1e9=.5"),
            "C4 income: an attacker who knows which",
        ),
        (("risk", "one.csv", "-c", "income", *SIGMA, "--d", "-1"), "--d must not be negative"),
        (("estimate", "in.parquet"), "in.parquet holds no scheme"),
        (
            ("estimate", "out.parquet", "-c", "educ"),
            "--column must be one of the masked columns 'income'",
        ),
        (
            ("estimate", "out.parquet", "--quantile", "1", "--other", "no"),
            "2 problems were found: (1) --quantile must lie",
        ),
        (
            ("simulate", "study.toml", "--out", "NEW/none/a.npz"),
            "--out must be a file in a folder that can be",
        ),
        (("audit", "one.csv", *SIGMA, "-c", "income", "--options", "no.toml"), "no.toml"),
    ],
)
def test_a_refusal_is_one_sentence(run, tmp_path, words, sentence):
    code, out, err = run(*words)

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith(f"condmask: error: {sentence.replace('NEW', str(tmp_path))}")
    assert list(tmp_path.iterdir()) == []


def test_a_warning_is_one_line(run):
    code, _, err = run(*MASK, "-c", "income", *SIGMA, "--step", "7", "--round", "--dry-run")

    assert (code, len(err.splitlines())) == (3, 1)
    assert err.startswith("warning: income was rounded to multiples of 7")


def test_warnings_to_programmers_are_not_shown(run, monkeypatch):
    real = cm.read_release

    def old(*words, **options):
        warnings.warn("use another function", DeprecationWarning, stacklevel=2)
        return real(*words, **options)

    monkeypatch.setattr(cm, "read_release", old)

    assert run("info", "out.parquet")[::2] == (0, "")


@pytest.mark.parametrize("more", [("--dry-run",), ()])
def test_all_that_is_worth_knowing_is_said(run, tmp_path, more):
    rng = np.random.default_rng(7)
    income = rng.lognormal(7.0, 0.5, N).round() * (rng.random(N) > 1.0 / 3.0)
    pd.DataFrame({"income": income, "person": [f"P{3 * k}" for k in range(N)]}).to_csv(
        tmp_path / "a.csv", index=False
    )
    # zeros stay under --scale log
    words = ("-c", "income", *WIDER, "--scale", "log", "--reverse-mapping", "--no-log")

    code, _, err = run("mask", "NEW/a.csv", "NEW/b.csv", *words, *more)

    assert code == 3
    assert [line.split()[1] for line in err.splitlines()] == ["C20", "C17"]


VALUE = "1204.50 of Ada"


@pytest.mark.parametrize(
    "bug", [KeyError(VALUE), OSError(VALUE), ExceptionGroup(VALUE, [ValueError(VALUE)])]
)
def test_a_bug_shows_where_and_no_data(run, monkeypatch, bug):
    def broken(*_, **__):
        raise bug

    monkeypatch.setattr(cm, "read_release", broken)

    code, out, err = run("info", "out.parquet")

    assert (code, out) == (1, "")
    assert "raise bug" in err
    assert err.splitlines()[-2] == type(bug).__name__
    assert "this is a bug in condmask" in err.splitlines()[-1]
    assert "1204" not in err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (MemoryError(), "not enough memory"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_what_the_user_can_mend_is_one_line(run, monkeypatch, error, line):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(cm, "read_release", broken)

    assert run("info", "out.parquet") == (1, "", f"condmask: error: {line}\n")


def test_a_full_disk_is_noticed_at_the_end(run, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    screen = io.StringIO()
    screen.flush = full
    monkeypatch.setattr(sys, "stdout", screen)

    assert run("info", "out.parquet")[::2] == (1, "condmask: error: No space left on device\n")


# --- help, and what is on the screen ---


def test_help(run, monkeypatch):
    code, out, err = run("--help")

    assert (code, err) == (0, "")
    assert out.startswith("Usage: condmask COMMAND\n")
    assert "\ncondmask mask people.parquet masked.parquet -c income\n" in out  # a line of its own
    assert [line.split()[1] for line in out.splitlines() if re.match(r"│ \w", line)] == NAMES
    assert run() == (2, out, "")
    assert run("--version") == (0, f"condmask {cm.__version__}\n", "")
    monkeypatch.setattr(sys, "argv", ["condmask", "--version", "unmask"])
    assert cli.main() == 0


@pytest.mark.parametrize("command", NAMES)
def test_help_of_a_command_has_its_options_and_no_seed_or_default(run, command):
    from condmask.cli import commands

    code, out, _ = run(command, "--help")

    names = {"no_reverse_mapping"} if "--no-rev" in out else set()
    for name, parameter in inspect.signature(getattr(commands, command)).parameters.items():
        together = name in ("scheme", "csv", "output")
        names |= vars(parameter.default).keys() - {"columns"} if together else {name}
    names -= {"accept_visible_coins"}  # deprecated, and not shown
    assert code == 0
    assert {*re.findall(r"(?<= )--[a-z-]*[a-z]", out)} == {
        f"--{name.replace('_', '-')}" for name in names
    }
    assert "seed" not in out
    assert "[default" not in out


def test_help_imports_nothing_heavy():
    heavy = ["numba", "scipy", "pyarrow", "numpy", "narwhals", "pandas", "tqdm"]
    code = (
        "import sys; from condmask.cli import main; codes = [main(['--help'])]; "
        "codes += [main(['mask', '--help'])]; "
        f"sys.exit(any(codes) or [name for name in {heavy!r} if name in sys.modules] or 0)"
    )

    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_terminal_sees_a_bar(run, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)

    assert run(*MASK, "-c", "income", *MAPPED, "--again")[0] == 0
    assert "1.20k/1.20k" in screen.getvalue()
    assert " rows/s]" in screen.getvalue()
    assert re.search(r"\r +\r$", screen.getvalue())  # it is gone at the end


def test_verbose_says_what_is_done_and_when(run, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])
    words = ("report", "out.parquet", "NEW/a.html")
    try:
        code, _, err = run(*words, "--verbose")
    finally:
        logging.getLogger("condmask").setLevel(logging.NOTSET)

    assert code == 0
    assert re.fullmatch(r" *\d+ ms  wrote \S+a\.html\n", err)
    assert run(*words, "--force")[2] == ""


def test_an_audit_that_refuses_ends_with_1(run):
    found = [
        run("audit", "in.parquet", "-c", "income", *P, *more)[:2] for more in ((), MAPPED[-3:])
    ]

    assert [code for code, _ in found] == [1, 0]
    assert ["REFUSED" in out for _, out in found] == [True, False]
