"""Conditional masking of a column: grids and digits, and the scheme as it is published."""

import json
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import reference
import strategies
from columns import GAPS, GENERIC, WHOLE
from hypothesis import given
from hypothesis import strategies as st
from releases import ALARM, NOISES
from scipy.stats import chisquare, laplace, norm

import condmask as cm


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("steps", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("decimals", [-2, 0, 3])
def test_rounded_noise_takes_each_step_with_its_exact_probability(noise, steps, decimals):
    n, delta = 60_000, 10.0**-decimals
    law = norm(0, steps) if noise == "normal" else laplace(0, steps / np.sqrt(2))
    x = np.round(np.random.default_rng(71).integers(-5_000, 5_000, n) * delta, decimals)
    z = cm.ConditionalMasking(0.5, steps * delta, noise=noise, decimals=decimals).mask(x, rng=72)
    # noise can be as large as another record's value is far, so the reference says who was kept
    secret = reference.working_secret(
        72, [[reference.to_steps(v, Fraction(10) ** -decimals) for v in x.tolist()]]
    )
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
