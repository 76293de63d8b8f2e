"""How far an estimate may lie from its target: n times its variances, from mean squares (`variances`).

An estimate whose influence function is psi on the masked values and h on the originals has, about its value
in the original file, V - D for donors drawn anew and V - Var h for a permutation, with V = Var psi and
D = Var(h - p psi); about the population Var h more. Donors are drawn within strata, and so V, D and Var h are
taken within them; where strata are not known they are taken over all records, which is at least as much in
expectation. For a permutation it is the same (docs/inference.rst, "Strata").
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from condmask.deconvolution.table import smallest_tol
from condmask.deconvolution.weight import Masking
from condmask.inference import cdf_variance
from condmask.inference.cdf_variance import Sums
from condmask.law import Law
from condmask.samples.sample import MaskedSample


class AsymptoticVariance(NamedTuple):
    """n times the variance of an estimate, at some points.

    Attributes
    ----------
    file : ndarray
        About the value in the original file.
    sample : ndarray
        What a sample of the population adds.
    means : Sums
        From which they come.
    """

    file: np.ndarray
    sample: np.ndarray
    means: Sums


def asymptotic_variance(
    of: Callable[[MaskedSample], Sums],
    source: MaskedSample,
    strata: list[MaskedSample],
    *,
    shared_donors: bool,
) -> AsymptoticVariance:
    """That of an estimate of whose ingredients `of` gives the means over the records of a source."""
    means = of(source)
    psi, rest = means.psi**2, means.residual**2
    if strata and shared_donors:
        within = [(part.n / source.n, of(part)) for part in strata]
        psi = np.sum([share * own.psi**2 for share, own in within], axis=0)
        rest = np.sum([share * own.residual**2 for share, own in within], axis=0)
    v, d, h = means.psi_squared - psi, means.residual_squared - rest, means.h_squared - psi
    file = variance_given_file(
        v, np.maximum(d, 0.0), np.maximum(h, 0.0), 0.0, shared_donors=shared_donors, p=source.law.p
    )
    return AsymptoticVariance(file, np.maximum(means.h_squared - means.psi**2, 0.0), means)


def sums_at(x: np.ndarray, width: float | None) -> Callable[[MaskedSample], Sums]:
    """The ingredients of T at points x, of T_b for a bandwidth."""

    def of(source: MaskedSample) -> Sums:
        part = source.noise_class()
        points = part.points(x, width)
        if part.smoothed and width is not None:
            found = cdf_variance.smoothed(part.counts, points, width)
        elif part.law is None:
            found = cdf_variance.without_noise(part.counts, source.law.p, points)
        else:
            found = cdf_variance.sums(part.counts, masking(part.law, width), points)
        return found.over(source.n)

    return of


def masking(law: Law, width: float | None) -> Masking:
    """What K depends on, on a grid that may be coarser than that of the data."""
    return Masking(law.noise, law.p, 0.0 if width is None else width / law.sigma, law.step / law.sigma)


def finest_tol(source: MaskedSample) -> float:
    """The default tolerance of T, or the least that there is at so small a p."""
    return max(1e-10, smallest_tol(source.law.p))


def largest_weight(source: MaskedSample, width: float | None) -> float:
    """The largest weight of a masked value."""
    law = source.noise_class().law
    if law is None:
        return 1.0
    own = masking(law, width)
    cells, noise = cdf_variance.lattice(own)
    return max(1.0, float(cdf_variance.kernels(noise, cells * own.delta).values[0].max()))


def variance_given_file(
    v: np.ndarray, d: np.ndarray, h: np.ndarray, a: np.ndarray | float, *, shared_donors: bool, p: float
) -> np.ndarray:
    """n times the variance of an estimate about its value in the original file; never negative.

    `v` is the variance of the influence function on the masked records, `d` that of its mean given the file,
    `h` that of the influence function on the originals, `a` the covariance of its two margins
    (docs/inference.rst, "The theorem"). About the population it is larger by `h`. With p = 1, a permutation
    of all records, what is released is the file.
    """
    if p == 1.0:
        return np.zeros(np.shape(v))
    found = v - d if shared_donors else v - h + 2.0 * p * np.asarray(a)
    return np.asarray(np.maximum(found, 0.0))
