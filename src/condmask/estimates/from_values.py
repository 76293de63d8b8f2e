"""Makes the estimate of a scheme from masked records, from parts of a file, or from counts.

Masked values of several samples, in the rows of an array, make a batch of estimates.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.distribution.counting import counted_parts
from condmask.errors import warn
from condmask.estimates.base import ReadColumn
from condmask.estimates.batch import Batch
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimate
from condmask.estimates.origin import NOWHERE, Origin, warn_of_other_records
from condmask.estimates.sample import Sample, law_of, sample_of
from condmask.indicators import ColumnsLike, design
from condmask.inference.interval import (
    EstimateWarning,
)
from condmask.linear.records import Records
from condmask.marks import mark_of
from condmask.masking.scheme import Scheme
from condmask.missing_codes import released_codes, without_codes
from condmask.own_grid import coarser_grid, grid_parameters
from condmask.row_labels import RELEASE, labels_of_rows, refuse_other_order
from condmask.strata import donor_pools, labels_of, missing_strata

Parts = Callable[[], Iterable[tuple[np.ndarray, str]]]  # of a column, each with its kind
Estimates = Estimate | Batch  # of one sample, or of several


def estimate_records(
    scheme: Scheme,
    z: ArrayLike,
    *,
    strata: ColumnsLike | None = None,
    patterns: ColumnsLike | None = None,
    nan_policy: str = "omit",
    workers: int = 1,
) -> Estimates:
    """Return the estimate of a scheme from masked values; see `ConditionalMasking.estimate`."""
    rows_of_z = labels_of_rows(z, "z", of=RELEASE)
    known = refuse_other_order({"strata": strata, "patterns": patterns}, rows_of_z)
    law = law_of(scheme)
    threads = _checks.integer(workers, "workers", least=1)
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    codes = released_codes(scheme)
    column = frames.column(z, "z", dimensions=(1, 2), finite=law.grid is None)
    _checks.has_gaps(column.array, "z", policy)  # gaps that no code declares
    rows = np.atleast_2d(without_codes(column.array, codes, column.kind))
    _warn_of_another_grid(scheme, rows)
    batch = column.array.ndim == 2
    (pool, refusal) = _donor_pools(scheme, rows, strata, patterns)
    mark = mark_of(z)
    if mark is not None:
        warn_of_other_records("z", rows.shape[1], mark.records, scheme.strata)
    if batch:
        _checks.complete(rows, "each row of a 2-D z")
    estimates = []
    for row in rows:
        sample = sample_of(row, law, column.kind, threads)
        records = Records(row, pool, refusal, known)
        estimates.append(Estimate(scheme, sample, records=records, name=column.name))
    return Batch(estimates) if batch else estimates[0]


def estimate_parts(
    scheme: Scheme,
    parts: Parts,
    records: Records,
    workers: int = 1,
    *,
    origin: Origin = NOWHERE,
    name: str = "",
    read: ReadColumn | None = None,
) -> Estimate:
    """Return the estimate of a scheme from masked values that arrive in parts.

    If the scheme has a grid, values are counted as they arrive; otherwise all records are kept.

    Parameters
    ----------
    scheme : Scheme
    parts : callable
        Yields the values of each part, NaN where missing, and the type of their column.
    records : Records
    workers : int
    origin, name, read
        As of `Estimate`.
    """
    law = law_of(scheme)
    threads = _checks.integer(workers, "workers", least=1)
    if law.grid is None:
        _checks.no_infinities(records.z, "z")
        sample = sample_of(records.z, law, workers=threads)
    else:
        sample = Sample(counted_parts(parts(), law.grid, threads), law, threads)
    return Estimate(scheme, sample, records=records, origin=origin, name=name, read=read)


def estimate_counts(scheme: Scheme, counts: Counts, *, workers: int = 1) -> Estimate:
    """Return the estimate of a scheme from counts of masked values."""
    _checks.require(scheme == counts.scheme, f"z must be Counts of the scheme {scheme!r}", counts)
    sample = Sample(counts.counted, law_of(scheme), _checks.integer(workers, "workers", least=1))
    released = sum(mark.records or 0 for mark in counts.marks)
    # parts of one release have one mark, as have releases of one size
    if counts.marked < released:
        warn_of_other_records("z", counts.marked, released, scheme.strata)
    return Estimate(scheme, sample)


def _warn_of_another_grid(scheme: Scheme, rows: np.ndarray) -> None:
    """Warn if values were masked on a coarser grid than the default one that the scheme has."""
    law = scheme.law
    step = coarser_grid(law, rows) if scheme.rounds and law is not None else None
    if step is None:
        return
    options = grid_parameters(step)
    parameter = next(f"{name}={value:g}" for name, value in options.items() if value is not None)
    warn(
        f"z: all values are multiples of {step:g}, and the scheme has a step of "
        f"{law_of(scheme).step:g}: estimate by the scheme that was published, release.schemes, or "
        f"by one with {parameter}",
        EstimateWarning,
    )


def _donor_pools(
    scheme: Scheme,
    rows: np.ndarray,
    strata: ColumnsLike | None,
    patterns: ColumnsLike | None,
) -> tuple[np.ndarray | None, str | None]:
    """Return the pool of each record, None if there is one pool; and an error message if strata
    are missing."""
    n = rows.shape[1]
    if strata is None and scheme.strata is not None:
        return None, missing_strata(scheme.strata, "estimate")
    labels = labels_of(strata, scheme.strata, n, "z", "estimate")
    columns = [] if patterns is None else list(design(patterns, "patterns").values())
    for column in columns:
        _checks.same_length(column, "patterns", n, "z")
    present = ~np.isnan(rows[0])  # of a batch none is missing
    return donor_pools(scheme, labels, [~np.isnan(column) for column in columns], present), None
