"""Every command takes a folder, or a glob in quotes, as it takes a file.

Oracle: the same command on the same rows in one file.
"""

import numpy as np
import pandas as pd
import pytest
from command_line import MASK, answer

import condmask as cm
from condmask.reports import charts
from condmask.reports.html import Html

pytestmark = pytest.mark.usefixtures("unaudited")
SCHEME = ("-c", "income", *MASK, "--decimals", "2")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One file, a folder of three files with its rows, and a release of either, with one key."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(4)
    age = rng.integers(18, 66, 900)
    income = rng.lognormal(8.0, 0.3, 900).round(2)
    frame = pd.DataFrame({"income": income, "age": age, "region": rng.choice(["east", "west"], 900)})
    frame.to_csv(folder / "one.csv", index=False)
    (folder / "many").mkdir()
    for k, rows in enumerate((slice(0, 300), slice(300, 400), slice(400, 900))):
        frame[rows].to_csv(folder / f"many/{k}.csv", index=False)
    scheme = {"income": cm.ConditionalMasking(0.6, 300.0, decimals=2)}
    for name, target in (("one.csv", "released.csv"), ("many", "released")):
        cm.mask_file(folder / name, folder / target, scheme, rng=1)
    return folder


@pytest.mark.parametrize("many", ["many", "many/*.csv"])
@pytest.mark.parametrize(
    "words",
    [
        ("plan", "IN", "-c", "income", "--within", "100", "--other", "age", "--p", "0.5", "--sigma", "300"),
        ("risk", "IN", *SCHEME, "--within", "100", "--other", "age"),
        ("risk", "IN", "-c", "income", "--within", "100", "--release", "OUT"),
        ("estimate", "OUT", "--group", "region", "--other", "age"),
    ],
    ids=lambda words: " ".join(words[::9]),
)
def test_commands_tell_of_many_files_what_they_tell_of_one(run, data, words, many):
    one, several = (
        answer(run(*(places.get(word, word) for word in words), "--json"))
        for places in (
            {"IN": data / "one.csv", "OUT": data / "released.csv"},
            {"IN": data / many, "OUT": data / "released"},
        )
    )

    assert one == several


def test_an_audit_looks_at_the_names_of_files(run, data):
    code, out, err = run("audit", data / "many", *SCHEME)

    assert (code, err) == (0, "")
    assert f"condmask mask {data / 'many'} OUT" in out or "mask" not in out


def test_info_lists_what_stands_in_the_files(run, data):
    one, several = (answer(run("info", data / name, "--json")) for name in ("released.csv", "released"))

    assert one == several


def test_mask_takes_donors_within_files(run, data, tmp_path):
    mapped = ("-c", "income", *MASK, "--reverse-mapping", "--strata-by-file")
    result = answer(run("mask", data / "many", tmp_path / "out", *mapped, "--json"))

    assert result["schemes"]["income"]["strata"] == "__filename"
    for name in ("0.csv", "1.csv", "2.csv"):  # the values of each file stay in it
        before, after = (
            cm.read_column(folder / name, "income") for folder in (data / "many", tmp_path / "out")
        )
        assert (before != after).any()
        assert np.array_equal(np.sort(before), np.sort(after))
    groups = answer(run("estimate", tmp_path / "out", "--group", "__filename", "--json"))["groups"]
    assert [group["group"] for group in groups] == ["0.csv", "1.csv", "2.csv"]


def test_a_folder_is_never_written_into_a_file(run, data, tmp_path):
    (tmp_path / "file").write_text("x")
    for options, said in (((), "file exists"), (("--force",), "not a directory")):
        code, _, err = run("mask", data / "many", tmp_path / "file", *SCHEME, *options)
        assert code == 1
        assert said in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_report_of_many_files(run, data, tmp_path, monkeypatch):
    monkeypatch.setattr(charts, "distributions", lambda *_: Html("<svg></svg>"))
    page = tmp_path / "report.html"
    answer(run("report", data / "released", page, "--public", "--json"))

    assert "900" in page.read_text()
    code, _, err = run("report", data / "released", data / "released/r.html", "--public")
    assert code == 1
    assert "path must stand outside of the folders it reports on" in err


def test_a_recipe_masks_a_folder(run, data, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f"source = '{data}/many/*.csv'\ntarget = 'out'\n[columns.income]\np = 0.6\nsigma = 300.0\n"
        "decimals = 2\nstrata = '__filename'\n[checks.income]\n100 = 0.9\n"
    )
    result = answer(run("run", recipe, "--json"))

    assert result["target"] == str(tmp_path / "out")
    assert cm.read_release(tmp_path / "out").records == 900
