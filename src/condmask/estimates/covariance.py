"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

A swapped record's donor is any of the other records of its pool, so given the file the masked value has the
mean ``f X_i + (1 - f) Xbar``, Xbar that of the pool and f = (1-p) - p/(n-1), n its size. Undone record by
record, that gives *pseudo-values* whose mean given the file is X_i exactly; their covariance with a column
that was not masked is that of the original without bias, within strata, between them, and on any part of the
records. Columns masked together keep their covariance (docs/theory.rst, "Covariance").
"""

import numpy as np

from condmask.law import Law


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
