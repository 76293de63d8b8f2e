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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask.disclosure.rails import AUTO
from condmask.distribution.sample import CROSSINGS
from condmask.errors import ArgumentError, ArgumentTypeError, optional
from condmask.kernels.replication import add_errors
from condmask.scheme import Scheme
from condmask.studies import coverage, replicates
from condmask.studies.replicates import Design
from condmask.studies.result import CLOSED, PARTS, Column, StudyResult

LOG = logging.getLogger(__name__)

ENGINE = 2  # of the estimates: a checkpoint of another one is of another study
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
    crossing: str | None = None,
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
    crossing : {"first", "rearranged"}, optional
        Which crossing of T is its quantile, as for `Estimate.quantile`; by default that which users get.
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
    levels = _several(confidence_levels, "confidence_levels").tolist()
    design = Design(
        population,
        _named(schemes),
        _checks.whole(n, "n", least=4, most=MOST_RECORDS),
        _checks.probabilities(quantiles, "quantiles").ravel(),
        tuple(_checks.order(order, "moments") for order in _several(moments, "moments").tolist()),
        _checks.reals(_several(cdf_points, "cdf_points"), "cdf_points"),
        _checks.distances(_several(risk_distances, "risk_distances"), "risk_distances"),
        tuple(dict.fromkeys(_checks.confidence_level(level, "confidence_levels") for level in levels)),
        None if crossing is None else _checks.choice(crossing, "crossing", CROSSINGS),
    )
    figures = design.quantiles.size + len(design.moments) + design.points.size + design.distances.size
    if figures > MOST_FIGURES:
        raise ArgumentError(
            f"quantiles, moments, cdf_points and risk_distances must be at most {MOST_FIGURES:,} together, "
            f"got {figures:,}"
        )
    wanted = _checks.whole(replications, "replications", least=2)
    threads, progress = _checks.workers(workers), _checks.truth(progress, "progress")
    seed = None if rng is None else _checks.whole(rng, "rng", least=0)
    path = None if checkpoint is None else _checks.writable(checkpoint, "checkpoint")
    before = None if path is None or not path.exists() else _loaded(path)
    if seed is None:
        seed = secrets.randbits(48) if before is None else before.seed
    design, identity = _with_truth(design, seed)
    first: list[np.ndarray] = []  # blocks
    if before is None:
        first = [replicates.block(design, seed, 0)]
        columns = _columns(design, first[0][0])
        before = StudyResult(identity, seed, 0, columns, np.zeros((PARTS, len(columns))), 0.0)
    if before.identity != identity:
        raise ArgumentError(f"checkpoint must be of the same study and seed, got another one in {path}")
    if before.replications > wanted:
        raise ArgumentError(
            f"replications must be at least the {before.replications} in {checkpoint}, got {replications}"
        )
    return _run(design, before, first, wanted, threads, progress, path)


