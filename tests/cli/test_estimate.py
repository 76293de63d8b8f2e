"""``condmask estimate`` prints what the API estimates.

Oracle: the API on the same files.
"""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import MASK, answer

import condmask as cm
from condmask.cli import estimate
from condmask.files.release import read_column

pytestmark = pytest.mark.usefixtures("unaudited")


def test_estimate_equals_the_api(run, masked):
    options = ("--quantiles", "0.1", "0.9", "--cdf", "-10", "1000", "--with", "educ", "--json")

    result = answer(run("estimate", masked, "-c", "income", *options))

    release = cm.read_release(masked, "income")
    assert (result["column"], result["n"], result["bandwidth"]) == ("income", 2000, None)
    assert (result["mean"], result["std"]) == (release.mean(), release.std())
    assert [pair["q"] for pair in result["quantiles"]] == [0.1, 0.9]
    assert [pair["value"] for pair in result["quantiles"]] == release.quantile([0.1, 0.9]).tolist()
    assert [pair["t"] for pair in result["cdf"]] == [-10.0, 1000.0]
    assert [pair["value"] for pair in result["cdf"]] == release.cdf([-10.0, 1000.0]).tolist()
    educ = read_column(masked, "educ")
    assert result["correlation"] == {"with": "educ", "value": release.correlation(educ)}


def test_large_files_are_estimated_from_a_summary(run, masked, monkeypatch):
    options = ("estimate", masked, "-c", "income", "--cdf", "900", "--with", "educ", "--json")
    options += ("--quantiles", "0.5")
    exact = answer(run(*options))
    asked = answer(run(*options, "--one-pass"))
    monkeypatch.setattr(estimate, "SUMMARISED", 1000)
    large = answer(run(*options))

    # counts are all that these depend on, but for the correlation, whose sums are merged part by part
    for found in (asked, large):
        correlation = found.pop("correlation")
        assert correlation["value"] == pytest.approx(exact["correlation"]["value"], rel=1e-10)
        assert found == {name: value for name, value in exact.items() if name != "correlation"}


def test_a_masked_partner_is_its_estimate(run, masked):
    result = answer(run("estimate", masked, "-c", "income", "--with", "bonus", "--json"))

    income, bonus = (cm.read_release(masked, name) for name in ("income", "bonus"))
    assert result["correlation"]["value"] == income.correlation(bonus)


@pytest.mark.parametrize(("given", "meant"), [("scott", "scott"), ("silverman", "silverman"), ("71.5", 71.5)])
def test_the_bandwidth_is_a_rule_or_a_number(run, masked, given, meant):
    result = answer(run("estimate", masked, "-c", "bonus", "--cdf", "500", "--bandwidth", given, "--json"))

    release = cm.read_release(masked, "bonus")
    assert result["bandwidth"] == (meant if given == "71.5" else release.bandwidth(given))
    assert result["cdf"][0]["value"] == release.cdf([500.0], bandwidth=meant)[0]
    deciles = release.quantile(np.array(estimate.DECILES), bandwidth=meant)
    assert [pair["value"] for pair in result["quantiles"]] == deciles.tolist()


def test_the_table_has_size_mean_deviation_and_deciles(run, masked):
    code, out, err = run("estimate", masked, "-c", "income", "--with", "educ")

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "original income, estimated"
    names = [line.rsplit(None, 1)[0] for line in lines[1:]]
    assert names == ["n", "mean", "s.d.", *(f"quantile 0.{k}" for k in range(1, 10)), "correlation with educ"]
    assert lines[1].endswith(" 2,000")
    release = cm.read_release(masked, "income")
    assert float(lines[2].split()[-1].replace(",", "")) == pytest.approx(release.mean(), rel=1e-5)


def test_a_single_masked_column_needs_no_name(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    run("mask", source, target, "-c", "income", *MASK)

    assert answer(run("estimate", target, "--json"))["column"] == "income"


def test_of_two_masked_columns_one_must_be_named(run, masked):
    code, out, err = run("estimate", masked)

    assert (code, out, len(err.splitlines())) == (1, "", 1)


def test_a_negative_variance_is_a_warning_and_null(run, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pd.DataFrame({"x": np.linspace(0, 1, 20) ** 2}).to_parquet(source)
    for seed in range(20):  # about every other one gives a negative estimate
        cm.mask_file(source, target, {"x": cm.ConditionalMasking(0.01, 1e6)}, rng=seed, overwrite=True)
        if cm.read_release(target).variance() < 0:
            break

    code, out, err = run("estimate", target, "--json")

    assert (code, len(err.splitlines())) == (0, 1)
    assert err.startswith("warning: the variance of the original is estimated negative")
    assert json.loads(out)["std"] is None
