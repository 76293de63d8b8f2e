"""Estimates totals of the original, with weights or without.

See docs/inference.rst, "Groups, weights, regressions, pairs".
"""

import numpy as np

from condmask.inference.interval import Interval
from condmask.linear.chunks import Chunk, Chunks
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import ColumnOrName, Records
from condmask.linear.variance import (
    ONE_CLUSTER,
    ONE_RECORD,
    IntervalOptions,
    t_interval,
    variances_of_sums,
)


def total(
    pseudo: PseudoValues, records: Records, weights: ColumnOrName, options: IntervalOptions
) -> tuple[Interval, int]:
    """Return the total of the records that have a weight and a cluster, and their number.

    Without `weights`, each record has the weight 1.
    """
    chunks = Chunks(records, weights, options.clusters)
    clusters = options.cluster_count
    shift = pseudo.origin / pseudo.unit

    def contributions(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        weight = np.ones(chunk.z.size) if weights is None else chunk.column(0)
        return weight[None], (weight * (pseudo.values(chunk) + shift))[None]

    def sums(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, int]:
        weight, products = contributions(chunk)
        return chunk.by_pool(weight, pseudo.size.size), products.sum(axis=1), chunk.z.size

    def centred(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        weight, products = contributions(chunk)
        return weight, products if clusters else products - estimate / m

    of_weights, estimate, m = chunks.fold(sums)
    correction = 1.0 if clusters else m / max(m - 1, 1)
    variances, degrees = variances_of_sums(
        pseudo, chunks, of_weights, centred, clusters, correction
    )
    interval = t_interval(
        "total of the original",
        estimate,
        variances,
        degrees if clusters else m - 1.0,
        pseudo,
        options,
        total=0.0,
        unknown=ONE_CLUSTER if clusters else ONE_RECORD,
    )
    return interval, m
