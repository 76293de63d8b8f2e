"""Masking with heaps and on the log scale: the law of each Z_i, and what masking leaves as it is.

Oracle: tests/levels_reference.py, which enumerates coin, donor and noise of a record. A chi-square test is
of one file under a fixed key; with the right law its p-value falls below ALARM in one key of 10^6, and one of
all 360 does for 4 keys of 10^4.
"""

import json
import pickle
from dataclasses import replace
from functools import partial

import levels_reference as reference
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from levels_reference import ACCEPT, Heaps, Log, masked
from releases import ALARM, DONORS, NOISES, assert_same_bits
from scipy.stats import chisquare

import condmask as cm

pytestmark = pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")

P = (0.3, 0.6, 0.8)
LAWS = {
    "heaps": (partial(Heaps, sigma=40.0, step=1.0, highest=1), [-7, 0, 30, 31, 47, 120, -230, 500]),
    "more heaps": (partial(Heaps, sigma=200.0, step=1.0, highest=2), [-1300, 0, 7, 310, 350, 1200, 901]),
    "cents": (partial(Heaps, sigma=0.25, step=0.01, highest=1), [0.05, -0.1, 1.37, 0.6, 0.0]),
    "log": (partial(Log, sigma=0.3, step=0.0625), [-50.0, 0.0, 0.9, 1.1, 60.0]),
    "coarse log": (partial(Log, sigma=0.3, step=0.15), [-50.0, -40.0, 0.0, 1.0, 700.0]),
}


def public(law, **options):
    return cm.ConditionalMasking(**law.options(), **options)


def whole(law, z):
    """Released values in units, which they hit."""
    units = law.units(z)
    assert np.allclose(law.values(units), z, rtol=1e-12, atol=0.0)
    return units


def law_given(law, values, counts, j):
    """What a record of the j-th value may become, and with what chances, in a file of so many of each."""
    others = np.array(counts, dtype=float)
    others[j] -= 1.0
    units = law.units(values)
    there, chance = law.kept(int(units[j]))
    found = dict.fromkeys(units.tolist(), 0.0)
    for unit, c in zip(
        [*units.tolist(), *there.tolist()],
        [*(law.p * others / others.sum()), *((1.0 - law.p) * chance)],
        strict=True,
    ):
        found[unit] = found.get(unit, 0.0) + c
    return found


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("name", LAWS)
def test_each_record_has_the_law_of_equation_1_in_its_class(name, p, noise, donors):
    # without its level's own spacing, with noise of another level, or with sign or zero lost: p-values of 0
    make, values = LAWS[name]
    law = make(p, noise)
    counts = 4_000 + 500 * np.arange(len(values))
    x = np.random.default_rng(1).permutation(np.repeat(values, counts))

    units = whole(law, masked(public(law, donors=donors), x, rng=2))

    for j, value in enumerate(values):
        found = dict(zip(*np.unique(units[x == value], return_counts=True), strict=True))
        expected = law_given(law, values, counts, j)
        assert found.keys() <= expected.keys()
        often = [unit for unit, c in expected.items() if c * counts[j] >= 8.0]
        seen = [found.get(unit, 0) for unit in often]
        hoped = [expected[unit] * counts[j] for unit in often]
        rest = counts[j] - sum(seen), counts[j] - sum(hoped)
        if rest[1] >= 8.0:
            seen, hoped = [*seen, rest[0]], [*hoped, rest[1]]
        assert chisquare(seen, np.array(hoped) * sum(seen) / sum(hoped)).pvalue > ALARM


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", LAWS)
def test_noise_leaves_the_class_of_a_record_as_it_is(name, noise):
    law = LAWS[name][0](1e-12, noise)  # nobody is swapped but with chance 1e-8
    x = np.random.default_rng(3).choice(LAWS[name][1], 10_000)

    units, before = whole(law, masked(public(law), x, rng=4)), law.units(x)

    assert [law.label(unit) for unit in units.tolist()] == [law.label(unit) for unit in before.tolist()]
    assert (units != before).mean() > 0.3  # the other chances are looked at above
    assert (units[x == 0.0] == 0).all() or isinstance(law, Heaps)


