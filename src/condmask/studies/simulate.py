"""Run Monte Carlo studies: replicate a population, mask by several schemes, estimate, and compare.

Replicates are drawn, masked and estimated in blocks whose size depends on n alone, every block
under a key of its own. So a result depends neither on workers nor on how often a study was
interrupted, and a longer study begins with the shorter one.
"""

import dataclasses
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask._blocks import Workers, ordered_map
from condmask._randomness import Randomness, study_seed
from condmask.disclosure.column.rare_values import open_ends
from condmask.errors import ArgumentError, ArgumentTypeError, optional, warn
from condmask.estimates.sample import CROSSINGS
from condmask.files.read_column import read_column
from condmask.files.tables import read_toml
from condmask.masking.scheme import Scheme
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.schemes import OWN_SCHEMES as OWN_SCHEMES
from condmask.studies import replicates
from condmask.studies.populations import (
    Fixed,
    Population,
    Resampled,
    checked_population,
    paper_population,
    upper_half_bound,
)
from condmask.studies.replicates import Design
from condmask.studies.result import StudyColumn, StudyResult

DECILES = tuple(k / 10 for k in range(1, 10))
SAVE_SECONDS = 5.0
RUN_PARAMETERS = {"workers", "progress", "checkpoint"}  # which do not change the result of a study
MAX_SAMPLE_RECORDS = 10_000_000


GivenStudySchemes = Mapping[str, Scheme] | Sequence[Scheme] | Scheme


class StudyWarning(UserWarning):
    """A study ended early; the replications done so far are kept."""


