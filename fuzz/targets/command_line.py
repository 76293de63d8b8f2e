"""Arguments of the command: done, refused or misused in one line, and never a bug."""

import contextlib
import io
import sys
from functools import cache

from hypothesis import strategies as st

from condmask import cli
from fuzz.material import TABLE, as_arrow, as_parquet, fresh, released
from fuzz.target import arguments

HEAVY = {"demo", "paper", "simulate", "compare"}  # commands that compute for minutes by default
FILES = (
    "a.csv",
    "a.parquet",
    "a.arrow",
    "m.parquet",
    "r.toml",
    "s.toml",
    "d",
    "no.csv",
    "out.csv",
    "out.parquet",
)
VALUES = (
    "x", "t", "k", "d", "", "-", "--", "a\nb", "0", "1", "-1", "1/3", "1/0", "0/1", "nan", "inf", "-inf",
    "1e400",
    "1e-400", "none", "log", "normal", "laplace", "x=1", "x=", "=", "=1", "1=.5", "mean=1", "quantile 0.1=2",
    "a,b",
    ";", "utf-16", "rot13", "é", "\ud800", "\0", "../a.csv", "/", "9" * 400, "0x10", "1_0", "٣", "x y", "*",
    "d/*.csv",
    "out.html",
)  # fmt: skip


def options():
    """All options of all commands."""
    (commands,) = (one for one in cli.parser()._actions if one.choices)
    return {
        name: sorted({option for action in command._actions for option in action.option_strings})
        for name, command in commands.choices.items()
    }


OPTIONS = options()
LIKELY = ("-c", "x", "--p", "0.6", "--sigma", "3", "--accept-visible-coins", "--no-ledger", "--force")


@st.composite
def words(draw):
    """A command, files, options of it and hostile values; often what makes a job that can be done."""
    name = draw(st.sampled_from([*sorted(OPTIONS), "", "mak"]))
    own = [*OPTIONS.get(name, ()), "--no-such", "-x"]
    likely = draw(st.sampled_from([(), LIKELY[:2], LIKELY[:6], LIKELY]))
    rest = draw(st.lists(st.sampled_from([*FILES, *own, *own, *VALUES]), max_size=8))
    files = draw(st.lists(st.sampled_from(FILES), max_size=2))
    return [name, *files, *likely, *rest]


@arguments(line=words())
def one(line):
    heavy = HEAVY & {*line[:1]} and not {"-h", "--help"} & {*line}
    release = masked()
    source = fresh("a.csv", b"x,t,k\n" + b"".join(b"%d.5,a,%d\n" % (k, k % 5) for k in range(20)))
    source.with_name("a.parquet").write_bytes(PARQUET)
    source.with_name("a.arrow").write_bytes(ARROW)
    source.with_name("m.parquet").write_bytes(release)
    source.with_name("r.toml").write_text(
        'source = "a.csv"\ntarget = "out.csv"\n[columns.x]\np = 0.6\nsigma = 3.0\n'
    )
    source.with_name("s.toml").write_text(
        "n = 20\nreplications = 2\nrng = 1\n[[schemes]]\np = 0.6\nsigma = 3.0\n"
    )
    source.with_name("d").mkdir()
    (source.with_name("d") / "1.csv").write_bytes(source.read_bytes())
    if heavy:  # the grammar alone
        with silenced() as (_, err), contextlib.suppress(SystemExit):
            cli.parser().parse_args(line)
        assert "Traceback" not in err.getvalue()
        return
    with silenced() as (_, err):
        code = cli.main(line)
    text = err.getvalue()
    assert code in (0, 1, 2), f"exit code {code} of {line}:\n{text}"
    said = [one for one in text.splitlines() if one.startswith("condmask: error: ")]
    assert len(said) == (code != 0) or not line[0], f"{line} says {text!r}"


@contextlib.contextmanager
def silenced():
    """Standard streams that are kept; input is at its end."""
    streams = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            yield streams
    finally:
        sys.stdin = before


SMALL = TABLE.slice(0, 20)
PARQUET, ARROW = as_parquet(SMALL), as_arrow(SMALL)


@cache
def masked():
    """A release of the Parquet file."""
    return released(fresh("source.parquet", PARQUET), "x").read_bytes()
