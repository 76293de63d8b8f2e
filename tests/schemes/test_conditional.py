"""Conditional masking of a column: grids and digits, the scheme as it is published, permutation donors."""

import re
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import reference
import strategies
from hypothesis import given
from hypothesis import strategies as st
from releases import ALARM, NOISES
from scipy.stats import chisquare, laplace, norm

import condmask as cm
from condmask import draws
from condmask._randomness import Key
from condmask.strata import make_pools

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize(
    ("noise", "steps", "decimals"),
    [("normal", 0.5, -2), ("normal", 20.0, 3), ("laplace", 0.5, 0), ("laplace", 2.0, -2)],
)
def test_rounded_noise_takes_each_step_with_its_exact_probability(noise, steps, decimals):
    n, delta = 20_000, 10.0**-decimals
    law = norm(0, steps) if noise == "normal" else laplace(0, steps / np.sqrt(2))
    x = np.round(np.random.default_rng(71).integers(-5_000, 5_000, n) * delta, decimals)
    scheme = cm.ConditionalMasking(0.5, steps * delta, noise=noise, decimals=decimals)
    z = scheme.mask(x, rng=72)
    # noise can be as large as another record's value is far, so the reference says who was kept
    units = [reference.to_steps(v, Fraction(10) ** -decimals) for v in x.tolist()]
    secret = reference.working_secret(72, [("", scheme.to_dict())], [units])
    kept = np.setdiff1d(np.arange(n), reference.swapped_rows(secret, 0.5, n))
    drawn = np.rint((z - x)[kept] / delta)

    reach = max(1, int(law.isf(0.005)))  # 50 are expected in each tail
    edges = np.arange(-reach, reach + 1) + 0.5
    counts = np.histogram(drawn, np.concatenate(([-np.inf], edges, [np.inf])))[0]
    probability = np.diff(np.concatenate(([0.0], law.cdf(edges), [1.0])))
    # truncation in place of rounding: p-value 1e-25 at 20 steps, 0 below
    assert chisquare(counts, kept.size * probability).pvalue > ALARM


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@given(rounded=strategies.rounded_columns(), seed=strategies.SEEDS, data=st.data())
def test_a_masked_value_never_shows_by_its_digits_whether_it_was_swapped(rounded, seed, data):
    x, decimals = rounded
    scheme = replace(data.draw(strategies.schemes(decimals=decimals)), sigma=20.0 * 10.0**-decimals)

    z = scheme.mask(x, rng=seed)

    # each is the float nearest to its decimal; and there is no -0.0, which only a swap could bring
    assert z.tolist() == [float(f"{v:.{max(decimals, 0)}f}") for v in z]
    assert not np.signbit(z[z == 0.0]).any()


def test_float32_data_lie_on_their_grid_and_stay_float32():
    x = np.array([0.1, 0.2, 12.7, 1000.3] * 5, dtype=np.float32)

    z = cm.ConditionalMasking(0.5, 1.0, decimals=1).mask(x, rng=1)

    assert z.dtype == np.float32
    assert z.tolist() == [float(np.float32(f"{v:.1f}")) for v in z.tolist()]


HOSTILE = st.one_of(
    st.floats(-(2.0**1022), 2.0**1022),
    st.sampled_from([0.0, -0.0, -1e-300, 5e-324, -5e-324, 2.0**1022, 1e16]),
)


@given(
    x=st.lists(HOSTILE, min_size=2, max_size=12).map(np.array),
    sigma=st.one_of(st.floats(1e-290, 1e300), st.just(1e300)),
    data=st.data(),
)
def test_neither_a_negative_zero_nor_an_infinity_is_ever_released(x, sigma, data):
    step = data.draw(st.sampled_from([None, 0.0, sigma / 3]))
    noise = data.draw(st.sampled_from(NOISES))
    schemes = [
        cm.AdditiveNoise(sigma, noise=noise), cm.DataSwapping(), cm.RankSwapping(50.0),
        cm.ConditionalMasking(0.5, sigma, noise=noise, step=step if step is None or step > 1e-290 else 0.0),
    ]  # fmt: skip
    for scheme in schemes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cm.ReleaseWarning)
            try:
                z = scheme.mask(x, rng=1)
            except ValueError as error:
                if "x must" not in str(error) and "x holds" not in str(error):
                    raise
                continue
        assert np.isfinite(z).all()
        assert not np.signbit(z[z == 0.0]).any()


