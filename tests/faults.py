"""Faults put into condmask one at a time, to see whether the tests notice.

``python tests/faults.py kernels --sample 40`` puts in 40 small changes of the room's syntax trees,
such as ``<`` for ``<=``, chosen by chance, so that nobody can write tests to them.

A fault is noticed if a test of the room fails, or if the tests compute five times as long as
without it: seconds of a processor are counted, so that a busy machine notices nothing.
"""

import argparse
import ast
import copy
import os
import queue
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/condmask")
COPIES = ROOT / "build" / "faults"
DISTRIBUTION = "tests/distribution/test_distribution.py::test_"
INTERVALS = "tests/estimates/test_distribution_intervals.py::test_"
IN_EXACT_NUMBERS = "tests/estimates/test_linear.py::test_all_is_as_in_exact_numbers_chunk_by_chunk"
ROOMS = {  # the source of a room, and what pytest is told to run
    "cli": (["cli"], ["tests/test_cli.py"]),
    "dask": (["dask.py"], ["tests/test_dask.py"]),
    "disclosure": (["disclosure"], ["tests/disclosure"]),
    "distribution": (
        ["distribution"],
        [
            "tests/distribution",
            *(f"tests/estimates/test_{name}.py" for name in ("estimate", "counts")),
            f"{INTERVALS}an_estimate_goes_by_the_rule",
            f"{INTERVALS}an_interval_asked_alone_is_the_one_asked_among_others",
        ],
    ),
    "estimates": (
        ["estimates"],
        ["tests/estimates", "tests/moments", "tests/plot/test_plot.py", "tests/test_errors.py"],
    ),
    "frames": (
        [
            "frames.py",
            "indicators.py",
            "labels.py",
            "missing_codes.py",
            "strata.py",
            "suspected_codes.py",
        ],
        [
            *(f"tests/test_{name}.py" for name in ("frames", "missing_codes", "strata", "errors")),
            "tests/files",
        ],
    ),
    "kernels": (  # as plain Python: of the tests that look at many points a few
        ["kernels"],
        [
            *("tests/kernels", "tests/inference/test_intervals.py"),
            f"{INTERVALS}an_estimate_goes_by_the_rule",
            f"{DISTRIBUTION}across_a_gap_each_cluster_counts_alone",
            f"{DISTRIBUTION}without_parts_a_line_is_looked_at_in_its_nodes_alone",
            f"{DISTRIBUTION}quantiles_far_from_zero_are_those_near_it_moved[first-laplace-None]",
            f"{DISTRIBUTION}crossings_are_those_of_all_points_of_the_grid[0.3-0.6-laplace]",
            f"{INTERVALS}standard_errors_and_covariances_are_those_of_the_theorem",
            f"{INTERVALS}ends_are_where_the_rearrangement_differs_by_its_own_standard_error"
            "[0.3-200-1.0-0.0-sample-population]",
        ],
    ),
    "keys": (
        ["_randomness.py", "scheme.py"],
        [
            "tests/masking/test_keys.py",
            "tests/test_errors.py",
            "tests/masking/test_conditional.py",
            "tests/disclosure/test_risk.py",
            "tests/masking/test_other_schemes.py",
        ],
    ),
    "linear": (
        ["linear"],
        [f"tests/estimates/test_{name}.py" for name in ("linear", "masked_regression")],
    ),
    "moments": (
        ["moments"],
        ["tests/moments", "tests/estimates/test_estimate.py", IN_EXACT_NUMBERS],
    ),
    "planning": (["planning"], ["tests/planning"]),
    "publish": (
        ["files", "publish"],
        [
            *("tests/files", "tests/masking/test_grid.py", "tests/test_errors.py"),
            *("tests/test_frames.py", "tests/test_systems.py"),
            "tests/disclosure/test_choose.py",
            "tests/disclosure/test_audit.py::test_files_are_shuffled_whole_or_not_at_all",
            "tests/disclosure/test_audit.py::test_firms_of_a_long_file_may_be_categories",
            "tests/reports/test_report.py::test_a_page_stands_outside_of_its_release_and_tells_no_folder",
            "tests/estimates/test_masked_regression.py::test_it_is_the_definition",
            "tests/estimates/test_masked_regression.py::test_what_is_not_known_is_said",
            "tests/estimates/test_masked_regression.py::test_the_outcome_alone_is_a_special_case",
            "tests/estimates/test_masked_regression.py::test_refusals_say_why",
        ],
    ),
    "reports": (["reports"], ["tests/reports"]),
    "reverse_mapping": (["reverse_mapping"], ["tests/estimates/test_reverse_mapping.py"]),
    "masking": (
        ["masking", "law.py", "strata.py"],
        [
            *(f"tests/test_{name}.py" for name in ("errors", "strata", "frames", "missing_codes")),
            "tests/masking",
        ],
    ),
    "studies": (["studies"], ["tests/studies"]),
    "inference": (["inference", "pairs"], ["tests/inference", "tests/moments", "tests/estimates"]),
}
SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
TWINS = {"min": "max", "any": "all", "floor": "ceil", "left": "right", "minimum": "maximum"}
TWINS |= {twin: name for name, twin in TWINS.items()}
NOT_TRIED = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.JoinedStr)  # messages, mostly


