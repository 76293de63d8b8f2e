"""Slow, plain truth of heaps and of the log scale: laws of releases by enumeration, and estimates from them.

Nothing here imports condmask. A record is a whole number, its *unit*. With `Heaps` it counts steps of the
grid; with `Log` it is ``sign * (k + SHIFT)``, k counting steps of log|x|, and 0 for x = 0. Both run upwards
with x, so a point between two grid points is a unit with a fraction. Masking moves a unit by multiples of
its spacing and never out of its class; what follows from that is worked out record by record.
"""

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

SHIFT = 10**8
# in sigma: beyond, what is left of the noise's chances, and of the moments that are looked at, is below 1e-15
FAR, FAR_IN_LOG = {"normal": 10.0, "laplace": 30.0}, {"normal": 14.0, "laplace": 120.0}
REACH = 45.0  # in sigma: beyond, K is 0 or 1 to 1e-16 for p from .2 on


@lru_cache(maxsize=200)
def chances(noise, delta, reach):
    """P(Y rounds to j delta), j = -reach .. reach, for noise of unit standard deviation."""

    def beyond(y):
        return 0.5 * (math.erfc(y / math.sqrt(2.0)) if noise == "normal" else math.exp(-math.sqrt(2.0) * y))

    upper = [beyond((j - 0.5) * delta) - beyond((j + 0.5) * delta) for j in range(1, reach + 1)]
    return np.array([*upper[::-1], 1.0 - 2.0 * beyond(0.5 * delta), *upper])


@lru_cache(maxsize=200)
def jumps(noise, p, delta):
    """c with ``p c + (1-p) (c * noise) = 1`` at 0 and 0 elsewhere, at -reach .. reach, on a circle."""
    reach = math.ceil(REACH / delta) + 1
    around = np.fft.fft(np.roll(chances(noise, delta, reach), -reach)).real
    return np.roll(np.fft.ifft(1.0 / (p + (1.0 - p) * around)).real, reach)


@lru_cache(maxsize=200)
def running(noise, p, delta):
    """Their sums, from 0 before the first."""
    return np.concatenate([[0.0], np.cumsum(jumps(noise, p, delta))])


def weight(noise, p, delta, at):
    """K at whole steps: the sum of the jumps up to there."""
    total = running(noise, p, delta)
    reach = len(total) // 2 - 1
    return total[np.clip(np.asarray(at, dtype=np.int64), -reach - 1, reach) + reach + 1]


def smoothed_weight(noise, p, delta, at, beta):
    """The same of T_b: every jump becomes a normal distribution function; `at` in steps, beta in sigma."""
    found = jumps(noise, p, delta)
    reach = len(found) // 2
    places = np.arange(-reach, reach + 1)
    at = np.atleast_1d(at)
    step = np.vectorize(lambda u: 0.5 * math.erfc(-u / math.sqrt(2.0)))
    return np.array([np.sum(found * step((a - places) * delta / beta)) for a in at.tolist()])


def gain(noise, sigma, step, k):
    """E e^(kY) of noise rounded to the grid, by summation."""
    top = 12.0 + k * sigma if noise == "normal" else 45.0 / (math.sqrt(2.0) - k * sigma)
    reach = math.ceil(top * sigma / step)
    power = np.exp(k * step * np.arange(-reach, reach + 1))
    return float(np.sum(chances(noise, step / sigma, reach) * power))