def test_integers_are_masked_exactly_up_to_2_to_53():
    x = 2**53 - 10**5 - np.arange(0, 2_001, 2) - 1  # odd
    z = cm.ConditionalMasking(0.5, 100.0, decimals=0).mask(x, rng=1)

    # a half that is lost from 2^52 on leaves swapped values even and shows them
    assert z.dtype == np.int64
    # .5 and half of the kept ones: six standard errors of 1,001 are .08
    assert (z % 2).mean() == pytest.approx(0.75, abs=0.08)


@pytest.mark.parametrize(
    "x", [np.array([1e13, 1.5]), np.float32([2e4, 1.5])], ids=["2^53", "2^24 of float32"]
)
def test_values_too_far_out_for_the_default_step_are_refused_with_the_step_that_serves(x):
    x = np.append(x, np.random.default_rng(1).normal(size=20).astype(x.dtype))
    scheme = cm.ConditionalMasking(0.5, 1.0)

    with pytest.raises(ValueError, match=r"pass step=\S+ and round=True$") as caught:
        scheme.mask(x, rng=1)
    step = float(re.search(r"pass step=(\S+) ", str(caught.value))[1])
    with pytest.warns(cm.ReleaseWarning, match="was rounded to multiples of"):
        assert cm.ConditionalMasking(0.5, 1.0, step=step).mask(x, rng=1, round=True).dtype == x.dtype


@pytest.mark.parametrize("mapped", [{"step": 1.0}, {"reverse_mapping": True}])
def test_a_stated_range_gives_no_record_another_noise(mapped):
    x = np.rint(np.random.default_rng(2).normal(500.0, 50.0, 600))
    one, other = (cm.ConditionalMasking(0.6, 20.0, range=stated, **mapped) for stated in (None, (0.0, None)))

    assert one.key_entries() == other.key_entries()
    assert np.array_equal(one.mask(x, rng=3), other.mask(x, rng=3))


SECRET = bytes(range(16))
N = 65_536 + 4_000


@pytest.mark.parametrize(
    ("p", "strata", "missing"),
    [
        (0.6, 1, 0.0),
        (0.6, 20, 0.3),
        (0.0004, 1, 0.3),
        (0.0004, 3_000, 0.0),
    ],  # 28 rows, many alone in their pool
)
def test_donors_follow_the_draw_contract(p, strata, missing):
    rng = np.random.default_rng(1)
    labels, there = rng.permutation(np.arange(N) % strata), rng.random(N) >= missing
    pools = None if strata == 1 and not missing else make_pools(labels, there)

    tossed = draws.toss(Key(SECRET), p, N, 1)
    words = draws.words_of_swapped(Key(SECRET), tossed)
    donors = draws.donors_of(words, tossed.swapped, N, pools, cycle=True)

    x = np.where(there, 0.0, np.nan)
    chosen = reference.donor_rows(SECRET, p, [x], None if strata == 1 else labels, "permutation")
    assert donors.tolist() == [-1 if donor is None else donor for _, donor in sorted(chosen.items())]
    first, _ = draws.coins(Key(SECRET), p, 0, 65_536)
    assert tossed.swapped_before.tolist() == [0, first.size, donors.size]


def test_words_too_much_alike_take_the_slow_way_to_the_same_cycle():
    def alike(count):
        return np.arange(count, dtype=np.uint64)[::-1] // np.uint64(3)

    sides = [draws.coins(Key(SECRET), 0.5, block, size) for block, size in enumerate([65_536, N - 65_536])]

    swapped = np.concatenate([sides[0][0], sides[1][0] + 65_536])
    words = np.concatenate([alike(part.size) for part, _ in sides])

    donors = draws.donors_of(words, swapped, N, None, cycle=True)

    order = np.lexsort((swapped, words))
    expected = np.empty_like(donors)
    expected[order] = swapped[np.roll(order, -1)]
    assert np.array_equal(donors, expected)
