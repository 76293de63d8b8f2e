"""The donor pools of a column, each with how attackers do on it under its scheme."""

from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.aggregated_ends import aggregate
from condmask.disclosure.noise_masked import NoiseMasked
from condmask.disclosure.original import units_of
from condmask.disclosure.reverse_mapped import ReverseMapped
from condmask.law import Law
from condmask.strata import donor_pools, labels_of, rows_of

Pool = NoiseMasked | ReverseMapped


class ColumnPools(NamedTuple):
    """A column by donor pools.

    Attributes
    ----------
    present : ndarray of bool
        Which records have a value.
    law : Law
        Of the noise, with a grid but under reverse mapping.
    pools : list of (rows, Pool)
        Where the records of each pool stand among those present, and their originals.
    """

    present: np.ndarray
    law: Law
    pools: list[tuple[Any, Pool]]


def pools_of(x: Any, scheme: Any, strata: Any, call: str) -> ColumnPools:
    """The donor pools of a column under its scheme; errors about strata name the call."""
    units, present, kind, law = units_of(x, scheme)
    labels = labels_of(strata, scheme.strata, present.size, "x", call)
    code = donor_pools(scheme, labels, [], present)
    return ColumnPools(present, law, pools(units, kind, law, scheme, None if code is None else code[present]))


def pools(
    units: np.ndarray, kind: str, law: Law, scheme: Any, code: np.ndarray | None = None
) -> list[tuple[Any, Pool]]:
    """The pools of originals in units of the law, by the code of each record; None where all are one."""
    members: list[Any] = [slice(None)] if code is None else list(rows_of(code).values())
    if not scheme.reverse_mapping:
        return [(rows, NoiseMasked(units[rows], kind, law, scheme.shared_donors)) for rows in members]
    if not scheme.aggregate_ends:
        parts = ((rows, units[rows]) for rows in members)
        return [(rows, ReverseMapped(part, part, kind, scheme)) for rows, part in parts]
    released = units.copy()
    aggregate(released, code, scheme.aggregate_ends)
    released = scheme.publish(released, kind).astype(np.float64, copy=False)
    return [(rows, ReverseMapped(units[rows], released[rows], kind, scheme)) for rows in members]
