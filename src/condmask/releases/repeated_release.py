"""What several releases of the same records reveal about which were swapped.

Given a record's true value x, releases are independent: the r-th shows another record's value, of density f,
with probability p_r, else x plus noise of density k_r. Also, a value that one release copies is copied by
another one too if the record to which it belongs was swapped there; a sum with noise recurs only by chance.
Let S_r and O_r be the chances that z_r recurs unchanged, if it was swapped and if not. Then an attacker who
knows f, p and k finds the chance that z_R is the record's own by integrals over x:

    int (1 - p_R) k_R(z_R - x) O_R prod_r<R l_r(x) f(x) dx  /  int prod_r<=R l_r(x) f(x) dx,
    l_r(x) = p_r f(z_r) S_r + (1 - p_r) k_r(z_r - x) O_r.

They are sums over points distributed as f, and as each k_r around z_r, weighted by the density of them all.
"""

from collections.abc import Callable, Sequence

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.law import Law

MOST = 1_024  # records that are guessed
POINTS = 32  # of an integral, from each density
CELLS = 512  # on which the density of the data is known
BANDWIDTH = 1.06  # of Silverman's rule, times the standard deviation n^(-1/5)


def guessed_coins(x: np.ndarray, laws: Sequence[Law], n: int | None = None) -> float:
    """The share of records whose swap status in the last of several releases an attacker guesses right from
    their values in all of them; x are the originals, or some of n."""
    present = x[~np.isnan(x)]
    n = present.size if n is None else n
    data = present[evenly_spaced(present.size, MOST)]
    stream = np.random.default_rng(data.size)  # for a simulation only; no release depends on it
    density = _density(data)
    swapped = [stream.random(data.size) < law.p for law in laws]
    z = [
        np.where(swap, stream.choice(data, data.size), _with_noise(data, law, stream))
        for swap, law in zip(swapped, laws, strict=True)
    ]
    middles = (np.arange(POINTS) + 0.5) / POINTS
    points = [np.broadcast_to(np.quantile(data, middles), (data.size, POINTS))]
    points += [z[r][:, None] + law.sigma * _noise_quantiles(law, middles) for r, law in enumerate(laws)]
    at = np.concatenate(points, axis=1)
    f = density(at)
    kernels = [_noise_density(law, z[r][:, None] - at) for r, law in enumerate(laws)]
    product = f / (f + sum(kernels))
    for r, law in enumerate(laws):
        again = np.ones((2, data.size))  # S, O
        for other in (law for k, law in enumerate(laws) if k != r):
            seen = _seen_again(data, z[r], other, n, density)
            happens = stream.random(data.size) < np.where(swapped[r], *seen)
            again *= np.where(happens, seen, 1.0 - seen)
        before = product
        own = (1.0 - law.p) * again[1][:, None] * kernels[r]
        product = before * ((law.p * again[0] * density(z[r]))[:, None] + own)
    posterior = np.sum(before * own, axis=1) / np.sum(product, axis=1)
    return float(np.mean(np.maximum(posterior, 1.0 - posterior)))


def _seen_again(
    data: np.ndarray, z: np.ndarray, other: Law, n: int, density: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The chances that a value recurs in another release of n records, if it was swapped and if not."""
    distinct, counts = np.unique(data, return_counts=True)
    at = np.minimum(np.searchsorted(distinct, z), distinct.size - 1)
    alike = np.where(distinct[at] == z, counts[at] - 1, 0) / data.size
    own = np.mean(_noise_density(other, z[:, None] - data), axis=1)
    released = other.p * density(z) + (1.0 - other.p) * own
    by_chance = -np.expm1(-n * (other.p * alike + other.step * released))
    return np.stack([by_chance + (1.0 - by_chance) * other.p, by_chance])


def _with_noise(x: np.ndarray, law: Law, stream: np.random.Generator) -> np.ndarray:
    return law.from_units(law.to_units(x) + law.draw(stream, x.size))


def _noise_density(law: Law, y: np.ndarray) -> np.ndarray:
    """The density of the noise before it is rounded."""
    u = y / law.sigma
    if law.noise == "normal":
        return np.asarray(np.exp(-0.5 * u * u) / (law.sigma * np.sqrt(2.0 * np.pi)))
    return np.asarray(np.exp(-np.sqrt(2.0) * np.abs(u)) / (law.sigma * np.sqrt(2.0)))


def _noise_quantiles(law: Law, q: np.ndarray) -> np.ndarray:
    """Quantiles of the noise in units of its standard deviation."""
    if law.noise == "normal":
        from scipy.special import ndtri  # takes .1 s to import

        return np.asarray(ndtri(q))
    return np.asarray(-np.sign(q - 0.5) * np.log1p(-2.0 * np.abs(q - 0.5)) / np.sqrt(2.0))


def _density(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The density of the data by normal kernels, interpolated between cells that follow the data."""
    width = BANDWIDTH * float(np.std(x)) * x.size**-0.2 or 1.0
    ends = np.min(x) - 5.0 * width, np.max(x) + 5.0 * width
    cells = np.unique(np.concatenate([np.linspace(*ends, CELLS), np.quantile(x, np.linspace(0, 1, CELLS))]))
    u = (cells[:, None] - x) / width
    values = np.mean(np.exp(-0.5 * u * u), axis=1) / (width * np.sqrt(2.0 * np.pi))
    least = np.min(values[values > 0.0])  # far out, where only noise reaches
    return lambda z: np.maximum(np.interp(z, cells, values), least)
