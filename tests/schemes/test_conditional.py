"""Conditional masking of a column and of a table.

Oracles: tests/reference.py, which draws by the contract with loops and long integers (bits are
equal); the laws of eq. (1) by themselves; and the documentation's promises about what the result may
not depend on. A statistical test has a fixed key and raises a false alarm in at most one key of
10^6; beside it stands what a real fault would give.
"""

import json
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
import strategies
from columns import GAPS, GENERIC, WHOLE, ZOO, values_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare, kstest, laplace, norm, pearsonr

import condmask as cm
from condmask import frames
from condmask._blocks import BLOCK, ordered_map
from condmask._randomness import Key

pytestmark = pytest.mark.filterwarnings("ignore::condmask.schemes.conditional.ReleaseWarning")

NOISES = ("normal", "laplace")
DONORS = ("sample", "permutation")
SEVERAL_BLOCKS = 2 * BLOCK + 37
ALARM = 1e-6


def generic(n, seed=0):
    """Values without ties: a masked value tells its donor."""
    return np.random.default_rng(seed).lognormal(10.0, 0.5, n)


def reference_of(scheme, x, seed, strata=None):
    hashed = x if scheme.decimals is None else [reference.to_grid(v, scheme.decimals) for v in x.tolist()]
    secret = reference.working_secret(seed, [hashed])
    law = (scheme.noise, scheme.sigma, scheme.decimals)
    (z,) = reference.masked(secret, scheme.p, [x], [law], strata=strata, donors=scheme.donors)
    return z


def assert_same_bits(a, b):
    assert np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


# --- the same bits as the reference ---------------------------------------------------------------


@given(x=strategies.columns(), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_masking_follows_the_draw_contract(x, scheme, seed):
    assert_same_bits(scheme.mask(x, rng=seed), reference_of(scheme, x, seed))


@given(x=strategies.columns(missing=True), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_missing_values_stay_missing_and_give_nothing(x, scheme, seed):
    z = scheme.mask(x, rng=seed, nan_policy="omit")

    assert_same_bits(np.isnan(z), np.isnan(x))
    assert_same_bits(z, reference_of(scheme, x, seed))


@given(
    rounded=strategies.rounded_columns(),
    seed=strategies.SEEDS,
    data=st.data(),
)
def test_rounded_data_follow_the_draw_contract_in_steps_of_their_grid(rounded, seed, data):
    x, decimals = rounded
    scheme = data.draw(strategies.schemes(decimals=decimals))

    assert_same_bits(scheme.mask(x, rng=seed), reference_of(scheme, x, seed))


@given(
    strata=st.lists(st.sampled_from("abc"), min_size=0, max_size=20),
    scheme=strategies.schemes(),
    seed=strategies.SEEDS,
    missing=st.booleans(),
)
def test_strata_follow_the_draw_contract(strata, scheme, seed, missing):
    strata = [*"abc" * 14, *strata]
    x = generic(len(strata), 5)
    if missing:
        x[::7] = np.nan
    if missing and any(np.sum((np.array(strata) == s) & ~np.isnan(x)) < 10 for s in "abc"):
        return

    z = scheme.mask(x, rng=seed, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, seed, strata))


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("pooled", [False, True])
def test_masking_follows_the_draw_contract_over_several_blocks(donors, pooled):
    scheme = cm.ConditionalMasking(0.4, 500.0, donors=donors)
    x = generic(SEVERAL_BLOCKS, 6)
    strata = None
    if pooled:
        x[np.random.default_rng(7).random(x.size) < 0.1] = np.nan
        strata = np.random.default_rng(8).integers(0, 3, x.size)

    z = scheme.mask(x, rng=9, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, 9, strata))


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("missing", [False, True])
def test_joint_masking_follows_the_draw_contract(donors, missing):
    n = 600
    income, bonus = generic(n, 1), generic(n, 2).round(2)
    region = np.random.default_rng(3).choice(["north", "south"], n)
    if missing:
        income[np.random.default_rng(4).random(n) < 0.2] = np.nan
        bonus[np.random.default_rng(5).random(n) < 0.2] = np.nan
    schemes = {
        "income": cm.ConditionalMasking(0.6, 500.0, donors=donors),
        "bonus": cm.ConditionalMasking(0.6, 80.0, noise="laplace", decimals=2, donors=donors),
    }
    frame = pd.DataFrame({"income": income, "bonus": bonus, "region": region})

    data, stamped = cm.mask_table(frame, schemes, strata="region", rng=11, nan_policy="omit")

    hashed = [income, [reference.to_grid(v, 2) for v in bonus.tolist()]]
    secret = reference.working_secret(11, hashed)
    laws = [("normal", 500.0, None), ("laplace", 80.0, 2)]
    expected = reference.masked(secret, 0.6, [income, bonus], laws, strata=region, donors=donors)
    assert_same_bits(data["income"], expected[0])
    assert_same_bits(data["bonus"], expected[1])
    assert data["region"].tolist() == region.tolist()
    assert [replace(scheme, strata=None, group=None) for scheme in stamped.values()] == list(schemes.values())


