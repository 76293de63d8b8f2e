"""Several columns masked together: one coin and one donor per record, by the draw contract and by its law."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
from columns import GENERIC, WHOLE, values_of
from releases import ALARM, DONORS, assert_same_bits, generic, in_steps, law_of, split
from scipy.stats import pearsonr

import condmask as cm
from condmask import frames
from condmask._blocks import BLOCK
from condmask.missing_codes import check_finite

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("step", [0, None])
def test_joint_masking_follows_the_draw_contract(donors, missing, step):
    n = 600
    income, bonus = generic(n, 1), generic(n, 2).round(2)
    region = np.random.default_rng(3).choice(["north", "south"], n)
    if missing:
        income[np.random.default_rng(4).random(n) < 0.2] = np.nan
        bonus[np.random.default_rng(5).random(n) < 0.2] = np.nan
    schemes = {
        "income": cm.ConditionalMasking(0.6, 500.0, donors=donors, step=step),
        "bonus": cm.ConditionalMasking(0.6, 80.0, noise="laplace", decimals=2, donors=donors),
    }
    frame = pd.DataFrame({"income": income, "bonus": bonus, "region": region})

    release = cm.mask_table(frame, schemes, strata="region", rng=11, nan_policy="omit")
    data = release.data

    by_name = {"income": income, "bonus": bonus}
    described = [(name, replace(scheme, strata="region").to_dict()) for name, scheme in schemes.items()]
    steps = [in_steps(schemes[name], x) for name, x in by_name.items()]
    secret = reference.working_secret(11, described, steps, region)
    laws = [law_of(scheme) for scheme in schemes.values()]
    expected = reference.masked(secret, 0.6, [income, bonus], laws, strata=region, donors=donors)
    assert_same_bits(data["income"], expected[0])
    assert_same_bits(data["bonus"], expected[1])
    assert data["region"].tolist() == region.tolist()
    assert set(release.patterns.values()) == {("income", "bonus") if missing else ()}
    assert release.records == n
    assert release.schemes == {name: replace(scheme, strata="region") for name, scheme in schemes.items()}


def test_small_strata_are_merged_within_each_pattern_of_missing_values():
    n = 600
    income, bonus = generic(n, 1), generic(n, 2)
    income[np.random.default_rng(4).random(n) < 0.2] = np.nan
    bonus[np.random.default_rng(5).random(n) < 0.2] = np.nan
    region = np.random.default_rng(3).choice(list("abcdefg"), n)
    sex = np.random.default_rng(6).integers(0, 2, n)
    frame = pd.DataFrame({"income": income, "bonus": bonus, "region": region, "sex": sex})
    scheme = cm.ConditionalMasking(0.6, 500.0, strata=["region", "sex"], small_strata="merge")

    release = cm.mask_table(frame, {"income": scheme, "bonus": scheme}, rng=11, nan_policy="omit")
    data = release.data

    strata = list(zip(region.tolist(), sex.tolist(), strict=True))
    merged = reference.merged_strata([income, bonus], strata)
    left = [row for row, own in enumerate(merged) if own is not None and own[0] == "together"]
    assert 100 < len(left) < n  # cells of 34, 8, 8
    within = [row if own is None else own for row, own in enumerate(merged)]
    described = [(name, scheme.to_dict()) for name in ("income", "bonus")]
    steps = [in_steps(scheme, x) for x in (income, bonus)]
    secret = reference.working_secret(11, described, steps, within)
    expected = reference.masked(
        secret, 0.6, [income, bonus], [law_of(scheme)] * 2, strata=within, donors="permutation"
    )
    assert_same_bits(data["income"], expected[0])
    assert_same_bits(data["bonus"], expected[1])
    assert release.origins["income"].patterns == ("income", "bonus")
    assert release.schemes["income"] == scheme


def test_strata_may_be_named_by_the_schemes_or_by_the_call():
    frame = pd.DataFrame(
        {"a": generic(40), "b": generic(40, 1), "region": list("xy") * 20, "sex": [0, 0, 1, 1] * 10}
    )
    plain = cm.ConditionalMasking(0.4, 500.0)
    named = replace(plain, strata=("region", "sex"), step=None)

    results = [
        cm.mask_table(frame, {"a": one, "b": other}, strata=strata, rng=1)
        for one, other, strata in (
            (plain, plain, ["region", "sex"]), (named, named, None), (named, plain, ("region", "sex")),
        )
    ]  # fmt: skip

    for release in results:
        assert release.schemes == results[0].schemes
        pd.testing.assert_frame_equal(release.data, results[0].data)


def test_columns_masked_together_share_coins_and_donors_and_no_noise():
    n = 60_000
    a, b = generic(n, 61), generic(n, 62)
    frame = pd.DataFrame({"a": a, "b": b})
    scheme = cm.ConditionalMasking(0.4, 500.0, step=0)

    data = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=63).data
    za, zb = data["a"].to_numpy(), data["b"].to_numpy()
    swapped, taken = split(a, za)
    also_swapped, also_taken = split(b, zb)

    assert_same_bits(swapped, also_swapped)
    assert_same_bits(taken, also_taken)
    kept = np.setdiff1d(np.arange(n), swapped)
    # shared noise has r = 1; two lanes that overlap by an offset, |r| small but equal words (test_randomness)
    assert pearsonr((za - a)[kept], (zb - b)[kept]).pvalue > ALARM


def test_the_schemes_of_a_table_carry_the_strata_and_one_group_which_no_seed_tells():
    frame = pd.DataFrame({"a": generic(40), "b": generic(40, 1), "region": list("xy") * 20})
    scheme = cm.ConditionalMasking(0.4, 500.0)

    first = cm.mask_table(frame, {"a": scheme, "b": scheme}, strata="region", rng=1)
    second = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=1)
    again = cm.mask_table(frame, second.schemes, rng=1)

    assert again.schemes == second.schemes
    assert again.data.equals(second.data)
    assert first.group["a"] == first.group["b"]
    groups = {name for release in (first, second, again) for name in release.group.values()}
    assert len(groups) == 3  # who guesses the seed cannot see that in the group
    assert {scheme.strata for scheme in first.schemes.values()} == {"region"}
    assert {scheme.strata for scheme in second.schemes.values()} == {None}


@pytest.mark.parametrize("columns", [2, 70], ids=["two", "more than an int64 has bits"])
def test_a_donor_has_what_the_record_has(columns):
    n = 400
    x = np.random.default_rng(64).normal(size=(n, columns))
    x[:100, -1] = np.nan
    x[100:200, 0] = np.nan
    x[200:220] = np.nan
    frame = pl.DataFrame({f"c{k}": x[:, k] for k in range(columns)})
    scheme = cm.ConditionalMasking(0.9, 1.0)

    data = cm.mask_table(frame, dict.fromkeys(frame.columns, scheme), rng=65, nan_policy="omit").data

    assert_same_bits(np.isnan(data.to_numpy()), np.isnan(x))


def test_records_that_miss_everything_do_not_make_the_others_a_stratum():
    frame = pd.DataFrame({"a": [*GENERIC[:5], np.nan], "b": [*GENERIC[5:], np.nan]})
    scheme = cm.ConditionalMasking(0.5, 1.0)

    data = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=1, nan_policy="omit").data

    assert np.isnan(data.to_numpy()).tolist() == [[False, False]] * 5 + [[True, True]]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_comes_back_in_its_container_with_other_columns_as_they_were(make):
    columns = {"name": list("abcdefghij"), "income": GENERIC, "whole": WHOLE}
    frame = make(columns)
    scheme = cm.ConditionalMasking(0.5, 3.0)

    data = cm.mask_table(
        frame, {"whole": replace(scheme, decimals=0, step=None), "income": scheme}, rng=1
    ).data

    assert type(data) is type(frame)
    assert list(data.columns if make is not pa.table else data.column_names) == list(columns)
    assert frames.labels(data["name"], "name").tolist() == columns["name"]
    assert values_of(data["whole"]).tolist() != WHOLE.tolist()
    assert values_of(frame["whole"]).tolist() == WHOLE.tolist()
    assert frames.labels(data["whole"], "whole").dtype == np.int64


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_a_frame_that_notes_a_column_as_masked_is_not_masked_twice(make, tmp_path):
    frame = make({"a": GENERIC, "b": WHOLE, "c": GENERIC})
    scheme = cm.ConditionalMasking(0.5, 3.0)
    first = cm.mask_table(frame, {"a": scheme}, rng=1)
    second = cm.mask_table(first.data, {"b": scheme}, rng=1)

    for name, data in (("a", first.data), ("a", second.data), ("b", second.data)):
        with pytest.raises(ValueError, match=f"^{name} is masked already"):
            cm.mask_table(data, {name: scheme, "c": scheme}, rng=1)
    cm.mask_table(frame, first.schemes, rng=1)  # the original tells nothing of its release
    first.write(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"^a is masked already"):
        cm.mask_table(pq.read_table(tmp_path / "a.parquet"), {"a": scheme}, rng=1)


# --- covariances with a plain column --------------------------------------------------------------


def mean_and_error(values):
    return np.mean(values), np.std(values) / np.sqrt(len(values))


@pytest.mark.slow
def test_a_covariance_knows_that_donors_were_drawn_within_patterns_of_missing_values():
    rng = np.random.default_rng(71)
    n = 80
    w = rng.normal(size=n)
    a, b = 2.0 * w + rng.normal(0, 0.3, n), rng.normal(size=n)
    b[w < 0.0] = np.nan  # who lacks b has a small a
    frame = pd.DataFrame({"a": a, "b": b, "w": w})
    scheme = cm.ConditionalMasking(0.6, 0.5)
    truth = np.cov(scheme.grid.values(scheme.grid.units(a)), w)[0, 1]
    known, ignored = [], []
    for seed in range(400):
        release = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=seed, nan_policy="omit")
        assert release.patterns["a"] == release.patterns["b"] == ("a", "b")
        known.append(release["a"].covariance(w))
        ignored.append(scheme.estimate(release.data["a"]).covariance(w))

    # five standard errors: an alarm in 6e-7 of keys
    mean, error = mean_and_error(known)
    assert abs(mean - truth) < 5 * error
    assert error < 0.02 * truth
    assert np.mean(ignored) > 1.3 * truth  # what ignoring them gives
    columns = {name: release.data[name] for name in ("a", "b")}
    assert scheme.estimate(columns["a"], patterns=columns).covariance(w) == known[-1]


def test_patterns_that_part_no_pool_are_not_published():
    a, b = generic(40, 1), generic(40, 2)
    a[:5] = b[:5] = np.nan  # they lack both, and are in no pool
    scheme = cm.ConditionalMasking(0.6, 500.0)

    gaps = cm.mask_table(pd.DataFrame({"a": a, "b": b}), {"a": scheme, "b": scheme}, rng=1, nan_policy="omit")
    alone = cm.mask_table(pd.DataFrame({"a": a}), {"a": scheme}, rng=1, nan_policy="omit")

    assert gaps.patterns["a"] == alone.patterns["a"] == ()


def test_gaps_of_the_other_column_leave_the_size_of_the_donor_pools():
    rng = np.random.default_rng(72)
    strata = np.repeat(np.arange(10), 12)
    x = rng.normal(size=strata.size)
    w = x + rng.normal(0, 0.3, x.size)
    w[np.arange(x.size) % 12 >= 5] = np.nan  # 5 of 12 are there
    there = ~np.isnan(w)
    scheme = cm.ConditionalMasking(0.6, 0.5, strata="region")
    truth = np.cov(scheme.grid.values(scheme.grid.units(x))[there], w[there])[0, 1]

    found = []
    for seed in range(1_500):
        z = scheme.mask(x, rng=seed, strata=strata)
        found.append(scheme.estimate(z, strata=strata).covariance(w))

    # five standard errors, an alarm in 6e-7 of keys; (1-p) - p/4 for the 5 pairs gave 1.24 times the truth
    mean, error = mean_and_error(found)
    assert abs(mean - truth) < 5 * error
    assert error < 0.04 * truth


SINGLE = np.linspace(0.9, 1.0, 64).astype(np.float32) * np.float32(3.3e38)
DOUBLE = np.linspace(0.9, 1.0, 64) * 4.4e307


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("x", "scheme"),
    [
        (SINGLE, cm.ConditionalMasking(0.6, 1e38, step=0)),
        (SINGLE, cm.AdditiveNoise(1e38)),
        (DOUBLE, cm.MultiplicativeNoise(5.0)),
    ],
)
def test_values_that_noise_makes_infinite_are_refused(x, scheme):
    open_ = {"accept_visible_coins": True}
    with pytest.raises(ValueError, match=r"^x must stay finite when it is masked: its noise"):
        cm.mask_table({"x": x}, {"x": scheme}, rng=1, **open_)
    if not isinstance(scheme, cm.AdditiveNoise):  # whose masked columns are in double precision
        options = open_ if isinstance(scheme, cm.ConditionalMasking) else {}
        with pytest.raises(ValueError, match=r"^x must stay finite when it is masked: its noise"):
            scheme.mask(x, rng=1, **options)


def test_infinite_values_are_found_wherever_they_stand():
    z = np.zeros(2 * BLOCK)
    check_finite(z, "x")
    z[-1] = -np.inf
    with pytest.raises(ValueError, match=r"^x must stay finite when it is masked"):
        check_finite(z, "x")
