"""The ends of the intervals of many samples of one law, for all levels and targets at once.

Samples under conditional masking or reverse mapping are taken together. Other schemes, and rows spread too
widely for a lattice, are estimated one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from condmask.errors import heard
from condmask.inference import reverse_pairs
from condmask.inference.cdf_rows import CdfRows, exact_ends
from condmask.inference.intervals import TARGETS, EstimateWarning, Interval, UndefinedError
from condmask.inference.reverse_mapped import ReverseMapped
from condmask.moments import moment_interval, pair_interval, pair_variance, theorem_2_1, theorem_2_5
from condmask.samples.exact import EXACT
from condmask.scheme import Scheme
from condmask.schemes.conditional import ConditionalMasking


def ends(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Any, levels: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends, of shape (levels, targets, statistics, rows); NaN where a sample has none.

    Statistics are the quantiles, the mean, the standard deviation, the moments, the correlation with the
    other column where there is one, and the distribution function at the points of the design.
    """
    if not isinstance(scheme, ConditionalMasking) or (scheme.law is not None and scheme.grid is None):
        each = [_one_by_one(scheme, z, other, design, levels, row) for row in range(len(z))]
        return np.stack([low for low, _ in each], -1), np.stack([high for _, high in each], -1)
    law, targets = scheme.law or EXACT, tuple(TARGETS)
    if law is EXACT:
        found = exact_ends(z, design.quantiles, design.points, levels, targets)
    else:
        rows = CdfRows(z, law, shared_donors=scheme.shared_donors)
        found = rows.ends(design.quantiles, design.points, levels, targets)
    highest = 2 * max((2, *design.moments))
    powers = theorem_2_1.powers_of_rows(z, highest, law.sigma)
    sampled = moment_interval.Sampled(z.shape[1], law, scheme.shared_donors, powers)
    of_levels = np.array(levels)[:, None]
    of_moments = []
    for target in targets:
        asked = sampled, of_levels, target
        mean, *raw = (
            moment_interval.moment_interval(*asked, order, "", central=False)[:2]
            for order in (1, *design.moments)
        )
        of_moments.append([mean, moment_interval.variance_interval(*asked, root=True)[:2], *raw])
    parts = [found.quantiles, np.moveaxis(np.array(of_moments), (0, 1, 2, 3), (2, 3, 0, 1))]
    if other is not None:
        of_pairs = np.full((2, len(levels), len(targets), 1, len(z)), np.nan)
        for which, pairs in _correlations(scheme, z, other):
            for k, t in np.ndindex(len(levels), len(targets)):
                of_pairs[:, k, t, 0, which] = pairs.ends(levels[k], targets[t])
        parts.append(of_pairs)
    both = np.concatenate([*parts, found.cdf], axis=3)
    for row in np.flatnonzero(~found.served).tolist():
        both[..., row] = _one_by_one(scheme, z, other, design, levels, row)
    return both[0], both[1]


def _correlations(
    scheme: ConditionalMasking, z: np.ndarray, other: np.ndarray
) -> Iterator[tuple[Any, pair_interval.Correlation]]:
    """The correlations of rows with rows of the other column, where samples have one, and which rows."""
    if scheme.law is not None:
        with suppress(UndefinedError):
            moments = theorem_2_5.pair_moments(z, other)
            pair = pair_variance.pair_of(moments, scheme.law, None, shared_donors=scheme.shared_donors)
            yield slice(None), pair_interval.correlation(pair)
        return
    for row in range(len(z)):
        with suppress(UndefinedError):
            pair = reverse_pairs.pair_of(ReverseMapped(z[row], scheme, None), other[row])
            yield row, pair_interval.correlation(pair)


# --- one by one ---------------------------------------------------------------------------------------


def _one_by_one(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Any, levels: Sequence[float], row: int
) -> np.ndarray:
    """Both ends of one sample, of shape (2, levels, targets, statistics)."""
    estimate, w = scheme.estimate(z[row]), None if other is None else other[row]
    each = [
        [
            _ends(estimate, w, design, {"confidence_level": level, "target": target})
            for target in TARGETS
        ]
        for level in levels
    ]  # fmt: skip
    return np.moveaxis(np.array(each), -1, 0)


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
            with heard(EstimateWarning):
                interval = call(**options)
        except UndefinedError:  # this statistic has none: too few records, say, or added noise alone
            ends += [(np.nan, np.nan)] * size
            continue
        ends += list(zip(np.ravel(interval.low).tolist(), np.ravel(interval.high).tolist(), strict=True))
    return ends
