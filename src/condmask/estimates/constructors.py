"""Estimates from what an analyst has: masked values as records, with or without a grid, or their counts."""

import warnings
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask.estimates.counts import Counts
from condmask.estimates.estimate import Estimate
from condmask.inference.intervals import EstimateWarning
from condmask.law import Law
from condmask.missing_codes import released_codes, without_codes
from condmask.samples.by_pool import plain
from condmask.samples.columns import counted_column
from condmask.samples.exact import EXACT, ExactSample
from condmask.samples.records import Records
from condmask.samples.sample import Counted, MaskedSample
from condmask.strata import crossed, labels_of, listed, merged


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
    law: Law = EXACT if scheme.reverse_mapping else scheme.law
    policy = _checks.choice(nan_policy, "nan_policy", _checks.NAN_POLICIES)
    threads = _checks.workers(workers)
    column = frames.column(z, "z", dimensions=(1, 2), finite=law.grid is None)
    codes = released_codes(scheme)
    if codes:
        _checks.present(column.array, "z", policy)  # gaps that no code declares
        policy = "omit"
    rows = np.atleast_2d(without_codes(column.array, codes, column.kind))
    sources: list[MaskedSample] = []
    source: MaskedSample
    for row in rows:
        if law.grid is not None:
            source = Counted(counted_column(row, law.grid, column.kind, threads), law, threads)
            there = _checks.present(row, "z", policy) if source.n < row.size else None
        else:
            there = _checks.present(row, "z", policy)
            known = row if there is None else row[there]
            source = plain(known, law, threads)
        if there is not None and column.array.ndim == 2:
            raise ValueError("z must have no missing values where it is 2-D; estimate its rows one by one")
        sources.append(source)
    _warn_of_a_part(scheme, sources[0].n)
    pool, wanting = _donor_pools(scheme, rows, strata, patterns)
    return Estimate(scheme, sources, batch=column.array.ndim == 2, records=Records(rows, pool, wanting))


def estimate_counts(scheme: Any, counts: Counts, *, workers: Workers = 1) -> Estimate:
    """The estimate of a scheme from counts of masked values."""
    counts.check(scheme)
    if counts.n < 2:
        raise ValueError(f"z must have at least 2 values, got Counts of {counts.n}")
    _warn_of_a_part(scheme, counts.n)
    threads = _checks.workers(workers)
    source: MaskedSample
    if scheme.reverse_mapping:
        source = ExactSample(counts.value_counts, threads, width=counts.resolution)
    else:
        source = Counted(counts.value_counts, scheme.law, threads, times=1 << counts.level)
    return Estimate(scheme, [source], pairs=(counts.pairs, counts.value_counts))


def _warn_of_a_part(scheme: Any, n: int) -> None:
    """Whoever selects records and then estimates takes donors from elsewhere for records of the part."""
    if scheme.records is None or scheme.records == n:
        return
    whole = (
        ""
        if scheme.strata is None
        else f" (whole strata of {listed(scheme.strata)} are releases of their own)"
    )
    warnings.warn(
        f"z has {n} values, and the release {scheme.records}: swapped records show values from all of it, so "
        f"estimates from a part of it are wrong{whole}. Estimate from all records; group_means, "
        "weighted_mean and regress have means of parts, whose quantiles cannot be had",
        EstimateWarning,
        stacklevel=4,
    )


def _donor_pools(
    scheme: Any, rows: np.ndarray, strata: Any, patterns: Any
) -> tuple[np.ndarray | None, str | None]:
    """The pool of each record, None where all are one; and what must be given for that."""
    wanting, pattern, n = None, None, rows.shape[1]
    if strata is None and scheme.strata is not None:
        wanting = (
            f"strata must be given: donors were drawn within {listed(scheme.strata)}, so pass "
            f"{'that column' if isinstance(scheme.strata, str) else 'these columns'} to estimate()"
        )
        parts = []
    else:
        parts = [labels.code for labels in labels_of(strata, scheme.strata, n, "z", "estimate")]
    if scheme.patterns and patterns is None:
        wanting = (
            "patterns must be given: donors were drawn within the patterns of missing values of "
            f"{', '.join(map(repr, scheme.patterns))}, so pass the table with these columns to estimate()"
        )
    elif scheme.patterns:
        codes = scheme.pattern_codes or ((),) * len(scheme.patterns)
        missing = [_missing(patterns, name, own, n) for name, own in zip(scheme.patterns, codes, strict=True)]
        pattern = crossed(missing, n)
        parts.append(pattern)
    if wanting is not None or not parts:
        return None, wanting
    code = crossed(parts, n)
    if scheme.small_strata == "merge":
        code = merged(code, pattern, ~np.isnan(rows).any(axis=0))
    return code, None


def _missing(patterns: Any, name: str, codes: tuple[float, ...], n: int) -> np.ndarray:
    """Where the column is missing, or has a code that says so."""
    column = frames.column(frames.table_column(patterns, name, "patterns"), name)
    missing: np.ndarray = np.isnan(without_codes(column.array, codes, column.kind))
    _checks.same_length(missing, name, n, "z")
    return missing
