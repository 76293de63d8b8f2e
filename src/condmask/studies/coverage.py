"""Whether intervals cover: 1 or 0 for every replicate and statistic, and the length."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from condmask.distribution.quantiles import crossing_of
from condmask.distribution.sample import EXACT
from condmask.errors import heard
from condmask.law import Law
from condmask.linear.records import Records
from condmask.moments import moment_interval, pair_interval, pair_variance, theorem_2_1, theorem_2_5
from condmask.reverse_mapping import pairs
from condmask.reverse_mapping.pseudo_values import ReverseMapped
from condmask.scheme import Scheme
from condmask.schemes.conditional import ConditionalMasking
from condmask.variance.cdf_interval import cdf_interval
from condmask.variance.interval import TARGETS, EstimateWarning, Interval, UndefinedError, multiplier
from condmask.variance.of_cdf import t_1_and_sums
from condmask.variance.quantile_interval import quantile_interval

TOL = 1e-10  # by so much T may stay below a probability that counts as reached
ROUNDING = 1e-9  # of a value: an interval that is no longer is a point


def names(statistics: list[str], levels: tuple[float, ...]) -> list[tuple[str, str]]:
    """The columns of a scheme: the interval, and what of which statistic."""
    return [
        (f"{level} interval, {target}", f"{part} of {statistic}")
        for level in levels
        for target in TARGETS
        for part in ("coverage", "length")
        for statistic in statistics
    ]


def rows(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, of_sample: np.ndarray, design: Any
) -> np.ndarray:
    """Coverage and length for each masked sample, in the order of `names`.

    `other` is a column that was not masked, `of_sample` has the statistics of the samples before they were
    masked, what the target "file" is.
    """
    truth = np.full(of_sample.shape[1], np.nan) if design.truth is None else design.truth
    low, high = ends(scheme, z, other, design, design.levels)
    cells = []
    for level in range(len(design.levels)):
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


def ends(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Any, levels: Sequence[float]
) -> np.ndarray:
    """Both ends, of shape (2, levels, targets, statistics, rows); NaN where a sample has none.

    Statistics are the quantiles, the mean, the standard deviation, the moments, the correlation with the
    other column where there is one, and the distribution function at the points of the design. Samples under
    conditional masking or reverse mapping are taken together, others one by one.
    """
    if not isinstance(scheme, ConditionalMasking) or (scheme.law is not None and scheme.grid is None):
        return np.stack([_one_by_one(scheme, z, other, design, levels, row) for row in range(len(z))], -1)
    law = scheme.law or EXACT
    c = np.array([multiplier(level) ** 2 / z.shape[1] for level in levels])
    of_cdf = [_of_cdf(law, own, design, c, shared=scheme.shared_donors) for own in z]
    of_quantiles, of_points = (np.stack(ends, -1) for ends in zip(*of_cdf, strict=True))
    parts = [of_quantiles, _of_moments(scheme, z, law, design, levels)]
    if other is not None:
        parts.append(_of_pairs(scheme, z, other, levels))
    return np.concatenate([*parts, of_points], axis=3)


def _of_cdf(
    law: Law, z: np.ndarray, design: Any, c: np.ndarray, *, shared: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of quantiles and of the distribution function, of shape (2, levels, targets, statistics)."""
    t, sums = t_1_and_sums(*np.unique(law.to_units(z), return_counts=True), law, shared_donors=shared)
    q, back = np.unique(design.quantiles, return_inverse=True)
    value = None if crossing_of(law.p, z.size) == "rearranged" else t.first(q - TOL)
    of_quantiles = quantile_interval(t, sums, q, value, c, tuple(TARGETS))[..., back]
    x = design.points if law.grid is None else law.grid.below(design.points)
    there = t.at(x), sums.variance(x), c[:, None]
    of_points = np.stack([cdf_interval(*there, target) for target in TARGETS], axis=2)
    return law.from_units(of_quantiles), of_points


def _of_moments(
    scheme: ConditionalMasking, z: np.ndarray, law: Any, design: Any, levels: Sequence[float]
) -> np.ndarray:
    """Both ends of the mean, the standard deviation and raw moments of rows."""
    powers = theorem_2_1.powers_of_rows(z, 2 * max((2, *design.moments)), law.sigma)
    sampled = moment_interval.Sampled(z.shape[1], law, scheme.shared_donors, powers)
    of_levels = np.array(levels)
    of_moments = []
    for target in TARGETS:
        asked = sampled, of_levels[:, None], target
        mean, *raw = (
            moment_interval.moment_interval(*asked, order, "", central=False)[:2]
            for order in (1, *design.moments)
        )
        of_moments.append([mean, moment_interval.variance_interval(*asked, root=True)[:2], *raw])
    return np.moveaxis(np.array(of_moments), (0, 1, 2, 3), (2, 3, 0, 1))


def _of_pairs(
    scheme: ConditionalMasking, z: np.ndarray, other: np.ndarray, levels: Sequence[float]
) -> np.ndarray:
    """Both ends of the correlation of rows with rows of the other column."""
    found = np.full((2, len(levels), len(TARGETS), 1, len(z)), np.nan)
    for which, of_rows in _correlations(scheme, z, other):
        for k, level in enumerate(levels):
            for t, target in enumerate(TARGETS):
                found[:, k, t, 0, which] = of_rows.ends(level, target)
    return found


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
            pair = pairs.pair_of(ReverseMapped(Records(z[row]), scheme), other[row])
            yield row, pair_interval.correlation(pair)


def _one_by_one(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Any, levels: Sequence[float], row: int
) -> np.ndarray:
    """Both ends of one sample, of shape (2, levels, targets, statistics)."""
    estimate = scheme.estimate(z[row])
    calls: list[tuple[int, Callable[..., Interval]]] = [
        (design.quantiles.size, partial(estimate.quantile_interval, design.quantiles)),
        (1, estimate.mean_interval),
        (1, estimate.std_interval),
        *((1, partial(estimate.moment_interval, order)) for order in design.moments),
    ]
    calls += [] if other is None else [(1, partial(estimate.correlation_interval, other[row]))]
    calls += [(design.points.size, partial(estimate.cdf_interval, design.points))]
    found = np.full((2, len(levels), len(TARGETS), sum(size for size, _ in calls)), np.nan)
    for i, level in enumerate(levels):
        for j, target in enumerate(TARGETS):
            stop = 0
            for size, call in calls:
                start, stop = stop, stop + size
                # a statistic may have none: of too few records, say, or of added noise alone
                with heard(EstimateWarning), suppress(UndefinedError):
                    found[:, i, j, start:stop] = np.reshape(
                        call(confidence_level=level, target=target)[:2], (2, -1)
                    )
    return found
