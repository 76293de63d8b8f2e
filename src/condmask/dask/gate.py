"""Before a table in partitions is released: rows from all over it, examined as if they were the table.

Up to `ROWS` rows are taken, so a table with no more is examined whole. From a larger one they come in
stretches of 16, which show what neighbours have in common, within each donor pool in its own order: at least
1,024 of a pool, or all that it has. Of more than 1,024 pools, 1,024 are examined, including the smallest,
since a small pool shows most.

Rules about single values (limits, codes, gaps, grids, sizes of strata) are checked in all rows
(`partitions`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.base import compute
from dask.delayed import delayed

from condmask import frames
from condmask._blocks import STRETCH, evenly_spaced
from condmask.audit_input import AuditInput
from condmask.clear_columns import clear_of_frame, columns_in_clear
from condmask.dask import partitions
from condmask.dask.originals import Task, originals, pool_of
from condmask.dask.partitions import Layout
from condmask.missing_codes import drop_codes
from condmask.schemes.limits import refuse_outside, warn_of_signs

ROWS = 1 << 17
POOLS = OF_A_POOL = 1 << 10


class Some(NamedTuple):
    """Rows of a table: a data frame of them, and the donor pool of each; None where all are one."""

    frame: Any
    pool: np.ndarray | None


def spacing(whole: Layout, rows: int) -> np.ndarray:
    """By donor pool, one in how many stretches is examined; 0 for none. Without pools there is one number.

    The last number is for the records in no pool, which are examined as if they were one.
    """
    sizes = np.array([whole.n]) if whole.sizes is None else whole.sizes
    sizes = np.append(sizes, whole.n - sizes.sum())
    held = np.flatnonzero(sizes[:-1])
    chosen = held[evenly_spaced(held.size, POOLS)]
    chosen = np.union1d(chosen, held[[sizes[held].argmin()]])
    chosen = np.append(chosen, np.flatnonzero(sizes[-1:]) + sizes.size - 1)
    wanted = np.maximum(np.minimum(sizes, OF_A_POOL), sizes * rows // max(whole.n, 1))
    apart = np.zeros(sizes.size, dtype=np.int64)
    apart[chosen] = -(-sizes[chosen] // wanted[chosen])
    return apart


def ranks_before(whole: Layout) -> list[np.ndarray]:
    """By partition, the number of records of each donor pool, and of none, in the partitions before it."""
    if whole.pools is None:
        return [np.array([start]) for start in whole.starts[:-1]]
    before, count = [], np.zeros(len(whole.sizes) + 1, dtype=np.int64)  # type: ignore[arg-type]
    for part in whole.looks:
        before.append(count.copy())
        for label, records in part.strata.items():
            count[whole.pools[label]] += records
    return before


def some_rows(part: Any, task: Task, pools: Any, apart: np.ndarray, before: np.ndarray) -> Some:
    """The rows of a partition that are examined."""
    pool = np.zeros(len(part), dtype=np.int64) if pools is None else pool_of(originals(part, task), pools)
    rank = np.empty(pool.size, dtype=np.int64)
    for own in np.unique(pool):
        rows = np.flatnonzero(pool == own)
        rank[rows] = before[own] + np.arange(rows.size)
    taken = apart[pool] > 0
    taken &= rank // STRETCH % np.maximum(apart[pool], 1) == 0
    return Some(part[taken], None if pools is None else pool[taken])


def joined(parts: Sequence[Some]) -> Some:
    """The rows of all partitions."""
    pools = [part.pool for part in parts if part.pool is not None]
    return Some(frames.stacked([part.frame for part in parts]), np.concatenate(pools) if pools else None)


def audit_input(parts: Sequence[Any], whole: Layout, task: Task, *, clear: bool) -> AuditInput:
    """Rows from all over the partitions as an audit needs them, with or without unmasked columns."""
    apart = spacing(whole, ROWS)
    rows = [
        delayed(some_rows)(part, task, whole.pools, apart, before)
        for part, before in zip(parts, ranks_before(whole), strict=True)
    ]
    some = joined(compute(*rows))
    own = originals(some.frame, task)
    arrays = {name: column.array for name, column in own.columns.items()}
    drop_codes(task.schemes, arrays, whole.kinds, "omit")  # or asks which numbers are codes
    table = AuditInput(own.values, whole.kinds, {}, some.pool)
    if not clear:
        return table
    frame = frames.with_index(some.frame)
    beside = columns_in_clear(frames.column_names(frame), {*task.schemes, *task.strata})
    return table._replace(**clear_of_frame(frame, beside, list(arrays.values()))._asdict())


def check(parts: Sequence[Any], whole: Layout, task: Task, *, audited: bool) -> None:
    """Refuse a release that shows which records were swapped, and whatever else masking refuses."""
    table = audit_input(parts, whole, task, clear=audited)
    for name, scheme in task.schemes.items():
        if scheme.range is None:
            warn_of_signs(table.values[name], scheme.law, name)
        else:
            refuse_outside(whole.outside(name), name, table.masked_alone(), task.schemes, whole.n)
    if audited:
        next(iter(task.schemes.values())).check(task.schemes, table)
    partitions.refuse_beyond(whole, task)
