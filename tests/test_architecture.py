"""The layout keeps its promises: imports run downwards and in no circle, importing costs nothing.

Oracle: the ladder below, read against the syntax trees of the files."""

import ast
import builtins
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import faults
import pytest

import condmask

SOURCE = Path(condmask.__file__).parent
TESTS = Path(__file__).parent
LADDER = [  # a module imports from its own storey or from one below it, and in no circle
    {"__main__", "cli", "condmask"},  # the names that users have, which resolve when they are used
    {"demo"},
    {"planning"},
    {"studies"},
    {"reports"},
    {"dask"},
    {"publish"},
    {"files"},
    {"disclosure"},
    {"estimates"},
    {"domains"},
    {"reverse_mapping"},
    {"pairs"},
    {"linear"},
    {"moments"},
    {"distribution"},
    {"inference"},
    {"masking"},
    {"designs"},
    {"closed_form_risk", "indicators", "own_grid", "strata"},
    {"correlations", "missing_codes", "suspected_codes", "plot"},
    {"labels", "row_labels", "marks"},
    {"frame_rows"},
    {"frames"},
    {"number_columns"},
    {"stored_values"},
    {"law"},
    {"kernels"},
    {"visible_grid"},
    {"grid"},
    {"_blocks", "_checks", "_digits", "_jit", "_randomness", "_state"},
    {"errors"},
    {"changes"},
]
ROW = {module: row for row, modules in enumerate(LADDER) for module in modules}
FILES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    """The dotted name within the package: kernels.masking, law, or nothing for the package
    itself."""
    return (
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip(".")
    )


MODULES = {name_of(path) for path in FILES} - {""}


def for_types_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


def imports(node, types=False):
    """Dotted names of all that a syntax tree imports, in functions too; or for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (
                f"{'.' * child.level}{child.module or ''}.{alias.name}" for alias in child.names
            )
        elif types or not for_types_only(child):
            yield from imports(child, types)


def ours(source, types=False):
    """What a source text imports of the package, without the package's own name."""
    names = imports(ast.parse(source), types)
    return [
        name.removeprefix("condmask.") for name in names if name.split(".")[0] in ("condmask", "")
    ]


def module_of(name):
    """The module that an imported name stands in: the longest part of it that is one."""
    parts = name.split(".")
    whole = [".".join(parts[:k]) for k in range(len(parts), 0, -1)]
    return next((part for part in whole if part in MODULES), parts[0])


def complaints(module, source):
    """Every import of ``source``, the text of ``module``, that the ladder forbids."""
    top = module.split(".")[0]
    for name in ours(source):
        target = name.split(".")[0]
        if target not in ROW:
            yield f"{module} imports {name}, which stands nowhere on the ladder"
        elif ROW[target] < ROW[top]:
            yield f"{module} imports {name}, from above"
        elif top == "kernels" and target not in ("kernels", "_jit"):
            yield f"{module} imports {name}: a kernel knows _jit and other kernels alone"
        elif target != top and ROW[target] == ROW[top] and module_of(name).count("."):
            yield f"{module} imports {name}, from the folder beside it"


def circles(sources):
    """The circle that the imports of these modules run in, if any; ``sources`` are texts by
    module.

    An import for types alone counts: who reads either module has to know the other.
    """
    needs = {
        module: {module_of(name) for name in ours(source, types=True)} - {module}
        for module, source in sources.items()
    }
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_every_module_stands_on_the_ladder():
    assert len(FILES) >= 50  # an empty listing would pass everything below
    assert {name.split(".")[0] for name in MODULES} <= set(ROW)


def test_imports_run_downwards():
    assert ours((SOURCE / "__init__.py").read_text()) == []
    assert [
        text
        for path in FILES
        if name_of(path)
        for text in complaints(name_of(path), path.read_text())
    ] == []


def test_no_imports_run_in_a_circle():
    assert circles({name_of(path): path.read_text() for path in FILES if name_of(path)}) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("_jit", "from condmask.publish.conditional import ReleaseWarning"),
        ("_jit", "from condmask import schemes"),
        ("_checks", "from condmask.grid import Grid"),
        ("estimates.estimate", "def f():\n    import condmask.publish.conditional"),
        ("kernels.series", "from condmask import _checks"),
        ("kernels.series", "from condmask.deconvolution import weight"),
        ("files.release", "from condmask.studies.simulate import simulate"),
        ("frames", "from condmask import ConditionalMasking"),
        ("frames", "from . import _checks"),
    ],
)
def test_the_ladder_forbids(module, source):
    assert len(list(complaints(module, source))) == 1


def test_the_reference_imports_nothing_of_ours():
    assert ours((TESTS / "reference.py").read_text()) == []


# exceptions that are no refusals: what Python asks of a mapping or a module, what is abstract, an
# interrupt
ALLOWED = {"AttributeError", "IndexError", "KeyError", "KeyboardInterrupt", "NotImplementedError"}


def plain_errors(source):
    """Exceptions of Python's own that a source text raises by name."""
    for node in ast.walk(ast.parse(source)):
        for part in ast.walk(node.exc) if isinstance(node, ast.Raise) and node.exc else ():
            known = getattr(builtins, part.id, None) if isinstance(part, ast.Name) else None
            if isinstance(known, type) and issubclass(known, BaseException):
                yield known.__name__


def test_refusals_are_errors_of_ours():
    wrong = {name_of(path): set(plain_errors(path.read_text())) - ALLOWED for path in FILES}

    assert {module: errors for module, errors in wrong.items() if errors} == {}


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numba", "scipy", "narwhals", "randomgen", "pandas"}
    code = f"import sys, condmask; assert not {heavy} & {{*sys.modules}}"

    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert finished.returncode == 0, finished.stderr


def test_every_public_name_resolves_and_no_other():
    assert all(getattr(condmask, name) is not None for name in condmask.__all__)
    assert {*condmask.__all__} <= {*dir(condmask)}
    with pytest.raises(AttributeError, match=r"^module 'condmask' has no attribute 'anonymise'$"):
        condmask.anonymise  # noqa: B018


def test_each_file_of_the_mathematics_names_its_theorem_or_its_page():
    rooms = "kernels", "inference", "distribution", "moments", "pairs", "linear", "reverse_mapping"
    files = [path for room in rooms for path in sorted((SOURCE / room).rglob("*.py"))]
    named = re.compile(r"Theorem|eq\. \(\d|docs/\w+\.rst")

    assert [
        path for path in files if not named.search(ast.get_docstring(ast.parse(path.read_text())))
    ] == []


def test_no_file_is_longer_than_can_be_read_at_once():
    assert [path.name for path in FILES if len(path.read_text().splitlines()) > 400] == []


@pytest.mark.parametrize("room", faults.ROOMS)
def test_sampled_faults_of_a_room_are_valid_python_and_change_its_source(room):
    tried = faults.sampled(room, 30, seed=1)

    assert len(tried) == 30
    for fault in tried:
        ast.parse(fault.text())
        assert fault.text() != (faults.ROOT / fault.path).read_bytes()
