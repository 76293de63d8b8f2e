"""Means of columns that were masked together, with their covariances (docs/inference.rst, "Two
masked columns").

Columns masked together share swap status and donors. So under noise any sum of columns times
factors is itself a column masked conditionally, and its mean has the error of Theorem 2.1 of
Ghatak & Roy; after reverse mapping the means of the file are known, and samples vary by the
covariances of the originals.
"""

from collections.abc import Mapping

import numpy as np

from condmask.errors import ArgumentError
from condmask.estimates.compared import KnownJoint
from condmask.estimates.estimate import Estimate
from condmask.estimates.pairs import released_values
from condmask.estimates.results import Intervals
from condmask.inference.interval import TARGETS, Target, interval
from condmask.law import EXACT
from condmask.strata import values_by_pool


def joint_means(estimates: Mapping[str, Estimate], level: float, target: Target) -> Intervals:
    """Return the means of columns masked together over the records that have all values.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        At least two, by name; exactly two after reverse mapping.
    level : float
    target : {"population", "file"}
    """
    first, *others = estimates.values()
    for other in others:
        released_values(first, other)  # refuses columns that were not masked together
    z = np.array([each.records.z for each in estimates.values()])
    complete = ~np.isnan(z).any(axis=0)
    n = int(complete.sum())
    if n < 2:
        raise ArgumentError(f"columns must have at least two records with all values, got {n}")
    file, sampled = _mapped(estimates, z) if first.law == EXACT else _noisy(first, estimates, z)
    joint = (file if target == "file" else file + sampled) / n
    names = list(estimates)
    of_means = interval(
        z[:, complete].mean(axis=1),
        np.sqrt(np.maximum(np.diag(joint), 0.0)),
        level,
        target,
        "mean of the original",
        degrees=n - 1.0,
    )
    left_out = z.shape[1] - n
    remark = f" ({left_out} of {z.shape[1]} records left out, where a value is missing)"
    return Intervals.of(
        of_means,
        names,
        f"means of the originals {TARGETS[target]}{remark if left_out else ''}",
        np.full(len(names), n),
        ("column",),
        degrees=np.full(len(names), n - 1.0),
        joint=KnownJoint(joint),
    )


def _noisy(
    first: Estimate, estimates: Mapping[str, Estimate], z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return n times the covariances of means about the file, and what sampling adds."""
    p = first.law.p
    noise = (1.0 - p) * np.diag([each.law.variance for each in estimates.values()])
    complete = ~np.isnan(z).any(axis=0)
    marked = np.where(complete, 0.0, np.nan)
    n = int(complete.sum())
    count = len(z)
    file = np.zeros((count, count))
    sampled = np.zeros((count, count))
    middle = z[:, complete].mean(axis=1)
    for rows, _ in values_by_pool(marked, first.records.pools()):
        part = z[:, rows]
        size = part.shape[1]
        share = size / n
        released = np.cov(part) if size > 1 else np.zeros((count, count))
        originals = nonnegative(released - noise)
        kept = originals
        if first.scheme.shared_donors:
            kept = (1.0 - p) ** 2 * originals
            file += share * (originals + noise - kept)
        else:
            file += share * noise
        between = part.mean(axis=1) - middle
        sampled += share * (originals + np.outer(between, between))
    return file, sampled


def _mapped(estimates: Mapping[str, Estimate], z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for two columns after reverse mapping, where the means of the file are
    known.

    The covariance is the lesser of that of the released columns and its unbiased estimate. The
    latter would leave the variance of a difference of columns that hardly differ to its error.
    """
    one, two = estimates.values()
    complete = ~np.isnan(z).any(axis=0)
    originals = np.cov(z[:, complete])
    least = min(originals[0, 1], one.covariance(two))
    originals[0, 1] = originals[1, 0] = least
    return np.zeros(originals.shape), nonnegative(originals)


def nonnegative(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest covariance matrix: no combination of columns has a negative variance."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(clipped * np.outer(scale, scale))
