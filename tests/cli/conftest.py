"""A file, what masking made of it, and a way to run the command line."""

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask import cli

N = 2000


@pytest.fixture
def source(tmp_path):
    random = np.random.default_rng(7)
    income = random.lognormal(7, 0.5, N)
    frame = pd.DataFrame({
        "income": income,
        "bonus": 0.5 * income + random.normal(0, 400, N),
        "age": random.integers(18, 66, N),
        "educ": np.round(np.log(income) + random.normal(0, 0.5, N)),
        "gaps": np.where(np.arange(N) % 10 == 3, np.nan, income),
        "region": random.choice(["east", "west"], N),
    })  # fmt: skip
    path = tmp_path / "original.parquet"
    frame.to_parquet(path)
    return path


@pytest.fixture
def masked(source, tmp_path):
    """Two columns masked together, by the API."""
    path = tmp_path / "masked.parquet"
    scheme = cm.ConditionalMasking(0.6, 400.0)
    cm.mask_file(source, path, {"income": scheme, "bonus": scheme}, rng=3)
    return path


@pytest.fixture
def run(capsys):
    """Run the command line: exit code, standard output, standard error."""

    def go(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return go
