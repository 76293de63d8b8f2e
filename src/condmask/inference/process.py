"""T at many points together: a Gaussian process with known covariances, which is simulated."""

from math import pi, prod

import numpy as np

from condmask._blocks import blocks
from condmask._randomness import words
from condmask.inference.cdf_covariance import Counted, Records, WithoutNoise
from condmask.inference.theorem import covariance_given_file
from condmask.inference.variance_curve import VarianceCurve, finest_tol
from condmask.samples.bandwidth import masking
from condmask.samples.masked_sample import MaskedSample

RIDGE = 1e-12  # against rounding
AT_ONCE = 1 << 15  # normal deviates, so that they stay in the cache


def covariance(curve: VarianceCurve, x: np.ndarray, *, target: str) -> np.ndarray:
    """n times the covariances of T at ascending points, about the population or the original file.

    `curve` has its variances.
    """
    sample, n, order = curve.sample, curve.sample.n, np.arange(x.size)
    records, points = _records(sample), sample.noise_class().points(x, None)

    psi = records.psi(points)
    t = psi.sums / n
    both = t[np.minimum(order[:, None], order)]  # the chance that a value lies below two points
    squares = np.outer(t, t)
    d: np.ndarray | float = 0.0
    if curve.shared_donors:
        residual = records.residual(points)
        r = residual.sums / n
        d = residual.products / n
        d -= np.outer(r, r)
    file = covariance_given_file(
        psi.products / n - squares, d, both - squares, 0.0, shared_donors=curve.shared_donors, p=sample.law.p
    )
    return np.asarray(file + (both - squares) if target == "population" else file)


def largest(covariance: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The largest sizes of so many draws of a Gaussian process, in single precision."""
    try:
        root = np.linalg.cholesky(covariance + RIDGE * np.trace(covariance) * np.eye(len(covariance)))
    except np.linalg.LinAlgError:  # of few records the estimate is not positive definite
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    root, at_once = root.astype(np.float32), max(1, AT_ONCE // len(root))
    sizes = [
        np.abs(root @ _normal(rng, len(root), stop - start)).max(axis=0)
        for start, stop in blocks(draws, at_once)
    ]
    return np.concatenate(sizes, dtype=np.float64)


def equal_steps(sample: MaskedSample, count: int) -> np.ndarray:
    """Points at equal steps of T, rearranged."""
    levels = (np.arange(count) + 0.5) / count
    return sample.quantiles(levels, None, finest_tol(sample), "rearranged")


def before_rounding(sample: MaskedSample, x: np.ndarray, *, rearranged: bool) -> np.ndarray:
    """T at points between those of the grid, as of the data before they were rounded to it."""
    at, tol = x - half_step(sample), finest_tol(sample)
    return sample.monotone(at, None, tol) if rearranged else sample.values(at, None, tol, "auto")


def half_step(sample: MaskedSample) -> float:
    """The most by which rounding may have moved a value."""
    return 0.5 * sample.law.step


def _records(sample: MaskedSample) -> Records:
    """The records of a sample."""
    counts, law, *_ = sample.noise_class()
    if law is not None:
        return Counted(counts, masking(law, None))

    def share(steps: np.ndarray) -> np.ndarray:
        return counts.below[np.searchsorted(counts.values, steps, side="right")] / sample.n

    return WithoutNoise(share, sample.n, sample.law.p)


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal deviates to seven digits, in pairs of a radius and an angle: sooner than the generator has them.

    The farthest are 6.8 standard deviations out.
    """
    count = prod(shape)
    drawn = words(rng, (count + 1) // 2).view(np.uint32).reshape(2, -1).astype(np.float32)
    drawn += np.float32(0.5)  # so that none is 0
    drawn *= np.float32(2.0**-32)
    radius, angle = np.sqrt(-2.0 * np.log(drawn[0])), np.float32(2.0 * pi) * drawn[1]
    np.multiply(radius, np.cos(angle), out=drawn[0])
    np.multiply(radius, np.sin(angle), out=drawn[1])
    return drawn.ravel()[:count].reshape(shape)