class Heaps(NamedTuple):
    """A grid with heaps up to ``10**highest`` steps; with highest = 0 a grid as it is."""

    p: float
    noise: str
    sigma: float
    step: float = 1.0
    highest: int = 0

    def options(self):
        """What the public scheme is made of."""
        grid = {"step": self.step, "heaps": self.step * 10**self.highest}
        return {"p": self.p, "sigma": self.sigma, "noise": self.noise, **grid}

    def units(self, values):
        return np.floor(np.asarray(values, dtype=float) / self.step + 0.5).astype(np.int64)

    def values(self, units):
        return np.asarray(units) * self.step

    def level(self, unit):
        """How many zeros it ends with, but at most `highest`."""
        zeros = 0
        while zeros < self.highest and unit % 10 ** (zeros + 1) == 0:
            zeros += 1
        return zeros

    def spacing(self, unit):
        return 10 ** min(self.level(unit) + 1, self.highest)

    def delta(self, unit):
        return self.spacing(unit) * self.step / self.sigma

    def label(self, unit):
        """What the noise never changes of a record."""
        return self.level(unit), unit % self.spacing(unit)

    def kept(self, unit):
        """Where the noise takes a unit, and with what chances."""
        reach = math.ceil(FAR[self.noise] / self.delta(unit))
        return unit + self.spacing(unit) * np.arange(-reach, reach + 1), chances(
            self.noise, self.delta(unit), reach
        )

    def weight(self, at, unit):
        """What a masked unit adds to n T at points between units."""
        steps = np.floor((np.asarray(at) - unit) / self.spacing(unit))
        return weight(self.noise, self.p, self.delta(unit), steps)

    def smoothed(self, at, unit, beta):
        steps = (np.asarray(at) - unit) / self.spacing(unit)
        return smoothed_weight(self.noise, self.p, self.delta(unit), steps, beta)

    def noise_moments(self, unit, order):
        delta = self.delta(unit)
        reach = math.ceil((FAR[self.noise] + order) / delta)
        size = delta * self.sigma * np.arange(-reach, reach + 1)
        return [float(np.sum(chances(self.noise, delta, reach) * size**k)) for k in range(order + 1)]

    def power(self, unit, order):
        """A function of the masked unit whose mean is x^order: Theorem 2.1 for one record, exactly."""
        z, noise = Fraction(float(self.values(unit))), self.noise_moments(unit, order)
        found = []
        for k in range(order + 1):
            known = sum(math.comb(k, j) * found[k - j] * Fraction(noise[j]) for j in range(2, k + 1, 2))
            found.append(z**k - (1 - Fraction(self.p)) * known)
        return float(found[order])


class Log(NamedTuple):
    """The log scale: `sigma` and `step` are of log|x|."""

    p: float
    noise: str
    sigma: float
    step: float

    def options(self):
        """What the public scheme is made of."""
        grid = {"step": self.step, "scale": "log"}
        return {"p": self.p, "sigma": self.sigma, "noise": self.noise, **grid}

    def places(self, x):
        """Points in units, with what is left between two of them."""
        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x == 0.0, 0.0, np.sign(x) * (np.log(np.abs(x)) / self.step + SHIFT))

    def units(self, values):
        places = self.places(values)
        return (np.sign(places) * np.floor(np.abs(places) + 0.5)).astype(np.int64)

    def values(self, units):
        units = np.asarray(units)
        return np.sign(units) * np.exp((np.abs(units) - SHIFT) * self.step)

    def delta(self, unit):
        return self.step / self.sigma

    def label(self, unit):
        return int(np.sign(unit))

    def kept(self, unit):
        if unit == 0:
            return np.zeros(1, dtype=np.int64), np.ones(1)
        reach = math.ceil(FAR_IN_LOG[self.noise] / self.delta(unit))
        return unit + np.arange(-reach, reach + 1), chances(self.noise, self.delta(unit), reach)

    def weight(self, at, unit):
        """K within the sign of the record; elsewhere it counts as 0 or 1."""
        at = np.asarray(at)
        own = weight(self.noise, self.p, self.delta(unit), np.floor(np.where(at * unit > 0, at - unit, 0)))
        return np.where(at * unit > 0, own, unit <= at)

    def smoothed(self, at, unit, beta):
        at = np.atleast_1d(at)
        found = (unit <= at).astype(float)
        own = at * unit > 0
        found[own] = smoothed_weight(self.noise, self.p, self.delta(unit), (at - unit)[own], beta)
        return found

    def left(self, order):
        """The share of a moment that masking leaves."""
        return self.p + (1.0 - self.p) * gain(self.noise, self.sigma, self.step, order)

    def power(self, unit, order):
        return float(self.values(unit)) ** order / self.left(order)


# --- the law of a release, given the file -----------------------------------------------------------


def pools_of(n, strata=None):
    """The pool of each record, as row numbers."""
    labels = [0] * n if strata is None else list(strata)
    return [[j for j in range(n) if labels[j] == labels[i]] for i in range(n)]


def release(scheme, units, i, strata=None):
    """Every unit that record i may be released as, with its chance: equation (1), with both donor rules."""
    units = np.asarray(units)
    others = [j for j in pools_of(len(units), strata)[i] if j != i]
    there, chance = scheme.kept(int(units[i]))
    return (
        np.concatenate([units[others], there]),
        np.concatenate([np.full(len(others), scheme.p / len(others)), (1.0 - scheme.p) * chance]),
    )


def expected(scheme, units, statistic, strata=None):
    """E statistic(Z_i) for each record i; the statistic takes one unit and gives a number or an array."""
    known = {}
    found = []
    for i in range(len(units)):
        there, chance = release(scheme, units, i, strata)
        for unit in set(there.tolist()) - known.keys():
            known[unit] = np.asarray(statistic(unit), dtype=float)
        found.append(sum(c * known[unit] for unit, c in zip(there.tolist(), chance.tolist(), strict=True)))
    return np.array(found)


