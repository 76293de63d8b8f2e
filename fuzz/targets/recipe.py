"""A recipe: it is read, or refused."""

from condmask.recipes.recipe import CSV, REPORT, TOP, read_recipe
from condmask.schemes.parameters import PARAMETERS
from fuzz.material import fresh

TOKENS = [word.encode() for word in (*TOP, *PARAMETERS, *REPORT, *CSV)]
TOKENS += [
    b"[columns.x]\n",
    b"[scheme]\n",
    b"[checks.x]\n",
    b"[report.within]\n",
    b" = ",
    b'"1/0"',
    b"nan",
    b"inf",
]
TOKENS += [b"1e400", b"[]", b"{}", b"1979-05-27", b"true", b"false", b"[[", b'"\\u0000"', b"0x_", b"9" * 400]


def one(data):
    recipe = read_recipe(fresh("recipe.toml", data))
    assert recipe.schemes


def seeds():
    yield b'source = "a.csv"\ntarget = "b.csv"\n[columns.x]\np = 0.6\nsigma = 300.0\n'
    yield (
        b'source = "a.parquet"\ntarget = "b.parquet"\nround = true\nomit_missing = true\nledger = "l.jsonl"\n'
        b'keep_metadata = ["geo"]\nthorough = false\naccept_visible_coins = false\n'
        b'[scheme]\np = 0.5\nnoise = "laplace"\nstrata = ["a", "b"]\n'
        b'small_strata = "merge"\nmissing = [-8, false]\n'
        b'missing_as = "null"\n[columns.x]\nsigma = 3\nstep = "1/3"\nrange = [0, 100]\n'
        b'[columns.y]\nsigma = 2\ndecimals = 1\n[report]\ninternal = "i.html"\npublic = "p.html"\n'
        b'[report.within]\nx = [1, 2.5]\n[report.units]\nx = "euros"\n[checks.x]\n"1" = 0.5\n'
    )
    yield (
        b'source = "a.csv"\ntarget = "b.csv"\n'
        b'[csv]\ndelimiter = ";"\ndecimal = ","\nencoding = "cp1252"\nna = ["."]\n'
        b'[columns.x]\np = 0.5\nsigma = 0.3\nscale = "log"\nreverse_mapping = true\naggregate_ends = 3\n'
        b"[report]\nwithin = 5\n"
    )
