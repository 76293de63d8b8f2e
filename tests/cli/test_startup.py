"""A command imports what it uses: each second at the start is waited for every time.

Oracle: ``sys.modules`` of a process that ran the command.
"""

import subprocess
import sys

import pandas as pd
import pytest
from command_line import MASK

from condmask.releases.mask_file import mask_file
from condmask.schemes.conditional import ConditionalMasking

pytestmark = pytest.mark.usefixtures("unaudited")

UNUSED = {"pandas", "matplotlib", "tqdm", "scipy.stats", "narwhals", "polars"}


def imported(*commands):
    """The modules of a process that has done these commands."""
    texts = [[str(one) for one in arguments] for arguments in commands]
    code = (
        f"import sys; from condmask.cli import main; codes = [main(each) for each in {texts!r}]; "
        "print('\\n', *sys.modules, file=sys.stderr); sys.exit(any(codes))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return set(finished.stderr.split())


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_mask_and_estimate_import_no_data_frames(source, tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    frame = pd.read_parquet(source)
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    commands = []
    for name in ("income", "gaps", "age"):
        target = tmp_path / f"{name}.{suffix}"
        options = ["--accept-visible-coins", "--omit-missing", "--strata", "region"]
        options += ["--decimals", "0"] if name == "age" else []
        commands += [["mask", path, target, "-c", name, *MASK, *options]]
        commands += [["estimate", target, "--other", "educ"]]

    assert not imported(*commands) & UNUSED


def test_info_compiles_nothing(masked):
    assert not imported(["info", masked]) & (UNUSED | {"numba", "llvmlite"})


def test_what_is_imported_would_be_seen(source, tmp_path):
    mask_file(source, tmp_path / "out.parquet", {"income": ConditionalMasking(0.6, 400.0)})

    assert {"numpy", "pyarrow"} <= imported(["estimate", tmp_path / "out.parquet"])