# --- estimates ------------------------------------------------------------------------------------------


def cdf(scheme, units, at):
    """T at points in units."""
    return np.mean([scheme.weight(at, unit) for unit in np.asarray(units).tolist()], axis=0)


def smoothed_cdf(scheme, units, at, bandwidth):
    """T_b; the bandwidth is in the units of the data, or on the log scale one of the logarithm."""
    beta = bandwidth / scheme.sigma
    return np.mean([scheme.smoothed(at, unit, beta) for unit in np.asarray(units).tolist()], axis=0)


def moment(scheme, units, order):
    return float(np.mean([scheme.power(unit, order) for unit in np.asarray(units).tolist()]))


def variance(scheme, units):
    """With heaps S_Z^2 less the mean variance of the noise; on the log scale from two moments."""
    n = len(units)
    if isinstance(scheme, Log):
        return (moment(scheme, units, 2) - moment(scheme, units, 1) ** 2) * n / (n - 1)
    added = np.mean([scheme.noise_moments(unit, 2)[2] for unit in np.asarray(units).tolist()])
    return float(np.var(scheme.values(units), ddof=1) - (1.0 - scheme.p) * added)


def quantiles(scheme, units, q, crossing):
    """The crossings of T at ascending q, in units; on the log scale within the sign that each belongs to."""
    units, reach = np.asarray(units), math.ceil(REACH * scheme.sigma / scheme.step)
    parts = [(units, 1.0)]
    if isinstance(scheme, Log):
        negative, zero = np.mean(units < 0), np.mean(units == 0)
        parts = [
            (units[units < 0], negative), (units[units == 0], negative + zero), (units[units > 0], 1.0)
        ]  # fmt: skip
    found, left = [], list(q)
    for own, share in parts:
        here, left = [level for level in left if level <= share], [level for level in left if level > share]
        if isinstance(scheme, Log) and not own.any():
            found += [0] * len(here)
        elif here:
            at = np.arange(own.min() - reach, own.max() + reach + 1)
            total = cdf(scheme, units, at)
            for level in here:
                place = np.argmax(total >= level) if crossing == "first" else np.count_nonzero(total < level)
                found.append(int(at[0] + place))
    return found


def gain_of(scheme):
    """E of what the noise multiplies a value by: 1 where it is added."""
    return gain(scheme.noise, scheme.sigma, scheme.step, 1) if isinstance(scheme, Log) else 1.0


def pseudo_values(scheme, z, strata=None):
    """Numbers, linear in the masked values, with the originals as their means given the file.

    Missing values stay, outside the pools.
    """
    z, p, m = np.asarray(z, dtype=float), scheme.p, gain_of(scheme)
    found = np.full(z.size, np.nan)
    for i, pool in enumerate(pools_of(z.size, strata)):
        there = [j for j in pool if z[j] == z[j]]
        if z[i] == z[i]:
            n = len(there)
            middle = np.mean(z[there]) / (p + (1.0 - p) * m)
            found[i] = (z[i] - p * n / (n - 1) * middle) / ((1.0 - p) * m - p / (n - 1))
    return found


def covariance(scheme, z, w, strata=None):
    """With a column that was not masked, of the records that have both values."""
    undone = pseudo_values(scheme, z, strata)
    both = ~(np.isnan(undone) | np.isnan(w))
    return float(np.cov(undone[both], np.asarray(w)[both])[0, 1])


def joint_covariance(a, b, z_a, z_b):
    """Of two columns with one coin and one donor per record; a and b are their schemes."""
    p, n, m_a, m_b = a.p, len(z_a), gain_of(a), gain_of(b)
    product = np.mean(np.asarray(z_a) * z_b) / (p + (1.0 - p) * m_a * m_b)
    means = np.mean(z_a) / (p + (1.0 - p) * m_a) * np.mean(z_b) / (p + (1.0 - p) * m_b)
    return float((product - means) * n / (n - 1))


# --- expectations of what is not linear, for sample donors: given the file records are independent -------


