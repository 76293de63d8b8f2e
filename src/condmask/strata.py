"""Form strata and donor pools, the groups of records from which donors are drawn.

Strata are the groups by the columns that a scheme names; several columns are crossed. A donor has
the same gaps as the record, so if columns masked together miss different values, strata are split
further by pattern of missing values. A record without any value is in no pool. Within a pool,
records are numbered in file order.

Small strata are refused or, where the scheme says so, pooled: *of the records with one pattern of
missing values, all strata of fewer than 10 become one; if that has fewer than 10 still, the strata
of the next size join it, all of that size.* The rule uses only sizes. So anyone who has the
columns, and knows which values are missing, finds the same pools, whatever the labels and the
order of the records. Patterns themselves are never pooled (docs/theory.rst, "Patterns").
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask.changes import Change
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.frames import DataFrame
from condmask.kernels import counting_sort
from condmask.labels import Labels, codes, label_columns

SMALLEST = 10  # smallest number of records of a stratum
MAX_TABLE_PAIRS = 1 << 16  # pairs of labels that are always counted in a table
SAME_GAPS = (
    'a donor must have the same gaps, so pass rare_gaps="drop" to leave these records out, or '
    "mask "
    "fewer columns in one call"
)

Names = str | tuple[str, ...] | None  # of the columns, as a scheme has them
# the labels of records as a user gives them: one column, or a table or sequence of several
StrataValues = ArrayLike | DataFrame | None


class Pools(NamedTuple):
    """Row r is of pool[r]; the rows of pool s are order[first[s] : first[s] + size[s]], in
    ascending order.

    pool[r] is -1 for a record that can neither give nor take a value.
    """

    pool: np.ndarray
    first: np.ndarray
    size: np.ndarray
    order: np.ndarray

    def leaders(self) -> np.ndarray:
        """Return the first row of each record's pool, which does not depend on numbers of pools;
        -1 for a record in no pool.
        """
        first = self.order[self.first].astype(np.int64)
        return np.asarray(np.append(first, -1)[self.pool])


class StratifiedScheme(Protocol):
    """A scheme that says what to do with strata of fewer than 10 records."""

    @property
    def small_strata(self) -> str: ...


def named_strata(value: str | Sequence[str] | None) -> Names:
    """Check names of strata; return None, one name, or a tuple of several."""
    if value is None or (isinstance(value, str) and value):
        return value
    is_named = (
        isinstance(value, tuple | list) and value and all(isinstance(n, str) and n for n in value)
    )
    _checks.require(
        bool(is_named),
        "strata must be None, a name or a sequence of names",
        value,
        ArgumentTypeError,
    )
    _checks.require(len(set(value)) == len(value), "strata must name each column once", value)
    return tuple(value) if len(value) > 1 else str(value[0])


def names_of(strata: Names) -> tuple[str, ...]:
    """Return the names of the columns as a tuple, which may be empty."""
    if strata is None:
        return ()
    return (strata,) if isinstance(strata, str) else strata


def not_masked(strata: str | Sequence[str] | None, masked: Collection[str]) -> tuple[str, ...]:
    """Return the names of the columns; a masked column among them is refused."""
    names = names_of(named_strata(strata))
    for name in names:
        _checks.require(name not in masked, "strata must not be a column that is masked", name)
    return names


def quoted_names(strata: Names) -> str:
    """Return the names as a message quotes them."""
    return ", ".join(map(repr, names_of(strata)))


def missing_strata(strata: Names, call: str) -> str:
    """Return the message for strata that a scheme names and that are not given to a call."""
    columns = "that column" if isinstance(strata, str) else "these columns"
    return (
        f"strata must be given: the scheme names {quoted_names(strata)}, so pass {columns} "
        f"to {call}()"
    )


def labels_of(values: StrataValues, strata: Names, n: int, of: str, call: str) -> list[Labels]:
    """Return the strata that a scheme names, from the values passed to a call.

    Names and values must both be given, or neither.
    """
    names = names_of(strata)
    if values is None and not names:
        return []
    if values is None:
        raise ArgumentError(missing_strata(strata, call))
    if not names:
        raise ArgumentError(
            "strata must be left out where the scheme names none, got values; "
            "ReverseMapping(..., strata=name) or ConditionalMasking(..., strata=name) names their "
            "column"
        )
    columns = label_columns(values, names, "strata")
    for column in columns:
        _checks.same_length(column, "strata", n, of)
    return [codes(column, "strata") for column in columns]


def index_type(n: int) -> type[np.signedinteger]:
    """Return an integer type that holds the numbers of n records."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def crossed(parts: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Number the combinations of several codes.

    Records have the same number if they agree in all parts. Numbers count from 0 and ascend with
    the parts, the first of which counts most.
    """
    code = np.zeros(n, dtype=np.int64)
    for part in parts:
        times = int(part.max()) + 1
        pairs = code * times + part
        if int(pairs.max()) < max(MAX_TABLE_PAIRS, n):
            code = (np.cumsum(np.bincount(pairs) > 0) - 1)[pairs]
        else:
            code = np.unique(pairs, return_inverse=True)[1]
    return code


def pool_small_strata(
    code: np.ndarray, pattern: np.ndarray | None, present: np.ndarray
) -> np.ndarray:
    """Return the donor pools if small strata are pooled.

    Parameters
    ----------
    code : ndarray of shape (n,)
        Strata, crossed with the patterns.
    pattern : ndarray of shape (n,), optional
        The patterns; None where all records have one.
    present : ndarray of bool
        Whether each record is in a pool.

    Returns
    -------
    ndarray of shape (n,)
        The number of each record's pool.
    """
    size = np.bincount(code, present)
    of = np.zeros(size.size)
    if pattern is not None:
        of[code] = pattern
    pool = np.arange(size.size)
    strata = np.flatnonzero(size)
    strata = strata[np.argsort(of[strata], kind="stable")]
    for alike in np.split(strata, np.flatnonzero(np.diff(of[strata])) + 1):
        small = size[alike] < SMALLEST
        if small.any() and not small.all() and size[alike[small]].sum() < SMALLEST:
            small |= size[alike] == size[alike[~small]].min()
        pool[alike[small]] = alike[small][:1]
    return np.asarray(pool[code])


def by_stratum(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows by stratum, keeping their order within one; rows with codes below 0 are left out.

    Returns
    -------
    tuple of ndarray
        The rows, and the number of rows of each stratum.
    """
    size = np.bincount(code + 1, minlength=1)[1:]
    order = np.empty(int(size.sum()), dtype=index_type(code.size))
    counting_sort.sort(code, np.cumsum(size) - size, order)
    return order, size