def _run(
    design: Design, before: StudyResult, first: list[np.ndarray], wanted: int, workers: Workers,
    progress: bool, path: Path | None,
) -> StudyResult:  # fmt: skip
    size = replicates.block_size(design.n)
    centers = np.array([column.center for column in before.columns])
    begun = saved = time.perf_counter()
    reached = before  # replaced as a whole, so it is whole whenever Ctrl-C comes

    def now() -> StudyResult:
        return dataclasses.replace(reached, seconds=before.seconds + time.perf_counter() - begun)

    blocks = range(before.replications // size, -(-wanted // size))
    rest = ordered_map(partial(replicates.block, design, before.seed), blocks[len(first) :], workers)
    with _bar(wanted, before.replications, progress) as advance:
        try:
            for index, values in zip(blocks, chain(first, rest), strict=True):
                start = index * size
                rows, sums = values[reached.replications - start : wanted - start], reached.sums.copy()
                add_errors(rows, centers, sums)
                done = reached.replications + len(rows)
                reached = dataclasses.replace(reached, replications=done, sums=sums)
                advance(done)
                LOG.info("%d of %d replications", done, wanted)
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


def _save(state: StudyResult, path: Path) -> None:
    """Keep the state; a full disk does not end a study."""
    try:
        state.save(path)
    except OSError as error:
        warnings.warn(f"checkpoint {path} could not be written: {error}", StudyWarning, stacklevel=4)


def _loaded(path: Path) -> StudyResult:
    try:
        return StudyResult.load(path)
    except ValueError as error:
        raise ArgumentError(f"checkpoint must be the file of a study, got {path}, which is not") from error


@contextmanager
def _bar(total: int, done: int, shown: bool) -> Iterator[Callable[[int], Any]]:
    """Rate and time left, on a terminal: what takes the replications done."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done: None
        return
    with optional("progress", "files"):
        from tqdm import tqdm
    with tqdm(total=total, initial=done, unit=" replications", smoothing=0.05) as bar:
        yield lambda done: bar.update(done - bar.n)


# --- what the numbers are ---


def _several(values: Any, name: str) -> Any:
    """One number or several, in one dimension; of none an array of floats."""
    array = _checks.array(values, name, "a number or an array of numbers").ravel()
    return array if array.size else np.empty(0)


def _named(schemes: Any) -> dict[str, Scheme]:
    """The schemes by name, which have neither strata nor codes, since samples have none."""
    listed = list(schemes) if isinstance(schemes, (dict, list, tuple)) else [schemes]
    named = dict(schemes) if isinstance(schemes, dict) else {_checks.shown(one): one for one in listed}
    if len(named) < len(listed):
        raise ArgumentError(f"schemes must differ, or be a dict with names, got {_checks.shown(schemes)}")
    if not named or not all(isinstance(scheme, Scheme) for scheme in named.values()):
        raise ArgumentTypeError(f"schemes must be masking schemes, got {_checks.shown(schemes)}")
    for name, scheme in named.items():
        if not (isinstance(name, str) and name):
            raise ArgumentTypeError(f"schemes must have names of text, got {_checks.shown(name)}")
        auto = getattr(scheme, "aggregate_ends", 0) == AUTO
        for what, has in (("missing codes", scheme.codes), ("strata", scheme.strata), ("open ends", auto)):
            if has:
                raise ArgumentError(f"schemes must have no {what}, since samples have none, got {scheme!r}")
    return named


def _statistics(design: Design, paired: bool) -> list[str]:
    """The names of what intervals are for."""
    names = [f"quantile {q:g}" for q in design.quantiles] + ["mean", "s.d."]
    names += [f"moment {order}" for order in design.moments] + ["correlation"] * paired
    return names + [f"cdf({t:g})" for t in design.points]


def _with_truth(design: Design, seed: int) -> tuple[Design, str]:
    """The design with what its first samples and the population tell, and its identity.

    That is what must agree for one study to go on with another's numbers, its first samples among it.
    """
    x, others = replicates.samples(design, seed)
    design = replicates.with_split(design, (x, others))
    statistics, truth = _statistics(design, bool(others)), _truth(design, bool(others))
    digest = hashlib.blake2b(digest_size=16)
    for part in (x, *others):
        digest.update(part.data)
    identity = {
        "engine": ENGINE, "seed": seed, "samples": digest.hexdigest(), "n": design.n,
        "schemes": {name: scheme.to_dict() for name, scheme in design.schemes.items()},
        "statistics": statistics, "quantiles": design.quantiles.tolist(), "points": design.points.tolist(),
        "distances": design.distances.tolist(), "levels": design.levels, "crossing": design.crossing,
    }  # fmt: skip
    known = np.array([truth.get(statistic, np.nan) for statistic in statistics])
    return design._replace(truth=known, paired=bool(others)), json.dumps(identity)


def _truth(design: Design, paired: bool) -> dict[str, float]:
    """What the population knows of its statistics."""
    population = design.population
    if not hasattr(population, "quantile"):
        return {}
    known = [*population.quantile(design.quantiles), population.mean(), population.std()]
    known += [population.moment(order) for order in design.moments]
    known += [population.correlation()] if paired else []
    known += [*population.cdf(design.points)]
    truth = dict(zip(_statistics(design, paired), map(float, known), strict=True))
    if paired and hasattr(population, DIFFERENCE) and hasattr(population, "split"):
        truth[DIFFERENCE] = population.difference()
    return truth


def _columns(design: Design, first: np.ndarray) -> tuple[Column, ...]:
    """What the columns of a block are, their true values, and centres near them: a first row."""
    statistics, truth = _statistics(design, design.paired), _truth(design, design.paired)
    estimated = [*statistics, *[DIFFERENCE] * design.paired]
    attacks = [*(f"risk {d:g}" for d in design.distances), "MSE"]
    names = [("", "sample", statistic) for statistic in estimated]
    for name, scheme in design.schemes.items():
        estimators = scheme.estimators or ("masked",)
        names += [(name, estimator, statistic) for estimator in estimators for statistic in estimated]
        names += [(name, guess, attack) for guess in ("Z_i", "mean of Z") for attack in attacks]
        if scheme.law is not None:
            names += [(name, f"{CLOSED}Z_i", attack) for attack in attacks]
            names.append((name, f"{CLOSED}mean of Z", "MSE"))
        if scheme.estimators:
            names += [(name, *column) for column in coverage.names(statistics, design.levels)]
    return tuple(
        Column(*name, truth.get(name[2]), truth.get(name[2], float(np.nan_to_num(value))))
        for name, value in zip(names, first.tolist(), strict=True)
    )
