"""``condmask compare``: the API's comparison of a column of a file."""

import pytest
from command_line import MASK, answer

from condmask.studies import attacker


def test_a_file_is_compared(run, source, tmp_path, monkeypatch):
    monkeypatch.setattr(attacker, "RECORDS", 10_000)
    command = ("compare", source, "-c", "income", *MASK, "--within", "300", "--replications", "10")
    out = tmp_path / "tables"

    found = answer(run(*command, "--other", "age", "--json", "--out", out))
    assert found["records"] == 2000
    assert {row["method"] for row in found["rows"]} > {"conditional masking", "data shuffling"}
    assert sorted(path.name for path in out.iterdir()) == ["compare.csv", "compare.png"]
    code, text, err = run(*command, "--reverse-mapping", "--missing", "-9999")
    assert (code, err) == (0, "")
    assert "reverse mapping" in text
    assert "data shuffling: it needs another column" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--within", "0"), "--within must be positive and finite, got 0.0"),
        (("--within", "1", "-c", "age"), "--column must be given once here, got 2 columns"),
        (("--within", "1", "--other", "income"), "--other must name another column, got 'income' twice"),
        (("--within", "1", "--strata", "region"), "--strata must be left out"),
    ],
)
def test_wrong_usage(run, options, message):
    code, _, err = run("compare", "none.csv", "-c", "income", *MASK, *options)

    assert code == 2
    assert message in err
