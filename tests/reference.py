"""Slow, plain truth: what the package must give, from NumPy, mpmath and Python integers alone.

Nothing here imports condmask (tests/test_architecture.py sees to it). Every function follows the
words of the documentation, with loops, exact fractions and integers of any length, and no care for
speed. First part: masking, by the draw contract. Then the weight K, and the estimates.
"""

import collections
import functools
import hashlib
import itertools
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
from randomgen import AESCounter
from scipy.special import ndtr

# --- masking: the draw contract
# -------------------------------------------------------------------

ROWS_PER_BLOCK = 65_536
COINS = 0
DONORS = 1
NOISES = 2


# what entries are in a key, as they were when reverse mapping was an option of conditional masking
EARLIER = {
    "ConditionalMasking": {"scale": "linear", "patterns": []},
    "ReverseMapping": {
        "scheme": "ConditionalMasking",
        "reverse_mapping": True,
        "donors": "permutation",
        "patterns": [],
    },
}


def working_secret(seed, schemes, columns, strata=None):
    """The 16 bytes under which ``columns`` are masked together where rng is a whole number."""
    root = hashlib.blake2b(str(seed).encode(), digest_size=16, person=b"condmask seed").digest()
    return derived_secret(root, schemes, columns, strata)


def derived_secret(root, schemes, columns, strata=None):
    """The same where rng is a key: what is released, hashed, are the labels of its use.

    ``schemes`` are names and entries, as published. Columns are as they are masked; where there
    are pools, the first row of each record's pool follows.
    """
    described = [
        [name, {**scheme, **EARLIER.get(scheme["scheme"], {})}] for name, scheme in schemes
    ]
    labels = [b"mask", json.dumps(described, sort_keys=True, separators=(",", ":")).encode()]
    labels += [hashlib.sha256(np.array(column, "<f8").tobytes()).digest() for column in columns]
    if strata is not None or any(value != value for column in columns for value in column):
        first = {}
        rows = [
            -1 if own is None else first.setdefault(own, row)
            for row, own in enumerate(pools(columns, strata))
        ]
        labels.append(hashlib.sha256(np.array(rows, "<i8").tobytes()).digest())
    message = b"".join(len(label).to_bytes(8, "little") + label for label in labels)
    return hashlib.blake2b(message, key=root, digest_size=16, person=b"condmask").digest()


def aes(secret, block, lane, column=0):
    counter = block * 2**64 + lane * 2**56 + column * 2**40
    return AESCounter(key=int.from_bytes(secret, "little"), counter=counter)


def raw_words(secret, block, lane, count):
    return [int(word) for word in aes(secret, block, lane).random_raw(count)]


def block_ranges(n):
    return [range(start, min(start + ROWS_PER_BLOCK, n)) for start in range(0, n, ROWS_PER_BLOCK)]


def swapped_rows(secret, p, n):
    """Rows whose coin word lies below p 2^64, in file order."""
    swapped = []
    for block, rows in enumerate(block_ranges(n)):
        words = raw_words(secret, block, COINS, len(rows))
        swapped += [
            row for row, word in zip(rows, words, strict=True) if word < Fraction(p) * 2**64
        ]
    return swapped


def donor_words(secret, swapped, n):
    """One word for every swapped row, drawn block by block."""
    words = {}
    for block, rows in enumerate(block_ranges(n)):
        inside = [row for row in swapped if row in rows]
        words.update(zip(inside, raw_words(secret, block, DONORS, len(inside)), strict=True))
    return words


def pools(columns, strata):
    """The pool of each row: its stratum and which columns are there; None for a row without
    any."""
    n = len(columns[0])
    there = [tuple(bool(x[row] == x[row]) for x in columns) for row in range(n)]
    stratum = [None] * n if strata is None else list(strata)
    return [(stratum[row], there[row]) if any(there[row]) else None for row in range(n)]


def merged_strata(columns, strata):
    """The strata where small ones are merged, pattern by pattern of missing values; None for no
    pool."""
    pool = pools(columns, strata)
    found = list(pool)
    for pattern in {own[1] for own in pool if own is not None}:
        size = collections.Counter(own[0] for own in pool if own is not None and own[1] == pattern)
        together = {stratum for stratum in size if size[stratum] < 10}
        rest = set(size) - together
        if together and rest and sum(size[stratum] for stratum in together) < 10:
            least = min(size[stratum] for stratum in rest)
            together |= {stratum for stratum in rest if size[stratum] == least}
        for row, own in enumerate(pool):
            if own is not None and own[1] == pattern and own[0] in together:
                found[row] = ("together", pattern)
    return found


