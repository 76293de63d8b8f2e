"""A command imports what it uses: each second at the start is waited for every time.

Oracle: ``sys.modules`` of a process that ran the command.
"""

import subprocess
import sys

import pandas as pd
import pytest
from command_line import MASK
from marks import rest_slow

from condmask.files.release import mask_file
from condmask.schemes.conditional import ConditionalMasking

pytestmark = pytest.mark.usefixtures("unaudited")

UNUSED = {"pandas", "matplotlib", "tqdm", "scipy.stats", "narwhals", "polars"}


def imported(arguments):
    code = (
        f"import sys; from condmask.cli import main; code = main({[str(one) for one in arguments]!r}); "
        "print('\\n', *sys.modules, file=sys.stderr); sys.exit(code)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return set(finished.stderr.split())


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", rest_slow(["income", "gaps", "age"]))
def test_mask_and_estimate_import_no_data_frames(source, tmp_path, name, suffix):
    path, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    frame = pd.read_parquet(source)
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    options = (
        "--accept-visible-coins",
        "--omit-missing",
        "--strata",
        "region",
        *(("--decimals", "0") if name == "age" else ()),
    )

    assert not imported(["mask", path, target, "-c", name, *MASK, *options]) & UNUSED
    assert not imported(["estimate", target, "--with", "educ"]) & UNUSED


def test_info_compiles_nothing(masked):
    assert not imported(["info", masked]) & (UNUSED | {"numba", "llvmlite"})


def test_what_is_imported_would_be_seen(source, tmp_path):
    mask_file(source, tmp_path / "out.parquet", {"income": ConditionalMasking(0.6, 400.0)})

    assert {"numpy", "pyarrow"} <= imported(["estimate", tmp_path / "out.parquet"])
