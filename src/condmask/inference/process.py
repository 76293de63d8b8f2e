"""T at many points together: a Gaussian process, whose covariances are known and which is simulated."""

from collections.abc import Callable
from typing import Any

import numpy as np

from condmask.inference import cdf_covariance
from condmask.inference.cdf_covariance import Products
from condmask.inference.theorem import covariance_given_file
from condmask.inference.variance_curve import VarianceCurve, finest_tol
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample

Share = Callable[[np.ndarray], np.ndarray]
RIDGE = 1e-12  # against rounding


def covariance(curve: VarianceCurve, x: np.ndarray, *, target: str, under: Share | None = None) -> np.ndarray:
    """n times the covariances of T at ascending points, about the population or the original file.

    `curve` has its variances. `under` is a hypothetical distribution function of the originals as they were
    rounded; without, the distribution is estimated.
    """
    sample, n = curve.sample, curve.sample.n
    products = _products(sample, x, under)
    t, residual = products.psi / n, products.residual / n
    mean_products, residual_products = np.outer(t, t), np.outer(residual, residual)
    if curve.pools:
        pools = curve.pool_means(x)
        mean_products, residual_products = (
            (pools.share * means.T) @ means for means in (pools.psi, pools.residual)
        )
    order = np.arange(x.size)
    both = t[np.minimum(order[:, None], order)]  # the chance that a value lies below two points
    file = covariance_given_file(
        products.psi_products / n - mean_products, products.residual_products / n - residual_products,
        both - mean_products, 0.0, shared_donors=curve.shared_donors, p=sample.law.p,
    )  # fmt: skip
    return file + (both - np.outer(t, t)) if target == "population" else file


def largest(covariance: np.ndarray, draws: int, rng: Any) -> np.ndarray:
    """The largest sizes of so many draws of a Gaussian process."""
    try:
        root = np.linalg.cholesky(covariance + RIDGE * np.trace(covariance) * np.eye(len(covariance)))
    except np.linalg.LinAlgError:  # of few records the estimate is not positive definite
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = rng.standard_normal((draws, len(covariance))) @ root.T
    return np.asarray(np.abs(drawn).max(axis=1))


def equal_steps(sample: MaskedSample, count: int) -> np.ndarray:
    """Points at equal steps of T, rearranged."""
    levels = (np.arange(count) + 0.5) / count
    return sample.quantiles(levels, None, finest_tol(sample), "rearranged")


def before_rounding(sample: MaskedSample, x: np.ndarray, *, rearranged: bool) -> np.ndarray:
    """T at points between those of the grid, as of the data before they were rounded to it."""
    at, tol = x - half_step(sample), finest_tol(sample)
    return sample.monotone(at, None, tol) if rearranged else sample.values(at, None, tol, "auto")


def half_step(sample: MaskedSample) -> float:
    """By how much rounding may have moved a value."""
    return 0.5 * sample.law.step


def _products(sample: MaskedSample, x: np.ndarray, under: Share | None) -> Products:
    records = sample.noise_class()
    points = records.points(x, None)
    if records.law is None:
        up_to = records.counts.below[np.searchsorted(records.counts.values, points, side="right")]
        return cdf_covariance.without_noise(up_to.astype(np.float64), sample.law.p)
    own = masking(records.law, None)
    if under is None:
        return cdf_covariance.products(records.counts, own, points)
    return cdf_covariance.products_under(lambda steps: under(records.values(steps)), sample.n, own, points)
