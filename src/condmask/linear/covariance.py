"""How several sums of originals with known weights vary together.

Covariances are those of which `variance.variances_of_sums` has the diagonal: given the file
``sum k_i k'_i v_i`` less what the donors of a permutation have in common, and over samples
the products of the contributions of records, or of clusters. They take one more pass over the
records, which is made when they are needed.

See docs/inference.rst, "Estimates that are compared".
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from condmask.inference.interval import Target
from condmask.linear.chunks import Chunk, Chunks, summed
from condmask.linear.pseudo_values import PseudoValues

Step = Callable[[Chunk], tuple[np.ndarray, np.ndarray]]  # weights and contributions, (sums, m)


class Sums(NamedTuple):
    """Sums of originals: what `variances_of_sums` takes, of records and columns with clusters as
    the last.

    Attributes
    ----------
    pseudo : PseudoValues
    chunks : Chunks
    total : ndarray of shape (sums, pools)
        Sums of weights by pool.
    step : callable
        Gives the weights and contributions of the records of a chunk, of shape (sums, m).
    clusters : int
        0 for none.
    correction : float
        By which variances over samples are multiplied.
    """

    pseudo: PseudoValues
    chunks: Chunks
    total: np.ndarray
    step: Step
    clusters: int
    correction: float = 1.0


def covariances(of: Sums, target: Target, sampled: float) -> np.ndarray:
    """Return the covariances of sums in units of the pseudo-values, of shape (sums, sums).

    `sampled` is the share of the population that is not in the file.
    """
    pseudo = of.pseudo
    size = np.maximum(pseudo.size, 1.0)
    lowered = of.total * pseudo.share / size

    def fold(chunk: Chunk) -> tuple[Any, ...]:
        weights, contributions = of.step(chunk)
        factor = chunk.of_pool(pseudo.factor)
        v, q = pseudo.spread(chunk)
        k = (weights - chunk.of_pool(lowered)) / factor
        sums: Any = 0.0
        if of.clusters:
            one = np.ones(chunk.z.size)
            rows = np.vstack([contributions, one])
            sums = summed(rows, chunk.columns[-1], of.clusters)
        return (
            (k * v) @ k.T,
            (weights * (v / factor**2)) @ weights.T,
            contributions @ contributions.T,
            sums,
            chunk.by_pool(np.ones(chunk.z.size), size.size),
            chunk.by_pool(v, size.size),
            chunk.by_pool(weights * q, size.size),
        )

    own, masked, products, sums, members, v, q = of.chunks.fold(fold, cells=of.clusters)
    file = own + _of_pools(pseudo, of.total, lowered, members, v, q)
    if target == "file":
        return np.asarray(file)
    if of.clusters:
        products = _of_clusters(sums, products)
    return np.asarray(file + sampled * (products * of.correction - masked))


def _of_clusters(sums: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the products of the sums of clusters about their means."""
    occurs = sums[-1] > 0
    count = int(occurs.sum())
    if count < 2:
        return products
    centred = sums[:-1, occurs] - sums[:-1, occurs].mean(axis=1, keepdims=True)
    return np.asarray(centred @ centred.T * (count / (count - 1.0)))


def _of_pools(
    pseudo: PseudoValues,
    total: np.ndarray,
    lowered: np.ndarray,
    members: np.ndarray,
    v: np.ndarray,
    q: np.ndarray,
) -> np.ndarray:
    """Return what pools add besides ``k_i k'_i v_i`` of the records used: see
    `variance.variance_of_pools`, whose quadratic form this is for pairs."""
    size = np.maximum(pseudo.size, 1.0)
    others = -lowered / pseudo.factor
    rest = np.where(members < size, pseudo.v - v, 0.0)
    of_others = (others * rest) @ others.T
    common = np.empty((len(total), len(total)))
    for row in range(len(total)):
        plus, less = (
            pseudo.in_common(
                total[row] + sign * total,
                others[row] + sign * others,
                q[row] + sign * q,
                slice(None),
            )
            for sign in (1.0, -1.0)
        )
        apart = np.broadcast_to(0.25 * (np.asarray(plus) - less), total.shape)
        common[row] = apart.sum(axis=-1)
    return np.asarray(of_others - common)
