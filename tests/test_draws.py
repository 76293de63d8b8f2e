"""The draws of a release: coins, donors and noise.

Oracles: tests/reference.py, which draws by the contract with loops and long integers (bits are
equal); the laws of eq. (1) by themselves; and the documentation's promises about what the result may
not depend on.
"""

import inspect

import numpy as np
import pytest
import reference
import strategies
from hypothesis import given
from hypothesis import strategies as st
from releases import ALARM, DONORS, assert_same_bits, generic, masked, reference_of, split
from scipy.stats import binomtest, chisquare, kstest, laplace, norm, pearsonr

import condmask as cm
from condmask import draws
from condmask._blocks import BLOCK
from condmask._randomness import Key

pytestmark = pytest.mark.usefixtures("unaudited")

SEVERAL_BLOCKS = 2 * BLOCK + 37


# --- the same bits as the reference ---


@given(x=strategies.columns(), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_masking_follows_the_draw_contract(x, scheme, seed):
    assert_same_bits(masked(scheme, x, rng=seed), reference_of(scheme, x, seed))


@given(x=strategies.columns(missing=True), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_missing_values_stay_missing_and_give_nothing(x, scheme, seed):
    z = masked(scheme, x, rng=seed, nan_policy="omit")

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


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("pooled", [False, True])
def test_masking_follows_the_draw_contract_over_several_blocks(donors, pooled, monkeypatch):
    monkeypatch.setattr(draws, "BLOCK", 64)
    monkeypatch.setattr(reference, "ROWS_PER_BLOCK", 64)
    step, named = (None, "region") if pooled else (0, None)
    scheme = cm.ConditionalMasking(0.4, 500.0, donors=donors, step=step, strata=named)
    x, strata = generic(300, 6), None
    if pooled:
        x[np.random.default_rng(7).random(x.size) < 0.1] = np.nan
        strata = np.random.default_rng(8).integers(0, 3, x.size)

    z = scheme.mask(x, rng=9, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, 9, strata))


# --- what the result does not depend on ---

LARGE = generic(SEVERAL_BLOCKS, 21)
POOLED = {"strata": np.random.default_rng(22).integers(0, 4, SEVERAL_BLOCKS)}
CASES = [(donors, pools) for donors in DONORS for pools in ({}, POOLED)]


def scheme_of(donors, pools, p=0.6, **options):
    return cm.ConditionalMasking(p, 500.0, donors=donors, strata="region" if pools else None, **options)


@pytest.mark.parametrize(("donors", "pools"), CASES)
def test_workers_do_not_change_the_release(donors, pools):
    scheme, key = scheme_of(donors, pools), Key(bytes(16))
    whole = scheme.mask(LARGE, rng=key, **pools)

    assert_same_bits(scheme.mask(LARGE, rng=key, workers=5, **pools), whole)


def test_one_thread_works_where_no_more_are_asked_for():
    for call in (cm.ConditionalMasking.mask, cm.ConditionalMasking.estimate, cm.AdditiveNoise.estimate):
        assert inspect.signature(call).parameters["workers"].default == 1


# --- the law of eq. (1) ---


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("p", [0.02, 0.6, 0.97])
def test_a_share_p_of_the_records_is_swapped(p, donors):
    n = 200_000
    x = generic(n)

    swapped, _ = split(x, cm.ConditionalMasking(p, 500.0, donors=donors, step=0).mask(x, rng=31))

    # p off by 0.01 would give 1e-19 at p = .6 and less at the ends
    assert binomtest(swapped.size, n, p).pvalue > ALARM


@pytest.mark.parametrize(
    ("noise", "law"), [("normal", norm(0, 500)), ("laplace", laplace(0, 500 / np.sqrt(2)))]
)
def test_the_noise_has_its_law_and_standard_deviation(noise, law):
    n = 100_000
    x = generic(n)
    z = cm.ConditionalMasking(0.4, 500.0, noise=noise, step=0).mask(x, rng=32)
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
    swapped, taken = split(x, cm.ConditionalMasking(0.6, 500.0, donors=donors, step=0).mask(x, rng=33))

    ahead = (taken - swapped) % n

    # a donor drawn from the block only would leave bins empty: p-value 0
    assert (taken != swapped).all()
    assert chisquare(np.bincount((ahead - 1) * 100 // (n - 1), minlength=100)).pvalue > ALARM
    assert chisquare(np.bincount(taken * 100 // n, minlength=100)).pvalue > ALARM


@pytest.mark.parametrize("donors", DONORS)
def test_every_masked_value_has_the_law_of_eq_1(donors):
    n, p, releases = 4, 0.6, 1_000
    x = generic(n)
    scheme = cm.ConditionalMasking(p, 500.0, donors=donors, step=0)

    z = np.array([scheme.mask(x, rng=seed) for seed in range(releases)])

    for row in range(n):
        counts = np.array([np.sum(z[:, row] == value) for value in x])
        assert counts[row] == 0  # never its own value
        expected = releases * np.array([1 - p, *[p / (n - 1)] * (n - 1)])
        # a donor among all n records gives its own value 150 times, a cycle of one row 37 times;
        # three donors in shares 2 : 1 : 1, p-value 1e-15
        observed = np.array([releases - counts.sum(), *np.delete(counts, row)])
        assert chisquare(observed, expected).pvalue > ALARM


# --- rows of a study ---


@pytest.mark.parametrize("donors", ["sample", "permutation"])
@pytest.mark.parametrize("shape", [(20, 2_000), (4_000, 5)])  # of five, often two are swapped, or one
def test_rows_are_masked_by_eq_1(donors, shape):
    scheme = cm.ConditionalMasking(0.4, 50.0, donors=donors, step=0)
    x = np.random.default_rng(31).normal(0, 1e4, shape)

    z = scheme.mask_rows(x, np.random.default_rng(1), ())

    swapped = np.array([np.isin(a, b) for a, b in zip(z, x, strict=True)])
    # six standard errors of a coin of .4 thrown 40,000 times
    assert abs(swapped.mean() - 0.4) < 6 * np.sqrt(0.24 / x.size)
    assert abs((z - x)[~swapped].std() - 50.0) < 6 * 50.0 / np.sqrt(2 * (~swapped).sum())
    assert not (z == x)[swapped].any()
    if donors == "sample":  # some take one value
        others = shape[1] - 1
        assert np.unique(z).size / z.size == pytest.approx(1.6 - (1.0 - 0.4 / others) ** others, rel=0.01)
    else:
        for a, b, chosen in zip(z, x, swapped & (swapped.sum(axis=1, keepdims=True) > 1), strict=True):
            assert np.array_equal(np.sort(a[chosen]), np.sort(b[chosen]))


@pytest.mark.parametrize("options", [{}, {"donors": "permutation"}, {"reverse_mapping": True}])
def test_rows_are_masked_alike_in_any_order_of_memory(options):
    scheme = cm.ConditionalMasking(0.6, 1.0, **options)
    x = np.random.default_rng(3).normal(size=(3, 200))
    columns_first = np.asfortranarray(x)

    found = [scheme.mask_rows(each, np.random.default_rng(4), ()) for each in (x, columns_first)]

    assert_same_bits(*found)
