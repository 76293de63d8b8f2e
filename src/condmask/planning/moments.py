r"""How far estimates of moments will lie from their targets, from the originals alone.

Linearised, the estimates of mean, standard deviation and correlation are means of a polynomial of degree two,

    phi(z, w) = A (z^2 - (1 - p) (variance of the noise of the level of z)) + B(w) z + C(w)

so all that the theorem of docs/inference.rst asks, V = Var phi(Z, W), D = Var E[phi | X, W], the variance of
the influence function h on the originals and the covariance of phi's margins, follow from the moments
E X^i W^j of the records of each level, i, j up to 4, and those of the noise. Nothing is simulated.

Polynomials are arrays: entry [i, j] is the factor of x^i w^j.
"""

from functools import reduce
from math import comb
from typing import NamedTuple

import numpy as np

from condmask.estimates.interval import over_file
from condmask.law import Law
from condmask.levels import level_laws, level_of

DEGREE = 4


class Variances(NamedTuple):
    """n times the variances of an estimate: about the original file, about the population, and of the same
    statistic of records that are not masked."""

    file: float
    population: float
    unmasked: float


class Level(NamedTuple):
    """The share of the records, and the means of x^i w^j over these."""

    share: float
    means: np.ndarray


class Moments(NamedTuple):
    """Of the originals by level, in safe units: x about its mean (0 on the log scale), w standardised.

    `pair` says whether there is a second column.
    """

    levels: list[Level]
    mean: float
    unit: float
    pair: bool


def moments(x: np.ndarray, units: np.ndarray, other: np.ndarray | None, law: Law) -> Moments:
    """From values as they are masked, in the units of the data and in those of the law."""
    unit = float(x.std()) or 1.0
    mean = float(x.mean()) / unit
    own = x / unit - (0.0 if law.scale == "log" else mean)
    w = np.zeros(x.size) if other is None else (other - other.mean()) / (float(other.std()) or 1.0)
    level = np.zeros(x.size, dtype=np.int64) if law.heaps == 1 else level_of(units, law.heaps)
    most = len(level_laws(law)) if law.heaps > 1 else 1
    found = []
    for each in range(most):
        rows = slice(None) if most == 1 else level == each
        a, b = own[rows], w[rows]
        means = np.zeros((DEGREE + 1, DEGREE + 1))
        if a.size:
            powers = [np.ones(a.size), a, a * a, a * a * a, (a * a) ** 2]
            others = [np.ones(a.size), b, b * b, b * b * b, (b * b) ** 2] if other is not None else []
            means[:, 0] = [power.mean() for power in powers]
            for j in range(1, len(others)):
                means[:, j] = [float(power @ others[j]) / a.size for power in powers]
        found.append(Level(a.size / x.size, means))
    return Moments(found, mean if law.scale == "log" else 0.0, unit, other is not None)


def errors(own: Moments, law: Law, n: int, *, shared_donors: bool) -> dict[str, Variances]:
    """Of the mean, the standard deviation and, with a column in clear, the correlation."""
    together = np.sum([level.share * level.means for level in own.levels], axis=0)
    mean, variance = own.mean, together[2, 0] - together[1, 0] ** 2
    names = ["mean", "std", *(["correlation"] if own.pair else [])]
    if variance <= 0.0:
        return dict.fromkeys(names, Variances(np.nan, np.nan, np.nan))
    noise = _Noise(law, own.unit)
    k1, k2 = noise.mean(1), noise.mean(2)
    size = float(np.sqrt(variance))
    phi, h = np.zeros((2, len(names), 3, 3))
    phi[0, 1, 0], h[0, 1, 0] = 1.0 / k1, 1.0
    phi[1, 2, 0], phi[1, 1, 0] = 0.5 / (size * k2), -mean / (size * k1)
    h[1, 2, 0], h[1, 1, 0] = 0.5 / size, -mean / size
    if own.pair:
        r = (together[1, 1] - together[1, 0] * together[0, 1]) / size
        f = (1.0 - law.p) * noise.growth[1] - law.p / (n - 1.0)
        lone = -0.5 * r / variance
        phi[2, 1, 1], phi[2, 0, 1] = 1.0 / (f * size), -k1 * mean / (f * size)
        phi[2, 2, 0], phi[2, 1, 0], phi[2, 0, 2] = lone / k2, -2.0 * lone * mean / k1, -0.5 * r
        h[2, 1, 1], h[2, 0, 1] = 1.0 / size, -mean / size
        h[2, 2, 0], h[2, 1, 0], h[2, 0, 2] = lone, -2.0 * lone * mean, -0.5 * r
    units = [own.unit**2, own.unit**2, 1.0]
    return {
        name: Variances(*(unit * each for each in _variances(own, noise, phi[k], h[k], shared_donors)))
        for k, (name, unit) in enumerate(zip(names, units, strict=False))
    }