def simulate(
    population: Population,
    schemes: GivenStudySchemes,
    *,
    n: int,
    replications: int,
    quantiles: ArrayLike = DECILES,
    cdf_points: ArrayLike = (),
    risk_distances: ArrayLike = (),
    confidence_levels: ArrayLike = (),
    crossing: str | None = None,
    rng: Randomness = None,
    workers: Workers = 1,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Replicate, mask, estimate: bias, RMSE and disclosure risk with their Monte Carlo standard
    errors.

    Parameters
    ----------
    population : NormalCopula, Resampled or callable
        ``Resampled(x)`` draws from a column, ``NormalCopula([distribution])`` from a frozen SciPy
        distribution. Of a function, ``population(rng, replications, n)`` gives an array of shape
        (replications, n), or two: the sensitive variable and one that is not masked. Where it has
        methods ``mean``, ``std``, ``quantile``, ``cdf`` and ``correlation``, these are the truth;
        else the truth is the mean of the same statistic over the samples. The statistic
        "difference" is the mean where the other variable is above a median less the mean of the
        rest. The median is that of the first samples, the same for all.
    schemes : dict of str to scheme, or sequence of schemes
        Each has its own estimators of the original (T_1 and T_b for `ConditionalMasking`); a
        scheme without any gets the statistics of the masked sample, "masked". Samples are rounded
        to the grid of the scheme.
    n : int
        Records of a sample, at most 10,000,000.
    replications : int
    quantiles, cdf_points : array_like
        Probabilities, and points, at which quantiles and distribution functions are estimated.
    risk_distances : array_like
        Distances d. Reported is the share of records whose value is closer than d to a guess: Z_i,
        and the mean of Z.
    confidence_levels : array_like
        Levels at which the intervals of every statistic are tested: the share that covers, and the
        mean length, for the population (if it knows the truth) and for each sample as the file.
    crossing : {"first", "rearranged"}, optional
        Which crossing of T is its quantile, as for `Estimate.quantile`; by default that which
        users get.
    rng : int, Generator, BitGenerator or SeedSequence, optional
        The seed, or where it is drawn from; by default the operating system. The result reports
        it: a study has no secrets.
    workers : int or map-like callable
        The result does not depend on it, bit by bit.
    progress : bool
        Rate and time left, on standard error if that is a terminal, and a line if kernels must be
        compiled first (once on a machine).
    checkpoint : path, optional
        File in which the state is saved every few seconds. A study with the same arguments
        continues from there, also to more replications; the result is the same, bit by bit, as
        without interruption.

    Returns
    -------
    StudyResult

    Warns
    -----
    StudyWarning
        If the study was interrupted (the result has the replications done so far), or the
        checkpoint could not be written.

    Examples
    --------
    >>> import condmask as cm
    >>> result = cm.simulate(
    ...     cm.paper_population(),
    ...     [cm.ConditionalMasking(0.6, 1000.0)],
    ...     n=500,
    ...     replications=64,
    ...     rng=1,
    ... )
    >>> result.replications
    64
    """
    design = Design(
        checked_population(population),
        named_schemes(schemes),
        _checks.integer(n, "n", least=4, most=MAX_SAMPLE_RECORDS),
        np.ravel(_checks.probabilities(quantiles, "quantiles")),
        np.ravel(_checks.reals(cdf_points, "cdf_points")),
        np.ravel(_checks.distances(risk_distances, "risk_distances")),
        tuple(np.ravel(_checks.probabilities(confidence_levels, "confidence_levels")).tolist()),
        None if crossing is None else _checks.choice(crossing, "crossing", CROSSINGS),
    )
    wanted = _checks.integer(replications, "replications", least=2)
    threads = workers if callable(workers) else _checks.integer(workers, "workers", least=1)
    progress = _checks.boolean(progress, "progress")
    path = None if checkpoint is None else _checks.writable(checkpoint, "checkpoint")
    before = None if path is None or not path.exists() else StudyResult.load(path)
    seed = study_seed(rng) if before is None or rng is not None else before.seed
    design = _with_truth(design, seed)
    state = _begun(design, seed, wanted)
    if before is not None:
        if before.identity != state.identity:
            raise ArgumentError(
                f"checkpoint must be of the same study and seed, got another one in {path}"
            )
        rule = f"replications must be at least the {before.replications} in {checkpoint}"
        _checks.require(before.replications <= wanted, rule, wanted)
        state = before
    return _replicate(design, state, wanted, threads, progress, path)


def _replicate(
    design: Design,
    before: StudyResult,
    wanted: int,
    workers: Workers,
    progress: bool,
    path: Path | None,
) -> StudyResult:
    """Continue a study up to the wanted number of replications."""
    size = replicates.block_size(design.n)
    saved = time.perf_counter()
    parts = [before.values]
    blocks = range(before.replications // size, -(-wanted // size))
    computed = ordered_map(partial(replicates.block, design, before.seed), blocks, workers)

    def current_result() -> StudyResult:
        return dataclasses.replace(before, values=np.concatenate(parts))

    with _progress_bar(wanted, before.replications, progress) as bar, suppress(KeyboardInterrupt):
        for index, columns in zip(blocks, computed, strict=True):
            done = max(before.replications - index * size, 0)  # of this block
            parts.append(np.column_stack(list(columns.values()))[done : wanted - index * size])
            if bar is not None:
                bar.update(len(parts[-1]))
            if path is not None and time.perf_counter() - saved > SAVE_SECONDS:
                _save(current_result(), path)
                saved = time.perf_counter()
    state = current_result()
    if state.replications < wanted:
        warn(f"interrupted after {state.replications} of {wanted} replications", StudyWarning)
    if path is not None:
        _save(state, path)
    return state


def _save(state: StudyResult, path: Path) -> None:
    """Save the state; if that fails, warn, so that a full disk does not end a study."""
    try:
        state.save(path)
    except OSError as error:
        warn(f"checkpoint {path} could not be written: {error}", StudyWarning)


def _progress_bar(total: int, done: int, visible: bool) -> Any:
    """Return a context that shows rate and time left on a terminal, or None if not visible."""
    if not visible:
        return nullcontext()
    with optional("progress", "files"):
        from tqdm import tqdm
    return tqdm(total=total, initial=done, unit=" replications", smoothing=0.05, disable=None)


def named_schemes(schemes: GivenStudySchemes) -> dict[str, Scheme]:
    """Return the schemes by name; strata, codes and open ends, which samples lack, are refused."""
    by_name: dict[str, Scheme] = {}
    if isinstance(schemes, dict):
        by_name = {str(name): scheme for name, scheme in schemes.items()}
        count = len(schemes)
    else:
        in_order: Any = schemes if isinstance(schemes, list | tuple) else [schemes]
        by_name = {_checks.in_message(scheme): scheme for scheme in in_order}
        count = len(in_order)
    _checks.require(len(by_name) == count, "schemes must differ, or be a dict with names", schemes)
    sound = (
        bool(by_name)
        and "" not in by_name
        and all(isinstance(scheme, Scheme) for scheme in by_name.values())
    )
    _checks.require(
        sound, "schemes must be masking schemes, or a dict by name", schemes, ArgumentTypeError
    )
    for name, scheme in by_name.items():
        rule = (
            "schemes must have no missing codes, no strata and no open ends, since samples "
            "have none"
        )
        _checks.require(
            not (scheme.codes or scheme.strata or open_ends({name: scheme})), rule, scheme
        )
    return by_name


def _with_truth(design: Design, seed: int) -> Design:
    """Return the design with the true statistics and the bound between the halves of the other
    column.
    """
    population: Any = design.population  # its statistics are optional
    (_, others) = replicates.samples(design, seed, 0)
    if others:
        design = design._replace(split=upper_half_bound(others[0]))
    truth = np.full(len(design.statistics), np.nan)
    if isinstance(population, Resampled):
        x, *beside = (column[None] for column in population.columns)
        truth = replicates.of_samples(x, tuple(beside), design)[0]
        # the standard deviation of samples has the divisor n - 1
        if not isinstance(population, Fixed):
            truth[design.statistics.index("s.d.")] *= np.sqrt(1.0 - 1.0 / x.size)
    elif hasattr(population, "quantile"):
        moments = population.mean(), population.std()
        known = [*population.quantile(design.quantiles), *moments, *population.cdf(design.points)]
        truth[:] = [*known, population.correlation(), np.nan] if others else known
    return design._replace(truth=truth)


def _begun(design: Design, seed: int, wanted: int) -> StudyResult:
    """Return the first replications of a study, by whose first block studies are identified."""
    first = replicates.block(design, seed, 0)
    pairs = zip(design.statistics, design.truth.tolist(), strict=True)
    truth = {statistic: value for statistic, value in pairs if not np.isnan(value)}
    columns = tuple(StudyColumn(*name, truth.get(name[2])) for name in first)
    content = b"".join(repr(name).encode() + values.tobytes() for name, values in first.items())
    identity = hashlib.blake2b(content, digest_size=16).hexdigest()
    return StudyResult(identity, seed, columns, np.column_stack(list(first.values()))[:wanted])


# --- studies described in TOML ---


def read_study(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the arguments of `simulate` from a TOML file (docs/guide_researcher.rst shows one).

    The population is the paper's, or columns of a file.
    """
    path = _checks.path(path, "path")
    described = read_toml(path)
    parameters = signature(simulate).parameters
    for name in described:
        _checks.choice(
            name,
            f"an entry of {path}",
            [name for name in parameters if name not in RUN_PARAMETERS],
        )
    for name in ("n", "replications", "schemes"):
        _checks.require(name in described, f"{path} must have {name!r}", list(described))
    tables = described["schemes"]
    population = described.get("population")
    named = isinstance(tables, dict) and all(isinstance(entry, dict) for entry in tables.values())
    _checks.require(
        named, "schemes must be a table for each, by its name", tables, ArgumentTypeError
    )
    default = {"scheme": ConditionalMasking.method}
    schemes = {name: Scheme.from_dict(default | entry) for name, entry in tables.items()}
    drawn = paper_population() if population is None else _resampled(population, path.parent)
    return {**described, "population": drawn, "schemes": schemes}


def _resampled(described: Any, folder: Path) -> Resampled:
    """Return a population that draws from columns of a file."""
    known = isinstance(described, dict) and {*described} in (
        {"path", "column"},
        {"path", "column", "other"},
    )
    _checks.require(
        known, "population must be a table of path, column and perhaps other", described
    )
    path = folder / _checks.path(described["path"], "path")
    return Resampled(
        *(read_column(path, described[key]) for key in ("column", "other") if key in described)
    )