class Fault(NamedTuple):
    """What takes the place of some bytes of a file, and a line that says so."""

    path: Path
    first: int
    last: int
    now: str
    told: str

    def text(self):
        """The file with the fault."""
        before = (ROOT / self.path).read_bytes()
        return before[: self.first] + self.now.encode() + before[self.last :]


def main():
    """Put in the faults that the command line asks for; the exit code is 1 if one survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument(
        "--sample", type=int, metavar="N", default=40, help="how many changes (default: 40)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the chance (default: 1)")
    parser.add_argument("--workers", type=int, default=2, help="faults at once (default: 2)")
    args = parser.parse_args()
    faults = sampled(args.room, args.sample, args.seed)
    survivors = survived(args.room, faults, args.workers)
    print(f"{len(faults)} faults, {len(faults) - len(survivors)} noticed")
    return int(bool(survivors))


def sampled(room, count, seed):
    """As many small changes of a room, each as likely as any other."""
    folders, _ = ROOMS[room]
    roots = [ROOT / SOURCE / name for name in folders]
    files = [
        path
        for root in roots
        for path in ([root] if root.is_file() else sorted(root.rglob("*.py")))
    ]
    found = [fault for path in files for fault in changes(path.relative_to(ROOT))]
    return random.Random(seed).sample(found, min(count, len(found)))


def changes(path):
    """All small changes of a file."""
    text = (ROOT / path).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in walk(ast.parse(text)):
        for place, now in variants(node):
            first = starts[place.lineno - 1] + place.col_offset
            last = starts[place.end_lineno - 1] + place.end_col_offset
            was = " ".join(text[first:last].decode().split())
            yield Fault(path, first, last, now, f"{path}:{place.lineno}: {was} -> {now}")


def walk(node):
    """A syntax tree without types, decorators and what only words a refusal."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, NOT_TRIED):
                    yield from walk(child)


def variants(node):
    """Pairs of a node and a text that takes its place."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPS:
            yield node, unparsed(node, ops=[SWAPS[type(operator)]()])
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in SWAPS:
            yield node, unparsed(node, op=SWAPS[type(operator)]())
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield node, unparsed(operand)
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            yield node, str(number + 1)
        case ast.Name(id="p", ctx=ast.Load()):
            yield node, "(1 - p)"
        case ast.Name(id=name, ctx=ast.Load()) if name in TWINS:
            yield node, TWINS[name]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in TWINS:
            yield node, unparsed(node, attr=TWINS[name])
        case ast.Constant(value=str(name)) if name in TWINS:
            yield node, repr(TWINS[name])
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test, f"(not {unparsed(test)})"
        case ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg != "strict":  # which only asserts
                    yield (
                        node,
                        unparsed(
                            node, keywords=[other for other in keywords if other is not keyword]
                        ),
                    )


def unparsed(node, **fields):
    """The text of a node, with other fields, in brackets."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(changed)})"


def survived(room, faults, workers):
    """The faults that no test of a room notices."""
    free = queue.Queue()
    for number in range(workers):
        free.put(fresh_copy(COPIES / str(number)))
    code, seconds = tested(free.queue[0], room, 3600)
    if code != 0:
        raise SystemExit(f"the tests of {room} fail without any fault, in {COPIES / '0'}")

    def noticed(fault):
        folder = free.get()
        (folder / fault.path).write_bytes(fault.text())
        code, _ = tested(folder, room, int(5 * seconds + 30))
        shutil.copy2(ROOT / fault.path, folder / fault.path)
        free.put(folder)
        print("noticed: " if code else "SURVIVED:", fault.told, flush=True)
        return code != 0

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(noticed, faults))
    return [fault for fault, seen in zip(faults, results, strict=True) if not seen]


def fresh_copy(folder):
    """A folder with the source, the tests, and the studies that tests repeat."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("src", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy2(ROOT / "pyproject.toml", folder)
    return folder


def tested(folder, room, limit):
    """What pytest ends with for a room within so many seconds of a processor, and the seconds it
    took.

    Tests that wait for something are stopped, too, after ten times as long.
    """
    roots = (folder / name for name in ("src", "tests", "tests/fixed_keys", "."))
    settings = {"PYTHONPATH": os.pathsep.join(map(str, roots)), "OPENBLAS_NUM_THREADS": "1"}
    settings |= {"NUMBA_DISABLE_JIT": "1"} if room == "kernels" else {}
    command = ["sh", "-c", 'ulimit -t "$0"; exec "$@"', str(limit)]
    command += [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile", "unshrunk", *ROOMS[room][1]]
    begin = time.monotonic()
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | settings,
            capture_output=True,
            timeout=10 * limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "no end", limit
    return ended.returncode, time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
