"""Whether intervals cover: 1 or 0 for every replicate and statistic, and the length."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from condmask.errors import heard
from condmask.moments import moment_interval, pair_interval
from condmask.scheme import Scheme
from condmask.variance.cdf_interval import cdf_interval
from condmask.variance.interval import TARGETS, EstimateWarning, UndefinedError, multiplier
from condmask.variance.quantile_interval import quantile_interval

ROUNDING = 1e-9  # of a value: an interval that is no longer is a point


def tried(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, of_file: np.ndarray, design: Any
) -> dict[tuple[str, str], np.ndarray]:
    """Coverage and length in each masked sample, by interval and statistic.

    `other` is a column that was not masked, `of_file` has the statistics of the samples as they were masked,
    row by row.
    """
    low, high = ends(scheme, z, other, design)
    found, count = dict[tuple[str, str], np.ndarray](), low.shape[2]
    for (k, level), (t, target) in product(enumerate(design.levels), enumerate(TARGETS)):
        aim = of_file[:, :count].T if target == "file" else design.truth[:count, None]
        least, most = low[k, t], high[k, t]
        # of what is exact, both ends and the target differ in rounding
        with np.errstate(invalid="ignore"):  # infinite ends
            length, slight = most - least, ROUNDING * np.abs(aim)
        room = np.where(length > slight, 0.0, slight)
        known = ~(np.isnan(least) | np.isnan(most) | np.isnan(aim))
        covered = np.where(known, (least - room <= aim) & (aim <= most + room), np.nan)
        row = f"{level} interval, {target}"
        for part, values in (("coverage", covered), ("length", length)):
            named = zip(design.statistics[:count], values, strict=True)
            found |= {(row, f"{part} of {statistic}"): own for statistic, own in named}
    return found


def ends(scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Any) -> np.ndarray:
    """Both ends, of shape (2, levels, targets, statistics, rows); NaN where a sample has none.

    Statistics are the quantiles, the mean, the standard deviation, the distribution function at the points of
    the design, and the correlation with the other column where there is one.
    """
    batch, levels = scheme.estimate(z), design.levels
    c = np.array([multiplier(level) ** 2 / z.shape[1] for level in levels])
    of_cdf = [_of_cdf(each, design, c) for each in batch._replicates]
    quantiles, cdf = (np.moveaxis(np.array(found), 0, -1) for found in zip(*of_cdf, strict=True))
    parts = [quantiles, _of_moments(batch, levels), cdf]
    return np.concatenate(parts if other is None else [*parts, _of_pairs(batch, other, levels)], axis=3)


def _of_cdf(estimate: Any, design: Any, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of quantiles and of the distribution function, of shape (2, levels, targets, statistics)."""
    (t, sums), sample = estimate._of_cdf, estimate._sample
    q, back = np.unique(design.quantiles, return_inverse=True)
    value = sample.to_units(sample.quantiles(q), t)
    of_quantiles = sample.law.from_units(quantile_interval(t, sums, q, value, c, tuple(TARGETS))[..., back])
    x = sample.to_units(design.points, t)
    there = t.at(x), sums.variance(x), c[:, None]
    return of_quantiles, np.stack([cdf_interval(*there, target) for target in TARGETS], axis=2)


def _of_moments(batch: Any, levels: Sequence[float]) -> np.ndarray:
    """Both ends of the mean and the standard deviation of rows, at all levels at once."""
    sampled, found = batch._sampled(4), []
    for target in TARGETS:
        asked = sampled, np.array(levels)[:, None], target
        mean = moment_interval.moment_interval(*asked, 1, "", central=False)[:2]
        found.append([mean, moment_interval.variance_interval(*asked, root=True)[:2]])
    return np.transpose(found, (2, 3, 0, 1, 4))


def _of_pairs(batch: Any, other: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Both ends of the correlation with the other column; after reverse mapping sample by sample."""
    found = np.full((2, len(levels), len(TARGETS), 1, len(other)), np.nan)
    single: Any = enumerate(batch._replicates) if batch.scheme.reverse_mapping else [(slice(None), batch)]
    for rows, estimate in single:
        with heard(EstimateWarning), suppress(UndefinedError):
            of_rows = estimate._of_pair(other[rows], pair_interval.correlation)
            for (k, level), (t, target) in product(enumerate(levels), enumerate(TARGETS)):
                found[:, k, t, 0, rows] = of_rows.ends(level, target)
    return found
