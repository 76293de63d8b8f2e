"""Compute one block of replicates: estimates, risks and intervals of every scheme, a row each."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._randomness import Key, seeded_key
from condmask.distribution.bandwidth import MIN_STEPS, rule_bandwidth
from condmask.distribution.cdf_interval import cdf_interval
from condmask.distribution.quantile_interval import quantile_interval
from condmask.distribution.quantiles import crossing_of
from condmask.errors import ArgumentError, collect_warnings
from condmask.grid import Grid
from condmask.inference.interval import TARGETS, EstimateWarning, UndefinedError, multiplier
from condmask.law import Law
from condmask.masking.scheme import Scheme
from condmask.moments import moment_interval
from condmask.moments.moment_interval import Sampled
from condmask.moments.theorem_2_1 import powers_of_rows
from condmask.moments.variance_interval import variance_interval
from condmask.pairs import pair_interval, pair_variance, theorem_2_5
from condmask.studies import curves
from condmask.studies.populations import Population

MAX_BLOCK_RECORDS = 65_536
MAX_BLOCK_ROWS = 32
POINT_INTERVAL = 1e-9  # length of an interval, in its value, that counts as a point

Others = tuple[np.ndarray, ...]  # samples of variables that are not masked
BlockColumns = dict[tuple[str, str, str], np.ndarray]  # by scheme, estimator and statistic


class Design(NamedTuple):
    """The design of a study: the samples, schemes and statistics of every replicate."""

    population: Population
    schemes: dict[str, Scheme]
    n: int
    quantiles: np.ndarray
    points: np.ndarray
    distances: np.ndarray
    levels: tuple[float, ...]  # confidence levels
    crossing: str | None
    # statistics of the population, NaN where it does not know them
    truth: np.ndarray = np.empty(0)
    # the value above which the upper half of the other column lies, if there is one
    split: float | None = None

    @property
    def statistics(self) -> list[str]:
        """Return the names of the statistics; "difference", the last one, has no interval."""
        names = [f"quantile {q:.15g}" for q in self.quantiles] + ["mean", "s.d."]
        names += [f"cdf({t:.15g})" for t in self.points]
        return names if self.split is None else [*names, "correlation", "difference"]


def block_size(n: int) -> int:
    """Return the number of replicates of n records in a block."""
    return max(1, min(MAX_BLOCK_RECORDS // n, MAX_BLOCK_ROWS))


def block(design: Design, seed: int, index: int) -> BlockColumns:
    """Return the statistics of one block of replicates, an array of shape (rows,) for each."""
    key = _block_key(design, seed, index)
    (x, others) = samples(design, seed, index)
    attacks = [*(f"risk {d:.15g}" for d in design.distances), "MSE"]
    found = _named_columns("", "sample", design.statistics, of_samples(x, others, design))
    for name, scheme in design.schemes.items():
        z = scheme.mask_rows(x, key.derive(b"scheme", name.encode()).stream(0, 0), others)
        for estimator, values in _estimates(scheme, z, others, design).items():
            found |= _named_columns(name, estimator, design.statistics, values)
        grid = scheme.grid
        rounded = x if grid is None else grid.values(grid.units(x))  # what was masked
        for guess, values in _attacks(rounded, z, design.distances, grid).items():
            found |= _named_columns(name, guess, attacks, values)
        # from added noise alone there are no intervals
        if design.levels and "T_1" in scheme.estimators:
            found |= _coverage(name, z, others, of_samples(rounded, others, design), design)
    return found


def _named_columns(
    scheme: str, estimator: str, statistics: list[str], values: np.ndarray
) -> BlockColumns:
    """Return the columns of values of shape (rows, statistics) under their names."""
    return {
        (scheme, estimator, each): column
        for each, column in zip(statistics, values.T, strict=True)
    }


def samples(design: Design, seed: int, index: int) -> tuple[np.ndarray, Others]:
    """Draw the samples of a block and check them; return those of x and of other variables."""
    shape = block_size(design.n), design.n
    drawn = design.population(
        _block_key(design, seed, index).derive(b"population").stream(0, 0), *shape
    )
    parts = [np.asarray(part) for part in (drawn if isinstance(drawn, (tuple, list)) else [drawn])]
    for part in parts:
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ArgumentError(
                f"population must give arrays of numbers of shape {shape}, got {part.shape} of "
                f"{part.dtype}"
            )
        if not np.abs(part).max() <= _checks.MAX_MAGNITUDE:
            raise ArgumentError("population must give finite numbers, got others among them")
    x, *others = [np.ascontiguousarray(part, dtype=np.float64) for part in parts]
    return x, tuple(others)


def _block_key(design: Design, seed: int, index: int) -> Key:
    """Return the key of a block of replicates, which depends on n and the seed of the study."""
    return seeded_key(seed, b"study").derive(
        design.n.to_bytes(8, "little"), index.to_bytes(8, "little")
    )


# --- estimates: a row for each sample, a column for each statistic ---


def _estimates(
    scheme: Scheme, z: np.ndarray, others: Others, design: Design
) -> dict[str, np.ndarray]:
    """Return, by estimator of a scheme, its statistics, of shape (rows, statistics).

    Without an estimator they are those of the masked samples, under "masked".
    """
    law = scheme.law
    if law is None or not scheme.estimators:
        pseudo_values = _pseudo_values(scheme, z) if others and scheme.estimators else z
        return dict.fromkeys(
            scheme.estimators or ("masked",), of_samples(z, others, design, pseudo_values)
        )
    n = z.shape[1]
    spread = z.std(axis=1, ddof=1)
    ordered = np.sort(z, axis=1)
    rows = Sampled(n, law, scheme.shared_donors, powers_of_rows(z, 2, law.sigma))
    mean = moment_interval.moment(rows, 1, central=False)
    original = moment_interval.variance(rows, root=True)
    kept = 1.0 - law.p - law.p / (n - 1)  # by which masking multiplies a covariance
    pairs = _pairs(z, z, others, design) / (kept if kept > 0.0 else np.nan)
    pairs[:, :1] *= (spread / original)[:, None]
    estimates = {}
    for estimator, name in scheme.estimators.items():
        widths = name and rule_bandwidth(
            name, spread, np.quantile(ordered, (0.25, 0.75), axis=1).T, n
        )
        of_t = _of_distribution(scheme, ordered, law, widths, design)
        quantiles, cdf = np.split(of_t, [design.quantiles.size], axis=1)
        estimates[estimator] = np.column_stack([quantiles, mean, original, cdf, pairs])
    return estimates


def _of_distribution(
    scheme: Scheme, ordered: np.ndarray, law: Law, widths: np.ndarray | None, design: Design
) -> np.ndarray:
    """Return quantiles and the distribution function by T_1, or T_b; NaN where there are none.

    A bandwidth by a rule needs values that differ, and on a grid enough steps; added normal noise
    has no inverse.
    """
    q = design.quantiles
    x = design.points
    found = np.full((len(ordered), q.size + x.size), np.nan)
    crossing = design.crossing or crossing_of(law.p, ordered.shape[1])
    known = np.full(len(ordered), law.invertible)
    if widths is not None:
        known &= (widths > 0.0) & (widths >= MIN_STEPS * law.step)
    if known.any() and curves.serves(law, smoothed=widths is not None):
        own = None if widths is None else widths[known]
        rearranged = crossing == "rearranged"
        found[known] = curves.of_rows(ordered[known], law, own, q, x, rearranged=rearranged)
    left_out = known & np.isnan(found).all(axis=1)  # samples that `curves` does not serve
    for k in np.flatnonzero(left_out).tolist():
        sample = scheme.estimate(ordered[k]).sample
        width = None if widths is None else widths[k]
        found[k] = [*sample.quantiles(q, width, crossing=crossing), *sample.values(x, width)]
    return found


def of_samples(
    z: np.ndarray, others: Others, design: Design, pseudo_values: np.ndarray | None = None
) -> np.ndarray:
    """Return the statistics of samples; those with another column use pseudo-values, if given.

    Sums go from the smallest value up, so that values in another order have the same bits.
    """
    ordered = np.sort(z, axis=1)
    n = z.shape[1]
    place = np.maximum(np.ceil(design.quantiles * n - 1e-9).astype(np.int64) - 1, 0)
    columns = [ordered[:, place], ordered.mean(axis=1), ordered.std(axis=1, ddof=1)]
    columns += [(ordered <= t).mean(axis=1) for t in design.points]
    return np.column_stack(
        [*columns, _pairs(z if pseudo_values is None else pseudo_values, z, others, design)]
    )


def _pairs(x: np.ndarray, z: np.ndarray, others: Others, design: Design) -> np.ndarray:
    """Return the correlation with the other column, and the difference between its halves.

    For pseudo-values x the correlation is divided by the spread of the values z. The array has two
    columns, or none without another column.
    """
    if design.split is None:
        return np.empty((len(x), 0))
    d, w = (each - each.mean(axis=1)[:, None] for each in (x, others[0]))
    product = np.einsum("ij,ij->i", d, w)
    of_w = np.einsum("ij,ij->i", w, w)
    of_z = z.shape[1] * z.var(axis=1)
    above = (others[0] > design.split).astype(np.float64)
    # where either half is empty, or a column constant
    with np.errstate(invalid="ignore", divide="ignore"):
        high, low = (
            np.einsum("ij,ij->i", x, half) / half.sum(axis=1) for half in (above, 1.0 - above)
        )
        return np.column_stack([product / np.sqrt(of_z * of_w), high - low])


def _pseudo_values(scheme: Scheme, z: np.ndarray) -> np.ndarray:
    """Return pseudo-values after reverse mapping; NaN where a sample has none."""
    values = np.full(z.shape, np.nan)
    for row, own in zip(z, values, strict=True):
        with collect_warnings(EstimateWarning), suppress(UndefinedError):
            own[:] = scheme.estimate(row).pseudo_values()
    return values


def _attacks(
    x: np.ndarray, z: np.ndarray, distances: np.ndarray, grid: Grid | None
) -> dict[str, np.ndarray]:
    """Return the hits of each attacker.

    By attacker, the share of records guessed to within each distance and the mean squared error,
    of shape (rows, distances + 1).

    On a grid the error of Z_i is counted in whole steps, so that none is rounded.
    """
    guesses = {
        "Z_i": (z - x, distances, 1.0),
        "mean of Z": (z.mean(axis=1)[:, None] - x, distances, 1.0),
    }
    if grid is not None:
        guesses["Z_i"] = (grid.units(z - x), grid.above(distances), grid.step)
    found = {}
    for guess, (error, within, unit) in guesses.items():
        away = np.abs(error)
        near = [(away < d).mean(axis=1) for d in within]
        found[guess] = np.column_stack([*near, np.square(away).mean(axis=1) * unit**2])
    return found


# --- intervals: for every replicate and statistic, 1 if one covers, else 0; and its length ---


def _coverage(
    name: str, z: np.ndarray, others: Others, of_file: np.ndarray, design: Design
) -> BlockColumns:
    """Return coverage and length in each masked sample, by interval and statistic.

    `others` were not masked, `of_file` has the statistics of the samples as they were masked, row
    by row.
    """
    low, high = ends_of_intervals(design.schemes[name], z, others[0] if others else None, design)
    found = BlockColumns()
    names = design.statistics[: low.shape[2]]
    for (k, level), (t, target) in product(enumerate(design.levels), enumerate(TARGETS)):
        aim = of_file[:, : len(names)].T if target == "file" else design.truth[: len(names), None]
        least = low[k, t]
        most = high[k, t]
        # of what is exact, both ends and the target differ in rounding
        with np.errstate(invalid="ignore"):  # infinite ends
            length = most - least
            slight = POINT_INTERVAL * np.abs(aim)
        room = np.where(length > slight, 0.0, slight)
        known = ~(np.isnan(least) | np.isnan(most) | np.isnan(aim))
        covered = np.where(known, (least - room <= aim) & (aim <= most + room), np.nan)
        row = f"{level} interval, {target}"
        for part, values in (("coverage", covered), ("length", length)):
            found |= _named_columns(name, row, [f"{part} of {each}" for each in names], values.T)
    return found


def ends_of_intervals(
    scheme: Scheme, z: np.ndarray, other: np.ndarray | None, design: Design
) -> np.ndarray:
    """Return both ends, of shape (2, levels, targets, statistics, rows); NaN where there are none.

    Statistics are the quantiles, the mean, the standard deviation, the distribution function at
    the points of the design, and the correlation with the other column where there is one.
    """
    single = scheme.estimate(z).replicates
    levels = design.levels
    c = np.array([multiplier(level) ** 2 / z.shape[1] for level in levels])
    of_cdf = [_of_cdf(each, design, c) for each in single]
    quantiles, cdf = (np.moveaxis(np.array(found), 0, -1) for found in zip(*of_cdf, strict=True))
    parts = [quantiles, _of_moments(single[0], z, levels), cdf]
    return np.concatenate(
        parts if other is None else [*parts, _of_pairs(single, z, other, levels)], axis=3
    )


def _of_cdf(estimate: Any, design: Design, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of quantiles and of the distribution function, each of shape (2, levels,
    targets, statistics)."""
    (t, sums) = estimate.cdf_sums
    sample = estimate.sample
    q, back = np.unique(design.quantiles, return_inverse=True)
    value = sample.to_units(sample.quantiles(q), t)
    of_quantiles = sample.law.from_units(
        quantile_interval(t, sums, q, value, c, tuple(TARGETS))[..., back]
    )
    x = sample.to_units(design.points, t)
    of_cdf = t.at(x), sums.variance(x), c[:, None]
    return of_quantiles, np.stack(
        [cdf_interval(*of_cdf, target, sample.law.p) for target in TARGETS], axis=2
    )