@pytest.mark.parametrize("name", ["heaps", "log"])
def test_donors_come_from_the_records_own_stratum(name):
    law = LAWS[name][0](0.8, "normal")
    rng = np.random.default_rng(5)
    strata = rng.integers(0, 2, 5_000)
    x = np.where(strata == 0, rng.choice([30.0, 31.0], 5_000), rng.choice([1e6, 1e6 + 7], 5_000))

    z = masked(public(law, strata="region"), x, rng=6, strata=strata)

    assert ((np.asarray(z) > 1e4) == (strata == 1)).all()


@pytest.mark.parametrize("names", [("heaps", "cents"), ("log", "coarse log"), ("more heaps", "log")])
@pytest.mark.parametrize("donors", DONORS)
def test_columns_masked_together_share_coin_and_donor(names, donors):
    laws = [LAWS[name][0](0.6, "normal") for name in names]
    values = [np.array(LAWS[name][1][:5], dtype=float) for name in names]
    n = 40_000
    rows = np.random.default_rng(7).integers(0, 5, n)
    frame = pd.DataFrame({"a": values[0][rows], "b": values[1][rows]})
    schemes = dict(zip("ab", (public(law, donors=donors) for law in laws), strict=True))

    data, stamped = cm.mask_table(frame, schemes, rng=8, **ACCEPT)

    # of records with one pair, P(another pair together): swapped, or twice moved there by the noise
    units = [whole(law, data[name]) for law, name in zip(laws, "ab", strict=True)]
    own = [law.units(v) for law, v in zip(laws, values, strict=True)]
    counts = np.bincount(rows)
    for j in range(5):
        for k in set(range(5)) - {j}:
            moved = [
                dict(zip(*map(np.ndarray.tolist, law.kept(int(u[j]))), strict=True)).get(int(u[k]), 0.0)
                for law, u in zip(laws, own, strict=True)
            ]
            chance = 0.6 * counts[k] / (n - 1) + 0.4 * np.prod(moved)
            found = np.sum((rows == j) & (units[0] == own[0][k]) & (units[1] == own[1][k]))
            # five standard deviations: an alarm in 6e-7 of keys, 120 times; separate coins give half of it
            assert abs(found - chance * counts[j]) <= 5.0 * np.sqrt(chance * (1 - chance) * counts[j])
    assert stamped["a"].group == stamped["b"].group is not None


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("donors", DONORS)
def test_heaps_of_one_step_are_decimals_bit_for_bit(noise, donors):
    x = np.random.default_rng(9).integers(-500, 3_000, 70_000)
    plain = cm.ConditionalMasking(0.4, 50.0, noise=noise, donors=donors, decimals=0)
    heaps = cm.ConditionalMasking(0.4, 50.0, noise=noise, donors=donors, decimals=0, heaps=1)
    w, t, q = np.sqrt(np.arange(x.size)), np.arange(-600.0, 3_100.0, 7.0), [0.05, 0.5, 0.9]

    z, same = masked(plain, x, rng=10), masked(heaps, x, rng=10)

    assert_same_bits(z, same)
    one, other = plain.estimate(z), heaps.estimate(z)
    assert_same_bits(one.cdf(t), other.cdf(t))
    assert_same_bits(one.cdf(t, bandwidth="scott"), other.cdf(t, bandwidth="scott"))
    assert_same_bits(one.quantile(q), other.quantile(q))
    assert_same_bits([one.moment(k) for k in range(1, 5)], [other.moment(k) for k in range(1, 5)])
    assert one.variance() == other.variance()
    assert one.covariance(w) == other.covariance(w)


@pytest.mark.parametrize("name", LAWS)
def test_a_part_of_the_rows_and_threads_give_the_same_bits(name):
    law = LAWS[name][0](0.6, "laplace")
    x = np.random.default_rng(11).choice(LAWS[name][1], 140_000)
    scheme = public(law)

    z = masked(scheme, x, rng=12)

    assert_same_bits(masked(scheme, x, rng=12, rows=(65_000, 131_500)), z[65_000:131_500])
    assert_same_bits(masked(scheme, x, rng=12, workers=3), z)


# --- kinds of data -------------------------------------------------------------------------------------


INCOMES = np.array([150, 400, 1000, 1250, 999, -300, 0, 2000, 700, 30, 45, 1100] * 20)


