"""What one block of replicates gives: a row of numbers for each, errors and risks of every scheme."""

import hashlib
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._grid import to_units, whole_steps
from condmask._randomness import Key
from condmask.estimates.moments import shift, unmask
from condmask.kernels import replicate
from condmask.law import Law, rounded_noise_moments
from condmask.weights import stencil

TOL = 1e-7  # of T, where one standard error of T is some 1e-2
RECORDS, ROWS = 1 << 16, 32  # of a block, at most

Samples = tuple[np.ndarray, list[np.ndarray]]  # the sensitive variable, and those that are not masked


class Design(NamedTuple):
    """What is repeated."""

    population: Any
    schemes: dict[str, Any]
    n: int
    quantiles: np.ndarray
    moments: tuple[int, ...]
    points: np.ndarray
    distances: np.ndarray


def block_size(n: int) -> int:
    return max(1, min(RECORDS // n, ROWS))


def block(design: Design, seed: int, index: int) -> np.ndarray:
    """The statistics of one block of replicates: a row each."""
    key = _key(design, seed, index)
    x, others = samples(design, seed, index)
    parts = [_sample_statistics(np.sort(x, axis=1), x, others, design)]
    for name, scheme in design.schemes.items():
        stream = key.derive(b"scheme", name.encode()).stream(0, 0)
        if _shuffles(scheme) and not others:
            raise ValueError("population must give two variables for DataShuffling, got one")
        given = (np.array(others),) if _shuffles(scheme) else ()
        z = scheme.mask_rows(x, stream, *given)
        parts += _estimates(scheme, z, others, design)
        parts.append(_attacks(x, z, design.distances, getattr(scheme, "decimals", None)))
    return np.concatenate(parts, axis=1)


def _key(design: Design, seed: int, index: int) -> Key:
    secret = hashlib.blake2b(repr(seed).encode(), digest_size=16, person=b"condmask study").digest()
    return Key(secret).derive(design.n.to_bytes(8, "little"), index.to_bytes(8, "little"))


def samples(design: Design, seed: int, index: int = 0) -> Samples:
    """The samples of a block before they are masked, checked."""
    key = _key(design, seed, index)
    shape = block_size(design.n), design.n
    drawn = design.population(key.derive(b"population").stream(0, 0), *shape)
    parts = [np.asarray(part) for part in (drawn if isinstance(drawn, (tuple, list)) else [drawn])]
    for part in parts:
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ValueError(
                f"population must give arrays of numbers of shape {shape}, got {part.shape} of {part.dtype}"
            )
    x, *others = [np.ascontiguousarray(part, dtype=np.float64) for part in parts]
    for part in (x, *others):
        if not (part.min() >= -_checks.LARGEST and part.max() <= _checks.LARGEST):
            raise ValueError("population must give finite numbers, got others among them")
    return x, others


def _estimates(scheme: Any, z: np.ndarray, others: list[np.ndarray], design: Design) -> list[np.ndarray]:
    ordered = np.sort(z, axis=1)
    if hasattr(scheme, "p"):
        sharp, smoothed = np.empty((2, len(z), design.quantiles.size))
        if scheme.noise == "normal" and scheme.decimals is None:
            plan = stencil.plan(scheme.p, scheme.sigma, TOL)
            replicate.conditional_quantiles(ordered, design.quantiles, plan, sharp, smoothed)
        else:
            sharp[:] = smoothed[:] = np.nan
        widths = np.array([replicate.bandwidth(row) for row in ordered])
        # T_b needs values that differ, and on a grid a bandwidth of 1.5 steps: else it is not defined
        smooth = (widths > 0.0) & (widths >= 1.5 * _step(scheme))
        smoothed[~smooth] = np.nan
        found = []
        for values, bandwidth, defined in ((sharp, None, np.ones_like(smooth)), (smoothed, "scott", smooth)):
            cdf = np.full((len(z), design.points.size), np.nan)
            for row in np.flatnonzero(defined):
                left = np.isnan(values[row]).any()  # by the fused kernel: too wide a range, or another noise
                if not left and design.points.size == 0:
                    continue
                estimate = scheme.estimate(ordered[row])
                if left:
                    values[row] = estimate.quantile(
                        design.quantiles, bandwidth=bandwidth, crossing="first", tol=TOL
                    )
                if design.points.size:
                    cdf[row] = estimate.cdf(design.points, bandwidth=bandwidth, tol=TOL)
            found.append(np.concatenate([values, _moments(scheme, z, others, design), cdf], axis=1))
        return found
    if hasattr(scheme, "sigma"):
        values = np.full((len(z), design.quantiles.size), np.nan)
        cdf = np.full((len(z), design.points.size), np.nan)
        if scheme.noise == "laplace":
            scale = scheme.sigma / np.sqrt(2.0)
            replicate.noisy_quantiles(ordered, design.quantiles, stencil.plan(1.0, 1.0, TOL), scale, values)
            for row in np.flatnonzero(np.isnan(values).any(axis=1)):
                values[row] = scheme.estimate(ordered[row]).quantile(design.quantiles, tol=TOL)
            cdf = _rows(
                ordered, lambda row: scheme.estimate(row).cdf(design.points, tol=TOL), design.points.size
            )
        return [np.concatenate([values, _moments(scheme, z, others, design), cdf], axis=1)]
    return [_sample_statistics(ordered, z, others, design)]


def _rows(rows: np.ndarray, function: Any, width: int) -> np.ndarray:
    if width == 0:
        return np.empty((len(rows), 0))
    return np.array([function(row) for row in rows])


def _moments(scheme: Any, z: np.ndarray, others: list[np.ndarray], design: Design) -> np.ndarray:
    """Mean, standard deviation, raw moments and the correlation of the original, row by row."""
    p, n = getattr(scheme, "p", 0.0), z.shape[1]
    mean, masked = z.mean(axis=1), z.var(axis=1, ddof=1)
    variance = masked - (1.0 - p) * scheme.noise_variance
    columns = [mean, np.sqrt(np.where(variance >= 0.0, variance, np.nan))]
    if design.moments:
        law = Law(p, scheme.noise, scheme.sigma, _step(scheme))
        columns += _raw_moments(z, design.moments, law)
    if others:
        w = others[0]
        product = np.einsum("ij,ij->i", z - mean[:, None], w - w.mean(axis=1)[:, None]) / (n - 1)
        retained = 1.0 if p == 0.0 else (1.0 - p) - p / (n - 1)
        columns.append(product / retained / (columns[1] * w.std(axis=1, ddof=1)))
    return np.stack(columns, axis=1)


def _raw_moments(z: np.ndarray, orders: tuple[int, ...], law: Law) -> list[np.ndarray]:
    """Raw moments of the original, Theorem 2.1, of every row."""
    highest = max(orders)
    center = z.mean(axis=1)
    deviation = z - center[:, None]
    scale = np.maximum(np.abs(deviation).max(axis=1), law.sigma)
    deviation /= scale[:, None]
    masked, power = np.ones((highest + 1, len(z))), np.ones_like(z)
    for k in range(1, highest + 1):
        power *= deviation
        masked[k] = power.mean(axis=1)
    unit = rounded_noise_moments(law.noise, law.step / law.sigma, highest)
    noise = unit[:, None] * (law.sigma / scale) ** np.arange(highest + 1)[:, None]
    raw = shift(unmask(masked, noise, law.p), center / scale)
    return [raw[order] * scale**order for order in orders]


def _step(scheme: Any) -> float:
    return 0.0 if getattr(scheme, "decimals", None) is None else float(10.0**-scheme.decimals)


def _sample_statistics(
    ordered: np.ndarray, x: np.ndarray, others: list[np.ndarray], design: Design
) -> np.ndarray:
    """The same of a sample as it is."""
    n = x.shape[1]
    place = np.maximum(np.ceil(design.quantiles * n - 1e-9).astype(np.int64) - 1, 0)
    columns = [ordered[:, place], x.mean(axis=1)[:, None], x.std(axis=1, ddof=1)[:, None]]
    columns += [_power(x, order).mean(axis=1)[:, None] for order in design.moments]
    if others:
        a, b = x - x.mean(axis=1)[:, None], others[0] - others[0].mean(axis=1)[:, None]
        product = np.einsum("ij,ij->i", a, b)
        size = np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b)
        columns.append((product / np.sqrt(size))[:, None])
    columns.append(
        (ordered[:, :, None] <= design.points).mean(axis=1) if design.points.size else ordered[:, :0]
    )
    return np.concatenate(columns, axis=1)


def _power(x: np.ndarray, order: int) -> np.ndarray:
    """x^order by multiplication, which is faster than a power."""
    found = x
    for _ in range(order - 1):
        found = found * x
    return found


def _attacks(x: np.ndarray, z: np.ndarray, distances: np.ndarray, decimals: int | None) -> np.ndarray:
    """For the guesses Z_i and the mean of Z: how often within each distance, and the mean squared error."""
    columns = []
    for guess in (z, z.mean(axis=1)[:, None]):
        near = error = np.abs(guess - x)
        within = distances
        if guess is z and decimals is not None:  # in whole steps, where no difference is rounded
            near, within = to_units(error, decimals), whole_steps(distances, decimals)
        columns += [np.count_nonzero(near < d, axis=1) / x.shape[1] for d in within]
        columns.append(np.einsum("ij,ij->i", error, error) / x.shape[1])
    return np.stack(columns, axis=1)


def _shuffles(scheme: Any) -> bool:
    return type(scheme).__name__ == "DataShuffling"
