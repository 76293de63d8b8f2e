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
from condmask.files.read import read_column

pytestmark = pytest.mark.usefixtures("unaudited")


def test_estimate_equals_the_api(run, masked):
    options = (
        "--quantile",
        "0.1",
        "--quantile",
        "0.9",
        "--cdf",
        "-10",
        "--cdf",
        "1000",
        "--other",
        "educ",
        "--json",
    )

    result = answer(run("estimate", masked, "-c", "income", *options))

    release = cm.read_release(masked, "income")
    assert (result["column"], result["n"], result["bandwidth"]) == ("income", 2000, None)
    assert (result["mean"]["value"], result["std"]["value"]) == (release.mean(), release.std())
    assert [pair["q"] for pair in result["quantiles"]] == [0.1, 0.9]
    assert [pair["value"] for pair in result["quantiles"]] == release.quantile([0.1, 0.9]).tolist()
    assert [pair["t"] for pair in result["cdf"]] == [-10.0, 1000.0]
    below, inside = release.cdf([-10.0, 1000.0])
    assert below < 0.0  # so the end of its interval stands for it
    assert [pair["value"] for pair in result["cdf"]] == [0.0, inside]
    assert result["cdf"][0]["low"] == 0.0
    educ = read_column(masked, "educ")
    assert result["correlation"]["value"] == release.correlation(educ)
    for entry, interval in (
        (result["mean"], release.mean_interval()),
        (result["std"], release.std_interval()),
        (result["quantiles"][1], release.quantile_interval(0.9)),
        (result["cdf"][1], release.cdf_interval(1000.0)),
        (result["correlation"], release.correlation_interval(educ)),
    ):
        assert (entry["low"], entry["high"]) == (interval.low, interval.high)
        assert entry["standard_error"] == interval.standard_error


def test_level_target_and_groups_reach_the_intervals(run, masked):
    options = ("--level", "0.9", "--target", "file", "--group", "region", "--json")

    result = answer(run("estimate", masked, "-c", "income", *options))

    release = cm.read_release(masked, "income")
    asked = {"confidence_level": 0.9, "target": "file"}
    assert (result["confidence_level"], result["target"]) == (0.9, "file")
    assert result["mean"]["low"] == release.mean_interval(**asked).low
    means = release.group_means(pd.read_parquet(masked)["region"], **asked)
    assert {each["group"]: (each["value"], each["high"]) for each in result["groups"]} == {
        name: (means[name].estimate, means[name].high) for name in ("east", "west")
    }


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_weights_and_a_regression_are_those_of_the_api(run, source, tmp_path, form):
    frame = pd.read_parquet(source).assign(old=lambda table: table["age"] > 50)
    original, path = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    if form == "csv":
        frame.to_csv(original, index=False)
    else:
        frame.to_parquet(original)
    cm.mask_file(original, path, {"income": cm.ConditionalMasking(0.6, 400.0)}, rng=3)
    options = ("--weights", "age", "--group", "region", "--target", "file")
    options += ("--regress", "educ", "--regress", "old", "--regress", "region")

    result = answer(run("estimate", path, *options, "--json"))
    _, out, _ = run("estimate", path, *options)

    release = cm.read_release(path, "income")
    weighted = release.weighted_mean(frame["age"], target="file")
    groups = release.group_means(frame["region"], weights=frame["age"], target="file")
    west = (frame["region"] == "west").astype(float)
    line = release.regress({"educ": frame["educ"], "old": frame["old"], "region": west}, target="file")
    assert result["weighted_mean"] == {"weights": "age", **shown(weighted)}
    assert result["groups"] == [{"group": name, **shown(groups[name])} for name in ("east", "west")]
    terms = ["intercept", "educ", "old", "region=west"]
    assert [each["term"] for each in result["regression"]] == terms
    for each, expected in zip(result["regression"], line.values(), strict=True):
        assert each["value"] == pytest.approx(expected.estimate, rel=1e-9)
        assert each["standard_error"] == pytest.approx(expected.standard_error, rel=1e-9)
    names = [line.rsplit(None, 4)[0] for line in out.splitlines()[-7:]]
    assert names == [
        "mean weighted by age",
        *(f"weighted mean, region {name}" for name in ("east", "west")),
        *(f"regression, {term}" for term in terms),
    ]