def test_whole_numbers_stay_whole():
    scheme = cm.ConditionalMasking(0.6, 250.0, decimals=0, heaps=100)
    on_log_scale = cm.ConditionalMasking(0.6, 0.3, scale="log", step=0.05, decimals=0)

    for each in (scheme, on_log_scale):
        for x in (INCOMES, INCOMES.astype(np.int32), pd.Series(INCOMES), pl.Series(INCOMES)):
            z = masked(each, x, rng=1)
            assert type(z) is type(x)
            assert str(z.dtype).lower() == "int64"
    assert masked(scheme, INCOMES.astype(float), rng=1).dtype == float
    assert masked(on_log_scale, INCOMES.astype(float), rng=1).dtype == float
    assert masked(cm.ConditionalMasking(0.6, 0.3, scale="log", step=0.05), INCOMES, rng=1).dtype == float


@pytest.mark.parametrize("name", LAWS)
def test_single_precision_stays_single(name):
    law = LAWS[name][0](0.6, "normal")
    x = np.random.default_rng(13).choice(LAWS[name][1], 400).astype(np.float32)
    scheme = public(law)

    z = masked(scheme, x, rng=1)

    assert z.dtype == np.float32
    units = law.units(z.astype(float))
    assert_same_bits(z, np.asarray(law.values(units), dtype=np.float32))
    estimate, wide = scheme.estimate(z), scheme.estimate(law.values(units).astype(float))
    t = np.asarray(law.values(np.unique(units)), dtype=float)
    assert estimate.cdf(t) == pytest.approx(wide.cdf(t), abs=1e-10)
    assert estimate.mean() == pytest.approx(wide.mean(), rel=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_missing_values_stay_missing_and_out_of_the_pool(name):
    law = LAWS[name][0](0.6, "normal")
    x = np.random.default_rng(14).choice(np.array(LAWS[name][1], dtype=float), 300)
    gaps = np.arange(300) % 7 == 2
    scheme = public(law)
    with pytest.raises(ValueError, match=r"missing value"):
        masked(scheme, np.where(gaps, np.nan, x), rng=1)

    z = masked(scheme, np.where(gaps, np.nan, x), rng=1, nan_policy="omit")

    assert (np.isnan(z) == gaps).all()
    units = law.units(z[~gaps])
    assert scheme.estimate(z).n == 300 - gaps.sum()
    t = np.asarray(law.values(np.unique(units)), dtype=float)
    assert np.allclose(scheme.estimate(z).cdf(t), reference.cdf(law, units, law.units(t)), rtol=0, atol=1e-10)


def test_zero_is_published_without_a_sign():
    for name, (make, values) in LAWS.items():
        z = np.asarray(masked(public(make(0.6, "normal")), np.array([*values, -0.0] * 50), rng=1))
        assert not np.signbit(z[z == 0.0]).any(), name


def test_data_off_the_grid_of_heaps_are_refused():
    scheme = cm.ConditionalMasking(0.6, 250.0, decimals=0, heaps=100)
    with pytest.raises(ValueError, match=r"^x must hold multiples of its step"):
        masked(scheme, [1.0, 2.5, 3.0, 4.0], rng=1)


# --- published with decimals on the log scale -----------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("decimals", [-1, 0, 2])
def test_products_are_rounded_and_never_to_zero(noise, decimals):
    law = Log(1e-12, noise, 0.5, 0.0625)
    values = np.array([-40.0, 0.0, 1.0, 3.0, 800.0]) * 10.0**-decimals
    x = np.repeat(values, 4_000)
    scheme = public(law, decimals=decimals)

    z = masked(scheme, x, rng=15)

    for value in values:
        there, chance = law.kept(int(law.units(value)))
        expected = {}
        for v, c in zip(reference.shown(law.values(there), decimals).tolist(), chance.tolist(), strict=True):
            expected[round(v * 10.0**decimals)] = expected.get(round(v * 10.0**decimals), 0.0) + c
        found = z[x == value] * 10.0**decimals
        assert np.allclose(found, np.rint(found), rtol=0.0, atol=1e-9)
        assert set(np.rint(found).astype(int).tolist()) <= expected.keys()
        often = [unit for unit, c in expected.items() if c * 4_000 >= 8.0]
        seen = np.array([np.sum(np.rint(found) == unit) for unit in often])
        hoped = np.array([expected[unit] * 4_000 for unit in often])
        assert (np.abs(seen - hoped) <= 5.5 * np.sqrt(hoped)).all()  # 3 alarms in 10^8 keys each
    assert ((z == 0.0) == (x == 0.0)).all()
    assert (np.sign(z) == np.sign(x)).all()


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("noise", NOISES)
def test_with_decimals_the_bias_is_below_its_bound(p, noise):
    # docs/levels.rst: the steps of T are those of unrounded releases, its smooth part moves by its slope
    law = Log(p, noise, 0.3, 2.0**-12)
    scheme = public(law, decimals=0)
    x = np.random.default_rng(16).lognormal(4.0, 1.0, 60_000).round() + 1.0
    t = np.quantile(x, [0.02, 0.1, 0.3, 0.5, 0.8, 0.97]).round()
    plain = masked(public(law), x, rng=17)
    z = reference.shown(plain, 0)

    estimate, unrounded = scheme.estimate(z), public(law).estimate(plain)

    at_half_a_step_up = unrounded.cdf(t + 0.5)
    moved = np.mean(np.abs(np.log(z / plain)))
    steepest = (1.0 - p) / (2.0 * p) / np.sqrt(p / 2.0) / law.sigma  # of Laplace noise, less for normal
    assert np.abs(estimate.cdf(t) - at_half_a_step_up).max() <= steepest * moved
    assert np.abs(estimate.cdf(t) - at_half_a_step_up).max() <= 1e-3  # what is left where errors cancel
    assert np.abs(estimate.cdf(t + 0.4) - estimate.cdf(t)).max() == 0.0
    for k in (1, 2, 3):
        bound = np.mean(0.5 * k * (np.abs(z) + 0.5) ** (k - 1) * np.where(np.abs(z) == 1.0, 2.0, 1.0))
        assert abs(estimate.moment(k) - unrounded.moment(k)) <= bound / law.left(k)


# --- in files -------------------------------------------------------------------------------------------


def write(path, columns):
    if path.suffix == ".csv":
        pd.DataFrame(columns).to_csv(path, index=False)
    else:
        pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_is_masked_and_read_as_its_columns_are(tmp_path, suffix):
    rng = np.random.default_rng(18)
    columns = {
        "income": rng.choice(INCOMES, 3_000),
        "turnover": np.exp(rng.normal(3.0, 2.0, 3_000)).round(2) * rng.choice([-1.0, 0.0, 1.0], 3_000),
        "price": rng.choice(np.array(LAWS["cents"][1]), 3_000),
    }
    schemes = {
        "income": cm.ConditionalMasking(0.6, 250.0, decimals=0, heaps=100),
        "turnover": cm.ConditionalMasking(0.6, 0.3, noise="laplace", scale="log"),
        "price": cm.ConditionalMasking(0.6, 0.4, decimals=2, scale="log", step=0.1),
    }
    source, target = write(tmp_path / f"a.{suffix}", columns), tmp_path / f"b.{suffix}"

    cm.mask_file(source, target, schemes, rng=1, **ACCEPT)
    data, stamped = cm.mask_table(pd.DataFrame(columns), schemes, rng=1, **ACCEPT)

    read = {name: cm.read_release(target, name) for name in schemes}
    for name, estimate in read.items():
        assert_same_bits(cm.read_column(target, name), data[name].to_numpy())
        same = stamped[name].estimate(data[name])
        assert replace(estimate.scheme, group=None, records=None) == schemes[name]
        for q in (0.1, 0.5, 0.9):
            assert estimate.quantile(q) == same.quantile(q)
            assert estimate.cdf(estimate.quantile(q)) == same.cdf(same.quantile(q))
        assert estimate.moment(3) == same.moment(3)
        assert schemes[name].estimate(cm.read_column(target, name)).variance() == same.variance()
        summary = cm.read_summary(target, name)
        assert estimate.scheme.estimate(summary).moment(2) == same.moment(2)
    for name in ("income", "price"):
        together = (
            stamped[name].estimate(data[name]).covariance(stamped["turnover"].estimate(data["turnover"]))
        )
        assert read[name].covariance(read["turnover"]) == together


# --- the scheme -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"sigma": 3000.0, "decimals": 0, "heaps": 1000},
        {"sigma": 3000.0, "decimals": 0, "heaps": 1},
        {"sigma": 3.0, "decimals": 2, "heaps": 0.1, "noise": "laplace", "donors": "permutation"},
        {"sigma": 3.0, "decimals": -1, "heaps": 10, "strata": "region"},
        {"sigma": 500.0, "step": 12, "heaps": 120},
        {"sigma": 0.3, "scale": "log"},
        {"sigma": 0.3, "scale": "log", "step": 0.05, "decimals": 0, "noise": "laplace"},
        {"sigma": 0.3, "scale": "log", "decimals": -2, "strata": "region"},
        {"sigma": 0.3, "scale": "linear"},
    ],
)
def test_a_scheme_is_told_by_its_dictionary_and_its_repr(options):
    scheme = cm.ConditionalMasking(0.6, **options)

    assert cm.ConditionalMasking.from_dict(json.loads(json.dumps(scheme.to_dict()))) == scheme
    assert eval(repr(scheme), {"ConditionalMasking": cm.ConditionalMasking}) == scheme
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert replace(scheme) == scheme
    assert hash(replace(scheme)) == hash(scheme)
    assert ("heaps=" in repr(scheme)) == ("heaps" in options and scheme.law.heaps > 1)
    assert ("scale=" in repr(scheme)) == (options.get("scale") == "log")


