"""Linear regression among the columns of a release, of which several may be masked.

docs/inference.rst, "Masked regressors".
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError, warn
from condmask.estimates.estimate import Estimate
from condmask.estimates.estimator import ReverseMappedEstimator
from condmask.estimates.results import Intervals
from condmask.inference.interval import TARGETS, UNBOUNDED, EstimateWarning, Target
from condmask.linear.masked_regress import fit
from condmask.linear.masked_table import POWERS, Masked, Table
from condmask.linear.records import Named
from condmask.pairs.pair_interval import MASKED_TOGETHER
from condmask.reverse_mapping.pairs import UNKNOWN_ERROR


def regress_release(
    estimates: Mapping[str, Estimate],
    outcome: str,
    names: Sequence[str],
    level: float,
    target: Target,
) -> Intervals:
    """Return intervals of the coefficients; see `Release.regress`.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        The release.
    outcome : str
        The column to be explained.
    names : sequence of str
        The columns that explain it.
    level : float
        The confidence level.
    target : {"population", "file"}
    """
    names = list(names)
    if not names or outcome in names or len(set(names)) < len(names):
        raise ArgumentError(
            f"on must name different columns, none of them {outcome!r}, got {names}"
        )
    masked = {name: estimates[name] for name in (*names, outcome) if name in estimates}
    if list(masked) == [outcome]:
        return masked[outcome].regress(names, confidence_level=level, target=target)
    if not masked:
        raise ArgumentError(
            f"one of {names} and {outcome!r} must be masked: others need no release"
        )
    first = next(iter(masked.values()))
    given: dict[str, str | np.ndarray | Named] = {name: name for name in (*names, outcome)}
    given |= {name: first.records.values_of(one.records) for name, one in masked.items()}
    columns = first._design(given, intercept=True, argument="on")
    _checks.require(
        outcome in columns, "outcome must be a column of numbers", outcome, ArgumentTypeError
    )
    return fit_masked(columns, masked, outcome, level, target)


def fit_masked(
    columns: Mapping[str, np.ndarray | Named],
    masked: Mapping[str, Estimate],
    outcome: str,
    level: float,
    target: Target,
) -> Intervals:
    """Return intervals of the coefficients of a regression with masked columns.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n,) or Named
        The regressors and, last, the outcome.
    masked : mapping of str to Estimate
        Those of them that are masked, in the same order.
    outcome : str
    level : float
    target : {"population", "file"}
    """
    positions = [position for position, name in enumerate(columns, 1) if name in masked]
    by_position = dict(zip(positions, masked.values(), strict=True))
    table = Table(columns, masked_regressors(by_position))
    estimate, error, low, high = fit(table, level, target)
    finite = np.isfinite([low, high, error, estimate]).all(axis=0)
    reason = MASKED_TOGETHER if table.masked.products else UNBOUNDED
    notes = np.where(finite, "", reason)
    if table.masked.products:
        warn(f"regress: {UNKNOWN_ERROR}", EstimateWarning)
    elif not np.isfinite(low).all():
        warn(
            "regress: too few records for this scheme to bound some coefficients",
            EstimateWarning,
        )
    return Intervals(
        ["intercept", *list(columns)[:-1]],
        low,
        high,
        error,
        estimate,
        level,
        target,
        f"regression of {outcome}, coefficients {TARGETS[target]}",
        np.full(len(low), table.n),
        ("coefficient",),
        notes,
    )


def masked_regressors(estimates: Mapping[int, Estimate]) -> Masked:
    """Bundle the masked columns, keyed by their position among the regressors, for
    `masked_regress.fit`."""
    positions = [*estimates]
    first = next(iter(estimates.values()))
    estimators = [each.estimator for each in estimates.values()]
    mapped = [each for each in estimators if isinstance(each, ReverseMappedEstimator)]
    if mapped:
        pairs = combinations(estimates.items(), 2)
        products = {(i, j): one.covariance(other) for (i, one), (j, other) in pairs}
        files = [each.linear() for each in mapped]
        undone = [(file.powers(file.middle)[1:] * file.unit**POWERS, file.cell) for file in files]
        noise = np.zeros((len(positions), 5))
        return Masked(positions, first.records, 1.0, True, noise, undone, products)
    noise = np.array([each.law.noise_moments(4, 1.0) for each in estimates.values()])
    return Masked(positions, first.records, first.law.p, first.scheme.shared_donors, noise)
