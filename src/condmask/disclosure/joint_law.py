"""The joint law of a record's original and its released value, from which attackers of one column are read.

A column is reduced to its distinct values, or to equally full cells of them. The joint law is one matrix,
originals by released values, in two parts: records that were swapped and records that were kept::

    reverse mapping   p w_a w_b,               (1 - p) w_a M(a, b)
    additive noise    p w_a w_b near z,        (1 - p) w_a f(z - a)

w are the shares of the values, f is the density of the noise and M the law of the map of kept records
(docs/reverse_mapping.rst). The chance that the original lies within d of a guess is a difference of two
running sums along the originals. The best attacker takes the largest one for each released value: over both
parts together, or over each by itself if the attacker knows who was swapped.
"""

from typing import Any, NamedTuple

import numpy as np

from condmask.distribution.layer import Layer
from condmask.law import Law

CELLS = 1 << 10  # of originals
TRIED = 1 << 9  # released values under additive noise
SMOOTH = 0.25  # sigmas, to which an attacker knows where single values lie
COMMON = 5  # records of a value that stands out in a release with noise
REACH = {"normal": 8.6, "laplace": 26.0}  # sigmas
PER_SIGMA = 16  # nodes
HALVINGS = 40
OFFSETS = 6.0  # sigmas, beyond which kept records are not looked at
FARTHEST = 800.0  # from 0: the logarithms of numbers


class JointLaw(NamedTuple):
    """Originals by released values.

    Attributes
    ----------
    values, shares : ndarray of shape (a,)
        Originals, ascending, and their shares.
    released : ndarray of shape (b,)
        Released values, ascending.
    swapped, kept : ndarray of shape (a, b)
        The chances of pairs with either swap status, which sum to 1 together.
    several : ndarray of bool of shape (a,), optional
        Which of the originals are cells of several values.
    """

    values: np.ndarray
    shares: np.ndarray
    released: np.ndarray
    swapped: np.ndarray
    kept: np.ndarray
    several: np.ndarray | None = None

    @classmethod
    def of(cls, x: np.ndarray, scheme: Any, cells: int = CELLS) -> "JointLaw":
        """That of one pool of originals without missing values under a scheme."""
        values, counts, several = cells_of(x, cells)
        if scheme.reverse_mapping:
            law = _mapped(values, counts / x.size, scheme)
        else:
            law = _noisy(values, counts / x.size, counts, scheme.law, distinct=values.size < cells)
        return law._replace(several=several)

    def cell(self, z: np.ndarray) -> np.ndarray:
        """The released value that each of some stands for."""
        middles = 0.5 * (self.released[1:] + self.released[:-1])
        return np.searchsorted(middles, z)

    def constant(self, d: float) -> tuple[float, float]:
        """The share of records nearer than d to the best guess that serves all, and this guess."""
        share, guess = self.best_windows(self.shares[:, None], d)
        return float(share[0]), float(guess[0])

    def within(self, guess: float, d: float) -> float:
        """The share of records nearer than d to a guess."""
        return float(self.shares[np.abs(self.values - guess) < d].sum())

    def shown(self, d: float) -> float:
        """The share of records whose released value is nearer than d to their original."""
        return float((self.swapped + self.kept)[self._near(d)].sum())

    def best(self, d: float, *, known_coins: bool) -> float:
        """The share of records that the best attacker guesses to less than d."""
        parts = (self.swapped, self.kept) if known_coins else (self.swapped + self.kept,)
        return sum(float(self.best_windows(part, d)[0].sum()) for part in parts)

    def most_exposed(self, d: float) -> float:
        """The greatest chance of a record that its released value is nearer than d to its original."""
        near = np.where(self._near(d), self.swapped + self.kept, 0.0)
        return float((near.sum(axis=1) / self.shares).max())

    def best_windows(self, joint: np.ndarray, d: float) -> tuple[np.ndarray, np.ndarray]:
        """The mass of the fullest half-open window of width 2 d of each column, and the middle of its values.

        A window from the middle of one cell of several values to that of another holds a half of both.
        """
        values = self.values
        running = np.zeros((values.size + 1, joint.shape[1]))
        np.cumsum(joint, axis=0, out=running[1:])
        last = np.searchsorted(values, values + 2.0 * d)
        inside = running[last] - running[:-1]
        if self.several is not None:
            outside = np.where(self.several[:, None], 0.5 * joint, 0.0)
            inside -= outside + outside[last - 1]
        first = inside.argmax(axis=0)
        middle = 0.5 * (values[first] + values[np.maximum(last[first] - 1, first)])
        return inside[first, np.arange(first.size)], middle

    def _near(self, d: float) -> np.ndarray:
        return np.asarray(np.abs(self.values[:, None] - self.released) < d)


