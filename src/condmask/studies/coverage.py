"""Whether intervals cover: 1 or 0 for every replicate and statistic, and the length."""

from typing import Any

import numpy as np

from condmask.inference.intervals import TARGETS
from condmask.scheme import Scheme
from condmask.studies import interval_rows

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
    low, high = interval_rows.ends(scheme, z, other, design, levels)
    cells = []
    for level in range(len(levels)):
        for k, target in enumerate(TARGETS):
            aim = truth if target == "population" else of_sample
            least, most = low[level, k].T, high[level, k].T
            defined = ~(np.isnan(least) | np.isnan(most) | np.isnan(aim))
            # of what is exact, both ends and the target differ in rounding
            with np.errstate(invalid="ignore"):  # infinite ends
                length, slight = most - least, ROUNDING * np.abs(aim)
            room = np.where(length > slight, 0.0, slight)
            covered = np.where(defined, (least - room <= aim) & (aim <= most + room), np.nan)
            cells += [covered, np.where(np.isfinite(length), length, np.nan)]
    return np.concatenate(cells, axis=1)
