"""Everything a change must pass, by sessions: ``nox -l`` lists them, ``nox`` runs the usual ones.

Each session has its own environment; ``nox --no-venv --no-install`` takes the one that is active.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["lint", "tests", "docs"]
nox.options.reuse_existing_virtualenvs = True

HERE = Path(__file__).parent
# examples draw fixed keys, as tests do; threads for small products wait for one another beside
# other tests
SETTINGS = {"PYTHONPATH": str(HERE / "tests" / "fixed_keys"), "OPENBLAS_NUM_THREADS": "1"}
# what meets other packages is tried on their lowest versions, but neither what counts over many
# releases, nor how near attackers come that another scikit-learn has trained
LOWEST = [
    *("kernels", "masking", "files", "plot", "test_frames.py", "test_stored_values.py"),
    *("disclosure/test_column.py", "disclosure/test_settling.py", "estimates/test_formulas.py"),
    *("estimates/test_estimate.py", "estimates/test_linear.py"),
]
NO_COUNTING = (
    "not cover and not unbiased and not insider and not other_programs and not one_by_hand"
)


@nox.session
def lint(session):
    """Ruff's rules and format, types, and whether asv can read the benchmarks."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("asv", "check", "--python", "same")


@nox.session(
    python=["3.11", "3.12", "3.13", "3.14"]
    if os.environ.get("CONDMASK_PYTHONS") == "all"
    else None
)
def tests(session):
    """Every claim once; arguments go to pytest (``nox -s tests -- tests/files``)."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env=SETTINGS)


@nox.session
def slow(session):
    """More cases and replications of what the tests show."""
    session.install("-e", ".[test]")
    # of those that are long, too: -- -m long
    chosen = ["-m", "slow and not long", *session.posargs]
    session.run("python", "-m", "pytest", "-n", "auto", *chosen, env=SETTINGS)


@nox.session
def docs(session):
    """The site, whether it asks the network, and the examples of pages and docstrings."""
    session.install("-e", ".[test]")
    build = HERE / "build"
    shutil.rmtree(HERE / "docs" / "api", ignore_errors=True)  # pages of names that are gone
    site, trees = str(build / "html"), str(build / "html" / ".doctrees")
    session.run(
        "sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", site, env=SETTINGS
    )
    session.run("python", "docs/extensions/offline.py", site, env=SETTINGS)
    # trees are those of the site, so that no page is read twice
    pages = [str(page) for page in sorted(Path("docs").glob("**/*.rst")) if has_examples(page)]
    doctest = ["-q", "-W", "-b", "doctest", "-d", trees, "docs", str(build / "doctest")]
    session.run("sphinx-build", *doctest, *pages, env=SETTINGS)
    session.run("python", "-m", "pytest", "--doctest-modules", "src/condmask", env=SETTINGS)


@nox.session
def nojit(session):
    """Kernels are valid plain Python, and give the same answers as such."""
    session.install("-e", ".[test]")
    settings = SETTINGS | {"NUMBA_DISABLE_JIT": "1"}
    session.run("python", "-m", "pytest", "-n", "auto", "tests/kernels", env=settings)


@nox.session
def bounds(session):
    """Kernels never reach outside their arrays: arguments go to pytest in place of the kernels'
    tests."""
    session.install("-e", ".[test]")
    chosen = session.posargs or ["tests/kernels"]
    # apart from machine code without checks, of which numba's cache does not tell it
    settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(HERE / "build" / "bounds")}
    session.run("python", "-m", "pytest", "-n", "auto", *chosen, env=SETTINGS | settings)


@nox.session
def lowest(session):
    """The lowest versions of the dependencies, on what does not count over many releases."""
    tools = ["hypothesis", "mpmath", "pytest", "pytest-benchmark", "pytest-xdist", "statsmodels"]
    session.install(
        "-c", ".ci/lowest.txt", "polars", *tools, "-e", ".[dask,files,formula,pandas,plot,stat]"
    )
    folders = [f"tests/{name}" for name in LOWEST]
    session.run("python", "-m", "pytest", "-n", "auto", *folders, "-k", NO_COUNTING, env=SETTINGS)


@nox.session
def bench(session):
    """The answers of the comparisons with others, and their times once."""
    session.install("-e", ".[test,peers]")
    timed = ["--benchmark-enable", "--benchmark-columns=median", *session.posargs]
    session.run("python", "-m", "pytest", "benchmarks/versus", *timed, env=SETTINGS)


@nox.session
def history(session):
    """Time the commits of ``benchmarks/milestones.txt`` and HEAD, and make pages in ``.asv/html``.

    What was timed before is not timed again. Arguments go to ``asv run``:
    ``nox -s history -- --bench Mask``.
    """
    session.install("asv>=0.6.4", "virtualenv>=20")
    commits = [*milestones(), head(session)]
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "commits")
        listed.write_text("\n".join(commits))
        run = ["run", "--skip-existing-successful", *session.posargs, f"HASHFILE:{listed}"]
        session.run("asv", "machine", "--yes", silent=True)
        # 2: a milestone lacks what a benchmark times
        session.run("asv", *run, success_codes=[0, 2])
    session.run("asv", "publish")
    session.log("open .asv/html/index.html by way of: asv preview")


@nox.session
def gate(session):
    """Name what became 1.5 times slower than main, or a commit:
    ``nox -s gate -- HEAD~5 --bench Mask``."""
    session.install("asv>=0.6.4", "virtualenv>=20")
    base, *rest = session.posargs or ["main"]
    session.run("asv", "machine", "--yes", silent=True)
    options = ["--factor", "1.5", "--only-changed", "--interleave-rounds"]
    session.run("asv", "continuous", *options, *rest, base, "HEAD")


@nox.session(venv_backend="none")
def findings(session):
    """Show that other libraries still behave as ``findings/`` says, each in its own environment."""
    for script in sorted((HERE / "findings").glob("*.sh")):
        session.run("bash", str(script), external=True)


def has_examples(page):
    """Whether a page has examples that the doctest builder runs."""
    return (
        re.search(r"^ *(>>> |\.\. (testcode|doctest)::)", page.read_text(), re.MULTILINE)
        is not None
    )


def milestones():
    """The commits that ended a larger change."""
    lines = (HERE / "benchmarks" / "milestones.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def head(session):
    """The commit that is checked out."""
    return session.run("git", "rev-parse", "HEAD", external=True, silent=True).strip()
