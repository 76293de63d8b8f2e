"""Attackers who need no law of the data, against plain loops over records, donors and steps of the noise."""

import numpy as np
import pytest
from scipy.stats import norm

import condmask as cm
from condmask.disclosure import baselines
from condmask.disclosure.original import Original
from condmask.disclosure.risk_result import CONSTANT, MEAN, RELEASED

WHOLE = np.rint(np.random.default_rng(1).gamma(2.0, 4.0, 50))  # ties, and distances that are just d
D = np.array([0.0, 0.5, 1.0, 2.0, 2.5, 7.0, 100.0])


def original(x, scheme):
    return Original(scheme.canonical(np.asarray(x, dtype=float), "x", "float64"), "float64", scheme.law)


def near(x, guess, d):
    return sum(abs(value - guess) < d for value in x.tolist()) / len(x)


@pytest.mark.parametrize("step", [0.25, 1.0])
@pytest.mark.parametrize("guess", [5.0, 5.25, 7.9, 0.0, -3.0, 1e6])
def test_records_around_a_number_are_those_nearer_than_d(guess, step):
    """Strictly nearer: records just d away do not count, on either side."""
    file = original(WHOLE, cm.ConditionalMasking(0.6, 3.0, step=step))

    assert baselines.around(file, guess, D) == pytest.approx([near(WHOLE, guess, d) for d in D], abs=1e-12)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_the_masked_value_is_near_by_its_donor_or_by_its_noise(noise):
    scheme = cm.ConditionalMasking(0.6, 3.0, noise=noise, step=1)
    n, found = WHOLE.size, cm.risk(WHOLE, scheme, d=D, audit=False).attackers
    for k, d in enumerate(D):
        pairs = sum(abs(a - b) < d for i, a in enumerate(WHOLE) for j, b in enumerate(WHOLE) if i != j)
        steps = [y for y in range(-200, 201) if abs(y) < d]
        kept = sum(below(y + 0.5, noise) - below(y - 0.5, noise) for y in steps)

        assert found[RELEASED][k] == pytest.approx(0.6 * pairs / (n * (n - 1)) + 0.4 * kept, abs=1e-12)
        guesses = np.arange(-1.0, WHOLE.max() + 1.0, 0.25)
        assert found[CONSTANT][k] == pytest.approx(max(near(WHOLE, g, d) for g in guesses), abs=1e-12)


def below(y, noise, sigma=3.0):
    if noise == "normal":
        return norm.cdf(y / sigma)
    tail = 0.5 * np.exp(-np.sqrt(2.0) * abs(y) / sigma)
    return tail if y < 0 else 1.0 - tail


# --- the mean of the masked values ----------------------------------------------------------------


SCHEMES = {
    "linear": {"sigma": 5.0},
    "laplace noise": {"sigma": 5.0, "noise": "laplace"},
}


@pytest.mark.parametrize("p", [0.3, 0.8])
@pytest.mark.parametrize("name", SCHEMES)
def test_along_a_cycle_the_mean_varies_by_noise_alone(name, p):
    """The swapped records show each other's values, once each: their sum is what it was."""
    x = WHOLE + 1.0
    scheme = cm.ConditionalMasking(p, donors="permutation", **SCHEMES[name])
    variance = (1.0 - p) * 25.0

    mean, error = baselines.mean_of_masked(original(x, scheme), shared_donors=False)

    # steps of sigma / 1000 add 1e-7 of the noise's variance
    assert mean == pytest.approx(x.mean(), rel=2e-4)
    assert error == pytest.approx(np.sqrt(variance / x.size), rel=2e-4)


def test_with_sample_donors_the_mean_varies_as_the_sum_of_records_drawn_apart():
    """Coins, donors and noise of records are independent given the file: variances add up."""
    x, p = np.random.default_rng(2).gamma(2.0, 4.0, 400) + 1.0, 0.6
    scheme, total = cm.ConditionalMasking(p, 5.0), 0.0
    for i, own in enumerate(x):
        others = np.delete(x, i)
        first = p * others.mean() + (1.0 - p) * own
        square = p * np.mean(others**2) + (1.0 - p) * (own**2 + 25.0)
        total += square - first**2

    mean, error = baselines.mean_of_masked(original(x, scheme), shared_donors=True)

    # that donors are other records moves a variance by 1 / n or so
    assert error == pytest.approx(np.sqrt(total) / x.size, rel=2.0 / x.size)
    assert mean == pytest.approx(x.mean(), rel=2e-4)


@pytest.mark.parametrize("donors", ["sample", "permutation"])
def test_the_mean_is_near_as_often_as_a_normal_law_about_its_expectation_has_it(donors):
    """Records in two heaps 1 to either side of the mean, and far away: hits tell how far the mean strays."""
    x, p, sigma = np.repeat([-1.0, 1.0, 40.0, -40.0], 50), 0.6, 10.0
    scheme = cm.ConditionalMasking(p, sigma, donors=donors)
    variance = (1.0 - p) * sigma**2 + (0.0 if donors == "permutation" else (1.0 - (1.0 - p) ** 2) * x.var())
    error = np.sqrt(variance / x.size)  # .45 with permuted donors, 1.9 with others
    d = np.array([0.3, 1.0, 1.5, 3.0])

    found = cm.risk(x, scheme, d=d, audit=False).attackers[MEAN]

    exact = [
        sum(0.25 * (norm.cdf((at + each) / error) - norm.cdf((at - each) / error)) for at in np.unique(x))
        for each in d
    ]
    assert found == pytest.approx(exact, abs=1.0 / 64.0)  # of 64 values for the mean one to either end


def test_the_mean_of_masked_values_is_spread_as_theory_says():
    x = np.array([0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0])
    scheme = cm.ConditionalMasking(0.6, 8.0, step=0.0)
    d = np.array([1.0, 4.0, 9.0])
    found = cm.risk(x, scheme, d=d, audit=False).attackers["mean of masked values"]
    z = scheme.mask_rows(np.tile(x, (40_000, 1)), np.random.default_rng(1), ())
    guess = z.mean(axis=1)[:, None, None]
    simulated = np.mean(np.abs(guess - x[None, :, None]) < d, axis=(0, 1))

    # hits of one masking share its guess: s.d. .15 at most, so .00075 for the mean; the guess is not normal
    # at n = 10, which the worst of the three shows by .012; a spread three times as wide is .06 off
    assert found == pytest.approx(simulated, abs=0.015)
