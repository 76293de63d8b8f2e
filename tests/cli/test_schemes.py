"""The options of a scheme. Oracle: the schemes that are published."""

import numpy as np
import pandas as pd
import pytest
from command_line import MASK, answer

from condmask.releases.release import read_schemes

pytestmark = pytest.mark.usefixtures("unaudited")


def test_options_once_per_column_go_to_their_columns(run, source, tmp_path):
    columns = ("-c", "income", "-c", "age", "--p", "0.5", "--sigma", "300", "--sigma", "12")
    decimals = ("--decimals", "2", "--decimals", "0")
    frame = pd.read_parquet(source)
    frame["income"] = frame["income"].round(2)
    frame.to_parquet(source)

    result = answer(run("mask", source, tmp_path / "out.parquet", *columns, *decimals, "--json"))

    found = {name: (entry["sigma"], entry["decimals"]) for name, entry in result["schemes"].items()}
    assert found == {"income": (300.0, 2), "age": (12.0, 0)}


def test_donors_and_strata_reach_the_scheme(run, source, tmp_path):
    options = ("--donors", "permutation", "--strata", "region", "--workers", "2", "--json")

    result = answer(run("mask", source, tmp_path / "out.parquet", "-c", "income", *MASK, *options))

    scheme = result["schemes"]["income"]
    assert (scheme["donors"], scheme["strata"]) == ("permutation", "region")


def test_crossed_strata_and_what_becomes_of_small_ones_reach_the_scheme(run, source, tmp_path):
    frame = pd.read_parquet(source)
    frame["town"] = np.where(np.arange(len(frame)) < 6, "a", "b")  # at most 6 of a region
    frame.to_parquet(source)
    target = tmp_path / "out.parquet"
    command = ("mask", source, target, "-c", "income", *MASK, "--strata", "region", "--strata", "town")

    code, _, err = run(*command)
    assert (code, target.exists()) == (1, False)
    assert "strata must have at least 10 records each, got" in err
    assert err.endswith("--small-strata merge pools them\n")
    scheme = answer(run(*command, "--small-strata", "merge", "--json"))["schemes"]["income"]

    assert (scheme["strata"], scheme["small_strata"]) == (["region", "town"], "merge")
    (published,) = read_schemes(target).values()
    assert published.to_dict() == scheme
    assert repr(published) in run("info", target)[1]
    # read_release finds both columns
    assert np.isfinite(answer(run("estimate", target, "--other", "educ", "--json"))["correlation"]["value"])


def test_how_a_csv_file_is_written_is_said_once(run, tmp_path):
    """Masking needs the options; auditing too; estimating does not."""
    random = np.random.default_rng(3)
    values = random.lognormal(8.0, 0.4, 3_000)
    text = "Größe|Wert\n" + "".join(f"{k}|{v:.3f}\n" for k, v in enumerate(values)).replace(".", ",")
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(text.encode("latin-1"))
    scheme = ["-c", "Wert", "--p", "0.6", "--sigma", "900", "--decimals", "3"]
    written = ["--encoding", "latin-1", "--decimal", ",", "--delimiter", "|"]

    assert run("audit", source, *scheme, *written)[0] == 0
    assert run("audit", source, *scheme)[0] == 1
    assert run("mask", source, target, *scheme, *written)[0] == 0

    estimate = answer(run("estimate", target, "--other", "Größe", "--json"))
    assert estimate["n"] == 3_000
    assert abs(estimate["mean"]["value"] - values.mean()) < 6.0 * estimate["mean"]["standard_error"]
    assert run("mask", source, target, *scheme, "--decimal", ";")[::2] == (
        2,
        "condmask: error: --decimal must be one of '.', ',', got ';'\n",
    )
