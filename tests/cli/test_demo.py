"""``condmask demo`` prints what the demonstration found. Oracle: the file that it keeps."""

import json

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
