"""Columns on their way to being masked: without codes, rounded, in donor pools, audited.

A column, a table and a part of a file take the same path, so that all refuse the same data with the same
messages, and all that is wrong with them at once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks
from condmask._randomness import Key
from condmask.disclosure.audit import DEFAULT, check_release
from condmask.disclosure.limits import Limits
from condmask.disclosure.table import Table
from condmask.errors import ArgumentError, Refusals
from condmask.frames import Column
from condmask.grid import decimals_of, nearest
from condmask.labels import Labels
from condmask.missing_codes import is_code, refuse_reachable, restore_codes
from condmask.schemes.limits import check_limits
from condmask.schemes.rounding import Moved
from condmask.strata import Pools, pools_of
from condmask.suspected_codes import without_any_codes


class Prepared(NamedTuple):
    """Columns that may be masked.

    Attributes
    ----------
    columns : dict of str to Column
        As they came.
    units : dict of str to ndarray of shape (n,)
        As they are masked: in whole steps of their grids where they have one; NaN where a value is missing.
    pools : Pools or None
        Donor pools; None where all records are one.
    patterns : tuple of str
        The columns whose pattern of missing values parts the pools.
    moved : dict of str to Moved
        What rounding moved.
    """

    columns: Mapping[str, Column]
    units: dict[str, np.ndarray]
    pools: Pools | None
    patterns: tuple[str, ...]
    moved: dict[str, Moved]


def prepare(
    schemes: Mapping[str, Any],
    columns: Mapping[str, Column],
    *,
    labels: Sequence[Labels] = (),
    nan_policy: str = "raise",
    to_grid: bool = False,
    limits: Limits | None = DEFAULT,
    table: Callable[[dict[str, np.ndarray], np.ndarray | None], Table] = Table,
) -> Prepared:
    """Columns ready to be masked, or an error that says all that is wrong with them.

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
    refusals, first = Refusals(), next(iter(schemes.values()))
    values = without_any_codes(schemes, columns, nan_policy, refusals)
    moved = {}
    for name, x in values.items() if to_grid else ():
        values[name] = nearest(x, schemes[name].grid, columns[name].kind)
        moved[name] = Moved.of(x, values[name])
    pools: Pools | None = None
    patterns: tuple[str, ...] = ()
    with refusals.collected():
        if first.shared_coins:  # else no record is a donor
            pools, patterns = pools_of(first, values, labels)
    pool = None if pools is None else pools.pool
    for name, scheme in schemes.items():
        with refusals.collected():
            check_limits(values[name], scheme, name)
    if limits is not None:
        with refusals.collected():
            check_release(table(values, pool), dict(schemes), limits)
    units = {}
    for name, scheme in schemes.items():
        with refusals.collected():
            units[name] = scheme.canonical(values[name], name, columns[name].kind)
            refuse_reachable(scheme, units[name], name, columns[name].kind)
    refusals.raise_all()
    return Prepared(columns, units, pools, patterns, moved)


def released(schemes: Mapping[str, Any], made: Prepared, key: Key, workers: int) -> dict[str, Any]:
    """Prepared columns as they are released, in the containers that they came in."""
    found, of = {}, list(schemes.values())
    masked = of[0].masked_columns(of, list(made.units.values()), key, made.pools, workers)
    for (name, column), z in zip(made.columns.items(), masked, strict=True):
        scheme = schemes[name]
        if column.kind == "int" and (np.abs(z) > _checks.LARGEST_EXACT_INTEGER).any():
            raise ArgumentError(f"{name} must stay below 2^53 when it is masked: sigma is too large")
        nulls = is_code(column.array, scheme.codes, column.kind) if scheme.missing_as == "null" else None
        found[name] = column.back(restore_codes(scheme, z, column.array, column.kind, name), nulls)
    return found


def decimals_in_text(scheme: Any, values: np.ndarray) -> int | None:
    """The decimals of masked values in text; None for as many as each needs."""
    if scheme.reverse_mapping:
        return decimals_of(values)
    return 0 if scheme.grid is not None and scheme.grid.whole else scheme.decimals
