"""Monte Carlo studies: replicate a population, mask it by several schemes, estimate, and compare.

Replicates are drawn, masked and estimated in blocks whose size depends on n alone, every block under a key
of its own, and their errors are added up one replicate after the other. So a result depends neither on
workers nor on how often a study was interrupted, and a longer study begins with the shorter one.
"""

import dataclasses
import hashlib
import json
import logging
import os
import secrets
import sys
import time
import warnings
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask.errors import ArgumentError, ArgumentTypeError, optional
from condmask.scheme import Scheme
from condmask.studies import coverage, replicates
from condmask.studies.replicates import Design, Samples
from condmask.studies.result import CLOSED, PARTS, Column, StudyResult

LOG = logging.getLogger(__name__)

DIFFERENCE = "difference"  # of the means of two halves, by the other column
DECILES = tuple(k / 10 for k in range(1, 10))
SAVE_SECONDS = 5.0
MOST_RECORDS, MOST_FIGURES = 10_000_000, 10_000  # of a sample, and that are estimated from it


class StudyWarning(UserWarning):
    """A study ended early; the replications done so far are kept."""


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
    confidence_levels: Any = (),
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
        same statistic over the samples. The statistic "difference" is the mean where the other variable is
        above its median less the mean of the rest. The median is the population's (``split``), the same for
        all samples; where the population does not know it, it is that of the first samples.
    schemes : dict of str to scheme, or sequence of schemes
        Each has its own estimators of the original (T_1 and T_b for `ConditionalMasking`); a scheme without
        any gets the statistics of the masked sample, "masked". Samples are rounded to the grid of the scheme.
    n : int
        Records of a sample, at most 10,000,000.
    replications : int
    quantiles, cdf_points : array_like
        Probabilities, and points, at which quantiles and distribution functions are estimated.
    moments : sequence of int
        Orders of raw moments besides mean and standard deviation.
    risk_distances : array_like
        Distances d. Reported is the share of records whose value is closer than d to a guess: Z_i, and the
        mean of Z.
    confidence_levels : array_like
        Levels at which the intervals of every statistic are tested: the share that covers, and the mean
        length, for the population (if it knows the truth) and for each sample as the file.
    rng : int, optional
        The seed. If left out, it is drawn and reported in the result: a study has no secrets.
    workers : int or map-like callable
        The result does not depend on it, bit by bit.
    progress : bool
        Rate and time left, on standard error if that is a terminal, and a line if kernels must be compiled
        first (once on a machine).
    checkpoint : path, optional
        File in which the state is saved every few seconds. A study with the same arguments continues from
        there, also to more replications; the result is the same, bit by bit, as without interruption.

    Returns
    -------
    StudyResult

    Warns
    -----
    StudyWarning
        If the study was interrupted (the result has the replications done so far), or the checkpoint could
        not be written.

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
        raise ArgumentTypeError(
            f"population must be callable as (rng, replications, n), got {_checks.shown(population)}"
        )
    design = Design(
        population,
        _named(schemes),
        _checks.whole(n, "n", least=4, most=MOST_RECORDS),
        _checks.probabilities(quantiles, "quantiles").ravel(),
        tuple(_checks.order(order, "moments") for order in _several(moments, "moments").tolist()),
        _checks.reals(_several(cdf_points, "cdf_points"), "cdf_points"),
        _checks.distances(_several(risk_distances, "risk_distances"), "risk_distances"),
        tuple(
            dict.fromkeys(
                _checks.confidence_level(level, "confidence_levels")
                for level in _several(confidence_levels, "confidence_levels").tolist()
            )
        ),
    )
    figures = design.quantiles.size + len(design.moments) + design.points.size + design.distances.size
    if figures > MOST_FIGURES:
        raise ArgumentError(
            f"quantiles, moments, cdf_points and risk_distances must be at most {MOST_FIGURES:,} together, "
            f"got {figures:,}"
        )
    wanted = _checks.whole(replications, "replications", least=2)
    threads, progress = _checks.workers(workers), _checks.truth(progress, "progress")
    given = None if rng is None else _checks.whole(rng, "rng", least=0)
    path = None if checkpoint is None else _checks.writable(checkpoint, "checkpoint")
    state = None if path is None or not path.exists() else _resumed(path, design, given)
    if state is not None:
        design = _first(design, state.seed)[0]
    first_blocks: list[np.ndarray] = []  # blocks
    if state is None:
        seed = secrets.randbits(48) if given is None else given
        design, identity, paired = _first(design, seed)
        first_blocks = [replicates.block(design, seed, 0)]
        columns = _columns(design, paired, first_blocks[0][0])
        state = StudyResult(identity, seed, 0, columns, np.zeros((PARTS, len(columns))), 0.0)
    if state.replications > wanted:
        raise ArgumentError(
            f"replications must be at least the {state.replications} in {checkpoint}, got {replications}"
        )
    return _run(design, state, first_blocks, wanted, threads, progress, path)


