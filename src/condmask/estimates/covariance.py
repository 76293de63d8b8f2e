"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

A swapped record's donor is any of the other records of its pool, so given the file the masked value has the
mean ``f X_i + (1 - f) Xbar``, Xbar that of the pool and f = (1-p) - p/(n-1), n its size. Undone record by
record, that gives *pseudo-values* whose mean given the file is X_i exactly; their covariance with a column
that was not masked is that of the original without bias, within strata, between them, and on any part of the
records. Columns masked together keep their covariance (docs/theory.rst, "Covariance").
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from condmask.law import Law

Product = tuple[float, tuple[float, float], float]  # covariance, both variances; the product of their units


class Records(NamedTuple):
    """What covariances need besides: the masked values in their places, and the donor pools.

    `rows` has shape (replicates, n), NaN where missing; `pool` the pool of each record, None where all are
    one; `wanting` says what must be given before the pools are known.
    """

    rows: np.ndarray
    pool: np.ndarray | None
    wanting: str | None

    def pools(self) -> np.ndarray | None:
        """The pool of each record; refused where it is not known."""
        if self.wanting is not None:
            raise ValueError(self.wanting)
        return self.pool


def retained(p: float, n: int) -> float:
    """The share of a covariance that masking leaves among the n records of a pool."""
    factor = (1.0 - p) - p / (n - 1) if n > 1 else 0.0
    if factor <= 0.0:
        raise ValueError(
            f"z must have more than {1.0 + p / (1.0 - p):.0f} records (in each stratum) for a covariance "
            f"at p={p}, got {n}"
        )
    return factor


def pseudo_values(z: np.ndarray, law: Law, pool: np.ndarray | None) -> np.ndarray:
    """(Z_i - (1 - f) Zbar) / f, pool by pool; NaN where z is. Without swapping, z itself."""
    if law.p == 0.0:
        return z
    there = ~np.isnan(z)
    code = np.zeros(int(there.sum()), dtype=np.int64) if pool is None else pool[there]
    size = np.bincount(code)
    mean = np.bincount(code, z[there]) / np.maximum(size, 1)
    factor = np.array([retained(law.p, int(n)) if n else 1.0 for n in size])
    found = np.full(z.size, np.nan)
    found[there] = mean[code] + (z[there] - mean[code]) / factor[code]
    return found


def covariance(a: np.ndarray, b: np.ndarray) -> float:
    """The ordinary covariance, divisor n - 1."""
    return float(np.add.reduce((a - a.mean()) * (b - b.mean())) / (a.size - 1))


def standardised(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Deviations from a value among them in units of the largest, and that unit; NaN stays."""
    with np.errstate(over="ignore"):
        shifted = values - values[np.flatnonzero(~np.isnan(values))[0]]
    scale = float(np.nanmax(np.abs(shifted))) or 1.0
    return shifted / scale, scale


def products(
    z: np.ndarray, w: np.ndarray, law: Law, theirs: Law | None, pools: Callable[[], np.ndarray | None]
) -> Product:
    """Covariance and variances of the originals behind z and w, where both are present, in safe units.

    `theirs` is the law of a column masked together with z; of a plain column None.
    """
    (a, unit), (b, other_unit) = standardised(z), standardised(w)
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 2:
        raise ValueError(f"other must have at least 2 values where z has them, got {int(both.sum())}")
    undone = a if theirs is not None else pseudo_values(a, law, pools())
    variances = _variance(a[both], law, unit), _variance(b[both], theirs, other_unit)
    return covariance(undone[both], b[both]), variances, unit * other_unit


def summarised(pairs: np.ndarray, law: Law, n: int, strata: str | None, patterns: Sequence[str]) -> Product:
    """The same from what a Summary of n records keeps of its pairs."""
    count, _, _, own, others, product = pairs.tolist()
    if count < 2:
        raise ValueError(f"other must have been given to update with at least 2 records, got {int(count)}")
    if strata is not None or patterns:
        raise ValueError(
            f"strata must be known for a covariance: donors were drawn within "
            f"{strata or ', '.join(patterns)!r}, and a Summary keeps no strata; estimate from the values"
        )
    degrees, unit = count - 1.0, own or 1.0
    variance = (own / unit) ** 2 / degrees - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
    value = product * (own / unit) / degrees / retained(law.p, n)
    return value, (variance, float(others > 0.0) / degrees), unit * (others or 1.0)


def _variance(values: np.ndarray, law: Law | None, unit: float) -> float:
    """Variance of the original behind values in a safe unit; of a plain column (law None) its own."""
    found = float(values.var(ddof=1))
    return found if law is None else found - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
