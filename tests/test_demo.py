"""The demonstration keeps to the masked file, and its estimates lie near the originals.

Oracle: NumPy on the census records themselves.
"""

import json

import numpy as np
import pytest

from condmask import cli, read_release
from condmask.demo import SCHEME, census, run, show
from condmask.files.reading import read_column, read_schemes


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A small demonstration and the masked file it left."""
    path = tmp_path_factory.mktemp("demo") / "masked.parquet"
    return run(5000, path), path


def test_the_census_has_its_29501_records():
    income, educ = census(None)

    assert income.size == educ.size == 29_501
    assert income.mean() == pytest.approx(1015.5095, rel=1e-6)
    SCHEME.mask(income)  # the guard rails hold, without a word


def test_resampling_is_the_same_each_time():
    for a, b in zip(census(5000), census(5000), strict=True):
        np.testing.assert_array_equal(a, b)


def test_originals_are_those_of_the_records(kept):
    income, _ = census(5000)

    originals = {name: original for name, original, *_ in kept[0].rows}

    assert kept[0].n == 5000
    assert len(originals) == 11
    assert originals["mean"] == income.mean()
    assert originals["quantile 0.3"] == np.quantile(income, 0.3)


def test_estimates_are_those_of_the_masked_file(kept):
    demo, path = kept
    estimates = {name: estimated for name, _, estimated, _ in demo.rows}

    release = read_release(path, "income")

    assert read_schemes(path) == {"income": demo.scheme}
    assert (estimates["mean"], estimates["s.d."]) == (release.mean(), release.std())
    assert estimates["quantile 0.5"] == release.quantile([0.5])[0]
    assert not np.array_equal(read_column(path, "income"), census(5000)[0])


def test_estimates_lie_near_the_originals():
    demo = run()

    original, estimated, error = np.array([row[1:] for row in demo.rows]).T

    assert (error == 0.0).all()
    # the ends are means: mean and deciles are exact, deciles but for how quantiles are read between records
    assert estimated[0] == pytest.approx(original[0], rel=1e-12)
    assert estimated[1] == pytest.approx(original[1], rel=1e-3)
    assert estimated[2:] == pytest.approx(original[2:], rel=1e-3)


def test_every_step_is_timed(kept):
    names = [name for name, _ in kept[0].seconds]

    assert names[-3:] == [
        "mask",
        "read the masked file",
        "estimate mean, s.d. and deciles",
    ]
    assert all(seconds >= 0 for _, seconds in kept[0].seconds)


def test_the_command_prints_the_table(capsys):
    code = cli.main(["demo", "--rows", "5000"])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")  # no warning either
    assert out.startswith("Weekly income (dollars) of 5,000 people")
    assert "quantile 0.9" in out


def test_the_text_has_a_line_for_every_row(kept):
    lines = show(kept[0]).splitlines()

    assert all(any(line.startswith(f"{name} ") for line in lines) for name, *_ in kept[0].rows)


def test_the_command_prints_json_and_keeps_the_file(capsys, tmp_path):
    path = tmp_path / "masked.parquet"

    code = cli.main(["demo", "--rows", "5000", "--out", str(path), "--json"])

    result = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (result["n"], len(result["rows"]), result["scheme"]["p"]) == (5000, 11, 0.6)
    assert result["rows"][0]["estimated"] == read_release(path, "income").mean()


def test_an_existing_file_is_kept(capsys, tmp_path):
    path = tmp_path / "masked.parquet"
    path.write_text("mine")

    code = cli.main(["demo", "--rows", "5000", "--out", str(path)])

    assert (code, path.read_text()) == (1, "mine")
    assert capsys.readouterr().err.startswith("condmask: error: ")


def test_too_few_rows_are_wrong_usage(capsys):
    assert cli.main(["demo", "--rows", "3"]) == 2
    assert capsys.readouterr().err == "condmask: error: --rows must be a whole number of at least 10, got 3\n"