@pytest.mark.filterwarnings("ignore:group_means")
def test_several_columns_make_groups_together(run, masked):
    options = ("--group", "region", "--group", "educ", "--weights", "age")

    code, out, _ = run("estimate", masked, "-c", "income", *options)
    result = json.loads(run("estimate", masked, "-c", "income", *options, "--json")[1])

    frame = pd.read_parquet(masked)
    groups = cm.read_release(masked, "income").group_means(frame[["region", "educ"]], weights=frame["age"])
    assert code == 0
    assert result["groups"] == [
        {"group": [region, str(educ)], **shown(groups[region, educ])} for region, educ in groups
    ]
    assert set(groups) == set(zip(frame["region"].tolist(), frame["educ"].tolist(), strict=True))
    region, educ = next(iter(groups))
    assert f"\nweighted mean, region {region}, educ {educ} " in out


@pytest.mark.filterwarnings("ignore:group_means")
def test_quantiles_of_groups_are_those_of_whole_strata(run, source, masked, tmp_path):
    options = (
        "-c",
        "income",
        "--group",
        "region",
        "--quantile",
        "0.5",
        "--quantile",
        "0.9",
        "--level",
        "0.9",
    )
    scheme = cm.ConditionalMasking(0.6, 400.0, strata="region")
    cm.mask_file(source, tmp_path / "out.parquet", {"income": scheme}, rng=3, log=False)
    release = cm.read_release(tmp_path / "out.parquet", "income")

    result = answer(run("estimate", tmp_path / "out.parquet", *options, "--json"))
    _, out, _ = run("estimate", tmp_path / "out.parquet", *options)
    elsewhere = run("estimate", masked, *options)

    assert [group["group"] for group in result["groups"]] == ["east", "west"]
    for group in result["groups"]:
        part = release.part({"region": group["group"]})
        expected = part.quantile_interval([0.5, 0.9], confidence_level=0.9)
        assert [one["q"] for one in group["quantiles"]] == [0.5, 0.9]
        assert [one["value"] for one in group["quantiles"]] == expected.estimate.tolist()
        assert [one["high"] for one in group["quantiles"]] == expected.high.tolist()
        assert f"\nquantile 0.9, region {group['group']} " in out
    assert elsewhere[0] == 0
    assert "quantile 0.5, region" not in elsewhere[1]
    assert "quantiles are not available by region, only for whole strata" in elsewhere[2]


def test_names_of_persons_are_no_categories(run, source, tmp_path):
    named = pd.read_parquet(source).assign(name=lambda table: "number " + table.index.astype(str))
    named.to_parquet(tmp_path / "in.parquet")
    scheme = cm.ConditionalMasking(0.6, 400.0)
    cm.mask_file(tmp_path / "in.parquet", tmp_path / "out.parquet", {"income": scheme}, rng=3)

    code, out, err = run("estimate", tmp_path / "out.parquet", "--regress", "name")

    sentence = (
        "--regress must name columns of numbers, or of 2 to 50 categories, got 'name' with 2,000 labels"
    )
    assert (code, out, err) == (1, "", f"condmask: error: {sentence}\n")


def shown(interval):
    values = (interval.estimate, interval.standard_error, interval.low, interval.high)
    return dict(zip(estimate.PARTS, values, strict=True))


@pytest.mark.parametrize(
    "options",
    [
        ("--level", "95"),
        ("--target", "world"),
        ("--group", "income"),
        ("--group", "region", "--group", "region"),
        ("--group", "bonus"),
        ("--weights", "bonus"),
        ("--regress", "age", "--regress", "bonus"),
        ("--regress", "age", "--regress", "age"),
    ],
)
def test_a_wrong_option_is_wrong_usage(run, masked, options):
    code, out, err = run("estimate", masked, "-c", "income", *options)

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_a_masked_partner_is_its_estimate(run, masked):
    result = answer(run("estimate", masked, "-c", "income", "--other", "bonus", "--json"))

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
    code, out, err = run("estimate", masked, "-c", "income", "--other", "educ")

    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "income of the population, estimated from 2,000 masked values"
    assert lines[1].split()[-1] == "to"
    names = [line.rsplit(None, 4)[0] for line in lines[2:]]
    assert names == ["mean", "s.d.", *(f"quantile 0.{k}" for k in range(1, 10)), "correlation with educ"]
    mean = cm.read_release(masked, "income").mean_interval()
    shown = [float(cell.replace(",", "")) for cell in lines[2].split()[1:]]
    # two digits of the standard error are shown
    known = [mean.estimate, mean.standard_error, mean.low, mean.high]
    assert shown == pytest.approx(known, abs=0.05 * mean.standard_error)


def test_a_single_masked_column_needs_no_name(run, source, tmp_path):
    target = tmp_path / "out.parquet"
    run("mask", source, target, "-c", "income", *MASK)

    assert answer(run("estimate", target, "--json"))["column"] == "income"