def test_the_default_step_of_the_logarithm_is_the_power_of_two_below_a_thousandth():
    for sigma, step in ((0.3, 2.0**-12), (0.5, 2.0**-11), (1.1, 2.0**-10)):
        assert cm.ConditionalMasking(0.6, sigma, scale="log").step == step
        assert cm.ConditionalMasking(0.6, sigma, scale="log", decimals=0).step == step


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": 3000.0, "decimals": 0, "heaps": 500}, r"^heaps must be .*power of ten.* got 500"),
        ({"sigma": 3000.0, "decimals": 0, "heaps": 0.1}, r"^heaps must be .* got 0.1"),
        ({"sigma": 3000.0, "decimals": 0, "heaps": -10}, r"^heaps must be .* got -10"),
        ({"sigma": 3000.0, "step": 12, "heaps": 100}, r"^heaps must be .* got 100"),
        ({"sigma": 1900.0, "decimals": 0, "heaps": 1000}, r"^heaps must .*sigma.* got 1000 .*heaps=100$"),
        ({"sigma": 1999.9, "decimals": 0, "heaps": 10_000}, r"^heaps must .*sigma.* got 10000 .*heaps=100$"),
        ({"sigma": 0.3, "scale": "log", "heaps": 10}, r"^heaps .*log"),
        ({"sigma": 0.3, "scale": "log", "decimals": 0, "heaps": 10}, r"^heaps .*log"),
        ({"sigma": 0.3, "scale": "cubic"}, r"^scale must be one of 'linear', 'log', got 'cubic'$"),
    ],
)  # fmt: skip
def test_what_no_scheme_can_do_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cm.ConditionalMasking(0.6, **options)


