"""Other packages see the types of the public functions.

Oracle: mypy, on a program that knows only the installed package."""

import os
import re
import subprocess
import sys
from pathlib import Path

import condmask

PROGRAM = """
import condmask as cm

release = cm.read_release("masked.parquet")
estimate = cm.read_release("masked.parquet", "income")
reveal_type(release)
reveal_type(estimate)
reveal_type(cm.mask_table({"income": [1.0, 2.0]}, ["income"]))
reveal_type(estimate.mean())
reveal_type(estimate.mean_interval().low)
"""
EXPECTED = [
    "condmask.publish.release.Release",
    "condmask.estimates.estimate.Estimate",
    "condmask.publish.release.Release",
    "float",
    "float | ndarray",
]


def revealed(program, folder):
    """Return the types that mypy reveals in the text of a program, in order."""
    (folder / "program.py").write_text(program)
    source = Path(condmask.__file__).parents[1]
    environment = dict(os.environ)
    if source.name != "site-packages":  # mypy knows that folder by itself
        environment["MYPYPATH"] = str(source)
    options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "program.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r'Revealed type is "(.*)"', done.stdout)


def short(type_name):
    """Leave out the module and the parameters of NumPy's arrays, and the module of builtins."""
    without_parameters = re.sub(r"numpy\.ndarray\[.*\]\]", "ndarray", type_name)
    return without_parameters.replace("builtins.", "")


def test_types_are_known_to_other_packages(tmp_path):
    assert [short(name) for name in revealed(PROGRAM, tmp_path)] == EXPECTED
