"""What is released tells nothing of the coins: neither reverse mapping nor digits on the default
grid."""

import math
from bisect import bisect_left
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
import reference
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from releases import ALARM, NOISES, assert_same_bits, coins_of, generic
from scipy.stats import binomtest, chi2

import condmask as cm
from condmask._blocks import BLOCK
from condmask._randomness import Key, release_key
from condmask.masking import draws, reverse_mapping

pytestmark = pytest.mark.usefixtures("unaudited")

SCALES = ("linear", "log")


def scheme_of(p=0.6, sigma=500.0, **options):
    return cm.ReverseMapping(p, sigma, **options)


def reference_of(schemes, columns, seed, strata=None):
    """The release of columns by name; of a column alone, "" is its name."""
    entries = [(name, scheme.to_dict()) for name, scheme in schemes.items()]
    columns = [np.asarray(x) + 0.0 for x in columns]
    secret = reference.working_secret(seed, entries, columns, strata)
    laws = [(scheme.noise, scheme.sigma, scheme.scale) for scheme in schemes.values()]
    return reference.mapped_back(
        secret, next(iter(schemes.values())).p, columns, laws, strata=strata
    )


# --- the same bits as the reference ---


@settings(max_examples=40)
@given(
    x=strategies.columns(missing=True),
    p=st.floats(0.05, 0.95),
    sigma=st.floats(1e-3, 1e3),
    noise=st.sampled_from(NOISES),
    scale=st.sampled_from(SCALES),
    seed=strategies.SEEDS,
)
def test_masking_follows_the_draw_contract(x, p, sigma, noise, scale, seed):
    scheme = scheme_of(p, sigma, noise=noise, scale=scale)

    z = scheme.mask(x, rng=seed, nan_policy="omit")

    assert_same_bits(z, reference_of({"": scheme}, [x], seed)[0])


@pytest.mark.parametrize("scale", SCALES)
def test_masking_follows_the_draw_contract_over_blocks_of_rows_and_pools(monkeypatch, scale):
    monkeypatch.setattr(draws, "BLOCK", 64)
    monkeypatch.setattr(reference, "ROWS_PER_BLOCK", 64)
    scheme = scheme_of(0.4, 0.5, scale=scale, strata="region")
    x = np.round(generic(300, 1), -3)  # ties, and records that miss their value
    x[np.random.default_rng(2).random(x.size) < 0.1] = np.nan
    strata = np.random.default_rng(3).integers(0, 3, x.size)

    z = scheme.mask(x, rng=4, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of({"": scheme}, [x], 4, strata)[0])


def test_columns_of_a_table_share_coins_and_the_order_of_the_swapped_within_patterns_of_missing_values():
    x = generic(120, 5)
    y = np.round(generic(120, 6), -2)
    y[:30] = np.nan
    x[30:50] = np.nan
    schemes = {"x": scheme_of(sigma=5e3), "y": scheme_of(sigma=0.4, scale="log", noise="laplace")}

    data = cm.mask_table(pd.DataFrame({"x": x, "y": y}), schemes, rng=7, nan_policy="omit").data

    for name, z in zip(schemes, reference_of(schemes, [x, y], 7), strict=True):
        assert_same_bits(data[name].to_numpy(), z)


def test_ties_of_keys_are_broken_by_random_words_and_never_by_rows():
    # noise that is lost in the values leaves keys with ties
    scheme = scheme_of(0.5, 1e-9)
    x = np.repeat([1e9, 2e9, 3e9, 4e9], 10)
    pairs = np.append(1e9 + np.repeat(np.arange(20.0), 2) * 1e3, np.ones(9))

    assert_same_bits(scheme.mask(x, rng=8), reference_of({"": scheme}, [x], 8)[0])
    log = scheme_of(0.5, 1e3, scale="log", missing=None)  # keys of infinity and of zero
    assert_same_bits(log.mask(pairs, rng=9), reference_of({"": log}, [pairs], 9)[0])