# --- what the result does not depend on -----------------------------------------------------------

LARGE = generic(SEVERAL_BLOCKS, 21)
POOLED = {"strata": np.random.default_rng(22).integers(0, 4, SEVERAL_BLOCKS)}
CASES = [(donors, pools) for donors in DONORS for pools in ({}, POOLED)]


@pytest.mark.parametrize(("donors", "pools"), CASES)
@pytest.mark.parametrize("workers", [2, 5, map, lambda function, tasks: [function(task) for task in tasks]])
def test_workers_do_not_change_the_release(donors, pools, workers):
    scheme = cm.ConditionalMasking(0.6, 500.0, donors=donors)

    assert_same_bits(scheme.mask(LARGE, rng=1, workers=workers, **pools), scheme.mask(LARGE, rng=1, **pools))


def test_a_process_pool_gives_the_same_release():
    scheme = cm.ConditionalMasking(0.6, 500.0, donors="permutation")

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        z = scheme.mask(LARGE, rng=1, workers=pool.map, **POOLED)

    assert_same_bits(z, scheme.mask(LARGE, rng=1, **POOLED))


@pytest.mark.parametrize(("donors", "pools"), CASES)
@pytest.mark.parametrize("rng", [1, Key(bytes(16))], ids=["int", "Key"])
def test_a_range_of_rows_is_masked_as_in_the_whole(donors, pools, rng):
    scheme = cm.ConditionalMasking(0.6, 500.0, donors=donors)
    whole = scheme.mask(LARGE, rng=rng, **pools)

    n = SEVERAL_BLOCKS
    for start, stop in [
        (0, 1),
        (0, BLOCK),
        (BLOCK - 1, BLOCK + 1),
        (BLOCK, 2 * BLOCK),
        (7, n - 3),
        (n - 1, n),
    ]:
        part = scheme.mask(LARGE, rng=rng, rows=(start, stop), workers=2, **pools)
        assert_same_bits(part, whole[start:stop])


def test_threads_hand_results_over_in_order_and_stay_a_few_tasks_ahead():
    taken = []
    tasks = (taken.append(task) or task for task in range(1_000))

    results = ordered_map(abs, tasks, 3)

    assert next(results) == 0
    assert len(taken) == 7  # two a thread, and the one that replaces the first
    assert list(results) == list(range(1, 1_000))


def test_a_task_that_fails_ends_the_rest_in_its_turn():
    begun = []

    def fail(task):
        begun.append(task)
        if task in (5, 6, 9):
            raise ValueError(f"task {task}")
        return task

    for workers in (1, 2, 5):
        results = ordered_map(fail, range(1_000), workers)
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match=r"^task 5$"):
            next(results)
    assert max(begun) < 20


def test_masking_leaves_the_original_alone():
    x = generic(100)
    before = x.copy()

    cm.ConditionalMasking(0.5, 100.0).mask(x, rng=1)

    assert_same_bits(x, before)


# --- the law of eq. (1) ---------------------------------------------------------------------------


def split(x, z):
    """(swapped rows, their donors) of a column without ties, masked with continuous noise."""
    order = np.argsort(x)
    found = order[np.searchsorted(x[order], z).clip(max=x.size - 1)]
    swapped = np.flatnonzero(x[found] == z)
    return swapped, found[swapped]


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("p", [0.02, 0.6, 0.97])
def test_a_share_p_of_the_records_is_swapped(p, donors):
    n = 200_000
    x = generic(n)

    swapped, _ = split(x, cm.ConditionalMasking(p, 500.0, donors=donors).mask(x, rng=31))

    # p off by 0.01 would give 1e-19 at p = .6 and less at the ends
    assert binomtest(swapped.size, n, p).pvalue > ALARM


