"""``condmask demo`` prints what the demonstration found. Oracle: the file that it keeps."""

import json

import pyarrow.parquet as pq
import pytest

from condmask import cli, read_release


def test_the_command_prints_the_table(capsys):
    code = cli.main(["demo", "--rows", "5000"])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")  # no warning either
    assert out.startswith("Weekly earnings (dollars) of 5,000 husbands")
    assert "What an attacker learns" in out


def test_the_command_prints_json_and_keeps_the_file(capsys, tmp_path):
    path = tmp_path / "masked.parquet"

    code = cli.main(["demo", "--rows", "5000", "--out", str(path), "--json"])

    result = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (result["n"], len(result["rows"]), result["scheme"]["p"]) == (5000, 11, 0.6)
    assert result["rows"][0]["estimated"] == read_release(path, "earnings").mean()


def test_an_existing_file_is_kept(capsys, tmp_path):
    path = tmp_path / "masked.parquet"
    path.write_text("mine")

    code = cli.main(["demo", "--rows", "5000", "--out", str(path)])

    assert (code, path.read_text()) == (1, "mine")
    assert capsys.readouterr().err.startswith("condmask: error: ")


def test_too_few_rows_are_wrong_usage(capsys):
    assert cli.main(["demo", "--rows", "3"]) == 2
    assert capsys.readouterr().err == "condmask: error: --rows must be a whole number of at least 50, got 3\n"


def test_the_example_file_of_the_guides_is_written_once(capsys, tmp_path):
    path = tmp_path / "people.parquet"

    codes = [cli.main(["demo", "--people", str(path)]) for _ in range(2)]

    out, err = capsys.readouterr()
    assert (codes, out) == ([0, 1], f"{path}: 20,000 invented people\n")
    assert err == f"condmask: error: {path} exists; name another file\n"
    table = pq.read_table(path)
    assert (table.num_rows, table.column_names) == (20_000, ["income", "age", "sex", "region"])


@pytest.mark.parametrize("option", ["--rows", "--out"])
def test_the_example_file_has_no_options(capsys, tmp_path, option):
    path = tmp_path / "people.parquet"

    assert cli.main(["demo", "--people", str(path), option, "50"]) == 2
    assert capsys.readouterr().err == "condmask: error: --people must be used without --rows and --out\n"
    assert not path.exists()