def test_clustered_numbers_give_the_same_release():
    # numbers that the counting sort gives up, with an outlier far away
    scheme = scheme_of(0.5, 1e-4, missing=None)
    x = np.append(1e6 + 1e-3 * generic(400, 31) / 2e4, 1e300)
    expected = reference_of({"": scheme}, [x], 32)[0]
    assert_same_bits(scheme.mask(x, rng=32), expected)


# --- coins and release are independent ---


def put_in_order(x, coins, words, noise, ties, pool=None):
    """What is released where coins, words and noise are these."""
    z = x.copy()
    rows = np.arange(x.size, dtype=np.int32)
    swapped = rows[coins]
    kept = rows[~coins]
    donors = swapped[draws.in_order(np.array(words, dtype=np.uint64))]
    keys = x[kept] + np.array(noise[: kept.size], dtype=float)
    swapped, donors = (reverse_mapping.by_pool(part, pool) for part in (swapped, donors))
    reverse_mapping.give_back(z, kept, keys, lambda: np.array(ties, dtype=np.uint64), pool)
    z[swapped] = z[donors]
    return z


def orders(values):
    """All different arrangements of values, each in a row."""
    found = sorted(set(permutations(values)))
    return np.array(found, dtype=float).reshape(len(found), len(found[0]))


def every_release(files, coins, noise, ties, labels):
    """What is released of each file with each order of the words, of the noise and of the words of
    ties.

    All at once: each case is a group of its own, or as many as there are labels.
    """
    swapped = int(coins.sum())
    words = orders(range(swapped)).astype(np.uint64)
    parts = files, words, orders(noise[: coins.size - swapped]), ties
    case = np.indices([len(part) for part in parts]).reshape(4, -1)
    z, drawn, added, untied = (
        part[number].ravel() for part, number in zip(parts, case, strict=True)
    )
    pool = (
        np.add.outer((labels.max() + 1) * np.arange(case.shape[1]), labels)
        .ravel()
        .astype(np.int32)
    )
    z = put_in_order(z, np.tile(coins, case.shape[1]), drawn, added, untied, pool)
    return z.reshape(-1, coins.size)


ONE_GROUP = {5: [0] * 5, 6: [0] * 6}
ENUMERATED = {
    "five": ((1.0, 2.0, 4.0, 8.0, 16.0), (-7.1, 0.0, 2.2, 5.3, 9.4), ONE_GROUP[5]),
    "five with heaps": ((0.0, 0.0, 0.0, 3.0, 9.0), (-3.1, 0.0, 2.2, 5.3, 7.4), ONE_GROUP[5]),
    # whole numbers: the keys lie in few cells, and random words part those of a cell
    "few keys": ((0.0, 0.0, 1.0, 1.0, 2.0), (0, 1, 0, -1, 1), ONE_GROUP[5]),
    "one key for most": ((0.0, 0.0, 0.0, 0.0, 1.0), (0, 1, 0, 0, 0), ONE_GROUP[5]),
    "strata": ((1.0, 2.0, 4.0, 3.0, 9.0), (-7.1, 0.0, 2.2, 5.3, 9.4), [0, 1, 0, 0, 1]),
    "strata of six": (
        (1.0, 2.0, 4.0, 3.0, 9.0, 7.0),
        (-7.1, 0.0, 2.2, 5.3, 9.4, 1.3),
        [0, 1, 0, 0, 1, 1],
    ),
    "six": ((1.0, 2.0, 4.0, 8.0, 16.0, 32.0), (-7.1, 0.0, 2.2, 5.3, 9.4, 20.5), ONE_GROUP[6]),
}


