"""Prepare columns for masking: leave out codes, round, find donor pools, audit.

A column, a table and a part of a file take the same path, so that all refuse the same data with
the same messages, and all that is wrong with them at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._randomness import Key
from condmask.disclosure.audit import DEFAULT_LIMITS, check_at_once, check_attack
from condmask.disclosure.figures import Figures
from condmask.disclosure.policy import Finding, Limits
from condmask.disclosure.rails import min_pool_records
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentError, Refusals, ReleaseError, ReleaseWarning, warn
from condmask.frames import Column
from condmask.grid import nearest
from condmask.labels import Labels
from condmask.masking.fitting import refuse_unfit
from condmask.masking.range import check_limits
from condmask.masking.scheme import Scheme
from condmask.missing_codes import (
    is_code,
    refuse_reachable,
    refuse_values_like_codes,
    restore_codes,
)
from condmask.publish.rounding import RoundingShift
from condmask.strata import SMALLEST, Pools, pools_by, pools_of
from condmask.suspected_codes import suspicion, without_any_codes


class Prepared(NamedTuple):
    """Columns that may be masked.

    Attributes
    ----------
    columns : dict of str to Column
        The originals in their containers.
    values : dict of str to ndarray of shape (n,)
        Without codes, NaN where a value is missing; none once all is settled.
    units : dict of str to ndarray of shape (n,)
        As they are masked: in whole steps of their grids where they have one; NaN where a value is
        missing.
    pool : ndarray of shape (n,) or None
        The number of each record's donor pool, below 0 for none; None where all records are one.
    pools : Pools or None
        Donor pools with their records, once all is settled; None where all records are one.
    patterns : tuple of str
        The columns whose pattern of missing values parts the pools.
    moved : dict of str to RoundingShift
        How far rounding moved the values.
    table : Table or None
        The table that is audited; None where none is, and once all is settled.
    figures : dict of str to Figures
        Of the audit, by masked column, once all is settled.
    """

    columns: Mapping[str, Column]
    values: dict[str, np.ndarray]
    units: dict[str, np.ndarray]
    pool: np.ndarray | None
    pools: Pools | None
    patterns: tuple[str, ...]
    moved: dict[str, RoundingShift]
    table: Table | None
    figures: Mapping[str, Figures] = {}


def prepare(
    schemes: Mapping[str, Scheme],
    columns: Mapping[str, Column],
    *,
    labels: Sequence[Labels] = (),
    nan_policy: str = "raise",
    to_grid: bool = False,
    limits: Limits | None = DEFAULT_LIMITS,
    table: Callable[[dict[str, np.ndarray], np.ndarray | None], Table] = Table,
) -> Prepared:
    """Return columns ready to be masked, or raise one error that says all that is wrong with them.

    Parameters
    ----------
    schemes : dict of str to scheme
        By column, all of one class, with the strata that are published.
    columns : dict of str to Column
        The originals.
    labels : sequence of Labels
        The strata.
    nan_policy : str
        As for `ConditionalMasking.mask`, checked.
    to_grid : bool
        Whether data are rounded.
    limits : Limits, optional
        What a release may show; None for one that is not audited.
    table : callable (values, pool)
        The table that is audited, with what is released beside the columns.
    """
    refusals = Refusals()
    seen = look(
        schemes,
        columns,
        refusals,
        labels=labels,
        nan_policy=nan_policy,
        to_grid=to_grid,
        limits=limits,
        table=table,
    )
    refusals.raise_all()
    return settled(seen, schemes, limits)


def look(
    schemes: Mapping[str, Scheme],
    columns: Mapping[str, Column],
    refusals: Refusals,
    *,
    labels: Sequence[Labels] = (),
    nan_policy: str = "raise",
    to_grid: bool = False,
    limits: Limits | None = DEFAULT_LIMITS,
    table: Callable[[dict[str, np.ndarray], np.ndarray | None], Table] | None = Table,
) -> Prepared:
    """Collect all that is wrong with columns and is seen at once, without an attack; the arguments
    are those of `prepare`; without a table, nothing is audited."""
    first = next(iter(schemes.values()))
    for name, scheme in schemes.items():
        _warn_of_codes(scheme, columns[name], name)
    values = without_any_codes(schemes, columns, nan_policy, refusals)
    moved = {}
    for name, x in values.items():
        grid = schemes[name].grid
        if not to_grid or grid is None:
            continue
        values[name] = nearest(x, grid, columns[name].kind)
        moved[name] = RoundingShift.between(x, values[name])
    pool: np.ndarray | None = None
    patterns: tuple[str, ...] = ()
    with refusals.collected():
        if first.shared_coins:  # else no record is a donor
            pool, patterns = _pools_of(first, values, labels, limits)
    looked_at = None if table is None else table(values, pool)
    if limits is not None and looked_at is not None:
        check_at_once(looked_at, dict(schemes), limits, refusals)
    seen = Prepared(columns, values, {}, pool, None, patterns, moved, looked_at)
    return seen._replace(units=in_units(seen, schemes, refusals))


def least_pool(schemes: Iterable[Any], limits: Limits | None) -> int:
    """Return how many records a donor pool must have under any of some schemes."""
    if limits is None or "C6" in limits.accepted:
        return SMALLEST
    return max(map(min_pool_records, schemes))


def _pools_of(
    scheme: Any,
    values: dict[str, np.ndarray],
    labels: Sequence[Labels],
    limits: Limits | None,
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return the donor pools; refuse those that the audit finds too small, under the code of
    these."""
    least = least_pool([scheme], limits)
    try:
        return pools_of(scheme, values, labels, least)
    except ArgumentError as error:
        if least == SMALLEST:
            raise
        refusal = ReleaseError(Finding("C6", "", str(error)).refusal)
        raise refusal.settled_by(error.change, "C6") from None


