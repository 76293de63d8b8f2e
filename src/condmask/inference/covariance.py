"""Covariance of the original with another column: Theorem 2.5, with strata, gaps and joint masking.

A swapped record's donor is any of the other records of its pool, so given the file the masked value has the
mean ``f X_i + (1 - f) Xbar``, Xbar that of the pool, n its size and f = 1 - p - p/(n-1). Undone record by
record, that gives *pseudo-values* whose mean given the file is X_i exactly; their covariance with a column
that was not masked is that of the original without bias, within strata, between them, and on any part of the
records. Columns masked together keep their covariance (docs/theory.rst, "Covariance").
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask.engines.counting import ValueCounts
from condmask.inference.intervals import UndefinedError
from condmask.law import Law
from condmask.strata import listed

Product = tuple[float, tuple[float, float], float]  # covariance, both variances; the product of their units


def covariance_factor(p: float, n: int) -> float:
    """The share of a covariance that masking leaves among the n records of a pool."""
    factor = 1.0 - p - p / (n - 1) if n > 1 else 0.0
    if factor <= 0.0:
        raise UndefinedError(
            f"z must have more than {1.0 + p / (1.0 - p):.0f} records (in each stratum) for a "
            f"covariance at p={p}, got {n}"
        )
    return factor


class Donors(NamedTuple):
    """The donor pools of present values: each one's pool, and by pool the number, their mean and f."""

    pool: np.ndarray
    size: np.ndarray
    mean: np.ndarray
    factor: np.ndarray

    def own(self, values: np.ndarray) -> np.ndarray:
        """What is known by pool, by record; of a single pool it need not be repeated."""
        return values if values.size == 1 else values[self.pool]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums by pool."""
        single = self.size.size == 1
        return values.sum(keepdims=True) if single else np.bincount(self.pool, values, self.size.size)


def donors(z: np.ndarray, law: Law, pool: np.ndarray | None) -> Donors:
    """The pools of values without gaps; some numbers of pools may not occur."""
    code = np.zeros(z.size, dtype=np.int64) if pool is None else pool
    size = np.array([z.size]) if pool is None else np.bincount(code)
    factor = np.array([covariance_factor(law.p, int(n)) if n else 1.0 for n in size])
    known = Donors(code, size, np.zeros(size.size), factor)
    return known._replace(mean=known.sums(z) / np.maximum(size, 1))


def pseudo_values(z: np.ndarray, law: Law, pool: np.ndarray | None) -> np.ndarray:
    """Xbar + (Z_i - Zbar) / f, pool by pool, Xbar from Zbar; NaN where z is. Without swapping, z itself."""
    if law.p == 0.0:
        return z
    there = ~np.isnan(z)
    known = donors(z[there], law, None if pool is None else pool[there])
    found = np.full(z.size, np.nan)
    found[there] = undone(z[there], known)
    return found


def undone(z: np.ndarray, known: Donors) -> np.ndarray:
    """The pseudo-values of values without gaps."""
    mean = known.own(known.mean)
    return np.asarray(mean + (z - mean) / known.own(known.factor))


def covariance(a: np.ndarray, b: np.ndarray) -> float:
    """The ordinary covariance, divisor n - 1."""
    return float(np.add.reduce((a - a.mean()) * (b - b.mean())) / (a.size - 1))


def standardised(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Deviations from a value among them in units of the largest, and that unit; NaN stays."""
    with np.errstate(over="ignore"):
        shifted = values - values[np.flatnonzero(~np.isnan(values))[0]]
    scale = float(max(np.fmax.reduce(shifted), -np.fmin.reduce(shifted))) or 1.0
    return shifted / scale, scale


def products(
    z: np.ndarray, w: np.ndarray, law: Law, theirs: Law | None, undo: Callable[[np.ndarray], np.ndarray]
) -> Product:
    """Covariance and variances of the originals behind z and w, where both are present, in safe units.

    `theirs` is the law of a column masked together with z; of a plain column None. `undo` gives the
    pseudo-values of masked values in safe units.
    """
    (a, unit), (b, other_unit) = standardised(z), standardised(w)
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 2:
        raise UndefinedError(f"other must have at least 2 values where z has them, got {int(both.sum())}")
    variances = (
        _variance(a[both], law, unit),
        float(b[both].var(ddof=1)) if theirs is None else _variance(b[both], theirs, other_unit),
    )
    own = a if theirs is not None else undo(a)
    return covariance(own[both], b[both]), variances, unit * other_unit


def summarised(
    pairs: np.ndarray, counts: ValueCounts, law: Law, strata: Any, patterns: Sequence[str]
) -> Product:
    """The same from what Counts keep of its pairs, and its counts."""
    count, _, _, own, others, product = pairs.tolist()
    if count < 2:
        raise ValueError(f"other must have been given to update with at least 2 records, got {int(count)}")
    if strata is not None or patterns:
        raise ValueError(
            "strata must be known for a covariance: donors were drawn within "
            f"{listed(strata or tuple(patterns))}, and Counts keep no strata; estimate from the values"
        )
    degrees, unit = count - 1.0, own or 1.0
    value = product * (own / unit) / degrees / covariance_factor(law.p, counts.n)
    variance = (own / unit) ** 2 / degrees - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
    return value, (variance, float(others > 0.0) / degrees), unit * (others or 1.0)


def _variance(values: np.ndarray, law: Law, unit: float) -> float:
    """Variance of the original behind masked values, in a safe unit."""
    return float(values.var(ddof=1)) - (1.0 - law.p) * float(law.noise_moments(2, unit)[2])
