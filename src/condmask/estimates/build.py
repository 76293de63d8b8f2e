"""Estimates from what an analyst has: masked values as records, with or without a grid, or a summary."""

from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask.engines.counting import Counts
from condmask.estimates.additive import NoisySample
from condmask.estimates.columns import counted_column
from condmask.estimates.covariance import Records
from condmask.estimates.estimate import Estimate
from condmask.estimates.heaped import Heaped
from condmask.estimates.sample import Counted, Sample, Source
from condmask.estimates.signed import Signed
from condmask.estimates.summary import Summary
from condmask.law import Law


def estimate_records(
    scheme: Any,
    z: Any,
    *,
    strata: Any = None,
    patterns: Any = None,
    nan_policy: str = "omit",
    workers: Workers = 1,
) -> Estimate:
    """The estimate of a scheme from masked values; see `ConditionalMasking.estimate`."""
    law: Law = scheme.law
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    threads = _checks.workers(workers)
    column = frames.column(z, "z", dimensions=(1, 2), finite=law.grid is None)
    rows = np.atleast_2d(column.array)
    sources: list[Source] = []
    source: Source
    for row in rows:
        if law.grid is not None:
            source = _counted(counted_column(row, law.grid, column.kind, threads), law, threads)
            there = _checks.present(row, "z", policy) if source.n < row.size else None
        else:
            there = _checks.present(row, "z", policy)
            known = row if there is None else row[there]
            source = (Sample if law.p > 0.0 else NoisySample)(known, law, threads)
        if there is not None and column.array.ndim == 2:
            raise ValueError("z must have no missing values where it is 2-D; estimate its rows one by one")
        sources.append(source)
    pool, wanting = _donor_pools(scheme, rows.shape[1], strata, patterns)
    return Estimate(scheme, sources, batch=column.array.ndim == 2, records=Records(rows, pool, wanting))


def estimate_summary(scheme: Any, summary: Summary, *, workers: Workers = 1) -> Estimate:
    """The estimate of a scheme from a summary of masked values."""
    summary.check(scheme)
    if summary.n < 2:
        raise ValueError(f"z must have at least 2 values, got a Summary of {summary.n}")
    source = _counted(summary.counts, scheme.law, _checks.workers(workers), times=1 << summary.level)
    return Estimate(scheme, [source], pairs=(summary.pairs, summary.counts))


def _counted(counts: Counts, law: Law, workers: Workers, *, times: int = 1) -> Source:
    """What stands behind counts on a grid of this kind."""
    if law.scale == "log":
        return Signed(counts, law, workers)
    if law.heaps > 1:
        return Heaped(counts, law, workers)
    return Counted(counts, law, workers, times=times)


def _donor_pools(scheme: Any, n: int, strata: Any, patterns: Any) -> tuple[np.ndarray | None, str | None]:
    """The pool of each record, None where all are one; and what must be given for that."""
    code, wanting = None, None
    if strata is not None:
        labels = frames.labels(strata)
        _checks.same_length(labels, "strata", n, "z")
        code = frames.codes(labels)[0]
    elif scheme.strata is not None:
        wanting = (
            f"strata must be given: donors were drawn within {scheme.strata!r}, so pass that column to "
            "estimate()"
        )
    names = scheme.patterns
    if names and patterns is None:
        wanting = (
            "patterns must be given: donors were drawn within the patterns of missing values of "
            f"{', '.join(map(repr, names))}, so pass the table with these columns to estimate()"
        )
    for name in names if patterns is not None else ():
        missing = np.isnan(frames.column(frames.table_column(patterns, name), name).array)
        _checks.same_length(missing, name, n, "z")
        code = missing + 2 * (0 if code is None else code)
    return code, wanting
