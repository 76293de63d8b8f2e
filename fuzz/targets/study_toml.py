"""A study in TOML: it is read, or refused."""

from condmask.studies.toml import PLAIN, read_study
from fuzz.material import fresh

TOKENS = [
    word.encode() for word in (*PLAIN, "population", "schemes", "kind", "margins", "correlation", "column")
]
TOKENS += [
    b"[[schemes]]\n",
    b"[population]\n",
    b"[[population.margins]]\n",
    b" = ",
    b"nan",
    b"inf",
    b"[]",
    b"{}",
]
TOKENS += [
    b'"copula"',
    b'"file"',
    b'"paper"',
    b'"norm"',
    b'"gamma"',
    b'"levy_stable"',
    b'"1/0"',
    b"1e400",
    b"true",
]


def one(data):
    source = fresh("a.csv", b"x,y\n1,2\n3,4\n5,7\n")  # which a study may name
    path = source.with_name("study.toml")
    path.write_bytes(data)
    assert {"population", "schemes", "n", "replications"} <= set(read_study(path))


def seeds():
    scheme = b'[[schemes]]\nname = "CM"\nscheme = "ConditionalMasking"\np = [0.5, 0.6]\nsigma = 3\n'
    head = b"n = 20\nreplications = 3\nquantiles = [0.5]\nmoments = [1, 2]\nrng = 1\n"
    yield head + scheme
    yield head + b'[population]\nkind = "file"\npath = "a.csv"\ncolumn = "x"\nother = "y"\n' + scheme
    yield head + (
        b'[population]\nkind = "copula"\ncorrelation = 0.5\n[[population.margins]]\nname = "gamma"\na = 2\n'
        b'loc = 1\nscale = 3\n[[population.margins]]\nname = "norm"\n'
    ) + scheme  # fmt: skip
