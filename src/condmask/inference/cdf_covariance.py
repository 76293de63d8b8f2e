r"""Mean products of what T is made of at many points together, for its simultaneous distribution.

As `cdf_variance`, with matrices in place of squares: sums over the masked values of psi at x_i times psi
at x_j, and over the originals of r at both. Records are counted in cells of sigma/32, and the points moved to
edges of cells: a kink of the kernel costs less than a percent of a standard error then.

Cells farther from all points than K reaches are taken together, gap by gap, so wide data take no more time.
"""

from collections.abc import Callable
from math import pi
from typing import NamedTuple

import numpy as np

from condmask.deconvolution import weight
from condmask.deconvolution.expansion import fast_length
from condmask.deconvolution.weight import Masking
from condmask.engines.counting import ValueCounts
from condmask.inference import cdf_variance

CELLS_PER_SIGMA = 32
CHUNK = 1 << 12  # cells at a time


class Products(NamedTuple):
    """Sums over records, at some points and at pairs of them.

    Attributes
    ----------
    psi, psi_products : ndarray of shape (points,) and (points, points)
        Over the masked values.
    residual, residual_products : ndarray of the same shapes
        Of r = h - p psi over the originals.
    """

    psi: np.ndarray
    psi_products: np.ndarray
    residual: np.ndarray
    residual_products: np.ndarray


def products(counts: ValueCounts, masking: Masking, x: np.ndarray) -> Products:
    """At whole steps x, ascending, from the counts of masked values."""
    width, noise = cdf_variance.lattice(masking, CELLS_PER_SIGMA)
    cell, held = cdf_variance.cells(counts, width)
    reach = cdf_variance.kernels(noise, noise.delta).reach
    below = np.append(0.0, np.cumsum(held))

    def near(first: float, last: float) -> tuple[np.ndarray, np.ndarray]:
        dense = np.zeros(int(last - first) + 1 + 4 * reach)
        start, stop = np.searchsorted(cell, (first - 2 * reach, last + 2 * reach + 1.0))
        dense[(cell[start:stop] - first + 2 * reach).astype(np.int64)] = held[start:stop]
        mass = _filtered(dense, noise, undone=True)
        return dense[2 * reach : -2 * reach], mass[2 * reach : -2 * reach]

    def up_to(at: np.ndarray) -> np.ndarray:
        of_originals = cdf_variance.sums(counts, masking, (at + 1.0) * width - 1.0).psi
        return np.array([below[np.searchsorted(cell, at, side="right")], of_originals])

    position = np.clip((x + 1.0) / width - 1.0, cell[0] - reach - 1.0, cell[-1] + reach + 1.0)
    return _summed(near, up_to, noise, np.rint(position))


def products_under(
    share: Callable[[np.ndarray], np.ndarray], n: int, masking: Masking, x: np.ndarray
) -> Products:
    """The products to expect of n records whose originals have a distribution function, `share`, of steps."""
    width, noise = cdf_variance.lattice(masking, CELLS_PER_SIGMA)
    reach = cdf_variance.kernels(noise, noise.delta).reach

    def below(at: np.ndarray) -> np.ndarray:
        return np.asarray(n * share((at + 1.0) * width - 1.0))

    def near(first: float, last: float) -> tuple[np.ndarray, np.ndarray]:
        mass = np.diff(below(np.arange(first - 2 * reach - 1.0, last + 2 * reach + 1.0)))
        return _filtered(mass, noise, undone=False)[2 * reach : -2 * reach], mass[2 * reach : -2 * reach]

    def up_to(at: np.ndarray) -> np.ndarray:
        return np.array([below(at), below(at)])

    return _summed(near, up_to, noise, np.rint((x + 1.0) / width - 1.0))


def without_noise(share: np.ndarray, p: float) -> Products:
    """The products of records that masking leaves as they are, `share` of them at or below each point."""
    both = np.minimum(share[:, None], share)
    return Products(share, both, (1.0 - p) * share, (1.0 - p) ** 2 * both)


def _summed(
    near: Callable[[float, float], tuple[np.ndarray, np.ndarray]],
    up_to: Callable[[np.ndarray], np.ndarray],
    noise: Masking,
    at: np.ndarray,
) -> Products:
    """At cells `at`; `near` gives the masses of Z and X in a stretch of cells, `up_to` all up to some."""
    reach, values, _, _ = cdf_variance.kernels(noise, noise.delta)
    total = [np.zeros(at.size), np.zeros((at.size, at.size))] * 2

    def add(psi: np.ndarray, rest: np.ndarray, of_z: np.ndarray, of_x: np.ndarray) -> None:
        for k, (f, mass) in enumerate(((psi, of_z), (rest, of_x))):
            total[2 * k] = total[2 * k] + f @ mass
            total[2 * k + 1] = total[2 * k + 1] + (f * mass) @ f.T

    cuts = np.flatnonzero(np.diff(at) > 2.0 * reach)
    firsts, lasts = np.append(at[:1], at[cuts + 1]) - reach, np.append(at[cuts], at[-1:]) + reach
    for first, last in zip(firsts, lasts, strict=True):
        for start in np.arange(first, last + 1.0, CHUNK):
            stop = min(start + CHUNK - 1.0, last)
            apart = (at[:, None] - np.arange(start, stop + 1.0)).clip(-reach, reach).astype(np.int64)
            psi = values[0][apart + reach]
            add(psi, (apart >= 0) - noise.p * psi, *near(start, stop))
    # where K is 0 or 1: before the first stretch and between two
    mass = up_to(firsts - 1.0) - np.column_stack((np.zeros(2), up_to(lasts[:-1])))
    after = (at[:, None] > firsts - 1.0).astype(np.float64)
    add(after, (1.0 - noise.p) * after, *mass)
    return Products(*total)


def _filtered(masses: np.ndarray, noise: Masking, *, undone: bool) -> np.ndarray:
    """The masses of masked values from those of originals, or, undone, the other way."""
    size = fast_length(masses.size)
    w = 2.0 * pi / (size * noise.delta) * np.arange(size // 2 + 1)
    factor = noise.p + (1.0 - noise.p) * weight.symbol(noise, w)
    waves = np.fft.rfft(masses, size)
    return np.asarray(np.fft.irfft(waves / factor if undone else waves * factor, size)[: masses.size])