def values_by_pool(x: np.ndarray, pool: np.ndarray | None) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield by pool the rows that have a value, and these values.

    The values are not copied if there is one pool and no value is missing.
    """
    if pool is None and not np.isnan(x.min()):
        yield slice(None), x
        return
    order, size = by_stratum(np.where(np.isnan(x), -1, 0 if pool is None else pool))
    for rows in np.split(order, np.cumsum(size)[:-1]):
        if rows.size:
            yield rows, x[rows]


def make_pools(code: np.ndarray, present: np.ndarray) -> Pools:
    """Return the pools of the ``present`` rows by stratum code."""
    return pools_by(pool_numbers(code, present))


def pool_numbers(code: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the number of each record's pool, -1 for a record in none."""
    return np.where(present, code, -1).astype(index_type(code.size))


def pools_by(pool: np.ndarray) -> Pools:
    """Return pools with their records, by the number of each record's pool."""
    order, size = by_stratum(pool)
    return Pools(pool, np.cumsum(size) - size, size, order)


def donor_pools(
    scheme: StratifiedScheme,
    labels: Sequence[Labels],
    patterns: Sequence[np.ndarray],
    present: np.ndarray,
) -> np.ndarray | None:
    """Number the donor pools from 0 on; None if all records are one pool.

    Parameters
    ----------
    scheme : scheme
        Its `small_strata` says what to do with small strata.
    labels : sequence of Labels
        The columns that the scheme names as strata.
    patterns : sequence of ndarray of bool
        By column masked together, where it has values; empty if this does not split the donors.
    present : ndarray of bool, shape (n,)
        Whether each record is in a pool; numbers of others mean nothing.
    """
    if not labels and not patterns:
        return None
    pattern = crossed(patterns, present.size) if patterns else None
    parts = [column.code for column in labels]
    code = crossed(parts if pattern is None else [*parts, pattern], present.size)
    return pool_small_strata(code, pattern, present) if scheme.small_strata == "merge" else code


