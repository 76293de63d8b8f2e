"""Weighted means and totals of the original."""

from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.linear_variance import Sampled, SampledSums, Variation
from condmask.inference.pseudo_values import Part, Parts, PseudoValues


def weighted_mean(weights: Any, pseudo: PseudoValues, options: IntervalOptions) -> tuple[Interval, int]:
    """The mean of the records that have a weight and a cluster, and their number."""
    parts, clusters = pseudo.parts(weights, options.clusters), options.clusters
    total, products, _ = _products(weights, 0.0, parts, pseudo.sums(1))
    size = float(total.sum())
    if not size > 0.0:
        raise ArgumentError("weights must not all be 0")
    estimate = np.array([products / size])
    sums = SampledSums(np.zeros(1), clusters, options.cluster_count)
    variation, squares = Variation(pseudo, total / size), 0.0
    for part in parts:
        w = part.of(weights) / size
        residual = part.values - estimate
        if clusters is not None:
            variation.add(w[None], part)
            sums.add((w * residual)[None], part)
            continue
        # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variation.add(w[None], part, residual**2 / (1.0 - w))
        squares += float(w @ w)
    sampled = sums.sampled if clusters is not None else Sampled(0.0, 1.0 / squares - 1.0)
    interval = variation.interval("weighted mean of the original", estimate, sampled, options)
    return pseudo.in_units(interval), variation.records


def total(weights: Any, pseudo: PseudoValues, options: IntervalOptions) -> tuple[Interval, int]:
    """The total of the records that have a weight and a cluster, and their number; all weigh 1 by default."""
    parts, shift = pseudo.parts(weights, options.clusters), pseudo.origin / pseudo.unit
    sums, products, records = _products(weights, shift, parts, pseudo.sums(1))
    mean = np.array([products / max(records, 1)])
    variation = Variation(pseudo, sums)
    sampled = SampledSums(mean, options.clusters, options.cluster_count)
    for part in parts:
        w = _of(part, weights)
        variation.add(w[None], part)
        sampled.add((w * (part.values + shift))[None], part)
    interval = variation.interval("total of the original", np.array([products]), sampled.sampled, options)
    return pseudo.in_units(interval, total=0.0), records


def _of(part: Part, weights: Any) -> np.ndarray:
    return np.ones(part.size) if weights is None else part.of(weights)


def _products(weights: Any, shift: float, parts: Parts, total: np.ndarray) -> tuple[np.ndarray, float, int]:
    """The sums of the weights by pool, their products with the pseudo-values, and how many there are."""
    products, records = 0.0, 0
    for part in parts:
        w = _of(part, weights)
        part.add_by_pool(total, w[None])
        values = part.values + shift if shift else part.values
        products, records = products + float(w @ values), records + part.size
    return total, products, records
