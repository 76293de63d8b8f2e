"""Monte Carlo studies: replicate a population, mask it by several schemes, estimate, and compare.

Replicates are drawn, masked and estimated in blocks whose size depends on n alone, every block under a key
of its own, and their errors are added up one replicate after the other. So a result depends neither on
workers nor on how often a study was interrupted, and a longer study begins with the shorter one.
"""

import hashlib
import json
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask._randomness import Key
from condmask.kernels import replicate
from condmask.kernels.moments import shift, unmask
from condmask.kernels.weight import rounded_noise_moments
from condmask.powers import Law
from condmask.risk import mean_squared_error_of_mean
from condmask.study_result import Column, StudyResult

DECILES = tuple(k / 10 for k in range(1, 10))
TOL = 1e-7  # of T, where one standard error of T is some 1e-2
RECORDS, ROWS = 1 << 16, 128  # of a block, at most
PARTS = 5  # powers of the errors that are summed, from 0
SAVE_SECONDS = 5.0


class StudyWarning(UserWarning):
    """A study ended early; what was done is kept."""


class Design(NamedTuple):
    """What is repeated."""

    population: Any
    schemes: dict[str, Any]
    n: int
    quantiles: np.ndarray
    moments: tuple[int, ...]
    points: np.ndarray
    distances: np.ndarray