class _Noise:
    """What becomes of powers: moments of the noise of each level, and the growth of means."""

    def __init__(self, law: Law, unit: float) -> None:
        self.p, self.log = law.p, law.scale == "log"
        self.growth = [_growth(law, k) for k in range(DEGREE + 1)]
        if self.log:
            self.added = [np.array([1.0, 0.0, 0.0, 0.0, 0.0])]
        else:
            laws = [law] if law.heaps == 1 else level_laws(law)
            self.added = [own.noise_moments(DEGREE, unit) for own in laws]

    def mean(self, order: int) -> float:
        """By what masking multiplies the mean of a power."""
        return self.p + (1.0 - self.p) * self.growth[order]

    def kept(self, polynomial: np.ndarray, level: int) -> np.ndarray:
        """The expectation of a polynomial in z, as one in x, of kept records of a level."""
        found = np.zeros_like(polynomial)
        for k in range(len(polynomial)):
            for m in range(0, k + 1, 2):
                found[k - m] += polynomial[k] * (comb(k, m) * self.added[level][m] * self.growth[k])
        return found

    def of_level(self, phi: np.ndarray, level: int) -> np.ndarray:
        """phi as it is on released values of a level."""
        own = phi.copy()
        own[0] -= (1.0 - self.p) * self.added[level][2] * phi[2]
        return own


def _variances(
    own: Moments, noise: _Noise, phi: np.ndarray, h: np.ndarray, shared_donors: bool
) -> tuple[float, float, float]:
    """n times the variances of an estimate, by the theorem."""
    p, levels = noise.p, own.levels
    each = [noise.of_level(phi, k) for k in range(len(levels))]
    of_w = np.sum([level.means[0] * level.share for level in levels], axis=0)  # E w^j
    # phi's mean over donors, a polynomial in w; over other records' w, one in x
    a = np.zeros((3, 3))
    a[0] = np.sum(
        [level.share * (level.means[:3, 0] @ f) for level, f in zip(levels, each, strict=True)], axis=0
    )
    at = [np.column_stack([f @ of_w[:3], np.zeros((3, 2))]) for f in each]
    given = [p * a + (1.0 - p) * noise.kept(f, k) for k, f in enumerate(each)]
    square = 0.0
    for k, (level, f) in enumerate(zip(levels, each, strict=True)):
        squared = _product(f, f)
        swapped = float(level.means[:, 0] @ squared @ of_w)
        square += level.share * (p * swapped + (1.0 - p) * _mean(noise.kept(squared, k), level))
    mean = _over(levels, given)
    v = square - mean**2
    d = _over(levels, [_product(c, c) for c in given]) - mean**2
    inside = _over(levels, [_product(h, h)] * len(levels)) - _over(levels, [h] * len(levels)) ** 2
    margins = _over(levels, [_product(a, f) for f in at])
    margins -= _over(levels, [a] * len(levels)) * _over(levels, at)
    file = over_file(np.array(v), np.array(d), np.array(inside), margins, shared_donors=shared_donors, p=p)
    return float(file), float(file) + inside, inside


def _over(levels: list[Level], polynomials: list[np.ndarray]) -> float:
    """The mean over all records of a polynomial for each level."""
    parts = zip(levels, polynomials, strict=True)
    return reduce(lambda total, part: total + part[0].share * _mean(part[1], part[0]), parts, 0.0)


def _mean(polynomial: np.ndarray, level: Level) -> float:
    rows, columns = polynomial.shape
    return float(np.sum(polynomial * level.means[:rows, :columns]))


def _product(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Of two polynomials of degree two in each variable."""
    found = np.zeros((DEGREE + 1, DEGREE + 1))
    for i, j in np.argwhere(one):
        found[i : i + 3, j : j + 3] += one[i, j] * two
    return found


def _growth(law: Law, order: int) -> float:
    try:
        return law.growth(order)
    except ValueError:  # the moment does not exist
        return float("nan")
