"""Whether intervals cover: of every replicate and statistic a 1 or a 0, and the length."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from condmask.inference.intervals import TARGETS, EstimateWarning, Interval, UndefinedError
from condmask.scheme import Scheme

PARTS = ("coverage", "length")
ROUNDING = 1e-9  # of a value: an interval that is no longer is a point


def names(statistics: list[str], levels: tuple[float, ...]) -> list[tuple[str, str]]:
    """The columns of a scheme: the interval, and what of which statistic."""
    return [
        (f"{level} interval, {target}", f"{part} of {statistic}")
        for level in levels
        for target in TARGETS
        for part in PARTS
        for statistic in statistics
    ]


def rows(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, of_sample: np.ndarray, truth: np.ndarray,
    design: Any, levels: tuple[float, ...],
) -> np.ndarray:  # fmt: skip
    """Coverage and length for each replicate, in the order of `names`.

    Parameters
    ----------
    z : ndarray of shape (replicates, n)
        Masked samples.
    other : ndarray of shape (replicates, n), optional
        A column that was not masked.
    of_sample : ndarray of shape (replicates, statistics)
        The statistics of the samples before they were masked, what the target "file" is.
    truth : ndarray of shape (statistics,)
        Those of the population, NaN where it does not know them.
    design : Design
        Quantiles, moments and points.
    """
    stacked_rows = []
    for row in range(len(z)):
        estimate = scheme.estimate(z[row])
        cells: list[np.ndarray] = []
        for level in levels:
            for target in TARGETS:
                options = {"confidence_level": level, "target": target}
                w = None if other is None else other[row]
                low, high = np.array(_ends(estimate, w, design, options)).T
                aim = truth if target == "population" else of_sample[row]
                defined = ~(np.isnan(low) | np.isnan(high) | np.isnan(aim))
                # of what is exact, both ends and the target differ in rounding
                room = np.where(high - low > ROUNDING * np.abs(aim), 0.0, ROUNDING * np.abs(aim))
                covered = np.where(defined, (low - room <= aim) & (aim <= high + room), np.nan)
                cells += [covered, np.where(np.isfinite(high - low), high - low, np.nan)]
        stacked_rows.append(np.concatenate(cells))
    return np.array(stacked_rows)


def _ends(
    estimate: Any, w: np.ndarray | None, design: Any, options: dict[str, Any]
) -> list[tuple[float, float]]:
    """Both ends of the interval of every statistic; NaN where a sample has none."""
    calls: list[tuple[int, Callable[..., Interval]]] = [
        (design.quantiles.size, partial(estimate.quantile_interval, design.quantiles)),
        (1, estimate.mean_interval),
        (1, estimate.std_interval),
        *((1, partial(estimate.moment_interval, order)) for order in design.moments),
    ]
    calls += [] if w is None else [(1, partial(estimate.correlation_interval, w))]
    calls += (
        [(design.points.size, partial(estimate.cdf_interval, design.points))] if design.points.size else []
    )
    ends: list[tuple[float, float]] = []
    for size, call in calls:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EstimateWarning)
                interval = call(**options)
        except UndefinedError:  # this statistic has none: too few records, say, or added noise alone
            ends += [(np.nan, np.nan)] * size
            continue
        ends += list(zip(np.ravel(interval.low).tolist(), np.ravel(interval.high).tolist(), strict=True))
    return ends
