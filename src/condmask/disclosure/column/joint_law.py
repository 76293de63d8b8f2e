"""The joint law of a record's original and its released value, from which attackers of one column
are read.

A column is reduced to its distinct values, or to equally full cells of them. The joint law is one
matrix, originals by released values, in two parts: records that were swapped and records that were
kept::

    reverse mapping   p w_a w_b,               (1 - p) w_a M(a, b)
    additive noise    p w_a w_b near z,        (1 - p) w_a f(z - a)

w are the shares of the values, f is the density of the noise and M the law of the map of kept
records (docs/reverse_mapping.rst). The chance that the original lies within d of a guess is a
difference of two running sums along the originals. The best attacker takes the largest one for
each released value: over both parts together, or over kept records alone if the attacker knows who
was swapped, whose values tell nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.law import Law
from condmask.reverse_mapping.mapping import Mapping, places

CELLS = 1_024  # of originals
TRIED = 512  # released values under additive noise
SMOOTH = 0.25  # sigmas, to which an attacker knows where single values lie
COMMON = 5  # records of a value that stands out in a release with noise
PER_SIGMA = 16  # points tried
OFFSETS = 6.0  # sigmas, beyond which kept records are not looked at


class JointLaw(NamedTuple):
    """Originals by released values.

    Attributes
    ----------
    values, shares : ndarray of shape (a,)
        Originals, ascending, and their shares.
    several : ndarray of bool of shape (a,)
        Which of the originals are cells of several values.
    edges : ndarray of shape (b - 1,)
        What parts the cells of released values, ascending.
    swapped, kept : ndarray of shape (a, b)
        The chances of pairs with either swap status, which sum to 1 together; none where the noise
        has no known law.
    """

    values: np.ndarray
    shares: np.ndarray
    several: np.ndarray
    edges: np.ndarray
    swapped: np.ndarray
    kept: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, scheme: Any, cells: int = CELLS) -> "JointLaw":
        """That of one pool of originals without missing values under a scheme."""
        values, counts, several = cells_of(x, cells)
        shares = counts / x.size
        # a kept record gets the value whose place among all its key has
        if scheme.reverse_mapping:
            at = places(values, scheme.sigma, scheme.scale)
            p = scheme.p
            kept = (1.0 - p) * shares[:, None] * Mapping(at, shares, scheme.noise).chances
            pairs = 0.5 * (values[1:] + values[:-1]), p * shares[:, None] * shares, kept
        elif scheme.law is not None:
            common = ~several & ((counts >= COMMON) | (counts.mean() >= COMMON))
            pairs = _noisy(values, shares, common, scheme.law)
        else:
            pairs = np.empty(0), np.empty((values.size, 0)), np.empty((values.size, 0))
        return cls(values, shares, several, *pairs)

    def constant(self, d: float) -> float:
        """The share of records nearer than d to the best guess that serves all."""
        return float(fullest(self.values, self.shares[:, None], d, self.several)[0][0])

    def shown(self, d: float) -> np.ndarray:
        """By original the chance that its value released by reverse mapping is nearer than d to
        it."""
        near = np.abs(self.values[:, None] - self.values) < d
        return np.asarray(np.where(near, self.swapped + self.kept, 0.0).sum(axis=1) / self.shares)

    def best(self, d: float, *, known_coins: bool = False) -> float:
        """The share of records that the best attacker guesses to less than d, no worse than by a
        constant."""
        constant = self.constant(d)
        unsure = self.kept if known_coins else self.swapped + self.kept
        found = float(fullest(self.values, unsure, d, self.several)[0].sum())
        # who tell nothing
        of_strangers = constant * float(self.swapped.sum()) if known_coins else 0.0
        return max(constant, found + of_strangers)

    def guesses(self, x: np.ndarray, z: np.ndarray, d: float) -> list[np.ndarray]:
        """What the best attacker makes of records: the guess, how sure, and whether x is that
        near."""
        joint = self.swapped + self.kept
        cell = _cell(self.edges, z)
        share, guess = fullest(self.values, joint, d, self.several)
        sure = share / np.maximum(joint.sum(axis=0), 1e-300)
        return [guess[cell], sure[cell], np.abs(x - guess[cell]) < d]


def fullest(
    values: np.ndarray, mass: np.ndarray, d: float, several: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The mass of the fullest half-open window of width 2 d of each column, and the middle of its
    values.

    Values ascend by row. A window from the middle of one cell of several values to that of another
    holds a half of both.
    """
    running = np.zeros((values.size + 1, mass.shape[1]))
    np.cumsum(mass, axis=0, out=running[1:])
    last = np.searchsorted(values, values + 2.0 * d)
    inside = running[last] - running[:-1]
    if several is not None and several.any():
        outside = np.where(several[:, None], 0.5 * mass, 0.0)
        inside -= outside + outside[last - 1]
    first = inside.argmax(axis=0)
    middle = 0.5 * (values[first] + values[np.maximum(last[first] - 1, first)])
    return inside[first, np.arange(first.size)], middle