def simulate(
    population: Any,
    schemes: Any,
    *,
    n: int,
    replications: int,
    quantiles: Any = DECILES,
    moments: Any = (),
    cdf_points: Any = (),
    risk_distances: Any = (),
    rng: Any = None,
    workers: Workers = 1,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Replicate, mask, estimate: bias, RMSE and disclosure risk with their Monte Carlo standard errors.

    Parameters
    ----------
    population : NormalCopula, Resampled or callable
        ``population(rng, replications, n)`` gives an array of shape (replications, n), or two: the
        sensitive variable and one that is not masked. Where it has methods ``mean``, ``std``, ``moment``,
        ``quantile``, ``cdf`` and ``correlation``, these are the truth; else the truth is the mean of the
        same statistic over the samples.
    schemes : dict of str to scheme, or sequence of schemes
        `ConditionalMasking` (T_1 and T_b with the "scott" rule), `AdditiveNoise`, and schemes that swap
        (the statistics of the masked sample).
    n : int
        Records of a sample.
    replications : int
    quantiles, cdf_points : array_like
        Probabilities, and points, at which quantiles and distribution functions are estimated.
    moments : sequence of int
        Orders of raw moments besides mean and standard deviation.
    risk_distances : array_like
        Distances d at which the share of records is reported whose value lies within d of a guess: Z_i,
        and the mean of Z.
    rng : int, optional
        The seed. Drawn and reported in the result where it is left out: a study has no secrets.
    workers : int or map-like callable
        The result does not depend on it, bit by bit.
    progress : bool
        Rate and time left, on standard error.
    checkpoint : path, optional
        Where the state is kept every few seconds. A study with the same arguments goes on from there, also
        to more replications, and gives the bits of one that was never interrupted.

    Returns
    -------
    StudyResult

    Warns
    -----
    StudyWarning
        If it was interrupted; the result has the replications that were done. If the checkpoint could not
        be written.

    Examples
    --------
    >>> import condmask as cm
    >>> result = cm.simulate(
    ...     cm.paper_population(), [cm.ConditionalMasking(0.6, 1000.0)], n=500, replications=64, rng=1
    ... )
    >>> result.replications
    64
    """
    if not callable(population):
        raise TypeError(f"population must be callable as (rng, replications, n), got {population!r}")
    design = Design(
        population,
        _named(schemes),
        _checks.whole(n, "n", least=4),
        _checks.probabilities(quantiles, "quantiles").ravel(),
        tuple(_checks.whole(order, "moments", least=1) for order in np.atleast_1d(moments).tolist()),
        _checks.reals(cdf_points, "cdf_points").ravel() if np.size(cdf_points) else np.empty(0),
        _checks.distances(risk_distances, "risk_distances").ravel()
        if np.size(risk_distances)
        else np.empty(0),
    )
    wanted = _checks.whole(replications, "replications", least=2)
    threads = _checks.workers(workers)
    given = None if rng is None else _checks.whole(rng, "rng", least=0)
    path = None if checkpoint is None else _checks.writable(checkpoint, "checkpoint")
    state = None if path is None or not path.exists() else _resumed(path, design, given)
    if state is None:
        seed = int.from_bytes(os.urandom(6), "big") if given is None else given
        columns = _columns(design, seed, _block(design, seed, 0))
        sums = np.zeros((PARTS, len(columns)))
        state = StudyResult(_identity(design, seed), seed, 0, columns, sums, 0.0)
    if state.replications > wanted:
        raise ValueError(
            f"replications must be at least the {state.replications} in {checkpoint}, got {replications}"
        )
    return _run(design, state, wanted, threads, progress, path)


def _run(
    design: Design, state: StudyResult, wanted: int, workers: Workers, progress: bool, path: Path | None
) -> StudyResult:
    size = _block_size(design.n)
    sums, done = state.sums.copy(), state.replications
    centers = np.array([column.center for column in state.columns])
    begun, saved = time.perf_counter(), time.perf_counter()

    def now() -> StudyResult:
        return state._replace(
            replications=done, sums=sums.copy(), seconds=state.seconds + time.perf_counter() - begun
        )

    first = done // size
    blocks = range(first, -(-wanted // size))
    with _bar(wanted, done, progress) as advance:
        try:
            for index, values in zip(
                blocks, ordered_map(partial(_block, design, state.seed), blocks, workers), strict=True
            ):
                for row in range(done - index * size, min(size, wanted - index * size)):
                    defined = ~np.isnan(values[row])  # a variance may be estimated negative
                    error = np.where(defined, values[row] - centers, 0.0)
                    power = defined.astype(np.float64)
                    for part in range(PARTS):
                        sums[part] += power
                        power *= error
                    done += 1
                advance(done)
                if path is not None and time.perf_counter() - saved > SAVE_SECONDS:
                    _save(now(), path)
                    saved = time.perf_counter()
        except KeyboardInterrupt:
            warnings.warn(f"interrupted after {done} of {wanted} replications", StudyWarning, stacklevel=3)
    result = now()
    if path is not None:
        _save(result, path)
    return result


def _save(state: StudyResult, path: Path) -> None:
    """Keep the state; a full disk does not end a study."""
    try:
        state.save(path)
    except OSError as error:
        warnings.warn(f"checkpoint {path} could not be written: {error}", StudyWarning, stacklevel=4)


def _block_size(n: int) -> int:
    return max(1, min(RECORDS // n, ROWS))


def _block(design: Design, seed: int, index: int) -> np.ndarray:
    """The statistics of one block of replicates: a row each."""
    key = _key(design, seed, index)
    x, others = _samples(design, key)
    parts = [_sample_statistics(np.sort(x, axis=1), x, others, design)]
    for name, scheme in design.schemes.items():
        stream = key.derive(b"scheme", name.encode()).stream(0, 0)
        if _shuffles(scheme) and not others:
            raise ValueError("population must give two variables for DataShuffling, got one")
        given = (np.array(others),) if _shuffles(scheme) else ()
        z = scheme.mask_rows(x, stream, *given)
        parts += _estimates(scheme, z, others, design)
        parts.append(_attacks(x, z, design.distances))
    return np.concatenate(parts, axis=1)


def _key(design: Design, seed: int, index: int) -> Key:
    secret = hashlib.blake2b(repr(seed).encode(), digest_size=16, person=b"condmask study").digest()
    return Key(secret).derive(design.n.to_bytes(8, "little"), index.to_bytes(8, "little"))


def _samples(design: Design, key: Key) -> tuple[np.ndarray, list[np.ndarray]]:
    shape = _block_size(design.n), design.n
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
            plan = replicate.plan(scheme.p, scheme.sigma, TOL)
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
            replicate.noisy_quantiles(ordered, design.quantiles, replicate.plan(1.0, 1.0, TOL), scale, values)
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


def _attacks(x: np.ndarray, z: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """For the guesses Z_i and the mean of Z: how often within each distance, and the mean squared error."""
    columns = []
    for guess in (z, z.mean(axis=1)[:, None]):
        error = np.abs(guess - x)
        columns += [np.count_nonzero(error < d, axis=1) / x.shape[1] for d in distances]
        columns.append(np.einsum("ij,ij->i", error, error) / x.shape[1])
    return np.stack(columns, axis=1)


# --- what the numbers are ---


def _named(schemes: Any) -> dict[str, Any]:
    if isinstance(schemes, dict):
        named = dict(schemes)
    else:
        listed = list(schemes) if isinstance(schemes, (list, tuple)) else [schemes]
        named = {repr(scheme): scheme for scheme in listed}
        if len(named) < len(listed):
            raise ValueError(f"schemes must differ, or be a dict with names, got {schemes!r}")
    if not named or not all(hasattr(scheme, "mask_rows") for scheme in named.values()):
        raise TypeError(f"schemes must be masking schemes, got {schemes!r}")
    for name, scheme in named.items():
        if not isinstance(name, str):
            raise TypeError(f"schemes must have names of text, got {name!r}")
        if getattr(scheme, "strata", None) is not None:
            raise ValueError(f"schemes must have no strata, which samples have not, got {scheme!r}")
    return named


def _shuffles(scheme: Any) -> bool:
    return type(scheme).__name__ == "DataShuffling"


def _columns(design: Design, seed: int, first: np.ndarray) -> tuple[Column, ...]:
    """What the columns of a block are, their true values, and centres near them."""
    x, others = _samples(design, _key(design, seed, 0))
    paired = bool(others)
    statistics = [f"quantile {q:g}" for q in design.quantiles] + ["mean", "s.d."]
    statistics += [f"moment {order}" for order in design.moments]
    statistics += ["correlation"] if paired else []
    statistics += [f"cdf({t:g})" for t in design.points]
    truth = _truth(design, paired)
    names = [("", "sample", statistic) for statistic in statistics]
    for name, scheme in design.schemes.items():
        estimators = (
            ["T_1", "T_b"] if hasattr(scheme, "p") else ["ANM"] if hasattr(scheme, "sigma") else ["masked"]
        )
        names += [(name, estimator, statistic) for estimator in estimators for statistic in statistics]
        for guess in ("Z_i", "mean of Z"):
            names += [(name, guess, f"risk {d:g}") for d in design.distances] + [(name, guess, "MSE")]
    closed = _closed_forms(design, x)
    columns = []
    for k, (scheme_name, estimator, statistic) in enumerate(names):
        known = truth.get(statistic, closed.get((scheme_name, estimator, statistic)))
        center = known if known is not None else float(np.nan_to_num(first[0, k]))
        columns.append(Column(scheme_name, estimator, statistic, known, center))
    return tuple(columns)


def _truth(design: Design, paired: bool) -> dict[str, float]:
    population = design.population
    if not hasattr(population, "quantile"):
        return {}
    truth = {
        f"quantile {q:g}": float(v)
        for q, v in zip(design.quantiles, population.quantile(design.quantiles), strict=True)
    }
    truth |= {"mean": population.mean(), "s.d.": population.std()}
    truth |= {f"moment {order}": population.moment(order) for order in design.moments}
    truth |= {
        f"cdf({t:g})": float(v) for t, v in zip(design.points, population.cdf(design.points), strict=True)
    }
    if paired:
        truth["correlation"] = population.correlation()
    return truth


def _closed_forms(design: Design, x: np.ndarray) -> dict[tuple[str, str, str], float]:
    """Risk and mean squared errors by their closed forms, averaged over samples."""
    found: dict[tuple[str, str, str], float] = {}
    for name, scheme in design.schemes.items():
        if not hasattr(scheme, "risk"):
            continue
        risk = np.mean([scheme.risk(row, design.distances) for row in x], axis=0)
        found |= {(name, "Z_i", f"risk {d:g}"): float(r) for d, r in zip(design.distances, risk, strict=True)}
        found[name, "Z_i", "MSE"] = float(np.mean([scheme.mse(row) for row in x]))
        of_mean = [mean_squared_error_of_mean(row, scheme) for row in x]
        found[name, "mean of Z", "MSE"] = float(np.mean(of_mean))
    return found


def _identity(design: Design, seed: int) -> str:
    """What must agree for one study to go on with another's numbers, its first samples among it."""
    x, others = _samples(design, _key(design, seed, 0))
    digest = hashlib.blake2b(b"".join(part.tobytes() for part in (x, *others)), digest_size=16)
    return json.dumps({
        "seed": seed, "samples": digest.hexdigest(), "n": design.n,
        "schemes": {name: repr(scheme) for name, scheme in design.schemes.items()},
        "quantiles": design.quantiles.tolist(), "moments": design.moments,
        "points": design.points.tolist(), "distances": design.distances.tolist(),
    })  # fmt: skip


def _resumed(path: Path, design: Design, seed: int | None) -> StudyResult:
    try:
        state = StudyResult.load(path)
    except ValueError as error:
        raise ValueError(f"checkpoint must be the file of a study, got {path}, which is not") from error
    if state.identity != _identity(design, state.seed if seed is None else seed):
        raise ValueError(f"checkpoint must be of the same study and seed, got another one in {path}")
    return state


class _bar:  # noqa: N801 (a context manager that reads like a function)
    """Rate and time left, on a terminal."""

    def __init__(self, total: int, done: int, shown: bool) -> None:
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit=" replications", smoothing=0.05)

    def __enter__(self) -> Any:
        return self._advance

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def _advance(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
