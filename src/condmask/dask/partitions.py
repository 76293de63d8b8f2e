"""The partitions of a table before they are masked: the facts of each, and of the whole.

Partitions are looked at one by one, and tell numbers alone: how many rows they have, which strata, what is
missing. What a rule says of all rows is made of these, so that the same tables are refused, in the same
words, as where one machine has all of it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.base import compute
from dask.delayed import delayed

from condmask import _checks, frames
from condmask.dask.originals import NO_KIND, Label, Task, originals, released, units_of
from condmask.donor_pools import Stratum, refuse_small
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.missing_codes import expected_hits, refuse_hits, released_codes
from condmask.schemes.limits import Outside, outside
from condmask.schemes.rounding import STILL, Moved
from condmask.strata import pooled


class Look(NamedTuple):
    """The facts of a partition."""

    rows: int
    kinds: dict[str, str]
    dtypes: dict[str, Any]  # of the columns as they are released
    gaps: dict[str, tuple[int, int]]  # missing values that no code declares, and the first one's position
    missing: dict[str, int]
    moved: dict[str, Moved]
    outside: dict[str, Outside]
    beyond: Exception | None  # why values do not fit their grids
    hits: dict[str, dict[float, float]]  # of codes, expected
    strata: dict[Label, int]  # how many records each has
    text: tuple[bool, ...]  # which columns of strata have text as labels
    digest: bytes


def look(part: Any, task: Task) -> Look | Exception:
    """The facts of a partition; an error is returned, since a failing task would be logged with its data."""
    try:
        own = originals(part, task)
    except (TypeError, ValueError) as error:
        return error
    gaps, ranges = {}, {}
    for name, column in own.columns.items():
        where = np.isnan(column.array)
        gaps[name] = int(np.count_nonzero(where)), int(where.argmax()) if where.any() else 0
        if where.size and task.schemes[name].range is not None:
            ranges[name] = outside(own.values[name], task.schemes[name])
    kinds, beyond = {name: column.kind for name, column in own.columns.items()}, None
    hits: dict[str, dict[float, float]] = {}
    try:
        for name, units in units_of(own, task).items():
            scheme = task.schemes[name]
            codes = released_codes(scheme)
            hits[name] = {code: expected_hits(scheme, code, units, kinds[name]) for code in codes}
    except ValueError as error:
        beyond = error
    return Look(
        own.code.size,
        kinds,
        {name: z.dtype for name, z in released(own, own.values, task).items()},
        gaps,
        {name: int(np.count_nonzero(np.isnan(x))) for name, x in own.values.items()},
        own.moved,
        ranges,
        beyond,
        hits,
        dict(zip(own.strata, np.bincount(own.code).tolist(), strict=True)),
        tuple(frames.labels(frames.table_column(part, name), name).dtype.kind == "O" for name in task.strata),
        own.digest(),
    )


class Layout(NamedTuple):
    """The partitions together.

    Attributes
    ----------
    looks : list of Look
        What each of them tells.
    starts : ndarray of shape (partitions + 1,)
        The first row of each, and at the end the number of all.
    kinds : dict of str to str
        What the columns hold.
    dtypes : dict of str to dtype
        Of the columns as they are released.
    pools : dict of tuple to int, or None
        The number of each stratum's donor pool; below 0 where records have no value. None where all are one.
    sizes : ndarray of int, or None
        Records by pool.
    patterns : tuple of str
        The columns whose pattern of missing values parts the pools.
    """

    looks: list[Look]
    starts: np.ndarray
    kinds: dict[str, str]
    dtypes: dict[str, Any]
    pools: dict[Label, int] | None
    sizes: np.ndarray | None
    patterns: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    def moved(self, name: str) -> Moved:
        """How far rounding moved the values of a column."""
        moved = STILL
        for part in self.looks:
            moved = moved.plus(part.moved[name])
        return moved

    def outside(self, name: str) -> Outside:
        """The values of a column that lie, or will lie, outside its range."""
        found = NOTHING
        for part, row in zip(self.looks, self.starts, strict=False):
            found = found.plus(part.outside.get(name, NOTHING), int(row))
        return found


NOTHING = Outside(0, -1, (0.0, 0.0))


def looked_at(parts: Sequence[Any], task: Task, policy: str) -> Layout:
    """The partitions together, after a pass over them."""
    return layout(compute(*(delayed(look)(part, task) for part in parts)), task, policy)


def layout(looks: Sequence[Look | Exception], task: Task, policy: str) -> Layout:
    """The whole, or an error on why it cannot be masked."""
    parts: list[Look] = []
    for number, part in enumerate(looks):
        if isinstance(part, Exception):
            raise _in_partition(part, number)
        parts.append(part)
    starts = np.append(0, np.cumsum([part.rows for part in parts], dtype=np.int64))
    n, names = int(starts[-1]), list(task.schemes)
    _checks.at_least_two(n, names[0])
    for name in names:
        _refuse_gaps([part.gaps[name] for part in parts], starts, name, policy)
    for name in names:
        left_out = sum(part.missing[name] for part in parts)
        _checks.refuse_gaps(left_out, 0, n, name, "omit")
    held = [part for part in parts if part.rows]
    kinds = {name: _common([part.kinds[name] for part in held], name) for name in names}
    dtypes = {
        name: _dtype([(part.missing[name], part.dtypes[name]) for part in held if part.kinds[name]])
        for name in names
    }
    return Layout(parts, starts, kinds, dtypes, *_pools(parts, task))


def refuse_beyond(whole: Layout, task: Task) -> None:
    """Refuse values that do not fit the grids, and codes on which masked values would land."""
    for number, part in enumerate(whole.looks):
        if part.beyond is not None:
            raise _in_partition(part.beyond, number)
    for name, scheme in task.schemes.items():
        for code in released_codes(scheme):
            refuse_hits(sum(part.hits[name][code] for part in whole.looks), code, name)


def _in_partition(error: Exception, number: int) -> Exception:
    """The error of a partition, with its number where it names a position."""
    text = str(error)
    kind = ArgumentTypeError if isinstance(error, TypeError) else ArgumentError
    return kind(f"{text} (in partition {number})" if "position" in text else text)


def _refuse_gaps(gaps: Sequence[tuple[int, int]], starts: np.ndarray, name: str, policy: str) -> None:
    found = [
        (count, int(start) + first) for (count, first), start in zip(gaps, starts, strict=False) if count
    ]
    if found:
        _checks.refuse_gaps(sum(count for count, _ in found), found[0][1], int(starts[-1]), name, policy)


def _common(kinds: Sequence[str], name: str) -> str:
    """The kind of a column in all partitions that have rows."""
    known = [kind for kind in kinds if kind != NO_KIND]
    for kind in known:
        if kind != known[0]:
            raise ArgumentTypeError(
                f"{name} must be of one type in all partitions, got {known[0]} and {kind}"
            )
    return known[0]


def _dtype(dtypes: Sequence[tuple[int, Any]]) -> Any:
    """How a column is released: as with a missing value, if there is one."""
    return next((dtype for gaps, dtype in dtypes if gaps), dtypes[0][1])


def _pools(
    parts: Sequence[Look], task: Task
) -> tuple[dict[Label, int] | None, np.ndarray | None, tuple[str, ...]]:
    """The pool of each stratum, the size of each pool, and the columns whose pattern separates them."""
    text = [any(part.text[k] for part in parts) for k in range(len(task.strata))]
    alike = {label: _in_common(label, text) for part in parts for label in part.strata}
    counted: Counter[Label] = Counter()
    for part in parts:
        for label, records in part.strata.items():
            counted[alike[label]] += records
    whole = (True,) * len(task.schemes)
    if not task.strata and all(label[-1] == whole for label in counted):
        return None, None, ()
    present = sorted((label for label in counted if any(label[-1])), key=_in_order)
    parted = any(label[-1] != whole for label in present)
    size = np.array([counted[label] for label in present], dtype=np.int64)
    kinds = {pattern: k for k, pattern in enumerate(dict.fromkeys(label[-1] for label in present))}
    pattern = np.array([kinds[label[-1]] for label in present], dtype=np.int64)
    merge = next(iter(task.schemes.values())).small_strata == "merge"
    pool = pooled(size, pattern) if merge else np.arange(size.size)
    sizes = np.bincount(pool, size, size.size).astype(np.int64)

    def stratum(number: int) -> Stratum:
        *labels, has = present[number]
        missing = [name for name, there in zip(task.schemes, has, strict=True) if not there]
        named = tuple(np.nan if label is None else label for label in labels)
        return Stratum(named, missing if parted else None, int(size[pattern == pattern[number]].sum()))

    if task.strata or parted:
        refuse_small(sizes, stratum, merge=merge)
    numbers = dict(zip(present, pool.tolist(), strict=True))
    pools = {label: numbers.get(common, -1) for label, common in alike.items()}
    return pools, sizes, tuple(task.schemes) if parted else ()


def _in_common(label: Label, text: Sequence[bool]) -> Label:
    """A label as the whole table has it: a column with objects in any partition has text in all."""
    labels = (
        str(np.nan if own is None else own) if as_text else own
        for own, as_text in zip(label, text, strict=False)
    )
    return (*labels, label[-1])


def _in_order(label: Label) -> Any:
    """The key by which labels are sorted as on one machine: NaN comes last."""
    return [
        (own is None, type(own).__name__ if isinstance(own, str) else "", 0 if own is None else own)
        for own in label
    ]