def present_values(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return where records have a value in any column, and the patterns of missing values.

    The patterns say by column where it has values; they are empty if all columns have the same.
    """
    masks = [~np.isnan(column) for column in columns]
    present = np.logical_or.reduce(masks)
    return present, [] if np.array_equal(present, np.logical_and.reduce(masks)) else masks


def pools_of(
    scheme: StratifiedScheme,
    columns: Mapping[str, np.ndarray],
    strata: Sequence[Labels],
    least: int = SMALLEST,
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Number the donor pools of columns that are masked together.

    Small strata are pooled if the scheme says so, and pools of fewer than ``least`` records are
    refused. `pools_by` sorts the records by these numbers.

    Returns
    -------
    tuple of ndarray or None, tuple of str
        The number of each record's pool, None if all rows are one pool; and the columns whose
        pattern of missing values splits the pools, if it does.
    """
    present, patterns = present_values(list(columns.values()))
    if not strata and not patterns and present.all():
        return None, ()
    code = donor_pools(scheme, strata, patterns, present)
    pool = pool_numbers(np.zeros(present.size) if code is None else code, present)
    if strata or patterns:
        merges = scheme.small_strata == "merge"
        refuse_small(
            pool, strata, dict(zip(columns, patterns, strict=False)), least, merges=merges
        )
    return pool, tuple(columns) if patterns else ()


def refuse_small(
    pool: np.ndarray,
    strata: Sequence[Labels],
    patterns: Mapping[str, np.ndarray],
    least: int,
    *,
    merges: bool,
) -> None:
    """Refuse pools of fewer than ``least`` records: name the smallest, count all, and say what
    helps.
    """
    size = np.bincount(pool[pool >= 0])
    small = np.flatnonzero((size > 0) & (size < least))
    if not small.size:
        return
    smallest = small[np.argmin(size[small])]
    row = int(np.argmax(pool == smallest))
    got = str(size[smallest])
    hints = []
    if strata and not merges:
        labels = [column.distinct[column.code[row]] for column in strata]
        got += f" in stratum {', '.join(map(repr, labels))}"
        hints.append('recode them, or pass small_strata="merge"')
    if patterns:
        missing = ", ".join(name for name, present in patterns.items() if not present[row])
        got += f" without {missing}" if missing else ""
        hints.append(SAME_GAPS)
    if small.size > 1:
        records = int(size[small].sum())
        got = f"{small.size} with fewer ({records:,} records in all, the smallest with {got})"
    kind = "strata" if strata else "patterns of missing values"
    rule = f"{kind} must have at least {least} records each"
    error = ArgumentError("; ".join([f"{rule}, got {got}", *hints]))
    raise error.settled_by(Change(rare_gaps=bool(patterns), no_strata=not patterns))


def with_rare_gaps(
    scheme: StratifiedScheme,
    columns: Mapping[str, np.ndarray],
    strata: Sequence[Labels],
    least: int,
) -> np.ndarray:
    """Find the records whose gaps fewer than ``least`` records share.

    Records of a stratum that is too small as a whole are left out, since gaps are not at fault
    there. If small strata are pooled, records with one pattern of gaps are counted over all
    strata.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    present, patterns = present_values(list(columns.values()))
    if not patterns:
        return np.zeros(present.size, dtype=bool)
    within = [] if scheme.small_strata == "merge" else [column.code for column in strata]
    stratum = crossed(within, present.size)
    pool = crossed([*within, *patterns], present.size)
    size = np.bincount(pool, present)[pool]
    whole = np.bincount(stratum, present)[stratum]
    return np.asarray(present & (size < least) & (whole >= least))
