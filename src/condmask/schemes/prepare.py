"""Columns on their way to being masked: without codes, rounded, in donor pools, audited, with a key.

A column, a table and a file take the same path, so that all refuse the same data with the same messages.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask._randomness import Key
from condmask.audit_input import AuditInput
from condmask.clear_columns import Clear
from condmask.donor_pools import Pools, pools_of
from condmask.frames import Labels
from condmask.missing_codes import drop_codes, refuse_reachable
from condmask.scheme import release_key
from condmask.schemes.limits import check_limits
from condmask.schemes.rounding import Shifts, rounded


class Prepared(NamedTuple):
    """Columns that may be masked.

    Attributes
    ----------
    units : dict of str to ndarray of shape (n,)
        In whole steps of their grids where they have one; NaN where a value is missing.
    pools : Pools or None
        Donor pools; None where all records are one.
    patterns : tuple of str
        The columns whose pattern of missing values parts the pools.
    shifts : dict of str to (float, float)
        What rounding moved.
    key : Key
        Of the release.
    """

    units: dict[str, np.ndarray]
    pools: Pools | None
    patterns: tuple[str, ...]
    shifts: Shifts
    key: Key


def prepare(
    schemes: Mapping[str, Any],
    columns: dict[str, np.ndarray],
    kinds: Mapping[str, str],
    *,
    published: Mapping[str, Any],
    labels: Sequence[Labels] = (),
    clear: Clear | None = None,
    rng: Any = None,
    nan_policy: str = "raise",
    to_grid: bool = False,
    audited: bool = True,
    to_file: bool = False,
    in_place: bool = False,
) -> Prepared:
    """Columns ready to be masked, or an error that says why they cannot be.

    Parameters
    ----------
    schemes : dict of str to scheme
        By column, all of one class.
    columns, kinds : dict of str to ndarray, of str to str
        The originals, and what their containers held.
    published : dict of str to scheme
        The schemes under the names, and with the strata, that are published; they make the key.
    labels : sequence of Labels
        The strata.
    clear : Clear, optional
        What is released beside them.
    rng, nan_policy
        As for `ConditionalMasking.mask`, checked.
    to_grid : bool
        Whether data are rounded.
    audited : bool
        Whether a release that shows which records were swapped is refused.
    to_file : bool
        Whether the release goes to a file, as one of a few records does not.
    in_place : bool
        Whether the originals may be overwritten.
    """
    columns, policy = drop_codes(schemes, columns, kinds, nan_policy, in_place=in_place)
    columns, shifts = rounded(schemes, columns, kinds, in_place=in_place) if to_grid else (columns, {})
    pools, patterns = pools_of(next(iter(published.values())), columns, labels, policy)
    table = AuditInput(columns, dict(kinds), {}, None if pools is None else pools.pool)
    check_limits(table, schemes)
    if audited:
        table = table if clear is None else table._replace(**clear._asdict())
        next(iter(schemes.values())).check(dict(schemes), table, to_file=to_file)
    units = {
        name: scheme.canonical(columns[name], name, kinds[name], out=columns[name] if in_place else None)
        for name, scheme in schemes.items()
    }
    refuse_reachable(schemes, units, kinds)
    key = release_key(rng, published, list(units.values()), pools)
    return Prepared(units, pools, patterns, shifts, key)
