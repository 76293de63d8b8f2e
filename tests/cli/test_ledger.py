"""``condmask ledger`` lists what was released. Oracle: the releases."""

import pytest
from command_line import MASK, answer

pytestmark = pytest.mark.usefixtures("unaudited")


def test_releases_are_listed_and_forgotten(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    answer(run("mask", source, target, "-c", "income", *MASK, "--json"))

    code, out, err = run("ledger")
    assert (code, err) == (0, "")
    first, last = out.splitlines()
    assert first.startswith(f"1  {target}, released on 20")
    assert first.endswith(", 2,000 records, income")
    assert last.startswith("1 release in ")
    (entry,) = answer(run("ledger", "--json"))["releases"]
    assert (entry["number"], entry["target"], entry["records"]) == (1, str(target), 2000)
    code, _, err = run("mask", source, tmp_path / "b.parquet", "-c", "income", *MASK)
    assert code == 1
    assert "or both with --again; condmask ledger --forget 1 removes" in err
    assert "--no-ledger" not in err
    code, _, err = run("mask", source, tmp_path / "b.parquet", "-c", "income", *MASK, "--dry-run")
    assert code == 1
    assert err.endswith("; --no-ledger tries this without the ledger\n")
    assert answer(run("ledger", "--forget", "1", "--json")) == {"forgotten": 1}
    assert answer(run("mask", source, tmp_path / "b.parquet", "-c", "income", *MASK, "--json"))
    code, _, err = run("ledger", "--forget", "1")
    assert (code, err.count("\n")) == (1, 1)
    assert "--forget must be the number of a release in" in err


def test_another_ledger(run, source, tmp_path):
    other = tmp_path / "office.jsonl"
    answer(run("mask", source, tmp_path / "a.parquet", "-c", "income", *MASK, "--json", "--ledger", other))
    answer(run("mask", source, tmp_path / "b.parquet", "-c", "income", *MASK, "--json", "--no-ledger"))

    assert len(answer(run("ledger", "--ledger", other, "--json"))["releases"]) == 1
    assert answer(run("ledger", "--json"))["releases"] == []
