"""Warn of releases of little use: noise so wide that group means and regressions drown in it.

Both rest on pseudo-values (`linear.pseudo_values`, `reverse_mapping.pseudo_values`), which vary N
times as much as without noise. Under reverse mapping N depends on the data, and beyond 5 these
statistics are refused. With noise of variance s^2 on a column of variance V it is

    N = sqrt(1 + (1 - p) s^2 / V),

and m records tell as much of a mean as m (1 - p)^2 / N^2 unmasked ones. The publisher is warned
before anything is written where the variance is more than 5 times that without noise, and told of
parameters that would do, each tried on the data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.audit import audit_table
from condmask.disclosure.policy import Limits
from condmask.disclosure.unmasked import Table, clear_of
from condmask.errors import ReleaseWarning, warn
from condmask.inference.interval import UndefinedError
from condmask.linear.records import Records
from condmask.masking.ends import aggregate
from condmask.reverse_mapping.pseudo_values import (
    MAX_VARIATION,
    MAX_VARIATION_UNWARNED,
    MIN_MAPPED_RECORDS,
    ReverseMapped,
)
from condmask.strata import values_by_pool

MOST_VARIANCE = 5.0  # N^2 beyond which is warned
# N of schemes that are suggested, the more useful first
GOALS = (MAX_VARIATION_UNWARNED, float(np.sqrt(MOST_VARIANCE)))
RECORDS = 1_000  # of which the message says how many unmasked ones they are worth
HALVINGS = 14  # of the interval in which sigma is sought: to less than its second digit
NARROWEST = 1e-3  # times sigma, from where it is sought


class Candidate(NamedTuple):
    """A release before it is masked.

    Attributes
    ----------
    table : Table
        The columns to be masked, and their donor pools.
    frame : data frame or dict of columns
        The table with the columns in clear.
    schemes : dict of str to scheme
    limits : Limits or None
        What a release may show; None where it is not audited.
    chosen : bool
        Whether the schemes were chosen for names of columns.
    """

    table: Table
    frame: Any
    schemes: dict[str, Any]
    limits: Limits | None
    chosen: bool


def warn_of_use(candidate: Candidate) -> None:
    """Warn of each column of which hardly any group mean or regression could be estimated."""
    schemes = candidate.schemes
    table = candidate.table
    if not next(iter(schemes.values())).shared_coins:  # values are not swapped
        return
    variation = {name: variation_of(table, name, scheme) for name, scheme in schemes.items()}
    wide = {name: times for name, times in variation.items() if times**2 > MOST_VARIANCE}
    if not wide:
        return
    with_clear = table._replace(clear=clear_of(candidate.frame, table.values))
    remedy = _remedy(candidate._replace(table=with_clear), list(wide))
    for name, times in wide.items():
        warn(f"{name}: {_loss(times, schemes[name])}; {remedy[name]}", ReleaseWarning, about=name)


def variation_of(table: Table, name: str, scheme: Any) -> float:
    """Return N, how many times as much pseudo-values vary as without noise; of donor pools the
    largest.

    It is infinite where reverse mapping cannot be undone, and 1 where a column or a pool is too
    small to say.
    """
    x = table.values[name]
    if not scheme.reverse_mapping:
        variance = float(np.nanvar(x))
        return (
            float(np.sqrt(1.0 + (1.0 - scheme.p) * scheme.law.variance / variance))
            if variance
            else 1.0
        )
    if min(values.size for _, values in values_by_pool(x, table.pool)) < MIN_MAPPED_RECORDS:
        return 1.0  # the guard rails speak of these
    released = x.astype(np.float64)
    if scheme.aggregate_ends:
        aggregate(released, table.pool, scheme.aggregate_ends)
    try:
        return ReverseMapped(Records(released, table.pool), scheme).variation
    except UndefinedError:
        return np.inf


def _loss(times: float, scheme: Any) -> str:
    """Return what analysts lose with a column, as a part of a sentence."""
    lost = "no group mean and no regression can be estimated from this"
    much = f"{times:.1f} times as much as" if np.isfinite(times) else "without bound, and not as"
    vary = f"its pseudo-values vary {much} without noise"
    if scheme.reverse_mapping and times > MAX_VARIATION:
        return f"{lost}: {vary}, of which at most {MAX_VARIATION:g} times can be undone"
    worth = RECORDS * (1.0 - scheme.p) ** 2 / times**2
    return (
        f"{lost}, unless of very many records: {vary}, and {RECORDS:,} of them tell as much of a mean as "
        f"{worth:.2g} unmasked ones"
    )


# --- parameters under which the release would be useful ---


def _remedy(candidate: Candidate, wide: Sequence[str]) -> dict[str, str]:
    """Return by column what to pass instead; with all of it the release is useful and passes the
    audit."""
    for goal in GOALS:
        schemes = _narrowed(candidate, wide, goal)
        if _passes(candidate, schemes):
            return {name: _in_words(candidate, schemes, name) for name in wide}
    for name, goal in product(candidate.schemes if len(candidate.schemes) > 1 else (), GOALS):
        alone = _only(candidate, name)
        schemes = _narrowed(alone, [name], goal)
        if _passes(alone, schemes):
            others = ", ".join(other for other in candidate.schemes if other != name)
            less = f"narrower noise is refused for these columns together: drop {others}, {_call(schemes)}"
            return dict.fromkeys(wide, less)
    return dict.fromkeys(
        wide, "narrower noise is refused: release fewer columns that tell of each other"
    )


def _narrowed(candidate: Candidate, names: Sequence[str], goal: float) -> dict[str, Any]:
    """Return the schemes, some with the largest sigma of two digits under which N is at most a
    goal."""
    found = dict(candidate.schemes)
    for name in names:
        scheme = candidate.schemes[name]
        table = candidate.table
        if variation_of(table, name, scheme) <= goal:
            continue
        low = np.log(NARROWEST * scheme.sigma)
        high = np.log(scheme.sigma)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if variation_of(table, name, with_sigma(scheme, float(np.exp(middle)))) <= goal:
                low = middle
            else:
                high = middle
        found[name] = with_sigma(scheme, _rounded_down(float(np.exp(low))))
    return found


def with_sigma(scheme: Any, sigma: float) -> Any:
    """Return the scheme with another sigma, and the default grid of that sigma where it has the
    default."""
    grid = {"step": None} if scheme.rounds else {}
    return replace(scheme, sigma=sigma, **grid)


def _rounded_down(value: float) -> float:
    """Return the largest number of two digits that is not larger."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return float(f"{np.floor(value / unit * (1.0 + 1e-9)) * unit:.2g}")


def _passes(candidate: Candidate, schemes: Mapping[str, Any]) -> bool:
    """Return whether the audit would accept these schemes."""
    limits = candidate.limits
    return limits is None or not audit_table(candidate.table, dict(schemes), limits).refused


def _only(candidate: Candidate, name: str) -> Candidate:
    """Return the release with one of the masked columns, without the others."""
    table = candidate.table._replace(values={name: candidate.table.values[name]})
    return candidate._replace(table=table, schemes={name: candidate.schemes[name]})


def _in_words(candidate: Candidate, schemes: Mapping[str, Any], name: str) -> str:
    """Return which parameters to pass for a column."""
    if candidate.chosen:
        return _call(schemes)
    sigma = f"{schemes[name].sigma:g}"
    return f"pass sigma={sigma} for {name}" if len(schemes) > 1 else f"pass sigma={sigma}"


def _call(schemes: Mapping[str, Any]) -> str:
    """Return the call for it with the schemes in full."""
    full = ", ".join(f"{name!r}: cm.{scheme!r}" for name, scheme in schemes.items())
    return f"pass {{{full}}}"