def _run(
    design: Design, state: StudyResult, first_blocks: list[np.ndarray], wanted: int, workers: Workers,
    progress: bool, path: Path | None,
) -> StudyResult:  # fmt: skip
    size = replicates.block_size(design.n)
    centers = np.array([column.center for column in state.columns])
    begun = saved = time.perf_counter()
    reached = state  # replaced as a whole, so it is whole whenever Ctrl-C comes

    def now() -> StudyResult:
        return dataclasses.replace(reached, seconds=state.seconds + time.perf_counter() - begun)

    blocks = range(state.replications // size, -(-wanted // size))
    rest = ordered_map(partial(replicates.block, design, state.seed), blocks[len(first_blocks) :], workers)
    with _bar(wanted, state.replications, progress) as advance:
        try:
            for index, values in zip(blocks, chain(first_blocks, rest), strict=True):
                before = index * size
                reached = _added(reached, values[reached.replications - before : wanted - before], centers)
                advance(reached.replications)
                LOG.info("%d of %d replications", reached.replications, wanted)
                if path is not None and time.perf_counter() - saved > SAVE_SECONDS:
                    _save(now(), path)
                    saved = time.perf_counter()
        except KeyboardInterrupt:
            text = f"interrupted after {reached.replications} of {wanted} replications"
            warnings.warn(text, StudyWarning, stacklevel=3)
    result = now()
    if path is not None:
        _save(result, path)
    return result


def _added(state: StudyResult, rows: np.ndarray, centers: np.ndarray) -> StudyResult:
    """The state after more replications, added one after the other, so that cuts leave no trace."""
    defined = np.isfinite(rows)  # a variance may be estimated negative, a moment be too large for a number
    error = np.subtract(rows, centers, out=np.zeros(rows.shape), where=defined)
    power, sums = defined.astype(np.float64), np.empty_like(state.sums)
    for part in range(PARTS):
        sums[part] = np.add.accumulate(np.vstack((state.sums[part], power)))[-1]
        power *= error
    return dataclasses.replace(state, replications=state.replications + len(rows), sums=sums)


def _save(state: StudyResult, path: Path) -> None:
    """Keep the state; a full disk does not end a study."""
    try:
        state.save(path)
    except OSError as error:
        warnings.warn(f"checkpoint {path} could not be written: {error}", StudyWarning, stacklevel=4)


# --- what the numbers are ---


def _several(values: Any, name: str) -> Any:
    """One number or several, in one dimension; of none an array of floats."""
    array = _checks.array(values, name, "a number or an array of numbers").ravel()
    return array if array.size else np.empty(0)


def _named(schemes: Any) -> dict[str, Scheme]:
    if isinstance(schemes, dict):
        named = dict(schemes)
    else:
        listed = list(schemes) if isinstance(schemes, (list, tuple)) else [schemes]
        named = {_checks.shown(scheme): scheme for scheme in listed}
        if len(named) < len(listed):
            raise ArgumentError(f"schemes must differ, or be a dict with names, got {_checks.shown(schemes)}")
    if not named or not all(isinstance(scheme, Scheme) for scheme in named.values()):
        raise ArgumentTypeError(f"schemes must be masking schemes, got {_checks.shown(schemes)}")
    for name in named:
        if not (isinstance(name, str) and name):
            raise ArgumentTypeError(f"schemes must have names of text, got {_checks.shown(name)}")
    within = [scheme for scheme in named.values() if scheme.strata is not None]
    coded = [scheme for scheme in named.values() if scheme.codes]
    if coded:
        raise ArgumentError(f"schemes must have no missing codes, since samples have none, got {coded[0]!r}")
    if within:
        raise ArgumentError(f"schemes must have no strata, since samples have none, got {within[0]!r}")
    return named


def _statistics(design: Design, paired: bool) -> list[str]:
    """The names of what is estimated."""
    statistics = [f"quantile {q:g}" for q in design.quantiles] + ["mean", "s.d."]
    statistics += [f"moment {order}" for order in design.moments]
    statistics += ["correlation"] if paired else []
    return statistics + [f"cdf({t:g})" for t in design.points]


def _with_truth(design: Design, paired: bool) -> Design:
    """The design with the true values of the statistics, for intervals."""
    truths = _truth(design, paired)
    truth = np.array([truths.get(statistic, np.nan) for statistic in _statistics(design, paired)])
    return design._replace(truth=truth)


def _columns(design: Design, paired: bool, first: np.ndarray) -> tuple[Column, ...]:
    """What the columns of a block are, their true values, and centres near them: a first row."""
    statistics = _statistics(design, paired)
    risks = [f"risk {d:g}" for d in design.distances]
    truth = _truth(design, paired)
    estimated = [*statistics, *([DIFFERENCE] if paired else [])]
    names = [("", "sample", statistic) for statistic in estimated]
    for name, scheme in design.schemes.items():
        names += [
            (name, estimator, statistic)
            for estimator in scheme.estimators or ("masked",)
            for statistic in estimated
        ]
        names += [(name, guess, attack) for guess in ("Z_i", "mean of Z") for attack in (*risks, "MSE")]
        if scheme.law is not None:
            names += [(name, f"{CLOSED}Z_i", attack) for attack in (*risks, "MSE")]
            names.append((name, f"{CLOSED}mean of Z", "MSE"))
        if scheme.estimators:
            names += [(name, *column) for column in coverage.names(statistics, design.levels)]
    return tuple(
        Column(
            *name,
            true_value := truth.get(name[2]),
            float(np.nan_to_num(value)) if true_value is None else true_value,
        )
        for name, value in zip(names, first.tolist(), strict=True)
    )


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
        if hasattr(population, "difference") and hasattr(population, "split"):
            truth[DIFFERENCE] = population.difference()
    return truth


def _first(design: Design, seed: int) -> tuple[Design, str, bool]:
    """The design with what its first samples and the population tell, its identity, whether it has pairs."""
    samples = replicates.samples(design, seed)
    design, paired = replicates.with_split(design, samples), bool(samples[1])
    return _with_truth(design, paired), _identity(design, seed, samples), paired


def _identity(design: Design, seed: int, samples: Samples) -> str:
    """What must agree for one study to go on with another's numbers, its first samples among it."""
    x, others = samples
    digest = hashlib.blake2b(digest_size=16)
    for part in (x, *others):
        digest.update(part.data)
    return json.dumps({
        "seed": seed, "samples": digest.hexdigest(), "n": design.n,
        "schemes": {name: scheme.to_dict() for name, scheme in design.schemes.items()},
        "quantiles": design.quantiles.tolist(), "moments": design.moments,
        "points": design.points.tolist(), "distances": design.distances.tolist(),
        **({"levels": design.levels} if design.levels else {}),
        **({"split": design.split} if others else {}),
    })  # fmt: skip


def _resumed(path: Path, design: Design, seed: int | None) -> StudyResult:
    try:
        state = StudyResult.load(path)
    except ValueError as error:
        raise ArgumentError(f"checkpoint must be the file of a study, got {path}, which is not") from error
    seed = state.seed if seed is None else seed
    if state.identity != _first(design, seed)[1]:
        raise ArgumentError(f"checkpoint must be of the same study and seed, got another one in {path}")
    return state


class _bar:  # noqa: N801 (a context manager that reads like a function)
    """Rate and time left, on a terminal."""

    def __init__(self, total: int, done: int, shown: bool) -> None:
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            with optional("progress", "files"):
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
