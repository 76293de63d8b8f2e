"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

The covariance of pseudo-values with a column in clear is that of the original without bias, within strata,
between them, and on any part of the records. Columns masked together keep their covariance
(docs/theory.rst, "Covariance").
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from condmask.engines.counting import ValueCounts
from condmask.inference.interval_options import IntervalOptions
from condmask.inference.intervals import UndefinedError
from condmask.inference.linear_variance import linear_interval, sampled_sums
from condmask.inference.pseudo_values import PseudoValues, covariance_factor, standardised
from condmask.law import Law
from condmask.strata import listed

Product = tuple[float, tuple[float, float], float]  # covariance, both variances; the product of their units


def covariance(a: np.ndarray, b: np.ndarray) -> float:
    """The ordinary covariance, divisor n - 1."""
    return float(np.add.reduce((a - a.mean()) * (b - b.mean())) / (a.size - 1))


def products(pseudo: PseudoValues, w: np.ndarray, law: Law | None) -> Product:
    """Covariance and variances of the originals behind pseudo-values and w, where both are present.

    `law` is that of a column masked together with the first, None of a column in clear. Units are safe.
    """
    b, unit = standardised(w)
    b = b[pseudo.rows]
    both = ~np.isnan(b)
    a, b = pseudo.masked[both], b[both]
    if b.size < 2:
        raise UndefinedError(f"other must have at least 2 values where z has them, got {b.size}")
    noise = 0.0 if law is None else (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
    variances = float(a.var(ddof=1)) - pseudo.noise_variance, float(b.var(ddof=1)) - noise
    first = pseudo.values[both] if law is None else a
    return covariance(first, b), variances, pseudo.unit * unit


def covariance_error(pseudo: PseudoValues, w: np.ndarray, options: IntervalOptions) -> float:
    """The standard error of the covariance with a column in clear, in safe units."""
    w = standardised(w)[0][pseudo.rows]
    rows = ~np.isnan(w)
    w = w[rows] - w[rows].mean()
    weights, values = (w / (w.size - 1))[None], pseudo.values[rows]
    sampled = sampled_sums(weights * (values - values.mean()))
    interval = linear_interval("covariance", weights @ values, weights, sampled, pseudo, rows, options)
    return float(interval.standard_error[0])


def products_of_counts(
    pairs: np.ndarray, counts: ValueCounts, law: Law, strata: Any, patterns: Sequence[str]
) -> Product:
    """Covariance and variances of the originals from the pairs and the counts that Counts keep."""
    count, _, _, root, other_root, product = pairs.tolist()
    if count < 2:
        raise ValueError(f"other must have been given to update with at least 2 records, got {int(count)}")
    if strata is not None or patterns:
        raise ValueError(
            "strata must be known for a covariance: donors were drawn within "
            f"{listed(strata or tuple(patterns))}, and Counts keep no strata; estimate from the values"
        )
    degrees, unit = count - 1.0, root or 1.0
    value = product * (root / unit) / degrees / covariance_factor(law.p, counts.n)
    variance = (root / unit) ** 2 / degrees - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
    return value, (variance, float(other_root > 0.0) / degrees), unit * (other_root or 1.0)
