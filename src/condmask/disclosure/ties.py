r"""What equal values in a release tell, where several swapped records may take one record's value.

An attacker who learned the law F of the data expects m = n F(z) of n records to have the value z, and
k = n (F * noise)(z) to have it once noise is added. The number that has it is Poisson of mean m; of each of
these, a Poisson number of mean p of swapped records takes it; and a Poisson number of mean (1 - p) k of kept
ones arrives there. Let R be the sum. Of the t records that show z, a kept one has t - 1 = R others. A swapped
one has t - 1 = R + N, N Poisson of mean p: the record whose value it took is one more than those expected
(a Poisson number, seen by one of its own, is one more), and N others took that record's. So t multiplies the
odds of a swap by

.. math:: L(t) = P(R + N = t - 1) / P(R = t - 1) .

R has the generating function :math:`G(s) = \exp\{m (e^{p(s-1)} - 1) + (1-p) k (s-1)\}`, R + N has
:math:`e^{p(s-1)} G`, and :math:`G' = p m e^{p(s-1)} G + (1-p) k G` gives the chances of both, one t after the
other (Panjer, ASTIN Bull. 12, 1981). If m and k are small, L(1) = e^-p, and records that share a value were
swapped. A permutation gives each value to one record: N = 0 and L = 1.
"""

from collections.abc import Iterator
from itertools import count, repeat
from math import exp, factorial

import numpy as np

from condmask.disclosure.swap_posterior import Outcomes, certain, guessed, posterior

MOST = 128.0  # others expected; where there are more, L is within .05 of 1
TAKERS = 16  # of one record's value: as many have a chance below 1e-13


def chances(p: float, donors: np.ndarray, arrivals: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For t = 1, 2, ... the chance that t records show the value of a swapped record, and of a kept one.

    `donors` is m, `arrivals` the mean of what comes one by one, (1 - p) k.
    """
    takers = [exp(-p) * p**j / factorial(j) for j in range(TAKERS)]
    kept = [np.exp(donors * np.expm1(-p) - arrivals)]
    for t in count(1):
        swapped = np.sum([chance * of for chance, of in zip(takers, reversed(kept), strict=False)], axis=0)
        yield swapped, kept[-1]
        kept = [*kept[1 - TAKERS :], (p * donors * swapped + arrivals * kept[-1]) / t]


def log_ratios(p: float, donors: np.ndarray, moved: np.ndarray, times: np.ndarray) -> np.ndarray:
    """log L where so many records show a value; `donors` and `moved` (k) are expected there."""
    ratios = np.zeros(times.size)
    for rows, most in _alike(p, donors, moved):
        shown = np.minimum(times[rows], most)
        laws = chances(p, donors[rows], (1.0 - p) * moved[rows])
        for t, (swapped, kept) in zip(range(1, shown.max() + 1 if most > 1 else 1), laws, strict=False):
            ratios[rows] = np.where(shown == t, np.log(swapped) - np.log(kept), ratios[rows])
    return ratios


def figures(
    p: float, part: Outcomes, donors: np.ndarray, moved: np.ndarray, records: np.ndarray, unseen: np.ndarray
) -> np.ndarray:
    """The shares of coins guessed and of records certain, given how many records show each value.

    The publisher knows how many of the `records` have a value, and expects `unseen` more.
    """
    shares = np.zeros(2)
    for rows, most in _alike(p, donors, moved):
        swapped, kept, law, noised = (x[rows] for x in (part.swapped, part.kept, part.law, part.noised))
        arrivals, left = (1.0 - p) * moved[rows], np.ones(rows.size)
        expected = chances(p, donors[rows], arrivals) if most > 1 else repeat((left, left))
        actual = chances(p, unseen[rows], p * records[rows] + arrivals)
        for t, of, (_, share) in zip(range(1, most + 1), expected, actual, strict=False):
            chance, share = posterior(p, law * of[0], noised * of[1]), left if t == most else share
            now = swapped * share, kept * share, chance
            shares += guessed(*now), certain(*now, p)
            left = np.maximum(left - share, 0.0)
    return shares


def _alike(p: float, donors: np.ndarray, moved: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Values at which about as many others are expected, and the most that are looked at; 1 beyond MOST."""
    octave = np.ceil(np.log2(np.clip(p * donors + (1.0 - p) * moved, 0.25, 2.0 * MOST)))
    for exponent in np.unique(octave):
        mean = 2.0**exponent
        most = int(mean + 6.0 * (2.0 * mean) ** 0.5) + 8 if mean <= MOST else 1
        yield np.flatnonzero(octave == exponent), most