def cells_of(x: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Distinct values and how often each occurs, or the means of equally full cells, and which of these hold
    several values."""
    values, counts = np.unique(x, return_counts=True)
    if values.size <= most:
        return values, counts, None
    full = np.searchsorted(np.cumsum(counts), np.arange(1, most) / most * x.size)
    first = np.unique(np.append(0, full + 1))
    first = first[first < values.size]
    number = np.add.reduceat(counts, first)
    several = np.diff(np.append(first, values.size)) > 1
    return np.add.reduceat(values * counts, first) / number, number, several


def places_of(x: np.ndarray, scheme: Any) -> np.ndarray:
    """Values on the line on which noise is added, in sigmas; on the log scale 0 and signs lie far apart."""
    if not scheme.reverse_mapping or scheme.scale == "linear":
        return np.asarray(x / scheme.sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.sign(x) * (np.log(np.abs(x)) + FARTHEST) / scheme.sigma
    return np.where(x == 0.0, 0.0, size)


def _mapped(values: np.ndarray, shares: np.ndarray, scheme: Any) -> JointLaw:
    """Under reverse mapping a kept record gets the value whose place among all its key has."""
    places, law = places_of(values, scheme), Law(scheme.p, scheme.noise, 1.0)
    thresholds = np.concatenate(([-np.inf], _thresholds(places, shares, law), [np.inf]))
    kept = np.diff(_below(law, thresholds - places[:, None]), axis=1)
    p = scheme.p
    swapped = p * shares[:, None] * shares
    return JointLaw(values, shares, values, swapped, (1.0 - p) * shares[:, None] * kept)


def _thresholds(places: np.ndarray, shares: np.ndarray, law: Law) -> np.ndarray:
    """Between which keys each value is released, by bisection of the distribution of keys."""
    running = np.cumsum(shares)[:-1]
    keys = _keys(places, shares, law)
    low = np.full(running.size, places[0] - REACH[law.noise])
    high = np.full(running.size, places[-1] + REACH[law.noise])
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        reached = keys(middle) >= running
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def _keys(places: np.ndarray, shares: np.ndarray, law: Law) -> Any:
    """The distribution function of values with noise."""
    if law.noise == "normal":
        return Layer(
            places, shares, 1.0, 1.0 / PER_SIGMA, REACH["normal"], lambda w: np.exp(-0.5 * w * w), 1.0
        ).at  # fmt: skip
    return lambda t: _below(law, t[:, None] - places) @ shares


def _below(law: Law, u: np.ndarray) -> np.ndarray:
    """P(Y <= u) for noise of standard deviation 1."""
    if law.noise == "normal":
        from scipy.special import ndtr  # takes .1 s to import

        return np.asarray(ndtr(u))
    tail = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(u))
    return np.asarray(np.where(u < 0.0, tail, 1.0 - tail))


def _noisy(
    values: np.ndarray, shares: np.ndarray, counts: np.ndarray, law: Law, *, distinct: bool
) -> JointLaw:
    """With additive noise: values that many records share stand out where a swapped record shows them, unless
    these are cells of several values."""
    common = ((counts >= COMMON) | (counts.mean() >= COMMON)) & distinct
    atoms = values[common]
    z, edges = _tried(values, shares, law)
    width = np.diff(edges)
    if law.grid is not None:  # the other points of the grid, where the common values are not
        width = width - law.step * np.minimum(np.diff(np.searchsorted(atoms, edges)), width / law.step)
    noise = _density(law, z - values[:, None], law.sigma)
    smooth = np.where(common, 0.0, shares) @ _density(law, z - values[:, None], SMOOTH * law.sigma)
    smooth *= (1.0 - shares[common].sum()) / max(smooth @ np.diff(edges), 1e-300) if smooth.any() else 0.0
    swapped = law.p * shares[:, None] * (smooth * np.diff(edges))
    kept = (1.0 - law.p) * shares[:, None] * noise * width
    chance = _density(law, atoms - values[:, None], law.sigma) * law.step
    at_atoms = (1.0 - law.p) * shares[:, None] * chance
    released = np.concatenate((z, atoms))
    order = np.argsort(released, kind="stable")
    swapped = np.hstack((swapped, law.p * shares[:, None] * shares[common]))[:, order]
    kept = np.hstack((kept, at_atoms))[:, order]
    kept *= (1.0 - law.p) / max(float(kept.sum()), 1e-300)
    return JointLaw(values, shares, released[order], swapped, kept)


def _tried(values: np.ndarray, shares: np.ndarray, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Released values from all over the line, and the edges of the pieces of it that they stand for."""
    levels = (np.arange(TRIED) + 0.5) / TRIED
    some = values[np.searchsorted(np.cumsum(shares), levels).clip(0, values.size - 1)]
    offsets = law.sigma * np.linspace(-OFFSETS, OFFSETS, 2 * PER_SIGMA + 1)
    points = np.unique(some[:, None] + offsets)
    edges = points[np.linspace(0, points.size - 1, 2 * TRIED + 1).astype(np.int64)]
    if law.grid is not None:  # between points of the grid, so that no common value is cut in two
        edges = (np.floor(edges / law.step) + 0.5) * law.step
    edges = np.unique(edges)
    return 0.5 * (edges[1:] + edges[:-1]), edges


def _density(law: Law, u: np.ndarray, width: float) -> np.ndarray:
    """The density of noise of this standard deviation."""
    if law.noise == "normal":
        return np.asarray(np.exp(-0.5 * (u / width) ** 2) / (width * np.sqrt(2.0 * np.pi)))
    return np.asarray(np.exp(-np.sqrt(2.0) * np.abs(u) / width) / (width * np.sqrt(2.0)))
