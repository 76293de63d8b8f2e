"""Recipes: every key, and what is refused before anything is read.

Oracle: the schemes as they are made by hand; messages.
"""

import re

import pytest

import condmask as cm
from condmask.recipes import recipe
from condmask.schemes.parameters import PARAMETERS

LEAST = """
source = "people.csv"
target = "out/released.parquet"
[columns.income]
p = 0.6
sigma = 1000.0
"""
FULL = """
source = "people.csv"
target = "/data/released.csv"
omit_missing = true
round = true
log = "office/log.jsonl"
accept_visible_coins = true
thorough = true
keep_metadata = ["geo"]

[scheme]
p = 0.6
noise = "laplace"
donors = "permutation"
strata = ["region", "sex"]
small_strata = "merge"
decimals = 2

[columns.income]
sigma = 1000.0
decimals = 0
missing = [-8, -9]
missing_as = "null"

[columns."extra pay"]
sigma = 300
step = "1/3"
missing = [-7, false]

[columns.growth]
sigma = 0.3
missing = false
range = [-10, inf]

[csv]
delimiter = ";"
decimal = ","
encoding = "cp1252"
na = ["."]

[report]
internal = "internal.html"
public = "public.html"
within = { income = [100, 250.5], growth = 10 }
units = { income = "euros" }

[checks.income]
250 = 0.45
"0.5" = 0.01
"""
MAPPED = """
source = "people.csv"
target = "released.csv"
[scheme]
p = 0.6
reverse_mapping = true
aggregate_ends = 3
[columns.income]
sigma = 1000.0
[columns.assets]
sigma = 0.3
scale = "log"
"""


def read(tmp_path, text):
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return recipe.read_recipe(path)


def test_the_least(tmp_path):
    found = read(tmp_path, LEAST)

    assert (found.source, found.target) == (tmp_path / "people.csv", tmp_path / "out/released.parquet")
    assert found.schemes == {"income": cm.ConditionalMasking(0.6, 1000.0)}
    assert found[4:] == (False, False, False, [], None, None, None, {}, {}, {}, False, True)


def test_every_key(tmp_path):
    found = read(tmp_path, FULL)
    shared = {
        "noise": "laplace", "donors": "permutation", "strata": ("region", "sex"), "small_strata": "merge"
    }  # fmt: skip

    assert str(found.target) == "/data/released.csv"
    assert found.schemes == {
        "income": cm.ConditionalMasking(
            0.6, 1000.0, decimals=0, missing=(-8, -9), missing_as="null", **shared
        ),
        "extra pay": cm.ConditionalMasking(0.6, 300.0, step=1 / 3, missing=(-7, None), **shared),
        "growth": cm.ConditionalMasking(0.6, 0.3, decimals=2, missing=None, range=(-10.0, None), **shared),
    }
    assert found.omit_missing
    assert found.round
    assert found.accept_visible_coins
    assert found.thorough
    assert found.keep_metadata == ["geo"]
    assert found.csv == cm.CsvFormat(delimiter=";", decimal=",", encoding="cp1252", na=(".",))
    assert (found.internal, found.public) == (tmp_path / "internal.html", tmp_path / "public.html")
    assert found.within == {"income": [100.0, 250.5], "growth": [10.0]}
    assert found.units == {"income": "euros"}
    assert found.checks == {"income": {250.0: 0.45, 0.5: 0.01}}
    assert found.log == tmp_path / "office/log.jsonl"


def test_the_keys_of_reverse_mapping(tmp_path):
    options = {"reverse_mapping": True, "aggregate_ends": 3}

    assert read(tmp_path, MAPPED).schemes == {
        "income": cm.ConditionalMasking(0.6, 1000.0, **options),
        "assets": cm.ConditionalMasking(0.6, 0.3, scale="log", **options),
    }


def test_every_key_that_is_known_is_tried():
    keys = {*recipe.TOP, *PARAMETERS, *recipe.CSV, *recipe.REPORT}

    assert [key for key in keys if not re.search(rf"\b{key}\b", FULL + MAPPED)] == []


def test_distances_for_all_columns(tmp_path):
    assert read(tmp_path, LEAST + "[report]\nwithin = [1, 2]").within == {"income": [1.0, 2.0]}
    assert read(tmp_path, LEAST + "[report]\nwithin = 3").within == {"income": [3.0]}


