"""One block of replicates: for each a row of numbers, the errors and risks of every scheme."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, closed_form_risk
from condmask._randomness import Key, seeded_key
from condmask.deconvolution import stencil
from condmask.errors import ArgumentError, heard
from condmask.inference.intervals import EstimateWarning, UndefinedError
from condmask.inference.pseudo_values import covariance_factor
from condmask.kernels import pairs, replicate
from condmask.law import Law
from condmask.moments.moment_interval import Sampled, moment
from condmask.moments.theorem_2_1 import original_variance, powers_of_rows
from condmask.planning.predicted_relations import differences, split
from condmask.samples.bandwidth import FEWEST_STEPS, quartile_places, rule
from condmask.scheme import Scheme
from condmask.studies import coverage

TOL = 1e-7  # of T, where one standard error of T is some 1e-2
RECORDS, ROWS = 1 << 16, 32  # of a block, at most

Samples = tuple[np.ndarray, tuple[np.ndarray, ...]]  # the sensitive variable, and those that are not masked


class Design(NamedTuple):
    """What is repeated."""

    population: Any
    schemes: dict[str, Scheme]
    n: int
    quantiles: np.ndarray
    moments: tuple[int, ...]
    points: np.ndarray
    distances: np.ndarray
    levels: tuple[float, ...] = ()  # of confidence
    truth: np.ndarray | None = None  # of the statistics in the population, NaN where it does not know
    split: float = np.nan  # the value of the other column above which its upper half lies


def block_size(n: int) -> int:
    return max(1, min(RECORDS // n, ROWS))


def block(design: Design, seed: int, index: int) -> np.ndarray:
    """The statistics of one block of replicates: a row each."""
    key = _key(design, seed, index)
    x, others = samples(design, seed, index)
    ordered = np.sort(x, axis=1)
    parts = [_sample_statistics(ordered, _pairs(x, others, design.split), design)]
    for name, scheme in design.schemes.items():
        z = scheme.mask_rows(x, key.derive(b"scheme", name.encode()).stream(0, 0), others)
        parts += _estimates(scheme, z, others, design)
        law = scheme.law
        rounded = x if law is None or law.grid is None else law.from_units(law.to_units(x))  # what was masked
        parts.append(_attacks(rounded, z, design.distances, law))
        if law is not None:
            parts.append(_closed_forms(rounded, ordered, design.distances, law, scheme.shared_donors))
        if design.levels and scheme.estimators:
            parts.append(_coverage(scheme, rounded, z, others, design))
    return np.concatenate(parts, axis=1)


def _coverage(
    scheme: Scheme, x: np.ndarray, z: np.ndarray, others: tuple[np.ndarray, ...], design: Design
) -> np.ndarray:
    """Whether the intervals of each replicate cover their targets, and how long they are."""
    # the difference of halves, which stands last, has no interval
    of_sample = _sample_statistics(np.sort(x, axis=1), _pairs(x, others, design.split)[:, :1], design)
    truth = np.full(of_sample.shape[1], np.nan) if design.truth is None else design.truth
    other = others[0] if others else None
    return coverage.rows(scheme, z, other, of_sample, truth, design, design.levels)


def _key(design: Design, seed: int, index: int) -> Key:
    return seeded_key(seed, b"study").derive(design.n.to_bytes(8, "little"), index.to_bytes(8, "little"))


def samples(design: Design, seed: int, index: int = 0) -> Samples:
    """The samples of a block before they are masked, checked."""
    key = _key(design, seed, index)
    shape = block_size(design.n), design.n
    drawn = design.population(key.derive(b"population").stream(0, 0), *shape)
    parts = [np.asarray(part) for part in (drawn if isinstance(drawn, (tuple, list)) else [drawn])]
    for part in parts:
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ArgumentError(
                f"population must give arrays of numbers of shape {shape}, got {part.shape} of {part.dtype}"
            )
    x, *others = [np.ascontiguousarray(part, dtype=np.float64) for part in parts]
    for part in (x, *others):
        if not (part.min() >= -_checks.LARGEST and part.max() <= _checks.LARGEST):
            raise ArgumentError("population must give finite numbers, got others among them")
    return x, tuple(others)


def with_split(design: Design, first: Samples) -> Design:
    """With the value that halves the other column, the same for all samples.

    The population knows it; else it is that of the first samples.
    """
    _, others = first
    if not others:
        return design
    known = getattr(design.population, "split", None)
    return design._replace(split=split(others[0]) if known is None else known())


def _estimates(
    scheme: Scheme, z: np.ndarray, others: tuple[np.ndarray, ...], design: Design
) -> list[np.ndarray]:
    """The estimates of every estimator of a scheme; statistics of the masked sample if there is none."""
    ordered, law = np.sort(z, axis=1), scheme.law
    if not scheme.estimators:
        return [_sample_statistics(ordered, _pairs(z, others, design.split), design)]
    if law is None:
        return [_sample_statistics(ordered, _pairs_of_rearranged(scheme, z, others, design.split), design)]
    mean, deviation, variance = _deviations(z)
    widths = _bandwidths(ordered, variance)
    raw: list[np.ndarray] = []
    if design.moments:
        powers = powers_of_rows(z, max(design.moments), law.sigma)
        rows = Sampled(z.shape[1], law, scheme.shared_donors, powers)
        raw = [moment(rows, order, central=False) for order in design.moments]
    moments = _moments(mean, deviation, variance, others, raw, law)
    difference = _differences(z, others, design.split) / _kept(law, z.shape[1])
    fused, served = _fused_quantiles(ordered, widths, design.quantiles, law)
    results = []
    for bandwidth in scheme.estimators.values():
        values = fused.get(bandwidth, np.full((len(z), design.quantiles.size), np.nan))
        cdf = np.full((len(z), design.points.size), np.nan)
        for row in range(len(z)):
            if not _defined(bandwidth, widths[row], law):
                values[row] = np.nan
                continue
            left = bandwidth not in fused or not served[row]
            if not left and design.points.size == 0:
                continue
            estimate = scheme.estimate(ordered[row])
            if left:
                values[row] = estimate.quantile(
                    design.quantiles, bandwidth=bandwidth, crossing="first", tol=TOL
                )
            if design.points.size:
                cdf[row] = estimate.cdf(design.points, bandwidth=bandwidth, tol=TOL)
        results.append(np.concatenate([values, moments, cdf, difference], axis=1))
    return results


def _defined(bandwidth: Any, scott: float, law: Law) -> bool:
    """Whether a sample has this estimate: a rule needs values that differ, and on a grid enough steps.

    Added normal noise has no inverse.
    """
    if law.p == 0.0 and law.noise != "laplace":
        return False
    return bandwidth is None or (scott > 0.0 and scott >= FEWEST_STEPS * law.step)


def _bandwidths(ordered: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The "scott" rule, row by row; 0 where all values are equal."""
    n = ordered.shape[1]
    low, along = quartile_places(n)
    near, following = ordered[:, low], ordered[:, np.minimum(low + 1, n - 1)]
    iqr = np.diff(near + along * (following - near), axis=1)[:, 0]
    return np.array(
        [
            rule("scott", s, between, n) if s > 0.0 else 0.0
            for s, between in zip(np.sqrt(variance).tolist(), iqr.tolist(), strict=True)
        ]
    )