def test_the_coarsest_step_may_be_half_of_sigma():
    assert cm.ConditionalMasking(0.6, 2000.0, decimals=0, heaps=1000).law.heaps == 1000
    assert cm.ConditionalMasking(0.6, 0.2, decimals=2, heaps=0.1).law.heaps == 10


@pytest.mark.parametrize(("sigma", "order"), [(0.5, 3), (0.75, 2), (1.5, 1), (np.sqrt(2.0), 1)])
def test_a_moment_that_does_not_exist_is_refused_by_name(sigma, order):
    scheme = cm.ConditionalMasking(0.6, float(sigma), noise="laplace", scale="log")
    estimate = scheme.estimate(masked(scheme, np.exp(np.random.default_rng(1).normal(size=200)), rng=1))

    with pytest.raises(ValueError, match=rf"order|moment.*{order}"):
        estimate.moment(order)
    if order == 1:
        for call in (estimate.mean, lambda: estimate.covariance(np.arange(200.0))):
            with pytest.raises(ValueError, match=r"sigma|exist"):
                call()
    if order <= 2:
        with pytest.raises(ValueError, match=r"sigma|exist"):
            estimate.variance()
    if order > 1:
        assert np.isfinite(estimate.moment(order - 1))
    assert np.isfinite(estimate.cdf(1.0))
    normal = cm.ConditionalMasking(0.6, float(sigma), scale="log")
    assert np.isfinite(normal.estimate(masked(normal, [1.0, 2.0, 3.0, 4.5], rng=1)).moment(order))
