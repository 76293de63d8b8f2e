"""Estimates from what an analyst has: masked records, with or without a grid, or their counts."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask.distribution.counting import counted_parts
from condmask.distribution.sample import Sample, law_of, sample_of
from condmask.errors import ArgumentError
from condmask.estimates.batch import batch_of
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimate
from condmask.indicators import design
from condmask.linear.records import Records
from condmask.missing_codes import released_codes, without_codes
from condmask.strata import donor_pools, labels_of, listed

Parts = Callable[[], Iterable[tuple[np.ndarray, str]]]  # of a column, each with its kind


def estimate_records(
    scheme: Any, z: Any, *, strata: Any = None, patterns: Any = None, nan_policy: str = "omit",
    workers: Workers = 1,
) -> Estimate:  # fmt: skip
    """The estimate of a scheme from masked values; see `ConditionalMasking.estimate`."""
    law, policy = law_of(scheme), _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    threads = _checks.workers(workers)
    column = frames.column(z, "z", dimensions=(1, 2), finite=law.grid is None)
    codes = released_codes(scheme)
    if codes:
        _checks.has_gaps(column.array, "z", policy)  # gaps that no code declares
        policy = "omit"
    rows = np.atleast_2d(without_codes(column.array, codes, column.kind))
    batch, (pool, refusal) = column.array.ndim == 2, _donor_pools(scheme, rows, strata, patterns)
    estimates = []
    for row in rows:
        sample = sample_of(row, law, column.kind, threads)
        if sample.n < row.size:
            _checks.has_gaps(row, "z", policy)
            if batch:
                raise ArgumentError(
                    "z must have no missing values where it is 2-D; estimate its rows one by one"
                )
        estimates.append(Estimate(scheme, sample, records=Records(row, pool, refusal), name=column.name))
    return batch_of(estimates) if batch else estimates[0]


def estimate_parts(scheme: Any, parts: Parts, records: Records, *, workers: Workers = 1) -> Estimate:
    """The estimate of a scheme from masked values that arrive in parts, with the kind of their column.

    Missing ones are NaN. If the scheme has a grid, values are counted as they arrive; otherwise all
    records are kept.
    """
    law, threads = law_of(scheme), _checks.workers(workers)
    if law.grid is None:
        _checks.no_infinities(records.z, "z")
        sample = sample_of(records.z, law, workers=threads)
    else:
        sample = Sample(counted_parts(parts(), law.grid, threads), law, threads)
    _checks.at_least_two(sample.n, "z")
    return Estimate(scheme, sample, records=records)


def estimate_counts(scheme: Any, counts: Counts, *, workers: Workers = 1) -> Estimate:
    """The estimate of a scheme from counts of masked values."""
    counts.check(scheme)
    if counts.n < 2:
        raise ArgumentError(f"z must have at least 2 values, got Counts of {counts.n}")
    sample = Sample(counts.counted, law_of(scheme), _checks.workers(workers))
    return Estimate(scheme, sample, origin=counts.origin)


def _donor_pools(
    scheme: Any, rows: np.ndarray, strata: Any, patterns: Any
) -> tuple[np.ndarray | None, str | None]:
    """The pool of each record, None if there is one pool; and what must be given to find it."""
    n = rows.shape[1]
    if strata is None and scheme.strata is not None:
        these = "that column" if isinstance(scheme.strata, str) else "these columns"
        drawn = f"donors were drawn within {listed(scheme.strata)}"
        return None, f"strata must be given: {drawn}, so pass {these} to estimate()"
    labels = labels_of(strata, scheme.strata, n, "z", "estimate")
    columns = [] if patterns is None else list(design(patterns, "patterns").values())
    for column in columns:
        _checks.same_length(column, "patterns", n, "z")
    if not labels and not columns:
        return None, None
    present = ~np.isnan(rows).any(axis=0)
    return donor_pools(scheme, labels, [~np.isnan(column) for column in columns], present), None
