"""``condmask risk``: the API's figures of a column of a file."""

import pandas as pd
import pytest
from command_line import MASK, answer

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


def test_the_risk_of_a_scheme(run, source):
    found = answer(run("risk", source, "-c", "income", *MASK, "--within", "100", "--within", "300", "--json"))

    x = cm.read_column(source, "income")
    assert found == {"scheme": cm.risk(x, cm.ConditionalMasking(0.6, 300.0), d=[100.0, 300.0]).to_dict()}


def test_the_risk_of_a_release_stands_beside(run, source, masked):
    options = ("--within", "100", "--other", "age", "--other", "educ", "--release", masked)
    found = answer(run("risk", source, "-c", "income", *options, "--exposed", "4", "--json"))

    x, z = (cm.read_column(path, "income") for path in (source, masked))
    known = {name: cm.read_column(source, name) for name in ("age", "educ")}
    scheme = cm.read_schemes(masked)["income"]
    assert found["scheme"] == cm.risk(x, scheme, d=100.0, others=known).to_dict()
    assert found["release"] == cm.release_risk(x, z, scheme, d=100.0, others=known, audit=False).to_dict()
    assert found["exposed"] == cm.record_risk(x, z, scheme, d=100.0).exposed(4).tolist()
    code, text, err = run("risk", source, "-c", "income", *options, "--exposed", "4")
    assert (code, err) == (0, "")
    assert "best with other columns" in text
    assert text.splitlines()[-1].endswith(", ".join(map(str, found["exposed"])))


def test_insiders_of_reverse_mapping_stand_beside(run, source, tmp_path):
    mapped = (*MASK, "--reverse-mapping")
    found = answer(
        run("risk", source, "-c", "income", *mapped, "--within", "100", "--within", "300", "--json")
    )

    x, scheme = cm.read_column(source, "income"), cm.ConditionalMasking(0.6, 300.0, reverse_mapping=True)
    assert found["scheme"] == cm.risk(x, scheme, d=[100.0, 300.0]).to_dict()
    assert found["insiders"] == cm.insider_risk(x, scheme, d=[100.0, 300.0]).to_dict()
    cm.mask_file(source, tmp_path / "b.csv", {"income": scheme}, rng=1)
    code, text, err = run("risk", source, "-c", "income", "--within", "100", "--release", tmp_path / "b.csv")
    assert (code, err) == (0, "")
    assert "the most exposed record" in text
    assert "that an insider finds out who knows all others of a pool of" in text


def test_strata_and_missing_codes_are_known_to_the_attacker(run, source, tmp_path):
    frame = pd.read_parquet(source)
    frame.loc[::9, "income"] = -9999.0
    frame.to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 400.0, strata="region", missing=[-9999.0])
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"income": scheme}, rng=1)
    options = ("--within", "100", "--release", tmp_path / "b.csv", "--json")

    found = answer(run("risk", tmp_path / "a.csv", "-c", "income", *options))

    known = frame["income"] > -9999.0
    without = cm.ConditionalMasking(0.6, 400.0, strata="region")
    expected = cm.risk(frame["income"][known], without, d=100.0, strata=frame["region"][known], audit=False)
    assert [row["risk"] for row in found["scheme"]["risk"]] == [row["risk"] for row in expected.rows()]
    assert found["release"]["n"] == known.sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--p must be given, or --release, which has the scheme"),
        (("--p", "0.5"), "--sigma must be given, or --release"),
        ((*MASK, "-c", "age"), "--column must be given once here"),
        ((*MASK, "--release", "b.csv"), "--p must be left out: --release has the scheme"),
        ((*MASK, "--exposed", "3"), "--exposed must go with --release"),
    ],
)
def test_wrong_usage_of_risk(run, options, message):
    code, _, err = run("risk", "none.csv", "-c", "income", "--within", "1", *options)

    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    "option",
    [
        ("--p", "0.5"),
        ("--sigma", "9"),
        ("--noise", "normal"),  # as it is without, too
        ("--donors", "sample"),
        ("--reverse-mapping",),
        ("--aggregate-ends", "3"),
        ("--decimals", "0"),
        ("--step", "1/3"),
        ("--scale", "linear"),
        ("--strata", "region"),
        ("--small-strata", "merge"),
        ("--missing", "-8"),
        ("--missing-as", "null"),
    ],
)
def test_no_option_of_a_scheme_goes_with_a_release(run, option):
    options = ("--within", "1", "--release", "b.csv", *option)

    assert run("risk", "none.csv", "-c", "income", *options) == (
        2, "", f"condmask: error: {option[0]} must be left out: --release has the scheme\n"
    )  # fmt: skip


def test_nobody_knows_the_column_itself(run, source):
    code, _, err = run(
        "risk", source, "-c", "income", *MASK, "--within", "9", "--other", "age", "--other", "income"
    )

    assert code == 2
    assert err == "condmask: error: --other must name other columns, got 'income'\n"
