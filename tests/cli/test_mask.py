"""``condmask mask`` publishes what `mask_file` does.

Oracle: the API on the same files.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import MASK, answer

from condmask.releases.release import read_schemes

pytestmark = pytest.mark.usefixtures("unaudited")


def test_mask_publishes_the_scheme_with_the_data(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    result = answer(run("mask", source, target, "-c", "income", *MASK, "--noise", "laplace", "--json"))

    (scheme,) = read_schemes(target).values()
    assert result == {"target": str(target), "schemes": {"income": scheme.to_dict()}}
    assert (scheme.p, scheme.sigma, scheme.noise, scheme.donors) == (0.6, 300.0, "laplace", "permutation")
    before, after = pd.read_parquet(source), pd.read_parquet(target)
    assert (before["income"] != after["income"]).all()
    pd.testing.assert_frame_equal(before.drop(columns="income"), after.drop(columns="income"))


def test_mask_says_what_it_did_and_is_otherwise_silent(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    code, out, err = run("mask", source, target, "-c", "income", *MASK)

    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"masked values in {target}"
    assert out.splitlines()[1].startswith("income  ConditionalMasking(p=0.6, sigma=300.0")


def test_mask_keeps_the_metadata_that_are_named(run, tmp_path):
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pay = np.random.default_rng(1).lognormal(8.0, 0.5, 500)
    pq.write_table(pa.table({"income": pay}, metadata={"history": "x", "geo": "y", "pandas": "{}"}), source)

    code, _, _ = run("mask", source, target, "-c", "income", *MASK, "--keep-metadata", "geo")

    assert code == 0
    assert pq.read_schema(target).metadata.keys() & {b"history", b"geo"} == {b"geo"}
    code, _, err = run("mask", source, target, "-c", "income", *MASK, "--force", "--keep-metadata", "x")
    assert code == 1
    assert "--keep-metadata must name entries in the metadata of" in err


def test_two_masks_never_share_a_key(run, source, tmp_path):
    for name in ("a", "b"):
        answer(run("mask", source, tmp_path / f"{name}.parquet", "-c", "income", *MASK, "--json", "--no-log"))

    a, b = (pd.read_parquet(tmp_path / f"{name}.parquet")["income"] for name in ("a", "b"))

    assert (a == b).mean() < 0.01


def test_whole_numbers_with_decimals_bring_none(run, source, tmp_path):
    options = ("--p", "0.6", "--sigma", "12", "--decimals", "0", "--json")

    answer(run("mask", source, tmp_path / "out.parquet", "-c", "age", *options))

    assert pd.read_parquet(tmp_path / "out.parquet")["age"].dtype == np.int64


def test_missing_values_are_refused_unless_omitted(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    code, out, err = run("mask", source, target, "-c", "gaps", *MASK)

    assert (code, out) == (1, "")
    assert err.startswith("condmask: error: ")
    assert "200 missing values" in err
    assert not target.exists()
    answer(run("mask", source, target, "-c", "gaps", *MASK, "--omit-missing", "--json"))
    assert pd.read_parquet(target)["gaps"].isna().sum() == 200


def test_an_existing_file_is_replaced_only_by_force(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    target.write_text("mine")

    code, out, err = run("mask", source, target, "-c", "income", *MASK)

    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert target.read_text() == "mine"
    answer(run("mask", source, target, "-c", "income", *MASK, "--force", "--json"))
    assert list(read_schemes(target)) == ["income"]


def test_a_dry_run_audits_and_writes_nothing(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    before = sorted(tmp_path.iterdir())

    code, out, _ = run("mask", source, target, "-c", "income", *MASK, "--dry-run")
    assert (code, sorted(tmp_path.iterdir())) == (0, before)
    assert "guessed" in out
    assert out.endswith("nothing was written\n")
    found = answer(run("mask", source, target, "-c", "income", *MASK, "--dry-run", "--json"))
    assert found["target"] is None
    assert found["audit"] == answer(run("audit", source, "-c", "income", *MASK, "--json"))
    assert found["schemes"]["income"]["p"] == 0.6


def test_a_dry_run_is_refused_as_the_release_would_be(run, source, tmp_path):
    code, _, err = run("mask", source, tmp_path / "out.parquet", "-c", "nothing", *MASK, "--dry-run")

    assert (code, "has no column 'nothing'" in err) == (1, True)


def test_codes_and_words_for_missing_values_are_declared(run, tmp_path):
    random = np.random.default_rng(2)
    rows = [f"{v:.0f}" for v in random.lognormal(8.0, 0.4, 400)]
    rows[3], rows[7], rows[11], rows[13] = "-8", "-999", ".", "*"
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id;income\n" + "".join(f"{k};{row}\n" for k, row in enumerate(rows)))
    declared = [
        "--missing",
        "-8",
        "--missing",
        "-999",
        "--na",
        ".",
        "--na",
        "*",
        "--decimals",
        "0",
        "--accept-visible-coins",
    ]

    code, out, err = run(
        "mask", source, target, "-c", "income", "--p", "0.6", "--sigma", "200", *declared, "--omit-missing"
    )

    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == (
        "read and written with CsvFormat(delimiter=';', decimal=',', encoding='utf-8', na=('.', '*'))"
    )
    found = [line.split(";")[1] for line in target.read_text().splitlines()[1:]]
    assert [found[row] for row in (3, 7, 11, 13)] == ["-8", "-999", ".", "*"]
    assert answer(run("estimate", target, "--json"))["n"] == 396


def test_nulls_are_released_for_codes_within_reach(run, tmp_path):
    rows = [f"{v:.0f}" for v in np.random.default_rng(2).lognormal(8.0, 0.4, 400)]
    rows[3] = "3000"
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id,income\n" + "".join(f"{k},{row}\n" for k, row in enumerate(rows)))
    options = ["-c", "income", "--p", "0.6", "--sigma", "200", "--decimals", "0", "--missing", "3000"]

    code, _, err = run("mask", source, target, *options, "--accept-visible-coins")
    assert code == 1
    assert "got 3000, on which" in err
    assert "; --missing-as null releases nulls in their place" in err
    assert not target.exists()

    code, _, err = run("mask", source, target, *options, "--missing-as", "null", "--accept-visible-coins")
    assert (code, err) == (0, "")
    assert answer(run("estimate", target, "--json"))["n"] == 399


def test_reverse_mapping_releases_the_values_of_the_data(run, source, tmp_path):
    target = tmp_path / "out.parquet"

    answer(
        run("mask", source, target, "-c", "age", "--p", "0.6", "--sigma", "9", "--reverse-mapping", "--json")
    )

    before, after = pd.read_parquet(source)["age"], pd.read_parquet(target)["age"]
    assert sorted(after) == sorted(before)
    assert (after != before).mean() > 0.5
    assert read_schemes(target)["age"].reverse_mapping


def test_a_dry_run_of_reverse_mapping_is_audited(run, source, tmp_path):
    options = ("-c", "age", "--p", "0.6", "--sigma", "9", "--reverse-mapping", "--dry-run")

    code, out, _ = run("mask", source, tmp_path / "out.parquet", *options)

    assert code == 0
    assert "With reverse mapping, one column alone does not show who was swapped" in out
    assert out.splitlines()[-1] == "nothing was written"
    assert not (tmp_path / "out.parquet").exists()


def test_a_grid_beside_reverse_mapping_is_wrong_usage(run, source, tmp_path):
    options = ("-c", "age", *MASK, "--reverse-mapping", "--step", "1")

    code, _, err = run("mask", source, tmp_path / "out.parquet", *options)

    assert code == 2
    assert "--step must be left out where --reverse-mapping, got 1.0" in err


def test_a_value_out_of_range_is_named_by_its_position(run, tmp_path):
    source = tmp_path / "a.csv"
    pd.DataFrame({"age": [*range(500), 5_000]}).to_csv(source, index=False)

    code, _, err = run(
        "mask", source, tmp_path / "b.csv", "-c", "age", "--p", "0.6", "--sigma", "9", "--decimals", "0",
        "--range", "-100", "1000",
    )  # fmt: skip

    assert code == 1
    assert (
        "age must lie within its range, -100 to 1000, got a value outside, the first at position 500" in err
    )


def test_the_command_line_takes_a_range_for_each_column(run, tmp_path):
    source, target = tmp_path / "a.csv", tmp_path / "b.csv"
    pd.DataFrame({"age": np.arange(500) % 90, "pay": np.arange(500) * 7 % 301}).to_csv(source, index=False)

    answer(run(
        "mask", source, target, "-c", "age", "-c", "pay", "--p", "0.6", "--sigma", "9", "--decimals", "0",
        "--range", "-900", "900", "--range", "none", "none", "--json",
    ))  # fmt: skip

    schemes = read_schemes(target)
    assert [of_column.range for of_column in schemes.values()] == [(-900.0, 900.0), None]
