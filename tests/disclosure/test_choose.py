"""Schemes for columns that are named and nothing else: what they rest on, and that masking accepts
them."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import condmask as cm
from condmask.disclosure.choose import choose, with_wider_noise
from condmask.disclosure.unmasked import Table

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*aggregate_ends:condmask.ReleaseWarning"),
    # other months of a firm tell each, of which is warned
    pytest.mark.filterwarnings("ignore:C1[2345] :condmask.ReleaseWarning"),
]
N = 4_000
RNG = np.random.default_rng(5)
COLUMNS = {
    "normal": RNG.normal(50.0, 10.0, N),
    "earnings": RNG.lognormal(7.0, 0.8, N).round(-1),
    "balance": RNG.normal(0.0, 900.0, N).round(),
    "rare": np.append(RNG.normal(0.0, 1.0, N - 2), [60.0, 90.0]),
    "bonus": np.where(RNG.random(N) < 0.95, 0.0, RNG.uniform(100.0, 900.0, N).round(-1)),
    "kinds": RNG.integers(0, 5, N).astype(float),
}


def chosen(x):
    table = Table({"x": x})
    return with_wider_noise(table, choose(table, ["x"], cm.ReverseMapping))["x"]


@pytest.mark.parametrize("name", COLUMNS)
def test_the_choice_rests_on_the_sorted_column_which_the_release_shows(name):
    x = COLUMNS[name]
    found = chosen(x)

    assert chosen(RNG.permutation(x)) == found
    released = found.scheme.mask(x, rng=1)  # which accepts it
    again = chosen(released).scheme
    assert (again.p, again.scale, again.sigma) == (
        found.scheme.p,
        found.scheme.scale,
        found.scheme.sigma,
    )


@pytest.mark.parametrize(
    ("x", "scale", "sigma"),
    [
        # .3 of a standard deviation, by the deciles
        (COLUMNS["normal"], "linear", 3.0),
        (COLUMNS["earnings"], "log", 0.3),
        (-COLUMNS["earnings"], "linear", None),
        (np.where(np.arange(N) % 2 == 0, 0.0, COLUMNS["earnings"]), "linear", None),  # many zeros
        (np.where(np.arange(N) % 8 == 0, 0.0, COLUMNS["earnings"]), "log", None),
        # of the values that are not zero: .8 * 800 / 2.563 * .3
        (COLUMNS["bonus"], "linear", 74.0),
    ],
)
def test_amounts_are_masked_on_the_log_scale_and_noise_follows_the_spread(x, scale, sigma):
    found = chosen(x).scheme

    assert found.scale == scale
    assert sigma is None or found.sigma == pytest.approx(sigma, rel=0.08)


def test_ends_become_means_where_rare_values_come_back():
    found = chosen(COLUMNS["rare"])

    assert chosen(COLUMNS["normal"]).scheme.aggregate_ends == 0
    assert found.scheme.aggregate_ends == 3
    assert "the 3 smallest and largest values are released as their means" in found.why


def test_columns_of_one_call_have_the_largest_p_of_any():
    """Twenty values far apart from each other come back, whatever becomes of the ends."""
    lonely = np.append(COLUMNS["normal"][:-20], 1000.0 * np.arange(1, 21) ** 2)
    table = Table({"one": COLUMNS["normal"], "other": lonely})

    found = choose(table, ["one", "other"], cm.ReverseMapping)

    assert {choice.scheme.p for choice in found.values()} == {0.7}
    assert "p=0.7" in found["other"].why


def frame():
    firm = np.repeat(np.arange(N // 10), 10)
    wage = 3000.0 + 500.0 * RNG.normal(size=N // 10)[firm] + 20.0 * RNG.normal(size=N)
    columns = {
        "firm": firm,
        "wage": wage.round(),
        **COLUMNS,
        "region": np.resize(["a", "b", "c", "d"], N),
    }
    return pd.DataFrame(columns).sample(frac=1.0, random_state=1, ignore_index=True)


def test_a_table_is_masked_by_the_names_of_columns():
    data = frame()
    data.loc[::9, "earnings"] = np.nan
    release = cm.mask_table(data[["earnings", "region"]], "earnings", strata="region")

    scheme = release.schemes["earnings"]
    assert release.chosen["earnings"].scheme == scheme
    assert str(release.chosen["earnings"]) == f"{scheme!r}: {release.chosen['earnings'].why}"
    assert (scheme.strata, scheme.small_strata) == ("region", "merge")
    assert release["earnings"].mean() == pytest.approx(data["earnings"].mean())
    assert release.data["earnings"].isna().tolist() == data["earnings"].isna().tolist()
    again = cm.mask_table(data[["earnings", "region"]], {"earnings": scheme}, nan_policy="omit")
    assert again.chosen == {}
    assert again.schemes == release.schemes


def test_codes_of_missing_values_are_declared_beside_names(tmp_path):
    rng = np.random.default_rng(1)
    income = np.where(rng.random(2_000) < 0.05, -9.0, rng.lognormal(8.0, 0.6, 2_000).round(2))
    frame = pd.DataFrame({"income": income})
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=r"pass missing=-9 if so"):
        cm.mask_table(frame, "income")

    in_memory = cm.mask_table(frame, "income", missing=-9)
    in_file = cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", "income", missing=-9)

    assert np.array_equal(in_memory.data["income"] == -9, income == -9)
    assert in_memory["income"].mean() == pytest.approx(income[income > 0.0].mean(), rel=1e-12)
    assert in_file["income"].mean() == pytest.approx(in_memory["income"].mean(), rel=1e-12)
    with pytest.raises(ValueError, match="missing must be left out where schemes are given"):
        cm.mask_table(frame, in_memory.schemes, missing=(-9,))
    with pytest.raises(ValueError, match="nan_policy must be"):
        cm.mask_table(frame, "income", missing=-9, nan_policy="omitt")


def test_noise_is_wider_where_records_of_a_unit_tell_of_each_other():
    data = frame()
    alone = cm.mask_table(data[["wage"]], ["wage"])
    beside = cm.mask_table(data[["firm", "wage"]], ["wage"])

    assert beside.schemes["wage"].sigma == pytest.approx(
        10.0 / 3.0 * alone.schemes["wage"].sigma, rel=0.05
    )
    assert "times as wide" in beside.chosen["wage"].why
    few = np.random.default_rng(0).lognormal(7.0, 2.5, 80).round()
    with pytest.warns(cm.ReleaseWarning, match="80 records"):
        assert cm.mask_table({"few": few}, "few").schemes["few"].sigma > 1.0  # beyond the spread


@pytest.mark.parametrize("kind", ["table", "parquet", "csv"])
def test_a_shuffled_release_gets_the_scheme_of_its_rows_in_their_new_order(kind, tmp_path):
    """Sixteen rows of a firm stand together, and nothing but the order says that they belong
    together."""
    rng = np.random.default_rng(1)
    level = np.repeat(rng.normal(size=250), 16)
    pay = (3_000.0 * np.exp(0.5 * level + 0.02 * rng.normal(size=level.size))).round(2)
    sorted_by_firm = pd.DataFrame({"pay": pay, "noise": rng.normal(size=level.size)})
    by_hand = sorted_by_firm.sample(frac=1.0, random_state=2, ignore_index=True)
    expected = cm.mask_table(by_hand, "pay").schemes["pay"]

    with pytest.warns(cm.ReleaseWarning, match="neighbouring rows are alike"):
        in_order = cm.mask_table(sorted_by_firm, "pay").schemes["pay"]
    assert in_order.sigma > 3.0 * expected.sigma
    if kind == "table":
        release = cm.mask_table(sorted_by_firm, "pay", shuffle=True)
    else:
        source = tmp_path / f"of.{kind}"
        write = sorted_by_firm.to_parquet if kind == "parquet" else sorted_by_firm.to_csv
        write(source, index=False)
        release = cm.mask_file(source, tmp_path / f"to.{kind}", "pay", shuffle=True, log=False)
    assert release.schemes["pay"] == release.chosen["pay"].scheme == expected


def test_a_file_is_masked_by_the_names_of_columns(tmp_path):
    source = tmp_path / "people.csv"
    frame()[["balance", "normal"]].to_csv(source, index=False)

    release = cm.mask_file(source, tmp_path / "masked.csv", ["balance", "normal"], log=False)

    assert cm.read_release(tmp_path / "masked.csv").schemes == release.schemes
    assert set(release.chosen) == {"balance", "normal"}
    long = cm.mask_file(
        source, tmp_path / "parts.csv", "balance", part_rows=1_000, log=False, dry_run=True
    )
    assert long.chosen["balance"].scheme == long.schemes["balance"]
    assert len(long.parts) > 1
    x = frame()["balance"].to_numpy()
    pd.DataFrame({"balance": [*x[:2_000], *np.sort(x[2_000:])]}).to_csv(source, index=False)
    with pytest.raises(
        cm.ReleaseError, match=r"rows 2,001 to \d,\d+, under {'balance': ReverseMapping"
    ):
        cm.mask_file(source, tmp_path / "parts.csv", "balance", part_rows=1_000, log=False)


@pytest.mark.parametrize(
    ("names", "error", "said"),
    [
        (["incme"], ValueError, "frame must have the column 'incme'"),
        ([], ValueError, "schemes must name at least one column"),
        (5, TypeError, "schemes must be a dict of schemes by column, got 5"),
        ("region", TypeError, "region must be numeric"),
        ("none", ValueError, "none must have at least 2 values that are not missing, got 0"),
    ],
)
def test_names_that_cannot_be_masked_are_refused(names, error, said):
    with pytest.raises(error) as caught:
        cm.mask_table(frame().assign(none=np.nan), names)
    assert said in str(caught.value)


@pytest.mark.parametrize("far", [[], [150.0], [150.0, -50.0, 170.0, 172.0, -60.0]])
def test_an_explicit_scheme_may_leave_the_ends_open(far, tmp_path):
    x = np.random.default_rng(2).permutation(np.append(COLUMNS["normal"], far))
    scheme = cm.ReverseMapping(0.6, 3.0, aggregate_ends="auto")
    settled = cm.mask_table({"x": x}, {"x": scheme}, rng=1).schemes["x"]

    fewer = [count for count in (0, 3, 5) if count < settled.aggregate_ends]
    assert isinstance(settled.aggregate_ends, int)
    assert bool(fewer) is bool(far)
    for count in fewer:  # are refused
        with pytest.raises(cm.ReleaseError, match="rare value"):
            cm.mask_table({"x": x}, {"x": replace(scheme, aggregate_ends=count)}, rng=1)
    found = cm.audit({"x": x}, {"x": scheme})
    risk = cm.risk({"x": x}, {"x": scheme})
    assert found.schemes == risk.schemes == {"x": settled}
    pd.DataFrame({"x": x}).to_parquet(tmp_path / "x.parquet")
    released = cm.mask_file(
        tmp_path / "x.parquet", tmp_path / "z.parquet", {"x": scheme}, log=False
    )
    assert cm.read_release(released.path).schemes == {"x": settled}
    with pytest.raises(ValueError, match="aggregate_ends must be a number"):
        scheme.mask(x)


def test_decimals_are_masked_by_their_name():
    values = RNG.lognormal(7.0, 0.5, N).round(2)
    frame = pa.table({"pay": pa.array([Decimal(str(value)) for value in values])})
    release = cm.mask_table(frame, ["pay"])

    assert release.data.schema.field("pay").type.scale == 2
    assert (
        sorted(release.data["pay"].to_pylist())[10:-10] == sorted(frame["pay"].to_pylist())[10:-10]
    )
