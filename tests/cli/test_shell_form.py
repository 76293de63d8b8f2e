"""Messages name arguments as Python does in Python, and as options on the command line.

Oracle: the command line itself, which parses what a message says to pass.
"""

import inspect
import shlex
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.cli import main
from condmask.cli.commands import COMMANDS
from condmask.cli.options import parsed
from condmask.cli.shell_form import OPTIONS, in_shell

N = 400
INCOME = np.random.default_rng(1).lognormal(7.0, 0.5, N).round(2)


def options_of(function):
    """The options of a command: its keywords, and the fields of groups of options."""
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(parameter.annotation):
            yield from (field.name for field in fields(parameter.annotation))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            yield name


def test_all_options_of_all_commands_are_known():
    names = {name for function in COMMANDS for name in options_of(function)}

    assert names - OPTIONS == {"columns"}  # tables in a TOML file
    assert names >= OPTIONS


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("pass shuffle=True", "pass --shuffle"),
        ("pass drop=['a b', 'c']", "pass --drop 'a b' --drop c"),
        ("pass schemes=['a', 'b']", "pass --column a --column b"),
        ('pass nan_policy="omit" to leave them out', "pass --nan-policy omit to"),
        ("pass log=False, which looks up", "pass --no-log, which looks up"),
        ("pass sigma=12.5", "pass --sigma 12.5"),
        ("replaced only with force=True.", "replaced only with --force."),
        ("pass match=COLUMN, a column", "pass --match COLUMN, a column"),
        ("p must lie between 0 and 1", "--p must lie between 0 and 1"),
        (
            "2 problems were found: (1) p must lie; (2) quantiles must",
            "2 problems were found: (1) ",
        ),
        ("pass missing=(-8, -999) if so", "pass --missing -8 --missing -999 if so"),
        ("missing=[(None, -1), 7], or", "--missing :-1 --missing 7, or"),
        ("missing=None if not", "--missing none if not"),
        ("pass csv=CsvFormat(decimal=..., na=...) to", "pass --decimal ... --na ... to"),
        ("range=(0, None)", "--range 0 none"),
        ("strata=('a b', 'c')", "--strata 'a b' --strata c"),
        ("column 'p=3' must be", "column 'p=3' must be"),
        ("steps of bandwidth=None", "steps of bandwidth=None"),
        ("income must be finite", "income must be finite"),
        ("target must be text", "target must be text"),
    ],
)
def test_arguments_are_options(message, expected):
    assert in_shell(message).startswith(expected)
    assert in_shell(in_shell(message)) == in_shell(message)


SCHEMES = [
    cm.ConditionalMasking(0.6, 300.0),
    cm.ConditionalMasking(0.25, 1e-5, step=0.05, strata=("a b", "c"), small_strata="merge"),
    cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=3),
    cm.ConditionalMasking(0.6, 5.0, missing=(-8, (9990, 9999), (None, -20)), range=(0, None)),
    cm.ConditionalMasking(
        0.6, 5.0, noise="laplace", donors="sample", missing_as="null", missing=-1
    ),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_options_of_a_scheme_make_the_same_scheme(scheme):
    words = shlex.split(in_shell(f"{{'in come': cm.{scheme!r}}}"))
    call = parsed(COMMANDS, ["audit", "in.csv", *words])

    assert call.keywords["column"] == ["in come"]
    assert call.keywords["scheme"].schemes(["in come"]) == {"in come": scheme}


def test_schemes_of_several_columns_make_a_file_of_options(tmp_path):
    schemes = {"a": SCHEMES[2], "b": cm.ReverseMapping(0.6, 0.2)}
    table = ", ".join(f"{name!r}: cm.{scheme!r}" for name, scheme in schemes.items())
    said = in_shell(f"pass {{{table}}}")
    path = tmp_path / "options.toml"
    path.write_text(said.partition("has ")[2])
    call = parsed(COMMANDS, ["audit", "in.csv", "--options", str(path)])

    assert said.startswith("pass --options FILE.toml")
    assert call.keywords["scheme"].schemes(None) == schemes


@pytest.fixture
def people(tmp_path):
    """A file of incomes in ascending order, three of them missing."""
    frame = pd.DataFrame({"income": np.sort(INCOME)})
    frame.loc[[3, 5, 7], "income"] = np.nan
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


def test_each_face_speaks_its_own_language(people, tmp_path, capsys):
    source = tmp_path / "people.csv"
    target = tmp_path / "masked.csv"
    scheme = {"income": cm.ConditionalMasking(0.6, 300.0)}
    with pytest.raises(ValueError, match=r"^2 problems were found") as caught:
        cm.mask_file(source, target, scheme, log=False)
    words = ["mask", str(source), str(target), "-c", "income", "--p", ".6", "--sigma", "300"]
    words.append("--no-log")
    assert main(words) == 1
    said = capsys.readouterr().err

    for in_python, option in (
        ('nan_policy="omit"', "--nan-policy omit"),
        ("shuffle=True", "--shuffle"),
    ):
        assert f"; pass {in_python}" in str(caught.value)
        assert f"; pass {option}" in said
        words += option.split()
    assert "--" not in str(caught.value)
    assert "=" not in said
    assert main(words) in (0, 3)


def test_an_audit_names_its_remedies_as_options(people, tmp_path, capsys):
    words = ["-c", "income", "--p", "0.6", "--sigma", "300"]
    assert main(["audit", str(tmp_path / "people.csv"), *words]) == 1
    shown = capsys.readouterr().out

    assert "; pass --shuffle" in shown
    assert "income: --p 0.6 --sigma 300" in shown
    assert "=" not in shown
