"""Regressions of a release: which of their columns are masked, and how."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError, warn
from condmask.estimates.results import Intervals
from condmask.linear.chunks import Named
from condmask.linear.masked_regress import Masked, Table, fit
from condmask.linear.variance import interval_options
from condmask.reverse_mapping.pairs import TOGETHER
from condmask.variance.interval import TARGETS, EstimateWarning


def regress(release: Any, outcome: Any, on: Any, confidence_level: Any, target: Any) -> Intervals:
    """The regression of a column on others, of which some are masked."""
    options = interval_options(confidence_level, target)
    names = list(_checks.names([on] if isinstance(on, str) else on, "on"))
    outcome = _checks.text(outcome, "outcome")
    if not names or outcome in names or len(set(names)) < len(names):
        raise ArgumentError(f"on must name different columns, none of them {outcome!r}, got {names}")
    masked = {name: release[name] for name in (*names, outcome) if name in release}
    if list(masked) == [outcome]:
        special: Intervals = masked[outcome].regress(names, confidence_level=confidence_level, target=target)
        return special
    if not masked:
        raise ArgumentError(f"one of {names} and {outcome!r} must be masked: others need no release")
    first, columns = next(iter(masked.values())), dict[str, Any]()
    clear = partial(first._design, intercept=True, argument="on")
    for name in (*names, outcome):
        if name in masked:
            own = masked[name]._rows
            by_name = first._rows.named(own)
            columns[name] = None if own is first._rows else own.z if by_name is None else Named(by_name)
        else:
            columns |= clear([name])
    _checks.require(outcome in columns, "outcome must be a column of numbers", outcome, ArgumentTypeError)
    places = [place for place, name in enumerate(columns, 1) if name in masked]
    table = Table(columns, _masked(list(masked.values()), places))
    estimate, error, low, high = fit(table, options.level, options.target)
    if table.masked.products is not None:
        warn(f"regress: {TOGETHER}", EstimateWarning)
    elif not np.isfinite(low).all():
        warn("regress: too few records for this scheme to bound some coefficients", EstimateWarning)
    about = f"regression of {outcome}, coefficients {TARGETS[options.target]}"
    return Intervals(
        ["intercept", *list(columns)[:-1]], low, high, error, estimate, options.level, options.target, about,
        np.full(len(low), table.n), ("coefficient",),
    )  # fmt: skip


def _masked(estimates: list[Any], places: list[int]) -> Masked:
    """Columns of a release that were masked, as they are undone."""
    first, records, products = estimates[0], estimates[0]._rows, None
    if first.scheme.reverse_mapping:
        if len(estimates) > 1:
            products = np.zeros((len(estimates), len(estimates)))
            for i, j in combinations(range(len(estimates)), 2):
                products[i, j] = products[j, i] = estimates[i].covariance(estimates[j])
        undone = [_undone(each) for each in estimates]
        return Masked(places, records, 1.0, True, np.zeros((len(places), 5)), undone, products)
    noise = np.array([each._law.noise_moments(4, 1.0) for each in estimates])
    return Masked(places, records, first._law.p, first.scheme.shared_donors, noise)


def _undone(estimate: Any) -> Any:
    """What gives for a chunk the first three powers of deviations from the mean of the pool, undone."""
    file = estimate._linear()
    powers = file.powers(file.middle)[1:] * file.unit ** np.arange(1, 4)[:, None]
    return lambda chunk: powers[:, file.cell[chunk.rows]]