TOP = ", ".join(recipe.TOP)
SCHEME = ", ".join(PARAMETERS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "people.csv"', "", "the recipe must have 'source', got 'target', 'columns'"),
        ('target = "out/released.parquet"', "", "the recipe must have 'target', got 'source', 'columns'"),
        ("[columns.income]", "[column.income]", f"the recipe may have {TOP}, got 'column'"),
        (
            'source = "people.csv"',
            'source = "people.csv"\nseed = 1',
            f"the recipe may have {TOP}, got 'seed'",
        ),
        ("p = 0.6", "", "columns.income must have 'p', or [scheme] must, got neither"),
        ("sigma = 1000.0", "", "columns.income must have 'sigma', or [scheme] must, got neither"),
        ("sigma = 1000.0", "sigma = 1000.0\nrng = 1", f"columns.income may have {SCHEME}, got 'rng'"),
        ("p = 0.6", "p = 1.6", "columns.income: p must lie strictly between 0 and 1, got 1.6"),
        ("p = 0.6", "p = 1e-30", "columns.income: p must be at least 5.4e-20, got 1e-30"),
        ("p = 0.6", "p = '.6'", "columns.income: p must be a number strictly between 0 and 1, got '.6'"),
        ("p = 0.6", "p = 0.6\nstep = 'a third'", "step must be a number or a fraction of two, got 'a third'"),
        ("p = 0.6", "p = 0.6\nstep = '1/0'", "step must be a number or a fraction of two, got '1/0'"),
        ("p = 0.6", "p = 0.6\nstrata = 'income'", "strata must not be a column that is masked, got 'income'"),
        ('"people.csv"', "1", "source must be a path, got 1"),
        ('"people.csv"', '"people\\u0000.csv"', "source must be a path, got 'people"),
        ('"people.csv"', '"people.doc"', "people.doc must end in one of .parquet"),
        ("out/released.parquet", "people.csv", "source and target must be different files"),
        ("[columns.income]", "columns = 1\n[scheme]", "columns must be a table, [columns], got 1"),
        ("[columns.income]", "[scheme]", "the recipe must have 'columns', got 'source', 'target', 'scheme'"),
        ("[columns", "omit_missing = 1\n[columns", "omit_missing must be true or false, got 1"),
        ("sigma", "sigma = 1\nsigma", "is not TOML"),
        ("1000.0", "1000.0\n[columns.age]\np = 0.5\nsigma = 1.0", "schemes must agree in p and donors"),
        ("1000.0", "1000.0\n[csv]\nquote = 1", "csv may have delimiter, decimal, encoding, na, got 'quote'"),
        ("1000.0", "1000.0\n[csv]\ndecimal = ';'", "decimal must be one of '.', ',', got ';'"),
        (
            "1000.0", "1000.0\n[report]\npath = 'a'",
            "report may have internal, public, within, units, got 'path'",
        ),
        ("1000.0", "1000.0\n[report]\npublic = 'a.pdf'", "public must end in .html or .htm, got 'a.pdf'"),
        (
            "1000.0", "1000.0\n[report]\npublic = 'a.html'\ninternal = './a.html'",
            "internal and public must be different files",
        ),
        ("1000.0", "1000.0\n[report]\nwithin = [0]", "within must be positive and finite, got 0"),
        ("1000.0", "1000.0\n[report.within]\nage = 1", "report.within may have income, got 'age'"),
        ("1000.0", "1000.0\n[report.units]\nincome = 1", "units of income must be text, got 1"),
        ("1000.0", "1000.0\n[checks.age]\n1 = .1", "is not TOML"),
        ("1000.0", "1000.0\n[checks.age]\n1 = 0.1", "checks may have income, got 'age'"),
        (
            "1000.0", "1000.0\n[checks.income]\nnear = 0.1",
            "checks.income must have distances as keys, got 'near'",
        ),
        (
            "1000.0", "1000.0\n[checks.income]\n250 = 45",
            "checks.income.250 must lie strictly between 0 and 1, got 45",
        ),
        ("1000.0", "1000.0\n[checks]\nincome = 0.4", "income must be a table, [income], got 0.4"),
    ],
)  # fmt: skip
def test_refused_before_anything_is_read(tmp_path, old, new, message):
    assert old in LEAST
    with pytest.raises((ValueError, TypeError)) as caught:
        read(tmp_path, LEAST.replace(old, new, 1))

    assert str(caught.value).startswith(f"{tmp_path / 'recipe.toml'}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_recipe_in_another_encoding(tmp_path):
    (tmp_path / "recipe.toml").write_bytes("# Gr\u00f6\u00dfe".encode("latin-1"))

    with pytest.raises(ValueError, match=r"recipe\.toml is not TOML: 'utf-8' codec"):
        recipe.read_recipe(tmp_path / "recipe.toml")


def test_a_recipe_that_is_not_there():
    with pytest.raises(cm.FileError, match=r"^nowhere\.toml: no such file or directory$"):
        recipe.read_recipe("nowhere.toml")