@pytest.mark.parametrize("name", ENUMERATED)
def test_coins_and_release_are_exactly_independent(name):
    # given any coins, each arrangement of the values within the groups is the release equally
    # often
    values, noise, labels = ENUMERATED[name]
    labels = np.array(labels)
    n = len(values)
    own = [orders(np.array(values)[labels == label]) for label in range(labels.max() + 1)]
    files = np.empty((math.prod(map(len, own)), n))
    for label, (part, number) in enumerate(
        zip(own, np.indices([len(part) for part in own]).reshape(len(own), -1), strict=True)
    ):
        files[:, labels == label] = part[number]
    whole = all(float(each).is_integer() for each in noise)
    for coins in product([False, True], repeat=n):
        coins = np.array(coins)
        kept = n - int(coins.sum())
        if name == "six" and (
            kept not in (2, 3, 4) or coins[0] or not coins[-1]
        ):  # a second, not half a minute
            continue
        ties = orders(range(kept))[: None if whole else 1]

        z = every_release(files, coins, noise, ties, labels)

        found, times = np.unique(z @ 64.0 ** np.arange(n), return_counts=True)
        assert found.size == len(files)
        assert np.all(times == len(z) // len(files))


def longest_rising(values):
    """Rows of a longest rising subsequence."""
    ends = []
    rows = []
    before = []
    for row, value in enumerate(values):
        place = bisect_left(ends, value)
        before.append(rows[place - 1] if place else -1)
        ends[place : place + 1] = [value]
        rows[place : place + 1] = [row]
    found = [rows[-1]]
    while before[found[-1]] >= 0:
        found.append(before[found[-1]])
    return np.array(found)


@pytest.mark.parametrize("ordered", [False, True])
def test_kept_values_rise_only_where_the_rows_do(ordered):
    # an attacker who takes the longest rising run of released values for kept ones
    scheme = scheme_of(0.6, 20.0)
    swapped = 0
    size = 0
    for seed in range(30):
        x = np.random.default_rng(seed).lognormal(7.0, 0.6, 1_000)
        x = np.sort(x) if ordered else x
        key = Key(seed.to_bytes(16, "little"))
        rows = longest_rising(scheme.mask(x, rng=key))
        derived = release_key(key, {"": scheme}, [x + 0.0])
        swapped += np.isin(rows, draws.coins(derived, 0.6, 0, x.size)[0]).sum()
        size += rows.size

    # some 1,700 coins of .6 on rows that do not tell, by a binomial; else nearly all of them are
    # kept
    assert size > 1_500
    if ordered:
        assert swapped < 0.3 * size
    else:
        assert binomtest(int(swapped), size, 0.6).pvalue > ALARM


def test_a_released_value_does_not_tell_on_real_shapes_whether_its_record_was_swapped():
    # heaps, zeros and a long tail; every value's share of swapped records is p, by a chi-square
    rng = np.random.default_rng(10)
    x = np.where(rng.random(40_000) < 0.1, 0.0, np.round(rng.lognormal(7.0, 0.6, 40_000), -2))
    scheme = scheme_of(0.6, 500.0)
    key = Key(bytes(range(16)))

    z = scheme.mask(x, rng=key)

    derived = release_key(key, {"": scheme}, [x + 0.0])
    swapped = np.zeros(x.size, dtype=bool)
    swapped[draws.coins(derived, 0.6, 0, x.size)[0]] = True
    _, place, times = np.unique(z, return_inverse=True, return_counts=True)
    common = times >= 50  # for the normal approximation of a count
    hits = np.bincount(place, swapped)[common]
    statistic = np.sum((hits - 0.6 * times[common]) ** 2 / (0.24 * times[common]))
    assert common.sum() > 20
    assert statistic < chi2.ppf(1.0 - ALARM, common.sum())


# --- what is released ---


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("scale", SCALES)
def test_a_release_is_the_column_in_another_order_and_of_its_kind(dtype, scale):
    x = np.round(generic(400, 11) / 10.0).astype(dtype)

    z = scheme_of(0.6, 0.5 if scale == "log" else 300.0, scale=scale).mask(x, rng=12)

    assert z.dtype == dtype
    assert np.array_equal(np.sort(z), np.sort(x))
    assert (z != x).mean() > 0.5  # 60% are swapped


def test_codes_stay_in_their_places_and_go_to_nobody_else():
    x = generic(400, 15)
    x[::7] = -8.0

    z = scheme_of(missing=-8.0).mask(x, rng=16)
    nulls = scheme_of(missing=-8.0, missing_as="null").mask(pd.Series(x), rng=16)

    assert np.array_equal(z == -8.0, x == -8.0)
    assert np.array_equal(np.sort(z), np.sort(x))
    assert np.array_equal(nulls.isna(), x == -8.0)


def test_a_code_within_the_range_of_the_data_is_no_reason_to_refuse():
    # no released value can be one: all are originals, of which none is a code
    x = np.arange(200.0)

    assert 7.0 in scheme_of(sigma=50.0, missing=7.0).mask(x, rng=17)


def test_zeros_and_signs_stay_among_the_kept_on_the_log_scale():
    x = np.concatenate([np.zeros(100), generic(100, 20), -generic(100, 21)])
    scheme = scheme_of(1e-9, 2.0, scale="log")  # nobody is swapped

    z = scheme.mask(x, rng=22)

    assert np.array_equal(np.sign(z), np.sign(x))
    assert (z != x).any()


@pytest.mark.parametrize("scale", SCALES)
def test_the_ends_of_each_pool_are_released_as_their_means(scale):
    # the second has too few values for ten at its ends
    region = np.repeat([0, 1, 2], [200, 9, 10])
    x = np.round(generic(219, 33)) + 1e6 * region
    x[:7] = x[:200].max()  # more than five equal ones stay
    scheme = scheme_of(
        0.6, 0.5, scale=scale, strata="region", aggregate_ends=5, small_strata="merge"
    )

    z = [scheme.mask(x, rng=34, strata=region)]
    rows = scheme_of(0.6, 0.5, scale=scale, aggregate_ends=5).mask_rows(
        np.tile(x[:200], (3, 1)), stream(), ()
    )

    pools = [(z[0][:200], x[:200]), (z[0][200:], x[200:]), *((row, x[:200]) for row in rows)]
    for found, own in pools:
        expected = np.sort(own)
        expected[:5] = expected[:5].mean().round()
        if own.size < 200:
            expected[-5:] = expected[-5:].mean().round()
        assert np.array_equal(np.sort(found), expected)


def stream():
    return np.random.default_rng(35)


def test_rows_of_a_study_are_masked_one_by_one():
    x = np.arange(400.0) + 1_000.0 * np.arange(30)[:, None]

    z = scheme_of(0.4, 5.0).mask_rows(x, stream(), ())

    assert np.array_equal(np.sort(z, axis=1), x)
    # swapped records go anywhere, .4 of 12,000, and kept ones as far as noise of 5: none beyond
    # six sigma and the shifts that swapped ones bring
    far = np.abs(z - x) > 60.0
    # a random one of 400 is farther than 60 with the chance (340/400)^2; six standard errors
    assert abs(far.mean() - 0.4 * 0.85**2) < 6.0 * math.sqrt(0.2 / x.size)
    assert not np.array_equal(z[0] - x[0], z[1] - x[1])


# --- what the result does not depend on ---


@pytest.mark.parametrize("pooled", [False, True])
def test_the_release_has_the_same_bits_for_any_workers(pooled):
    n = BLOCK + 37
    scheme = scheme_of(sigma=5e3, strata="region" if pooled else None)
    strata = {"strata": np.random.default_rng(23).integers(0, 4, n)} if pooled else {}
    x = generic(n, 24)

    z = scheme.mask(x, rng=25, **strata)

    assert_same_bits(scheme.mask(x, rng=25, workers=3, **strata), z)


# --- the kept go far where noise is wide, and stay where it is not ---


def test_what_has_no_closed_form_is_refused_in_a_sentence():
    with pytest.raises(TypeError, match="has no closed form of its risk"):
        scheme_of().risk(generic(100, 30), 10.0)
    assert list(scheme_of().estimators) == ["T_1"]
    assert list(cm.ConditionalMasking(0.6, 500.0).estimators) == ["T_1", "T_b"]


N = 100_000
P = 0.6
SIGMA = 500.0
KEY = Key(bytes(range(16)))


def trailing_zero_bits(z):
    mantissa = (np.frexp(np.abs(z))[0] * 2.0**53).astype(np.int64)
    return np.log2(np.maximum(mantissa & -mantissa, 1)).astype(int)


# what an attacker may look at: whole numbers of few values
LOOKS = {
    "trailing bits": trailing_zero_bits,
    "float32": lambda z: (z == z.astype(np.float32)).astype(int),
    "15 digits": lambda z: np.array([float(f"{v:.15g}") == v for v in z.tolist()]).astype(int),
    "last digit": lambda z: np.array([ord(repr(v)[-1]) for v in z.tolist()]),
    "hundredths": lambda z: (np.abs(z * 100 - np.rint(z * 100)) < 1e-6).astype(int),
    "steps": lambda z: np.rint(z / 0.25).astype(np.int64) % 64,
}


def guessed(look, z, swapped):
    """The share of coins that a Bayes attacker guesses on the second half, after the first."""
    _, seen = np.unique(look(z), return_inverse=True)
    learn = slice(0, N // 2)
    test = slice(N // 2, N)
    votes = np.bincount(seen[learn], np.where(swapped[learn], 1.0, -1.0), seen.max() + 1)
    return np.mean((votes[seen[test]] >= 0.0) == swapped[test])


X = np.random.default_rng(1).lognormal(10.0, 0.5, N)
ONE_OFF = X.round(2)
ONE_OFF[17] += 0.00123456
DATA = {
    "15 significant digits": np.array([float(f"{v:.15g}") for v in X.tolist()]),
    "float32 held as float64": X.astype(np.float32).astype(float),
    "cents": X.round(2),
    "twentieths": np.round(X * 20) / 20,
    "one value off the grid": ONE_OFF,
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", DATA)
def test_neither_digits_nor_bits_show_the_coins(name, noise):
    x = DATA[name]
    found = {}
    for step in (None, 0):
        scheme = cm.ConditionalMasking(P, SIGMA, noise=noise, step=step)
        z = scheme.mask(x, rng=KEY)
        swapped = coins_of(scheme, x, KEY)
        assert abs(swapped.mean() - P) < 0.01  # six standard errors
        found[step] = {look: guessed(LOOKS[look], z, swapped) for look in LOOKS}

    assert max(found[None].values()) < 0.62, found[None]
    assert max(found[0].values()) > 0.9


@pytest.mark.parametrize("noise", NOISES)
def test_who_guesses_the_original_cannot_test_the_guess_by_the_noise_that_can_be_drawn(noise):
    scheme = cm.ConditionalMasking(P, SIGMA, noise=noise)
    z = scheme.mask(X, rng=KEY)
    swapped = coins_of(scheme, X, KEY)
    steps = (z - scheme.grid.values(scheme.grid.units(X))) / scheme.step

    # every whole number of steps can be drawn: Mironov's holes are within a step
    assert (steps == np.rint(steps)).all()
    near = np.abs(steps) < 500
    seen = np.unique(steps[near & ~swapped])
    # 999 numbers of steps, of chances above 2e-4 under either law, from 40,000 draws: one is
    # missed with e^-8 each, 50 or more of them never
    assert seen.size > 949
    assert guessed(lambda v: np.rint((v - X) / scheme.step).astype(int) % 16, z, swapped) < 0.62


def test_whole_numbers_show_under_a_binary_step_and_not_under_their_own():
    x = np.rint(X)
    # the step must be named: the default refuses
    leaks = cm.ConditionalMasking(P, 100.0, step=0.25)
    safe = cm.ConditionalMasking(P, 100.0, step=1)
    share = {}
    for scheme in (leaks, safe):
        z = scheme.mask(x, rng=KEY)
        share[scheme.step] = guessed(LOOKS["steps"], z, coins_of(scheme, x, KEY))

    assert share[0.25] > 0.85  # .6 + .4 * 3/4 = .9
    assert share[1.0] < 0.62