def test_a_negative_variance_is_a_warning_and_null(run, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pd.DataFrame({"x": np.linspace(0, 1, 20) ** 2}).to_parquet(source)
    for seed in range(20):  # about every other one gives a negative estimate
        cm.mask_file(source, target, {"x": cm.ConditionalMasking(0.01, 1e6)}, rng=seed, force=True)
        if cm.read_release(target, "x").variance() < 0:
            break

    code, out, err = run("estimate", target, "--json")

    assert (code, len(err.splitlines())) == (0, 1)
    assert err.startswith("warning: the variance of the original is estimated negative")
    assert json.loads(out)["std"]["value"] is None


@pytest.fixture
def mapped(source, tmp_path):
    """A column masked by reverse mapping."""
    path = tmp_path / "mapped.parquet"
    scheme = cm.ConditionalMasking(0.6, 0.5, reverse_mapping=True, scale="log")
    cm.mask_file(source, path, {"income": scheme}, rng=3)
    return path


def test_of_the_original_file_a_column_in_another_order_tells_everything(run, source, mapped):
    income = pd.read_parquet(source)["income"]

    result = answer(run("estimate", mapped, "-c", "income", "--target", "file", "--json"))
    code, out, _ = run("estimate", mapped, "-c", "income", "--target", "file")

    assert result["mean"]["value"] == pytest.approx(income.mean(), rel=1e-12)
    assert result["mean"]["standard_error"] == 0.0
    assert result["certainty"] == "exact"
    assert code == 0
    assert out.splitlines()[0] == f"income of the original file, exact, from {len(income):,} masked values"


@pytest.mark.filterwarnings("ignore:pseudo-values vary")
def test_other_columns_are_undone_for_a_column_in_another_order(run, source, mapped):
    for option in ("--weights", "--regress"):
        assert "N" in json.loads(run("estimate", mapped, option, "age", "--json")[1])
    with_others = ("--other", "age", "--group", "region", "--json")
    code, out, err = run("estimate", mapped, "-c", "income", *with_others)
    result = json.loads(out)
    assert (code, "vary 1.51 times as much" in err) == (0, True)
    release, frame = cm.read_release(mapped, "income"), pd.read_parquet(source)
    assert result["correlation"]["value"] == release.correlation(frame["age"])
    assert result["groups"][0]["value"] == release.group_means(frame["region"]).estimate[0]
    assert result["N"] == release.N


def test_of_columns_masked_together_in_another_order_the_correlation_has_no_interval(run, source, tmp_path):
    scheme = cm.ConditionalMasking(0.6, 400.0, reverse_mapping=True)
    both = {"income": scheme, "bonus": scheme}
    cm.mask_file(source, tmp_path / "b.parquet", both, rng=3, accept_visible_coins=True)

    result = answer(run("estimate", tmp_path / "b.parquet", "-c", "income", "--other", "bonus", "--json"))

    one, other = (cm.read_release(tmp_path / "b.parquet", name) for name in both)
    assert result["correlation"] == {"other": "bonus", "value": one.correlation(other)}


def test_means_at_the_ends_are_said_beside_standard_errors_of_0(run, source, tmp_path):
    scheme = cm.ConditionalMasking(0.6, 0.5, reverse_mapping=True, scale="log", aggregate_ends=5)
    cm.mask_file(source, tmp_path / "b.parquet", {"income": scheme}, rng=3)

    _, out, _ = run("estimate", tmp_path / "b.parquet", "--target", "file")

    said = "income of the original file, exact except at the ends, which are means, from 2,000 masked values"
    assert out.splitlines()[0] == said


def test_every_masked_column_is_estimated_where_none_is_named(run, source, tmp_path):
    scheme = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True)
    made = cm.mask_file(
        source,
        tmp_path / "both.csv",
        dict.fromkeys(("income", "age"), scheme),
        rng=1,
        accept_visible_coins=True,
    )
    found = answer(run("estimate", tmp_path / "both.csv", "--json"))
    assert [each["column"] for each in found] == ["income", "age"]
    assert [each["mean"]["value"] for each in found] == [made[name].mean() for name in ("income", "age")]

    named = answer(run("estimate", tmp_path / "both.csv", "-c", "age", "-c", "income", "--json"))
    assert [each["column"] for each in named] == ["age", "income"]
    other = answer(run("estimate", tmp_path / "both.csv", "--other", "age", "--json"))
    assert [each["column"] for each in other] == ["income"]  # not that of age with itself
