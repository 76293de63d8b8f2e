"""Digits and bits do not show the coins of a release on the default grid; without a grid they do.

The attacker knows p = .6, hence is right in 60% without looking; and has half of the file with its coins to
learn from. 50,000 coins are guessed, so a share has a standard error of .0022 and the largest of twelve lies
four of them above its mean with chance 4e-4; .62 is nine above .6. The keys are fixed.
"""

import numpy as np
import pytest
from releases import NOISES, coins_of

import condmask as cm
from condmask._randomness import Key

pytestmark = pytest.mark.usefixtures("unaudited")

N, P, SIGMA = 100_000, 0.6, 500.0
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
    learn, test = slice(0, N // 2), slice(N // 2, N)
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
        z, swapped = scheme.mask(x, rng=KEY), coins_of(scheme, x, KEY)
        assert abs(swapped.mean() - P) < 0.01  # six standard errors
        found[step] = {look: guessed(LOOKS[look], z, swapped) for look in LOOKS}

    assert max(found[None].values()) < 0.62, found[None]
    assert max(found[0].values()) > 0.9


@pytest.mark.parametrize("noise", NOISES)
def test_who_guesses_the_original_cannot_test_the_guess_by_the_noise_that_can_be_drawn(noise):
    scheme = cm.ConditionalMasking(P, SIGMA, noise=noise)
    z, swapped = scheme.mask(X, rng=KEY), coins_of(scheme, X, KEY)
    steps = (z - scheme.grid.values(scheme.grid.units(X))) / scheme.step

    # every whole number of steps can be drawn: Mironov's holes are within a step
    assert (steps == np.rint(steps)).all()
    near = np.abs(steps) < 500
    seen = np.unique(steps[near & ~swapped])
    # 999 numbers of steps, of chances above 2e-4 under either law, from 40,000 draws: one is missed with e^-8
    # each, 50 or more of them never
    assert seen.size > 949
    assert guessed(lambda v: np.rint((v - X) / scheme.step).astype(int) % 16, z, swapped) < 0.62


def test_whole_numbers_show_under_a_binary_step_and_not_under_their_own():
    x = np.rint(X)
    leaks = cm.ConditionalMasking(P, 100.0, step=0.25)  # the step must be named: the default refuses
    safe = cm.ConditionalMasking(P, 100.0, step=1)
    share = {}
    for scheme in (leaks, safe):
        z = scheme.mask(x, rng=KEY)
        share[scheme.step] = guessed(LOOKS["steps"], z, coins_of(scheme, x, KEY))

    assert share[0.25] > 0.85  # .6 + .4 * 3/4 = .9
    assert share[1.0] < 0.62