def donor_rows(secret, p, columns, strata, donors):
    """{swapped row: the row it takes its values from}; None where the row is in no pool."""
    n = len(columns[0])
    swapped = swapped_rows(secret, p, n)
    words = donor_words(secret, swapped, n)
    pool = pools(columns, strata)
    members = {}
    for row in range(n):
        members.setdefault(pool[row], []).append(row)
    position = {row: k for rows in members.values() for k, row in enumerate(rows)}

    chosen = {}
    for row in swapped:
        if pool[row] is None:
            chosen[row] = None
            continue
        mates = members[pool[row]]
        k = words[row] * (len(mates) - 1) >> 64
        chosen[row] = mates[k + (k >= position[row])]
    if donors == "permutation":
        cycles = {}
        for row in swapped:
            if pool[row] is not None:
                cycles.setdefault(pool[row], []).append(row)
        for cycle in cycles.values():
            cycle.sort(key=lambda row: (words[row], row))
            if len(cycle) > 1:
                chosen.update(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    return chosen


def noise(secret, p, n, law, column):
    """{kept row: its noise}, in file order; in whole steps where there is a grid."""
    name, sigma, step = law
    unit = sigma if step is None else sigma / float(step)
    swapped = set(swapped_rows(secret, p, n))
    drawn = {}
    for block, rows in enumerate(block_ranges(n)):
        kept = [row for row in rows if row not in swapped]
        stream = np.random.Generator(aes(secret, block, NOISES, column))
        if name == "normal":
            values = unit * stream.standard_normal(len(kept))
        else:
            values = stream.laplace(0.0, unit / np.sqrt(2.0), len(kept))
        if step is not None:
            values = np.rint(values)
        drawn.update(zip(kept, values, strict=True))
    return drawn


def exact_step(step):
    """The number that a step stands for: the simplest fraction that is the same float; None for no
    grid."""
    if step == 0.0:
        return None
    simple = Fraction(step).limit_denominator(10**6)
    return simple if float(simple) == step else Fraction(step)


def default_step(sigma):
    """The power of two at or below sigma / 1000."""
    step = Fraction(2) ** math.floor(math.log2(sigma / 1000.0) + 2)
    while step > Fraction(sigma) / 1000:
        step /= 2
    return step


def to_steps(value, step):
    """A value in whole steps of its grid, ties up."""
    return float(math.floor(Fraction(value) / step + Fraction(1, 2))) if value == value else value


def from_steps(steps, step):
    """The float nearest to so many steps."""
    return float(Fraction(steps) * step) if steps == steps else steps


def masked(secret, p, columns, laws, *, strata=None, donors="sample"):
    """The release of ``columns`` under a working secret; a law is (noise, sigma, step or None)."""
    n = len(columns[0])
    taken = donor_rows(secret, p, columns, strata, donors)
    released = []
    for number, (x, law) in enumerate(zip(columns, laws, strict=True)):
        step = law[2]
        values = [float(v) for v in x] if step is None else [to_steps(float(v), step) for v in x]
        added = noise(secret, p, n, law, number)
        z = []
        for row in range(n):
            if row in taken:
                z.append(float("nan") if taken[row] is None else values[taken[row]])
            else:
                z.append(float(values[row] + added[row]))
        released.append(np.array(z if step is None else [from_steps(v, step) for v in z]))
    return released


def mapped_back(secret, p, columns, laws, *, strata=None):
    """The release of ``columns`` by reverse mapping; a law is (noise, sigma, scale)."""
    n = len(columns[0])
    swapped = swapped_rows(secret, p, n)
    pool = pools(columns, strata)
    donor_word = donor_words(secret, swapped, n)
    kept_word = {}
    for block, rows in enumerate(block_ranges(n)):
        taken = [row for row in rows if row in donor_word]
        left = [row for row in rows if row not in donor_word]
        behind = raw_words(secret, block, DONORS, len(rows))[len(taken) :]
        kept_word.update(zip(left, behind, strict=True))
    released = []
    for number, (x, (name, sigma, scale)) in enumerate(zip(columns, laws, strict=True)):
        added = noise(secret, p, n, (name, sigma, None), number)
        z = [float("nan")] * n
        for own in set(pool) - {None}:
            moved = [row for row in swapped if pool[row] == own]
            order = sorted(moved, key=lambda row: donor_word[row])
            for row, giver in zip(moved, order, strict=True):
                z[row] = float(x[giver]) + 0.0
            kept = [row for row in range(n) if row not in donor_word and pool[row] == own]
            if kept and x[kept[0]] != x[kept[0]]:
                continue  # all of this pool miss the column

            def key(row, x=x, added=added, scale=scale):
                value = float(x[row])
                if scale == "linear":
                    return value + added[row], kept_word[row]
                factor = math.exp(added[row]) if added[row] < 709.0 else math.inf
                return value * factor if value else 0.0, kept_word[row]

            values = sorted(float(x[row]) + 0.0 for row in kept)
            for row, value in zip(sorted(kept, key=key), values, strict=True):
                z[row] = value
        released.append(np.array(z))
    return released


# --- the weight K
# ---------------------------------------------------------------------------------
#
# p K(u) + (1 - p) E K(u - Y) = 1{u >= 0}; with a bandwidth beta > 0 (in units of sigma, as u is)
# the right-hand side is Phi(u / beta).


def gauss_legendre(edges, order=60):
    """Nodes and weights of Gauss's rule on every panel between two edges."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    edges = np.asarray(edges, dtype=float)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + nodes)).ravel(), (half * weights).ravel()


def normal_weight(u, p, beta=0.0):
    """K for normal noise by Gauss's rule on the Fourier integral of what is smooth in it."""
    w, weight = gauss_legendre(np.linspace(0.0, 14.0, 15), order=40)
    phi = np.exp(-0.5 * w * w)
    smooth = (1.0 / (p + (1.0 - p) * phi) - 1.0 / p) * np.exp(-0.5 * (beta * w) ** 2)
    u = np.clip(np.asarray(u, dtype=float), -40.0, 40.0)  # beyond, what is left is below 1e-19
    wave = np.sin(np.multiply.outer(u, w)) @ (smooth / w * weight) / math.pi
    return 0.5 + wave + (smoothed_step(u, beta) - 0.5) / p


def normal_density(u, p, beta):
    """K' for normal noise, likewise."""
    w, weight = gauss_legendre(np.linspace(0.0, 14.0, 15), order=40)
    phi = np.exp(-0.5 * w * w)
    smooth = (1.0 / (p + (1.0 - p) * phi) - 1.0 / p) * np.exp(-0.5 * (beta * w) ** 2)
    u = np.clip(np.asarray(u, dtype=float), -40.0, 40.0)
    wave = np.cos(np.multiply.outer(u, w)) @ (smooth * weight) / math.pi
    return wave + np.exp(-0.5 * (u / beta) ** 2) / (beta * math.sqrt(2.0 * math.pi)) / p


def normal_weight_by_residues(u, p, poles=400):
    """K(u) - 1{u >= 0} summed over the poles of 1 / (p + (1-p) phi); mpmath, for |u| > 1/2."""
    total = mpmath.mpf(0)
    for k in range(poles):
        pole = mpmath.sqrt(2 * mpmath.log((1 - mpmath.mpf(p)) / p) + 2j * mpmath.pi * (2 * k + 1))
        total += 2 * mpmath.re(mpmath.exp(1j * pole * abs(u)) / (p * pole**2))
    return float(1 + total if u >= 0 else -total)


def plain_series(u, p, beta=0.0, terms=400):
    """The paper's alternating sum (1/p) sum_t lam^t Phi(u / sqrt(t + beta^2)); for p > 1/2."""
    lam = -(1.0 - p) / p
    total = 0.0
    for t in range(terms):
        total += lam**t * float(smoothed_step(u, math.sqrt(t + beta * beta)))
    return total / p


def smoothed_step(u, beta):
    u = np.asarray(u, dtype=float)
    return (u >= 0.0).astype(float) if beta == 0.0 else ndtr(u / beta)


def laplace_weight(u, p, beta=0.0):
    """K for Laplace noise: an exponential beyond the step; with a bandwidth, smoothed by
    quadrature."""
    decay = math.sqrt(p / 2.0)
    if beta == 0.0:
        u = np.asarray(u, dtype=float)
        tail = (1.0 - p) / (2.0 * p) * np.exp(-np.abs(u) / decay)
        return np.where(u >= 0.0, 1.0 + tail, -tail)
    if np.ndim(u):
        return np.array([laplace_weight(value, p, beta) for value in np.asarray(u).tolist()])
    # the step of K(u - y), at y = u, and its steep tail are edges of panels, and so is the
    # Gaussian's width
    offsets = np.concatenate(
        [np.linspace(-1.0, 1.0, 41) * 10 * beta, u + np.linspace(-1, 1, 41) * 40 * decay]
    )
    edges = np.unique(
        np.append(np.clip(offsets, -10 * beta, 10 * beta), np.clip(u, -10 * beta, 10 * beta))
    )
    y, weight = gauss_legendre(edges)
    gaussian = np.exp(-0.5 * (y / beta) ** 2) / (beta * math.sqrt(2.0 * math.pi))
    return float(laplace_weight(u - y, p) @ (gaussian * weight))


def weights(noise, u, p, beta=0.0):
    return normal_weight(u, p, beta) if noise == "normal" else laplace_weight(u, p, beta)


def noise_cdf(noise, y):
    y = np.asarray(y, dtype=float)
    if noise == "normal":
        return ndtr(y)
    tail = 0.5 * np.exp(-math.sqrt(2.0) * np.abs(y))
    return np.where(y < 0.0, tail, 1.0 - tail)


def rounded_noise(noise, delta, reach):
    """P(Y rounds to k delta), k = -reach .. reach, without cancellation in the tails; Y of unit
    s.d."""
    k = np.arange(1, reach + 1)
    upper = noise_cdf(noise, -(k - 0.5) * delta) - noise_cdf(noise, -(k + 0.5) * delta)
    middle = 1.0 - 2.0 * float(noise_cdf(noise, -0.5 * delta))
    return np.concatenate([upper[::-1], [middle], upper])


def rounded_weights(noise, p, delta, reach):
    """K_d(j), j = -reach .. reach, from the discrete defining equation, solved as a linear system.

    The unknowns are the jumps of K_d, which vanish beyond the reach.
    """
    chance = rounded_noise(noise, delta, 2 * reach)
    size = 2 * reach + 1
    apart = np.subtract.outer(np.arange(size), np.arange(size))
    matrix = (1.0 - p) * chance[apart + 2 * reach] + p * np.eye(size)
    jumps = np.linalg.solve(matrix, np.eye(size)[reach])
    return np.cumsum(jumps)


def grid_jumps(noise, p, delta, size):
    """The jumps of K_d at 0, 1, .. size - 1 steps, from the end back to -1, by the O(size^2)
    Fourier sum.

    What the noise has beyond half the size is folded back, so it must be nothing.
    """
    reach = (size - 1) // 2
    chance = rounded_noise(noise, delta, reach)
    k = np.arange(-reach, reach + 1)
    turns = np.arange(size)
    jumps = np.zeros(size)
    for turn in turns:
        phi = np.sum(chance * np.cos(2.0 * math.pi / size * (turn * k % size)))
        jumps += np.cos(2.0 * math.pi / size * (turn * turns % size)) / (p + (1.0 - p) * phi)
    return jumps / size


def grid_cdf(steps, points, noise, p, delta, beta=0.0, reach=None):
    """T of data on a grid at points in steps; with a bandwidth (in sigma) every jump of K_d is
    smoothed."""
    reach = int(40.0 / delta) + 1 if reach is None else reach
    jumps = np.roll(grid_jumps(noise, p, delta, 2 * reach + 1), reach)
    values = []
    counted = list(zip(*np.unique(steps, return_counts=True), strict=True))
    for point in np.atleast_1d(points).tolist():
        at = point - np.arange(-reach, reach + 1)
        total = 0.0
        for step, count in counted:
            total += count * float(np.sum(jumps * smoothed_step((at - step) * delta, beta)))
        values.append(total / len(steps))
    return np.array(values)


def grid_quantiles(line, levels):
    """(first, rearranged): positions in the values of T at successive points of the grid."""
    first = [
        min((k for k, value in enumerate(line) if value >= q), default=len(line)) for q in levels
    ]
    ascending = sorted(line)
    return first, [sum(value < q for value in ascending) for q in levels]


# --- estimates
# ------------------------------------------------------------------------------------


def cdf(z, x, noise, p, sigma, bandwidth=0.0):
    """T(x) by the double loop of its definition."""
    beta = bandwidth / sigma
    values = []
    for point in np.atleast_1d(x).tolist():
        values.append(
            math.fsum(weights(noise, (point - np.asarray(z)) / sigma, p, beta).tolist()) / len(z)
        )
    return np.array(values)


def pdf(z, x, p, sigma, bandwidth):
    """The derivative of T_b for normal noise."""
    return np.array(
        [
            normal_density((point - np.asarray(z)) / sigma, p, bandwidth / sigma).mean() / sigma
            for point in np.atleast_1d(x).tolist()
        ]
    )


def noise_moments(noise, order, scale):
    """E Y^k as fractions, for a scale that is the standard deviation (Fraction)."""
    result = []
    for k in range(order + 1):
        if k % 2:
            result.append(Fraction(0))
        elif noise == "normal":
            result.append(Fraction(math.prod(range(1, k, 2))) * scale**k)
        else:  # k! a^k, a^2 = sigma^2 / 2
            result.append(Fraction(math.factorial(k), 2 ** (k // 2)) * scale**k)
    return result


def original_moments(z, order, noise, p, sigma, added=None):
    """Raw moments of the original, orders 0 .. order, by Theorem 2.1 in fractions."""
    values = [Fraction(float(v)) for v in z]
    p = Fraction(p)
    added = noise_moments(noise, order, Fraction(sigma)) if added is None else added
    result = []
    for k in range(order + 1):
        masked = sum(v**k for v in values) / len(values)
        known = sum(math.comb(k, j) * result[k - j] * added[j] for j in range(1, k + 1))
        result.append(masked - (1 - p) * known)
    return result


def original_variance(z, p, noise_variance):
    """S_Z^2 - (1-p) Var Y with divisor n - 1, in fractions."""
    values = [Fraction(float(v)) for v in z]
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1) - (1 - Fraction(p)) * Fraction(
        noise_variance
    )


def covariance(z, w, p, strata=None):
    """Theorem 2.5 in fractions, of the records where both values are there.

    Donors are the other records of a stratum that have a z, m in all: masking leaves (1-p) -
    p/(m-1) of a deviation from their mean, whether they have a w or not.
    """
    p = Fraction(p)
    labels = [0] * len(z) if strata is None else list(strata)
    undone = {}
    for label in set(labels):
        pool = {
            row: Fraction(float(z[row]))
            for row in range(len(z))
            if labels[row] == label and z[row] == z[row]
        }
        if len(pool) < 2:
            undone.update(pool)
            continue
        mean = sum(pool.values()) / len(pool)
        left = (1 - p) - p / (len(pool) - 1)
        undone.update({row: mean + (value - mean) / left for row, value in pool.items()})
    pairs = [(value, Fraction(float(w[row]))) for row, value in undone.items() if w[row] == w[row]]
    mean_a, mean_b = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return sum((a - mean_a) * (b - mean_b) for a, b in pairs) / (len(pairs) - 1)


# --- linear statistics
# ----------------------------------------------------------------------------

mpmath.mp.dps = 40


def exact(values):
    """Numbers of 40 digits, in an array that computes with them."""
    return np.array([mpmath.mpf(float(value)) for value in np.ravel(values)], dtype=object)


def sums_by(labels, terms):
    """The sums of the terms of each label."""
    return np.array([sum(terms[labels == own]) for own in sorted(set(labels))], dtype=object)


def about_their_mean(terms):
    """The sum of squares about the mean of as many independent terms, times n / (n - 1)."""
    return sum((terms - sum(terms) / terms.size) ** 2) * terms.size / (terms.size - 1)


class LinearReference:
    """What is linear in the original and its standard errors, from the words of
    docs/inference.rst.

    All records have a value; `pool` numbers them.
    """

    def __init__(self, z, pool, p, sigma, permutation, population_size=math.inf):
        self.p = mpmath.mpf(p)
        self.permutation = permutation
        self.pool = pool
        self.z = exact(z)
        noise = (1 - self.p) * mpmath.mpf(sigma) ** 2
        self.unsampled = 1 - mpmath.mpf(len(z)) / mpmath.mpf(population_size)
        self.undone, self.variance, self.q, self.f = (self.z * 0 for _ in range(4))
        self.shared = {}
        for own in set(pool):
            rows = np.flatnonzero(pool == own)
            z = self.z[rows]
            n = rows.size
            squares = (z - sum(z) / n) ** 2 * n / (n - 1)
            s2 = max(sum(squares) / n - noise, 0)
            other = self.p * s2 + noise
            f = 1 - self.p - self.p / (n - 1)
            self.undone[rows] = (z - (1 - f) * sum(z) / n) / f
            self.variance[rows] = self.p * squares + (1 - self.p) * other
            self.q[rows] = (squares - other) / (1 - self.p)
            self.f[rows] = f
            self.shared[own] = s2

    def about_the_file(self, weights):
        """The variance of sum l_i Zt_i by the masking."""
        total = mpmath.mpf(0)
        for own, s2 in self.shared.items():
            rows = np.flatnonzero(self.pool == own)
            w = weights[rows]
            f = self.f[rows][0]
            n = rows.size
            k = (w - (1 - f) * sum(w) / n) / f
            total += sum(k**2 * self.variance[rows])
            if self.permutation:
                p = self.p
                total -= (
                    sum(k) / n * (2 * p * (1 - p) * sum(k * self.q[rows]) + p * p * s2 * sum(k))
                )
        return max(total, 0)

    def error(self, weights, squares, target):
        """The standard error; `squares` is what the sample varies by, the masking in it
        included."""
        file = self.about_the_file(weights)
        excess = squares - sum(weights**2 * self.variance / self.f**2)
        return mpmath.sqrt(file if target == "file" else file + self.unsampled * max(excess, 0))

    def of_clusters(self, weights, squares, sums):
        """What clusters vary by, and at least what records do and the error of what masking adds
        to both."""
        apart = sum(weights**2 * self.variance / self.f**2) - self.about_the_file(weights)
        return max(
            about_their_mean(sums),
            squares + mpmath.sqrt(mpmath.mpf(2) / (sums.size - 1)) * max(apart, 0),
        )

    def mean(self, weights, target, clusters=None, group=False):
        """A weighted mean and its standard error, 0 for no weight; of a group by n_g / (n_g -
        1)."""
        w = exact(weights) / sum(exact(weights))
        mean = sum(w * self.undone)
        terms = w * (self.undone - mean)
        if group:
            count = np.count_nonzero(w)
            squares = sum(terms**2) * count / (count - 1)
        else:
            squares = sum(terms**2 / (1 - w))
        if clusters is not None:
            squares = self.of_clusters(w, squares, sums_by(clusters[w != 0], terms[w != 0]))
        return mean, self.error(w, squares, target)

    def total(self, weights, target, clusters=None):
        """A total of the records that have a weight, others 0, and its standard error."""
        w = exact(weights)
        terms = (w * self.undone)[w != 0]
        squares = about_their_mean(terms)
        if clusters is not None:
            squares = squares * (terms.size - 1) / terms.size
            squares = self.of_clusters(w, squares, sums_by(clusters[w != 0], terms))
        return sum(terms), self.error(w, squares, target)

    def covariance(self, column, target):
        """The covariance with a plain column and its standard error."""
        w = exact(column)
        n = len(column)
        w = (w - sum(w) / n) / (n - 1)
        terms = w * (self.undone - sum(self.undone) / n)
        squares = about_their_mean(terms)
        return sum(terms), self.error(w, squares, target)

    def regression(self, columns, used, target, clusters=None):
        """Coefficients from the records that are used, and their standard errors, HC3 or by
        clusters."""
        design = np.array([exact(column) for column in columns]) * used
        inverse = np.array(mpmath.inverse(mpmath.matrix((design @ design.T).tolist())).tolist())
        lines = inverse @ design  # the weights of each coefficient
        found = lines @ self.undone
        residual = self.undone - found @ design
        n = int(used.sum())
        q = design.shape[0]
        errors = []
        for line in lines:
            if clusters is None:
                leverages = (design * lines).sum(axis=0)
                squares = sum((line * residual / (1 - leverages)) ** 2)
            else:
                sums = sums_by(clusters[used], (line * residual)[used])
                squares = (
                    self.of_clusters(line, sum((line * residual) ** 2), sums)
                    * mpmath.mpf(n - 1)
                    / (n - q)
                )
            errors.append(self.error(line, squares, target))
        return found, errors


class MaskedRegression:
    """Regression of the last column on the others, 1 first, of which some were masked together.

    From the words of docs/inference.rst: polynomials in the deviations of masked columns, which
    are undone monomial by monomial. Columns have NaN where a value is missing; `noise` has the
    second and the fourth moment by place. Without noise the released values are the originals, as
    reverse mapping by none has it.
    """

    def __init__(self, columns, noise, p, pool, *, shared_donors=False):
        columns = np.array(columns)
        self.places = sorted(noise)
        here = ~np.isnan(columns[self.places]).any(axis=0)
        columns = columns[:, here]
        _, self.number, self.size = np.unique(pool[here], return_inverse=True, return_counts=True)
        self.p = p
        self.noise = noise
        self.shared_donors = shared_donors
        # p'
        self.lent = (
            (p * self.size / (self.size - 1))[self.number] if p < 1 else np.ones(here.sum())
        )
        self.f = 1 - self.lent if p < 1 else self.lent
        self.used = ~np.isnan(columns).any(axis=0)
        self.n = self.used.sum()
        self.clear = columns.copy()
        self.z = []
        for place in self.places:
            self.clear[place] = self.average(columns[place])
            self.z.append(columns[place] - self.clear[place])
        self.clear = np.where(self.used, self.clear, 0.0)
        self.nothing = (0,) * len(self.places)
        self.known = {"m": {self.nothing: 1.0}, "t": {self.nothing: 1.0}}
        every = np.eye(len(columns))
        products = np.array(
            [[self.mean(times(self.form(g), self.form(c))) for c in every] for g in every]
        )
        self.inverse = np.linalg.inv(products[:-1, :-1])
        self.found = self.inverse @ products[:-1, -1]
        rows = np.array([self.undone(self.form(g)) for g in every[:-1]]) * self.used
        self.leverage = np.einsum("ij,ij->j", rows, np.linalg.solve(rows @ rows.T, rows))

    def average(self, values):
        """Means over the pool, record by record."""
        return (np.bincount(self.number, values) / self.size)[self.number]

    def form(self, g):
        """A linear form of the columns, as a polynomial: the factors by exponents."""
        own = {
            self.exponents(k): np.full(self.used.size, g[place])
            for k, place in enumerate(self.places)
        }
        return {self.nothing: g @ self.clear} | own

    def exponents(self, k):
        return tuple(int(k == m) for m in range(len(self.places)))

    def of(self, kind, a):
        """The moment m, or the pseudo-value t, of a product of powers (Theorem 2.1)."""
        if a not in self.known[kind]:
            found = math.prod(z**k for z, k in zip(self.z, a, strict=True))
            if kind == "m":
                found = self.average(found)
            elif self.p < 1:
                found = found - self.lent * self.of("m", a)
            if self.p < 1:
                for b in itertools.product(*(range(k + 1) for k in a)):
                    moments = [
                        math.comb(k, m)
                        * {0: 1, 2: self.noise[place][0], 4: self.noise[place][1]}.get(k - m, 0)
                        for place, k, m in zip(self.places, a, b, strict=True)
                    ]
                    if b != a and all(moments):
                        found = found - (1 - self.p) * math.prod(moments) * self.of(kind, b)
            self.known[kind][a] = found / self.f if kind == "t" else found
        return self.known[kind][a]

    def undone(self, polynomial):
        return sum(factor * self.of("t", a) for a, factor in polynomial.items())

    def mean(self, polynomial):
        return (self.used * self.undone(polynomial)).sum() / self.n

    def variance(self, g, c, target):
        """The variance of the mean of the product of two forms."""
        product = times(self.form(g), self.form(c))
        given = {
            a: self.average(self.used * factor) for a, factor in product.items()
        }  # to the pool, as donor
        given[self.nothing] = -sum(given[a] * self.of("m", a) for a in given if sum(a) == 2)
        own = self.used * self.undone(product)
        lent = self.lent * self.undone(given)
        if self.shared_donors:
            more = 2.0 * self.lent * self.used * self.undone(times(product, given))
            more = more - self.lent**2 * self.undone(times(given, given))
        else:
            more = 2.0 * (g @ self.clear) * (c @ self.clear) * lent
        plain = (own - lent) ** 2
        robust = ((own - lent) / (1.0 - self.leverage)) ** 2
        if target == "population":
            return (robust.sum() + more.sum() - (own - lent).sum() ** 2 / self.n) / self.n**2
        within = self.mean(times(product, product)) - self.mean(product) ** 2
        file = plain.sum() + more.sum() - (own - lent).sum() ** 2 / self.n - self.n * within
        return file * robust.sum() / plain.sum() / self.n**2

    def intervals(self, reach, target, wald=False):
        """Coefficients, their standard errors, and the ends: where the test does not reject.

        The variance for a coefficient that is larger by delta is computed where delta g is as
        large as r. By Wald's interval it is the same for every delta, but of masked regressors.
        """
        found = []
        hidden = []
        r = np.append(-self.found, 1.0)
        for j, estimate in enumerate(self.found):
            g = np.append(self.inverse[j] / self.inverse[j, j], 0.0)
            d, square = (self.mean(times(self.form(c), self.form(c))) for c in (g, r))
            step = math.sqrt(abs(square / d))
            at, up, down = (
                self.variance(g, r - delta * g, target) for delta in (0.0, step, -step)
            )
            half = reach**2 * (up - down) / (4.0 * step)
            bend = (up + down - 2.0 * at) / (2.0 * step**2)
            if wald and j not in self.places:
                half = 0.0
                bend = 0.0
            error = math.sqrt(max(at, 0.0)) / d
            left = d**2 - reach**2 * bend
            radius = math.sqrt(max(half**2 + left * (reach * d * error) ** 2, 0.0))
            ends = (
                [(half - radius) / left, (half + radius) / left]
                if d > 0 < left
                else [-np.inf, np.inf]
            )
            found.append(
                [estimate, error, estimate + ends[0], estimate + ends[1]]
                if d > 0
                else [np.nan, np.nan, *ends]
            )
            if j in self.places:
                x = self.form(np.eye(r.size)[j])
                x[self.nothing] = x[self.nothing] - self.mean(x)
                worth = self.n * self.mean(times(x, x)) / np.mean(self.undone(x)[self.used] ** 2)
                if d <= 3.0 * math.sqrt(max(bend, 0.0)) or worth < 40.0:
                    hidden.append(j)
        for j, each in enumerate(found):
            if set(hidden) - {j}:
                each[2:] = [-np.inf, np.inf]
        return np.array(found).T


def times(one, two):
    """The product of two polynomials."""
    found = {}
    for (a, left), (b, right) in itertools.product(one.items(), two.items()):
        power = tuple(map(sum, zip(a, b, strict=True)))
        found[power] = found.get(power, 0.0) + left * right
    return found


# --- many releases at once
# ------------------------------------------------------------------------


def releases(rng, x, p, sigma, donors="sample", noise="normal"):
    """A release of each row of whole steps by eq. (1), noise rounded to them; donors as schemes
    name them."""
    count, n = x.shape
    swapped = rng.random(x.shape) < p
    if donors == "sample":
        donor = rng.integers(0, n - 1, x.shape)
        donor += donor >= np.arange(n)
    else:  # one cycle through the swapped records
        donor = np.tile(np.arange(n), (count, 1))
        for row, coins in zip(donor, swapped, strict=True):
            ring = rng.permutation(np.flatnonzero(coins))
            row[ring] = np.roll(ring, 1)
    drawn = (
        rng.standard_normal
        if noise == "normal"
        else lambda size: rng.laplace(0.0, math.sqrt(0.5), size)
    )
    kept = x + np.rint(sigma * drawn(x.shape))
    return np.where(swapped, np.take_along_axis(x, donor, axis=1), kept)


def cdfs(z, points, noise, p, delta):
    """T of each row of whole steps at ascending points, a matrix product of counts and weights."""
    first = int(z.min())
    last = int(z.max())
    reach = int(24.0 / delta)
    size = last - first + 1
    place = (z - first).astype(np.int64) + size * np.arange(len(z))[:, None]
    counts = np.bincount(place.ravel(), minlength=size * len(z)).reshape(len(z), size)
    k = rounded_weights(noise, p, delta, reach)
    apart = np.subtract.outer(np.asarray(points), np.arange(first, last + 1)).astype(np.int64)
    return counts @ k[np.clip(apart, -reach, reach) + reach].T / z.shape[1]


# --- clusters far apart
# -----------------------------------------------------------------------------

SETTLES = 40  # sigma, beyond which K is 0 or 1 to 1e-18 for p >= .05


@functools.cache
def settled_weights(noise, p, per_sigma, grid):
    """K at all points that it may differ from 0 or 1 at."""
    reach = SETTLES * per_sigma
    if grid:
        return rounded_weights(noise, p, 1.0 / per_sigma, reach)
    return weights(noise, np.arange(-reach, reach + 1) / per_sigma, p)


def cluster_line(clusters, noise, p, per_sigma, *, grid):
    """T without a bandwidth about each cluster: [(center, first step, T there and on, T just
    before), ...].

    ``clusters`` are ascending (center, {place: records}), places and steps counted from the
    center, so many to a sigma; on a grid they are its steps. Clusters within reach of each other
    become one.
    """
    reach = SETTLES * per_sigma
    k = settled_weights(noise, p, per_sigma, grid)
    jump = 1.0 / p if noise == "normal" else 1.0 + (1.0 - p) / p
    together = []
    for center, held in clusters:
        apart = (center - together[-1][0]) * per_sigma if together else math.inf
        if together and apart + min(held) - max(together[-1][1]) <= 3 * reach:
            for place, records in held.items():
                there = place + round(apart)
                together[-1][1][there] = together[-1][1].get(there, 0) + records
        else:
            together.append((center, dict(held)))
    n = sum(sum(held.values()) for _, held in together)
    before = 0
    line = []
    for center, held in together:
        first = min(held) - reach
        t = np.full(max(held) + reach + 1 - first, float(before))
        jumps = np.zeros(t.size)
        for place, records in held.items():
            start = place - reach - first
            t[start : start + k.size] += records * k
            t[start + k.size :] += records
            jumps[place - first] += 0.0 if grid else records * jump
        before += sum(held.values())
        line.append(
            (center, first, t / n, np.append(t[:-1] if grid else (t - jumps)[1:], 0.0) / n)
        )
    return line


def cluster_quantiles(line, q, per_sigma):
    """(first, rearranged): where T first is at least q, and how long it is below, from where the
    line begins.

    T goes straight from step to step, and between clusters it is level.
    """
    found = None
    lengths = [line[0][0], line[0][1] / per_sigma]
    for k, (center, first, t, left) in enumerate(line):
        reached = np.flatnonzero(t >= q)
        if found is None and reached.size:
            found = center + (first + int(reached[0])) / per_sigma
        begin = t[:-1]
        end = left[:-1]
        along = np.clip((q - begin) / np.where(end == begin, 1.0, end - begin), 0.0, 1.0)
        rising = np.where(end < q, 1.0, along)
        below = np.where(begin < q, rising, np.where(end < q, 1.0 - along, 0.0))
        lengths.append(float(below.sum()) / per_sigma)
        if k + 1 < len(line) and t[-1] < q:
            lengths += [line[k + 1][0] - center, (line[k + 1][1] - first - t.size + 1) / per_sigma]
    return found, math.fsum(lengths)
