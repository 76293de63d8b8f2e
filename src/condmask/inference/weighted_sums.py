"""Weighted means and totals of the original: one sum with known weights, and how it varies."""

from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval_options import IntervalOptions, cluster_sums
from condmask.inference.pseudo_values import Undone, file_covariance


class WeightedSum(NamedTuple):
    """A sum of originals in units of the file: the variance about the file, what the population adds to it,
    and the degrees of freedom."""

    estimate: float
    file: float
    excess: float
    degrees: float


def weighted_mean(weights: np.ndarray, file: Undone, rows: Any, asked: IntervalOptions) -> WeightedSum:
    """Of the records `rows` among those with a value, by weights that add up to 1."""
    own = file.values[rows]
    estimate = float(weights @ own)
    part = weights * (own - estimate)
    # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares, degrees = np.sum(part**2 / (1.0 - weights)), 1.0 / np.sum(weights**2) - 1.0
    if asked.clusters is not None:
        squares, degrees = _of_clusters(cluster_sums(part[None], asked.clusters[file.rows][rows])[0])
    return _sum(weights, file, rows, estimate, float(squares), float(degrees))


def total(weights: np.ndarray, file: Undone, rows: Any, asked: IntervalOptions) -> WeightedSum:
    """Of the records `rows` among those with a value."""
    part = weights * (file.values[rows] + file.origin / file.unit)
    estimate = float(np.sum(part))
    if asked.clusters is not None:
        part = cluster_sums(part[None], asked.clusters[file.rows][rows])[0]
    squares, degrees = _of_clusters(part - estimate / part.size)
    return _sum(weights, file, rows, estimate, squares, degrees)


def _of_clusters(sums: np.ndarray) -> tuple[float, float]:
    """The variance of a total over units of a sample, and its degrees of freedom."""
    degrees = sums.size - 1.0
    return float(np.sum(sums**2)) * sums.size / max(degrees, 1.0), degrees


def _sum(
    weights: np.ndarray, file: Undone, rows: Any, estimate: float, squares: float, degrees: float
) -> WeightedSum:
    variance = float(file_covariance(weights[None], file, rows)[0, 0])
    noise = float(weights**2 @ file.noise()[rows])
    return WeightedSum(estimate, variance, squares - noise, degrees)
