r"""Attackers who need no law of the data: they guess the masked value itself, the mean of all, or a constant.

P(|tau - X_i| < d), averaged over the records of a file and over the masking of it:

    tau = Z_i       p times the share of pairs nearer than d, plus (1 - p) P(|Y| < d)
    tau = mean Z    the share of records nearer than d; it varies little, about the mean of the masked values
    constant        the largest share of records that an interval of width 2 d holds
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask.closed_form_risk import chance_of_near
from condmask.disclosure.original import Original
from condmask.moments.influence import of_moment
from condmask.moments.polynomial_variance import expected_moments, polynomial_variance

NODES = 64  # equally likely values of the mean


def by_released(file: Original, d: np.ndarray) -> np.ndarray:
    """The risk of taking the masked value for the original."""
    return over_records(file, partial(released_near, file, d))[0]


def over_records(file: Original, chances: Callable[[int, int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The mean of chances over records, and the greatest, by distance.

    `chances` gives those of the distinct originals from one position on and before another.
    """
    below, totals, most = file.counted[1], [], []
    for start, stop in blocks(below.size - 1):
        some = chances(start, stop)
        totals.append(np.diff(below[start : stop + 1]) @ some)
        most.append(some.max(axis=0))
    return np.sum(totals, axis=0) / file.n, np.max(most, axis=0)


def released_near(file: Original, d: np.ndarray, start: int, stop: int) -> np.ndarray:
    """P(abs(Z - X) < d) for some of the distinct originals."""
    places, below = file.counted
    some = places[start:stop]
    others = np.empty((some.size, d.size))
    for k, near in enumerate(file.near(d)):
        first = np.searchsorted(places, some - near, side="right")
        last = np.maximum(np.searchsorted(places, some + near), first)
        others[:, k] = below[last] - below[first] - (1.0 if d[k] > 0.0 else 0.0)
    return chance_of_near(others, file.n - 1.0, d, file.law)


class FullestWindows(NamedTuple):
    """The largest share of records in a half-open window of each width, and where the first such begins."""

    share: np.ndarray
    first: np.ndarray

    def of(self, k: np.ndarray) -> "FullestWindows":
        """The windows of some of the widths."""
        return FullestWindows(self.share[k], self.first[k])


def by_constant(file: Original, d: np.ndarray) -> FullestWindows:
    """The risk by an attacker who knows the file but not who is who; where the guessed intervals begin."""
    return fullest_windows(*file.counted, file.wide(d))


def fullest_windows(places: np.ndarray, below: np.ndarray, wide: np.ndarray) -> FullestWindows:
    """The fullest windows; `below` counts the records before each of the ascending places, and last all."""
    most, first = np.zeros(wide.size), np.zeros(wide.size)
    for start, stop in blocks(places.size):
        some, before = places[start:stop], below[start:stop]
        for k, width in enumerate(wide):
            held = below[np.searchsorted(places, some + width)] - before
            best = int(np.argmax(held))
            if held[best] > most[k]:
                most[k], first[k] = held[best], some[best]
    return FullestWindows(most / below[-1], first)


def by_mean(file: Original, d: np.ndarray, *, shared_donors: bool) -> np.ndarray:
    """The risk of taking the mean of all masked values for every original."""
    from scipy.special import ndtri  # takes .1 s to import

    mean, error = mean_of_masked(file, shared_donors=shared_donors)
    guesses = mean + error * ndtri((np.arange(NODES) + 0.5) / NODES)
    return np.asarray(np.mean([around(file, guess, d) for guess in guesses], axis=0))


def around(file: Original, guess: float, d: np.ndarray) -> np.ndarray:
    """The share of records nearer than d to a number."""
    places, below = file.counted
    at, reach = guess / file.grid.step, d / file.grid.step
    first = np.searchsorted(places, at - reach, side="right")
    last = np.searchsorted(places, at + reach, side="left")
    return np.asarray(np.maximum(below[last] - below[first], 0) / file.n)


def mean_of_masked(file: Original, *, shared_donors: bool) -> tuple[float, float]:
    """Expectation and standard error of the mean of the masked values, given the file."""
    x, p, noise = file.values, file.law.p, file.law.noise_moments(2, 1.0)
    moments = np.array([1.0, 0.0, x.var()])
    variances = polynomial_variance(
        expected_moments(moments[None, :, None], noise, p),
        of_moment(moments, 1, 0.0, noise[:2], p), p, shared_donors=shared_donors,
    )  # fmt: skip
    return float(x.mean()), float(np.sqrt(variances.file.item() / file.n))
