"""One block of replicates: for each a row of numbers, the errors and risks of every scheme."""

from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, closed_form_risk
from condmask._randomness import Key, seeded_key
from condmask.distribution.bandwidth import FEWEST_STEPS, RULES, quartile_places
from condmask.distribution.quantiles import crossing_of
from condmask.distribution.symbol import smallest_tol
from condmask.errors import ArgumentError, heard
from condmask.kernels.replication import nearer
from condmask.law import Law
from condmask.linear.pseudo_values import covariance_factor
from condmask.moments.moment_interval import Sampled, moment
from condmask.moments.theorem_2_1 import powers_of_rows
from condmask.scheme import Scheme
from condmask.studies import coverage
from condmask.studies.curves import curves, serves
from condmask.studies.populations import split
from condmask.variance.interval import EstimateWarning, UndefinedError

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
    crossing: str | None = None
    truth: np.ndarray | None = None  # of the statistics in the population, NaN where it does not know
    paired: bool = False  # whether there is another column
    split: float = np.nan  # the value of the other column above which its upper half lies


def block_size(n: int) -> int:
    return max(1, min(RECORDS // n, ROWS))


def block(design: Design, seed: int, index: int) -> np.ndarray:
    """The statistics of one block of replicates: a row each."""
    key = _key(design, seed, index)
    x, others = samples(design, seed, index)
    ordered = np.sort(x, axis=1)
    parts = [_of_samples(ordered, _pairs(x, others, design.split), design)]
    for name, scheme in design.schemes.items():
        z = scheme.mask_rows(x, key.derive(b"scheme", name.encode()).stream(0, 0), others)
        parts += _estimates(scheme, z, others, design)
        law = scheme.law
        rounded = x if law is None or law.grid is None else law.from_units(law.to_units(x))  # what was masked
        parts.append(_attacks(rounded, z, design.distances, law))
        if law is not None:
            of_mean = closed_form_risk.mean_squared_error_of_mean(
                rounded, law, shared_donors=scheme.shared_donors
            )
            error = closed_form_risk.mean_squared_error(rounded, law)
            near = closed_form_risk.interval_risk(ordered, design.distances, law)
            parts.append(np.column_stack([near, error, of_mean]))
        if design.levels and scheme.estimators:
            # the difference of halves, which stands last, has no interval
            own = _of_samples(np.sort(rounded, axis=1), _pairs(rounded, others, design.split)[:, :1], design)
            parts.append(coverage.rows(scheme, z, others[0] if others else None, own, design))
    return np.concatenate(parts, axis=1)


def samples(design: Design, seed: int, index: int = 0) -> Samples:
    """The samples of a block before they are masked, checked."""
    shape = block_size(design.n), design.n
    drawn = design.population(_key(design, seed, index).derive(b"population").stream(0, 0), *shape)
    parts = [np.asarray(part) for part in (drawn if isinstance(drawn, (tuple, list)) else [drawn])]
    for part in parts:
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ArgumentError(
                f"population must give arrays of numbers of shape {shape}, got {part.shape} of {part.dtype}"
            )
        if not (part.min() >= -_checks.LARGEST and part.max() <= _checks.LARGEST):
            raise ArgumentError("population must give finite numbers, got others among them")
    x, *others = [np.ascontiguousarray(part, dtype=np.float64) for part in parts]
    return x, tuple(others)


def with_split(design: Design, first: Samples) -> Design:
    """With the value that halves the other column, the same for all samples.

    The population knows it; else it is that of the first samples.
    """
    if not first[1]:
        return design
    known = getattr(design.population, "split", None)
    return design._replace(split=split(first[1][0]) if known is None else known())


def _key(design: Design, seed: int, index: int) -> Key:
    return seeded_key(seed, b"study").derive(design.n.to_bytes(8, "little"), index.to_bytes(8, "little"))


# --- estimates ---


def _estimates(
    scheme: Scheme, z: np.ndarray, others: tuple[np.ndarray, ...], design: Design
) -> list[np.ndarray]:
    """The estimates of every estimator of a scheme; statistics of the masked sample if there is none."""
    ordered, law = np.sort(z, axis=1), scheme.law
    if not scheme.estimators:
        return [_of_samples(ordered, _pairs(z, others, design.split), design)]
    if law is None:
        undone = _undone(scheme, z) if others else z
        return [_of_samples(ordered, _pairs(undone, others, design.split, z), design)]
    n, deviation = z.shape[1], z - z.mean(axis=1)[:, None]
    variance = np.einsum("ij,ij->i", deviation, deviation) / (n - 1)
    original = variance - (1.0 - law.p) * law.variance
    spread = np.sqrt(np.where(original >= 0.0, original, np.nan))
    moments = [z.mean(axis=1), spread]
    if design.moments:
        powers = powers_of_rows(z, max(design.moments), law.sigma)
        rows = Sampled(n, law, scheme.shared_donors, powers)
        moments += [moment(rows, order, central=False) for order in design.moments]
    kept = covariance_factor(law.p, n) if law.p > 0.0 else 1.0  # by which masking multiplies a covariance
    pairs = _pairs(z, others, design.split) / kept
    pairs[:, :1] *= (np.sqrt(variance) / spread)[:, None]
    found = []
    for bandwidth in scheme.estimators.values():
        widths = None if bandwidth is None else _bandwidths(ordered, np.sqrt(variance), bandwidth)
        of_t = _of_distribution(scheme, ordered, law, widths, design)
        quantiles, cdf = np.split(of_t, [design.quantiles.size], axis=1)
        found.append(np.column_stack([quantiles, *moments, pairs[:, :1], cdf, pairs[:, 1:]]))
    return found


def _of_distribution(
    scheme: Scheme, ordered: np.ndarray, law: Law, widths: np.ndarray | None, design: Design
) -> np.ndarray:
    """Quantiles and the distribution function by T_1, or T_b: NaN where a sample has none.

    A bandwidth by a rule needs values that differ, and on a grid enough steps; added normal noise has no
    inverse.
    """
    q, x = design.quantiles, design.points
    found = np.full((len(ordered), q.size + x.size), np.nan)
    crossing = design.crossing or crossing_of(law.p, ordered.shape[1])
    left = np.arange(len(ordered))
    if widths is not None:
        left = np.flatnonzero((widths > 0.0) & (widths >= FEWEST_STEPS * law.step))
    if law.p == 0.0 and law.noise == "normal":
        return found
    if left.size and serves(law, smoothed=widths is not None):
        t, served = curves(ordered[left], law, None if widths is None else widths[left])
        quantiles = t.quantiles(q, rearranged=crossing == "rearranged")
        found[left[served]] = np.column_stack([quantiles, t.at(x)])
        left = left[~served]
    tol = max(1e-10, smallest_tol(law.p or 1.0))
    for k in left.tolist():
        estimate, width = scheme.estimate(ordered[k]), None if widths is None else widths[k]
        quantiles = estimate.quantile(q, bandwidth=width, crossing=crossing, tol=tol)
        found[k] = [*quantiles, *estimate.cdf(x, bandwidth=width, tol=tol)]
    return found


def _bandwidths(ordered: np.ndarray, spread: np.ndarray, rule: str) -> np.ndarray:
    """The bandwidths of a rule, row by row; 0 where all values are equal."""
    n, (factor, power) = ordered.shape[1], RULES[rule]
    low, along = quartile_places(n)
    near, following = ordered[:, low], ordered[:, np.minimum(low + 1, n - 1)]
    of_quartiles = np.diff(near + along * (following - near), axis=1)[:, 0] / 1.34
    least = np.where(of_quartiles > 0.0, np.minimum(spread, of_quartiles), spread)
    return np.asarray(factor * least * n**power)


def _of_samples(ordered: np.ndarray, pairs: np.ndarray, design: Design) -> np.ndarray:
    """Statistics of samples in ascending order, with the correlation in its place.

    Sums go from the smallest value up, so that values in another order have the same bits.
    """
    n = ordered.shape[1]
    place = np.maximum(np.ceil(design.quantiles * n - 1e-9).astype(np.int64) - 1, 0)
    columns = [ordered[:, place], ordered.mean(axis=1), ordered.std(axis=1, ddof=1)]
    with np.errstate(over="ignore"):
        columns += [np.prod([ordered] * order, axis=0).mean(axis=1) for order in design.moments]
    below = (ordered[:, :, None] <= design.points).mean(axis=1) if design.points.size else ordered[:, :0]
    return np.column_stack([*columns, pairs[:, :1], below, pairs[:, 1:]])


def _pairs(
    x: np.ndarray, others: tuple[np.ndarray, ...], at: float, z: np.ndarray | None = None
) -> np.ndarray:
    """The correlation with the other column, and the difference of its halves; none without one.

    Of pseudo-values x the correlation has the spread of the values z.
    """
    if not others:
        return np.empty((len(x), 0))
    d, w = (each - each.mean(axis=1)[:, None] for each in (x, others[0]))
    product, of_w = np.einsum("ij,ij->i", d, w), np.einsum("ij,ij->i", w, w)
    of_z = np.einsum("ij,ij->i", d, d) if z is None else z.shape[1] * z.var(axis=1)
    return np.column_stack([product / np.sqrt(of_z * of_w), differences(x, others[0], at)])


def differences(x: np.ndarray, w: np.ndarray, at: float) -> np.ndarray:
    """By row, the mean of x where w is above a value, less that of the rest; NaN where either is empty."""
    above = (w > at).astype(np.float64)
    with np.errstate(invalid="ignore"):
        high, low = (np.einsum("ij,ij->i", x, rows) / rows.sum(axis=1) for rows in (above, 1.0 - above))
    return np.asarray(high - low)


def _undone(scheme: Scheme, z: np.ndarray) -> np.ndarray:
    """Pseudo-values after reverse mapping; NaN where a sample has none."""
    values = np.full(z.shape, np.nan)
    for row, own in zip(z, values, strict=True):
        with heard(EstimateWarning):
            try:
                own[:] = scheme.estimate(row).pseudo_values()
            except UndefinedError:
                continue
    return values


def _attacks(x: np.ndarray, z: np.ndarray, distances: np.ndarray, law: Law | None) -> np.ndarray:
    """For the guesses Z_i and the mean of Z: how often within each distance, and the mean squared error.

    On a grid the error of Z_i is counted in whole steps, so that none is rounded.
    """
    columns, of_value = [], (z - x, distances, 1.0)
    if law is not None and law.grid is not None:
        of_value = (law.grid.units(of_value[0]), law.grid.above(distances), law.step)
    for error, within, unit in (of_value, (z.mean(axis=1)[:, None] - x, distances, 1.0)):
        near = np.empty((len(x), within.size))
        nearer(error, within, near)
        square = np.einsum("ij,ij->i", error, error) * unit**2
        columns += [near / x.shape[1], square[:, None] / x.shape[1]]
    return np.concatenate(columns, axis=1)