def expected_variance(scheme, units):
    """E of `variance`."""
    n, z = len(units), expected(scheme, units, scheme.values)
    square = expected(scheme, units, lambda unit: scheme.values(unit) ** 2)
    spread = np.sum(square - z**2) / n**2  # of the mean of Z
    if isinstance(scheme, Log):
        mean_square = np.mean(square) / scheme.left(2)
        return float((mean_square - (np.mean(z) ** 2 + spread) / scheme.left(1) ** 2) * n / (n - 1))
    added = expected(scheme, units, lambda unit: scheme.noise_moments(unit, 2)[2])
    return float(
        (np.mean(square) - np.mean(z) ** 2 - spread) * n / (n - 1) - (1.0 - scheme.p) * np.mean(added)
    )


def expected_joint_covariance(a, b, units_a, units_b):
    """E of `joint_covariance`."""
    p, n, m_a, m_b = a.p, len(units_a), gain_of(a), gain_of(b)
    x_a, x_b = a.values(units_a), b.values(units_b)
    z_a, z_b = expected(a, units_a, a.values), expected(b, units_b, b.values)
    carried = (np.sum(x_a * x_b) - x_a * x_b) / (n - 1)
    kept_a, kept_b = (
        np.array([np.sum(np.multiply(*_values_of(s, unit))) for unit in units.tolist()])
        for s, units in ((a, np.asarray(units_a)), (b, np.asarray(units_b)))
    )
    product = p * carried + (1.0 - p) * kept_a * kept_b
    together = np.sum(product - z_a * z_b) / n**2 + np.mean(z_a) * np.mean(z_b)
    left_a, left_b = p + (1.0 - p) * m_a, p + (1.0 - p) * m_b
    return float((np.mean(product) / (p + (1.0 - p) * m_a * m_b) - together / left_a / left_b) * n / (n - 1))


def _values_of(scheme, unit):
    there, chance = scheme.kept(unit)
    return scheme.values(there), chance


# --- published with decimals ------------------------------------------------------------------------------


def shown(values, decimals):
    """Values of the log scale as they are published: rounded, ties up, what is not 0 to at least one step."""
    step = 10.0**-decimals
    whole = np.floor(np.abs(values) / step + 0.5)
    return np.sign(values) * np.where(values == 0.0, 0.0, np.maximum(whole, 1.0)) * step


# --- what the tests look at -----------------------------------------------------------------------------

P = (0.3, 0.6, 0.8)
NOISES = ("normal", "laplace")
HEAPED = [-1300, -230, -31, 0, 0, 7, 12, 100, 110, 250, 400, 400, 999, 1210, 2000, 5005]
SIGNED = [-900.0, -31.2, -30.0, 0.0, 0.0, 0.5, 1.0, 1.1, 7.0, 55.0, 60.0, 100.0, 100.0, 120.0, 130.0, 200.0]


class Case(NamedTuple):
    law: Any  # of p and the noise
    x: list


CASES = {
    "heaps": Case(partial(Heaps, sigma=200.0, step=1.0, highest=2), HEAPED),
    "thousands": Case(partial(Heaps, sigma=2000.0, step=1.0, highest=3), [*HEAPED, 31000, 14000, 10500]),
    "dozens": Case(partial(Heaps, sigma=300.0, step=12.0, highest=1), [12 * v for v in HEAPED]),
    "cents": Case(partial(Heaps, sigma=0.25, step=0.01, highest=1), [v / 100 for v in HEAPED]),
    "log": Case(partial(Log, sigma=0.3, step=0.0625), SIGNED),
    "log, coarse": Case(partial(Log, sigma=0.3, step=0.15), SIGNED),
    "log, default": Case(partial(Log, sigma=0.5, step=2.0**-11), SIGNED),
}


def fifteen(law, units):
    """Points in units: at grid points with records, between, without, and far from all."""
    units = np.unique(units)
    nonzero = units[units != 0]
    between = nonzero[[1, 5, 8, -2]] + [0.5, 0.25, 0.5, 0.75]
    empty = nonzero[[2, 6, -3]] + [3, -2, 5]
    reach = np.ceil(100.0 * law.sigma / law.step)
    far = [nonzero[0] - reach, nonzero[0] - 40, nonzero[-1] + 40, nonzero[-1] + reach]
    return np.sort(np.concatenate([nonzero[[0, 4, -1]], [0], between, empty, far]).astype(float))


def values_at(law, at):
    """The points themselves."""
    return np.asarray(law.values(at), dtype=float)


def made(name, p, noise):
    law = CASES[name].law(p, noise)
    return law, np.array(CASES[name].x, dtype=float)


# --- releases of toy data -----------------------------------------------------------------------------------

ACCEPT = {
    "accept_visible_coins": True
}  # what lets a few made-up values be released, whose coins anyone can see


def masked(scheme, x, **options):
    """The release of one column, by any scheme."""
    return scheme.mask(x, **ACCEPT, **options)