def cells_of(x: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values and how often each occurs, or the means of equally full cells, and which of
    these hold several values."""
    values, counts = np.unique(x, return_counts=True)
    if values.size <= most:
        return values, counts, np.zeros(values.size, dtype=bool)
    full = np.searchsorted(np.cumsum(counts), np.arange(1, most) / most * x.size)
    first = np.unique(np.append(0, full + 1))
    first = first[first < values.size]
    number = np.add.reduceat(counts, first)
    several = np.diff(np.append(first, values.size)) > 1
    return np.add.reduceat(values * counts, first) / number, number, several


# edges of released values; chances if swapped, if kept
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def _noisy(values: np.ndarray, shares: np.ndarray, common: np.ndarray, law: Law) -> Pairs:
    """With additive noise: common values stand out where a swapped record shows them; of others an
    attacker knows about where they lie."""
    edges = _edges(values, shares, common, law)
    of = shares[:, None]
    shown = np.where(common, 0.0, shares) @ _between(edges, values, law, SMOOTH * law.sigma)
    shown += np.bincount(_cell(edges, values[common]), shares[common], shown.size)
    return edges, law.p * of * shown, (1.0 - law.p) * of * _between(edges, values, law, law.sigma)


def _edges(values: np.ndarray, shares: np.ndarray, common: np.ndarray, law: Law) -> np.ndarray:
    """What parts released values from all over the line, and each common one from all others."""
    levels = (np.arange(TRIED) + 0.5) / TRIED
    some = values[np.searchsorted(np.cumsum(shares), levels).clip(0, values.size - 1)]
    offsets = law.sigma * np.linspace(-OFFSETS, OFFSETS, 2 * PER_SIGMA + 1)
    points = np.unique(some[:, None] + offsets)
    alone = values[common]
    edges = points[np.linspace(0, points.size - 1, 2 * TRIED + 1).astype(np.int64)]
    if law.grid is None:
        return np.unique(np.concatenate((edges, alone, np.nextafter(alone, np.inf))))
    steps = np.floor(edges / law.step)
    alone = np.rint(alone / law.step)
    return np.asarray(law.step * (np.unique(np.concatenate((steps, alone - 1.0, alone))) + 0.5))


def _between(edges: np.ndarray, values: np.ndarray, law: Law, sigma: float) -> np.ndarray:
    """By value the chances that it is released in each cell, with noise of this standard
    deviation."""
    apart = edges - values[:, None]
    within = law._replace(sigma=sigma, grid=None).noise_within(np.abs(apart))
    return np.diff(0.5 * (1.0 + np.sign(apart) * within), prepend=0.0, append=1.0)


def _cell(edges: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The cell of each released value."""
    return np.searchsorted(edges, z, side="right")