@pytest.mark.parametrize(
    ("noise", "law"), [("normal", norm(0, 500)), ("laplace", laplace(0, 500 / np.sqrt(2)))]
)
def test_the_noise_has_its_law_and_standard_deviation(noise, law):
    n = 100_000
    x = generic(n)
    z = cm.ConditionalMasking(0.4, 500.0, noise=noise).mask(x, rng=32)
    swapped, _ = split(x, z)

    drawn = np.delete(z - x, swapped)

    # 60,000 draws: sigma off by 5% gives 1e-11; Laplace with scale sigma, or the other law, 1e-200
    assert kstest(drawn, law.cdf).pvalue > ALARM
    # noise knows nothing of the value it hides: r of independent draws is beyond 0.02 with 1e-6
    assert pearsonr(drawn, np.delete(x, swapped)).pvalue > ALARM


@pytest.mark.parametrize("donors", DONORS)
def test_donors_are_uniform_and_never_the_record_itself(donors):
    n = 200_001
    x = generic(n)
    swapped, taken = split(x, cm.ConditionalMasking(0.6, 500.0, donors=donors).mask(x, rng=33))

    ahead = (taken - swapped) % n

    # a donor drawn from the block only would leave bins empty: p-value 0
    assert (taken != swapped).all()
    assert chisquare(np.bincount((ahead - 1) * 100 // (n - 1), minlength=100)).pvalue > ALARM
    assert chisquare(np.bincount(taken * 100 // n, minlength=100)).pvalue > ALARM


@pytest.mark.parametrize("donors", DONORS)
def test_every_masked_value_has_the_law_of_eq_1(donors):
    n, p, releases = 4, 0.6, 8_000
    x = generic(n)
    scheme = cm.ConditionalMasking(p, 500.0, donors=donors)

    z = np.array([scheme.mask(x, rng=seed) for seed in range(releases)])

    for row in range(n):
        counts = np.array([np.sum(z[:, row] == value) for value in x])
        assert counts[row] == 0  # never its own value
        expected = releases * np.array([1 - p, *[p / (n - 1)] * (n - 1)])
        # a donor among all n records gives its own value 1,200 times, a cycle of one row 300 times;
        # three donors in shares 2 : 1 : 1, p-value 1e-120
        observed = np.array([releases - counts.sum(), *np.delete(counts, row)])
        assert chisquare(observed, expected).pvalue > ALARM


def test_strata_keep_donors_inside_and_uniform():
    strata = np.random.default_rng(41).permutation(np.repeat(np.arange(2_000), 10))
    x = generic(strata.size)
    z = cm.ConditionalMasking(0.6, 500.0).mask(x, rng=42, strata=strata)
    swapped, taken = split(x, z)

    rank = np.empty(strata.size, dtype=int)
    rank[np.argsort(strata, kind="stable")] = np.tile(np.arange(10), 2_000)
    ahead = (rank[taken] - rank[swapped]) % 10

    assert_same_bits(strata[taken], strata[swapped])
    assert (ahead != 0).all()
    # 12,000 donors over 9 places: a place given twice as often, p-value 1e-200
    assert chisquare(np.bincount(ahead, minlength=10)[1:]).pvalue > ALARM


@pytest.mark.parametrize(
    "label",
    [
        lambda s: s,
        lambda s: [f"region {k}" for k in s],
        lambda s: pd.Series([f"region {k}" for k in s], dtype="category"),
        lambda s: pl.Series([f"region {k}" for k in s]),
        lambda s: pa.chunked_array([[f"region {k}" for k in s]]).dictionary_encode(),
        lambda s: np.where(s == 0, np.nan, s),
        lambda s: pl.Series([None if k == 0 else f"region {k}" for k in s]),
    ],
    ids=["int", "list", "pandas category", "polars", "pyarrow dictionary", "nan", "null"],
)
def test_strata_are_the_same_under_any_label(label):
    strata = np.random.default_rng(43).integers(0, 3, 90)
    x = generic(90)
    scheme = cm.ConditionalMasking(0.6, 500.0)

    assert_same_bits(scheme.mask(x, rng=1, strata=label(strata)), scheme.mask(x, rng=1, strata=strata))


# --- permutation donors ---------------------------------------------------------------------------


@pytest.mark.parametrize("pools", [{}, POOLED], ids=["one pool", "strata"])
def test_permutation_donors_pass_every_swapped_value_along_one_cycle(pools):
    x = LARGE
    z = cm.ConditionalMasking(0.3, 500.0, donors="permutation").mask(x, rng=51, **pools)
    swapped, taken = split(x, z)

    assert np.array_equal(np.sort(taken), swapped)  # every swapped value exactly once
    following = dict(zip(swapped.tolist(), taken.tolist(), strict=True))
    for stratum in np.unique(pools.get("strata", [0])):
        members = [row for row in following if not pools or POOLED["strata"][row] == stratum]
        row, steps = following[members[0]], 1
        while row != members[0]:
            row, steps = following[row], steps + 1
        assert steps == len(members)


def test_the_cycle_crosses_blocks_at_random():
    swapped, taken = split(LARGE, cm.ConditionalMasking(0.3, 500.0, donors="permutation").mask(LARGE, rng=52))

    # the last 37 rows aside, half of the donors come from the other block; a cycle within blocks gives none
    crossed = int(np.sum(swapped // BLOCK != taken // BLOCK))
    assert abs(crossed / swapped.size - 0.5) < 0.02  # standard error 0.0025 or less: 8 of them


def test_a_lone_swapped_row_takes_another_value():
    x = generic(12)
    scheme = cm.ConditionalMasking(0.05, 500.0, donors="permutation")
    seen = 0
    for seed in range(400):
        z = scheme.mask(x, rng=seed)
        swapped, taken = split(x, z)
        assert (taken != swapped).all()
        if swapped.size == 1:
            seen += 1
            assert_same_bits(z, replace(scheme, donors="sample").mask(x, rng=seed))
    assert seen > 80  # 137 expected


# --- several columns ------------------------------------------------------------------------------


def test_columns_masked_together_share_coins_and_donors_and_no_noise():
    n = 60_000
    a, b = generic(n, 61), generic(n, 62)
    frame = pd.DataFrame({"a": a, "b": b})
    scheme = cm.ConditionalMasking(0.4, 500.0)

    data, _ = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=63)
    za, zb = data["a"].to_numpy(), data["b"].to_numpy()
    swapped, taken = split(a, za)
    also_swapped, also_taken = split(b, zb)

    assert_same_bits(swapped, also_swapped)
    assert_same_bits(taken, also_taken)
    kept = np.setdiff1d(np.arange(n), swapped)
    # shared noise has r = 1; two lanes that overlap by an offset, |r| small but equal words (test_randomness)
    assert pearsonr((za - a)[kept], (zb - b)[kept]).pvalue > ALARM


def test_the_schemes_of_a_table_carry_one_random_group_and_the_strata():
    frame = pd.DataFrame({"a": generic(40), "b": generic(40, 1), "region": list("xy") * 20})
    scheme = cm.ConditionalMasking(0.4, 500.0)

    _, first = cm.mask_table(frame, {"a": scheme, "b": scheme}, strata="region", rng=1)
    _, second = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=1)

    groups = {scheme.group for scheme in (*first.values(), *second.values())}
    assert first["a"].group == first["b"].group
    assert len(groups) == 2  # a second release is another group, even under the same seed
    assert {scheme.strata for scheme in first.values()} == {"region"}
    assert {scheme.strata for scheme in second.values()} == {None}


@pytest.mark.parametrize("columns", [2, 70], ids=["two", "more than an int64 has bits"])
def test_a_donor_has_what_the_record_has(columns):
    n = 400
    x = np.random.default_rng(64).normal(size=(n, columns))
    x[:100, -1] = np.nan
    x[100:200, 0] = np.nan
    x[200:220] = np.nan
    frame = pl.DataFrame({f"c{k}": x[:, k] for k in range(columns)})
    scheme = cm.ConditionalMasking(0.9, 1.0)

    data, _ = cm.mask_table(frame, dict.fromkeys(frame.columns, scheme), rng=65, nan_policy="omit")

    assert_same_bits(np.isnan(data.to_numpy()), np.isnan(x))


def test_records_that_miss_everything_do_not_make_the_others_a_stratum():
    frame = pd.DataFrame({"a": [*GENERIC[:5], np.nan], "b": [*GENERIC[5:], np.nan]})
    scheme = cm.ConditionalMasking(0.5, 1.0)

    data, _ = cm.mask_table(frame, {"a": scheme, "b": scheme}, rng=1, nan_policy="omit")

    assert np.isnan(data.to_numpy()).tolist() == [[False, False]] * 5 + [[True, True]]


# --- rounded data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("steps", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("decimals", [-2, 0, 3])
def test_rounded_noise_takes_each_step_with_its_exact_probability(noise, steps, decimals):
    n, delta = 60_000, 10.0**-decimals
    law = norm(0, steps) if noise == "normal" else laplace(0, steps / np.sqrt(2))
    x = np.round(np.random.default_rng(71).integers(-5_000, 5_000, n) * delta, decimals)
    z = cm.ConditionalMasking(0.5, steps * delta, noise=noise, decimals=decimals).mask(x, rng=72)
    # noise can be as large as another record's value is far, so the reference says who was kept
    secret = reference.working_secret(72, [[reference.to_grid(v, decimals) for v in x.tolist()]])
    kept = np.setdiff1d(np.arange(n), reference.swapped_rows(secret, 0.5, n))
    drawn = np.rint((z - x)[kept] / delta)

    reach = max(1, int(law.isf(0.002)))  # 40 or more are expected in each tail
    edges = np.arange(-reach, reach + 1) + 0.5
    counts = np.histogram(drawn, np.concatenate(([-np.inf], edges, [np.inf])))[0]
    probability = np.diff(np.concatenate(([0.0], law.cdf(edges), [1.0])))
    # truncation in place of rounding: p-value 1e-80 at 20 steps, 0 below
    assert chisquare(counts, kept.size * probability).pvalue > ALARM


@given(rounded=strategies.rounded_columns(), seed=strategies.SEEDS, data=st.data())
def test_a_masked_value_never_shows_by_its_digits_whether_it_was_swapped(rounded, seed, data):
    x, decimals = rounded
    scheme = replace(data.draw(strategies.schemes(decimals=decimals)), sigma=20.0 * 10.0**-decimals)

    z = scheme.mask(x, rng=seed)

    # each is the float nearest to its decimal; and there is no -0.0, which only a swap could bring
    assert z.tolist() == [float(f"{v:.{max(decimals, 0)}f}") for v in z]
    assert not np.signbit(z[z == 0.0]).any()


def test_a_negative_zero_is_masked_as_zero():
    x = np.array([-0.0, 0.0, 1.0, -2.0] * 5)

    z = cm.ConditionalMasking(0.9, 1.0, decimals=0).mask(x, rng=1)

    assert (z == 0.0).any()
    assert not np.signbit(z[z == 0.0]).any()


def test_float32_data_lie_on_their_grid_and_stay_float32():
    x = np.array([0.1, 0.2, 12.7, 1000.3] * 5, dtype=np.float32)

    z = cm.ConditionalMasking(0.5, 1.0, decimals=1).mask(x, rng=1)

    assert z.dtype == np.float32
    assert z.tolist() == [float(np.float32(f"{v:.1f}")) for v in z.tolist()]


@pytest.mark.parametrize(
    ("x", "places"),
    [
        (WHOLE, 0),
        (GENERIC.round(2), 2),
        (GENERIC.round(4), 4),
        (GENERIC.round(2).astype(np.float32), 2),
        (np.where(np.isnan(GAPS), np.nan, GENERIC.round(1)), 1),
    ],
    ids=["integers", "cents", "four places", "float32", "gaps"],
)
def test_data_that_are_visibly_rounded_bring_a_warning(x, places):
    scheme = cm.ConditionalMasking(0.5, 1.0)

    with pytest.warns(cm.ReleaseWarning, match=f"pass decimals={places}$") as caught:
        scheme.mask(x, rng=1, nan_policy="omit")

    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "x",
    [GENERIC, np.append(GENERIC.round(1), 1e17), np.array([1e307, 0.5, 0.25])],
    ids=["generic", "beyond 2^53 every float is whole", "10^4 times the largest overflows"],
)
def test_data_that_are_not_bring_none(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = cm.ConditionalMasking(0.5, 1.0).mask(x, rng=1)

    assert z.shape == x.shape


# --- containers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZOO)
def test_the_same_container_comes_back(name):
    x = ZOO[name].make()

    z = cm.ConditionalMasking(0.5, 1.0).mask(x, rng=1, nan_policy="omit")

    assert type(z) is (np.ndarray if isinstance(x, (list, tuple)) else type(x))
    assert len(z) == len(x)
    assert np.isnan(values_of(z)).tolist() == np.isnan(ZOO[name].values).tolist()


def test_a_pandas_series_keeps_its_index_and_name():
    x = ZOO["pandas"].make()

    z = cm.ConditionalMasking(0.5, 1.0).mask(x, rng=1)

    assert z.index.equals(x.index)
    assert z.name == "income"


def test_polars_and_pyarrow_keep_null_apart_from_nan():
    x = pl.Series("income", [1.5, None, float("nan"), 2.25, 0.125])
    scheme = cm.ConditionalMasking(0.5, 1.0)

    z = scheme.mask(x, rng=1, nan_policy="omit")
    arrow = scheme.mask(x.to_arrow(), rng=1, nan_policy="omit")

    assert z.name == "income"
    assert z.is_null().to_list() == [False, True, False, False, False]
    assert z.is_nan().to_list() == [False, None, True, False, False]
    assert arrow.is_null().to_pylist() == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("x", "decimals", "dtype"),
    [
        (WHOLE.astype(np.int32), 0, "int64"),
        (WHOLE * 100, -2, "int64"),
        (WHOLE, 1, "float64"),
        (WHOLE, None, "float64"),
        (GENERIC.astype(np.float32), None, "float32"),
        (GENERIC, None, "float64"),
        (GENERIC.round(0), 0, "float64"),
    ],
)
def test_the_dtype_follows_the_original_where_it_can(x, decimals, dtype):
    assert cm.ConditionalMasking(0.5, 30.0, decimals=decimals).mask(x, rng=1).dtype == dtype


def test_integers_whose_noise_leaves_the_integers_become_floats():
    z = cm.ConditionalMasking(0.5, 1e300, decimals=0).mask(WHOLE, rng=1)

    assert z.dtype == np.float64  # a cast would wrap around to -2^63
    assert np.abs(z).max() > 1e299


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_comes_back_in_its_container_with_other_columns_as_they_were(make):
    columns = {"name": list("abcdefghij"), "income": GENERIC, "whole": WHOLE}
    frame = make(columns)
    scheme = cm.ConditionalMasking(0.5, 3.0)

    data, _ = cm.mask_table(frame, {"whole": replace(scheme, decimals=0), "income": scheme}, rng=1)

    assert type(data) is type(frame)
    assert list(data.columns if make is not pa.table else data.column_names) == list(columns)
    assert frames.labels(data["name"]).tolist() == columns["name"]
    assert values_of(data["whole"]).tolist() != WHOLE.tolist()
    assert values_of(frame["whole"]).tolist() == WHOLE.tolist()
    assert frames.labels(data["whole"]).dtype == np.int64


# --- the scheme -----------------------------------------------------------------------------------


def test_a_scheme_is_frozen_and_equal_to_its_copies():
    scheme = cm.ConditionalMasking(
        0.6, 8_000, noise="laplace", donors="permutation", decimals=2, strata="s", group="g"
    )

    with pytest.raises(AttributeError):
        scheme.p = 0.1
    assert cm.ConditionalMasking.from_dict(scheme.to_dict()) == scheme
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert eval(repr(scheme), {"ConditionalMasking": cm.ConditionalMasking}) == scheme
    assert repr(cm.ConditionalMasking(0.6, 8_000)) == "ConditionalMasking(p=0.6, sigma=8000.0)"


def test_a_scheme_describes_itself_in_json():
    scheme = cm.ConditionalMasking(np.float64(0.6), np.float32(0.1), decimals=np.int8(2))

    assert cm.ConditionalMasking.from_dict(json.loads(json.dumps(scheme.to_dict()))) == scheme
