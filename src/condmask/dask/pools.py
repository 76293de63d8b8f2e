"""The donor pools of records in Dask, numbered as on one machine.

A record's pool depends on its labels and on which values it misses. The labels of all partitions are put in
order, then the combinations that occur are counted: a table as long as there are pools, from which a
partition looks its records up.
"""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from condmask.dask.columns import DaskColumn, DaskTable, Partition
from condmask.errors import ArgumentError
from condmask.strata import index_type, listed, pooled

MOST = 1 << 62  # combinations of labels, which a number is to hold


class _Combined(NamedTuple):
    """Which combinations of labels and patterns occur, as numbers, ascending; and records with a value."""

    code: np.ndarray
    size: np.ndarray


def donor_pools(
    table: DaskTable, scheme: Any, strata: Sequence[str], z: DaskColumn, patterns: Sequence[DaskColumn]
) -> DaskColumn | None:
    """The pool of each record; None where all are one.

    Parameters
    ----------
    table : DaskTable
    scheme : scheme
        Says what becomes of small strata.
    strata : sequence of str
        The columns that it names.
    z : DaskColumn
        The masked values; records without one are in no pool.
    patterns : sequence of DaskColumn
        The columns within whose common pattern of missing values donors were drawn.
    """
    if not strata and not patterns:
        return None
    for name in strata:
        table.named(name)  # a column that is not there is refused now
    labels: tuple[np.ndarray, ...] = ()
    if strata:
        labels = table.found(strata, partial(_distinct, strata), _both_distinct)
    if prod(own.size for own in labels) << len(patterns) > MOST:
        raise ArgumentError(
            f"strata must have fewer than 2^62 combinations of labels, got those of {listed(tuple(strata))}"
        )
    names = dict.fromkeys([*strata, *z.names, *(name for own in patterns for name in own.names)])
    numbered = partial(_numbered, strata, labels, tuple(patterns))
    found: _Combined = table.found(list(names), partial(_combined, numbered, z), _both)
    pool = np.arange(found.code.size)
    if scheme.small_strata == "merge":
        _, pattern = np.unique(found.code % (1 << len(patterns)), return_inverse=True)
        pool = pooled(found.size, pattern)
    return table.column(list(names), partial(_pool, numbered, found.code, pool))


def _distinct(strata: Sequence[str], partition: Partition) -> tuple[np.ndarray, ...]:
    """The labels of each column, in their order."""
    return tuple(np.unique(_labels(name, partition)) for name in strata)


def _both_distinct(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.unique(np.concatenate(both)) for both in zip(one, other, strict=True))


def _labels(name: str, partition: Partition) -> np.ndarray:
    """A column as labels that can be sorted, as strata are on one machine."""
    values = np.asarray(partition.frame[name])
    return values.astype(str) if values.dtype.kind == "O" else values


def _numbered(
    strata: Sequence[str],
    labels: tuple[np.ndarray, ...],
    patterns: Sequence[DaskColumn],
    partition: Partition,
) -> np.ndarray:
    """One number for each combination of labels and gaps, in the order of the combinations."""
    code = np.zeros(len(partition.frame), dtype=np.int64)
    for name, distinct in zip(strata, labels, strict=True):
        own = _labels(name, partition)
        code = code * distinct.size + np.searchsorted(distinct, own.astype(distinct.dtype, copy=False))
    for column in patterns:
        code = 2 * code + ~np.isnan(partition.array(column))
    return code


def _combined(numbered: Any, z: DaskColumn, partition: Partition) -> _Combined:
    code, number = np.unique(numbered(partition), return_inverse=True)
    return _Combined(code, np.bincount(number, ~np.isnan(partition.array(z)), code.size).astype(np.int64))


def _both(one: _Combined, other: _Combined) -> _Combined:
    code, number = np.unique(np.concatenate([one.code, other.code]), return_inverse=True)
    size = np.bincount(number, np.concatenate([one.size, other.size]), code.size)
    return _Combined(code, size.astype(np.int64))


def _pool(numbered: Any, code: np.ndarray, pool: np.ndarray, partition: Partition) -> Any:
    return pool[np.searchsorted(code, numbered(partition))].astype(index_type(code.size))
