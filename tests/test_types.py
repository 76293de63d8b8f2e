"""Types of the public face, as a type checker sees them from outside the package."""

import subprocess
import sys
from pathlib import Path

import pytest

import condmask as cm

PROGRAM = """
import condmask as cm

release = cm.read_release("masked.parquet")
reveal_type(release)
reveal_type(cm.read_release("masked.parquet", "income"))
reveal_type(release["income"])
reveal_type(cm.mask_table({}, ["income"]))
release.regress("income", "age", target="sample")
"""


@pytest.mark.slow
def test_a_type_checker_knows_what_releases_return_and_which_targets_there_are(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    source = Path(cm.__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", tmp_path]
    shown = subprocess.run(
        [*command, "program.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"MYPYPATH": str(source), "PATH": ""},
    ).stdout.splitlines()

    revealed = [line.split('"')[1] for line in shown if "Revealed type" in line]
    release = "condmask.publish.release.Release"
    estimate = "condmask.estimates.estimate.Estimate"
    assert revealed == [release, estimate, estimate, release]
    [error] = [line for line in shown if ": error:" in line]
    assert 'Argument "target" to "regress"' in error
