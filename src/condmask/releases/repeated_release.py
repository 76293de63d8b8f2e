"""What several releases of the same records tell of who was swapped.

Given a record's true value x, releases are independent: the r-th shows another record's value, of density f,
with probability p_r, else x plus noise of density k_r. Besides, a value that one release copies is copied by
another one as well if the record that it belongs to was swapped there too; a sum with noise is seen again by
chance alone. With S_r and O_r, the chances that z_r is seen again as it is if it was swapped and if not, who
knows f, p and k finds the chance that z_R is the record's own by a sum over x, here over some of the records:

    sum_x (1 - p_R) k_R(z_R - x) O_R prod_r<R l_r(x)  /  sum_x prod_r<=R l_r(x),
    l_r(x) = p_r f(z_r) S_r + (1 - p_r) k_r(z_r - x) O_r.
"""

from collections.abc import Sequence

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.law import Law

MOST = 1_024  # records for the law of the data, and as many that are guessed
BANDWIDTH = 1.06  # of Silverman's rule, times the standard deviation n^(-1/5)


def guessed_coins(x: np.ndarray, laws: Sequence[Law], n: int | None = None) -> float:
    """The share of records for which an attacker rightly guesses whether the last of several releases swapped
    them, from their values in all of them; x are the originals, or a part of n."""
    present = x[~np.isnan(x)]
    n = present.size if n is None else n
    rows = present[evenly_spaced(present.size, 2 * MOST)]
    stream = np.random.default_rng(rows.size)  # of a simulation, which no release depends on
    data, records = np.array_split(stream.permutation(rows), 2)
    distinct, counts = np.unique(rows, return_counts=True)
    product = np.ones((records.size, data.size))
    for r, law in enumerate(laws):
        before = product
        swapped = stream.random(records.size) < law.p
        z = np.where(swapped, stream.choice(data, records.size), _with_noise(records, law, stream))
        again = np.ones((2, records.size))  # S, O
        for other in (law for k, law in enumerate(laws) if k != r):
            at = np.minimum(np.searchsorted(distinct, z), distinct.size - 1)
            alike = np.where(distinct[at] == z, counts[at] - 1, 0) / rows.size
            by_chance = n * (other.p * alike + other.step * _released_density(data, z, other))
            seen = -np.expm1(-by_chance) * np.ones((2, 1))
            seen[0] += (1.0 - seen[0]) * other.p
            happens = stream.random(records.size) < np.where(swapped, *seen)
            again *= np.where(happens, seen, 1.0 - seen)
        own = (1.0 - law.p) * again[1][:, None] * _noise_density(law, z[:, None] - data)
        product = before * ((law.p * again[0] * _density(data, z, law.sigma))[:, None] + own)
    posterior = np.sum(before * own, axis=1) / np.sum(product, axis=1)
    return float(np.mean(np.maximum(posterior, 1.0 - posterior)))


def _with_noise(x: np.ndarray, law: Law, stream: np.random.Generator) -> np.ndarray:
    return law.from_units(law.to_units(x) + law.draw(stream, x.size))


def _noise_density(law: Law, y: np.ndarray) -> np.ndarray:
    """The density of the noise before it is rounded."""
    u = y / law.sigma
    if law.noise == "normal":
        return np.asarray(np.exp(-0.5 * u * u) / (law.sigma * np.sqrt(2.0 * np.pi)))
    return np.asarray(np.exp(-np.sqrt(2.0) * np.abs(u)) / (law.sigma * np.sqrt(2.0)))


def _released_density(x: np.ndarray, z: np.ndarray, law: Law) -> np.ndarray:
    """The density of a release of these data."""
    own = np.mean(_noise_density(law, z[:, None] - x), axis=1)
    return np.asarray(law.p * _density(x, z, law.sigma) + (1.0 - law.p) * own)


def _density(x: np.ndarray, z: np.ndarray, widest: float) -> np.ndarray:
    """The density of the data, by normal kernels no wider than this."""
    width = min(widest, BANDWIDTH * float(np.std(x)) * x.size**-0.2) or widest
    u = (z[:, None] - x) / width
    return np.asarray(np.mean(np.exp(-0.5 * u * u), axis=1) / (width * np.sqrt(2.0 * np.pi)))
