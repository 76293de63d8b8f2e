"""T at many points together: a Gaussian process, whose covariances are known and which is simulated."""

from collections.abc import Callable
from typing import Any

import numpy as np

from condmask.inference import cdf_covariance
from condmask.inference.cdf_covariance import Products
from condmask.inference.theorem import masking, sums_at
from condmask.samples.sample import MaskedSample

Share = Callable[[np.ndarray], np.ndarray]
RIDGE = 1e-12  # against rounding


def covariance(
    source: MaskedSample,
    x: np.ndarray,
    strata: list[MaskedSample],
    *,
    shared_donors: bool,
    target: str,
    under: Share | None = None,
) -> np.ndarray:
    """n times that of T at ascending points, about the population or the original file.

    `under` is a hypothetical distribution function of the originals as they were rounded; without, the
    distribution is estimated.
    """
    found, n = _products(source, x, under), source.n
    t, rest = found.psi / n, found.residual / n
    means, rests = np.outer(t, t), np.outer(rest, rest)
    if strata and shared_donors:
        within = [(part.n / n, sums_at(x, None)(part)) for part in strata]
        means = sum((share * np.outer(own.psi, own.psi) for share, own in within), np.zeros(means.shape))
        rests = sum(
            (share * np.outer(own.residual, own.residual) for share, own in within), np.zeros(means.shape)
        )
    order = np.arange(x.size)
    sample = t[np.minimum(order[:, None], order)] - np.outer(t, t)
    total = found.psi_products / n - means
    if source.law.p == 1.0:  # what is released is the file
        total = np.zeros(total.shape)
    elif shared_donors:
        total = total - (found.residual_products / n - rests)
    else:
        total = total - (t[np.minimum(order[:, None], order)] - means)
    return np.asarray(total + sample if target == "population" else total)


def largest(covariance: np.ndarray, draws: int, rng: Any) -> np.ndarray:
    """The largest sizes of so many draws of a Gaussian process."""
    try:
        root = np.linalg.cholesky(covariance + RIDGE * np.trace(covariance) * np.eye(len(covariance)))
    except np.linalg.LinAlgError:  # of few records the estimate is not positive definite
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = rng.standard_normal((draws, len(covariance))) @ root.T
    return np.asarray(np.abs(drawn).max(axis=1))


def _products(source: MaskedSample, x: np.ndarray, under: Share | None) -> Products:
    part = source.noise_class()
    points = part.points(x, None)
    if part.law is None:
        below = np.append(0.0, np.cumsum(part.counts.counts))
        held = below[np.searchsorted(part.counts.values, points, side="right")]
        return cdf_covariance.without_noise(held, source.law.p)
    own = masking(part.law, None)
    if under is None:
        return cdf_covariance.products(part.counts, own, points)
    return cdf_covariance.products_under(lambda steps: under(part.values(steps)), source.n, own, points)