def _of_moments(first: Any, z: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return both ends of the mean and the standard deviation of all rows, at all levels."""
    masked = powers_of_rows(z, 4, first.law.sigma)
    sampled = Sampled(first.sample.n, first.law, first.scheme.shared_donors, masked)
    found = []
    for target in TARGETS:
        options = sampled, np.array(levels)[:, None], target
        mean = moment_interval.moment_interval(*options, 1, "", central=False)[:2]
        found.append([mean, variance_interval(*options, root=True)[:2]])
    return np.transpose(np.array(found), (2, 3, 0, 1, 4))


def _of_pairs(
    single: Sequence[Any], z: np.ndarray, other: np.ndarray, levels: Sequence[float]
) -> np.ndarray:
    """Return both ends of the correlation with the other column, after reverse mapping sample by
    sample."""
    found = np.full((2, len(levels), len(TARGETS), 1, len(other)), np.nan)
    scheme = single[0].scheme
    whole = [(slice(None), None)]
    for rows, estimate in enumerate(single) if scheme.law is None else whole:
        with collect_warnings(EstimateWarning), suppress(UndefinedError):
            if estimate is None:
                moments = theorem_2_5.pair_moments(z, other)
                shared = scheme.shared_donors
                pair = pair_variance.conditional_pair(
                    moments, scheme.law, None, shared_donors=shared
                )
            else:
                pair = estimate.estimator.pair(other[rows], None)
            of_rows = pair_interval.correlation(pair)
            for (k, level), (t, target) in product(enumerate(levels), enumerate(TARGETS)):
                found[:, k, t, 0, rows] = of_rows.ends(level, target)
    return found