def in_units(
    seen: Prepared, schemes: Mapping[str, Scheme], refusals: Refusals
) -> dict[str, np.ndarray]:
    """Return columns as they are masked; collect those that their schemes cannot mask."""
    units = {}
    for name, scheme in schemes.items():
        kind = seen.columns[name].kind
        with refusals.collected():
            check_limits(seen.values[name], scheme, name)
        with refusals.collected():
            refuse_unfit(scheme, seen.columns[name], name)
            units[name] = scheme.canonical(seen.values[name], name, kind)
            refuse_reachable(scheme, units[name], name, kind)
    return units


def settled(
    seen: Prepared,
    schemes: Mapping[str, Scheme],
    limits: Limits | None,
    *,
    by_name: bool = False,
) -> Prepared:
    """Refuse columns that were looked at for what an attack finds; return them without what it
    looks at."""
    if seen.table is not None and limits is not None:
        figures = check_attack(seen.table, dict(schemes), limits, by_name=by_name)
        seen = seen._replace(figures=figures)
    pools = None if seen.pool is None else pools_by(seen.pool)
    return seen._replace(values={}, pools=pools, table=None)


def released(
    schemes: Mapping[str, Scheme], made: Prepared, key: Key, workers: int
) -> dict[str, Any]:
    """Mask prepared columns and return them in the containers of the originals."""
    in_order = list(schemes.values())
    if in_order[0].gathers:
        return _gathered(schemes, made, key, workers)
    containers = {}
    masked = in_order[0].masked_columns(
        in_order, list(made.units.values()), key, made.pools, workers
    )
    for (name, column), z in zip(made.columns.items(), masked, strict=True):
        scheme = schemes[name]
        if column.kind == "int" and (np.abs(z) > _checks.LARGEST_EXACT_INTEGER).any():
            raise ArgumentError(
                f"{name} must stay below 2^53 when it is masked: sigma is too large"
            )
        containers[name] = _as_numbers(scheme, column, z, name)
    return containers


def _gathered(
    schemes: Mapping[str, Scheme], made: Prepared, key: Key, workers: int
) -> dict[str, Any]:
    """Prepared columns in the order in which they are released, each value as it is stored."""
    containers = {}
    of: Any = list(schemes.values())  # of a class that gathers
    stored = [column.stored for column in made.columns.values()]
    ranks = [None if values is None else values.rank for values in stored]
    columns = list(made.units.values())
    released_columns = of[0].rearranged_columns(of, columns, ranks, key, made.pools, workers)
    for (name, column), one in zip(made.columns.items(), released_columns, strict=True):
        scheme = schemes[name]
        if column.stored is None:
            containers[name] = _as_numbers(scheme, column, one.values, name)
        else:
            refuse_values_like_codes(scheme, one.values, column.kind, name)
            nulls = _nulls(scheme, column)
            containers[name] = column.stored.gathered(one.donors(), one.ends, nulls)
    return containers


def _as_numbers(scheme: Scheme, column: Column, z: np.ndarray, name: str) -> Any:
    """Masked numbers in the container of their column, with its codes in their places."""
    published = restore_codes(scheme, z, column.array, column.kind, name)
    return column.back(published, _nulls(scheme, column))


def _nulls(scheme: Scheme, column: Column) -> np.ndarray | None:
    """Where a release has nulls in place of codes; None where codes stay."""
    if scheme.missing_as != "null":
        return None
    return is_code(column.array, scheme.codes, column.kind)


def _warn_of_codes(scheme: Scheme, column: Column, name: str) -> None:
    """Warn of values that look like codes where a scheme has no parameter that declares them."""
    parameters = {field.name for field in fields(scheme)}  # type: ignore[arg-type]
    if "missing" in parameters:
        return  # without_any_codes asks about them
    codes, records = suspicion((), column.array, column.kind)
    if codes:
        nulls = 'put nulls in their place, with nan_policy="omit"'
        records_out = "leave their records out, or use ConditionalMasking"
        warn(
            f"{name} has values that look like codes of missing ones ({records:,} records, far "
            f"from all others), which {type(scheme).__name__} masks as values; "
            f"{nulls if scheme.keeps_gaps else records_out}",
            ReleaseWarning,
        )
