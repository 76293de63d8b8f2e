"""Weighted means and totals of the original."""

from typing import Any

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.linear_variance import Sampled, linear_interval, sampled_sums, weighted_squares
from condmask.inference.pseudo_values import PseudoValues


def weighted_mean(weights: np.ndarray, pseudo: PseudoValues, rows: Any, options: IntervalOptions) -> Interval:
    """The mean of the records `rows` among those with a value."""
    if not weights.sum() > 0.0:
        raise ValueError("weights must not all be 0")
    weights, values = weights / weights.sum(), pseudo.values[rows]
    estimate = weights @ values
    residual = values - estimate
    if options.clusters is None:
        # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = weighted_squares(weights[None], residual**2 / (1.0 - weights))
            sampled = Sampled(squares, 1.0 / np.sum(weights**2) - 1.0)
    else:
        sampled = sampled_sums((weights * residual)[None], options.clusters[pseudo.rows][rows])
    interval = linear_interval(
        "weighted mean of the original", np.array([estimate]), weights[None], sampled, pseudo, rows, options
    )
    return pseudo.in_units(interval)


def total(weights: np.ndarray, pseudo: PseudoValues, rows: Any, options: IntervalOptions) -> Interval:
    """The total of the records `rows` among those with a value."""
    parts = (weights * (pseudo.values[rows] + pseudo.origin / pseudo.unit))[None]
    clusters = None if options.clusters is None else options.clusters[pseudo.rows][rows]
    sampled = sampled_sums(parts, clusters)
    interval = linear_interval(
        "total of the original", parts.sum(axis=1), weights[None], sampled, pseudo, rows, options
    )
    return pseudo.in_units(interval, total=0.0)
