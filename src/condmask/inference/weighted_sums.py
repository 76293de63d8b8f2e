"""Weighted means and totals of the original."""

import numpy as np

from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import Interval
from condmask.inference.linear_variance import Sampled, SampledSums, Variation
from condmask.inference.pseudo_values import PseudoValues


def weighted_mean(
    weights: np.ndarray, pseudo: PseudoValues, options: IntervalOptions
) -> tuple[Interval, int]:
    """The mean of the records that have a weight and a cluster, and their number."""
    parts = pseudo.parts(weights, options.clusters)
    total, products = pseudo.sums(1), 0.0
    for part in parts:
        w = part.of(weights)
        part.add_by_pool(total, w[None])
        products += float(w @ part.values)
    size = float(total.sum())
    if not size > 0.0:
        raise ValueError("weights must not all be 0")
    estimate = np.array([products / size])
    variation, squares = Variation(pseudo, total / size), 0.0
    clusters = SampledSums(np.zeros(1), options.clusters, options.cluster_count)
    for part in parts:
        w = part.of(weights) / size
        residual = part.values - estimate
        if options.clusters is None:
            # a residual lacks the share of its own weight; where all are equal this is n / (n - 1)
            with np.errstate(invalid="ignore", divide="ignore"):
                variation.add(w[None], part, residual**2 / (1.0 - w))
            squares += float(w @ w)
        else:
            variation.add(w[None], part)
            clusters.add((w * residual)[None], part)
    sampled = clusters.sampled if options.clusters is not None else Sampled(0.0, 1.0 / squares - 1.0)
    interval = variation.interval("weighted mean of the original", estimate, sampled, options)
    return pseudo.in_units(interval), variation.records


def total(weights: np.ndarray | None, pseudo: PseudoValues, options: IntervalOptions) -> tuple[Interval, int]:
    """The total of the records that have a weight and a cluster, and their number; all weigh 1 by default."""
    parts = pseudo.parts(weights, options.clusters)
    sums, products, records = pseudo.sums(1), 0.0, 0
    for part in parts:
        w = np.ones(part.size) if weights is None else part.of(weights)
        part.add_by_pool(sums, w[None])
        products += float(w @ (part.values + pseudo.origin / pseudo.unit))
        records += part.size
    variation = Variation(pseudo, sums)
    sampled = SampledSums(np.array([products / max(records, 1)]), options.clusters, options.cluster_count)
    for part in parts:
        w = np.ones(part.size) if weights is None else part.of(weights)
        variation.add(w[None], part)
        sampled.add((w * (part.values + pseudo.origin / pseudo.unit))[None], part)
    interval = variation.interval("total of the original", np.array([products]), sampled.sampled, options)
    return pseudo.in_units(interval, total=0.0), records