def _fused_quantiles(
    ordered: np.ndarray, widths: np.ndarray, q: np.ndarray, law: Law
) -> tuple[dict[Any, np.ndarray], np.ndarray]:
    """Crossings by bandwidth (None: T_1), for the rows that the fused kernel serves; and which these are."""
    served = np.zeros(len(ordered), dtype=np.bool_)
    # rows that are not served stay unknown: arithmetic with what memory held may warn, or not
    sharp, smoothed = np.full((2, len(ordered), q.size), np.nan)
    if stencil.serves(law):
        rows, unit = law.to_units(ordered), law.step or 1.0
        plan = stencil.plan(law, TOL)
        replicate.conditional_quantiles(rows, widths / unit, q, plan, sharp, smoothed, served)
        return {None: law.from_units(sharp), "scott": law.from_units(smoothed)}, served
    if law.p == 0.0 and law.noise == "laplace" and law.grid is None:
        scale = law.sigma / np.sqrt(2.0)
        replicate.noisy_quantiles(ordered, widths, q, *stencil.normal(0.5 * TOL), scale, smoothed, served)
        return {"scott": smoothed}, served
    return {}, served


def _deviations(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, deviations from them, and variances with divisor n - 1, row by row."""
    mean = x.mean(axis=1)
    deviation = x - mean[:, None]
    return mean, deviation, np.einsum("ij,ij->i", deviation, deviation) / (x.shape[1] - 1)


def _moments(
    mean: np.ndarray, deviation: np.ndarray, variance: np.ndarray, others: tuple[np.ndarray, ...],
    raw: list[np.ndarray], law: Law,
) -> np.ndarray:  # fmt: skip
    """Mean, s.d., these raw moments and correlation of the original."""
    n = deviation.shape[1]
    original = original_variance(variance, law)
    columns = [mean, np.sqrt(np.where(original >= 0.0, original, np.nan))]
    if others:
        _, other, spread = _deviations(others[0])
        product = np.einsum("ij,ij->i", deviation, other) / (n - 1)
        correlation = product / _kept(law, n) / (columns[1] * np.sqrt(spread))
    columns += raw
    return np.stack([*columns, correlation] if others else columns, axis=1)


def _kept(law: Law, n: int) -> float:
    """By what masking multiplies a covariance with another column."""
    return covariance_factor(law.p, n) if law.p > 0.0 else 1.0


def _sample_statistics(ordered: np.ndarray, pairs: np.ndarray, design: Design) -> np.ndarray:
    """Statistics of samples in ascending order, with the correlation in its place.

    Sums go from the smallest value up, so that values in another order have the same bits.
    """
    n = ordered.shape[1]
    place = np.maximum(np.ceil(design.quantiles * n - 1e-9).astype(np.int64) - 1, 0)
    columns = [ordered[:, place], ordered.mean(axis=1)[:, None], ordered.std(axis=1, ddof=1)[:, None]]
    columns += [_power(ordered, order).mean(axis=1)[:, None] for order in design.moments]
    below = (ordered[:, :, None] <= design.points).mean(axis=1) if design.points.size else ordered[:, :0]
    return np.concatenate([*columns, pairs[:, :1], below, pairs[:, 1:]], axis=1)


def _pairs(x: np.ndarray, others: tuple[np.ndarray, ...], at: float) -> np.ndarray:
    """The correlation with the other column, and the difference of its halves; none without one."""
    if not others:
        return np.empty((len(x), 0))
    a, b = x - x.mean(axis=1)[:, None], others[0] - others[0].mean(axis=1)[:, None]
    product = np.einsum("ij,ij->i", a, b)
    size = np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b)
    return np.column_stack([product / np.sqrt(size), _differences(x, others, at)])


def _pairs_of_rearranged(
    scheme: Scheme, z: np.ndarray, others: tuple[np.ndarray, ...], at: float
) -> np.ndarray:
    """Sums of pairs of the original, from values in another order."""
    if not others:
        return np.empty((len(z), 0))
    values = np.array([_undone(scheme, row) for row in z])
    product = np.einsum("ij,ij->i", values, others[0] - others[0].mean(axis=1)[:, None]) / z.shape[1]
    size = z.std(axis=1) * others[0].std(axis=1)
    return np.column_stack([product / size, _differences(values, others, at)])


def _undone(scheme: Scheme, z: np.ndarray) -> np.ndarray:
    """Pseudo-values; NaN where a sample has none."""
    with heard(EstimateWarning):
        try:
            return np.asarray(scheme.estimate(z).pseudo_values())
        except UndefinedError:
            return np.full(z.size, np.nan)


def _differences(x: np.ndarray, others: tuple[np.ndarray, ...], at: float) -> np.ndarray:
    """Means of the records where the other column is above `at`, less those of the rest."""
    if not others:
        return np.empty((len(x), 0))
    return differences(x, others[0], at)[:, None]


def _power(x: np.ndarray, order: int) -> np.ndarray:
    """x^order by multiplication, which is faster than a power."""
    power = x
    with np.errstate(over="ignore"):
        for _ in range(order - 1):
            power = power * x
    return power


def _attacks(x: np.ndarray, z: np.ndarray, distances: np.ndarray, law: Law | None) -> np.ndarray:
    """For the guesses Z_i and the mean of Z: how often within each distance, and the mean squared error.

    On a grid the error of Z_i is counted in whole steps, so that none is rounded.
    """
    columns, of_value = [], (z - x, distances, 1.0)
    if law is not None and law.grid is not None:
        of_value = (law.grid.units(of_value[0]), law.grid.above(distances), law.step)
    for error, within, unit in (of_value, (z.mean(axis=1)[:, None] - x, distances, 1.0)):
        near = np.empty((len(x), within.size))
        pairs.nearer(error, within, near)
        square = np.einsum("ij,ij->i", error, error) * unit**2
        columns += [near / x.shape[1], square[:, None] / x.shape[1]]
    return np.concatenate(columns, axis=1)


def _closed_forms(
    x: np.ndarray, ordered: np.ndarray, distances: np.ndarray, law: Law, shared_donors: bool
) -> np.ndarray:
    """What the law says of the risks of Z_i and of both mean squared errors, given each sample."""
    of_mean = closed_form_risk.mean_squared_error_of_mean(x, law, shared_donors=shared_donors)
    error = closed_form_risk.mean_squared_error(x, law)
    return np.column_stack([closed_form_risk.interval_risk(ordered, distances, law), error, of_mean])
